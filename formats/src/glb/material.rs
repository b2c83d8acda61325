//! Materials: base colours and the images on them.

use super::buffer::{BufferBuilder, Use};
use crate::textures::{encoded, media_type};
use serde_json::{Value, json};
use skinbench_kernels::model::{Image, Material, Texture, Wrap};
use std::collections::HashMap;

/// The document's lists of materials and images, and whether they use `KHR_texture_transform`.
#[derive(Default)]
pub(super) struct Materials {
    pub(super) materials: Vec<Value>,
    pub(super) textures: Vec<Value>,
    pub(super) samplers: Vec<Value>,
    pub(super) images: Vec<Value>,
    pub(super) transforms: bool,
}

impl Materials {
    /// Writes a model's materials. An image that cannot be read any more is left out.
    pub(super) fn new(materials: &[Material], buffer: &mut BufferBuilder) -> Self {
        let mut written = Self::default();
        let mut images = HashMap::new();
        for material in materials {
            let mut value = plain(material);
            if let Some(texture) = &material.texture {
                let index = *images.entry(&texture.image).or_insert_with(|| written.image(&texture.image, buffer));
                if let Some(image) = index {
                    value["pbrMetallicRoughness"]["baseColorTexture"] = written.texture(texture, image);
                }
            }
            written.materials.push(value);
        }
        written
    }

    fn image(&mut self, image: &Image, buffer: &mut BufferBuilder) -> Option<usize> {
        let bytes = encoded(image).ok()?;
        let media_type = media_type(&bytes)?;
        self.images.push(json!({"bufferView": buffer.view(&bytes, Use::Other), "mimeType": media_type}));
        Some(self.images.len() - 1)
    }

    /// The use of a texture by a material.
    fn texture(&mut self, texture: &Texture, image: usize) -> Value {
        let [across, down] = texture.wrap.map(|wrap| match wrap {
            Wrap::Repeat => 10497,
            Wrap::Mirror => 33648,
            Wrap::Clamp => 33071,
        });
        self.textures.push(json!({"source": image, "sampler": self.samplers.len()}));
        self.samplers.push(json!({"wrapS": across, "wrapT": down}));
        let mut info = json!({"index": self.textures.len() - 1});
        if texture.transform != Texture::IDENTITY {
            self.transforms = true;
            info["extensions"] = json!({"KHR_texture_transform": transform(&texture.transform)});
        }
        info
    }
}

fn plain(material: &Material) -> Value {
    let color = material.base_color.map(|v| v.clamp(0.0, 1.0));
    let mut value = json!({
        "name": material.name,
        "pbrMetallicRoughness": {"baseColorFactor": color, "metallicFactor": 0.0},
    });
    if let Some(cutoff) = material.alpha_cutoff {
        value["alphaMode"] = json!("MASK");
        value["alphaCutoff"] = json!(cutoff);
    } else if color[3] < 1.0 {
        value["alphaMode"] = json!("BLEND");
    }
    value
}

/// Scale, rotation and offset of a transform without shear.
fn transform([[a, b, x], [c, d, y]]: &[[f32; 3]; 2]) -> Value {
    let rotation = (-c).atan2(*a);
    let (sin, cos) = rotation.sin_cos();
    json!({"offset": [x, y], "rotation": rotation, "scale": [a.hypot(*c), b * sin + d * cos]})
}
