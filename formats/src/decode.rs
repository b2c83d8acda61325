//! Decoding of textures, for pictures only. Sizes are checked before anything is decoded.

use crate::textures::{encoded, media_type};
use png::Transformations;
use skinbench_kernels::model::{Image, Pixels};
use std::io::Cursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;

/// Most pixels across or down.
const MOST_PIXELS: u32 = 8192;
/// Most bytes of decoded pixels, as the file stores them: 8192 x 8192 with 8 bits for each of red, green, blue and
/// alpha.
const MOST_DECODED: u64 = 256 << 20;

/// Width and height of an image, from its header.
///
/// # Errors
/// One line: the file cannot be read, is neither PNG nor JPEG, is damaged or too large.
pub fn size(image: &Image) -> Result<[u32; 2], String> {
    Ok(read(image, false)?.size)
}

/// Decodes an image.
///
/// # Errors
/// As [`size`].
pub fn decode(image: &Image) -> Result<Pixels, String> {
    let Decoded { size, bytes } = read(image, true)?;
    let pixels = size[0] as usize * size[1] as usize;
    let rgba = to_rgba(&bytes, bytes.len() / pixels);
    Ok(Pixels { size, rgba })
}

/// The size of an image, which has been checked, and its pixels if they are wanted: 8 bits for each of grey, or red,
/// green and blue, and alpha if there is any.
struct Decoded {
    size: [u32; 2],
    bytes: Vec<u8>,
}

/// Reads an image's bytes and names its file in errors.
fn read(image: &Image, wanted: bool) -> Result<Decoded, String> {
    let bytes = encoded(image)?;
    let decoded = match media_type(&bytes) {
        Some("image/png") => png(&bytes, wanted),
        Some(_) => jpeg(&bytes, wanted),
        None => Err("neither PNG nor JPEG".into()),
    };
    decoded.map_err(|problem| match image {
        Image::Embedded(_) => format!("embedded image: {problem}"),
        Image::File(path) => format!("{}: {problem}", path.display()),
    })
}

fn png(bytes: &[u8], wanted: bool) -> Result<Decoded, String> {
    let limits = png::Limits {
        bytes: 2 * MOST_DECODED as usize,
    };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    // Palettes and grey of fewer bits become whole bytes, and so do 16 bits.
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let header = decoder.read_header_info().map_err(one_line)?;
    let size = [header.width, header.height];
    check(size, header.bytes_per_pixel())?;
    let mut bytes = Vec::new();
    if wanted {
        let mut reader = decoder.read_info().map_err(one_line)?;
        bytes.resize(reader.output_buffer_size().ok_or("too large")?, 0);
        reader.next_frame(&mut bytes).map_err(one_line)?;
    }
    Ok(Decoded { size, bytes })
}

fn jpeg(bytes: &[u8], wanted: bool) -> Result<Decoded, String> {
    let options = DecoderOptions::default()
        .set_max_width(MOST_PIXELS as usize)
        .set_max_height(MOST_PIXELS as usize)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(Cursor::new(bytes), options);
    decoder.decode_headers().map_err(one_line)?;
    let (width, height) = decoder.dimensions().ok_or("its header has no size")?;
    let size = [width as u32, height as u32];
    check(size, 3)?;
    let mut bytes = Vec::new();
    if wanted {
        bytes = decoder.decode().map_err(one_line)?;
    }
    Ok(Decoded { size, bytes })
}

/// Checks the size of an image and of its pixels as the file stores them.
fn check([width, height]: [u32; 2], bytes_per_pixel: usize) -> Result<(), String> {
    if width == 0 || height == 0 || width > MOST_PIXELS || height > MOST_PIXELS {
        return Err(format!(
            "{width} x {height} pixels; expected 1 to {MOST_PIXELS} each way"
        ));
    }
    let bytes = u64::from(width) * u64::from(height) * bytes_per_pixel as u64;
    if bytes > MOST_DECODED {
        return Err(format!(
            "{bytes} bytes when decoded; expected at most {MOST_DECODED}"
        ));
    }
    Ok(())
}

/// Pixels of 1 (grey), 2 (with alpha), 3 (colour) or 4 (with alpha) bytes as RGBA.
fn to_rgba(bytes: &[u8], bytes_per_pixel: usize) -> Vec<u8> {
    let pixels = bytes.chunks_exact(bytes_per_pixel);
    let rgba = pixels.flat_map(|pixel| match *pixel {
        [grey] => [grey, grey, grey, 255],
        [grey, alpha] => [grey, grey, grey, alpha],
        [red, green, blue] => [red, green, blue, 255],
        _ => [pixel[0], pixel[1], pixel[2], pixel[3]],
    });
    rgba.collect()
}

fn one_line(error: impl std::fmt::Display) -> String {
    error.to_string().lines().collect::<Vec<_>>().join(" ")
}
