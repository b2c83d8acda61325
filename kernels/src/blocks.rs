//! A crowd cut into blocks of up to [`BLOCK`] neighbouring instances of one model, and the loop over them.

use crate::crowd::{BLOCK, Between, Crowd, Fade, Group, Layer, UpdateRate};
use crate::threads;
use std::ops::Range;

/// Up to [`BLOCK`] neighbouring instances, and the offsets of their share in each kind of buffer.
#[derive(Debug, Clone)]
pub struct Block {
    /// Index among the blocks.
    pub index: usize,
    /// Index of the crowd's group.
    pub group: usize,
    /// The instances: fewer than [`BLOCK`] at the end of a group, of its moving instances, or of a range with one update rate.
    pub instances: Range<u32>,
    /// Joints of an instance.
    pub joints: usize,
    /// Palette entries of an instance.
    pub entries: usize,
    /// `true` if these instances keep their pose.
    pub frozen: bool,
    /// The update rate that all of these instances share.
    pub rate: UpdateRate,
    /// Number of local poses that sampling may write: one per layer, the past poses of a layer that fades inertially,
    /// and the two cached poses of instances that are not posed at every tick.
    pub slots: usize,
    /// Largest number of layers of one of the instances.
    pub layers: usize,
    /// `true` if every instance plays one clip and nothing else, so that blending has nothing to do.
    pub plain: bool,
    /// Offset in buffers of `[block][slot][joint]`.
    pub first_slot: usize,
    /// Offset in buffers of `[block][joint]`.
    pub first_joint: usize,
    /// Offset in buffers of `[block][palette entry]`.
    pub first_entry: usize,
    /// Offset in buffers of `[instance][palette entry]`.
    pub first_row: usize,
    /// Offset in buffers of `[instance][vertex][word]`.
    pub first_word: usize,
}

impl Block {
    /// The slot of a layer's pose `back` ticks, 0 or 1, before an inertial fade began.
    pub fn past_slot(&self, layer: usize, back: u32) -> usize {
        self.layers + 2 * layer + back as usize
    }

    /// The slots of the cached poses before and after a tick.
    pub fn cached_slots(&self, between: Between) -> [usize; 2] {
        let first = self.slots - CACHED;
        [first + between.place, first + 1 - between.place]
    }
}

/// Slots of cached poses, for instances that are not posed at every tick.
const CACHED: usize = 2;

/// Number of poses that an instance may need at once in a block of `layers` layers: an inertial fade reads two past
/// ticks of every layer up to its own.
fn pose_slots(instance: &[Layer], layers: usize) -> usize {
    let inertial = instance.iter().position(|l| l.fade == Fade::Inertial);
    layers + inertial.map_or(0, |layer| 2 * (layer + 1))
}

/// All blocks of a crowd, in instance order.
#[derive(Debug, Clone)]
pub struct Blocks {
    blocks: Vec<Block>,
    parallel: bool,
}

impl Blocks {
    /// Cuts a crowd into blocks. Loops use rayon's current pool if `parallel`.
    pub fn new(crowd: &Crowd, parallel: bool) -> Self {
        let mut blocks = Vec::new();
        let mut first_slot = 0;
        let mut first_joint = 0;
        let mut first_entry = 0;
        let mut first_row = 0;
        let mut first_word = 0;
        for (index, group) in crowd.groups().iter().enumerate() {
            let entries = group.model.palette_joints().len();
            let joints = group.model.skeleton().len();
            let mut first = group.instances.start;
            while first < group.instances.end {
                let rate = crowd.update_rate(first);
                let frozen = group.is_frozen(first);
                let last = if frozen {
                    group.instances.end
                } else {
                    group.moving().end
                };
                let end = last.min(first.saturating_add(BLOCK as u32));
                let end = (first..end)
                    .find(|&instance| crowd.update_rate(instance) != rate)
                    .unwrap_or(end);
                let instances = first..end;
                first = end;
                let count = instances.len();
                let all_layers = crowd.layers().range(instances.clone());
                let layers = all_layers.clone().map(<[Layer]>::len).max().unwrap_or(0);
                let mut slots = 0;
                let mut plain = true;
                for instance in all_layers {
                    slots = slots.max(pose_slots(instance, layers));
                    plain &= instance.len() == 1 && instance[0].is_plain();
                }
                if rate != UpdateRate::PLAIN {
                    slots += CACHED;
                }
                blocks.push(Block {
                    index: blocks.len(),
                    group: index,
                    instances,
                    joints,
                    entries,
                    frozen,
                    rate,
                    slots,
                    layers,
                    plain,
                    first_slot,
                    first_joint,
                    first_entry,
                    first_row,
                    first_word,
                });
                first_slot += slots * joints;
                first_joint += joints;
                first_entry += entries;
                first_row += count * entries;
                first_word += count * group.instance_words();
            }
        }
        Self { blocks, parallel }
    }

    /// The blocks.
    pub fn all(&self) -> &[Block] {
        &self.blocks
    }

    /// The block of an instance of the crowd.
    pub fn of(&self, instance: u32) -> &Block {
        &self.blocks[self.blocks.partition_point(|b| b.instances.end <= instance)]
    }

    /// Calls `work(block, group, its share of out)` for every block; `first` returns the offset of a block's share.
    pub fn each<T: Send>(
        &self,
        crowd: &Crowd,
        out: &mut [T],
        first: impl Fn(&Block) -> usize + Sync,
        work: impl Fn(&Block, &Group, &mut [T]) + Sync,
    ) {
        self.in_parts(&self.blocks, 1, out, &first, &|part, share| {
            work(&part[0], &crowd.groups()[part[0].group], share);
        });
    }

    /// Cuts some blocks into parts of `length` blocks, of which the last may be shorter, and calls `work(part, its share of
    /// out)` for each. `first` returns the offset of a block's share.
    ///
    /// The list is halved until one part is left, so nothing is allocated and idle threads steal large halves first.
    pub fn in_parts<T: Send>(
        &self,
        blocks: &[Block],
        length: usize,
        out: &mut [T],
        first: &(impl Fn(&Block) -> usize + Sync),
        work: &(impl Fn(&[Block], &mut [T]) + Sync),
    ) {
        if blocks.len() <= length {
            if !blocks.is_empty() {
                work(blocks, out);
            }
            return;
        }
        let (before, after) = blocks.split_at(blocks.len().div_ceil(length) / 2 * length);
        let (left, right) = out.split_at_mut(first(&after[0]) - first(&before[0]));
        if self.parallel {
            threads::join(
                || self.in_parts(before, length, left, first, work),
                || self.in_parts(after, length, right, first, work),
            );
        } else {
            self.in_parts(before, length, left, first, work);
            self.in_parts(after, length, right, first, work);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture_tests;
    use crate::model::IDENTITY_ROWS;
    use std::sync::Arc;

    #[test]
    fn every_part_and_every_block_is_visited_once_with_its_own_share() {
        let mut crowd = Crowd::new();
        for count in [40, 20] {
            let instances = (0..count).map(|_| (IDENTITY_ROWS, Layer::held(0, 0.0)));
            crowd
                .push_group(Arc::new(fixture_tests::chain()), instances)
                .unwrap();
        }
        for parallel in [false, true] {
            let blocks = Blocks::new(&crowd, parallel);
            let counts: Vec<_> = blocks.all().iter().map(|b| b.instances.len()).collect();
            assert_eq!(counts, [16, 16, 8, 16, 4]);
            let first = |b: &Block| b.instances.start as usize;
            for length in 1..7 {
                // One item per instance: the number of the part that wrote it, counted from 1.
                let mut out = [0; 60];
                blocks.in_parts(
                    blocks.all(),
                    length,
                    &mut out,
                    &first,
                    &|blocks: &[Block], share: &mut [usize]| {
                        let first = blocks[0].index;
                        assert!(first.is_multiple_of(length) && blocks.len() <= length);
                        for item in share {
                            *item += 1 + first / length;
                        }
                    },
                );
                let written = |b: &Block| vec![1 + b.index / length; b.instances.len()];
                assert_eq!(
                    out[..],
                    blocks.all().iter().flat_map(written).collect::<Vec<_>>(),
                    "{length}"
                );
            }
            let mut out = [(0, 0); 60];
            blocks.each(&crowd, &mut out, first, |block, group, share| {
                assert_eq!(share.len(), block.instances.len());
                share
                    .iter_mut()
                    .for_each(|item| *item = (item.0 + block.index + 1, group.instances.start));
            });
            let written = |b: &Block| vec![(b.index + 1, 40 * b.group as u32); b.instances.len()];
            assert_eq!(
                out[..],
                blocks.all().iter().flat_map(written).collect::<Vec<_>>()
            );
        }
    }
}
