//! `cpu-simd:cluster`: a single character, vertices that share joints side by side.

use super::super::cpu::{BlockJob, PaletteLayout, Skinner};
use crate::crowd::Crowd;
use crate::frame::{Bytes, Purpose, Result};
use crate::model::{Rows, Shape};
use crate::simd::Isa;
use crate::skin::{Clusters, skin_clusters, skin_columns};

/// The clusters of each group's mesh.
pub struct ClusterSkinner(Vec<Clusters>);

impl Skinner for ClusterSkinner {
    const LAYOUT: PaletteLayout = PaletteLayout::Rows;

    fn new(crowd: &Crowd, isa: Isa) -> Result<Self> {
        Ok(Self(crowd.groups().iter().map(|g| Clusters::new(isa, g.model.mesh())).collect()))
    }

    fn bytes(crowd: &Crowd, isa: Isa) -> Bytes {
        // Their number is known only once the vertices are sorted.
        let clusters = crowd.groups().iter().map(|g| Clusters::new(isa, g.model.mesh()).bytes());
        Bytes::of(Purpose::Mesh, clusters.sum())
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        let clusters = &self.0[job.block.group];
        job.each_instance(out, |shape, palette, out| skin_lone(job, clusters, shape, palette, out));
    }
}

/// Skins one instance of a block: in clusters without an active target, otherwise in columns, which read the morphed
/// vertices in their order. To put those side by side would cost more than clusters save.
pub(super) fn skin_lone(job: &BlockJob, clusters: &Clusters, shape: Shape, palette: &[Rows], out: &mut [f32]) {
    let (mesh, format) = (job.group.model.mesh(), job.group.format);
    if std::ptr::eq(shape.positions, mesh.positions()) {
        skin_clusters(clusters, palette, format, out);
    } else {
        skin_columns(job.isa, mesh, shape, palette, format, out);
    }
}
