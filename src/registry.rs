//! The list of all backends.

use crate::backend::cpu::{Cpu, CpuKernel};
use crate::backend::cpu_kernels;
#[cfg(feature = "gpu")]
use crate::backend::gpu::{self, Skinning, Strategy};
use crate::backend::{Abilities, Backend, Context};
#[cfg(not(feature = "gpu"))]
use crate::backend::{Joints, LaterPasses};
#[cfg(feature = "gpu")]
use crate::bake::BakeFormat;
#[cfg(not(feature = "gpu"))]
use crate::frame::BackendError;
use crate::frame::Result;
#[cfg(feature = "gpu")]
use crate::gpu::passes::skin::SkinKernel;
#[cfg(feature = "gpu")]
use crate::gpu::passes::skin_kernels::{
    BAKED_CANDIDATES, CANDIDATES, DUAL_QUATERNION, HALF, INSTANCES, MERGED, NAIVE, PER_CHARACTER,
    POSITIONS, SHARED, STAGED,
};
#[cfg(feature = "gpu")]
use crate::gpu::{MeshForm, PaletteForm, Posing};
use crate::wording;
use std::sync::LazyLock;

/// Owner of the backends in [`REGISTRY`].
pub const OWN: &str = "skinbench";

/// A row of the registry.
pub struct BackendEntry {
    /// Name, with the variant after a colon.
    pub name: &'static str,
    /// One line for `skinbench list`.
    pub summary: &'static str,
    /// The project that its code belongs to.
    pub owner: &'static str,
    /// The way of making it.
    pub constructor: Constructor,
}

impl std::fmt::Debug for BackendEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A way of making a backend.
pub enum Constructor {
    /// By a function.
    Function(&'static (dyn Fn(&Context) -> Box<dyn Backend> + Sync)),
    /// On the calling thread, by the fastest of some kernels.
    OneThread(&'static [&'static CpuKernel]),
    /// On all threads of the context, by the fastest of some kernels.
    AllThreads(&'static [&'static CpuKernel]),
    /// On the device, by a kernel of this crate or another.
    #[cfg(feature = "gpu")]
    Device(Strategy),
    /// On the device, in other builds.
    #[cfg(not(feature = "gpu"))]
    NotBuilt,
}

impl Constructor {
    /// Describes a backend, which the harness runs and verifies whether it is in [`REGISTRY`] or not.
    pub const fn named(self, name: &'static str, summary: &'static str) -> BackendEntry {
        BackendEntry {
            name,
            summary,
            owner: OWN,
            constructor: self,
        }
    }
}

impl BackendEntry {
    /// Creates the backend.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`](crate::frame::BackendError::Unavailable) if this machine lacks something that the
    /// backend needs; the message names it.
    pub fn create(&self, context: &Context) -> Result<Box<dyn Backend>> {
        match &self.constructor {
            Constructor::Function(create) => Ok(create(context)),
            Constructor::OneThread(kernels) => Ok(Cpu::one_thread(kernels, context)),
            Constructor::AllThreads(kernels) => Ok(Cpu::all_threads(kernels, context)),
            #[cfg(feature = "gpu")]
            Constructor::Device(strategy) => gpu::create(context, *strategy),
            #[cfg(not(feature = "gpu"))]
            Constructor::NotBuilt => Err(BackendError::Unavailable(NO_GPU.into())),
        }
    }

    /// Returns whether this build has it; another one would.
    pub fn is_built(&self) -> bool {
        #[cfg(feature = "gpu")]
        return true;
        #[cfg(not(feature = "gpu"))]
        !matches!(self.constructor, Constructor::NotBuilt)
    }

    /// What it can do; nothing is known of one that this build lacks.
    pub fn abilities(&self) -> Abilities {
        match &self.constructor {
            Constructor::Function(create) => create(&Context::default()).abilities(),
            Constructor::OneThread(kernels) | Constructor::AllThreads(kernels) => {
                Cpu::one_thread(kernels, &Context::default()).abilities()
            }
            #[cfg(feature = "gpu")]
            Constructor::Device(strategy) => gpu::abilities(*strategy),
            #[cfg(not(feature = "gpu"))]
            Constructor::NotBuilt => Abilities {
                joints: Joints::Device,
                later_passes: LaterPasses::Free,
                lacks: Vec::new(),
            },
        }
    }
}

/// The backend with this name.
pub fn find(name: &str) -> Option<&'static BackendEntry> {
    REGISTRY.iter().find(|entry| entry.name == name)
}

/// Reason why a build without wgpu runs no GPU backend.
#[cfg(not(feature = "gpu"))]
pub const NO_GPU: &str = "this build has no GPU backends; scripts/bench --gpu or cargo build --release makes one that has them";

/// Rows of backends on the device. A build without wgpu lacks the types in a constructor, and knows the names only.
#[cfg(feature = "gpu")]
macro_rules! device_rows {
    ($($constructor:expr, $name:literal, $summary:literal;)*) => {
        [$($constructor.named($name, $summary)),*]
    };
}

#[cfg(not(feature = "gpu"))]
macro_rules! device_rows {
    ($($constructor:expr, $name:literal, $summary:literal;)*) => {
        [$(Constructor::NotBuilt.named($name, $summary)),*]
    };
}

/// All backends.
pub static REGISTRY: LazyLock<Vec<BackendEntry>> = LazyLock::new(|| {
    use Constructor::{AllThreads, OneThread};
    let rows = vec![
        OneThread(&[&cpu_kernels::SCALAR])
            .named("cpu-scalar", "scalar pose and skin, one thread: the readable one"),
        OneThread(cpu_kernels::CANDIDATES).named(
            "cpu-simd",
            "SIMD, one thread: the fastest of lanes, cluster and columns, found by a trial in the first frame",
        ),
        OneThread(&[&cpu_kernels::COLUMNS])
            .named("cpu-simd:columns", "one vertex at a time, matrix columns in 128-bit registers: the classic"),
        OneThread(&[&cpu_kernels::LANES])
            .named("cpu-simd:lanes", "16 instances in lanes, one contiguous output per instance"),
        OneThread(&[&cpu_kernels::INTERLEAVED])
            .named("cpu-simd:lanes-interleaved", "16 instances in lanes, and in the output: [vertex][word][instance]"),
        OneThread(&[&cpu_kernels::CLUSTER])
            .named("cpu-simd:cluster", "one character at a time: vertices in lanes, sorted so that neighbours share joints"),
        OneThread(&[&cpu_kernels::FUSED])
            .named("cpu-simd:fused", "as lanes, each block posed and skinned while it is in the cache"),
        OneThread(&[&cpu_kernels::DUAL_QUATERNION]).named(
            "cpu-simd:dual-quaternion",
            "16 instances in lanes, joints blended as dual quaternions: keeps volume",
        ),
        AllThreads(cpu_kernels::CANDIDATES)
            .named("cpu-rayon", "as cpu-simd, all threads, with a trial of its own"),
    ];
    let device_rows = device_rows![
        vertex(Posing::Host, MeshForm::Packed, PaletteForm::Rows), "gpu-vertex",
            "pose as cpu-rayon; the vertex shader skins, in every pass";
        vertex(Posing::Host, MeshForm::Plain, PaletteForm::Columns), "gpu-vertex:mat4",
            "4x4 palettes in a storage buffer (Bevy's way)";
        vertex(Posing::Host, MeshForm::Plain, PaletteForm::Uniform), "gpu-vertex:uniform",
            "4x4 palettes of up to 96 entries in one uniform block per character (the DirectX 12 book's way)";
        vertex(Posing::Host, MeshForm::Plain, PaletteForm::Texture), "gpu-vertex:texture",
            "3x4 palettes in a float texture (the way of many web engines)";
        compute(Posing::Host, CANDIDATES), "gpu-compute",
            "pose as cpu-rayon; the fastest of the compute kernels skins once, passes read it";
        compute(Posing::Host, &[&PER_CHARACTER]), "gpu-compute:per-character",
            "one dispatch per character, 4x4 palettes (what naive ports do)";
        compute(Posing::Host, &[&NAIVE]), "gpu-compute:naive",
            "one thread per vertex of each instance, 3x4 palettes";
        compute(Posing::Host, &[&SHARED]), "gpu-compute:shared",
            "one workgroup per character, palette in workgroup memory (Unity Kinemation's idea)";
        compute(Posing::Host, &[&INSTANCES]), "gpu-compute:instances",
            "one thread per vertex and sixteen instances, vertex in registers";
        compute(Posing::Host, &[&DUAL_QUATERNION]), "gpu-compute:dual-quaternion",
            "as instances, joints blended as dual quaternions: keeps volume";
        compute(Posing::Host, &[&HALF]), "gpu-compute:f16",
            "as instances, palettes with 16-bit rotation and scale: a stated error";
        compute(Posing::Host, &[&STAGED]), "gpu-compute:staged",
            "as instances, vertices collected in workgroup memory and written in whole lines";
        compute(Posing::Host, &[&POSITIONS]), "gpu-compute:positions",
            "as instances, positions apart from normals: depth passes read 12 bytes per vertex instead of 24";
        compute(Posing::Host, &[&MERGED]), "gpu-compute:merged",
            "as instances, all models in one dispatch through a table, drawn by one multi-draw";
        compute(Posing::Device, CANDIDATES), "gpu-full",
            "poses on the device too: a frame sends its tick; skins as gpu-compute";
        vertex(Posing::Device, MeshForm::Packed, PaletteForm::Rows), "gpu-full:vertex",
            "poses on the device; the vertex shader skins, in every pass";
        compute(Posing::Visible, CANDIDATES), "gpu-full:culled",
            "as gpu-full, only the instances in view: a compute pass finds them, dispatches and draws are indirect";
        vertex(Posing::Visible, MeshForm::Packed, PaletteForm::Rows), "gpu-full:vertex-culled",
            "as gpu-full:vertex, only the instances in view";
        vertex(Posing::Device, MeshForm::Packed, PaletteForm::Baked(BakeFormat::Motions)), "gpu-baked",
            "clips baked as rotations and translations; the vertex shader blends two frames and skins";
        vertex(Posing::Device, MeshForm::Packed, PaletteForm::Baked(BakeFormat::Matrices)), "gpu-baked:matrices",
            "clips baked as 3x4 matrices; the vertex shader blends two frames and skins";
        compute(Posing::Device, BAKED_CANDIDATES), "gpu-baked:compute",
            "clips baked as rotations and translations; a compute kernel blends two frames and skins once";
        vertex(Posing::Device, MeshForm::Nothing, PaletteForm::Baked(BakeFormat::Vertices)), "gpu-vat",
            "vertices baked frame by frame; the vertex shader blends two frames: no joint is left";
    ];
    rows.into_iter().chain(device_rows).collect()
});

/// The compute kernels of all backends, each once: a name has one kernel for each form of palettes.
#[cfg(feature = "gpu")]
pub fn skin_kernels() -> Vec<&'static SkinKernel> {
    let mut found: Vec<&SkinKernel> = Vec::new();
    for entry in REGISTRY.iter() {
        let Constructor::Device(strategy) = &entry.constructor else {
            continue;
        };
        let Skinning::Compute(kernels) = strategy.skin else {
            continue;
        };
        for kernel in kernels {
            let key = (kernel.name, kernel.palette);
            if found.iter().all(|known| (known.name, known.palette) != key) {
                found.push(kernel);
            }
        }
    }
    found
}

/// The forms of meshes and palettes with which backends skin in vertex shaders, each once, with the first backend's name.
#[cfg(feature = "gpu")]
pub fn vertex_forms() -> Vec<(&'static str, MeshForm, PaletteForm)> {
    let mut found: Vec<(&str, MeshForm, PaletteForm)> = Vec::new();
    for entry in REGISTRY.iter() {
        if let Constructor::Device(strategy) = &entry.constructor
            && let Skinning::Vertex(mesh, palette) = strategy.skin
            && found
                .iter()
                .all(|known| (known.1, known.2) != (mesh, palette))
        {
            found.push((entry.name, mesh, palette));
        }
    }
    found
}

/// One line about a name or pattern that neither a backend nor a peer has, with the closest name, or a pattern if several
/// names begin with it.
pub fn unknown(name: &str, peers: &[String]) -> String {
    let mut names: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
    names.extend(peers.iter().map(String::as_str));
    let mut begun = names.clone();
    begun.retain(|known| known.starts_with(name));
    if let [first, _, ..] = begun[..] {
        let mut common = first;
        while !begun.iter().all(|known| known.starts_with(common)) {
            common = common.strip_suffix(|_: char| true).unwrap_or_default();
        }
        if !names.contains(&common) {
            return format!(
                "unknown backend {name:?}; did you mean '{common}*'? `skinbench list` has all"
            );
        }
    }
    wording::unknown("backend", name, &names)
}

#[cfg(feature = "gpu")]
fn vertex(posing: Posing, mesh: MeshForm, palette: PaletteForm) -> Constructor {
    Constructor::Device(Strategy {
        posing,
        skin: Skinning::Vertex(mesh, palette),
    })
}

#[cfg(feature = "gpu")]
fn compute(posing: Posing, kernels: &'static [&'static SkinKernel]) -> Constructor {
    Constructor::Device(Strategy {
        posing,
        skin: Skinning::Compute(kernels),
    })
}
