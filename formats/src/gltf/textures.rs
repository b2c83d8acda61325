//! Base-colour textures of materials: their images, wrapping and transforms.

use super::accessor::Reader;
use super::buffer_bytes;
use super::document::{self, TextureInfo, TextureTransform};
use crate::fault::Fault;
use crate::textures;
use skinbench_kernels::model::{Image, Texture, Wrap};
use std::collections::HashMap;
use std::path::Path;

/// Finds textures; each image is read once.
pub(super) struct Textures<'a> {
    reader: &'a Reader<'a>,
    folder: &'a Path,
    images: HashMap<u32, Result<Image, String>>,
}

impl<'a> Textures<'a> {
    /// Textures of a document in a folder.
    pub(super) fn new(reader: &'a Reader<'a>, folder: &'a Path) -> Self {
        Self { reader, folder, images: HashMap::new() }
    }

    /// The texture of a material.
    ///
    /// # Errors
    /// One line: something that it names is missing, out of range, or not supported.
    pub(super) fn texture(&mut self, info: &TextureInfo) -> Result<Texture, String> {
        let document = self.reader.document;
        let transform = info.extensions.transform.as_ref();
        let set = transform.and_then(|transform| transform.tex_coord).unwrap_or(info.tex_coord);
        if set != 0 {
            return Err(format!("it uses texture coordinates {set}; only TEXCOORD_0 is read"));
        }
        let texture = entry(&document.textures, info.index, "texture")?;
        let image = match texture.source {
            Some(image) => self.image(image)?,
            None => return Err(format!("textures[{}] has no PNG or JPEG image", info.index)),
        };
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
        Ok(Texture { image, wrap, transform })
    }

    fn image(&mut self, index: u32) -> Result<Image, String> {
        if let Some(known) = self.images.get(&index) {
            return known.clone();
        }
        let image = entry(&self.reader.document.images, index, "image")
            .and_then(|image| self.read(image).map_err(|problem| format!("images[{index}]: {problem}")));
        self.images.insert(index, image.clone());
        image
    }

    fn read(&self, image: &document::Image) -> Result<Image, String> {
        let told = |fault: Fault| format!("{}: {}", fault.place, fault.problem);
        let budget = self.reader.budget;
        match (&image.uri, image.buffer_view) {
            (Some(uri), _) => match uri.strip_prefix("data:") {
                Some(data) => {
                    let bytes = buffer_bytes::decode_data_uri(data, budget, || "uri".into()).map_err(told)?;
                    textures::embedded(&bytes)
                }
                None => textures::beside(self.folder, &buffer_bytes::relative_path(uri)?),
            },
            (None, Some(view)) => {
                let bytes = self.reader.bytes(view, "bufferView").map_err(told)?;
                budget.charge(bytes.len() as u64, || "bufferView".into()).map_err(told)?;
                textures::embedded(bytes)
            }
            (None, None) => Err("neither uri nor bufferView; expected one".into()),
        }
    }
}

fn entry<'a, T>(list: &'a [T], index: u32, name: &str) -> Result<&'a T, String> {
    list.get(index as usize).ok_or_else(|| format!("{name} {index} is out of range; there are {}", list.len()))
}

fn wrap(mode: Option<u32>) -> Result<Wrap, String> {
    match mode {
        None | Some(10497) => Ok(Wrap::Repeat),
        Some(33071) => Ok(Wrap::Clamp),
        Some(33648) => Ok(Wrap::Mirror),
        Some(other) => Err(format!("wrapping mode {other}; expected 10497, 33071 or 33648")),
    }
}

/// Scale, then rotation, then offset. The v axis points down, so that a turn counter-clockwise maps u to -v.
fn rows(transform: &TextureTransform) -> [[f32; 3]; 2] {
    let TextureTransform { offset: [x, y], rotation, scale: [u, v], .. } = *transform;
    let (sin, cos) = rotation.sin_cos();
    [[cos * u, sin * v, x], [-sin * u, cos * v, y]]
}
