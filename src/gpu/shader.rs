//! Shader modules, the values of their overrides, and the edits by which tests break them.

use super::Gpu;
use std::rc::Rc;

/// Names and values of shader overrides.
pub type Constants = Vec<(&'static str, f64)>;

/// Changes a shader's WGSL: tests break it and see parity fail.
pub type Edit = Rc<dyn Fn(String) -> String>;

/// A module; our own WGSL goes without the checks that untrusted shaders need: bounds and loop counters took a compute
/// kernel on llvmpipe from about 135 to 360 ns a vertex.
pub fn module(gpu: &Gpu, label: &str, wgsl: String, trusted: bool) -> wgpu::ShaderModule {
    let descriptor = wgpu::ShaderModuleDescriptor { label: Some(label), source: wgpu::ShaderSource::Wgsl(wgsl.into()) };
    if !trusted {
        return gpu.device().create_shader_module(descriptor);
    }
    // SAFETY: our shaders index buffers by palette entry, vertex and instance. `Model::new` refuses entries and
    // indices out of range (tests/suite/backends/unchecked.rs proves it), buffers are sized from the chunk that the uniform
    // describes, and every loop ends at a count from the same data.
    unsafe { gpu.device().create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
}

/// The pipeline of a kernel whose entry point is `main`. Kernels write what they read of workgroup memory, so that it is
/// not zeroed.
pub fn compute_pipeline(
    gpu: &Gpu,
    label: &str,
    layout: &wgpu::PipelineLayout,
    module: &wgpu::ShaderModule,
    constants: &[(&str, f64)],
) -> wgpu::ComputePipeline {
    gpu.device().create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(label),
        layout: Some(layout),
        module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions { constants, zero_initialize_workgroup_memory: false },
        cache: gpu.pipeline_cache(),
    })
}
