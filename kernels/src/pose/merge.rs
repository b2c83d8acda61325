//! Stage `blend` of blocks that only merge whole layers on all joints, which is the common case of several clips.

use super::lanes::load_instances;
use super::registers::{normalised, shorter};
use super::shares::{Mask, Recipe};
use super::{Local, TRANSLATION, run_lanes};
use crate::crowd::{LayerKind, MAX_LAYERS};
use crate::simd::{Isa, Kernel, Simd, load_rows, store_rows};
use arrayvec::ArrayVec;

/// Slots with their weight in each instance; the weights of an instance add up to 1.
pub(super) struct Merge<const N: usize>(ArrayVec<(usize, [f32; N]), MAX_LAYERS>);

impl<const N: usize> Merge<N> {
    /// A recipe's merge; `None` if it has other kinds of layers, masks or fades, or an instance in which all weights are 0.
    pub fn of(recipe: &Recipe<N>) -> Option<Self> {
        let merges = recipe
            .shares
            .iter()
            .all(|s| s.kind == LayerKind::Merge && matches!(s.mask, Mask::All));
        let mut totals = [0.0f32; N];
        for share in &recipe.shares {
            for (total, weight) in totals.iter_mut().zip(share.weights) {
                *total += weight;
            }
        }
        let merges = merges && recipe.momenta.is_empty() && totals.iter().all(|&t| t > 0.0);
        merges.then(|| {
            let mut merge = ArrayVec::new();
            for share in &recipe.shares {
                let weights = std::array::from_fn(|lane| share.weights[lane] / totals[lane]);
                merge.push((share.slot, weights));
            }
            Self(merge)
        })
    }
}

/// Merges a block's poses, `[slot][item]` with this many joints or strips as items, into its first slot.
pub(super) fn merge<const N: usize, const L: usize>(
    isa: Isa,
    merge: &Merge<N>,
    items: usize,
    slots: &mut [Local<L>],
) {
    if !matches!(merge.0[..], [(0, _)]) {
        run_lanes::<L, _>(
            isa,
            MergeSlots {
                merge,
                items,
                slots,
            },
        );
    }
}

struct MergeSlots<'a, const N: usize, const L: usize> {
    merge: &'a Merge<N>,
    items: usize,
    slots: &'a mut [Local<L>],
}

impl<const N: usize, const L: usize> Kernel for MergeSlots<'_, N, L> {
    #[inline(always)] // to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        let Self {
            merge: Merge(merged),
            items,
            slots,
        } = self;
        let Some(((first, first_weights), others)) = merged.split_first() else {
            return;
        };
        for item in 0..items {
            for chunk in 0..L / W {
                let weight = load_instances::<N, W, S>(first_weights, chunk);
                let mut sum = load_rows::<L, W, S, 10>(&slots[first * items + item], chunk);
                for v in &mut sum {
                    *v = S::mul(*v, weight);
                }
                for (slot, weights) in others {
                    let weight = load_instances::<N, W, S>(weights, chunk);
                    let pose = load_rows::<L, W, S, 10>(&slots[slot * items + item], chunk);
                    let signed = shorter::<W, S>(&sum, &pose, weight);
                    for (row, (sum, v)) in sum.iter_mut().zip(pose).enumerate() {
                        *sum = S::mul_add(if row < TRANSLATION { signed } else { weight }, v, *sum);
                    }
                }
                store_rows::<L, W, S>(&normalised::<W, S>(sum), &mut slots[item], chunk);
            }
        }
    }
}
