//! Surfaces of a crowd's models in pictures: colour, texture and texture coordinates of every vertex. Timed frames draw
//! plain colours instead.

use crate::Gpu;
use crate::device::objects::{self, Named, Resource, Sampler};
use crate::device::{flat, named};
use crate::draw::overlay::unorm8;
use crate::draw::scaling::scaled;
use crate::kernel::once_per_key;
use crate::shader::layout;
use glam::Vec4;
use skinbench_frame::Purpose;
use skinbench_kernels::crowd::Crowd;
use skinbench_kernels::model::{Image, Material, Model, Pixels, Texture, Wrap};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Most texels across or down a layer, and bytes of all layers of a model without their smaller levels.
const MOST_TEXELS: u32 = 1024;
const MOST_BYTES: u64 = 64 << 20;
/// Most pixels of all images of a model together, which are decoded whole: four of the largest.
const MOST_PIXELS: u64 = 4 * 8192 * 8192;
/// Textures that are named one by one if they are left out.
const MOST_NOTES: usize = 16;
/// Texels are sRGB with 8 bits per channel: sampling returns linear light.
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;

/// How image files are read. Errors are one line each.
#[derive(Clone, Copy)]
pub struct ImageReader {
    /// Returns the pixels across and down, from a file's header.
    pub size: fn(&Image) -> Result<[u32; 2], String>,
    /// Decodes a file.
    pub pixels: fn(&Image) -> Result<Pixels, String>,
}

/// Buffers and textures of a crowd's surfaces.
pub struct Surfaces {
    /// Resources that a draw binds for each group's model.
    pub(crate) paints: Vec<Vec<Named>>,
    /// One line for each texture that was left out.
    pub notes: Vec<String>,
}

impl Surfaces {
    /// Decodes the textures of a crowd's models and scales those of a model to one size, as layers of one texture.
    /// Textures that cannot be decoded are left out and named in [`Surfaces::notes`].
    pub fn new(gpu: &Gpu, crowd: &Crowd, reader: ImageReader) -> Self {
        let models = crowd.groups().iter().map(|group| &group.model);
        Self::of_models(gpu, models, reader)
    }

    /// As [`Surfaces::new`], of these models.
    pub(crate) fn of_models<'a>(
        gpu: &Gpu,
        models: impl Iterator<Item = &'a Arc<Model>>,
        reader: ImageReader,
    ) -> Self {
        let sampler = gpu.repeating_sampler("surfaces");
        let mut surfaces = Self {
            paints: Vec::new(),
            notes: Vec::new(),
        };
        let addresses = models.map(ByAddress);
        surfaces.paints = once_per_key(addresses, |model| {
            surfaces.of_model(gpu, &sampler, model.0, reader)
        });
        surfaces
    }

    fn of_model(
        &mut self,
        gpu: &Gpu,
        sampler: &Sampler,
        model: &Model,
        reader: ImageReader,
    ) -> Vec<Named> {
        let most = gpu.adapter.limits.max_texture_array_layers as usize;
        let mut images: Vec<&Image> = Vec::new();
        let mut sizes: Vec<[u32; 2]> = Vec::new();
        let mut known = HashSet::new();
        let mut pixels = 0;
        for texture in used_materials(model).filter_map(|material| material.texture.as_ref()) {
            if !known.insert(&texture.image) {
                continue;
            }
            match (reader.size)(&texture.image) {
                Ok(_) if images.len() == most => {
                    self.note(model, format!("more than {most} images"))
                }
                Ok(size) if pixels + layer_bytes(size) / 4 > MOST_PIXELS => self.note(
                    model,
                    format!("its images have more than {MOST_PIXELS} pixels"),
                ),
                Ok(size) => {
                    pixels += layer_bytes(size) / 4;
                    images.push(&texture.image);
                    sizes.push(size);
                }
                Err(problem) => self.note(model, problem),
            }
        }
        let size = layer_size(&sizes);
        let mut layers: Vec<Pixels> = Vec::with_capacity(images.len());
        images.retain(|image| match (reader.pixels)(image) {
            Ok(pixels) => {
                layers.push(scaled(&pixels, size));
                true
            }
            Err(problem) => {
                self.note(model, problem);
                false
            }
        });
        let vertices = vertices(model, &images);
        let view = gpu.array_view(&texture(gpu, size, &layers));
        let sampler = sampler.clone();
        vec![
            named(
                "surfaces",
                &gpu.storage(Purpose::Targets, "surfaces", &vertices),
            ),
            ("layers", Resource::View { view }),
            ("repeating", Resource::Sampler { sampler }),
        ]
    }

    fn note(&mut self, model: &Model, problem: String) {
        let note = format!("{}: a texture is left out: {problem}", model.name());
        if self.notes.contains(&note) {
            return;
        }
        match self.notes.len().cmp(&MOST_NOTES) {
            Ordering::Less => self.notes.push(note),
            Ordering::Equal => self.notes.push("more textures are left out".into()),
            Ordering::Greater => {}
        }
    }
}

/// A model that equals only itself.
struct ByAddress<'a>(&'a Arc<Model>);

impl PartialEq for ByAddress<'_> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.0, other.0)
    }
}

fn used_materials(model: &Model) -> impl Iterator<Item = &Material> {
    let subsets = model
        .mesh()
        .primitives()
        .iter()
        .flat_map(|primitive| &primitive.subsets);
    subsets.map(|subset| &model.materials()[usize::from(subset.material)])
}

fn layer_bytes([width, height]: [u32; 2]) -> u64 {
    u64::from(width) * u64::from(height) * 4
}

/// Powers of two that hold the largest image, within the limits.
fn layer_size(images: &[[u32; 2]]) -> [u32; 2] {
    let count = images.len() as u64;
    let mut size = [1, 1];
    for image in images {
        for (texels, other) in size.iter_mut().zip(image) {
            *texels = other.min(&MOST_TEXELS).next_power_of_two().max(*texels);
        }
    }
    while layer_bytes(size) * count > MOST_BYTES {
        size = size.map(|texels| (texels / 2).max(1));
    }
    size
}

/// A texture of these layers with all their smaller levels; one white texel if there are none.
fn texture(gpu: &Gpu, size: [u32; 2], layers: &[Pixels]) -> objects::Texture {
    let levels = size[0].max(size[1]).ilog2() + 1;
    let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
    let mut description = wgpu::TextureDescriptor {
        mip_level_count: levels,
        ..flat("surfaces", size, FORMAT, usage)
    };
    description.size.depth_or_array_layers = layers.len().max(1) as u32;
    let texture = gpu.texture(Purpose::Targets, &description);
    for (layer, pixels) in (0..).zip(layers) {
        let mut pixels = pixels.clone();
        for level in 0..levels {
            gpu.write_texture(&texture, [level, layer], pixels.size, &pixels.rgba);
            pixels = scaled(&pixels, pixels.size.map(|texels| (texels / 2).max(1)));
        }
    }
    texture
}

/// The surface of every vertex, whose image is in a layer. A vertex that subsets of several materials share has the last
/// one's.
fn vertices(model: &Model, layers: &[&Image]) -> Vec<layout::Surface> {
    let mesh = model.mesh();
    let plain = layout::Surface {
        color: 0x00ff_ffff,
        layer: 0,
        uv: [0.0; 2],
    };
    let mut surfaces = vec![plain; mesh.vertex_count()];
    // Layer 0 is none.
    let layer_of: HashMap<&Image, u32> = layers.iter().copied().zip(1..).collect();
    for subset in mesh.primitives().iter().flat_map(|p| &p.subsets) {
        let material = &model.materials()[usize::from(subset.material)];
        let texture = material.texture.as_ref();
        let known = texture.and_then(|texture| layer_of.get(&texture.image));
        let layer = known.copied().unwrap_or(0);
        for &vertex in &mesh.indices()[subset.indices.start as usize..subset.indices.end as usize] {
            let vertex = vertex as usize;
            let color = color(material, mesh.colors().map(|colors| colors[vertex]));
            surfaces[vertex] = match (texture, mesh.uvs()) {
                (Some(texture), Some(uvs)) if layer > 0 => layout::Surface {
                    color,
                    layer: layer | wrapping(texture),
                    uv: transformed(texture, uvs[vertex]),
                },
                _ => layout::Surface { color, ..plain },
            };
        }
    }
    surfaces
}

/// A material's colour times that of a vertex: linear RGB with 8 bits each, and above them the alpha of the image below
/// which nothing is drawn.
fn color(material: &Material, of_vertex: Option<[f32; 4]>) -> u32 {
    let of_vertex = Vec4::from(of_vertex.unwrap_or([1.0; 4]));
    let [r, g, b, alpha] = (Vec4::from(material.base_color) * of_vertex).to_array();
    let cutoff = material
        .alpha_cutoff
        .map_or(0.0, |cutoff| cutoff / alpha.max(1e-6));
    unorm8([r, g, b, cutoff])
}

fn wrapping(texture: &Texture) -> u32 {
    let [across, down] = texture.wrap.map(|wrap| match wrap {
        Wrap::Repeat => 0,
        Wrap::Mirror => 1,
        Wrap::Clamp => 2,
    });
    across << 16 | down << 18
}

fn transformed(texture: &Texture, [u, v]: [f32; 2]) -> [f32; 2] {
    texture
        .transform
        .map(|[by_u, by_v, offset]| by_u * u + by_v * v + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_fit_the_limits() {
        assert_eq!(layer_size(&[]), [1, 1]);
        assert_eq!(layer_size(&[[300, 8]]), [512, 8]);
        assert_eq!(layer_size(&[[8192, 8192], [16, 16]]), [1024, 1024]);
        assert_eq!(layer_size(&[[1024, 1024]; 256]), [256, 256]);
    }

    #[test]
    fn a_cutoff_is_one_of_the_image_alone() {
        let material = Material {
            base_color: [1.0, 0.5, 0.0, 0.5],
            alpha_cutoff: Some(0.25),
            ..Material::default()
        };
        assert_eq!(color(&material, None).to_le_bytes(), [255, 128, 0, 128]);
        let of_vertex = Some([0.5, 1.0, 1.0, 0.5]);
        assert_eq!(
            color(&material, of_vertex).to_le_bytes(),
            [128, 128, 0, 255]
        );
        assert_eq!(
            color(
                &Material {
                    alpha_cutoff: None,
                    ..material
                },
                None
            )
            .to_le_bytes()[3],
            0
        );
    }
}
