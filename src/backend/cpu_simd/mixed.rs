//! Plain `cpu-simd` and `cpu-rayon`: 16 instances side by side where there are that many, one at a time where a block has
//! few.

use super::super::cpu::{BlockJob, PaletteLayout, Skinner};
use crate::blocks::{Block, Blocks};
use crate::crowd::{BLOCK, Crowd};
use crate::frame::{Bytes, Purpose, Result};
use crate::model::Rows;
use crate::pose::Affine;
use crate::simd::Isa;
#[cfg(target_arch = "x86_64")]
use crate::skin::{Clusters, skin_clusters};
use crate::skin::{skin_columns, skin_lanes};

/// Largest part of a block's lanes that instances may have for the block to be skinned one by one: empty lanes cost as
/// much as full ones, and kernels for a lone character take approximately three times as long as full lanes.
const SPARSE: f64 = 0.4;
/// Most palette entries of an instance that is skinned by itself; its palette is copied to the stack.
const ENTRIES: usize = 256;

/// Skins full blocks with lanes and sparse ones as lone characters: in clusters with AVX-512, otherwise in columns.
pub struct MixedSkinner {
    /// The clusters of each group's mesh that has a sparse block.
    #[cfg(target_arch = "x86_64")]
    clusters: Vec<Option<Clusters>>,
}

/// Returns whether a block has few instances, and palettes that fit.
fn is_sparse(block: &Block, entries: usize) -> bool {
    (block.instances.len() as f64) < SPARSE * BLOCK as f64 && entries <= ENTRIES
}

/// The meshes of each group that lone characters have.
#[cfg(target_arch = "x86_64")]
fn clusters(crowd: &Crowd) -> Vec<Option<Clusters>> {
    let mut sparse = vec![false; crowd.groups().len()];
    for block in Blocks::new(crowd, BLOCK, false).all() {
        sparse[block.group] |= is_sparse(block, crowd.groups()[block.group].model.palette_joints().len());
    }
    let of = |(group, sparse): (&crate::crowd::Group, bool)| sparse.then(|| Clusters::new(group.model.mesh()));
    crowd.groups().iter().zip(sparse).map(of).collect()
}

impl Skinner for MixedSkinner {
    const LAYOUT: PaletteLayout = PaletteLayout::Lanes;

    #[cfg(target_arch = "x86_64")]
    fn new(crowd: &Crowd, isa: Isa) -> Result<Self> {
        Ok(Self { clusters: if isa == Isa::Avx512 { clusters(crowd) } else { Vec::new() } })
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn new(_: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self {})
    }

    #[cfg(target_arch = "x86_64")]
    fn bytes(crowd: &Crowd, isa: Isa) -> Bytes {
        if isa != Isa::Avx512 {
            return Bytes::default();
        }
        // Their number is known only once the meshes are cut.
        Bytes::of(Purpose::Mesh, clusters(crowd).iter().flatten().map(Clusters::allocated).sum())
    }

    #[cfg(target_arch = "x86_64")]
    fn allocated(&self) -> Bytes {
        Bytes::of(Purpose::Mesh, self.clusters.iter().flatten().map(Clusters::allocated).sum())
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        let (mesh, format) = (job.group.model.mesh(), job.group.format);
        let entries = job.lanes.len();
        if !is_sparse(job.block, entries) {
            return skin_lanes(job.isa, mesh, job.lanes, format, job.store, out);
        }
        let mut palette = [[0.0; 12]; ENTRIES];
        for (lane, out) in out.chunks_exact_mut(job.group.instance_words()).enumerate() {
            gather(job.lanes, lane, &mut palette);
            self.skin_one(job, &palette[..entries], out);
        }
    }
}

impl MixedSkinner {
    #[cfg(target_arch = "x86_64")]
    fn skin_one(&self, job: &BlockJob, palette: &[Rows], out: &mut [f32]) {
        let (mesh, format) = (job.group.model.mesh(), job.group.format);
        match self.clusters.get(job.block.group).and_then(Option::as_ref) {
            Some(clusters) => skin_clusters(mesh, clusters, palette, format, out),
            None => skin_columns(job.isa, mesh, palette, format, out),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn skin_one(&self, job: &BlockJob, palette: &[Rows], out: &mut [f32]) {
        skin_columns(job.isa, job.group.model.mesh(), palette, job.group.format, out);
    }
}

/// Copies the palette of one lane.
fn gather(lanes: &[Affine<BLOCK>], lane: usize, palette: &mut [Rows]) {
    for (to, from) in palette.iter_mut().zip(lanes) {
        *to = std::array::from_fn(|row| from[row][lane]);
    }
}
