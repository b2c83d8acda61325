//! `cpu-simd:columns`: one vertex at a time with its matrix columns in 128-bit registers, as engines commonly do it.

use super::super::cpu::{BlockJob, PaletteLayout, Skinner};
use crate::crowd::Crowd;
use crate::frame::Result;
use crate::simd::Isa;
use crate::skin::skin_columns;

/// Skins vertex by vertex, with one matrix column per register.
pub struct ColumnsSkinner;

impl Skinner for ColumnsSkinner {
    const LAYOUT: PaletteLayout = PaletteLayout::Rows;

    fn new(_: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self)
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        let (mesh, format) = (job.group.model.mesh(), job.group.format);
        job.each_instance(out, |shape, palette, out| skin_columns(job.isa, mesh, shape, palette, format, out));
    }
}
