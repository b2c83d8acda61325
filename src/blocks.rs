//! A crowd cut into blocks of up to `N` neighbouring instances of one model, and the loop over them.

use crate::crowd::{Between, Crowd, Fade, Group, Layer, UpdateRate};
use std::ops::Range;

/// Up to `N` neighbouring instances, and where their share of each kind of buffer begins.
#[derive(Debug, Clone)]
pub struct Block {
    /// Index among the blocks.
    pub index: usize,
    /// Index of the crowd's group.
    pub group: usize,
    /// The instances, fewer than `N` at the end of a group or of an update rate.
    pub instances: Range<u32>,
    /// How often all of them are posed.
    pub rate: UpdateRate,
    /// Local poses that sampling may write: one for each layer, the past of a layer that fades inertially, and the two
    /// that are kept where not every tick is posed.
    pub slots: usize,
    /// Most layers of one of the instances.
    pub layers: usize,
    /// Whether every instance plays one clip and nothing else, so that blending has nothing to do.
    pub plain: bool,
    /// In buffers of `[block][slot][joint]`.
    pub first_slot: usize,
    /// In buffers of `[block][joint]`.
    pub first_joint: usize,
    /// In buffers of `[block][palette entry]`.
    pub first_entry: usize,
    /// In buffers of `[instance][palette entry]`.
    pub first_row: usize,
    /// In buffers of `[instance][vertex][word]`.
    pub first_word: usize,
}

impl Block {
    /// The slot of a layer's pose `back` ticks, 0 or 1, before an inertial fade began.
    pub fn past_slot(&self, layer: usize, back: u32) -> usize {
        self.layers + 2 * layer + back as usize
    }

    /// The slots of the poses before and after a tick.
    pub fn kept_slots(&self, between: Between) -> [usize; 2] {
        let first = self.slots - KEPT;
        [first + between.place, first + 1 - between.place]
    }
}

/// Slots of poses that are kept where not every tick is posed.
const KEPT: usize = 2;

/// Poses that an instance may need at once in a block of so many layers: an inertial fade looks at two ticks of every
/// layer up to its own.
fn slots(instance: &[Layer], layers: usize) -> usize {
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
    /// Cuts a crowd into blocks of `lanes` instances. Loops use rayon's current pool if `parallel`.
    pub fn new(crowd: &Crowd, lanes: usize, parallel: bool) -> Self {
        let mut blocks = Vec::new();
        let (mut first_slot, mut first_joint, mut first_entry, mut first_row, mut first_word) = (0, 0, 0, 0, 0);
        for (group, g) in crowd.groups().iter().enumerate() {
            let (joints, entries) = (g.model.skeleton().len(), g.model.palette_joints().len());
            let mut first = g.instances.start;
            while first < g.instances.end {
                let rate = crowd.update_rate(first);
                let end = g.instances.end.min(first.saturating_add(lanes as u32));
                let end = (first..end).find(|&instance| crowd.update_rate(instance) != rate).unwrap_or(end);
                let instances = first..end;
                first = end;
                let count = instances.len();
                let of = || instances.clone().map(|instance| crowd.layers().of(instance as usize));
                let layers = of().map(<[Layer]>::len).max().unwrap_or(0);
                let kept = if rate == UpdateRate::PLAIN { 0 } else { KEPT };
                let slots = of().map(|l| slots(l, layers)).max().unwrap_or(0) + kept;
                let plain = of().all(|l| l.len() == 1 && l[0].is_plain());
                blocks.push(Block {
                    index: blocks.len(),
                    group,
                    instances,
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
                first_word += count * g.instance_words();
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

    /// Calls `work(block, group, its share of out)` for every block; `first` says where a block's share begins.
    ///
    /// Halves the list until one block is left, so nothing is allocated and idle threads steal large halves first.
    pub fn each<T: Send>(
        &self,
        crowd: &Crowd,
        out: &mut [T],
        first: impl Fn(&Block) -> usize + Sync,
        work: impl Fn(&Block, &Group, &mut [T]) + Sync,
    ) {
        self.each_of(0..self.blocks.len(), self.parallel, crowd, out, first, work);
    }

    /// As [`Blocks::each`], for some neighbouring blocks and what is theirs of `out`, in turn unless `parallel`.
    pub fn each_of<T: Send>(
        &self,
        part: Range<usize>,
        parallel: bool,
        crowd: &Crowd,
        out: &mut [T],
        first: impl Fn(&Block) -> usize + Sync,
        work: impl Fn(&Block, &Group, &mut [T]) + Sync,
    ) {
        let work = |block: &Block, share: &mut [T]| work(block, &crowd.groups()[block.group], share);
        halve(&self.blocks[part], out, &first, &work, parallel);
    }
}

fn halve<T: Send>(
    blocks: &[Block],
    out: &mut [T],
    first: &(impl Fn(&Block) -> usize + Sync),
    work: &(impl Fn(&Block, &mut [T]) + Sync),
    parallel: bool,
) {
    match blocks {
        [] => {}
        [block] => work(block, out),
        _ => {
            let (left, right) = blocks.split_at(blocks.len() / 2);
            let (left_out, right_out) = out.split_at_mut(first(&right[0]) - first(&left[0]));
            if parallel {
                rayon::join(|| halve(left, left_out, first, work, true), || halve(right, right_out, first, work, true));
            } else {
                halve(left, left_out, first, work, false);
                halve(right, right_out, first, work, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::extremes;
    use crate::model::IDENTITY_ROWS;
    use std::sync::Arc;

    #[test]
    fn parts_visit_their_own_blocks_and_shares() {
        let mut crowd = Crowd::new();
        for (model, count) in [(extremes::chain_64().unwrap(), 40), (extremes::star_64().unwrap(), 20)] {
            crowd.push_group(Arc::new(model), (0..count).map(|_| (IDENTITY_ROWS, Layer::held(0, 0.0)))).unwrap();
        }
        for parallel in [false, true] {
            let blocks = Blocks::new(&crowd, 16, false);
            let counts: Vec<_> = blocks.all().iter().map(|b| b.instances.len()).collect();
            assert_eq!(counts, [16, 16, 8, 16, 4]);
            for part in [0..0, 0..1, 0..5, 1..2, 1..4, 2..5, 4..5, 5..5] {
                // An instance has one item: which block wrote it, counted from 1, and its group.
                let mut out = [(0, 0); 60];
                let first = |b: &Block| b.instances.start as usize;
                let end = |index: usize| blocks.all().get(index).map_or(60, first);
                let own = &mut out[end(part.start)..end(part.end)];
                blocks.each_of(part.clone(), parallel, &crowd, own, first, |block, group, share| {
                    assert_eq!(share.len(), block.instances.len());
                    share.iter_mut().for_each(|item| *item = (item.0 + block.index + 1, group.instances.start));
                });
                let written =
                    |b: &Block| if part.contains(&b.index) { (b.index + 1, 40 * b.group as u32) } else { (0, 0) };
                let expected: Vec<_> = blocks.all().iter().flat_map(|b| vec![written(b); b.instances.len()]).collect();
                assert_eq!(out[..], expected, "{part:?}");
            }
        }
    }
}
