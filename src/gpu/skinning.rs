//! What every matrix-palette shader reads: chunk, vertices, influences, tangents, palettes (shaders/skinning.wgsl).

use super::present::{READ_ONLY, bind, layout_entry};
use super::{Chunk, Gpu, MeshBuffers, chunk_uniform};
use crate::crowd::Crowd;
use crate::vertex::{Normals, VertexFormat};

/// The shared WGSL, to be followed by a kernel's own.
pub const SKINNING_WGSL: &str =
    concat!(include_str!("../../shaders/chunk.wgsl"), include_str!("../../shaders/skinning.wgsl"));

/// Layout of group 0 of a skinning shader, with a last binding for its output if it has one.
pub fn layout(gpu: &Gpu, stage: wgpu::ShaderStages, output: bool) -> wgpu::BindGroupLayout {
    let mut entries = vec![
        layout_entry(0, stage, wgpu::BufferBindingType::Uniform),
        layout_entry(1, stage, READ_ONLY),
        layout_entry(2, stage, READ_ONLY),
        layout_entry(3, stage, READ_ONLY),
        layout_entry(4, stage, READ_ONLY),
    ];
    if output {
        entries.push(layout_entry(5, stage, wgpu::BufferBindingType::Storage { read_only: false }));
    }
    let label = Some("skinning");
    gpu.device().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries })
}

/// Group 0 for each chunk; `outputs` holds a buffer for each chunk, or none.
pub fn bind_groups(
    gpu: &Gpu,
    crowd: &Crowd,
    chunks: &[Chunk],
    layout: &wgpu::BindGroupLayout,
    palettes: &[wgpu::Buffer],
    outputs: &[wgpu::Buffer],
) -> Vec<wgpu::BindGroup> {
    let meshes: Vec<MeshBuffers> = crowd.groups().iter().map(|g| MeshBuffers::new(gpu, g)).collect();
    let groups = chunks.iter().zip(palettes).enumerate().map(|(index, (chunk, palette))| {
        let mesh = &meshes[chunk.group];
        let uniform = chunk_uniform(gpu, crowd, chunk);
        let mut buffers = vec![&uniform, &mesh.vertices, &mesh.influences, &mesh.tangents, palette];
        buffers.extend(outputs.get(index));
        bind(gpu, "skinning", layout, &buffers)
    });
    groups.collect()
}

/// A module of our own WGSL without the checks that untrusted shaders need: bounds and loop counters took a compute
/// kernel on llvmpipe from about 135 to 360 ns a vertex.
pub(crate) fn trusted_module(gpu: &Gpu, label: &str, wgsl: String) -> wgpu::ShaderModule {
    let descriptor = wgpu::ShaderModuleDescriptor { label: Some(label), source: wgpu::ShaderSource::Wgsl(wgsl.into()) };
    // SAFETY: the kernels index buffers by palette entry, vertex and instance. `Model::new` refuses entries and
    // vertices out of range, buffers are sized from the chunk that the uniform describes, and every loop ends at a
    // count from the same data.
    unsafe { gpu.device().create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
}

/// Values of the overrides in shaders/chunk.wgsl.
pub fn constants(format: VertexFormat) -> [(&'static str, f64); 2] {
    let normals = match format.normals {
        Normals::Unit => 0.0,
        Normals::Raw => 1.0,
        Normals::Exact => 2.0,
    };
    [("FLOATS", format.floats() as f64), ("NORMALS", normals)]
}
