//! Memory that one thread needs to morph blocks of a crowd, and the step from a tick to morphed vertices.

use super::lanes::{MorphedLanes, lane_rows, morph_lanes};
use super::one::{ShapeBuffer, morph};
use super::weights::{active, weights_of};
use crate::blocks::Block;
use crate::crowd::{BLOCK, Crowd, Group};
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

/// Largest number of targets, and of rows of a block, among the groups of a crowd.
fn largest(crowd: &Crowd) -> (usize, usize) {
    let rows = |group: &Group| lane_rows(group.model.mesh(), group.format.attributes);
    let most = |count: &dyn Fn(&Group) -> usize| crowd.groups().iter().map(count).max().unwrap_or(0);
    (most(&|group| group.model.mesh().targets().len()), most(&rows))
}

impl MorphScratch {
    /// Allocates memory for instances one by one, for blocks of them, or for both.
    pub fn new(crowd: &Crowd, widths: &[Width]) -> Self {
        let (targets, rows) = largest(crowd);
        let (one, lanes) = (widths.contains(&Width::One), usize::from(widths.contains(&Width::Block)));
        let morphed = crowd.groups().iter().map(|group| group.model.mesh()).filter(|mesh| !mesh.targets().is_empty());
        Self {
            dense: vec![0.0; targets],
            active: Vec::with_capacity(targets * usize::from(one)),
            shape: if one { ShapeBuffer::new(morphed) } else { ShapeBuffer::default() },
            weights: Aligned::zeroed(lanes * targets),
            rows: Aligned::zeroed(lanes * rows),
        }
    }

    /// Bytes that [`MorphScratch::new`] allocates.
    pub fn bytes(crowd: &Crowd, widths: &[Width]) -> u64 {
        let (targets, rows) = largest(crowd);
        let dense = targets * size_of::<f32>();
        let lanes = || Aligned::<[f32; BLOCK]>::bytes(targets) + Aligned::<[f32; BLOCK]>::bytes(rows);
        let one = || {
            let meshes = crowd.groups().iter().map(|group| group.model.mesh());
            let most = |count: &dyn Fn(&crate::model::Mesh) -> usize| {
                meshes.clone().filter(|mesh| !mesh.targets().is_empty()).map(count).max().unwrap_or(0)
            };
            let vectors = 2 * size_of::<[f32; 3]>() * most(&|mesh| mesh.vertex_count());
            let tangents = size_of::<[f32; 4]>() * most(&|mesh| mesh.tangents().map_or(0, <[_]>::len));
            (vectors + tangents + targets * size_of::<TargetWeight>()) as u64
        };
        let of = |width: &Width| if *width == Width::One { one() } else { lanes() };
        dense as u64 + widths.iter().map(of).sum::<u64>()
    }

    /// Morphs an instance at a tick. Needs memory for instances one by one.
    pub fn instance<'a>(&'a mut self, isa: Isa, crowd: &'a Crowd, instance: u32, tick: u32) -> Shape<'a> {
        let group = &crowd.groups()[crowd.group_of(instance)];
        self.active.clear();
        active(crowd, instance, tick, &mut self.dense, &mut self.active);
        morph(isa, group.model.mesh(), &self.active, group.format.attributes, &mut self.shape)
    }

    /// Morphs the instances of a block at a tick. Needs memory for blocks.
    pub fn block<'a>(&'a mut self, isa: Isa, crowd: &'a Crowd, block: &Block, tick: u32) -> MorphedLanes<'a> {
        let group = &crowd.groups()[block.group];
        let (model, mesh) = (&group.model, group.model.mesh());
        let rows = &mut self.weights[..mesh.targets().len()];
        rows.fill([0.0; BLOCK]);
        for (lane, instance) in block.instances.clone().enumerate() {
            weights_of(crowd, model, instance, tick, &mut self.dense);
            rows.iter_mut().zip(&self.dense).for_each(|(row, weight)| row[lane] = *weight);
        }
        morph_lanes(isa, mesh, rows, group.format.attributes, &mut self.rows)
    }
}
