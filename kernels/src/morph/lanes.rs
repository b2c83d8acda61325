//! Morphs a block of instances, one in each lane. Only the vertices that some target moves take memory.

use crate::crowd::BLOCK;
use crate::model::{Mesh, UNMOVED};
use crate::simd::{self, Isa, Kernel, Simd};
use crate::vertex::Attributes;

/// The vertices of a block that targets move, as [`morph_lanes`] writes them.
#[derive(Debug, Clone, Copy)]
pub struct MorphedLanes<'a> {
    slots: &'a [u32],
    rows: &'a [[f32; BLOCK]],
    width: usize,
}

impl<'a> MorphedLanes<'a> {
    /// The position, normal and tangent of a vertex, as far as it has them; `None` if no target moves it.
    #[inline(always)] // for kernels, to take on their instruction set
    pub(crate) fn vertex(&self, vertex: usize) -> Option<&'a [[f32; BLOCK]]> {
        match self.slots[vertex] {
            UNMOVED => None,
            slot => Some(&self.rows[slot as usize * self.width..][..self.width]),
        }
    }
}

/// Rows of a vertex in [`morph_lanes`]: 3 for its position, 6 with a normal, 9 with a tangent.
fn width(mesh: &Mesh, attributes: Attributes) -> usize {
    match attributes {
        Attributes::P => 3,
        Attributes::Pnt if mesh.tangents().is_some() => 9,
        Attributes::Pn | Attributes::Pnt => 6,
    }
}

/// Rows that [`morph_lanes`] writes.
pub fn lane_rows(mesh: &Mesh, attributes: Attributes) -> usize {
    mesh.targets().moved() * width(mesh, attributes)
}

/// Morphs the vertices of a block that targets move. `weights` holds one row per target, `rows` takes
/// [`lane_rows`] rows: for each moved vertex x y z of the position, of the normal, and of the tangent. The baseline
/// replaces an instruction set that the machine lacks.
///
/// # Panics
/// `weights` or `rows` is too short.
pub fn morph_lanes<'a>(
    isa: Isa,
    mesh: &'a Mesh,
    weights: &[[f32; BLOCK]],
    attributes: Attributes,
    rows: &'a mut [[f32; BLOCK]],
) -> MorphedLanes<'a> {
    let width = width(mesh, attributes);
    let rows = &mut rows[..lane_rows(mesh, attributes)];
    simd::run(
        isa,
        LanesKernel {
            mesh,
            weights,
            rows,
            width,
        },
    );
    MorphedLanes {
        slots: mesh.targets().slots(),
        rows,
        width,
    }
}

struct LanesKernel<'a> {
    mesh: &'a Mesh,
    weights: &'a [[f32; BLOCK]],
    rows: &'a mut [[f32; BLOCK]],
    width: usize,
}

impl Kernel for LanesKernel<'_> {
    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, V: Simd<W>>(self) {
        let Self {
            mesh,
            weights,
            rows,
            width,
        } = self;
        let targets = mesh.targets();
        for (vertex, &slot) in targets.slots().iter().enumerate() {
            if slot == UNMOVED {
                continue;
            }
            let rows = &mut rows[slot as usize * width..][..width];
            fill(&mut rows[..3], &mesh.positions()[vertex]);
            if width >= 6 {
                fill(&mut rows[3..6], &mesh.normals()[vertex]);
            }
            if width >= 9
                && let Some(tangents) = mesh.tangents()
            {
                fill(&mut rows[6..9], &tangents[vertex]);
            }
        }
        for (target, weights) in weights[..targets.len()].iter().enumerate() {
            if *weights == [0.0; BLOCK] {
                continue;
            }
            for span in targets.spans(target) {
                // The vertices of a span are all moved, so their places follow each other.
                let first = targets.slots()[span.first_vertex as usize] as usize * width;
                let rows = rows[first..first + span.count as usize * width].chunks_exact_mut(width);
                for (rows, delta) in rows.zip(span.deltas()) {
                    add::<W, V>(&mut rows[..3], weights, &targets.positions()[delta]);
                    if width >= 6 {
                        add::<W, V>(&mut rows[3..6], weights, &targets.normals()[delta]);
                    }
                    if width >= 9 {
                        add::<W, V>(&mut rows[6..9], weights, &targets.tangents()[delta]);
                    }
                }
            }
        }
    }
}

/// Writes the same vector to all lanes.
#[inline(always)]
fn fill(rows: &mut [[f32; BLOCK]], vector: &[f32]) {
    for (row, component) in rows.iter_mut().zip(vector) {
        *row = [*component; BLOCK];
    }
}

/// Adds a weighted delta to three rows.
#[inline(always)]
fn add<const W: usize, V: Simd<W>>(
    rows: &mut [[f32; BLOCK]],
    weights: &[f32; BLOCK],
    delta: &[f32; 3],
) {
    for (row, component) in rows.iter_mut().zip(delta) {
        for vector in 0..BLOCK / W {
            let weight = V::load_chunk(weights, vector);
            let to = &mut row.as_chunks_mut::<W>().0[vector];
            weight.mul_add(V::splat(*component), V::load(to)).store(to);
        }
    }
}
