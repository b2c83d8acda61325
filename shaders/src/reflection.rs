//! Bindings and overrides of shaders, read from their WGSL.

use crate::wgsl::origin;
use naga::{AddressSpace, ImageClass, ImageDimension, ScalarKind, StorageAccess, TypeInner};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Uniforms whose offset is given when they are bound: the instance of a dispatch, and the palette of one.
const DYNAMIC: [&str; 2] = ["character", "palettes"];

/// What a variable is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingKind {
    /// A uniform buffer.
    Uniform {
        /// Its offset is given when it is bound.
        dynamic: bool,
    },
    /// A storage buffer.
    Storage {
        /// The shader only reads it.
        read_only: bool,
    },
    /// A texture of floats. Arrays of textures are sampled with filters; single textures hold numbers, which are loaded.
    Texture {
        /// Several layers.
        array: bool,
        /// Several samples of each texel.
        multisampled: bool,
    },
    /// A sampler that filters.
    Sampler,
}

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
    pub kind: BindingKind,
}

impl Binding {
    /// That of a variable; `None` for one that is not bound.
    fn of(module: &naga::Module, variable: &naga::GlobalVariable) -> Option<Self> {
        let place = variable.binding?;
        Some(Self {
            name: variable.name.clone()?,
            group: place.group,
            number: place.binding,
            kind: binding_kind(module, variable)?,
        })
    }
}

/// Bindings and overrides of a shader, which its user supplies, and what it takes of the device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its bindings, in the order of groups and numbers.
    pub bindings: Vec<Binding>,
    /// Names of its overrides.
    pub overrides: Vec<String>,
    /// Threads of a workgroup; 0 without compute shaders.
    pub threads: u32,
    /// Bytes of the memory that a workgroup shares.
    pub workgroup_bytes: u32,
}

/// The interfaces parsed so far in this process, by the text of their shader.
static KNOWN: Mutex<BTreeMap<String, Arc<Interface>>> = Mutex::new(BTreeMap::new());

impl Interface {
    /// Those of some values of overrides that the shader declares.
    pub fn declared(&self, values: &[(&'static str, f64)]) -> Vec<(&'static str, f64)> {
        let is_declared =
            |(name, _): &&(&str, f64)| self.overrides.iter().any(|known| known == name);
        values.iter().filter(is_declared).copied().collect()
    }

    /// Parses a complete shader, the first time that it is read.
    ///
    /// # Errors
    /// A syntax error, with its file and line in shaders/.
    pub fn of(wgsl: &str) -> Result<Arc<Self>, String> {
        // An entry is whole or absent, so a panic elsewhere spoils nothing.
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(interface) = known.get(wgsl) {
            return Ok(Arc::clone(interface));
        }
        let interface = Arc::new(Self::parsed(wgsl)?);
        known.insert(wgsl.into(), Arc::clone(&interface));
        Ok(interface)
    }

    fn parsed(wgsl: &str) -> Result<Self, String> {
        let module = naga::front::wgsl::parse_str(wgsl).map_err(|error| {
            let place = error
                .location(wgsl)
                .and_then(|place| origin(wgsl, place.line_number as usize));
            let place = place
                .map(|(file, line)| format!("shaders/{file}:{line}: "))
                .unwrap_or_default();
            format!("{place}{}", error.message())
        })?;
        let mut bindings = Vec::new();
        let mut workgroup_bytes = 0;
        for (_, variable) in module.global_variables.iter() {
            bindings.extend(Binding::of(&module, variable));
            if variable.space == AddressSpace::WorkGroup {
                workgroup_bytes += module.types[variable.ty].inner.size(module.to_ctx());
            }
        }
        bindings.sort_by_key(|binding| (binding.group, binding.number));
        let overrides = module.overrides.iter();
        let overrides = overrides.filter_map(|known| known.1.name.clone()).collect();
        let entry_points = module.entry_points.iter();
        let threads = entry_points.map(|entry| entry.workgroup_size.iter().product());
        Ok(Self {
            bindings,
            overrides,
            threads: threads.max().unwrap_or(0),
            workgroup_bytes,
        })
    }
}

/// The kind of a variable's binding; none for kinds that no shader of ours has.
fn binding_kind(module: &naga::Module, variable: &naga::GlobalVariable) -> Option<BindingKind> {
    match (variable.space, &module.types[variable.ty].inner) {
        (AddressSpace::Uniform, _) => Some(BindingKind::Uniform {
            dynamic: DYNAMIC.contains(&variable.name.as_deref().unwrap_or_default()),
        }),
        (AddressSpace::Storage { access }, _) => Some(BindingKind::Storage {
            read_only: !access.contains(StorageAccess::STORE),
        }),
        (
            AddressSpace::Handle,
            TypeInner::Image {
                dim: ImageDimension::D2,
                arrayed,
                class:
                    ImageClass::Sampled {
                        kind: ScalarKind::Float,
                        multi,
                    },
            },
        ) => Some(BindingKind::Texture {
            array: *arrayed,
            multisampled: *multi,
        }),
        (AddressSpace::Handle, TypeInner::Sampler { comparison: false }) => {
            Some(BindingKind::Sampler)
        }
        _ => None,
    }
}
