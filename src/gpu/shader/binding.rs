//! Bind groups and their layouts, derived from shaders: buffers are bound to variables by name, and the numbers of
//! groups and bindings stand in WGSL alone.

use crate::frame::DeviceObject;
use crate::gpu::Gpu;
use crate::gpu::device::gpu::WgpuDevice;
use crate::gpu::device::{BindGroup, Object, PipelineLayout, Resource, descriptors};
use crate::gpu::shader::reflection::{Binding, Interface};
use serde_json::json;

/// The layout of one of a shader's groups.
pub struct GroupLayout {
    layout: DeviceObject<wgpu::BindGroupLayout>,
    bindings: Vec<Binding>,
}

impl GroupLayout {
    /// The layout of a group of complete shaders, all of whose bindings `stages` see. Numbers that shaders have in common
    /// have one kind each. A syntax error is reported by `Gpu::check`.
    pub fn new(gpu: &Gpu, label: &str, shaders: &[impl AsRef<str>], group: u32, stages: wgpu::ShaderStages) -> Self {
        let mut bindings: Vec<Binding> = Vec::new();
        // Where nothing is bound, parsing would only take time.
        for wgsl in shaders.iter().filter(|_| !gpu.plans()) {
            match Interface::of(wgsl.as_ref()) {
                Ok(interface) => bindings.extend(interface.bindings),
                Err(error) => gpu.failures.refuse(error),
            }
        }
        bindings.retain(|binding| binding.group == group);
        bindings.sort_by_key(|binding| binding.number);
        bindings.dedup_by_key(|binding| binding.number);
        let entry = |binding: &Binding| wgpu::BindGroupLayoutEntry {
            binding: binding.number,
            visibility: stages,
            ty: binding.ty,
            count: None,
        };
        let entries: Vec<_> = bindings.iter().map(entry).collect();
        let descriptor = wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries };
        let layout = gpu.create(
            |open| open.device.create_bind_group_layout(&descriptor),
            || descriptors::group_layout(&bindings, stages),
        );
        Self { layout, bindings }
    }

    /// A bind group in which each variable of the layout has the resource of its name. Resources that the layout does
    /// not name are left out; a variable without a resource is reported by `Gpu::check`.
    pub fn bind<'a>(
        &self,
        gpu: &Gpu,
        label: &str,
        resources: impl IntoIterator<Item = (&'a str, Resource<'a>)>,
    ) -> BindGroup {
        let resources: Vec<_> = resources.into_iter().collect();
        let mut bound = Vec::with_capacity(self.bindings.len());
        for Binding { name, number, .. } in &self.bindings {
            match resources.iter().find(|(known, _)| known == name) {
                Some((_, resource)) => bound.push((*number, *resource)),
                None => gpu.failures.refuse(format!("{label}: nothing is bound to {name:?}")),
            }
        }
        let entry = |(binding, resource): &(u32, Resource<'a>)| wgpu::BindGroupEntry {
            binding: *binding,
            resource: match *resource {
                Resource::Buffer(buffer, offset, size) => wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: buffer.object.get(),
                    offset,
                    size: size.and_then(wgpu::BufferSize::new),
                }),
                Resource::View(view) => wgpu::BindingResource::TextureView(view.get()),
                Resource::Sampler(sampler) => wgpu::BindingResource::Sampler(sampler.get()),
            },
        };
        let real = |open: &WgpuDevice| {
            let entries: Vec<_> = bound.iter().map(entry).collect();
            let layout = self.layout.get();
            open.device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some(label), layout, entries: &entries })
        };
        gpu.create(real, || descriptors::group(&self.layout, &bound))
    }
}

/// A pipeline layout of these groups, without immediate values.
pub fn pipeline_layout(gpu: &Gpu, label: &str, groups: &[&GroupLayout]) -> PipelineLayout {
    let real = |open: &WgpuDevice| {
        let layouts: Vec<_> = groups.iter().map(|group| Some(group.layout.get())).collect();
        open.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(label),
            bind_group_layouts: &layouts,
            immediate_size: 0,
        })
    };
    let ids = groups.iter().map(|group| group.layout.id);
    gpu.create(real, || Object::new(json!({"kind": "pipelineLayout", "groups": ids.collect::<Vec<_>>()})))
}
