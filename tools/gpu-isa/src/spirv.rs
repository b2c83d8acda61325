//! WGSL to SPIR-V, with the options of the product's pipelines: those of wgpu-hal on Vulkan 1.3 for a shader module
//! without runtime checks (`skinbench::gpu::kernel::module`), and workgroup memory that is not zeroed.

use crate::Result;
use naga::back::spv::{
    Options, PipelineOptions, WriterFlags, ZeroInitializeWorkgroupMemoryMode, write_vec,
};
use naga::back::{PipelineConstants, pipeline_constants::process_overrides};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Module, ShaderStage};
use skinbench::gpu::shader::reflection::{Binding, Interface};

/// A parsed and valid shader.
pub struct Shader {
    module: Module,
    info: ModuleInfo,
    /// In the order of groups and numbers.
    pub bindings: Vec<Binding>,
}

impl Shader {
    /// Parses and checks WGSL.
    pub fn new(wgsl: &str) -> Result<Self> {
        let module = naga::front::wgsl::parse_str(wgsl).map_err(|e| e.emit_to_string(wgsl))?;
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
        let info = validator
            .validate(&module)
            .map_err(|e| e.emit_to_string(wgsl))?;
        Ok(Self {
            module,
            info,
            bindings: Interface::of(wgsl)?.bindings.clone(),
        })
    }

    /// Threads of a workgroup; 0 where there are none.
    pub fn workgroup(&self) -> u32 {
        self.module
            .entry_points
            .first()
            .map_or(0, |entry| entry.workgroup_size.iter().product())
    }

    /// Words of an entry point's SPIR-V, with these values for its overrides.
    pub fn spirv(
        &self,
        stage: ShaderStage,
        entry: &str,
        constants: &[(&str, f64)],
    ) -> Result<Vec<u32>> {
        let mut values = PipelineConstants::default();
        for (name, value) in constants {
            values.insert((*name).to_owned(), *value);
        }
        let (module, info) =
            process_overrides(&self.module, &self.info, Some((stage, entry)), &values)?;
        let unchecked = BoundsCheckPolicies {
            index: BoundsCheckPolicy::Unchecked,
            buffer: BoundsCheckPolicy::Unchecked,
            image_load: BoundsCheckPolicy::Unchecked,
            binding_array: BoundsCheckPolicy::Unchecked,
        };
        let options = Options {
            lang_version: (1, 6),
            flags: WriterFlags::LABEL_VARYINGS | WriterFlags::FORCE_POINT_SIZE,
            // Groups and bindings keep the numbers of the WGSL.
            fake_missing_bindings: true,
            bounds_check_policies: unchecked,
            zero_initialize_workgroup_memory: ZeroInitializeWorkgroupMemoryMode::None,
            force_loop_bounding: false,
            ray_query_initialization_tracking: false,
            use_storage_input_output_16: false,
            task_dispatch_limits: None,
            mesh_shader_primitive_indices_clamp: false,
            emit_int_div_checks: false,
            ..Options::default()
        };
        let pipeline = PipelineOptions {
            shader_stage: stage,
            entry_point: entry.into(),
        };
        Ok(write_vec(&module, &info, &options, Some(&pipeline))?)
    }
}
