//! Computes the words of a vertex from its blended matrix, for `W` instances at once.

use crate::crowd::BLOCK;
use crate::pose::Affine;
use crate::simd::{Simd, dot3, dot3_add};
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
    fn matrix<const W: usize, V: Simd<W>>(
        &self,
        joints: &[u16],
        weights: &[f32],
        chunk: usize,
    ) -> Matrix<V>;
}

/// A weighted sum of palette entries.
impl BlockPalette for &[Affine<BLOCK>] {
    const UNROLLED: bool = true;

    #[inline(always)] // as all here: to take on the caller's instruction set
    fn matrix<const W: usize, V: Simd<W>>(
        &self,
        joints: &[u16],
        weights: &[f32],
        chunk: usize,
    ) -> Matrix<V> {
        let first = &self[usize::from(joints[0])];
        let weight = V::splat(weights[0]);
        let mut m = [V::splat(0.0); 12];
        for (sum, row) in m.iter_mut().zip(first) {
            *sum = weight * V::load_chunk(row, chunk);
        }
        for (&joint, &weight) in joints[1..].iter().zip(&weights[1..]) {
            let entry = &self[usize::from(joint)];
            let weight = V::splat(weight);
            for (sum, row) in m.iter_mut().zip(entry) {
                *sum = weight.mul_add(V::load_chunk(row, chunk), *sum);
            }
        }
        m
    }
}

/// A skinned position.
#[inline(always)]
pub(super) fn moved<const W: usize, V: Simd<W>>(m: &Matrix<V>, p: [V; 3]) -> [V; 3] {
    [
        dot3_add([m[0], m[1], m[2]], p, m[3]),
        dot3_add([m[4], m[5], m[6]], p, m[7]),
        dot3_add([m[8], m[9], m[10]], p, m[11]),
    ]
}

/// A skinned normal.
#[inline(always)]
pub(super) fn rotated_normal<const W: usize, V: Simd<W>>(
    m: &Matrix<V>,
    n: [V; 3],
    normals: Normals,
) -> [V; 3] {
    match normals {
        Normals::Raw => rotate(m, n),
        Normals::Unit => normalise(rotate(m, n)),
        Normals::Exact => normalise(rotate(&cofactors(m), n)),
    }
}

/// A skinned tangent, without its handedness.
#[inline(always)]
pub(super) fn rotated_tangent<const W: usize, V: Simd<W>>(
    m: &Matrix<V>,
    t: [V; 3],
    normals: Normals,
) -> [V; 3] {
    match normals {
        Normals::Raw => rotate(m, t),
        Normals::Unit | Normals::Exact => normalise(rotate(m, t)),
    }
}

/// The first `floats` numbers of a vertex as packed words; missing attributes are zero.
#[inline(always)]
pub(super) fn pack<const W: usize, V: Simd<W>>(
    cube: &Cube,
    numbers: &[V; MOST_FLOATS],
    floats: usize,
) -> [V; MOST_PACKED] {
    let mut out = [V::splat(0.0); MOST_PACKED];
    let [x, y, z] = in_cube(cube, [numbers[0], numbers[1], numbers[2]]);
    let hand = if floats >= 10 {
        clamped(numbers[9] * V::splat(SNORM))
    } else {
        V::splat(0.0)
    };
    out[0] = V::pack_16(x, y);
    out[1] = V::pack_16(z, hand);
    if floats >= 6 {
        out[2] = octahedral([numbers[3], numbers[4], numbers[5]]);
    }
    if floats >= 10 {
        out[3] = octahedral([numbers[6], numbers[7], numbers[8]]);
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
fn rotate<const W: usize, V: Simd<W>>(m: &Matrix<V>, v: [V; 3]) -> [V; 3] {
    [
        dot3([m[0], m[1], m[2]], v),
        dot3([m[4], m[5], m[6]], v),
        dot3([m[8], m[9], m[10]], v),
    ]
}

/// Cofactors of the 3x3 part: each row is the cross product of the other two. Written out, because an array with a
/// variable index would put every vertex's matrix in memory, whether normals are exact or not.
#[inline(always)]
fn cofactors<const W: usize, V: Simd<W>>(m: &Matrix<V>) -> Matrix<V> {
    let [x, y, z] = [[m[0], m[1], m[2]], [m[4], m[5], m[6]], [m[8], m[9], m[10]]];
    let [a, b, c] = [cross(y, z), cross(z, x), cross(x, y)];
    let zero = V::splat(0.0);
    [
        a[0], a[1], a[2], zero, b[0], b[1], b[2], zero, c[0], c[1], c[2], zero,
    ]
}

#[inline(always)]
fn cross<const W: usize, V: Simd<W>>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Normalises; what is shorter than the root of [`VANISHING`] stays shorter than 1.
#[inline(always)]
pub(super) fn normalise<const W: usize, V: Simd<W>>(n: [V; 3]) -> [V; 3] {
    let squared = dot3(n, n);
    let scale = squared.max(V::splat(VANISHING)).inverse_sqrt();
    [n[0] * scale, n[1] * scale, n[2] * scale]
}

/// A position in steps of its cube.
#[inline(always)]
fn in_cube<const W: usize, V: Simd<W>>(cube: &Cube, p: [V; 3]) -> [V; 3] {
    let scale = SNORM / cube.half;
    let [x, y, z] = cube.centre.map(|c| -scale * c);
    let scale = V::splat(scale);
    [
        clamped(p[0].mul_add(scale, V::splat(x))),
        clamped(p[1].mul_add(scale, V::splat(y))),
        clamped(p[2].mul_add(scale, V::splat(z))),
    ]
}

/// Clamps steps to the largest snorm16.
#[inline(always)]
fn clamped<const W: usize, V: Simd<W>>(steps: V) -> V {
    steps.min(V::splat(SNORM)).max(V::splat(-SNORM))
}

/// A direction's octahedral word.
#[inline(always)]
fn octahedral<const W: usize, V: Simd<W>>([x, y, z]: [V; 3]) -> V {
    let sum = x.abs() + y.abs() + z.abs();
    let scale = V::splat(1.0) / sum.max(V::splat(f32::MIN_POSITIVE));
    let u = x * scale;
    let v = y * scale;
    let shown_u = V::select_negative(z, folded(u, v), u);
    let shown_v = V::select_negative(z, folded(v, u), v);
    let steps_u = shown_u * V::splat(SNORM);
    let steps_v = shown_v * V::splat(SNORM);
    V::pack_16(steps_u, steps_v)
}

/// `(1 - |b|) * sign(a)`: a coordinate below the equator.
#[inline(always)]
fn folded<const W: usize, V: Simd<W>>(a: V, b: V) -> V {
    (V::splat(1.0) - b.abs()).copysign(a)
}
