//! Materials: base colours and the images on them.

use super::document::{Document, Use};
use crate::gltf::names;
use crate::textures::{encoded, media_type};
use serde_json::{Value, json};
use skinbench_kernels::model::{Image, Material, Texture};
use std::collections::HashMap;

/// Writes a model's materials. An image that cannot be read any more is left out.
pub fn write(materials: &[Material], document: &mut Document) {
    let mut images = HashMap::new();
    for material in materials {
        let mut value = plain(material);
        if let Some(texture) = &material.texture {
            let image = images.entry(&texture.image);
            if let Some(image) = image.or_insert_with(|| add_image(&texture.image, document)) {
                let info = texture_info(texture, *image, document);
                value["pbrMetallicRoughness"]["baseColorTexture"] = info;
            }
        }
        document.add("materials", value);
    }
}

fn add_image(image: &Image, document: &mut Document) -> Option<usize> {
    let bytes = encoded(image).ok()?;
    let media_type = media_type(&bytes)?;
    let view = document.view(&bytes, Use::Other);
    let image = json!({"bufferView": view, "mimeType": media_type});
    Some(document.add("images", image))
}

/// The use of a texture by a material.
fn texture_info(texture: &Texture, image: usize, document: &mut Document) -> Value {
    let [across, down] = texture.wrap.map(names::wrap);
    let sampler = document.add("samplers", json!({"wrapS": across, "wrapT": down}));
    let index = document.add("textures", json!({"source": image, "sampler": sampler}));
    let mut info = json!({"index": index});
    if texture.transform != Texture::IDENTITY {
        document.json["extensionsUsed"] = json!(["KHR_texture_transform"]);
        info["extensions"]["KHR_texture_transform"] = transform(&texture.transform);
    }
    info
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
    let down = b * rotation.sin() + d * rotation.cos();
    json!({"offset": [x, y], "rotation": rotation, "scale": [a.hypot(*c), down]})
}
