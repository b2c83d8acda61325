//! Layouts of bindings and pipelines, and bind groups of buffers.

use super::Gpu;

/// Type of a read-only storage buffer.
pub const READ_ONLY: wgpu::BufferBindingType = wgpu::BufferBindingType::Storage { read_only: true };

/// Layout entry of a whole buffer.
pub fn layout_entry(
    binding: u32,
    visibility: wgpu::ShaderStages,
    ty: wgpu::BufferBindingType,
) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}

/// A bind group of whole buffers, with bindings counted from 0.
pub fn bind(gpu: &Gpu, label: &str, layout: &wgpu::BindGroupLayout, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
    bind_numbered(gpu, label, layout, &(0..).zip(buffers.iter().copied()).collect::<Vec<_>>())
}

/// A bind group of whole buffers with given bindings.
pub fn bind_numbered(
    gpu: &Gpu,
    label: &str,
    layout: &wgpu::BindGroupLayout,
    buffers: &[(u32, &wgpu::Buffer)],
) -> wgpu::BindGroup {
    let entries: Vec<_> = buffers
        .iter()
        .map(|&(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    gpu.device().create_bind_group(&wgpu::BindGroupDescriptor { label: Some(label), layout, entries: &entries })
}

/// A layout with these entries.
pub fn bind_group_layout(gpu: &Gpu, label: &str, entries: &[wgpu::BindGroupLayoutEntry]) -> wgpu::BindGroupLayout {
    gpu.device().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries })
}

/// A pipeline layout of these groups, without immediate values.
pub fn pipeline_layout(gpu: &Gpu, label: &str, groups: &[Option<&wgpu::BindGroupLayout>]) -> wgpu::PipelineLayout {
    gpu.device().create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(label),
        bind_group_layouts: groups,
        immediate_size: 0,
    })
}

/// Type of a storage buffer that is written.
pub const WRITTEN: wgpu::BufferBindingType = wgpu::BufferBindingType::Storage { read_only: false };
