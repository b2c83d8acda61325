//! Shader modules, values of their overrides, and the edits with which tests break them.

use super::Gpu;
use std::rc::Rc;

/// Names and values of shader overrides.
pub type Constants = Vec<(&'static str, f64)>;

/// A change to a shader's WGSL: tests break shaders with it and check that parity fails.
pub type Edit = Rc<dyn Fn(String) -> String>;

/// The module of a shader, created the first time: reading a shader takes longer than creating a pipeline. Our own WGSL
/// runs without the checks that untrusted shaders need: bounds checks and loop counters slowed a compute kernel on
/// llvmpipe down from approximately 135 to 360 ns per vertex.
pub fn module(gpu: &Gpu, label: &str, wgsl: String, trusted: bool) -> wgpu::ShaderModule {
    let mut modules = gpu.modules.borrow_mut();
    let key = (wgsl, trusted);
    if let Some(module) = modules.get(&key) {
        return module.clone();
    }
    let module = create(gpu, label, &key.0, trusted);
    modules.insert(key, module.clone());
    module
}

fn create(gpu: &Gpu, label: &str, wgsl: &str, trusted: bool) -> wgpu::ShaderModule {
    let descriptor = wgpu::ShaderModuleDescriptor { label: Some(label), source: wgpu::ShaderSource::Wgsl(wgsl.into()) };
    if !trusted {
        return gpu.device().create_shader_module(descriptor);
    }
    // SAFETY: our shaders index buffers by palette entry, vertex and instance. `Model::new` refuses entries and indices
    // out of range (tests/suite/backends/unchecked.rs checks it), buffers are sized from the chunk that the uniform
    // describes, and every loop ends at a count from the same data.
    unsafe { gpu.device().create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
}

/// Creates the pipeline of a kernel whose entry point is `main`. Kernels write workgroup memory before they read it, so
/// it is not zeroed.
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
