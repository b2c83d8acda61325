//! `cpu-scalar`: one thread, one instance and one vertex at a time.

use super::cpu::{BlockJob, PaletteLayout, Skinner};
use crate::crowd::Crowd;
use crate::frame::Result;
use crate::pose::Width;
use crate::simd::Isa;
use crate::skin::skin_shape;

/// Poses and skins without vectors.
pub struct ScalarSkinner;

impl Skinner for ScalarSkinner {
    const LAYOUT: PaletteLayout = PaletteLayout::Rows;
    const WIDTH: Width = Width::One;
    const ISA: Option<Isa> = Some(Isa::Scalar);

    fn new(_: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self)
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        let (mesh, format) = (job.group.model.mesh(), job.group.format);
        job.each_instance(out, |shape, palette, out| skin_shape(mesh, shape, palette, format, out));
    }
}
