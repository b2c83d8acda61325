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
        let (entries, words) = (job.group.model.palette_joints().len(), job.group.instance_words());
        for (palette, out) in job.rows.chunks_exact(entries).zip(out.chunks_exact_mut(words)) {
            skin_columns(job.isa, job.group.model.mesh(), palette, job.group.format, out);
        }
    }
}
