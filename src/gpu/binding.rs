//! Bind groups and their layouts, derived from shaders: buffers are bound to variables by name, and the numbers of
//! groups and bindings stand in WGSL alone.

use super::Gpu;
use super::wgsl::origin;
use wgpu::naga::{self, AddressSpace, ImageClass, ImageDimension, ScalarKind, StorageAccess, TypeInner};

/// A variable that a shader binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// Its name.
    pub name: String,
    /// Its group.
    pub group: u32,
    /// Its number in the group.
    pub number: u32,
    /// Its kind.
    pub ty: wgpu::BindingType,
}

/// Bindings and overrides of a shader, which its user supplies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its bindings, in the order of groups and numbers.
    pub bindings: Vec<Binding>,
    /// Names of its overrides.
    pub overrides: Vec<String>,
}

impl Interface {
    /// Parses a complete shader.
    ///
    /// # Errors
    /// A syntax error, with its file and line in shaders/.
    pub fn of(wgsl: &str) -> Result<Self, String> {
        let module = naga::front::wgsl::parse_str(wgsl).map_err(|error| {
            let place = error.location(wgsl).and_then(|place| origin(wgsl, place.line_number as usize));
            let place = place.map(|(file, line)| format!("shaders/{file}:{line}: ")).unwrap_or_default();
            format!("{place}{}", error.message())
        })?;
        let bound = |variable: &naga::GlobalVariable| {
            let (place, ty) = (variable.binding?, binding_type(&module, variable)?);
            Some(Binding { name: variable.name.clone()?, group: place.group, number: place.binding, ty })
        };
        let mut bindings: Vec<_> = module.global_variables.iter().filter_map(|(_, v)| bound(v)).collect();
        bindings.sort_by_key(|binding| (binding.group, binding.number));
        let overrides = module.overrides.iter().filter_map(|(_, o)| o.name.clone()).collect();
        Ok(Self { bindings, overrides })
    }
}

/// The kind of a variable's binding; none for kinds that no shader of ours has.
fn binding_type(module: &naga::Module, variable: &naga::GlobalVariable) -> Option<wgpu::BindingType> {
    let buffer = |ty| wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
    match (variable.space, &module.types[variable.ty].inner) {
        (AddressSpace::Uniform, _) => Some(buffer(wgpu::BufferBindingType::Uniform)),
        (AddressSpace::Storage { access }, _) => {
            let read_only = !access.contains(StorageAccess::STORE);
            Some(buffer(wgpu::BufferBindingType::Storage { read_only }))
        }
        (
            AddressSpace::Handle,
            TypeInner::Image {
                dim: ImageDimension::D2,
                arrayed,
                class: ImageClass::Sampled { kind: ScalarKind::Float, multi },
            },
        ) => Some(wgpu::BindingType::Texture {
            // Our arrays of textures are sampled; single textures hold numbers, which are loaded.
            sample_type: wgpu::TextureSampleType::Float { filterable: *arrayed },
            view_dimension: if *arrayed { wgpu::TextureViewDimension::D2Array } else { wgpu::TextureViewDimension::D2 },
            multisampled: *multi,
        }),
        (AddressSpace::Handle, TypeInner::Sampler { comparison: false }) => {
            Some(wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering))
        }
        _ => None,
    }
}

/// The layout of one of a shader's groups.
pub struct GroupLayout {
    layout: wgpu::BindGroupLayout,
    bindings: Vec<Binding>,
}

impl GroupLayout {
    /// The layout of a group of a complete shader, all of whose bindings `stages` see. `dynamic` names the binding
    /// whose offset is given when it is bound, if there is one. A syntax error is reported by `Gpu::check`.
    pub fn new(
        gpu: &Gpu,
        label: &str,
        wgsl: &str,
        group: u32,
        stages: wgpu::ShaderStages,
        dynamic: Option<&str>,
    ) -> Self {
        let mut bindings = Interface::of(wgsl).map(|interface| interface.bindings).unwrap_or_else(|error| {
            gpu.refuse(error);
            Vec::new()
        });
        bindings.retain(|binding| binding.group == group);
        for binding in &mut bindings {
            if let wgpu::BindingType::Buffer { has_dynamic_offset, .. } = &mut binding.ty {
                *has_dynamic_offset = dynamic == Some(&*binding.name);
            }
        }
        let entry = |binding: &Binding| wgpu::BindGroupLayoutEntry {
            binding: binding.number,
            visibility: stages,
            ty: binding.ty,
            count: None,
        };
        let entries: Vec<_> = bindings.iter().map(entry).collect();
        let descriptor = wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries };
        Self { layout: gpu.device().create_bind_group_layout(&descriptor), bindings }
    }

    /// A bind group in which each variable of the layout has the resource of its name. Resources that the layout does
    /// not name are left out; a variable without a resource is reported by `Gpu::check`.
    pub fn bind(&self, gpu: &Gpu, label: &str, resources: &[(&str, wgpu::BindingResource)]) -> wgpu::BindGroup {
        let mut entries = Vec::with_capacity(self.bindings.len());
        for Binding { name, number, .. } in &self.bindings {
            match resources.iter().find(|(known, _)| known == name) {
                Some((_, resource)) => {
                    entries.push(wgpu::BindGroupEntry { binding: *number, resource: resource.clone() });
                }
                None => gpu.refuse(format!("{label}: nothing is bound to {name:?}")),
            }
        }
        let descriptor = wgpu::BindGroupDescriptor { label: Some(label), layout: &self.layout, entries: &entries };
        gpu.device().create_bind_group(&descriptor)
    }

    /// As [`Self::bind`], of whole buffers.
    pub fn bind_buffers(&self, gpu: &Gpu, label: &str, buffers: &[(&str, &wgpu::Buffer)]) -> wgpu::BindGroup {
        let resources: Vec<_> = buffers.iter().map(|(name, buffer)| (*name, buffer.as_entire_binding())).collect();
        self.bind(gpu, label, &resources)
    }
}

/// A pipeline layout of these groups, without immediate values.
pub fn pipeline_layout(gpu: &Gpu, label: &str, groups: &[&GroupLayout]) -> wgpu::PipelineLayout {
    let groups: Vec<_> = groups.iter().map(|group| Some(&group.layout)).collect();
    gpu.device().create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(label),
        bind_group_layouts: &groups,
        immediate_size: 0,
    })
}
