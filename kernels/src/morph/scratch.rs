//! Memory that one thread needs to morph blocks of a crowd, and the step from a tick to morphed vertices.

use super::lanes::{MorphedLanes, lane_rows, morph_lanes};
use super::one::{ShapeBuffer, morph};
use super::weights::weights_of;
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

/// Most targets, active targets, vertices and tangents of an instance, and most rows of weights and of vertices of a
/// block.
fn lengths(crowd: &Crowd, widths: &[Width]) -> [usize; 6] {
    let most = |count: &dyn Fn(&Group) -> usize| {
        let morphed = crowd.groups().iter().filter(|group| group.has_targets());
        morphed.map(count).max().unwrap_or(0)
    };
    let targets = most(&|group| group.model.mesh().targets().len());
    let vertices = most(&|group| group.model.mesh().vertex_count());
    let tangents = most(&|group| group.model.mesh().tangents().map_or(0, <[_]>::len));
    let rows = most(&|group| lane_rows(group.model.mesh(), group.format.attributes));
    let [one, block] = [Width::One, Width::Block].map(|width| usize::from(widths.contains(&width)));
    [
        targets,
        one * targets,
        one * vertices,
        one * tangents,
        block * targets,
        block * rows,
    ]
}

impl MorphScratch {
    /// Allocates memory for instances one by one, for blocks of them, or for both.
    pub fn new(crowd: &Crowd, widths: &[Width]) -> Self {
        let [targets, active, vertices, tangents, weights, rows] = lengths(crowd, widths);
        Self {
            dense: vec![0.0; targets],
            active: Vec::with_capacity(active),
            shape: ShapeBuffer::new(vertices, tangents),
            weights: Aligned::zeroed(weights),
            rows: Aligned::zeroed(rows),
        }
    }

    /// Bytes that [`MorphScratch::new`] allocates.
    pub fn bytes(crowd: &Crowd, widths: &[Width]) -> u64 {
        let [targets, active, vertices, tangents, weights, rows] = lengths(crowd, widths);
        let shape = 2 * vertices * size_of::<[f32; 3]>() + tangents * size_of::<[f32; 4]>();
        let lists = targets * size_of::<f32>() + active * size_of::<TargetWeight>() + shape;
        lists as u64
            + Aligned::<[f32; BLOCK]>::bytes(weights)
            + Aligned::<[f32; BLOCK]>::bytes(rows)
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
        let all = (0..)
            .zip(&self.dense[..mesh.targets().len()])
            .map(|(target, &weight)| TargetWeight { target, weight });
        self.active.clear();
        self.active
            .extend(all.filter(|active| active.weight != 0.0));
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
        let (model, mesh) = (&group.model, group.model.mesh());
        let rows = &mut self.weights[..mesh.targets().len()];
        rows.fill([0.0; BLOCK]);
        for (lane, instance) in block.instances.clone().enumerate() {
            weights_of(crowd, model, instance, tick, &mut self.dense);
            rows.iter_mut()
                .zip(&self.dense)
                .for_each(|(row, weight)| row[lane] = *weight);
        }
        morph_lanes(isa, mesh, rows, group.format.attributes, &mut self.rows)
    }
}
