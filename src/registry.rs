//! The list of all backends.

use crate::backend::{Backend, Context, cpu_rayon, cpu_scalar, cpu_simd};
#[cfg(feature = "gpu")]
use crate::backend::{gpu_baked, gpu_compute, gpu_full, gpu_vertex};
use crate::frame::Result;

/// A line of the registry.
pub struct Entry {
    /// Name, with the variant after a colon.
    pub name: &'static str,
    /// One line for `skinbench list`.
    pub summary: &'static str,
    /// Makes the backend, or says why this machine cannot run it.
    pub create: fn(&Context) -> Result<Box<dyn Backend>>,
}

/// Every backend there is.
pub const REGISTRY: &[Entry] = &[
    Entry {
        name: "cpu-scalar",
        summary: "scalar pose and skin, one thread: the readable one",
        create: cpu_scalar::create,
    },
    Entry {
        name: "cpu-simd",
        summary: "SIMD, one thread: the variant that suits the crowd's size",
        create: cpu_simd::create,
    },
    Entry {
        name: "cpu-simd:columns",
        summary: "one vertex at a time, matrix columns in 128-bit registers: the classic",
        create: cpu_simd::columns,
    },
    Entry {
        name: "cpu-simd:lanes",
        summary: "16 instances in lanes, one contiguous output an instance",
        create: cpu_simd::lanes,
    },
    Entry {
        name: "cpu-simd:lanes-interleaved",
        summary: "16 instances in lanes, and in the output: [vertex][word][instance]",
        create: cpu_simd::lanes_interleaved,
    },
    #[cfg(target_arch = "x86_64")]
    Entry {
        name: "cpu-simd:cluster",
        summary: "a lone character: 16 vertices in lanes, joints looked up within registers (AVX-512)",
        create: cpu_simd::cluster,
    },
    Entry {
        name: "cpu-simd:fused",
        summary: "as lanes, each block posed and skinned while it is in the cache",
        create: cpu_simd::fused,
    },
    Entry {
        name: "cpu-simd:dual-quaternion",
        summary: "16 instances in lanes, joints blended as dual quaternions: keeps volume, takes no uneven scale",
        create: cpu_simd::dual_quaternion,
    },
    Entry {
        name: "cpu-rayon",
        summary: "pose and skin with 16 instances in lanes, all threads",
        create: cpu_rayon::create,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-vertex",
        summary: "pose as cpu-rayon; the vertex shader skins, in every pass",
        create: gpu_vertex::packed,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-vertex:mat4",
        summary: "4x4 palettes in a storage buffer (Bevy's way)",
        create: gpu_vertex::mat4,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-vertex:uniform",
        summary: "4x4 palettes of up to 96 entries in a uniform block a character (the DirectX 12 book's way)",
        create: gpu_vertex::uniform,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-vertex:texture",
        summary: "3x4 palettes in a float texture (the way of many web engines)",
        create: gpu_vertex::texture,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-compute",
        summary: "pose as cpu-rayon; the fastest of the compute kernels skins once, passes read it",
        create: gpu_compute::best,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-compute:per-character",
        summary: "a dispatch a character, 4x4 palettes (what naive ports do)",
        create: gpu_compute::per_character,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-compute:naive",
        summary: "a thread a vertex of an instance, 3x4 palettes",
        create: gpu_compute::naive,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-compute:shared",
        summary: "a workgroup a character, palette in workgroup memory (Unity Kinemation's idea)",
        create: gpu_compute::shared,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-compute:instances",
        summary: "a thread a vertex of sixteen instances, vertex in registers",
        create: gpu_compute::instances,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-compute:dual-quaternion",
        summary: "as instances, joints blended as dual quaternions: keeps volume, takes no uneven scale",
        create: gpu_compute::dual_quaternion,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-full",
        summary: "poses on the device too: a frame sends its tick; skins as gpu-compute",
        create: gpu_full::compute,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-full:vertex",
        summary: "poses on the device; the vertex shader skins, in every pass",
        create: gpu_full::vertex,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-full:culled",
        summary: "as gpu-full, those in view alone: a compute pass finds them, dispatches and draws are indirect",
        create: gpu_full::culled,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-full:vertex-culled",
        summary: "as gpu-full:vertex, those in view alone",
        create: gpu_full::vertex_culled,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-baked",
        summary: "clips baked as rotations and translations; the vertex shader blends two frames and skins",
        create: gpu_baked::motions,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-baked:matrices",
        summary: "clips baked as 3x4 matrices; the vertex shader blends two frames and skins",
        create: gpu_baked::matrices,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-baked:compute",
        summary: "clips baked as rotations and translations; a compute kernel blends two frames and skins once",
        create: gpu_baked::compute,
    },
];
