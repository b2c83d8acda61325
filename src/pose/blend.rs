//! Stage `blend`: the local poses of an instance's layers become one.
//!
//! Rotations are added up as quaternions in one hemisphere and normalised, translations and scales along straight
//! lines. An inertial fade adds what the old pose and its speed were off when the fade began, times the quintics
//! that take them to zero with no speed and no acceleration left (Hermite's, as in Bollo, "Inertialization",
//! GDC 2018, without its clamps). The plain formulae are in docs/animation.md.

use super::{Local, ROTATION, SCALE, TRANSLATION};
use crate::crowd::{LayerKind, MAX_LAYERS};
use crate::model::Transform;
use crate::simd::{Isa, Kernel, Simd, run};
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
    /// Whether it comes, rather than goes.
    pub coming: [bool; N],
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
    run(isa, Blend { rest, recipe, slots });
}

struct Blend<'a, 'b, const N: usize> {
    rest: &'a [Transform],
    recipe: &'a Recipe<'b, N>,
    slots: &'a mut [Local<N>],
}

impl<const N: usize> Kernel for Blend<'_, '_, N> {
    type Out = ();

    // Plain loops over lanes: the compiler turns them into the instruction set's own vectors.
    #[inline(always)] // to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        blend_lanes(self.rest, self.recipe, self.slots);
    }
}

#[inline(always)] // as above
fn blend_lanes<const N: usize>(rest: &[Transform], recipe: &Recipe<N>, slots: &mut [Local<N>]) {
    let joints = rest.len();
    for (joint, rest) in rest.iter().enumerate() {
        let pose = |slot: usize| &slots[slot * joints + joint];
        let mut blended = merge(&recipe.shares, joint, rest, pose);
        let mut momenta = recipe.momenta.iter().peekable();
        for share in recipe.shares.iter().filter(|s| s.kind != LayerKind::Merge) {
            while let Some(momentum) = momenta.next_if(|m| m.layer < share.layer) {
                carry(&mut blended, momentum, joint, rest, pose);
            }
            join(&mut blended, share, joint, pose);
        }
        momenta.for_each(|momentum| carry(&mut blended, momentum, joint, rest, pose));
        slots[joint] = blended;
    }
}

/// A share's weights at a joint; none if they are all 0.
#[inline(always)] // as above
fn weights<const N: usize>(share: &Share<N>, joint: usize) -> Option<[f32; N]> {
    match &share.mask {
        Mask::All => Some(share.weights),
        Mask::Same(mask) if mask[joint] == 0.0 => None,
        Mask::Same(mask) => Some(share.weights.map(|w| w * mask[joint])),
        Mask::Lanes(masks) => {
            Some(std::array::from_fn(|i| share.weights[i] * masks[i].map_or(1.0, |mask| mask[joint])))
        }
    }
}

/// The weighted mean of all merge layers.
#[inline(always)] // as above
fn merge<'a, const N: usize>(
    shares: &[Share<N>],
    joint: usize,
    rest: &Transform,
    pose: impl Fn(usize) -> &'a Local<N>,
) -> Local<N> {
    let mut merged =
        shares.iter().filter(|s| s.kind == LayerKind::Merge).filter_map(|s| Some((pose(s.slot), weights(s, joint)?)));
    let Some((first, mut total)) = merged.next() else { return resting([[0.0; N]; 10], &[0.0; N], rest) };
    let Some(second) = merged.next() else { return resting(*first, &total, rest) };
    // Each lane's sum starts with zeros, so the first pose that counts for something decides the hemisphere.
    let mut sum: Local<N> = std::array::from_fn(|row| std::array::from_fn(|i| total[i] * first[row][i]));
    for (pose, weights) in std::iter::once(second).chain(merged) {
        let signed = shorter(&sum, pose, &weights);
        for row in 0..4 {
            (0..N).for_each(|i| sum[ROTATION + row][i] += signed[i] * pose[ROTATION + row][i]);
        }
        for row in TRANSLATION..10 {
            (0..N).for_each(|i| sum[row][i] += weights[i] * pose[row][i]);
        }
        (0..N).for_each(|i| total[i] += weights[i]);
    }
    normalise(&mut sum);
    let inverse = total.map(|t| 1.0 / t);
    for row in &mut sum[TRANSLATION..] {
        (0..N).for_each(|i| row[i] *= inverse[i]);
    }
    resting(sum, &total, rest)
}

/// The rest pose in lanes without weight.
#[inline(always)] // as above
fn resting<const N: usize>(mut pose: Local<N>, total: &[f32; N], rest: &Transform) -> Local<N> {
    if total.contains(&0.0) {
        let (rotation, translation, scale) = (rest.rotation.to_array(), rest.translation, rest.scale);
        for i in 0..N {
            if total[i] == 0.0 {
                (0..4).for_each(|c| pose[ROTATION + c][i] = rotation[c]);
                (0..3).for_each(|c| pose[TRANSLATION + c][i] = translation[c]);
                (0..3).for_each(|c| pose[SCALE + c][i] = scale[c]);
            }
        }
    }
    pose
}

/// Joins an override or additive layer to what is beneath.
#[inline(always)] // as above
fn join<'a, const N: usize>(
    beneath: &mut Local<N>,
    share: &Share<N>,
    joint: usize,
    pose: impl Fn(usize) -> &'a Local<N>,
) {
    let Some(weights) = weights(share, joint) else { return };
    let pose = pose(share.slot);
    if share.kind == LayerKind::Override {
        let signed = shorter(beneath, pose, &weights);
        for row in 0..4 {
            for i in 0..N {
                beneath[row][i] = (1.0 - weights[i]) * beneath[row][i] + signed[i] * pose[row][i];
            }
        }
        for row in TRANSLATION..10 {
            for i in 0..N {
                beneath[row][i] += weights[i] * (pose[row][i] - beneath[row][i]);
            }
        }
    } else {
        let mut turn = [[0.0; N]; 4];
        for i in 0..N {
            let signed = if pose[3][i] < 0.0 { -weights[i] } else { weights[i] };
            (0..4).for_each(|row| turn[row][i] = signed * pose[row][i]);
            turn[3][i] += 1.0 - weights[i];
        }
        turned(beneath, &turn);
        for row in 0..3 {
            for i in 0..N {
                beneath[TRANSLATION + row][i] += weights[i] * pose[TRANSLATION + row][i];
                beneath[SCALE + row][i] *= 1.0 + weights[i] * (pose[SCALE + row][i] - 1.0);
            }
        }
    }
    normalise(beneath);
}

/// Adds what an inertial fade has left of the old pose.
#[inline(always)] // as above
fn carry<'a, const N: usize>(
    blended: &mut Local<N>,
    momentum: &Momentum<N>,
    joint: usize,
    rest: &Transform,
    pose: impl Fn(usize) -> &'a Local<N> + Copy,
) {
    let off = [0, 1].map(|back| {
        let shares = &momentum.past[back];
        let mut without = merge(shares, joint, rest, pose);
        shares
            .iter()
            .filter(|s| s.kind != LayerKind::Merge && s.layer < momentum.layer)
            .for_each(|share| join(&mut without, share, joint, pose));
        let mut with = without;
        shares.iter().filter(|s| s.layer == momentum.layer).for_each(|share| join(&mut with, share, joint, pose));
        difference(&momentum.coming, &without, &with)
    });
    // Both differences in one hemisphere, or their change would go the long way round.
    let mut turn = [[0.0; N]; 4];
    for i in 0..N {
        let dot: f32 = (0..4).map(|c| off[0][c][i] * off[1][c][i]).sum();
        let sign = if dot < 0.0 { -1.0 } else { 1.0 };
        for c in 0..4 {
            let whole = if c == 3 { 1.0 } else { 0.0 };
            turn[c][i] = whole
                + momentum.offset[i] * (off[0][c][i] - whole)
                + momentum.speed[i] * (off[0][c][i] - sign * off[1][c][i]);
        }
    }
    turned(blended, &turn);
    normalise(blended);
    for row in TRANSLATION..10 {
        for i in 0..N {
            blended[row][i] +=
                momentum.offset[i] * off[0][row][i] + momentum.speed[i] * (off[0][row][i] - off[1][row][i]);
        }
    }
}

/// The old pose less the new one: the turn from new to old with w >= 0, then differences.
#[inline(always)] // as above
fn difference<const N: usize>(coming: &[bool; N], without: &Local<N>, with: &Local<N>) -> Local<N> {
    let mut off = [[0.0; N]; 10];
    for i in 0..N {
        let (old, new) = if coming[i] { (without, with) } else { (with, without) };
        let [ax, ay, az, aw] = std::array::from_fn(|c| old[c][i]);
        let [bx, by, bz, bw] = std::array::from_fn(|c| new[c][i]);
        // old * conjugate(new)
        let w = aw * bw + ax * bx + ay * by + az * bz;
        let sign = if w < 0.0 { -1.0 } else { 1.0 };
        off[0][i] = sign * (ax * bw - aw * bx - ay * bz + az * by);
        off[1][i] = sign * (ay * bw - aw * by - az * bx + ax * bz);
        off[2][i] = sign * (az * bw - aw * bz - ax * by + ay * bx);
        off[3][i] = sign * w;
        for row in TRANSLATION..10 {
            off[row][i] = old[row][i] - new[row][i];
        }
    }
    off
}

/// Weights with the sign that takes each pose's rotation into the hemisphere of the other's.
#[inline(always)] // as above
fn shorter<const N: usize>(a: &Local<N>, b: &Local<N>, weights: &[f32; N]) -> [f32; N] {
    std::array::from_fn(|i| {
        let dot = a[0][i] * b[0][i] + a[1][i] * b[1][i] + a[2][i] * b[2][i] + a[3][i] * b[3][i];
        if dot < 0.0 { -weights[i] } else { weights[i] }
    })
}

/// Turns a pose in its parent's axes: `turn * rotation`, of whatever length.
#[inline(always)] // as above
fn turned<const N: usize>(pose: &mut Local<N>, turn: &[[f32; N]; 4]) {
    for i in 0..N {
        let [ax, ay, az, aw] = std::array::from_fn(|c| turn[c][i]);
        let [bx, by, bz, bw] = std::array::from_fn(|c| pose[ROTATION + c][i]);
        pose[0][i] = aw * bx + ax * bw + ay * bz - az * by;
        pose[1][i] = aw * by + ay * bw + az * bx - ax * bz;
        pose[2][i] = aw * bz + az * bw + ax * by - ay * bx;
        pose[3][i] = aw * bw - ax * bx - ay * by - az * bz;
    }
}

#[inline(always)] // as above
fn normalise<const N: usize>(pose: &mut Local<N>) {
    let inverse: [f32; N] = std::array::from_fn(|i| {
        let [x, y, z, w] = std::array::from_fn(|c| pose[ROTATION + c][i]);
        1.0 / (x * x + y * y + z * z + w * w).sqrt()
    });
    for row in &mut pose[..4] {
        (0..N).for_each(|i| row[i] *= inverse[i]);
    }
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
