//! The list of all backends.

use crate::backend::cpu::Cpu;
use crate::backend::cpu_scalar::ScalarSkinner;
use crate::backend::cpu_simd::{
    self, ClusterSkinner, ColumnsSkinner, DualQuaternionSkinner, FusedSkinner, InterleavedSkinner, LanesSkinner,
};
#[cfg(feature = "gpu")]
use crate::backend::gpu::{self, Edits, Skinning, Strategy};
use crate::backend::{Abilities, Backend, Context};
#[cfg(feature = "gpu")]
use crate::bake::BakeFormat;
use crate::frame::{Ability, Result};
#[cfg(feature = "gpu")]
use crate::gpu::skin::compute::SkinKernel;
#[cfg(feature = "gpu")]
use crate::gpu::skin::skin_kernels::{
    BAKED_CANDIDATES, CANDIDATES, DUAL_QUATERNION, HALF, INSTANCES, MERGED, MORPH_DENSE, MORPH_SHORT, NAIVE,
    PER_CHARACTER, POSITIONS, SHARED, SUBGROUP,
};
#[cfg(feature = "gpu")]
use crate::gpu::{MeshForm, PaletteForm, Posing};

/// Owner of the backends in [`REGISTRY`].
pub const OWN: &str = "skinbench";

/// A row of the registry.
pub struct BackendEntry {
    /// Name, with the variant after a colon.
    pub name: &'static str,
    /// One line for `skinbench list`.
    pub summary: &'static str,
    constructor: Constructor,
}

impl std::fmt::Debug for BackendEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A way of making a backend.
enum Constructor {
    Host(fn(&Context) -> Box<dyn Backend>),
    /// Made by code of others: whose it is, and how.
    Other(&'static str, &'static (dyn Fn(&Context) -> Box<dyn Backend> + Sync)),
    #[cfg(feature = "gpu")]
    Device(Strategy),
}

impl BackendEntry {
    /// Describes a backend outside of [`REGISTRY`], which the harness runs and verifies like those in it.
    pub const fn new(name: &'static str, summary: &'static str, create: fn(&Context) -> Box<dyn Backend>) -> Self {
        Self { name, summary, constructor: Constructor::Host(create) }
    }

    /// Describes a backend outside of [`REGISTRY`] that runs code of others, of `owner`.
    pub const fn of_others(
        name: &'static str,
        summary: &'static str,
        owner: &'static str,
        create: &'static (dyn Fn(&Context) -> Box<dyn Backend> + Sync),
    ) -> Self {
        Self { name, summary, constructor: Constructor::Other(owner, create) }
    }

    /// Describes a backend on the device outside of [`REGISTRY`], which may skin by a kernel of its own.
    #[cfg(feature = "gpu")]
    pub const fn on_device(name: &'static str, summary: &'static str, strategy: Strategy) -> Self {
        Self { name, summary, constructor: Constructor::Device(strategy) }
    }

    /// Creates the backend.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`](crate::frame::BackendError::Unavailable) if this machine lacks something that the
    /// backend needs; the message names it.
    pub fn create(&self, context: &Context) -> Result<Box<dyn Backend>> {
        match &self.constructor {
            Constructor::Host(create) => Ok(create(context)),
            Constructor::Other(_, create) => Ok(create(context)),
            #[cfg(feature = "gpu")]
            Constructor::Device(strategy) => gpu::create(context, *strategy, Edits::default()),
        }
    }

    /// Creates the backend with edited shaders. A backend without shaders is unchanged.
    ///
    /// # Errors
    /// As [`BackendEntry::create`].
    #[cfg(feature = "gpu")]
    pub fn create_edited(&self, context: &Context, edits: Edits) -> Result<Box<dyn Backend>> {
        match &self.constructor {
            Constructor::Host(create) => Ok(create(context)),
            Constructor::Other(_, create) => Ok(create(context)),
            Constructor::Device(strategy) => gpu::create(context, *strategy, edits),
        }
    }

    /// What it can do.
    pub fn abilities(&self) -> Abilities {
        match &self.constructor {
            Constructor::Host(create) => create(&Context::default()).abilities(),
            Constructor::Other(_, create) => create(&Context::default()).abilities(),
            #[cfg(feature = "gpu")]
            Constructor::Device(strategy) => strategy.abilities(),
        }
    }

    /// Whose code it is: `skinbench`, or the project that it belongs to.
    pub fn owner(&self) -> &'static str {
        match &self.constructor {
            Constructor::Other(owner, _) => owner,
            _ => OWN,
        }
    }

    /// Returns whether it chooses levels of detail, and so runs crowds of families alone.
    pub fn chooses_levels(&self) -> bool {
        self.abilities().lack(Ability::OneLevel)
    }

    /// The name without the variant, and the variant; an empty one for the plain backend.
    pub fn name_and_variant(&self) -> (&'static str, &'static str) {
        self.name.split_once(':').unwrap_or((self.name, ""))
    }
}

/// The backend with this name.
pub fn find(name: &str) -> Option<&'static BackendEntry> {
    REGISTRY.iter().find(|entry| entry.name == name)
}

/// All backends.
pub const REGISTRY: &[BackendEntry] = &[
    BackendEntry {
        name: "cpu-scalar",
        summary: "scalar pose and skin, one thread: the readable one",
        constructor: Constructor::Host(Cpu::<ScalarSkinner>::one_thread),
    },
    BackendEntry {
        name: "cpu-simd",
        summary: "SIMD, one thread: the fastest of lanes, cluster and columns, found by a trial in the first frame",
        constructor: Constructor::Host(cpu_simd::one_thread),
    },
    BackendEntry {
        name: "cpu-simd:columns",
        summary: "one vertex at a time, matrix columns in 128-bit registers: the classic",
        constructor: Constructor::Host(Cpu::<ColumnsSkinner>::one_thread),
    },
    BackendEntry {
        name: "cpu-simd:lanes",
        summary: "16 instances in lanes, one contiguous output per instance",
        constructor: Constructor::Host(Cpu::<LanesSkinner>::one_thread),
    },
    BackendEntry {
        name: "cpu-simd:lanes-interleaved",
        summary: "16 instances in lanes, and in the output: [vertex][word][instance]",
        constructor: Constructor::Host(Cpu::<InterleavedSkinner>::one_thread),
    },
    BackendEntry {
        name: "cpu-simd:cluster",
        summary: "a lone character: vertices in lanes, sorted so that neighbours share joints",
        constructor: Constructor::Host(Cpu::<ClusterSkinner>::one_thread),
    },
    BackendEntry {
        name: "cpu-simd:fused",
        summary: "as lanes, each block posed and skinned while it is in the cache",
        constructor: Constructor::Host(Cpu::<FusedSkinner>::one_thread),
    },
    BackendEntry {
        name: "cpu-simd:dual-quaternion",
        summary: "16 instances in lanes, joints blended as dual quaternions: keeps volume",
        constructor: Constructor::Host(Cpu::<DualQuaternionSkinner>::one_thread),
    },
    BackendEntry {
        name: "cpu-rayon",
        summary: "as cpu-simd, all threads, with a trial of its own",
        constructor: Constructor::Host(cpu_simd::all_threads),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-vertex",
        summary: "pose as cpu-rayon; the vertex shader skins, in every pass",
        constructor: vertex(Posing::Host, MeshForm::Packed, PaletteForm::Rows),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-vertex:mat4",
        summary: "4x4 palettes in a storage buffer (Bevy's way)",
        constructor: vertex(Posing::Host, MeshForm::Plain, PaletteForm::Columns),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-vertex:uniform",
        summary: "4x4 palettes of up to 96 entries in one uniform block per character (the DirectX 12 book's way)",
        constructor: vertex(Posing::Host, MeshForm::Plain, PaletteForm::Uniform),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-vertex:texture",
        summary: "3x4 palettes in a float texture (the way of many web engines)",
        constructor: vertex(Posing::Host, MeshForm::Plain, PaletteForm::Texture),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-compute",
        summary: "pose as cpu-rayon; the fastest of the compute kernels skins once, passes read it",
        constructor: compute(Posing::Host, CANDIDATES),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-compute:per-character",
        summary: "one dispatch per character, 4x4 palettes (what naive ports do)",
        constructor: compute(Posing::Host, &[&PER_CHARACTER]),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-compute:naive",
        summary: "one thread per vertex of each instance, 3x4 palettes",
        constructor: compute(Posing::Host, &[&NAIVE]),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-compute:shared",
        summary: "one workgroup per character, palette in workgroup memory (Unity Kinemation's idea)",
        constructor: compute(Posing::Host, &[&SHARED]),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-compute:instances",
        summary: "one thread per vertex and sixteen instances, vertex in registers",
        constructor: compute(Posing::Host, &[&INSTANCES]),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-compute:dual-quaternion",
        summary: "as instances, joints blended as dual quaternions: keeps volume",
        constructor: compute(Posing::Host, &[&DUAL_QUATERNION]),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-compute:f16",
        summary: "as instances, palettes with 16-bit rotation and scale: a stated error",
        constructor: compute(Posing::Host, &[&HALF]),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-compute:subgroup",
        summary: "as instances, each palette entry read once per subgroup and shared by its threads",
        constructor: compute(Posing::Host, &[&SUBGROUP]),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-compute:positions",
        summary: "as instances, positions apart from normals: depth passes read 12 bytes per vertex instead of 24",
        constructor: compute(Posing::Host, &[&POSITIONS]),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-compute:merged",
        summary: "as instances, all models in one dispatch through a table, drawn by one multi-draw",
        constructor: compute(Posing::Host, &[&MERGED]),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-compute:morph-dense",
        summary: "as instances, a delta for every morph target and vertex; each instance reads those of its active targets",
        constructor: compute(Posing::Host, &[&MORPH_DENSE]),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-compute:morph-16",
        summary: "as instances, deltas of morph targets in 16 bits per number: a stated error",
        constructor: compute(Posing::Host, &[&MORPH_SHORT]),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-full",
        summary: "poses on the device too: a frame sends its tick; skins as gpu-compute",
        constructor: compute(Posing::Device, CANDIDATES),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-full:vertex",
        summary: "poses on the device; the vertex shader skins, in every pass",
        constructor: vertex(Posing::Device, MeshForm::Packed, PaletteForm::Rows),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-full:culled",
        summary: "as gpu-full, only the instances in view: a compute pass finds them, dispatches and draws are indirect",
        constructor: compute(Posing::Visible, CANDIDATES),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-full:vertex-culled",
        summary: "as gpu-full:vertex, only the instances in view",
        constructor: vertex(Posing::Visible, MeshForm::Packed, PaletteForm::Rows),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-full:levels",
        summary: "as gpu-full:culled, and the device chooses the level of detail of each instance; needs --lod",
        constructor: compute(Posing::Levels, CANDIDATES),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-full:vertex-levels",
        summary: "as gpu-full:levels, the vertex shader skins, in every pass",
        constructor: vertex(Posing::Levels, MeshForm::Packed, PaletteForm::Rows),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-baked",
        summary: "clips baked as rotations and translations; the vertex shader blends two frames and skins",
        constructor: vertex(Posing::Device, MeshForm::Packed, PaletteForm::Baked(BakeFormat::Motions)),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-baked:matrices",
        summary: "clips baked as 3x4 matrices; the vertex shader blends two frames and skins",
        constructor: vertex(Posing::Device, MeshForm::Packed, PaletteForm::Baked(BakeFormat::Matrices)),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-baked:compute",
        summary: "clips baked as rotations and translations; a compute kernel blends two frames and skins once",
        constructor: compute(Posing::Device, BAKED_CANDIDATES),
    },
    #[cfg(feature = "gpu")]
    BackendEntry {
        name: "gpu-vat",
        summary: "vertices baked frame by frame; the vertex shader blends two frames: no joint is left",
        constructor: vertex(Posing::Device, MeshForm::Nothing, PaletteForm::Baked(BakeFormat::Vertices)),
    },
];

#[cfg(feature = "gpu")]
const fn vertex(posing: Posing, mesh: MeshForm, palette: PaletteForm) -> Constructor {
    Constructor::Device(Strategy { posing, skin: Skinning::Vertex(mesh, palette) })
}

#[cfg(feature = "gpu")]
const fn compute(posing: Posing, kernels: &'static [&'static SkinKernel]) -> Constructor {
    Constructor::Device(Strategy { posing, skin: Skinning::Compute(kernels) })
}
