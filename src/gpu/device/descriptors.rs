//! Objects of a tape, in the words of WebGPU.

use crate::frame::DeviceObject;
use crate::gpu::device::{Entry, RenderPipelineParts, Resource};
use crate::gpu::shader::reflection::Binding;
use serde_json::{Value, json};
use std::fmt::Debug;

pub(in crate::gpu) fn buffer(
    label: &str,
    size: u64,
    usage: wgpu::BufferUsages,
    contents: Option<&[u8]>,
) -> Entry {
    let value = json!({"kind": "buffer", "label": label, "size": size, "usage": usage.bits()});
    // Contents end with the buffer, which is a little longer if their length is odd.
    let padded = |contents: &[u8]| {
        let mut padded = contents.to_vec();
        padded.resize(size as usize, 0);
        padded
    };
    Entry {
        value,
        bytes: contents.map(padded),
    }
}

pub(in crate::gpu) fn texture(descriptor: &wgpu::TextureDescriptor) -> Value {
    json!({
        "kind": "texture",
        "label": descriptor.label,
        "size": [descriptor.size.width, descriptor.size.height],
        "format": name(descriptor.format),
        "usage": descriptor.usage.bits(),
    })
}

pub(in crate::gpu) fn group_layout(bindings: &[Binding], stages: wgpu::ShaderStages) -> Value {
    let entry = |binding: &Binding| {
        let mut value = json!({"binding": binding.number, "visibility": stages.bits()});
        match binding.ty {
            wgpu::BindingType::Buffer {
                ty,
                has_dynamic_offset,
                ..
            } => {
                let ty = match ty {
                    wgpu::BufferBindingType::Uniform => "uniform",
                    wgpu::BufferBindingType::Storage { read_only: true } => "read-only-storage",
                    wgpu::BufferBindingType::Storage { read_only: false } => "storage",
                };
                value["buffer"] = json!({"type": ty, "hasDynamicOffset": has_dynamic_offset, "minBindingSize": 0});
            }
            wgpu::BindingType::Texture { sample_type, .. } => {
                let filterable = sample_type == wgpu::TextureSampleType::Float { filterable: true };
                value["texture"] =
                    json!({"sampleType": if filterable { "float" } else { "unfilterable-float" }});
            }
            _ => value["sampler"] = json!({}),
        }
        value
    };
    let entries: Vec<_> = bindings.iter().map(entry).collect();
    json!({"kind": "groupLayout", "entries": entries})
}

pub(in crate::gpu) fn group(
    layout: &DeviceObject<wgpu::BindGroupLayout>,
    bound: &[(u32, &Resource)],
) -> Value {
    let entry = |(binding, resource): &(u32, &Resource)| match resource {
        Resource::Buffer(buffer, offset, size) => {
            json!({"binding": binding, "buffer": buffer.object.id, "offset": offset, "size": size})
        }
        Resource::View(view) => json!({"binding": binding, "view": view.id}),
        Resource::Sampler(sampler) => json!({"binding": binding, "sampler": sampler.id}),
    };
    let entries: Vec<_> = bound.iter().map(entry).collect();
    json!({"kind": "group", "layout": layout.id, "entries": entries})
}

pub(in crate::gpu) fn render_pipeline(parts: &RenderPipelineParts) -> Value {
    let depth = parts.depth_state().map(|depth| {
        json!({
            "format": name(depth.format),
            "depthWriteEnabled": depth.depth_write_enabled,
            "depthCompare": "less",
            "depthBias": depth.bias.constant,
            "depthBiasSlopeScale": depth.bias.slope_scale,
            "depthBiasClamp": depth.bias.clamp,
        })
    });
    let shader = |entry: &str| json!({"module": parts.module.id, "entryPoint": entry, "constants": constants(parts.constants)});
    let target = |target: &wgpu::ColorTargetState| json!({"format": name(target.format), "writeMask": target.write_mask.bits()});
    let fragment = parts.fragment.map(|(entry, targets)| {
        let mut fragment = shader(entry);
        fragment["targets"] = targets.iter().flatten().map(target).collect();
        fragment
    });
    json!({
        "kind": "render",
        "label": parts.label,
        "layout": parts.layout.id,
        "vertex": shader(parts.vertex),
        "topology": name(parts.topology),
        "depthStencil": depth,
        "fragment": fragment,
    })
}

pub(in crate::gpu) fn constants(values: &[(&str, f64)]) -> Value {
    values
        .iter()
        .map(|&(name, value)| (name.to_owned(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// WebGPU's name of a value: `Rgba8UnormSrgb` is `rgba8unorm-srgb`, and `LineList` is `line-list`.
fn name(value: impl Debug) -> String {
    format!("{value:?}")
        .replace("Srgb", "-srgb")
        .replace("List", "-list")
        .replace("Strip", "-strip")
        .to_lowercase()
}
