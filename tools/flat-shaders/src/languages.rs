//! WGSL in other languages, without the checks of bounds and loops that shaders of strangers need. Overrides have the
//! values that the WGSL gives them.

use crate::Result;
use naga::back::pipeline_constants::process_overrides;
use naga::back::{hlsl, msl, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Module, ResourceBinding};

/// Buffer of Metal that holds the lengths of other buffers, for arrays that ask for theirs.
const METAL_SIZES: u8 = 30;
/// Numbers that a group of bindings takes among Metal's buffers, which have no groups.
pub const METAL_GROUP: u32 = 20;
/// Register space of the constants in which HLSL finds the number of workgroups.
const HLSL_WORKGROUPS: u8 = 2;

const UNCHECKED: BoundsCheckPolicies = BoundsCheckPolicies {
    index: BoundsCheckPolicy::Unchecked,
    buffer: BoundsCheckPolicy::Unchecked,
    image_load: BoundsCheckPolicy::Unchecked,
    binding_array: BoundsCheckPolicy::Unchecked,
};

/// A valid shader, and the same without overrides.
pub struct Translator {
    module: Module,
    resolved: Module,
    info: ModuleInfo,
}

impl Translator {
    /// Parses and validates a shader.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(wgsl: &str) -> Result<Self> {
        let module = naga::front::wgsl::parse_str(wgsl).map_err(|e| e.emit_to_string(wgsl))?;
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
        let info = validator
            .validate(&module)
            .map_err(|e| e.emit_to_string(wgsl))?;
        let (resolved, info) = process_overrides(&module, &info, None, &Default::default())?;
        let (resolved, info) = (resolved.into_owned(), info.into_owned());
        Ok(Self {
            module,
            resolved,
            info,
        })
    }

    /// The shader as it was parsed.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// SPIR-V 1.3, for Vulkan 1.1, as bytes.
    ///
    /// # Errors
    /// What the language lacks.
    pub fn spirv(&self) -> Result<Vec<u8>> {
        let options = spv::Options {
            lang_version: (1, 3),
            flags: spv::WriterFlags::empty(),
            fake_missing_bindings: true,
            bounds_check_policies: UNCHECKED,
            zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
            force_loop_bounding: false,
            emit_int_div_checks: false,
            ..Default::default()
        };
        let words = spv::write_vec(&self.resolved, &self.info, &options, None)?;
        let bytes = words.into_iter().flat_map(u32::to_le_bytes);
        Ok(bytes.collect())
    }

    /// Metal 2.0. A binding is the buffer `METAL_GROUP * group + binding`.
    ///
    /// # Errors
    /// What the language lacks.
    pub fn metal(&self) -> Result<String> {
        let mut resources = msl::EntryPointResources {
            sizes_buffer: Some(METAL_SIZES),
            ..Default::default()
        };
        for (_, variable) in self.resolved.global_variables.iter() {
            if let Some(ResourceBinding { group, binding }) = variable.binding {
                let buffer = METAL_GROUP * group + binding;
                let target = msl::BindTarget {
                    buffer: Some(buffer.try_into()?),
                    mutable: true,
                    ..Default::default()
                };
                let place = ResourceBinding { group, binding };
                resources.resources.insert(place, target);
            }
        }
        let entry_points = self.resolved.entry_points.iter();
        let options = msl::Options {
            lang_version: (2, 0),
            per_entry_point_map: entry_points
                .map(|entry| (entry.name.clone(), resources.clone()))
                .collect(),
            fake_missing_bindings: false,
            bounds_check_policies: UNCHECKED,
            zero_initialize_workgroup_memory: false,
            force_loop_bounding: false,
            emit_int_div_checks: false,
            ..Default::default()
        };
        let pipeline = msl::PipelineOptions::default();
        let (text, _) = msl::write_string(&self.resolved, &self.info, &options, &pipeline)?;
        Ok(text)
    }

    /// HLSL of shader model 5.1. A binding is the register of its number, in the space of its group.
    ///
    /// # Errors
    /// What the language lacks.
    pub fn hlsl(&self) -> Result<String> {
        let options = hlsl::Options {
            special_constants_binding: Some(hlsl::BindTarget {
                space: HLSL_WORKGROUPS,
                register: 0,
                ..Default::default()
            }),
            restrict_indexing: false,
            zero_initialize_workgroup_memory: false,
            force_loop_bounding: false,
            ..Default::default()
        };
        let pipeline = hlsl::PipelineOptions::default();
        let mut text = String::new();
        let mut writer = hlsl::Writer::new(&mut text, &options, &pipeline);
        writer.write(&self.resolved, &self.info, None)?;
        Ok(text)
    }
}
