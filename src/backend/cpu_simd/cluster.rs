//! `cpu-simd:cluster`: a single character, 16 vertices side by side, joints looked up within registers.

use super::super::cpu::{BlockJob, PaletteLayout, Skinner};
use crate::crowd::Crowd;
use crate::frame::{BackendError, Bytes, Purpose, Result};
use crate::model::{Rows, Shape};
use crate::simd::Isa;
use crate::skin::{Clusters, skin_clusters};

/// The clusters of each group's mesh.
pub struct ClusterSkinner(Vec<Clusters>);

impl Skinner for ClusterSkinner {
    const LAYOUT: PaletteLayout = PaletteLayout::Rows;

    fn new(crowd: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self(crowd.groups().iter().map(|g| Clusters::new(g.model.mesh())).collect()))
    }

    fn bytes(crowd: &Crowd, _: Isa) -> Bytes {
        // Their number is known only once the mesh is cut.
        let clusters = crowd.groups().iter().map(|g| Clusters::new(g.model.mesh()).allocated());
        Bytes::of(Purpose::Mesh, clusters.sum())
    }

    fn allocated(&self) -> Bytes {
        Bytes::of(Purpose::Mesh, self.0.iter().map(Clusters::allocated).sum())
    }

    fn check(_: &Crowd, isa: Isa) -> Result<()> {
        match isa {
            Isa::Avx512 => Ok(()),
            _ => Err(BackendError::Unavailable(format!("needs avx512; this run uses {isa}"))),
        }
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        let clusters = &self.0[job.block.group];
        job.each_instance(out, |shape, palette, out| skin_lone(job, clusters, shape, palette, out));
    }
}

/// Skins one instance of a block.
pub(super) fn skin_lone(job: &BlockJob, clusters: &Clusters, shape: Shape, palette: &[Rows], out: &mut [f32]) {
    let mesh = job.group.model.mesh();
    // Without an active target, the numbers of the clusters are the vertices.
    let shape = (!std::ptr::eq(shape.positions, mesh.positions())).then_some(shape);
    skin_clusters(mesh, clusters, shape, palette, job.group.format, out);
}
