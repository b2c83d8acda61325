//! Pipelines on hardware that is not there: Mesa's RADV compiles for the family that `RADV_FORCE_FAMILY` names, and
//! `VK_KHR_pipeline_executable_properties` says what became of each shader.

use crate::Result;
use crate::spirv::Shader;
use ash::{khr, vk};
use naga::ShaderStage;
use skinbench::gpu::shader::reflection::{Binding, BindingKind};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};

/// Formats of the pictures that are drawn (`gpu/src/draw/present.rs`).
const COLOR: vk::Format = vk::Format::R8G8B8A8_SRGB;
const MOTION: vk::Format = vk::Format::R16G16_SFLOAT;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;

/// A device on which pipelines are created and nothing runs.
pub struct Radv {
    // Field order is drop order for what is dropped by hand below.
    executables: khr::pipeline_executable_properties::Device,
    device: ash::Device,
    instance: ash::Instance,
    _entry: ash::Entry,
    /// Mesa's version, as the driver writes it.
    pub driver: String,
}

/// A shader's machine code as the driver describes it.
#[derive(Debug)]
pub struct Executable {
    pub stage: vk::ShaderStageFlags,
    /// Threads of a wave.
    pub wave: u32,
    pub statistics: BTreeMap<String, u64>,
    pub assembly: String,
}

/// Source of a pipeline.
pub struct Pipeline<'a> {
    pub shader: &'a Shader,
    pub constants: &'a [(&'static str, f64)],
    /// The binding whose offset is given when it is bound.
    pub dynamic: Option<&'a str>,
    pub stages: Stages,
}

/// The entry points of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stages {
    /// `main`.
    Compute,
    /// `vertex` alone: a pass that leaves depths.
    Depth,
    /// `vertex` and `fragment`.
    Color,
    /// `vertex_motion` and `fragment_motion`.
    Motion,
}

fn text(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars
        .iter()
        .map(|&c| c as u8)
        .take_while(|&c| c != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Radv {
    /// Opens the hardware that is not there; none where the driver or the loader is missing.
    pub fn open() -> Result<Option<Self>> {
        // SAFETY: the Vulkan loader is loaded before threads exist that could use it.
        let Ok(entry) = (unsafe { ash::Entry::load() }) else {
            return Ok(None);
        };
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let create = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: plain Vulkan calls, valid by the specification: structures live as long as the calls, and handles come
        // from the objects that are kept in `Self`.
        unsafe {
            let Ok(instance) = entry.create_instance(&create, None) else {
                return Ok(None);
            };
            let found = instance
                .enumerate_physical_devices()
                .unwrap_or_default()
                .into_iter()
                .find_map(|physical| {
                    let mut driver = vk::PhysicalDeviceDriverProperties::default();
                    let mut properties =
                        vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
                    instance.get_physical_device_properties2(physical, &mut properties);
                    let radv = driver.driver_id == vk::DriverId::MESA_RADV;
                    radv.then(|| (physical, text(&driver.driver_info)))
                });
            let Some((physical, driver)) = found else {
                instance.destroy_instance(None);
                return Ok(None);
            };
            let queues = [vk::DeviceQueueCreateInfo::default()
                .queue_family_index(0)
                .queue_priorities(&[1.0])];
            let extensions = [
                khr::pipeline_executable_properties::NAME.as_ptr(),
                ash::ext::robustness2::NAME.as_ptr(),
            ];
            // wgpu asks for robust access wherever it is offered, and compilers combine fewer loads under it.
            let features = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
            let mut executables =
                vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default()
                    .pipeline_executable_info(true);
            let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default()
                .robust_buffer_access2(true)
                .robust_image_access2(true);
            let mut rendering =
                vk::PhysicalDeviceDynamicRenderingFeatures::default().dynamic_rendering(true);
            let create = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&extensions)
                .enabled_features(&features)
                .push_next(&mut executables)
                .push_next(&mut robustness)
                .push_next(&mut rendering);
            let device = instance.create_device(physical, &create, None)?;
            let executables = khr::pipeline_executable_properties::Device::new(&instance, &device);
            Ok(Some(Self {
                executables,
                device,
                instance,
                _entry: entry,
                driver,
            }))
        }
    }

    /// Compiles a pipeline and says what became of its shaders.
    pub fn compile(&self, pipeline: &Pipeline) -> Result<Vec<Executable>> {
        let entries: &[(ShaderStage, &CStr)] = match pipeline.stages {
            Stages::Compute => &[(ShaderStage::Compute, c"main")],
            Stages::Depth => &[(ShaderStage::Vertex, c"vertex")],
            Stages::Color => &[
                (ShaderStage::Vertex, c"vertex"),
                (ShaderStage::Fragment, c"fragment"),
            ],
            Stages::Motion => &[
                (ShaderStage::Vertex, c"vertex_motion"),
                (ShaderStage::Fragment, c"fragment_motion"),
            ],
        };
        let mut stages = Vec::new();
        // SAFETY: as in `open`; what is created here is destroyed here, after its last use.
        unsafe {
            let (sets, layout) = self.layout(pipeline)?;
            for &(stage, entry) in entries {
                let words = pipeline
                    .shader
                    .spirv(stage, entry.to_str()?, pipeline.constants)?;
                let module = self.device.create_shader_module(
                    &vk::ShaderModuleCreateInfo::default().code(&words),
                    None,
                )?;
                let flag = match stage {
                    ShaderStage::Vertex => vk::ShaderStageFlags::VERTEX,
                    ShaderStage::Fragment => vk::ShaderStageFlags::FRAGMENT,
                    _ => vk::ShaderStageFlags::COMPUTE,
                };
                stages.push(
                    vk::PipelineShaderStageCreateInfo::default()
                        .stage(flag)
                        .module(module)
                        .name(entry),
                );
            }
            let compiled = match pipeline.stages {
                Stages::Compute => self.compute(stages[0], layout)?,
                drawn => self.draw(&stages, layout, drawn)?,
            };
            let executables = self.executables(compiled);
            self.device.destroy_pipeline(compiled, None);
            stages
                .iter()
                .for_each(|stage| self.device.destroy_shader_module(stage.module, None));
            self.device.destroy_pipeline_layout(layout, None);
            sets.into_iter()
                .for_each(|set| self.device.destroy_descriptor_set_layout(set, None));
            executables
        }
    }

    unsafe fn layout(
        &self,
        pipeline: &Pipeline,
    ) -> Result<(Vec<vk::DescriptorSetLayout>, vk::PipelineLayout)> {
        let bindings = &pipeline.shader.bindings;
        let groups = bindings.last().map_or(0, |last| last.group + 1);
        let mut sets = Vec::new();
        for group in 0..groups {
            let mut descriptors = Vec::new();
            for Binding {
                name, number, kind, ..
            } in bindings.iter().filter(|b| b.group == group)
            {
                let ty = match kind {
                    BindingKind::Texture { .. } => vk::DescriptorType::SAMPLED_IMAGE,
                    BindingKind::Storage { .. } => vk::DescriptorType::STORAGE_BUFFER,
                    _ if pipeline.dynamic == Some(&**name) => {
                        vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC
                    }
                    _ => vk::DescriptorType::UNIFORM_BUFFER,
                };
                descriptors.push(
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(*number)
                        .descriptor_type(ty)
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::ALL),
                );
            }
            let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&descriptors);
            // SAFETY: as in `open`.
            sets.push(unsafe { self.device.create_descriptor_set_layout(&create, None)? });
        }
        let create = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        // SAFETY: as in `open`.
        let layout = unsafe { self.device.create_pipeline_layout(&create, None)? };
        Ok((sets, layout))
    }

    unsafe fn compute(
        &self,
        stage: vk::PipelineShaderStageCreateInfo,
        layout: vk::PipelineLayout,
    ) -> Result<vk::Pipeline> {
        let create = vk::ComputePipelineCreateInfo::default()
            .flags(capture())
            .stage(stage)
            .layout(layout);
        // SAFETY: as in `open`.
        let created = unsafe {
            self.device
                .create_compute_pipelines(vk::PipelineCache::null(), &[create], None)
        };
        Ok(created.map_err(|(_, error)| error)?[0])
    }

    /// The state of `gpu/src/draw/present.rs`.
    unsafe fn draw(
        &self,
        stages: &[vk::PipelineShaderStageCreateInfo],
        layout: vk::PipelineLayout,
        drawn: Stages,
    ) -> Result<vk::Pipeline> {
        let vertex_input = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewport_count(1)
            .scissor_count(1);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(true)
            .depth_write_enable(true)
            .depth_compare_op(vk::CompareOp::LESS);
        let formats: &[vk::Format] = match drawn {
            Stages::Compute | Stages::Depth => &[],
            Stages::Color => &[COLOR],
            Stages::Motion => &[COLOR, MOTION],
        };
        let targets = vec![
            vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(vk::ColorComponentFlags::RGBA);
            formats.len()
        ];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&targets);
        let states = [
            vk::DynamicState::VIEWPORT,
            vk::DynamicState::SCISSOR,
            vk::DynamicState::BLEND_CONSTANTS,
            vk::DynamicState::STENCIL_REFERENCE,
        ];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(formats)
            .depth_attachment_format(DEPTH);
        let create = vk::GraphicsPipelineCreateInfo::default()
            .flags(capture())
            .stages(stages)
            .vertex_input_state(&vertex_input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(layout)
            .push_next(&mut rendering);
        // SAFETY: as in `open`.
        let created = unsafe {
            self.device
                .create_graphics_pipelines(vk::PipelineCache::null(), &[create], None)
        };
        Ok(created.map_err(|(_, error)| error)?[0])
    }

    unsafe fn executables(&self, pipeline: vk::Pipeline) -> Result<Vec<Executable>> {
        let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
        // SAFETY: as in `open`.
        let found = unsafe { self.executables.get_pipeline_executable_properties(&info)? };
        let described = found.iter().zip(0..).map(|(properties, index)| {
            let info = vk::PipelineExecutableInfoKHR::default()
                .pipeline(pipeline)
                .executable_index(index);
            // SAFETY: as in `open`; the value's format says which field of the union holds.
            let statistics = unsafe {
                let statistics = self.executables.get_pipeline_executable_statistics(&info)?;
                let numbers = statistics
                    .iter()
                    .filter(|s| s.format == vk::PipelineExecutableStatisticFormatKHR::UINT64);
                numbers.map(|s| (text(&s.name), s.value.u64)).collect()
            };
            // SAFETY: as in `open`.
            let assembly = unsafe { self.assembly(&info)? };
            Ok(Executable {
                stage: properties.stages,
                wave: properties.subgroup_size,
                statistics,
                assembly,
            })
        });
        described.collect()
    }

    /// The disassembly: the driver says how many bytes it has, then writes them.
    unsafe fn assembly(&self, info: &vk::PipelineExecutableInfoKHR) -> Result<String> {
        // SAFETY: as in `open`.
        let mut found = unsafe {
            self.executables
                .get_pipeline_executable_internal_representations(info)?
        };
        let mut bytes: Vec<Vec<u8>> = found.iter().map(|f| vec![0; f.data_size]).collect();
        for (found, bytes) in found.iter_mut().zip(&mut bytes) {
            found.p_data = bytes.as_mut_ptr().cast();
        }
        let mut count = found.len() as u32;
        let query = self
            .executables
            .fp()
            .get_pipeline_executable_internal_representations_khr;
        // SAFETY: `found` has `count` elements, each with room for its `data_size` bytes.
        unsafe { query(self.device.handle(), info, &mut count, found.as_mut_ptr()).result()? };
        let place = found.iter().position(|f| text(&f.name) == "Assembly");
        let place = place.ok_or("the driver gives no disassembly")?;
        let end = bytes[place]
            .iter()
            .position(|&b| b == 0)
            .unwrap_or(bytes[place].len());
        Ok(CString::new(&bytes[place][..end])?.into_string()?)
    }
}

fn capture() -> vk::PipelineCreateFlags {
    vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
        | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR
}

impl Drop for Radv {
    fn drop(&mut self) {
        // SAFETY: nothing made from them is left.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}
