//! Dual-quaternion skinning (Kavan, Collins, Žára, O'Sullivan 2008): a vertex follows the blended rigid motion of its
//! joints, so that twisted limbs keep their volume.
//!
//! A joint is a unit dual quaternion `r + e d` and a uniform scale `s`, with `d = (0, t) r / 2`. After a change of sign
//! that puts every `r_k` in the hemisphere of the vertex's first: `r = sum w_k r_k` and `d` likewise, both divided by
//! `|r|`, and `s = sum w_k s_k`. The vertex's matrix is `s R(r)` with the translation `2 (r_w d - d_w r + r x d)`; the
//! rest is as with blended matrices.

use super::motion::motion;
use super::words::{BlockPalette, Matrix};
use crate::crowd::BLOCK;
use crate::pose::Affine;
use crate::simd::{Isa, Kernel, Simd, load_rows, run, store_rows};

/// A palette entry in the instances of a block: rotation x y z w, dual part x y z w, scale.
pub type DualQuaternion = [[f32; BLOCK]; 9];

/// Converts a block's palette to dual quaternions: `out` takes one item per item of `palette`. Entries must be
/// rotations, translations and uniform scales; others give wrong numbers.
pub fn lane_dual_quaternions(isa: Isa, palette: &[Affine<BLOCK>], out: &mut [DualQuaternion]) {
    run(isa, Motions { palette, out });
}

struct Motions<'a> {
    palette: &'a [Affine<BLOCK>],
    out: &'a mut [DualQuaternion],
}

impl Kernel for Motions<'_> {
    #[inline(always)] // to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        for (out, matrix) in self.out.iter_mut().zip(self.palette) {
            for group in 0..BLOCK / W {
                let numbers = load_rows::<BLOCK, W, S, 12>(matrix, group);
                let [a, b, c, d, e, f, g, h, i, j, k, l] = numbers;
                let motion = motion::<W, S>(&[[a, b, c, d], [e, f, g, h], [i, j, k, l]]);
                store_rows::<BLOCK, W, S>(&motion, out, group);
            }
        }
    }
}

impl BlockPalette for &[DualQuaternion] {
    const UNROLLED: bool = false;

    #[inline(always)] // to take on the caller's instruction set
    fn matrix<const W: usize, S: Simd<W>>(
        &self,
        joints: &[u16],
        weights: &[f32],
        chunk: usize,
    ) -> Matrix<S::V> {
        let mut first = [S::splat(0.0); 4];
        let mut sum = [S::splat(0.0); 9];
        for (k, (&joint, &weight)) in joints.iter().zip(weights).enumerate() {
            let next = load_rows::<BLOCK, W, S, 9>(&self[usize::from(joint)], chunk);
            let real = [next[0], next[1], next[2], next[3]];
            if k == 0 {
                first = real;
            }
            let weight = S::splat(weight);
            let signed = S::copysign(weight, dot::<W, S>(real, first));
            for (r, (sum, next)) in sum.iter_mut().zip(next).enumerate() {
                *sum = S::mul_add(if r < 8 { signed } else { weight }, next, *sum);
            }
        }
        let [x, y, z, w, dx, dy, dz, dw, s] = sum;
        // Every product below has two factors of r or d, so a division by |r|² normalises all of them.
        let one = S::splat(1.0);
        let two = S::div(
            S::splat(2.0),
            S::max(
                dot::<W, S>([x, y, z, w], [x, y, z, w]),
                S::splat(f32::MIN_POSITIVE),
            ),
        );
        let x2 = S::mul(x, two);
        let y2 = S::mul(y, two);
        let z2 = S::mul(z, two);
        let xx = S::mul(x, x2);
        let yy = S::mul(y, y2);
        let zz = S::mul(z, z2);
        let xy = S::mul(x, y2);
        let xz = S::mul(x, z2);
        let yz = S::mul(y, z2);
        let wx = S::mul(w, x2);
        let wy = S::mul(w, y2);
        let wz = S::mul(w, z2);
        [
            S::mul(s, S::sub(one, S::add(yy, zz))),
            S::mul(s, S::sub(xy, wz)),
            S::mul(s, S::add(xz, wy)),
            S::mul(two, moved::<W, S>([w, dw], [x, dx], [y, z], [dy, dz])),
            S::mul(s, S::add(xy, wz)),
            S::mul(s, S::sub(one, S::add(xx, zz))),
            S::mul(s, S::sub(yz, wx)),
            S::mul(two, moved::<W, S>([w, dw], [y, dy], [z, x], [dz, dx])),
            S::mul(s, S::sub(xz, wy)),
            S::mul(s, S::add(yz, wx)),
            S::mul(s, S::sub(one, S::add(xx, yy))),
            S::mul(two, moved::<W, S>([w, dw], [z, dz], [x, y], [dx, dy])),
        ]
    }
}

/// One axis of `w d - dw r + r x d`: `[r, d]` are its own, `a` and `da` those of the next two axes.
#[inline(always)] // as above
fn moved<const W: usize, S: Simd<W>>(
    [w, dw]: [S::V; 2],
    [r, d]: [S::V; 2],
    a: [S::V; 2],
    da: [S::V; 2],
) -> S::V {
    let straight = S::sub(S::mul(w, d), S::mul(dw, r));
    S::add(straight, S::sub(S::mul(a[0], da[1]), S::mul(a[1], da[0])))
}

#[inline(always)] // as above
fn dot<const W: usize, S: Simd<W>>(a: [S::V; 4], b: [S::V; 4]) -> S::V {
    let sum = S::mul_add(a[1], b[1], S::mul(a[0], b[0]));
    S::mul_add(a[3], b[3], S::mul_add(a[2], b[2], sum))
}
