//! The kernels that skin on the CPU: layout of palettes, and what they do with a block.

use super::abilities::DUAL_QUATERNIONS;
use super::cpu::{BlockJob, CpuKernel, SkinBlocks};
use crate::blocks::Blocks;
use crate::crowd::{BLOCK, Crowd};
use crate::frame::{Ability, Bytes, Lack, PaletteLayout, Purpose, Result};
use crate::model::Rows;
use crate::pose::{Width, is_sparse};
use crate::reference::Blending;
use crate::simd::{Aligned, Isa};
use crate::skin::{
    Clusters, DualQuaternion, LaneBlock, LanePalette, Store, lane_dual_quaternions, skin_clusters,
    skin_columns, skin_lanes, skin_shape,
};
use crate::threads::lock;
use std::sync::Mutex;

/// Candidates of the trial that finds the fastest.
pub const CANDIDATES: &[&CpuKernel] = &[&MIXED, &CLUSTER, &COLUMNS];

/// One instance and one vertex at a time, posed and skinned without vectors.
pub const SCALAR: CpuKernel = CpuKernel {
    name: "scalar",
    layout: PaletteLayout::Rows,
    width: Width::One,
    isa: Some(Isa::Scalar),
    lacks: &[],
    blending: Blending::Linear,
    interleaved: false,
    build: |_, _| {
        stateless(|job, out| {
            let mesh = job.group.model.mesh();
            job.each_instance(out, |shape, palette, out| {
                skin_shape(mesh, shape, palette, job.group.format, out)
            });
        })
    },
};

/// One vertex at a time with its matrix columns in 128-bit registers, as engines commonly do it.
pub const COLUMNS: CpuKernel = CpuKernel {
    name: "columns",
    width: Width::Block,
    isa: None,
    build: |_, _| {
        stateless(|job, out| {
            let mesh = job.group.model.mesh();
            job.each_instance(out, |shape, palette, out| {
                skin_columns(job.isa, mesh, shape, palette, job.group.format, out)
            });
        })
    },
    ..SCALAR
};

/// Characters one by one, vertices that share joints side by side.
pub const CLUSTER: CpuKernel = CpuKernel {
    name: "cluster",
    build: |crowd, isa| clustered(crowd, isa, true),
    ..COLUMNS
};

/// 16 instances of a crowd side by side, with one contiguous output per instance.
pub const LANES: CpuKernel = CpuKernel {
    name: "lanes",
    layout: PaletteLayout::Lanes,
    width: Width::Block,
    build: |_, _| stateless(|job, out| in_lanes(job, LanePalette::Matrices(job.lanes), false, out)),
    ..COLUMNS
};

/// As [`LANES`], each block skinned while its palette is in the cache.
pub const FUSED: CpuKernel = CpuKernel {
    name: "fused",
    layout: PaletteLayout::Fused,
    lacks: &[Lack {
        ability: Ability::Gameplay,
        reason: "keeps no palettes",
    }],
    ..LANES
};

/// As [`LANES`], with the instances of a block interleaved in the output.
pub const INTERLEAVED: CpuKernel = CpuKernel {
    name: "lanes-interleaved",
    interleaved: true,
    build: |_, _| stateless(|job, out| in_lanes(job, LanePalette::Matrices(job.lanes), true, out)),
    ..LANES
};

/// As [`LANES`] for full blocks, and as [`CLUSTER`] for the instances of sparse ones.
const MIXED: CpuKernel = CpuKernel {
    layout: PaletteLayout::Mixed,
    build: |crowd, isa| clustered(crowd, isa, false),
    ..LANES
};

/// As [`LANES`], joints blended as dual quaternions.
pub const DUAL_QUATERNION: CpuKernel = CpuKernel {
    name: "dual-quaternion",
    lacks: DUAL_QUATERNIONS,
    blending: Blending::DualQuaternion,
    build: |crowd, isa| {
        let groups = crowd.groups().iter();
        let most_entries = groups.map(|group| group.model.palette_joints().len()).max();
        let entries = most_entries.unwrap_or(0);
        let palette = Mutex::new(Aligned::<DualQuaternion>::zeroed(entries));
        Ok((
            Box::new(move |job, out| {
                // Only one thread uses it, so the lock is always free.
                let mut palette = lock(&palette);
                let palette = &mut palette[..job.lanes.len()];
                lane_dual_quaternions(isa, job.lanes, palette);
                in_lanes(job, LanePalette::DualQuaternions(palette), false, out);
            }),
            Bytes::of(Purpose::Palettes, Aligned::<DualQuaternion>::bytes(entries)),
        ))
    },
    ..LANES
};

/// A kernel that keeps nothing from frame to frame.
fn stateless(skin: impl Fn(&BlockJob, &mut [f32]) + Sync + 'static) -> Result<(SkinBlocks, Bytes)> {
    Ok((Box::new(skin), Bytes::default()))
}

/// Skins a block with one instance in each lane.
fn in_lanes(job: &BlockJob, palette: LanePalette, interleaved: bool, out: &mut [f32]) {
    job.in_lanes(|morphed| {
        let block = LaneBlock {
            mesh: job.group.model.mesh(),
            morphed,
            palette,
            format: job.group.format,
            store: job.store,
            out,
            interleaved,
        };
        skin_lanes(job.isa, block);
    });
}

const FIT: &str = "palettes and outputs of the mesh that was cut";

/// Skins the instances of blocks with palettes in rows one by one in clusters, and those of others in lanes. Meshes are
/// cut into clusters for groups that have a sparse block, or for `all`.
fn clustered(crowd: &Crowd, isa: Isa, all: bool) -> Result<(SkinBlocks, Bytes)> {
    let mut is_cut = vec![all; crowd.groups().len()];
    for block in Blocks::new(crowd, false).all() {
        is_cut[block.group] |= is_sparse(block);
    }
    let mut clusters: Vec<Option<Clusters>> = Vec::with_capacity(is_cut.len());
    for (group, is_cut) in crowd.groups().iter().zip(is_cut) {
        let store = if group.has_targets() {
            // Each instance is morphed before it is skinned, so that none can wait for others.
            Store::Cached
        } else {
            Store::for_bytes(crowd.output_words() * size_of::<f32>() as u64)
        };
        clusters.push(is_cut.then(|| Clusters::new(isa, group.model.mesh(), store)));
    }
    let bytes = clusters.iter().flatten().map(Clusters::bytes).sum();
    let skin: SkinBlocks = Box::new(move |job, out| {
        let mesh = job.group.model.mesh();
        let format = job.group.format;
        match &clusters[job.block.group] {
            Some(clusters) if !job.rows.is_empty() && !job.group.has_targets() => {
                let mut palettes: [&[Rows]; BLOCK] = [&[]; BLOCK];
                let rows = job.rows.chunks_exact(job.block.entries);
                for (place, palette) in palettes.iter_mut().zip(rows) {
                    *place = palette;
                }
                let palettes = &palettes[..job.block.instances.len()];
                skin_clusters(clusters, palettes, format, out).expect(FIT);
            }
            Some(clusters) if !job.rows.is_empty() => {
                job.each_instance(out, |shape, palette, out| {
                    if std::ptr::eq(shape.positions, mesh.positions()) {
                        skin_clusters(clusters, &[palette], format, out).expect(FIT);
                    } else {
                        // Columns read the morphed vertices in their order. To put those side by side would cost more
                        // than clusters save.
                        skin_columns(job.isa, mesh, shape, palette, format, out);
                    }
                })
            }
            _ => in_lanes(job, LanePalette::Matrices(job.lanes), false, out),
        }
    });
    Ok((skin, Bytes::of(Purpose::Mesh, bytes)))
}
