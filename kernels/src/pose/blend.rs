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
use crate::simd::{Isa, Kernel, Simd};
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
    fn run<const W: usize, V: Simd<W>>(self) {
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
                let blended = lanes.blended::<V>(recipe);
                V::store_rows(&blended, &mut slots[item], vector);
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
    fn blended<V: Simd<W>>(self, recipe: &Recipe<N>) -> RegisterPose<V> {
        let mut blended = self.merge::<V>(&recipe.shares);
        let mut shares = recipe
            .shares
            .iter()
            .filter(|s| s.kind != LayerKind::Merge)
            .peekable();
        let mut momenta = recipe.momenta.iter().peekable();
        loop {
            let next = shares.peek().map_or(usize::MAX, |share| share.layer);
            if let Some(momentum) = momenta.next_if(|momentum| momentum.layer < next) {
                blended = self.carry::<V>(blended, momentum);
            } else if let Some(share) = shares.next() {
                blended = self.join::<V>(blended, share);
            } else {
                break;
            }
        }
        blended
    }

    #[inline(always)] // as above
    fn pose<V: Simd<W>>(self, slot: usize) -> RegisterPose<V> {
        V::load_rows(&self.slots[slot * self.items + self.item], self.vector)
    }

    /// A share's weights; `None` if a mask makes all of them 0.
    #[inline(always)] // as above
    fn weights<V: Simd<W>>(self, share: &SlotWeights<N>) -> Option<V> {
        let weights = load_instances::<N, W, V>(&share.weights, self.vector);
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
                Some(weights * V::load(&factors))
            }
            Mask::Same(mask) if mask[self.item] == 0.0 => None,
            Mask::Same(mask) => Some(weights * V::splat(mask[self.item])),
            Mask::Lanes(masks) => {
                let of =
                    |lane: usize| masks[W * self.vector + lane].map_or(1.0, |mask| mask[self.item]);
                Some(weights * V::load(&std::array::from_fn(of)))
            }
        }
    }

    /// The weighted mean of all merge layers; the rest pose in lanes where the weights are 0.
    #[inline(always)] // as above
    fn merge<V: Simd<W>>(self, shares: &[SlotWeights<N>]) -> RegisterPose<V> {
        let mut sum = [V::splat(0.0); 10];
        let mut total = V::splat(0.0);
        let mut count = 0;
        for share in shares.iter().filter(|s| s.kind == LayerKind::Merge) {
            let Some(weights) = self.weights::<V>(share) else {
                continue;
            };
            let pose = self.pose::<V>(share.slot);
            count += 1;
            if count == 1 {
                // The first layer stays unscaled until there is a second one: most instances merge nothing.
                (sum, total) = (pose, weights);
                continue;
            }
            if count == 2 {
                for v in &mut sum {
                    *v = *v * total;
                }
            }
            let signed = shorter(&sum, &pose, weights);
            for (row, (sum, v)) in sum.iter_mut().zip(pose).enumerate() {
                let factor = if row < TRANSLATION { signed } else { weights };
                *sum = factor.mul_add(v, *sum);
            }
            total = total + weights;
        }
        if count > 1 {
            sum = normalised(sum);
            let inverse = V::splat(1.0) / total;
            for v in &mut sum[TRANSLATION..] {
                *v = *v * inverse;
            }
        }
        self.resting::<V>(sum, total)
    }

    /// The rest pose in lanes without weight.
    #[inline(always)] // as above
    fn resting<V: Simd<W>>(self, mut pose: RegisterPose<V>, total: V) -> RegisterPose<V> {
        // The difference is negative, which is the sign that selects, in lanes without enough weight.
        let none = total - V::splat(LEAST_SHARE);
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
                *v = V::load(row);
            }
        } else {
            for (v, number) in rest.iter_mut().zip(self.rest[self.item].components()) {
                *v = V::splat(number);
            }
        }
        for (v, rest) in pose.iter_mut().zip(rest) {
            *v = V::select_negative(none, rest, *v);
        }
        pose
    }

    /// Applies an override or additive layer to the pose beneath it.
    #[inline(always)] // as above
    fn join<V: Simd<W>>(self, beneath: RegisterPose<V>, share: &SlotWeights<N>) -> RegisterPose<V> {
        let Some(weights) = self.weights::<V>(share) else {
            return beneath;
        };
        let pose = self.pose::<V>(share.slot);
        let keep = V::splat(1.0) - weights;
        let mut joined = beneath;
        if share.kind == LayerKind::Override {
            let signed = shorter(&beneath, &pose, weights);
            for (row, (v, own)) in joined.iter_mut().zip(pose).enumerate() {
                *v = if row < TRANSLATION {
                    keep.mul_add(*v, signed * own)
                } else {
                    weights.mul_add(own - *v, *v)
                };
            }
        } else {
            let signed = V::select_negative(pose[3], V::splat(0.0) - weights, weights);
            let rotation = [
                signed * pose[0],
                signed * pose[1],
                signed * pose[2],
                signed.mul_add(pose[3], keep),
            ];
            joined = rotated(&joined, rotation);
            for axis in 0..3 {
                let t = TRANSLATION + axis;
                let s = SCALE + axis;
                joined[t] = weights.mul_add(pose[t], beneath[t]);
                let factor = weights.mul_add(pose[s] - V::splat(1.0), V::splat(1.0));
                joined[s] = beneath[s] * factor;
            }
        }
        normalised(joined)
    }

    /// The new pose plus the remaining difference of an inertial fade from the old one.
    #[inline(always)] // as above
    fn carry<V: Simd<W>>(self, new: RegisterPose<V>, momentum: &Momentum<N>) -> RegisterPose<V> {
        let mut ticks = [[V::splat(0.0); 10]; 2];
        for (off, shares) in ticks.iter_mut().zip(&momentum.past) {
            *off = self.off::<V>(momentum, shares);
        }
        let [now, before] = ticks;
        let offset = load_instances::<N, W, V>(&momentum.offset, self.vector);
        let speed = load_instances::<N, W, V>(&momentum.speed, self.vector);
        // Both differences must be in one hemisphere; otherwise their change would take the longer arc.
        let sign = shorter(&now, &before, V::splat(1.0));
        let mut rotation = [V::splat(0.0); 4];
        for (c, v) in rotation.iter_mut().enumerate() {
            let whole = V::splat(if c == 3 { 1.0 } else { 0.0 });
            let change = now[c] - sign * before[c];
            *v = offset.mul_add(now[c] - whole, speed.mul_add(change, whole));
        }
        let mut carried = normalised(rotated(&new, rotation));
        for (v, (now, before)) in carried
            .iter_mut()
            .zip(now.into_iter().zip(before))
            .skip(TRANSLATION)
        {
            *v = offset.mul_add(now, speed.mul_add(now - before, *v));
        }
        carried
    }

    /// The old pose minus the new one at a tick around the fade's start, where layers had these shares.
    #[inline(always)] // as above
    fn off<V: Simd<W>>(self, momentum: &Momentum<N>, shares: &[SlotWeights<N>]) -> RegisterPose<V> {
        let mut with = self.merge::<V>(shares);
        let mut without = with;
        for share in shares.iter().filter(|s| s.kind != LayerKind::Merge) {
            with = self.join::<V>(with, share);
            if share.layer < momentum.layer {
                without = with;
            }
        }
        let coming = load_instances::<N, W, V>(&momentum.coming, self.vector);
        for (without, with) in without.iter_mut().zip(&mut with) {
            let a = *without;
            let b = *with;
            (*without, *with) = (
                V::select_negative(coming, a, b),
                V::select_negative(coming, b, a),
            );
        }
        difference(&without, &with)
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
    fn run<const W: usize, V: Simd<W>>(self) {
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
                let weight = load_instances::<N, W, V>(first_weights, chunk);
                let mut sum = V::load_rows(&slots[first * items + item], chunk);
                for v in &mut sum {
                    *v = *v * weight;
                }
                for (slot, weights) in others {
                    let weight = load_instances::<N, W, V>(weights, chunk);
                    let pose = V::load_rows(&slots[slot * items + item], chunk);
                    let signed = shorter(&sum, &pose, weight);
                    for (row, (sum, v)) in sum.iter_mut().zip(pose).enumerate() {
                        let factor = if row < TRANSLATION { signed } else { weight };
                        *sum = factor.mul_add(v, *sum);
                    }
                }
                V::store_rows(&normalised(sum), &mut slots[item], chunk);
            }
        }
    }
}
