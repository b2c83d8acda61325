//! Computes the words of a vertex from its blended matrix, for `W` instances at once.

use crate::crowd::BLOCK;
use crate::pose::Affine;
use crate::simd::{Simd, abs, dot3, dot3_add, load_chunk};
use crate::vertex::{Cube, Normals, SNORM, VANISHING};

/// Most numbers of a vertex, and most words of a packed one.
pub(super) const MOST_FLOATS: usize = 10;
pub(super) const MOST_PACKED: usize = 4;

/// A matrix in `W` lanes, row by row.
pub(super) type Matrix<V> = [V; 12];

/// A palette of a block of instances, from which a vertex's matrix is blended.
pub(super) trait BlockPalette {
    /// `true` to compile kernels for each usual number of influences, `false` to compile them once for any number.
    const UNROLLED: bool;

    /// A vertex's matrix in the lanes of a chunk of `W`.
    fn matrix<const W: usize, S: Simd<W>>(
        &self,
        joints: &[u16],
        weights: &[f32],
        chunk: usize,
    ) -> Matrix<S::V>;
}

/// A weighted sum of palette entries.
impl BlockPalette for &[Affine<BLOCK>] {
    const UNROLLED: bool = true;

    #[inline(always)] // as all here: to take on the caller's instruction set
    fn matrix<const W: usize, S: Simd<W>>(
        &self,
        joints: &[u16],
        weights: &[f32],
        chunk: usize,
    ) -> Matrix<S::V> {
        let first = &self[usize::from(joints[0])];
        let weight = S::splat(weights[0]);
        let mut m = [S::splat(0.0); 12];
        for (sum, row) in m.iter_mut().zip(first) {
            *sum = S::mul(weight, load_chunk::<BLOCK, W, S>(row, chunk));
        }
        for (&joint, &weight) in joints[1..].iter().zip(&weights[1..]) {
            let entry = &self[usize::from(joint)];
            let weight = S::splat(weight);
            for (sum, row) in m.iter_mut().zip(entry) {
                *sum = S::mul_add(weight, load_chunk::<BLOCK, W, S>(row, chunk), *sum);
            }
        }
        m
    }
}

/// A skinned position.
#[inline(always)]
pub(super) fn moved<const W: usize, S: Simd<W>>(m: &Matrix<S::V>, p: [S::V; 3]) -> [S::V; 3] {
    [
        dot3_add::<W, S>([m[0], m[1], m[2]], p, m[3]),
        dot3_add::<W, S>([m[4], m[5], m[6]], p, m[7]),
        dot3_add::<W, S>([m[8], m[9], m[10]], p, m[11]),
    ]
}

/// A skinned normal.
#[inline(always)]
pub(super) fn rotated_normal<const W: usize, S: Simd<W>>(
    m: &Matrix<S::V>,
    n: [S::V; 3],
    normals: Normals,
) -> [S::V; 3] {
    match normals {
        Normals::Raw => rotate::<W, S>(m, n),
        Normals::Unit => normalise::<W, S>(rotate::<W, S>(m, n)),
        Normals::Exact => normalise::<W, S>(rotate::<W, S>(&cofactors::<W, S>(m), n)),
    }
}

/// A skinned tangent, without its handedness.
#[inline(always)]
pub(super) fn rotated_tangent<const W: usize, S: Simd<W>>(
    m: &Matrix<S::V>,
    t: [S::V; 3],
    normals: Normals,
) -> [S::V; 3] {
    match normals {
        Normals::Raw => rotate::<W, S>(m, t),
        Normals::Unit | Normals::Exact => normalise::<W, S>(rotate::<W, S>(m, t)),
    }
}

/// The first `floats` numbers of a vertex as packed words; missing attributes are zero.
#[inline(always)]
pub(super) fn pack<const W: usize, S: Simd<W>>(
    cube: &Cube,
    numbers: &[S::V; MOST_FLOATS],
    floats: usize,
) -> [S::V; MOST_PACKED] {
    let mut out = [S::splat(0.0); MOST_PACKED];
    let [x, y, z] = in_cube::<W, S>(cube, [numbers[0], numbers[1], numbers[2]]);
    let hand = if floats >= 10 {
        clamped::<W, S>(S::mul(numbers[9], S::splat(SNORM)))
    } else {
        S::splat(0.0)
    };
    out[0] = S::pack_16(x, y);
    out[1] = S::pack_16(z, hand);
    if floats >= 6 {
        out[2] = octahedral::<W, S>([numbers[3], numbers[4], numbers[5]]);
    }
    if floats >= 10 {
        out[3] = octahedral::<W, S>([numbers[6], numbers[7], numbers[8]]);
    }
    out
}

/// Treatment of normals before packing: octahedral coordinates do not store a length, so normalising would be wasted.
pub(super) fn before_packing(normals: Normals) -> Normals {
    if normals == Normals::Unit {
        Normals::Raw
    } else {
        normals
    }
}

#[inline(always)]
fn rotate<const W: usize, S: Simd<W>>(m: &Matrix<S::V>, v: [S::V; 3]) -> [S::V; 3] {
    [
        dot3::<W, S>([m[0], m[1], m[2]], v),
        dot3::<W, S>([m[4], m[5], m[6]], v),
        dot3::<W, S>([m[8], m[9], m[10]], v),
    ]
}

/// Cofactors of the 3x3 part: each row is the cross product of the other two. Written out, because an array with a
/// variable index would put every vertex's matrix in memory, whether normals are exact or not.
#[inline(always)]
fn cofactors<const W: usize, S: Simd<W>>(m: &Matrix<S::V>) -> Matrix<S::V> {
    let [x, y, z] = [[m[0], m[1], m[2]], [m[4], m[5], m[6]], [m[8], m[9], m[10]]];
    let [a, b, c] = [
        cross::<W, S>(y, z),
        cross::<W, S>(z, x),
        cross::<W, S>(x, y),
    ];
    let zero = S::splat(0.0);
    [
        a[0], a[1], a[2], zero, b[0], b[1], b[2], zero, c[0], c[1], c[2], zero,
    ]
}

#[inline(always)]
fn cross<const W: usize, S: Simd<W>>(a: [S::V; 3], b: [S::V; 3]) -> [S::V; 3] {
    [
        S::sub(S::mul(a[1], b[2]), S::mul(a[2], b[1])),
        S::sub(S::mul(a[2], b[0]), S::mul(a[0], b[2])),
        S::sub(S::mul(a[0], b[1]), S::mul(a[1], b[0])),
    ]
}

/// Normalises; what is shorter than the root of [`VANISHING`] stays shorter than 1.
#[inline(always)]
pub(super) fn normalise<const W: usize, S: Simd<W>>(n: [S::V; 3]) -> [S::V; 3] {
    let squared = dot3::<W, S>(n, n);
    let scale = S::inverse_sqrt(S::max(squared, S::splat(VANISHING)));
    [
        S::mul(n[0], scale),
        S::mul(n[1], scale),
        S::mul(n[2], scale),
    ]
}

/// A position in steps of its cube.
#[inline(always)]
fn in_cube<const W: usize, S: Simd<W>>(cube: &Cube, p: [S::V; 3]) -> [S::V; 3] {
    let scale = SNORM / cube.half;
    let [x, y, z] = cube.centre.map(|c| -scale * c);
    let scale = S::splat(scale);
    [
        clamped::<W, S>(S::mul_add(p[0], scale, S::splat(x))),
        clamped::<W, S>(S::mul_add(p[1], scale, S::splat(y))),
        clamped::<W, S>(S::mul_add(p[2], scale, S::splat(z))),
    ]
}

/// Clamps steps to the largest snorm16.
#[inline(always)]
fn clamped<const W: usize, S: Simd<W>>(steps: S::V) -> S::V {
    S::max(S::min(steps, S::splat(SNORM)), S::splat(-SNORM))
}

/// A direction's octahedral word.
#[inline(always)]
fn octahedral<const W: usize, S: Simd<W>>([x, y, z]: [S::V; 3]) -> S::V {
    let sum = S::add(S::add(abs::<W, S>(x), abs::<W, S>(y)), abs::<W, S>(z));
    let scale = S::div(S::splat(1.0), S::max(sum, S::splat(f32::MIN_POSITIVE)));
    let u = S::mul(x, scale);
    let v = S::mul(y, scale);
    let shown_u = S::select_negative(z, folded::<W, S>(u, v), u);
    let shown_v = S::select_negative(z, folded::<W, S>(v, u), v);
    let steps_u = S::mul(shown_u, S::splat(SNORM));
    let steps_v = S::mul(shown_v, S::splat(SNORM));
    S::pack_16(steps_u, steps_v)
}

/// `(1 - |b|) * sign(a)`: a coordinate below the equator.
#[inline(always)]
fn folded<const W: usize, S: Simd<W>>(a: S::V, b: S::V) -> S::V {
    S::copysign(S::sub(S::splat(1.0), abs::<W, S>(b)), a)
}
