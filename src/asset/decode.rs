//! Decoding of textures, for pictures only. Sizes are checked before anything is decoded.

use super::textures::encoded;
use crate::model::Image;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits};
use std::io::Cursor;

/// Most pixels across or down.
const MOST_PIXELS: u32 = 8192;
/// Most bytes of decoded pixels, as the file stores them: 8192 x 8192 with 8 bits for each of red, green, blue and alpha.
const MOST_DECODED: u64 = 256 << 20;

/// A decoded image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels across and down.
    pub size: [u32; 2],
    /// RGBA, 8 bits each, colours in sRGB; rows from the top.
    pub rgba: Vec<u8>,
}

/// Width and height of an image, from its header.
///
/// # Errors
/// One line: the file cannot be read, is neither PNG nor JPEG, is damaged or too large.
pub fn size(image: &Image) -> Result<[u32; 2], String> {
    in_file(image, |bytes| decoder(bytes).map(|decoder| decoder.dimensions().into()))
}

/// Decodes an image.
///
/// # Errors
/// As [`size`].
pub fn decode(image: &Image) -> Result<Pixels, String> {
    in_file(image, |bytes| {
        let decoded = DynamicImage::from_decoder(decoder(bytes)?).map_err(one_line)?.into_rgba8();
        Ok(Pixels { size: decoded.dimensions().into(), rgba: decoded.into_raw() })
    })
}

fn decoder(bytes: &[u8]) -> Result<impl ImageDecoder, String> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| error.to_string())?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(MOST_PIXELS);
    limits.max_image_height = Some(MOST_PIXELS);
    limits.max_alloc = Some(2 * MOST_DECODED);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(one_line)?;
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 || width > MOST_PIXELS || height > MOST_PIXELS {
        return Err(format!("{width} x {height} pixels; expected 1 to {MOST_PIXELS} each way"));
    }
    if decoder.total_bytes() > MOST_DECODED {
        return Err(format!("{} bytes when decoded; expected at most {MOST_DECODED}", decoder.total_bytes()));
    }
    Ok(decoder)
}

/// Reads an image's bytes and names its file in errors.
fn in_file<T>(image: &Image, read: impl FnOnce(&[u8]) -> Result<T, String>) -> Result<T, String> {
    match image {
        Image::Embedded(bytes) => read(bytes).map_err(|problem| format!("embedded image: {problem}")),
        Image::File(path) => {
            let bytes = encoded(image)?;
            read(&bytes).map_err(|problem| format!("{}: {problem}", path.display()))
        }
    }
}

fn one_line(error: image::ImageError) -> String {
    error.to_string().lines().collect::<Vec<_>>().join(" ")
}
