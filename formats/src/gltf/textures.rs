//! Base-colour textures of materials: their images, wrapping and transforms.

use super::accessor::Reader;
use super::document::{self, TextureInfo, TextureTransform};
use super::{buffer_bytes, names};
use crate::fault::Fault;
use crate::textures;
use skinbench_kernels::model::{Image, Texture, Wrap};
use std::collections::HashMap;
use std::path::Path;

/// The images so far of a document, each read once, or why they cannot be used.
pub(super) type Images = HashMap<u32, Result<Image, String>>;

/// The texture of a material, for a document in a folder.
///
/// # Errors
/// One line: something that it names is missing, out of range, or not supported.
pub(super) fn texture(
    reader: &Reader,
    folder: &Path,
    images: &mut Images,
    info: &TextureInfo,
) -> Result<Texture, String> {
    let document = reader.document;
    let transform = info.extensions.transform.as_ref();
    let set = transform
        .and_then(|transform| transform.tex_coord)
        .unwrap_or(info.tex_coord);
    if set != 0 {
        return Err(format!(
            "it uses texture coordinates {set}; only TEXCOORD_0 is read"
        ));
    }
    let texture = entry(&document.textures, info.index, "texture")?;
    let source = texture
        .source
        .ok_or_else(|| format!("textures[{}] has no PNG or JPEG image", info.index))?;
    let image = images
        .entry(source)
        .or_insert_with(|| image(reader, folder, source))
        .clone()?;
    let wrap = match texture.sampler {
        None => [Wrap::default(); 2],
        Some(index) => {
            let sampler = entry(&document.samplers, index, "sampler")?;
            [wrap(sampler.wrap_s)?, wrap(sampler.wrap_t)?]
        }
    };
    let transform = transform.map_or(Texture::IDENTITY, rows);
    if transform.as_flattened().iter().any(|v| !v.is_finite()) {
        return Err("its KHR_texture_transform holds a number that is not finite".into());
    }
    Ok(Texture {
        image,
        wrap,
        transform,
    })
}

fn image(reader: &Reader, folder: &Path, index: u32) -> Result<Image, String> {
    let image = entry(&reader.document.images, index, "image")?;
    read(reader, folder, image).map_err(|problem| format!("images[{index}]: {problem}"))
}

fn read(reader: &Reader, folder: &Path, image: &document::Image) -> Result<Image, String> {
    let told = |fault: Fault| fault.to_string();
    match (&image.uri, image.buffer_view) {
        (Some(uri), _) => match buffer_bytes::after_data_scheme(uri) {
            Some(data) => {
                let bytes = buffer_bytes::decode_data_uri(data, reader.budget, || "uri".into())
                    .map_err(told)?;
                textures::embedded(&bytes)
            }
            None => textures::beside(folder, &buffer_bytes::relative_path(uri)?),
        },
        (None, Some(view)) => {
            let bytes = reader.bytes(view, "bufferView").map_err(told)?;
            reader
                .budget
                .charge(bytes.len() as u64, || "bufferView".into())
                .map_err(told)?;
            textures::embedded(bytes)
        }
        (None, None) => Err("neither uri nor bufferView; expected one".into()),
    }
}

fn entry<'a, T>(list: &'a [T], index: u32, name: &str) -> Result<&'a T, String> {
    list.get(index as usize)
        .ok_or_else(|| format!("{name} {index} is out of range; there are {}", list.len()))
}

fn wrap(mode: Option<u32>) -> Result<Wrap, String> {
    let mode = mode.unwrap_or(names::wrap(Wrap::default()));
    let known = [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror]
        .into_iter()
        .find(|known| names::wrap(*known) == mode);
    known.ok_or_else(|| format!("wrapping mode {mode}; expected 10497, 33071 or 33648"))
}

/// Scale, then rotation, then offset. The v axis points down, so that a turn counter-clockwise maps u to -v.
fn rows(transform: &TextureTransform) -> [[f32; 3]; 2] {
    let TextureTransform {
        offset: [x, y],
        rotation,
        scale: [u, v],
        ..
    } = *transform;
    let (sin, cos) = rotation.sin_cos();
    [[cos * u, sin * v, x], [-sin * u, cos * v, y]]
}
