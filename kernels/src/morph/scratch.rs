//! Memory that one thread needs to morph blocks of a crowd, and the step from a tick to morphed vertices.

use super::lanes::{MorphedLanes, lane_rows, morph_lanes};
use super::one::{ShapeBuffer, morph};
use super::weights::weights_of;
use crate::blocks::Block;
use crate::crowd::{BLOCK, Crowd};
use crate::model::{Shape, TargetWeight};
use crate::pose::Width;
use crate::simd::{Aligned, Isa};

/// Memory for the weights and vertices of one instance or of one block of a crowd.
pub struct MorphScratch {
    dense: Vec<f32>,
    active: Vec<TargetWeight>,
    shape: ShapeBuffer,
    weights: Aligned<[f32; BLOCK]>,
    rows: Aligned<[f32; BLOCK]>,
}

/// Lengths of the buffers of a [`MorphScratch`].
#[derive(Default)]
struct Lengths {
    targets: usize,
    // Of an instance by itself.
    vertices: usize,
    tangents: usize,
    // Of a block.
    rows: usize,
}

impl Lengths {
    /// The most that any group with targets needs.
    fn of(crowd: &Crowd, widths: &[Width]) -> Self {
        let mut lengths = Self::default();
        for group in crowd.groups().iter().filter(|group| group.has_targets()) {
            let mesh = group.model.mesh();
            lengths.targets = lengths.targets.max(mesh.targets().len());
            if widths.contains(&Width::One) {
                let tangents = mesh.tangents().map_or(0, <[_]>::len);
                lengths.vertices = lengths.vertices.max(mesh.vertex_count());
                lengths.tangents = lengths.tangents.max(tangents);
            }
            if widths.contains(&Width::Block) {
                let rows = lane_rows(mesh, group.format.attributes);
                lengths.rows = lengths.rows.max(rows);
            }
        }
        lengths
    }
}

impl MorphScratch {
    /// Allocates memory for instances one by one, for blocks of them, or for both.
    pub fn new(crowd: &Crowd, widths: &[Width]) -> Self {
        let lengths = Lengths::of(crowd, widths);
        Self {
            dense: vec![0.0; lengths.targets],
            active: Vec::with_capacity(lengths.targets),
            shape: ShapeBuffer::new(lengths.vertices, lengths.tangents),
            weights: Aligned::zeroed(lengths.targets),
            rows: Aligned::zeroed(lengths.rows),
        }
    }

    /// Bytes that [`MorphScratch::new`] allocates.
    pub fn bytes(crowd: &Crowd, widths: &[Width]) -> u64 {
        let lengths = Lengths::of(crowd, widths);
        let lists = lengths.targets * (size_of::<f32>() + size_of::<TargetWeight>())
            + 2 * lengths.vertices * size_of::<[f32; 3]>()
            + lengths.tangents * size_of::<[f32; 4]>();
        lists as u64
            + Aligned::<[f32; BLOCK]>::bytes(lengths.targets)
            + Aligned::<[f32; BLOCK]>::bytes(lengths.rows)
    }

    /// Morphs an instance at a tick. Needs memory for instances one by one.
    pub fn instance<'a>(
        &'a mut self,
        isa: Isa,
        crowd: &'a Crowd,
        instance: u32,
        tick: u32,
    ) -> Shape<'a> {
        let group = &crowd.groups()[crowd.group_of(instance)];
        let mesh = group.model.mesh();
        weights_of(crowd, &group.model, instance, tick, &mut self.dense);
        self.active.clear();
        for (target, &weight) in (0..).zip(&self.dense[..mesh.targets().len()]) {
            if weight != 0.0 {
                self.active.push(TargetWeight { target, weight });
            }
        }
        morph(
            isa,
            mesh,
            &self.active,
            group.format.attributes,
            &mut self.shape,
        )
    }

    /// Morphs the instances of a block at a tick. Needs memory for blocks.
    pub fn block<'a>(
        &'a mut self,
        isa: Isa,
        crowd: &'a Crowd,
        block: &Block,
        tick: u32,
    ) -> MorphedLanes<'a> {
        let group = &crowd.groups()[block.group];
        let model = &group.model;
        let mesh = model.mesh();
        let rows = &mut self.weights[..mesh.targets().len()];
        rows.fill([0.0; BLOCK]);
        for (lane, instance) in block.instances.clone().enumerate() {
            weights_of(crowd, model, instance, tick, &mut self.dense);
            for (row, weight) in rows.iter_mut().zip(&self.dense) {
                row[lane] = *weight;
            }
        }
        morph_lanes(isa, mesh, rows, group.format.attributes, &mut self.rows)
    }
}
