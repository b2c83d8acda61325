//! Stage `blend`: the local poses of an instance's layers become one.
//!
//! Rotations are added up as quaternions in one hemisphere and normalised, translations and scales along straight
//! lines. An inertial fade adds what the old pose and its speed were off when the fade began, times the quintics
//! that take them to zero with no speed and no acceleration left (Hermite's, as in Bollo, "Inertialization",
//! GDC 2018, without its clamps). The plain formulae are in docs/animation.md.

use super::merge::{Merge, merge};
use super::{Local, SCALE, TRANSLATION, lanes_isa};
use crate::crowd::{LayerKind, MAX_LAYERS};
use crate::model::Transform;
use crate::simd::{Isa, Kernel, Simd, load_group, run};
use arrayvec::ArrayVec;

/// Which joints a layer moves, and how far.
#[derive(Debug, Clone, Copy)]
pub enum Mask<'a, const N: usize> {
    /// All, wholly.
    All,
    /// A weight a joint, the same for all lanes.
    Same(&'a [f32]),
    /// A weight a joint for each lane; none moves all joints wholly.
    Lanes([Option<&'a [f32]>; N]),
}

/// What a slot's poses count for in a block; lanes of weight 0 leave it out.
#[derive(Debug, Clone, Copy)]
pub struct Share<'a, const N: usize> {
    /// Which of the block's local poses.
    pub slot: usize,
    /// The layer's index, which decides the order.
    pub layer: usize,
    /// How it joins what is beneath.
    pub kind: LayerKind,
    /// A weight a lane.
    pub weights: [f32; N],
    /// Times these.
    pub mask: Mask<'a, N>,
}

/// Shares in the order in which they join; lanes may differ in kind, so a slot can have one for each.
pub type Shares<'a, const N: usize> = ArrayVec<Share<'a, N>, { 3 * MAX_LAYERS }>;

/// Lanes whose layer of one index is in an inertial fade.
#[derive(Debug, Clone)]
pub struct Momentum<'a, const N: usize> {
    /// The layer's index.
    pub layer: usize,
    /// -1 where it comes, 1 where it goes.
    pub coming: [f32; N],
    /// What is left of the offset at the fade's start; 0 in lanes that are in no such fade.
    pub offset: [f32; N],
    /// What has come of its change in the tick before the start.
    pub speed: [f32; N],
    /// The layers up to this one when the fade began, and a tick before.
    pub past: [Shares<'a, N>; 2],
}

/// Everything that [`blend`] needs to know of a block.
#[derive(Debug, Clone, Default)]
pub struct Recipe<'a, const N: usize> {
    /// What the layers count for now.
    pub shares: Shares<'a, N>,
    /// Inertial fades under way, by layer.
    pub momenta: ArrayVec<Momentum<'a, N>, MAX_LAYERS>,
}

/// Weights of the offset and of its change a tick, `elapsed` of `length` ticks into an inertial fade.
///
/// The quintics that start at 1 with no speed, and at 0 with a speed of 1, and end with nothing.
pub fn quintics(elapsed: u32, length: u32) -> [f32; 2] {
    let s = elapsed as f32 / length as f32;
    let s3 = s * s * s;
    [1.0 - s3 * (10.0 - s * (15.0 - 6.0 * s)), length as f32 * (s - s3 * (6.0 - s * (8.0 - 3.0 * s)))]
}

/// Blends a block's poses, `[slot][joint]`, into its first slot.
pub fn blend<const N: usize>(isa: Isa, rest: &[Transform], recipe: &Recipe<N>, slots: &mut [Local<N>]) {
    match Merge::of(recipe) {
        Some(parts) => merge(isa, &parts, rest.len(), slots),
        None => run(lanes_isa::<N>(isa), Blend { rest, recipe, slots }),
    }
}

struct Blend<'a, 'b, const N: usize> {
    rest: &'a [Transform],
    recipe: &'a Recipe<'b, N>,
    slots: &'a mut [Local<N>],
}

impl<const N: usize> Kernel for Blend<'_, '_, N> {
    type Out = ();

    #[inline(always)] // to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        let Self { rest, recipe, slots } = self;
        for joint in 0..rest.len() {
            for vector in 0..N / W {
                let lanes = Lanes::<N, W> { slots: &*slots, joints: rest.len(), joint, vector, rest: &rest[joint] };
                let blended = lanes.blended::<S>(recipe);
                for (row, v) in slots[joint].iter_mut().zip(blended) {
                    S::store(v, &mut row.as_chunks_mut().0[vector]);
                }
            }
        }
    }
}

// Closures would not take on the instruction set, so vectors are only touched in loops.

/// One joint's pose in a vector of instances, in registers.
pub(super) type Pose<S, const W: usize> = [<S as Simd<W>>::V; 10];

/// `W` neighbouring lanes of a joint.
#[derive(Clone, Copy)]
struct Lanes<'a, const N: usize, const W: usize> {
    slots: &'a [Local<N>],
    joints: usize,
    joint: usize,
    vector: usize,
    rest: &'a Transform,
}

impl<const N: usize, const W: usize> Lanes<'_, N, W> {
    #[inline(always)] // as above
    fn blended<S: Simd<W>>(self, recipe: &Recipe<N>) -> Pose<S, W> {
        let mut blended = self.merge::<S>(&recipe.shares);
        let mut momenta = recipe.momenta.iter().peekable();
        for share in recipe.shares.iter().filter(|s| s.kind != LayerKind::Merge) {
            while let Some(momentum) = momenta.next_if(|m| m.layer < share.layer) {
                blended = self.carry::<S>(blended, momentum);
            }
            blended = self.join::<S>(blended, share);
        }
        for momentum in momenta {
            blended = self.carry::<S>(blended, momentum);
        }
        blended
    }

    #[inline(always)] // as above
    fn load<S: Simd<W>>(self, numbers: &[f32; N]) -> S::V {
        S::load(&numbers.as_chunks().0[self.vector])
    }

    #[inline(always)] // as above
    fn pose<S: Simd<W>>(self, slot: usize) -> Pose<S, W> {
        pose::<N, W, S>(&self.slots[slot * self.joints + self.joint], self.vector)
    }

    /// A share's weights; none if a mask makes them all 0.
    #[inline(always)] // as above
    fn weights<S: Simd<W>>(self, share: &Share<N>) -> Option<S::V> {
        let weights = self.load::<S>(&share.weights);
        match &share.mask {
            Mask::All => Some(weights),
            Mask::Same(mask) if mask[self.joint] == 0.0 => None,
            Mask::Same(mask) => Some(S::mul(weights, S::splat(mask[self.joint]))),
            Mask::Lanes(masks) => {
                let of = |lane: usize| masks[W * self.vector + lane].map_or(1.0, |mask| mask[self.joint]);
                Some(S::mul(weights, S::load(&std::array::from_fn(of))))
            }
        }
    }

    /// The weighted mean of all merge layers; the rest pose where they weigh nothing.
    #[inline(always)] // as above
    fn merge<S: Simd<W>>(self, shares: &[Share<N>]) -> Pose<S, W> {
        let (mut sum, mut total, mut count) = ([S::splat(0.0); 10], S::splat(0.0), 0);
        for share in shares.iter().filter(|s| s.kind == LayerKind::Merge) {
            let Some(weights) = self.weights::<S>(share) else { continue };
            let pose = self.pose::<S>(share.slot);
            count += 1;
            if count == 1 {
                // As it is until there is a second one: most instances merge nothing.
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
    fn resting<S: Simd<W>>(self, mut pose: Pose<S, W>, total: S::V) -> Pose<S, W> {
        let Transform { rotation, translation, scale } = *self.rest;
        let rest: [f32; 10] = [
            rotation.x,
            rotation.y,
            rotation.z,
            rotation.w, //
            translation.x,
            translation.y,
            translation.z, //
            scale.x,
            scale.y,
            scale.z,
        ];
        // Less than any weight that counts: the sign says which lanes have none.
        let none = S::sub(total, S::splat(f32::MIN_POSITIVE));
        for (v, rest) in pose.iter_mut().zip(rest) {
            *v = S::select_negative(none, S::splat(rest), *v);
        }
        pose
    }

    /// What is beneath, joined by an override or additive layer.
    #[inline(always)] // as above
    fn join<S: Simd<W>>(self, beneath: Pose<S, W>, share: &Share<N>) -> Pose<S, W> {
        let Some(weights) = self.weights::<S>(share) else { return beneath };
        let pose = self.pose::<S>(share.slot);
        let keep = S::sub(S::splat(1.0), weights);
        let mut joined = beneath;
        if share.kind == LayerKind::Override {
            let signed = shorter::<W, S>(&beneath, &pose, weights);
            for (row, (v, own)) in joined.iter_mut().zip(pose).enumerate() {
                *v = match row < TRANSLATION {
                    true => S::mul_add(keep, *v, S::mul(signed, own)),
                    false => S::mul_add(weights, S::sub(own, *v), *v),
                };
            }
        } else {
            let signed = S::select_negative(pose[3], S::sub(S::splat(0.0), weights), weights);
            let turn = [
                S::mul(signed, pose[0]),
                S::mul(signed, pose[1]),
                S::mul(signed, pose[2]),
                S::mul_add(signed, pose[3], keep),
            ];
            joined = turned::<W, S>(&joined, turn);
            for axis in 0..3 {
                let (t, s) = (TRANSLATION + axis, SCALE + axis);
                joined[t] = S::mul_add(weights, pose[t], beneath[t]);
                let factor = S::mul_add(weights, S::sub(pose[s], S::splat(1.0)), S::splat(1.0));
                joined[s] = S::mul(beneath[s], factor);
            }
        }
        normalised::<W, S>(joined)
    }

    /// The new pose with what an inertial fade has left of the old one.
    #[inline(always)] // as above
    fn carry<S: Simd<W>>(self, new: Pose<S, W>, momentum: &Momentum<N>) -> Pose<S, W> {
        let now = self.off::<S>(momentum, 0);
        let before = self.off::<S>(momentum, 1);
        let (offset, speed) = (self.load::<S>(&momentum.offset), self.load::<S>(&momentum.speed));
        // Both differences in one hemisphere, or their change would go the long way round.
        let sign = shorter::<W, S>(&now, &before, S::splat(1.0));
        let mut turn = [S::splat(0.0); 4];
        for (c, v) in turn.iter_mut().enumerate() {
            let whole = S::splat(if c == 3 { 1.0 } else { 0.0 });
            let change = S::sub(now[c], S::mul(sign, before[c]));
            *v = S::mul_add(offset, S::sub(now[c], whole), S::mul_add(speed, change, whole));
        }
        let mut carried = normalised::<W, S>(turned::<W, S>(&new, turn));
        for (v, (now, before)) in carried.iter_mut().zip(now.into_iter().zip(before)).skip(TRANSLATION) {
            *v = S::mul_add(offset, now, S::mul_add(speed, S::sub(now, before), *v));
        }
        carried
    }

    /// The old pose less the new one, `back` ticks before the fade began.
    #[inline(always)] // as above
    fn off<S: Simd<W>>(self, momentum: &Momentum<N>, back: usize) -> Pose<S, W> {
        let shares = &momentum.past[back];
        let mut without = self.merge::<S>(shares);
        for share in shares.iter().filter(|s| s.kind != LayerKind::Merge && s.layer < momentum.layer) {
            without = self.join::<S>(without, share);
        }
        let mut with = without;
        for share in shares.iter().filter(|s| s.layer == momentum.layer) {
            with = self.join::<S>(with, share);
        }
        let coming = self.load::<S>(&momentum.coming);
        for (without, with) in without.iter_mut().zip(&mut with) {
            let (a, b) = (*without, *with);
            (*without, *with) = (S::select_negative(coming, a, b), S::select_negative(coming, b, a));
        }
        difference::<W, S>(&without, &with)
    }
}

/// A group of lanes of a joint.
#[inline(always)] // as above
pub(super) fn pose<const N: usize, const W: usize, S: Simd<W>>(local: &Local<N>, group: usize) -> Pose<S, W> {
    let mut pose = [S::splat(0.0); 10];
    for (v, row) in pose.iter_mut().zip(local) {
        *v = load_group::<N, W, S>(row, group);
    }
    pose
}

/// The old pose less the new one: the turn from new to old with w >= 0, then differences.
#[inline(always)] // as above
fn difference<const W: usize, S: Simd<W>>(old: &Pose<S, W>, new: &Pose<S, W>) -> Pose<S, W> {
    let zero = S::splat(0.0);
    let mut off = *old;
    for (off, new) in off.iter_mut().zip(new) {
        *off = S::sub(*off, *new);
    }
    let back = [S::sub(zero, new[0]), S::sub(zero, new[1]), S::sub(zero, new[2]), new[3]];
    let turn = product::<W, S>([old[0], old[1], old[2], old[3]], back);
    for (off, v) in off.iter_mut().zip(turn) {
        *off = S::select_negative(turn[3], S::sub(zero, v), v);
    }
    off
}

/// Weights with the sign that takes each pose's rotation into the hemisphere of the other's.
#[inline(always)] // as above
pub(super) fn shorter<const W: usize, S: Simd<W>>(a: &Pose<S, W>, b: &Pose<S, W>, weights: S::V) -> S::V {
    let dot = S::mul_add(a[0], b[0], S::mul_add(a[1], b[1], S::mul_add(a[2], b[2], S::mul(a[3], b[3]))));
    S::select_negative(dot, S::sub(S::splat(0.0), weights), weights)
}

/// Turns a pose in its parent's axes: `turn * rotation`, of whatever length.
#[inline(always)] // as above
fn turned<const W: usize, S: Simd<W>>(pose: &Pose<S, W>, turn: [S::V; 4]) -> Pose<S, W> {
    let mut turned = *pose;
    turned[..4].copy_from_slice(&product::<W, S>(turn, [pose[0], pose[1], pose[2], pose[3]]));
    turned
}

/// The product of two quaternions.
#[inline(always)] // as above
fn product<const W: usize, S: Simd<W>>(a: [S::V; 4], b: [S::V; 4]) -> [S::V; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    let zero = S::splat(0.0);
    let (nx, ny, nz) = (S::sub(zero, ax), S::sub(zero, ay), S::sub(zero, az));
    [
        S::mul_add(aw, bx, S::mul_add(ax, bw, S::mul_add(ay, bz, S::mul(nz, by)))),
        S::mul_add(aw, by, S::mul_add(ay, bw, S::mul_add(az, bx, S::mul(nx, bz)))),
        S::mul_add(aw, bz, S::mul_add(az, bw, S::mul_add(ax, by, S::mul(ny, bx)))),
        S::mul_add(aw, bw, S::mul_add(nx, bx, S::mul_add(ny, by, S::mul(nz, bz)))),
    ]
}

/// The pose with a rotation of length 1.
#[inline(always)] // as above
pub(super) fn normalised<const W: usize, S: Simd<W>>(mut pose: Pose<S, W>) -> Pose<S, W> {
    let [x, y, z, w, ..] = pose;
    let square = S::mul_add(x, x, S::mul_add(y, y, S::mul_add(z, z, S::mul(w, w))));
    let near = S::inverse_sqrt(square);
    // One more step of Newton's: down a chain of joints errors of length add up.
    let half = S::mul(S::splat(0.5), S::mul(square, S::mul(near, near)));
    let inverse = S::mul(near, S::sub(S::splat(1.5), half));
    for v in &mut pose[..4] {
        *v = S::mul(*v, inverse);
    }
    pose
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quintics_start_and_end_as_hermite_says() {
        assert_eq!(quintics(0, 20), [1.0, 0.0]);
        let end = quintics(20, 20);
        assert!(end[0].abs() < 1e-6 && end[1].abs() < 1e-5, "{end:?}");
        // A tick in, the speed has given almost a whole tick's change, and the offset is almost untouched.
        let [offset, speed] = quintics(1, 1_000);
        assert!((offset - 1.0).abs() < 1e-6 && (speed - 1.0).abs() < 1e-4);
    }
}
