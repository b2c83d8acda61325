//! The compute kernels that skin: file in shaders/, forms of mesh and palette, and assignment of threads.

use crate::forms::mesh::MeshForm;
use crate::forms::output::OutputForm;
use crate::forms::palettes::PaletteForm;
use crate::passes::skin::{SkinKernel, ThreadLayout};
use skinbench_frame::{Ability, Lack};
use skinbench_kernels::bake::BakeFormat;

/// Candidates of the trial that finds the fastest; all read palettes as rows in a storage buffer.
pub const CANDIDATES: &[&SkinKernel] = &[&INSTANCES, &FOUR_INSTANCES, &STAGED, &NAIVE, &SHARED];

/// Candidates for baked palettes.
pub const BAKED_CANDIDATES: &[&SkinKernel] = &[
    &by_instances("instances", 16, BAKED),
    &by_instances("instances, 4 at a time", 4, BAKED),
];

const BAKED: PaletteForm = PaletteForm::Baked(BakeFormat::Motions);

/// One dispatch per character, 4x4 palettes, full precision, as in straightforward ports.
pub const PER_CHARACTER: SkinKernel = SkinKernel {
    name: "per-character",
    file: "gpu_compute_per_character.wgsl",
    palette: PaletteForm::Columns,
    threads: ThreadLayout::Character,
    ..NAIVE
};

/// One thread per vertex of each instance, 3x4 palettes, full precision.
pub const NAIVE: SkinKernel = SkinKernel {
    name: "naive",
    file: "gpu_compute_naive.wgsl",
    text: None,
    mesh: MeshForm::Plain,
    palette: PaletteForm::Rows,
    threads: ThreadLayout::Pair,
    output: None,
    lacks: &[],
};

/// One workgroup per 1,024 vertices of a character, with the palette in workgroup memory.
pub const SHARED: SkinKernel = SkinKernel {
    name: "shared",
    file: "gpu_compute_shared.wgsl",
    mesh: MeshForm::Packed,
    palette: PaletteForm::Workgroup,
    threads: ThreadLayout::Instance(1024),
    ..NAIVE
};

/// For palettes of 3x4 matrices by rows. A thread computes a vertex of up to sixteen instances, also of a single one, and keeps
/// the vertex in registers. Of a model, it reads a mesh of 20 bytes per vertex, which rounds positions and normals.
pub const INSTANCES: SkinKernel = by_instances("instances", 16, PaletteForm::Rows);

/// As [`INSTANCES`], for palettes of 4x4 matrices by columns, as glam and most engines have them.
pub const COLUMNS: SkinKernel = by_instances("columns", 16, PaletteForm::Columns);

/// As [`INSTANCES`], for the instances of a list in device memory.
pub const LISTED: SkinKernel = SkinKernel {
    name: "listed",
    file: "gpu_compute_listed.wgsl",
    ..INSTANCES
};

/// As [`LISTED`], for palettes as [`COLUMNS`] reads them.
pub const LISTED_COLUMNS: SkinKernel = SkinKernel {
    name: "listed columns",
    palette: PaletteForm::Columns,
    ..LISTED
};

/// As [`INSTANCES`], for adapters and crowds for which sixteen instances per thread leave too few threads.
pub const FOUR_INSTANCES: SkinKernel = by_instances("instances, 4 at a time", 4, PaletteForm::Rows);

/// As [`INSTANCES`], blending rigid motions instead of matrices.
pub const DUAL_QUATERNION: SkinKernel =
    by_instances("dual-quaternion", 16, PaletteForm::DualQuaternions);

/// As [`INSTANCES`], with palettes in half precision.
pub const HALF: SkinKernel = by_instances("f16", 16, PaletteForm::Half);

/// As [`INSTANCES`], with a workgroup's vertices collected in its memory, so that neighbouring threads write neighbouring
/// words. Two sides of the memory take turns, so that one barrier per instance suffices.
pub const STAGED: SkinKernel = SkinKernel {
    name: "staged",
    file: "gpu_compute_staged.wgsl",
    threads: ThreadLayout::Staged(8),
    ..INSTANCES
};

/// As [`INSTANCES`], with positions apart from normals for passes that need no others.
pub const POSITIONS: SkinKernel = SkinKernel {
    output: Some(OutputForm::Streams),
    lacks: &[
        Lack {
            ability: Ability::PackedOutput,
            reason: STREAMS,
        },
        Lack {
            ability: Ability::Motion,
            reason: STREAMS,
        },
    ],
    ..by_instances("positions", 16, PaletteForm::Rows)
};

const STREAMS: &str = "stores floats of one frame apart";

/// As [`INSTANCES`], for chunks of several models at once.
pub const MERGED: SkinKernel = SkinKernel {
    name: "merged",
    file: "gpu_compute_merged.wgsl",
    threads: ThreadLayout::Merged(16),
    lacks: &[Lack {
        ability: Ability::MorphTargets,
        reason: "has no morph targets",
    }],
    ..INSTANCES
};

const fn by_instances(name: &'static str, instances: u32, palette: PaletteForm) -> SkinKernel {
    SkinKernel {
        name,
        file: "gpu_compute_instances.wgsl",
        mesh: MeshForm::Packed,
        palette,
        threads: ThreadLayout::Vertex(instances),
        ..NAIVE
    }
}
