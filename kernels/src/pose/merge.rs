//! Stage `blend` of blocks that only merge whole layers on all joints, which is the common case of several clips.

use super::registers::{normalised, shorter};
use super::shares::{Mask, Recipe};
use super::{Local, TRANSLATION, run_lanes};
use crate::crowd::{LayerKind, MAX_LAYERS};
use crate::simd::{Isa, Kernel, Simd, load_group, load_rows, store_rows};
use arrayvec::ArrayVec;

/// Slots with their weight in each lane; the weights of a lane add up to 1.
pub(super) struct Merge<const N: usize>(ArrayVec<(usize, [f32; N]), MAX_LAYERS>);

impl<const N: usize> Merge<N> {
    /// A recipe's merge; `None` if it has other kinds of layers, masks or fades, or a lane in which all weights are 0.
    pub fn of(recipe: &Recipe<N>) -> Option<Self> {
        let merges = recipe
            .shares
            .iter()
            .all(|s| s.kind == LayerKind::Merge && matches!(s.mask, Mask::All));
        let total = |lane: usize| recipe.shares.iter().map(|s| s.weights[lane]).sum::<f32>();
        let totals: [f32; N] = std::array::from_fn(total);
        let merges = merges && recipe.momenta.is_empty() && totals.iter().all(|&t| t > 0.0);
        merges.then(|| {
            let part =
                |weights: &[f32; N]| std::array::from_fn(|lane| weights[lane] / totals[lane]);
            Self(
                recipe
                    .shares
                    .iter()
                    .map(|s| (s.slot, part(&s.weights)))
                    .collect(),
            )
        })
    }
}

/// Merges a block's poses, `[slot][joint]` with this many joints, into its first slot.
pub(super) fn merge<const N: usize>(
    isa: Isa,
    merge: &Merge<N>,
    joints: usize,
    slots: &mut [Local<N>],
) {
    if !matches!(merge.0[..], [(0, _)]) {
        run_lanes::<N, _>(
            isa,
            MergeSlots {
                merge,
                joints,
                slots,
            },
        );
    }
}

struct MergeSlots<'a, const N: usize> {
    merge: &'a Merge<N>,
    joints: usize,
    slots: &'a mut [Local<N>],
}

impl<const N: usize> Kernel for MergeSlots<'_, N> {
    #[inline(always)] // to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        let Self {
            merge: Merge(parts),
            joints,
            slots,
        } = self;
        let Some(((first, first_part), others)) = parts.split_first() else {
            return;
        };
        for joint in 0..joints {
            for group in 0..N / W {
                let part = load_group::<N, W, S>(first_part, group);
                let mut sum = load_rows::<N, W, S, 10>(&slots[first * joints + joint], group);
                for v in &mut sum {
                    *v = S::mul(*v, part);
                }
                for (slot, part) in others {
                    let part = load_group::<N, W, S>(part, group);
                    let pose = load_rows::<N, W, S, 10>(&slots[slot * joints + joint], group);
                    let signed = shorter::<W, S>(&sum, &pose, part);
                    for (row, (sum, v)) in sum.iter_mut().zip(pose).enumerate() {
                        *sum = S::mul_add(if row < TRANSLATION { signed } else { part }, v, *sum);
                    }
                }
                store_rows::<N, W, S>(&normalised::<W, S>(sum), &mut slots[joint], group);
            }
        }
    }
}
