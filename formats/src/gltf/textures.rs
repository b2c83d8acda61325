//! Base-colour textures of materials: their images, wrapping and transforms.

use super::accessor::AccessorReader;
use super::document::{self, TextureInfo, TextureTransform};
use super::{buffer_bytes, names};
use crate::check::item;
use crate::textures;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{Image, Texture, Wrap};
use std::collections::HashMap;
use std::path::Path;

/// The images so far of a document, each read once, or why they cannot be used.
pub type Images = HashMap<u32, Result<Image, String>>;

/// The texture of a material of the document in a file.
///
/// # Errors
/// One line: something that it names is missing, out of range, or not supported.
pub fn texture(
    reader: &AccessorReader,
    file: &Path,
    images: &mut Images,
    info: &TextureInfo,
) -> Result<Texture, String> {
    let document = reader.document;
    let transform = info.extensions.transform.as_ref();
    let set = transform.and_then(|transform| transform.tex_coord);
    let set = set.unwrap_or(info.tex_coord);
    if set != 0 {
        return Err(format!(
            "it uses texture coordinates {set}; only TEXCOORD_0 is read"
        ));
    }
    let texture = entry(&document.textures, info.index, "texture")?;
    let source = texture
        .source
        .ok_or_else(|| format!("textures[{}] has no PNG or JPEG image", info.index))?;
    let image = images.entry(source).or_insert_with(|| {
        let image = entry(&document.images, source, "image")?;
        read(reader, file, image).map_err(|problem| format!("images[{source}]: {problem}"))
    });
    let image = image.clone()?;
    let mut wraps = [Wrap::default(); 2];
    if let Some(index) = texture.sampler {
        let sampler = entry(&document.samplers, index, "sampler")?;
        wraps = [wrap(sampler.wrap_s)?, wrap(sampler.wrap_t)?];
    }
    let transform = transform.map_or(Texture::IDENTITY, rows);
    if transform.as_flattened().iter().any(|v| !v.is_finite()) {
        return Err("its KHR_texture_transform holds a number that is not finite".into());
    }
    Ok(Texture {
        image,
        wrap: wraps,
        transform,
    })
}

fn read(reader: &AccessorReader, file: &Path, image: &document::Image) -> Result<Image, String> {
    if let Some(uri) = &image.uri {
        return match buffer_bytes::after_data_scheme(uri) {
            None => textures::beside(file, &buffer_bytes::relative_path(uri)?),
            Some(data) => {
                let bytes = buffer_bytes::decode_data_uri(data, reader.budget, "uri");
                textures::embedded(&bytes.map_err(|fault| fault.to_string())?)
            }
        };
    }
    let view = image.buffer_view;
    let view = view.ok_or("neither uri nor bufferView; expected one")?;
    let bytes = charged_bytes(reader, view).map_err(|fault| fault.to_string())?;
    textures::embedded(bytes)
}

/// The bytes of a buffer view, which the importer copies.
fn charged_bytes<'a>(reader: &AccessorReader<'a>, view: u32) -> Result<&'a [u8]> {
    let bytes = reader.bytes(view, "bufferView")?;
    let budget = reader.budget;
    budget.charge(bytes.len() as u64, || "bufferView".into())?;
    Ok(bytes)
}

fn entry<'a, T>(list: &'a [T], index: u32, name: &str) -> Result<&'a T, String> {
    item(list, index, name, String::new).map_err(|fault| fault.problem)
}

fn wrap(mode: Option<u32>) -> Result<Wrap, String> {
    let mode = mode.unwrap_or(names::wrap(Wrap::default()));
    let mut known = [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror].into_iter();
    known
        .find(|known| names::wrap(*known) == mode)
        .ok_or_else(|| format!("wrapping mode {mode}; expected 10497, 33071 or 33648"))
}

/// Scale, then rotation, then offset. The v axis points down, so that a turn counter-clockwise maps u to -v.
fn rows(transform: &TextureTransform) -> [[f32; 3]; 2] {
    let [x, y] = transform.offset;
    let [u, v] = transform.scale;
    let sin = transform.rotation.sin();
    let cos = transform.rotation.cos();
    [[cos * u, sin * v, x], [-sin * u, cos * v, y]]
}
