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
use crate::simd::{Isa, Kernel, Simd, run};

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
    fn run<const W: usize, V: Simd<W>>(self) {
        for (out, matrix) in self.out.iter_mut().zip(self.palette) {
            for group in 0..BLOCK / W {
                let numbers = V::load_rows(matrix, group);
                let [a, b, c, d, e, f, g, h, i, j, k, l] = numbers;
                let motion = motion(&[[a, b, c, d], [e, f, g, h], [i, j, k, l]]);
                V::store_rows(&motion, out, group);
            }
        }
    }
}

impl BlockPalette for &[DualQuaternion] {
    const UNROLLED: bool = false;

    #[inline(always)] // to take on the caller's instruction set
    fn matrix<const W: usize, V: Simd<W>>(
        &self,
        joints: &[u16],
        weights: &[f32],
        chunk: usize,
    ) -> Matrix<V> {
        let mut first = [V::splat(0.0); 4];
        let mut sum = [V::splat(0.0); 9];
        for (k, (&joint, &weight)) in joints.iter().zip(weights).enumerate() {
            let next = V::load_rows(&self[usize::from(joint)], chunk);
            let real = [next[0], next[1], next[2], next[3]];
            if k == 0 {
                first = real;
            }
            let weight = V::splat(weight);
            let signed = weight.copysign(dot(real, first));
            for (r, (sum, next)) in sum.iter_mut().zip(next).enumerate() {
                let factor = if r < 8 { signed } else { weight };
                *sum = factor.mul_add(next, *sum);
            }
        }
        let [x, y, z, w, dx, dy, dz, dw, s] = sum;
        // Every product below has two factors of r or d, so a division by |r|² normalises all of them.
        let one = V::splat(1.0);
        let two = V::splat(2.0) / dot([x, y, z, w], [x, y, z, w]).max(V::splat(f32::MIN_POSITIVE));
        let x2 = x * two;
        let y2 = y * two;
        let z2 = z * two;
        let xx = x * x2;
        let yy = y * y2;
        let zz = z * z2;
        let xy = x * y2;
        let xz = x * z2;
        let yz = y * z2;
        let wx = w * x2;
        let wy = w * y2;
        let wz = w * z2;
        [
            s * (one - (yy + zz)),
            s * (xy - wz),
            s * (xz + wy),
            two * moved([w, dw], [x, dx], [y, z], [dy, dz]),
            s * (xy + wz),
            s * (one - (xx + zz)),
            s * (yz - wx),
            two * moved([w, dw], [y, dy], [z, x], [dz, dx]),
            s * (xz - wy),
            s * (yz + wx),
            s * (one - (xx + yy)),
            two * moved([w, dw], [z, dz], [x, y], [dx, dy]),
        ]
    }
}

/// One axis of `w d - dw r + r x d`: `[r, d]` are its own, `a` and `da` those of the next two axes.
#[inline(always)] // as above
fn moved<const W: usize, V: Simd<W>>([w, dw]: [V; 2], [r, d]: [V; 2], a: [V; 2], da: [V; 2]) -> V {
    let straight = w * d - dw * r;
    straight + (a[0] * da[1] - a[1] * da[0])
}

#[inline(always)] // as above
fn dot<const W: usize, V: Simd<W>>(a: [V; 4], b: [V; 4]) -> V {
    let sum = a[1].mul_add(b[1], a[0] * b[0]);
    a[3].mul_add(b[3], a[2].mul_add(b[2], sum))
}
