//! Shader modules, and kernels made from them. Bind groups and their layouts are derived from shaders: buffers are bound
//! to variables by name, and the numbers of groups and bindings stand in WGSL alone.

use crate::Gpu;
use crate::device::gpu::CompiledKernel;
use crate::device::{
    BindGroup, BindGroupLayout, ComputePipeline, EntryPoint, PipelineLayout, Resource,
    ShaderModule, fits, needs,
};
use crate::shader::reflection::{Binding, Interface};
use skinbench_frame::Result;
use skinbench_kernels::threads::lock;
use std::sync::Arc;

/// Names and values of shader overrides.
pub type Constants = Vec<(&'static str, f64)>;

/// The module of a shader, created the first time: reading a shader takes longer than creating a pipeline. Our own WGSL
/// runs without the checks that untrusted and edited shaders need: bounds checks and loop counters slowed a compute kernel on
/// llvmpipe down from approximately 135 to 360 ns per vertex.
pub fn module(gpu: &Gpu, label: &str, wgsl: String, trusted: bool) -> ShaderModule {
    let mut modules = lock(&gpu.modules);
    let key = match &*lock(&gpu.edit) {
        Some(edit) => (edit(wgsl), false),
        None => (wgsl, trusted),
    };
    if let Some(module) = modules.get(&key) {
        return module.clone();
    }
    let module = gpu.module(label, &key.0, key.1);
    modules.insert(key, module.clone());
    module
}

/// The layout of one of a shader's groups.
pub struct GroupLayout {
    layout: BindGroupLayout,
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
        Self {
            layout: gpu.group_layout(label, &bindings, stages),
            bindings,
        }
    }

    /// A bind group in which each variable of the layout has the resource of its name. Resources that the layout does
    /// not name are left out; a variable without a resource, or with several, is reported by `Gpu::check`.
    pub fn bind(&self, gpu: &Gpu, label: &str, resources: &[(&str, Resource)]) -> BindGroup {
        let mut entries = Vec::with_capacity(self.bindings.len());
        for Binding { name, number, .. } in &self.bindings {
            let mut named = resources.iter().filter(|named| named.0 == name);
            match (named.next(), named.next()) {
                (Some((_, resource)), None) => entries.push((*number, resource)),
                (None, _) => {
                    let message = format!("{label}: nothing is bound to {name:?}");
                    gpu.failures.refuse(message);
                }
                (Some(_), Some(_)) => {
                    let message = format!("{label}: {name:?} is bound twice");
                    gpu.failures.refuse(message);
                }
            }
        }
        gpu.group(label, &self.layout, &entries)
    }
}

/// A pipeline layout of these groups, without immediate values.
pub fn pipeline_layout(gpu: &Gpu, label: &str, groups: &[&GroupLayout]) -> PipelineLayout {
    let layouts: Vec<_> = groups.iter().map(|group| &group.layout).collect();
    gpu.pipeline_layout(label, &layouts)
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
        gpu.runs(&interface)?;
        let constants = interface.declared(values);
        let module = module(gpu, label, wgsl, trusted);
        let mut pipelines = lock(&gpu.pipelines);
        let known = pipelines
            .iter()
            .find(|known| known.module == module && known.constants == constants);
        if let Some(known) = known {
            return Ok(Self {
                label,
                groups,
                pipeline: known.pipeline.clone(),
            });
        }
        let layout = pipeline_layout(gpu, label, &groups.iter().collect::<Vec<_>>());
        let main = EntryPoint {
            module: &module,
            entry_point: "main",
            constants: &constants,
        };
        let pipeline = gpu.kernel(label, &layout, main);
        pipelines.push(CompiledKernel {
            module,
            constants,
            pipeline: pipeline.clone(),
        });
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

impl Gpu {
    /// Checks that the device runs workgroups as a shader declares them.
    fn runs(&self, shader: &Interface) -> Result<()> {
        let limits = &self.adapter.limits;
        let most = limits.max_compute_invocations_per_workgroup;
        let most = most.min(limits.max_compute_workgroup_size_x);
        let threads = shader.threads;
        needs!(
            most >= threads,
            "the device runs {most} threads in a workgroup; needs {threads}"
        );
        let shared = u64::from(shader.workgroup_bytes);
        let most = limits.max_compute_workgroup_storage_size;
        fits("a workgroup shares", shared, "at once", most.into())
    }

    /// Workgroups of a dispatch with so many, folded into two dimensions.
    pub(crate) fn workgroups(&self, groups: u32) -> [u32; 3] {
        let [x, y] = self.folded(groups);
        [x, y, 1]
    }
}

/// Makes a value for each key, and one value for all equal keys.
pub fn once_per_key<K: PartialEq, V: Clone>(
    keys: impl IntoIterator<Item = K>,
    mut make: impl FnMut(&K) -> V,
) -> Vec<V> {
    let mut known: Vec<(K, V)> = Vec::new();
    let mut values = Vec::new();
    for key in keys {
        let value = match known.iter().find(|known| known.0 == key) {
            Some((_, value)) => value.clone(),
            None => {
                let value = make(&key);
                known.push((key, value.clone()));
                value
            }
        };
        values.push(value);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::named;
    use crate::shader::shader;
    use skinbench_frame::Purpose;

    #[test]
    fn a_name_that_is_bound_twice_is_refused() {
        let gpu = Gpu::recording();
        let wgsl = shader("fill.wgsl", &[]);
        let layout = GroupLayout::new(&gpu, "fill", &[wgsl], 0, wgpu::ShaderStages::COMPUTE);
        let [first, second] =
            ["first", "second"].map(|label| gpu.scratch(Purpose::Scratch, label, 16));
        let other = named("other", &second);
        layout.bind(&gpu, "fill", &[named("output", &first), other]);
        gpu.check().unwrap();
        let outputs = [named("output", &first), named("output", &second)];
        layout.bind(&gpu, "fill", &outputs);
        let error = gpu.check().unwrap_err().to_string();
        assert!(
            error.ends_with("fill: \"output\" is bound twice"),
            "{error}"
        );
    }
}
