//! Shaders, bindings and pipelines: descriptions as data, which wgpu creates objects from, and a
//! [tape](crate::device::Tape) lists in WebGPU's own form.

use crate::Gpu;
use crate::device::gpu::{ShaderChecks, WgpuDevice};
use crate::device::{
    BindGroup, ComputePipeline, DEPTH, PipelineLayout, RenderPipeline, Resource, ShaderModule,
};
use crate::shader::reflection::{Binding, BindingKind};
use serde_json::{Map, Value, json};
use skinbench_frame::DeviceObject;
use std::fmt::Debug;

/// Layout of a group of bindings.
pub type BindGroupLayout = DeviceObject<wgpu::BindGroupLayout>;

/// An entry point of a module, and values of the module's overrides.
#[derive(Clone, Copy)]
pub struct EntryPoint<'a> {
    pub module: &'a ShaderModule,
    pub entry_point: &'a str,
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

    fn listed(&self) -> Value {
        let constants = self.constants.iter();
        let constants: Map<_, _> = constants
            .map(|&(name, value)| (name.to_owned(), value.into()))
            .collect();
        json!({"module": self.module, "entryPoint": self.entry_point, "constants": constants})
    }
}

/// Shaders of a draw.
#[derive(Clone)]
pub struct PipelineDescription<'a> {
    pub label: &'a str,
    pub layout: &'a PipelineLayout,
    pub vertex: EntryPoint<'a>,
    /// Backends have no buffers of vertices, so none is on a tape.
    pub vertex_buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    pub topology: wgpu::PrimitiveTopology,
    /// What is added to depths, of which the nearest is kept; `None` to draw without depths.
    pub depth_bias: Option<i32>,
    pub samples: u32,
    /// `None` for depth only.
    pub fragment: Option<FragmentDescription<'a>>,
}

/// Shader of fragments, and the targets of its colours.
#[derive(Clone, Copy)]
pub struct FragmentDescription<'a> {
    pub shader: EntryPoint<'a>,
    pub formats: &'a [wgpu::TextureFormat],
    pub write_mask: wgpu::ColorWrites,
}

impl Gpu {
    /// Reads the text of a shader. One that is `trusted` runs without the checks that edited shaders and those of others
    /// need.
    pub(crate) fn module(&self, label: &str, text: &str, trusted: bool) -> ShaderModule {
        let create = |open: &WgpuDevice| {
            let descriptor = wgpu::ShaderModuleDescriptor {
                label: Some(label),
                source: wgpu::ShaderSource::Wgsl(text.into()),
            };
            if !trusted || open.checks == ShaderChecks::Checked {
                return open.device.create_shader_module(descriptor);
            }
            let checks = wgpu::ShaderRuntimeChecks::unchecked();
            // SAFETY: our shaders index buffers by palette entry, vertex and instance. `Model::new` refuses entries and
            // indices out of range (tests/suite/backends/unchecked.rs checks it), buffers are sized from the chunk that the
            // uniform describes, and every loop ends at a count from the same data.
            unsafe { open.device.create_shader_module_trusted(descriptor, checks) }
        };
        self.create(
            create,
            || json!({"kind": "module", "label": label, "text": text}),
        )
    }

    /// The layout of a group of bindings, which shaders of these stages see.
    pub(crate) fn group_layout(
        &self,
        label: &str,
        bindings: &[Binding],
        visibility: wgpu::ShaderStages,
    ) -> BindGroupLayout {
        let create = |open: &WgpuDevice| {
            let entry = |binding: &Binding| wgpu::BindGroupLayoutEntry {
                binding: binding.number,
                visibility,
                ty: binding_type(binding.kind),
                count: None,
            };
            let entries: Vec<_> = bindings.iter().map(entry).collect();
            open.device
                .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                    label: Some(label),
                    entries: &entries,
                })
        };
        self.create(create, || {
            let mut entries = Vec::with_capacity(bindings.len());
            for binding in bindings {
                let (kind, of_kind) = listed_type(binding.kind);
                let mut entry = json!({"binding": binding.number, "visibility": visibility.bits()});
                entry[kind] = of_kind;
                entries.push(entry);
            }
            json!({"kind": "groupLayout", "entries": entries})
        })
    }

    /// Binds resources to the numbers of a layout.
    pub(crate) fn group(
        &self,
        label: &str,
        layout: &BindGroupLayout,
        resources: &[(u32, &Resource)],
    ) -> BindGroup {
        let create = |open: &WgpuDevice| {
            let mut entries = Vec::with_capacity(resources.len());
            for &(binding, resource) in resources {
                entries.push(wgpu::BindGroupEntry {
                    binding,
                    resource: resource.get(),
                });
            }
            open.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(label),
                layout: layout.get(),
                entries: &entries,
            })
        };
        self.create(create, || {
            let mut entries = Vec::with_capacity(resources.len());
            for (binding, resource) in resources {
                let mut entry = json!(resource);
                entry["binding"] = json!(binding);
                entries.push(entry);
            }
            json!({"kind": "group", "layout": layout, "entries": entries})
        })
    }

    /// Layouts of a pipeline's groups, without immediate values.
    pub(crate) fn pipeline_layout(
        &self,
        label: &str,
        groups: &[&BindGroupLayout],
    ) -> PipelineLayout {
        let create = |open: &WgpuDevice| {
            let layouts: Vec<_> = groups.iter().map(|group| Some(group.get())).collect();
            open.device
                .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                    label: Some(label),
                    bind_group_layouts: &layouts,
                    immediate_size: 0,
                })
        };
        self.create(
            create,
            || json!({"kind": "pipelineLayout", "groups": groups}),
        )
    }

    /// Compiles a kernel.
    pub(crate) fn kernel(
        &self,
        label: &str,
        layout: &PipelineLayout,
        main: EntryPoint,
    ) -> ComputePipeline {
        let create = |open: &WgpuDevice| {
            open.device
                .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some(label),
                    layout: Some(layout.get()),
                    module: main.module.get(),
                    entry_point: Some(main.entry_point),
                    compilation_options: main.options(),
                    cache: open.pipeline_cache.as_ref(),
                })
        };
        self.create(create, || {
            let mut listed = main.listed();
            listed["kind"] = "compute".into();
            listed["label"] = label.into();
            listed["layout"] = json!(layout);
            listed
        })
    }

    /// Compiles the shaders of a draw.
    pub(crate) fn pipeline(&self, description: &PipelineDescription) -> RenderPipeline {
        self.create(|open| description.create(open), || description.listed())
    }
}

impl PipelineDescription<'_> {
    fn create(&self, open: &WgpuDevice) -> wgpu::RenderPipeline {
        let mut targets = Vec::new();
        if let Some(fragment) = &self.fragment {
            for &format in fragment.formats {
                targets.push(Some(wgpu::ColorTargetState {
                    format,
                    blend: None,
                    write_mask: fragment.write_mask,
                }));
            }
        }
        let descriptor = wgpu::RenderPipelineDescriptor {
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
            depth_stencil: self.depth_bias.map(|bias| wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: Default::default(),
                bias: wgpu::DepthBiasState {
                    constant: bias,
                    slope_scale: bias as f32,
                    clamp: 0.0,
                },
            }),
            multisample: wgpu::MultisampleState {
                count: self.samples,
                ..Default::default()
            },
            fragment: self.fragment.as_ref().map(|fragment| wgpu::FragmentState {
                module: fragment.shader.module.get(),
                entry_point: Some(fragment.shader.entry_point),
                compilation_options: fragment.shader.options(),
                targets: &targets,
            }),
            multiview_mask: None,
            cache: open.pipeline_cache.as_ref(),
        };
        open.device.create_render_pipeline(&descriptor)
    }

    fn listed(&self) -> Value {
        let depth_stencil = self.depth_bias.map(|bias| {
            json!({
                "format": name(&DEPTH),
                "depthWriteEnabled": true,
                "depthCompare": "less",
                "depthBias": bias,
                "depthBiasSlopeScale": bias as f32,
                "depthBiasClamp": 0.0,
            })
        });
        let fragment = self.fragment.as_ref().map(|fragment| {
            let mut targets = Vec::with_capacity(fragment.formats.len());
            for format in fragment.formats {
                let write_mask = fragment.write_mask.bits();
                targets.push(json!({"format": name(format), "writeMask": write_mask}));
            }
            let mut listed = fragment.shader.listed();
            listed["targets"] = targets.into();
            listed
        });
        json!({
            "kind": "render",
            "label": self.label,
            "layout": self.layout,
            "vertex": self.vertex.listed(),
            "topology": name(&self.topology),
            "depthStencil": depth_stencil,
            "fragment": fragment,
        })
    }
}

/// A kind of binding in wgpu's words.
fn binding_type(kind: BindingKind) -> wgpu::BindingType {
    let buffer = |ty, has_dynamic_offset| wgpu::BindingType::Buffer {
        ty,
        has_dynamic_offset,
        min_binding_size: None,
    };
    match kind {
        BindingKind::Uniform { dynamic } => buffer(wgpu::BufferBindingType::Uniform, dynamic),
        BindingKind::Storage { read_only } => {
            buffer(wgpu::BufferBindingType::Storage { read_only }, false)
        }
        BindingKind::Texture {
            array,
            multisampled,
        } => wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: array },
            view_dimension: if array {
                wgpu::TextureViewDimension::D2Array
            } else {
                wgpu::TextureViewDimension::D2
            },
            multisampled,
        },
        BindingKind::Sampler => wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
    }
}

/// A kind of binding in WebGPU's form: the name of its member, and what that holds.
fn listed_type(kind: BindingKind) -> (&'static str, Value) {
    let buffer = |ty, dynamic| ("buffer", json!({"type": ty, "hasDynamicOffset": dynamic}));
    match kind {
        BindingKind::Uniform { dynamic } => buffer("uniform", dynamic),
        BindingKind::Storage { read_only: true } => buffer("read-only-storage", false),
        BindingKind::Storage { read_only: false } => buffer("storage", false),
        BindingKind::Texture { array: true, .. } => ("texture", json!({"sampleType": "float"})),
        BindingKind::Texture { array: false, .. } => {
            ("texture", json!({"sampleType": "unfilterable-float"}))
        }
        BindingKind::Sampler => ("sampler", json!({})),
    }
}

/// WebGPU's name of a value: `Rgba8UnormSrgb` is `rgba8unorm-srgb`, and `LineList` is `line-list`.
pub fn name(value: &impl Debug) -> String {
    let name = format!("{value:?}")
        .replace("Srgb", "-srgb")
        .replace("List", "-list")
        .replace("Strip", "-strip");
    name.to_lowercase()
}
