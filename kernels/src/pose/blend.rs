//! Stage `blend`: combines the local poses of an instance's layers.
//!
//! Rotations are added as quaternions in one hemisphere and normalised; translations and scales are interpolated
//! linearly. An inertial fade adds the differences of the old pose and its speed from the new ones at the start of the
//! fade, times quintics that reach zero with zero speed and acceleration (Hermite's, as in Bollo, "Inertialization",
//! GDC 2018, without its clamps). The formulae are in docs/animation.md.

use super::joint_strip::STRIP;
use super::lanes::{items, load_instances};
use super::registers::{RegisterPose, difference, normalised, rotated, shorter};
use super::shares::{Mask, Momentum, Recipe, SlotWeights};
use super::side_by_side::{Local, SCALE, TRANSLATION, run_lanes};
use crate::crowd::{LEAST_SHARE, LayerKind, MAX_LAYERS};
use crate::model::Transform;
use crate::simd::{Isa, Kernel, Simd, load_rows, store_rows};
use arrayvec::ArrayVec;

/// Blends the poses of a block, `[slot][joint]`, or of one instance, `[slot][strip]`, into the first slot.
pub(super) fn blend<const N: usize, const L: usize>(
    isa: Isa,
    rest: &[Transform],
    recipe: &Recipe<N>,
    slots: &mut [Local<L>],
) {
    match Merge::of(recipe) {
        Some(parts) => merge(isa, &parts, items::<N, L>(rest.len()), slots),
        None => run_lanes::<L, _>(
            isa,
            BlendKernel {
                rest,
                recipe,
                slots,
            },
        ),
    }
}

struct BlendKernel<'a, 'b, const N: usize, const L: usize> {
    rest: &'a [Transform],
    recipe: &'a Recipe<'b, N>,
    slots: &'a mut [Local<L>],
}

impl<const N: usize, const L: usize> Kernel for BlendKernel<'_, '_, N, L> {
    #[inline(always)] // to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        let Self {
            rest,
            recipe,
            slots,
        } = self;
        let items = items::<N, L>(rest.len());
        for item in 0..items {
            for vector in 0..L / W {
                let lanes = LaneGroup::<N, L, W> {
                    slots: &*slots,
                    items,
                    item,
                    vector,
                    rest,
                };
                let blended = lanes.blended::<S>(recipe);
                store_rows::<L, W, S>(&blended, &mut slots[item], vector);
            }
        }
    }
}

// Closures would not take on the instruction set, so vectors are used only in loops.

/// `W` neighbouring lanes of a joint or strip.
#[derive(Clone, Copy)]
struct LaneGroup<'a, const N: usize, const L: usize, const W: usize> {
    slots: &'a [Local<L>],
    items: usize,
    item: usize,
    vector: usize,
    rest: &'a [Transform],
}

impl<const N: usize, const L: usize, const W: usize> LaneGroup<'_, N, L, W> {
    #[inline(always)] // as above
    fn blended<S: Simd<W>>(self, recipe: &Recipe<N>) -> RegisterPose<S, W> {
        let mut blended = self.merge::<S>(&recipe.shares);
        let mut shares = recipe
            .shares
            .iter()
            .filter(|s| s.kind != LayerKind::Merge)
            .peekable();
        let mut momenta = recipe.momenta.iter().peekable();
        loop {
            let next = shares.peek().map_or(usize::MAX, |share| share.layer);
            if let Some(momentum) = momenta.next_if(|momentum| momentum.layer < next) {
                blended = self.carry::<S>(blended, momentum);
            } else if let Some(share) = shares.next() {
                blended = self.join::<S>(blended, share);
            } else {
                break;
            }
        }
        blended
    }

    #[inline(always)] // as above
    fn pose<S: Simd<W>>(self, slot: usize) -> RegisterPose<S, W> {
        load_rows::<L, W, S, 10>(&self.slots[slot * self.items + self.item], self.vector)
    }

    /// A share's weights; `None` if a mask makes all of them 0.
    #[inline(always)] // as above
    fn weights<S: Simd<W>>(self, share: &SlotWeights<N>) -> Option<S::V> {
        let weights = load_instances::<N, W, S>(&share.weights, self.vector);
        match &share.mask {
            Mask::All => Some(weights),
            Mask::Same(mask) if const { N < L } => {
                let mut factors = [0.0; W];
                let joints = mask.iter().skip(self.item * STRIP + self.vector * W);
                for (factor, joint) in factors.iter_mut().zip(joints) {
                    *factor = *joint;
                }
                if factors == [0.0; W] {
                    return None;
                }
                Some(S::mul(weights, S::load(&factors)))
            }
            Mask::Same(mask) if mask[self.item] == 0.0 => None,
            Mask::Same(mask) => Some(S::mul(weights, S::splat(mask[self.item]))),
            Mask::Lanes(masks) => {
                let of =
                    |lane: usize| masks[W * self.vector + lane].map_or(1.0, |mask| mask[self.item]);
                Some(S::mul(weights, S::load(&std::array::from_fn(of))))
            }
        }
    }

    /// The weighted mean of all merge layers; the rest pose in lanes where the weights are 0.
    #[inline(always)] // as above
    fn merge<S: Simd<W>>(self, shares: &[SlotWeights<N>]) -> RegisterPose<S, W> {
        let mut sum = [S::splat(0.0); 10];
        let mut total = S::splat(0.0);
        let mut count = 0;
        for share in shares.iter().filter(|s| s.kind == LayerKind::Merge) {
            let Some(weights) = self.weights::<S>(share) else {
                continue;
            };
            let pose = self.pose::<S>(share.slot);
            count += 1;
            if count == 1 {
                // The first layer stays unscaled until there is a second one: most instances merge nothing.
                (sum, total) = (pose, weights);
                continue;
            }
            if count == 2 {
                for v in &mut sum {
                    *v = S::mul(*v, total);
                }
            }
            let signed = shorter::<W, S>(&sum, &pose, weights);
            for (row, (sum, v)) in sum.iter_mut().zip(pose).enumerate() {
                *sum = S::mul_add(if row < TRANSLATION { signed } else { weights }, v, *sum);
            }
            total = S::add(total, weights);
        }
        if count > 1 {
            sum = normalised::<W, S>(sum);
            let inverse = S::div(S::splat(1.0), total);
            for v in &mut sum[TRANSLATION..] {
                *v = S::mul(*v, inverse);
            }
        }
        self.resting::<S>(sum, total)
    }

    /// The rest pose in lanes without weight.
    #[inline(always)] // as above
    fn resting<S: Simd<W>>(self, mut pose: RegisterPose<S, W>, total: S::V) -> RegisterPose<S, W> {
        // The difference is negative, which is the sign that selects, in lanes without enough weight.
        let none = S::sub(total, S::splat(LEAST_SHARE));
        let mut rest = pose;
        if const { N < L } {
            // Lanes beyond the last joint need a rotation that can be normalised, too.
            let mut numbers = [[1.0; W]; 10];
            let joints = self.rest.iter().skip(self.item * STRIP + self.vector * W);
            for (lane, joint) in joints.take(W).enumerate() {
                for (row, number) in numbers.iter_mut().zip(joint.components()) {
                    row[lane] = number;
                }
            }
            for (v, row) in rest.iter_mut().zip(&numbers) {
                *v = S::load(row);
            }
        } else {
            for (v, number) in rest.iter_mut().zip(self.rest[self.item].components()) {
                *v = S::splat(number);
            }
        }
        for (v, rest) in pose.iter_mut().zip(rest) {
            *v = S::select_negative(none, rest, *v);
        }
        pose
    }

    /// Applies an override or additive layer to the pose beneath it.
    #[inline(always)] // as above
    fn join<S: Simd<W>>(
        self,
        beneath: RegisterPose<S, W>,
        share: &SlotWeights<N>,
    ) -> RegisterPose<S, W> {
        let Some(weights) = self.weights::<S>(share) else {
            return beneath;
        };
        let pose = self.pose::<S>(share.slot);
        let keep = S::sub(S::splat(1.0), weights);
        let mut joined = beneath;
        if share.kind == LayerKind::Override {
            let signed = shorter::<W, S>(&beneath, &pose, weights);
            for (row, (v, own)) in joined.iter_mut().zip(pose).enumerate() {
                *v = if row < TRANSLATION {
                    S::mul_add(keep, *v, S::mul(signed, own))
                } else {
                    S::mul_add(weights, S::sub(own, *v), *v)
                };
            }
        } else {
            let signed = S::select_negative(pose[3], S::sub(S::splat(0.0), weights), weights);
            let rotation = [
                S::mul(signed, pose[0]),
                S::mul(signed, pose[1]),
                S::mul(signed, pose[2]),
                S::mul_add(signed, pose[3], keep),
            ];
            joined = rotated::<W, S>(&joined, rotation);
            for axis in 0..3 {
                let t = TRANSLATION + axis;
                let s = SCALE + axis;
                joined[t] = S::mul_add(weights, pose[t], beneath[t]);
                let factor = S::mul_add(weights, S::sub(pose[s], S::splat(1.0)), S::splat(1.0));
                joined[s] = S::mul(beneath[s], factor);
            }
        }
        normalised::<W, S>(joined)
    }

    /// The new pose plus the remaining difference of an inertial fade from the old one.
    #[inline(always)] // as above
    fn carry<S: Simd<W>>(
        self,
        new: RegisterPose<S, W>,
        momentum: &Momentum<N>,
    ) -> RegisterPose<S, W> {
        let mut ticks = [[S::splat(0.0); 10]; 2];
        for (off, shares) in ticks.iter_mut().zip(&momentum.past) {
            *off = self.off::<S>(momentum, shares);
        }
        let [now, before] = ticks;
        let offset = load_instances::<N, W, S>(&momentum.offset, self.vector);
        let speed = load_instances::<N, W, S>(&momentum.speed, self.vector);
        // Both differences must be in one hemisphere; otherwise their change would take the longer arc.
        let sign = shorter::<W, S>(&now, &before, S::splat(1.0));
        let mut rotation = [S::splat(0.0); 4];
        for (c, v) in rotation.iter_mut().enumerate() {
            let whole = S::splat(if c == 3 { 1.0 } else { 0.0 });
            let change = S::sub(now[c], S::mul(sign, before[c]));
            *v = S::mul_add(
                offset,
                S::sub(now[c], whole),
                S::mul_add(speed, change, whole),
            );
        }
        let mut carried = normalised::<W, S>(rotated::<W, S>(&new, rotation));
        for (v, (now, before)) in carried
            .iter_mut()
            .zip(now.into_iter().zip(before))
            .skip(TRANSLATION)
        {
            *v = S::mul_add(offset, now, S::mul_add(speed, S::sub(now, before), *v));
        }
        carried
    }

    /// The old pose minus the new one at a tick around the fade's start, where layers had these shares.
    #[inline(always)] // as above
    fn off<S: Simd<W>>(
        self,
        momentum: &Momentum<N>,
        shares: &[SlotWeights<N>],
    ) -> RegisterPose<S, W> {
        let mut with = self.merge::<S>(shares);
        let mut without = with;
        for share in shares.iter().filter(|s| s.kind != LayerKind::Merge) {
            with = self.join::<S>(with, share);
            if share.layer < momentum.layer {
                without = with;
            }
        }
        let coming = load_instances::<N, W, S>(&momentum.coming, self.vector);
        for (without, with) in without.iter_mut().zip(&mut with) {
            let a = *without;
            let b = *with;
            (*without, *with) = (
                S::select_negative(coming, a, b),
                S::select_negative(coming, b, a),
            );
        }
        difference::<W, S>(&without, &with)
    }
}

// Blocks that only merge whole layers on all joints, which is the common case of several clips.

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
        let merges =
            merges && recipe.momenta.is_empty() && totals.iter().all(|&t| t >= LEAST_SHARE);
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
