//! 16 instances side by side where there are that many, one at a time where a block has few.

use super::super::cpu::{BlockJob, PaletteLayout, Skinner};
use super::cluster::skin_lone;
use crate::blocks::Blocks;
use crate::crowd::{BLOCK, Crowd};
use crate::frame::{Bytes, Purpose, Result};
use crate::pose::is_sparse;
use crate::simd::Isa;
use crate::skin::{Clusters, skin_lanes};

/// Skins full blocks with lanes, and the instances of sparse ones one by one in clusters.
pub struct MixedSkinner {
    /// The clusters of each group's mesh that has a sparse block.
    clusters: Vec<Option<Clusters>>,
}

impl Skinner for MixedSkinner {
    const LAYOUT: PaletteLayout = PaletteLayout::Mixed;

    fn new(crowd: &Crowd, isa: Isa) -> Result<Self> {
        let groups = crowd.groups();
        let mut sparse = vec![false; groups.len()];
        Blocks::new(crowd, BLOCK, false).all().iter().for_each(|b| sparse[b.group] |= is_sparse(crowd, b));
        let clusters = groups.iter().zip(sparse).map(|(group, s)| s.then(|| Clusters::new(isa, group.model.mesh())));
        Ok(Self { clusters: clusters.collect() })
    }

    fn bytes(crowd: &Crowd, isa: Isa) -> Bytes {
        // The number of clusters is known only once the meshes are cut.
        let clusters = Self::new(crowd, isa).map_or(Vec::new(), |skinner| skinner.clusters);
        Bytes::of(Purpose::Mesh, clusters.iter().flatten().map(Clusters::bytes).sum())
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        let (mesh, format) = (job.group.model.mesh(), job.group.format);
        match &self.clusters[job.block.group] {
            Some(clusters) if !job.rows.is_empty() => {
                job.each_instance(out, |shape, palette, out| skin_lone(job, clusters, shape, palette, out));
            }
            _ => job.in_lanes(|morphed| skin_lanes(job.isa, mesh, morphed, job.lanes, format, job.store, out)),
        }
    }
}
