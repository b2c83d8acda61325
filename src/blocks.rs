//! A crowd cut into blocks of up to `N` neighbouring instances of one model, and the loop over them.

use crate::crowd::{Crowd, Fade, Group, Layer};
use std::ops::Range;

/// Up to `N` neighbouring instances, and where their share of each kind of buffer begins.
#[derive(Debug, Clone)]
pub struct Block {
    /// Index of the crowd's group.
    pub group: usize,
    /// The instances, fewer than `N` at a group's end.
    pub instances: Range<u32>,
    /// Local poses that sampling may write: one for each layer, and the past of a layer that fades inertially.
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
}

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
            for first in g.instances.clone().step_by(lanes) {
                let instances = first..g.instances.end.min(first + lanes as u32);
                let count = instances.len();
                let of = || instances.clone().map(|instance| crowd.layers().of(instance as usize));
                let layers = of().map(<[Layer]>::len).max().unwrap_or(0);
                let slots = of().map(|l| slots(l, layers)).max().unwrap_or(0);
                let plain = of().all(|l| l.len() == 1 && l[0].is_plain());
                blocks.push(Block {
                    group,
                    instances,
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
        let work = |block: &Block, share: &mut [T]| work(block, &crowd.groups()[block.group], share);
        halve(&self.blocks, out, &first, &work, self.parallel);
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
