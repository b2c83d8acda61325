//! Descriptions of objects, as data: wgpu creates an object from one, and a [tape](crate::device::Tape) keeps what
//! it serialises to, which is WebGPU's own form.

use crate::device::{DEPTH, PipelineLayout, Resource, ShaderModule};
use crate::shader::reflection::Binding;
use serde::{Serialize, Serializer};
use skinbench_frame::DeviceObject;
use std::collections::BTreeMap;
use std::fmt::Debug;
use wgpu::util::DeviceExt;

/// Avoids compiling a pipeline twice in a process, where there is one.
pub(crate) type Cache<'a> = Option<&'a wgpu::PipelineCache>;

/// What an object is created from.
pub(crate) trait Description: Serialize {
    /// The object of wgpu.
    type Object;

    /// Creates the object.
    fn create(&self, device: &wgpu::Device, cache: Cache) -> Self::Object;

    /// Bytes that it holds before the first command.
    fn contents(&self) -> Option<Vec<u8>> {
        None
    }
}

/// A buffer.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "buffer")]
pub(crate) struct BufferDescription<'a> {
    pub label: &'a str,
    pub size: u64,
    #[serde(serialize_with = "buffer_usage")]
    pub usage: wgpu::BufferUsages,
    /// The first bytes; without any it is zero.
    #[serde(skip)]
    pub contents: Option<&'a [u8]>,
}

impl Description for BufferDescription<'_> {
    type Object = wgpu::Buffer;

    fn create(&self, device: &wgpu::Device, _: Cache) -> wgpu::Buffer {
        let label = Some(self.label);
        let usage = self.usage;
        match self.contents {
            Some(contents) => {
                let init = wgpu::util::BufferInitDescriptor {
                    label,
                    contents,
                    usage,
                };
                device.create_buffer_init(&init)
            }
            None => device.create_buffer(&wgpu::BufferDescriptor {
                label,
                size: self.size,
                usage,
                mapped_at_creation: false,
            }),
        }
    }

    fn contents(&self) -> Option<Vec<u8>> {
        let mut contents = self.contents?.to_vec();
        // Contents end with the buffer, which is a little longer if their length is odd.
        contents.resize(self.size as usize, 0);
        Some(contents)
    }
}

/// A texture of two dimensions.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "texture")]
pub(crate) struct TextureDescription<'a> {
    pub label: &'a str,
    #[serde(serialize_with = "width_and_height")]
    pub size: wgpu::Extent3d,
    #[serde(serialize_with = "name")]
    pub format: wgpu::TextureFormat,
    #[serde(serialize_with = "texture_usage")]
    pub usage: wgpu::TextureUsages,
    #[serde(skip)]
    pub levels: u32,
    #[serde(skip)]
    pub samples: u32,
}

impl TextureDescription<'_> {
    pub fn descriptor(&self) -> wgpu::TextureDescriptor<'_> {
        wgpu::TextureDescriptor {
            label: Some(self.label),
            size: self.size,
            mip_level_count: self.levels,
            sample_count: self.samples,
            dimension: wgpu::TextureDimension::D2,
            format: self.format,
            usage: self.usage,
            view_formats: &[],
        }
    }
}

impl Description for TextureDescription<'_> {
    type Object = wgpu::Texture;

    fn create(&self, device: &wgpu::Device, _: Cache) -> wgpu::Texture {
        device.create_texture(&self.descriptor())
    }
}

/// A texture as it is bound or drawn to.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "view")]
pub(crate) struct ViewDescription<'a> {
    pub texture: &'a DeviceObject<wgpu::Texture>,
    #[serde(skip)]
    pub dimension: Option<wgpu::TextureViewDimension>,
}

impl Description for ViewDescription<'_> {
    type Object = wgpu::TextureView;

    fn create(&self, _: &wgpu::Device, _: Cache) -> wgpu::TextureView {
        self.texture
            .get()
            .create_view(&wgpu::TextureViewDescriptor {
                dimension: self.dimension,
                ..Default::default()
            })
    }
}

/// A sampler that repeats and filters.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "sampler")]
pub(crate) struct SamplerDescription<'a> {
    pub label: &'a str,
}

impl Description for SamplerDescription<'_> {
    type Object = wgpu::Sampler;

    fn create(&self, device: &wgpu::Device, _: Cache) -> wgpu::Sampler {
        device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some(self.label),
            address_mode_u: wgpu::AddressMode::Repeat,
            address_mode_v: wgpu::AddressMode::Repeat,
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            ..Default::default()
        })
    }
}

/// The text of a shader.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "module")]
pub(crate) struct ModuleDescription<'a> {
    pub label: &'a str,
    pub text: &'a str,
    /// `true` if it runs without the checks that untrusted and edited shaders need.
    #[serde(skip)]
    pub trusted: bool,
}

impl Description for ModuleDescription<'_> {
    type Object = wgpu::ShaderModule;

    fn create(&self, device: &wgpu::Device, _: Cache) -> wgpu::ShaderModule {
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: Some(self.label),
            source: wgpu::ShaderSource::Wgsl(self.text.into()),
        };
        if !self.trusted {
            return device.create_shader_module(descriptor);
        }
        let checks = wgpu::ShaderRuntimeChecks::unchecked();
        // SAFETY: our shaders index buffers by palette entry, vertex and instance. `Model::new` refuses entries and
        // indices out of range (tests/suite/backends/unchecked.rs checks it), buffers are sized from the chunk that the
        // uniform describes, and every loop ends at a count from the same data.
        unsafe { device.create_shader_module_trusted(descriptor, checks) }
    }
}

/// Layout of a group of bindings.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "groupLayout")]
pub(crate) struct GroupLayoutDescription<'a> {
    #[serde(skip)]
    pub label: &'a str,
    pub entries: Vec<LayoutEntry<'a>>,
}

/// A binding of a layout.
#[derive(Serialize)]
pub(crate) struct LayoutEntry<'a> {
    #[serde(flatten)]
    pub binding: &'a Binding,
    #[serde(serialize_with = "stages")]
    pub visibility: wgpu::ShaderStages,
}

impl Description for GroupLayoutDescription<'_> {
    type Object = wgpu::BindGroupLayout;

    fn create(&self, device: &wgpu::Device, _: Cache) -> wgpu::BindGroupLayout {
        let mut entries = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            entries.push(wgpu::BindGroupLayoutEntry {
                binding: entry.binding.number,
                visibility: entry.visibility,
                ty: entry.binding.ty,
                count: None,
            });
        }
        device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(self.label),
            entries: &entries,
        })
    }
}

/// Resources bound together.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "group")]
pub(crate) struct GroupDescription<'a> {
    #[serde(skip)]
    pub label: &'a str,
    pub layout: &'a DeviceObject<wgpu::BindGroupLayout>,
    pub entries: Vec<GroupEntry<'a>>,
}

/// A resource and the number of its binding.
#[derive(Serialize)]
pub(crate) struct GroupEntry<'a> {
    pub binding: u32,
    #[serde(flatten)]
    pub resource: &'a Resource,
}

impl Description for GroupDescription<'_> {
    type Object = wgpu::BindGroup;

    fn create(&self, device: &wgpu::Device, _: Cache) -> wgpu::BindGroup {
        let mut entries = Vec::with_capacity(self.entries.len());
        for GroupEntry { binding, resource } in &self.entries {
            entries.push(wgpu::BindGroupEntry {
                binding: *binding,
                resource: resource.get(),
            });
        }
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(self.label),
            layout: self.layout.get(),
            entries: &entries,
        })
    }
}

/// Layouts of a pipeline's groups, without immediate values.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "pipelineLayout")]
pub(crate) struct PipelineLayoutDescription<'a> {
    #[serde(skip)]
    pub label: &'a str,
    pub groups: Vec<&'a DeviceObject<wgpu::BindGroupLayout>>,
}

impl Description for PipelineLayoutDescription<'_> {
    type Object = wgpu::PipelineLayout;

    fn create(&self, device: &wgpu::Device, _: Cache) -> wgpu::PipelineLayout {
        let layouts: Vec<_> = self.groups.iter().map(|group| Some(group.get())).collect();
        device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(self.label),
            bind_group_layouts: &layouts,
            immediate_size: 0,
        })
    }
}

/// An entry point of a module, and values of the module's overrides.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EntryPoint<'a> {
    pub module: &'a ShaderModule,
    pub entry_point: &'a str,
    #[serde(serialize_with = "as_map")]
    pub constants: &'a [(&'static str, f64)],
}

impl EntryPoint<'_> {
    fn options(&self) -> wgpu::PipelineCompilationOptions<'_> {
        wgpu::PipelineCompilationOptions {
            constants: self.constants,
            // Kernels write workgroup memory before they read it.
            zero_initialize_workgroup_memory: false,
        }
    }
}

/// A kernel.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "compute")]
pub(crate) struct KernelDescription<'a> {
    pub label: &'a str,
    pub layout: &'a PipelineLayout,
    #[serde(flatten)]
    pub main: EntryPoint<'a>,
}

impl Description for KernelDescription<'_> {
    type Object = wgpu::ComputePipeline;

    fn create(&self, device: &wgpu::Device, cache: Cache) -> wgpu::ComputePipeline {
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(self.label),
            layout: Some(self.layout.get()),
            module: self.main.module.get(),
            entry_point: Some(self.main.entry_point),
            compilation_options: self.main.options(),
            cache,
        })
    }
}

/// Shaders of a draw.
#[derive(Clone, Serialize)]
#[serde(tag = "kind", rename = "render", rename_all = "camelCase")]
pub(crate) struct PipelineDescription<'a> {
    pub label: &'a str,
    pub layout: &'a PipelineLayout,
    pub vertex: EntryPoint<'a>,
    /// Backends have no buffers of vertices, so none is on a tape.
    #[serde(skip)]
    pub vertex_buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    #[serde(serialize_with = "name")]
    pub topology: wgpu::PrimitiveTopology,
    pub depth_stencil: Option<DepthDescription>,
    #[serde(skip)]
    pub samples: u32,
    /// `None` for depth only.
    pub fragment: Option<FragmentDescription<'a>>,
}

/// How depths are compared and written.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DepthDescription {
    #[serde(serialize_with = "name")]
    format: wgpu::TextureFormat,
    depth_write_enabled: bool,
    #[serde(serialize_with = "name")]
    depth_compare: wgpu::CompareFunction,
    depth_bias: i32,
    depth_bias_slope_scale: f32,
    depth_bias_clamp: f32,
}

impl DepthDescription {
    /// The nearest is kept; depths grow by a bias.
    pub fn biased(depth_bias: i32) -> Self {
        Self {
            format: DEPTH,
            depth_write_enabled: true,
            depth_compare: wgpu::CompareFunction::Less,
            depth_bias,
            depth_bias_slope_scale: depth_bias as f32,
            depth_bias_clamp: 0.0,
        }
    }
}

/// Shader of fragments, and the targets of its colours.
#[derive(Clone, Serialize)]
pub(crate) struct FragmentDescription<'a> {
    #[serde(flatten)]
    pub shader: EntryPoint<'a>,
    pub targets: Vec<ColorDescription>,
}

impl<'a> FragmentDescription<'a> {
    /// A shader whose colours go to targets of these formats.
    pub fn new(
        shader: EntryPoint<'a>,
        formats: &[wgpu::TextureFormat],
        write_mask: wgpu::ColorWrites,
    ) -> Self {
        let mut targets = Vec::with_capacity(formats.len());
        for &format in formats {
            targets.push(ColorDescription { format, write_mask });
        }
        Self { shader, targets }
    }
}

/// Colours that a draw writes.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ColorDescription {
    #[serde(serialize_with = "name")]
    pub format: wgpu::TextureFormat,
    #[serde(serialize_with = "write_mask")]
    pub write_mask: wgpu::ColorWrites,
}

impl Description for PipelineDescription<'_> {
    type Object = wgpu::RenderPipeline;

    fn create(&self, device: &wgpu::Device, cache: Cache) -> wgpu::RenderPipeline {
        let mut targets = Vec::new();
        for target in self.fragment.iter().flat_map(|fragment| &fragment.targets) {
            targets.push(Some(wgpu::ColorTargetState {
                format: target.format,
                blend: None,
                write_mask: target.write_mask,
            }));
        }
        let fragment = self.fragment.as_ref().map(|fragment| wgpu::FragmentState {
            module: fragment.shader.module.get(),
            entry_point: Some(fragment.shader.entry_point),
            compilation_options: fragment.shader.options(),
            targets: &targets,
        });
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(self.label),
            layout: Some(self.layout.get()),
            vertex: wgpu::VertexState {
                module: self.vertex.module.get(),
                entry_point: Some(self.vertex.entry_point),
                compilation_options: self.vertex.options(),
                buffers: self.vertex_buffers,
            },
            primitive: wgpu::PrimitiveState {
                topology: self.topology,
                ..Default::default()
            },
            depth_stencil: self.depth_stencil.map(|depth| wgpu::DepthStencilState {
                format: depth.format,
                depth_write_enabled: Some(depth.depth_write_enabled),
                depth_compare: Some(depth.depth_compare),
                stencil: Default::default(),
                bias: wgpu::DepthBiasState {
                    constant: depth.depth_bias,
                    slope_scale: depth.depth_bias_slope_scale,
                    clamp: depth.depth_bias_clamp,
                },
            }),
            multisample: wgpu::MultisampleState {
                count: self.samples,
                ..Default::default()
            },
            fragment,
            multiview_mask: None,
            cache,
        })
    }
}

// Serialised forms of wgpu's values.

fn buffer_usage<S: Serializer>(usage: &wgpu::BufferUsages, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_u32(usage.bits())
}

fn texture_usage<S: Serializer>(usage: &wgpu::TextureUsages, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_u32(usage.bits())
}

fn stages<S: Serializer>(stages: &wgpu::ShaderStages, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_u32(stages.bits())
}

fn write_mask<S: Serializer>(mask: &wgpu::ColorWrites, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_u32(mask.bits())
}

fn width_and_height<S: Serializer>(size: &wgpu::Extent3d, out: S) -> Result<S::Ok, S::Error> {
    [size.width, size.height].serialize(out)
}

fn as_map<S: Serializer>(values: &[(&str, f64)], out: S) -> Result<S::Ok, S::Error> {
    out.collect_map(values.iter().copied().collect::<BTreeMap<_, _>>())
}

/// WebGPU's name of a value: `Rgba8UnormSrgb` is `rgba8unorm-srgb`, and `LineList` is `line-list`.
fn name<S: Serializer>(value: &impl Debug, out: S) -> Result<S::Ok, S::Error> {
    let name = format!("{value:?}")
        .replace("Srgb", "-srgb")
        .replace("List", "-list")
        .replace("Strip", "-strip");
    out.serialize_str(&name.to_lowercase())
}
