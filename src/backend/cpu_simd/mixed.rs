//! Plain `cpu-simd` and `cpu-rayon`: 16 instances side by side where there are that many, one at a time where a block has
//! few.

use super::super::cpu::{BlockJob, PaletteLayout, Skinner};
use crate::crowd::Crowd;
use crate::frame::{Bytes, Purpose, Result};
use crate::simd::Isa;
use crate::skin::{skin_columns_shape, skin_lanes};
use lone::Meshes;

/// Skins full blocks with lanes, and sparse ones as lone characters: in clusters with AVX-512 while few meshes take turns,
/// otherwise in columns, which read less of each mesh.
pub struct MixedSkinner {
    meshes: Meshes,
}

impl Skinner for MixedSkinner {
    const LAYOUT: PaletteLayout = PaletteLayout::Mixed;

    fn new(crowd: &Crowd, isa: Isa) -> Result<Self> {
        Ok(Self { meshes: Meshes::new(crowd, isa) })
    }

    fn bytes(crowd: &Crowd, isa: Isa) -> Bytes {
        // The number of clusters is known only once the meshes are cut.
        Bytes::of(Purpose::Mesh, Meshes::new(crowd, isa).allocated())
    }

    fn allocated(&self) -> Bytes {
        Bytes::of(Purpose::Mesh, self.meshes.allocated())
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        let (mesh, format) = (job.group.model.mesh(), job.group.format);
        if job.rows.is_empty() {
            job.in_lanes(|morphed| skin_lanes(job.isa, mesh, morphed, job.lanes, format, job.store, out));
            return;
        }
        job.each_instance(out, |shape, palette, out| {
            if !self.meshes.skin(job, shape, palette, out) {
                skin_columns_shape(job.isa, mesh, shape, palette, format, out);
            }
        });
    }
}

#[cfg(target_arch = "x86_64")]
mod lone {
    use super::super::cluster::skin_lone;
    use super::BlockJob;
    use crate::blocks::Blocks;
    use crate::crowd::{BLOCK, Crowd};
    use crate::model::{Rows, Shape};
    use crate::pose::is_sparse;
    use crate::simd::Isa;
    use crate::skin::Clusters;

    /// Most vertices of all meshes of sparse blocks for which clusters are faster than columns: about as many as stay in
    /// the cache from one frame to the next.
    const CACHED_VERTICES: usize = 40_000;

    /// The clusters of each group's mesh that has a sparse block; empty if columns are faster.
    pub struct Meshes(Vec<Option<Clusters>>);

    impl Meshes {
        pub fn new(crowd: &Crowd, isa: Isa) -> Self {
            let groups = crowd.groups();
            let mut sparse = vec![false; groups.len()];
            Blocks::new(crowd, BLOCK, false).all().iter().for_each(|b| sparse[b.group] |= is_sparse(crowd, b));
            let sparse = || groups.iter().zip(&sparse);
            let vertices: usize = sparse().filter(|(_, s)| **s).map(|(g, _)| g.model.mesh().vertex_count()).sum();
            if isa != Isa::Avx512 || vertices > CACHED_VERTICES {
                return Self(Vec::new());
            }
            Self(sparse().map(|(group, sparse)| sparse.then(|| Clusters::new(group.model.mesh()))).collect())
        }

        pub fn allocated(&self) -> u64 {
            self.0.iter().flatten().map(Clusters::allocated).sum()
        }

        /// Skins an instance if its mesh has clusters; returns whether it has.
        pub fn skin(&self, job: &BlockJob, shape: Shape, palette: &[Rows], out: &mut [f32]) -> bool {
            let Some(clusters) = self.0.get(job.block.group).and_then(Option::as_ref) else { return false };
            skin_lone(job, clusters, shape, palette, out);
            true
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod lone {
    use super::BlockJob;
    use crate::crowd::Crowd;
    use crate::model::{Rows, Shape};
    use crate::simd::Isa;

    /// Clusters need AVX-512.
    pub struct Meshes;

    impl Meshes {
        pub fn new(_: &Crowd, _: Isa) -> Self {
            Self
        }

        pub fn allocated(&self) -> u64 {
            0
        }

        pub fn skin(&self, _: &BlockJob, _: Shape, _: &[Rows], _: &mut [f32]) -> bool {
            false
        }
    }
}
