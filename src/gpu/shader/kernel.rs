//! Shader modules, and kernels made from them. Bind groups and their layouts are derived from shaders: buffers are bound
//! to variables by name, and the numbers of groups and bindings stand in WGSL alone.

use crate::frame::{DeviceObject, Result};
use crate::gpu::Gpu;
use crate::gpu::device::gpu::WgpuDevice;
use crate::gpu::device::{
    BindGroup, Buffer, ComputePass, ComputePipeline, PipelineLayout, Resource, ShaderModule,
    descriptors,
};
use crate::gpu::shader::layout;
use crate::gpu::shader::reflection::{Binding, Interface};
use serde_json::json;
use std::sync::Arc;

/// Names and values of shader overrides.
pub type Constants = Vec<(&'static str, f64)>;

/// The module of a shader, created the first time: reading a shader takes longer than creating a pipeline. Our own WGSL
/// runs without the checks that untrusted and edited shaders need: bounds checks and loop counters slowed a compute kernel on
/// llvmpipe down from approximately 135 to 360 ns per vertex.
pub fn module(gpu: &Gpu, label: &str, wgsl: String, trusted: bool) -> ShaderModule {
    let mut modules = gpu.modules.borrow_mut();
    let key = match &*gpu.edit.borrow() {
        Some(edit) => (edit(wgsl), false),
        None => (wgsl, trusted),
    };
    if let Some(module) = modules.get(&key) {
        return module.clone();
    }
    let module = gpu.create(
        |open| create(&open.device, label, &key.0, key.1),
        || json!({"kind": "module", "label": label, "text": key.0}),
    );
    modules.insert(key, module.clone());
    module
}

fn create(device: &wgpu::Device, label: &str, wgsl: &str, trusted: bool) -> wgpu::ShaderModule {
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some(label),
        source: wgpu::ShaderSource::Wgsl(wgsl.into()),
    };
    if !trusted {
        return device.create_shader_module(descriptor);
    }
    // SAFETY: our shaders index buffers by palette entry, vertex and instance. `Model::new` refuses entries and indices
    // out of range (tests/suite/backends/unchecked.rs checks it), buffers are sized from the chunk that the uniform
    // describes, and every loop ends at a count from the same data.
    unsafe {
        device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
    }
}

/// The layout of one of a shader's groups.
pub struct GroupLayout {
    layout: DeviceObject<wgpu::BindGroupLayout>,
    bindings: Vec<Binding>,
}

impl GroupLayout {
    /// The layout of a group of complete shaders, all of whose bindings `stages` see. Numbers that shaders have in
    /// common have one kind each. A syntax error is reported by `Gpu::check`.
    pub fn new(
        gpu: &Gpu,
        label: &str,
        shaders: &[impl AsRef<str>],
        group: u32,
        stages: wgpu::ShaderStages,
    ) -> Self {
        let mut bindings: Vec<Binding> = Vec::new();
        // Where nothing is bound, parsing would only take time.
        for wgsl in shaders.iter().filter(|_| !gpu.only_counts()) {
            match Interface::of(wgsl.as_ref()) {
                Ok(interface) => bindings.extend_from_slice(&interface.bindings),
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
        let descriptor = wgpu::BindGroupLayoutDescriptor {
            label: Some(label),
            entries: &entries,
        };
        let layout = gpu.create(
            |open| open.device.create_bind_group_layout(&descriptor),
            || descriptors::group_layout(&bindings, stages),
        );
        Self { layout, bindings }
    }

    /// A bind group in which each variable of the layout has the resource of its name. Resources that the layout does
    /// not name are left out; a variable without a resource is reported by `Gpu::check`.
    pub fn bind(&self, gpu: &Gpu, label: &str, resources: &[(&str, Resource)]) -> BindGroup {
        let mut bound = Vec::with_capacity(self.bindings.len());
        for Binding { name, number, .. } in &self.bindings {
            match resources.iter().find(|(known, _)| known == name) {
                Some((_, resource)) => bound.push((*number, resource)),
                None => gpu
                    .failures
                    .refuse(format!("{label}: nothing is bound to {name:?}")),
            }
        }
        let real = |open: &WgpuDevice| {
            let entry = bound
                .iter()
                .map(|&(binding, resource)| wgpu::BindGroupEntry {
                    binding,
                    resource: resource.get(),
                });
            let (layout, entries) = (self.layout.get(), entry.collect::<Vec<_>>());
            open.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(label),
                layout,
                entries: &entries,
            })
        };
        gpu.create(real, || descriptors::group(&self.layout, &bound))
    }
}

/// A pipeline layout of these groups, without immediate values.
pub fn pipeline_layout(gpu: &Gpu, label: &str, groups: &[&GroupLayout]) -> PipelineLayout {
    let real = |open: &WgpuDevice| {
        let layouts: Vec<_> = groups
            .iter()
            .map(|group| Some(group.layout.get()))
            .collect();
        open.device
            .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(label),
                bind_group_layouts: &layouts,
                immediate_size: 0,
            })
    };
    let ids = groups.iter().map(|group| group.layout.id);
    gpu.create(
        real,
        || json!({"kind": "pipelineLayout", "groups": ids.collect::<Vec<_>>()}),
    )
}

/// A compiled compute shader whose entry point is `main`, and the layouts of what it binds.
pub struct Kernel {
    label: &'static str,
    groups: Vec<GroupLayout>,
    /// The compiled shader.
    pub pipeline: ComputePipeline,
}

impl Kernel {
    /// Compiles a complete shader with those of some values whose overrides it declares. It is compiled once per device:
    /// backends share kernels, and drivers compile them slowly. A shader that is not `trusted` runs with bounds checks.
    /// Kernels write workgroup memory before they read it, so it is not zeroed.
    ///
    /// # Errors
    /// As [`Gpu::has`].
    pub fn new(
        gpu: &Gpu,
        label: &'static str,
        wgsl: String,
        values: &[(&'static str, f64)],
        trusted: bool,
    ) -> Result<Self> {
        gpu.has(wgpu::ShaderStages::COMPUTE, &[&wgsl])?;
        let group =
            |number| GroupLayout::new(gpu, label, &[&wgsl], number, wgpu::ShaderStages::COMPUTE);
        // One kernel has a second group: the variable with an offset.
        let groups: Vec<_> = (0..1 + u32::from(wgsl.contains("@group(1)")))
            .map(group)
            .collect();
        // Where no pipeline is made, parsing would only take time.
        let interface = if gpu.only_counts() {
            Arc::default()
        } else {
            Interface::of(&wgsl).unwrap_or_default()
        };
        let constants = interface.declared(values);
        let module = module(gpu, label, wgsl, trusted);
        let mut pipelines = gpu.pipelines.borrow_mut();
        let known = pipelines
            .iter()
            .find(|(known, values, _)| *known == module && *values == constants);
        if let Some((.., pipeline)) = known {
            return Ok(Self {
                label,
                groups,
                pipeline: pipeline.clone(),
            });
        }
        let layout = pipeline_layout(gpu, label, &groups.iter().collect::<Vec<_>>());
        let pipeline = gpu.create(
            |open| {
                open.device
                    .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                        label: Some(label),
                        layout: Some(layout.get()),
                        module: module.get(),
                        entry_point: Some("main"),
                        compilation_options: wgpu::PipelineCompilationOptions {
                            constants: &constants,
                            zero_initialize_workgroup_memory: false,
                        },
                        cache: open.pipeline_cache.as_ref(),
                    })
            },
            || {
                json!({
                    "kind": "compute",
                    "label": label,
                    "layout": layout.id,
                    "module": module.id,
                    "entryPoint": "main",
                    "constants": descriptors::constants(&constants),
                })
            },
        );
        pipelines.push((module, constants, pipeline.clone()));
        Ok(Self {
            label,
            groups,
            pipeline,
        })
    }

    /// Binds the variables of a group to the resources of their names.
    pub fn bind(&self, gpu: &Gpu, group: usize, resources: &[(&str, Resource)]) -> BindGroup {
        self.groups[group].bind(gpu, self.label, resources)
    }
}

impl ComputePass<'_> {
    /// Dispatches a kernel with one group of bindings.
    pub(in crate::gpu) fn dispatch(
        &mut self,
        gpu: &Gpu,
        kernel: &Kernel,
        group: &BindGroup,
        groups: u32,
    ) {
        let (x, y) = gpu.folded(groups);
        gpu.work.borrow_mut().dispatches += 1;
        self.set_pipeline(&kernel.pipeline);
        self.set_bind_group(0, group, &[]);
        self.dispatch_workgroups(x, y, 1);
    }
}

impl Gpu {
    /// Dispatches for this many instances and slots by a rule, or indirectly with the workgroup counts that the device
    /// computed: a buffer of them, and the index of the dispatch there.
    pub(in crate::gpu) fn dispatch_by(
        &self,
        pass: &mut ComputePass,
        rule: &layout::Dispatch,
        counted: Option<(&Buffer, usize)>,
        [instances, slots]: [u32; 2],
    ) {
        self.work.borrow_mut().dispatches += 1;
        if let Some((workgroups, index)) = counted {
            return pass
                .dispatch_workgroups_indirect(workgroups, (index * size_of::<[u32; 3]>()) as u64);
        }
        let &layout::Dispatch {
            slots: of_slots,
            at_once,
            threads,
            workgroup,
            x,
            z,
        } = rule;
        let parts = if of_slots == 1 { slots } else { instances }.div_ceil(at_once);
        let all = u64::from(parts) * u64::from(threads);
        let groups = all.div_ceil(workgroup.into()) as u32;
        let (x, y) = if x == 0 {
            self.folded(groups)
        } else {
            (x, groups)
        };
        pass.dispatch_workgroups(x, y, z);
    }
}

/// Makes a value for each key, and one value for all equal keys.
pub fn made_once<K: PartialEq, V: Clone>(
    keys: impl IntoIterator<Item = K>,
    mut make: impl FnMut(&K) -> V,
) -> Vec<V> {
    let mut made: Vec<(K, V)> = Vec::new();
    let of_key = |key: K| match made.iter().find(|(known, _)| *known == key) {
        Some((_, value)) => value.clone(),
        None => {
            let value = make(&key);
            made.push((key, value.clone()));
            value
        }
    };
    keys.into_iter().map(of_key).collect()
}
