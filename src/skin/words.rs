//! What becomes of a blended matrix: the words of a vertex, in `W` instances at once.

use crate::model::Mesh;
use crate::pose::Affine;
use crate::simd::{Simd, abs};
use crate::vertex::{Cube, Normals};

/// Largest snorm16.
const SNORM: f32 = 32767.0;

/// A matrix in `W` lanes, row by row.
pub(super) type Matrix<V> = [V; 12];

/// The blended matrix of a vertex in lanes `lane..lane + W` of a block.
#[inline(always)] // as all here: to take on the caller's instruction set
pub(super) fn blend<const N: usize, const W: usize, S: Simd<W>, const INFLUENCES: usize>(
    palette: &[Affine<N>],
    joints: &[u16; INFLUENCES],
    weights: &[f32; INFLUENCES],
    group: usize,
) -> Matrix<S::V> {
    let row = |k: usize, r: usize| S::load(&palette[usize::from(joints[k])][r].as_chunks::<W>().0[group]);
    let first = S::splat(weights[0]);
    let mut m: Matrix<S::V> = std::array::from_fn(|r| S::mul(first, row(0, r)));
    for k in 1..INFLUENCES {
        let weight = S::splat(weights[k]);
        m = std::array::from_fn(|r| S::mul_add(weight, row(k, r), m[r]));
    }
    m
}

/// The words of a vertex: `FLOATS` numbers, packed if there are fewer `WORDS`.
#[inline(always)]
pub(super) fn words<const W: usize, S: Simd<W>, const FLOATS: usize, const WORDS: usize>(
    mesh: &Mesh,
    vertex: usize,
    m: &Matrix<S::V>,
    normals: Normals,
) -> [S::V; WORDS] {
    let packed = WORDS < FLOATS;
    // Octahedral coordinates forget the length.
    let unit = normals != Normals::Raw && !packed;
    let mut out = [S::splat(0.0); WORDS];
    let p = mesh.positions()[vertex];
    let moved: [S::V; 3] = std::array::from_fn(|r| {
        let [x, y, z, t] = [m[4 * r], m[4 * r + 1], m[4 * r + 2], m[4 * r + 3]];
        S::mul_add(x, S::splat(p[0]), S::mul_add(y, S::splat(p[1]), S::mul_add(z, S::splat(p[2]), t)))
    });
    let mut normal = [S::splat(0.0); 3];
    if FLOATS >= 6 {
        let n = mesh.normals()[vertex];
        normal = match normals {
            Normals::Exact => rotate::<W, S>(&cofactors::<W, S>(m), n),
            Normals::Unit | Normals::Raw => rotate::<W, S>(m, n),
        };
        if unit {
            normal = normalise::<W, S>(normal);
        }
    }
    let (mut tangent, mut handedness) = ([S::splat(0.0); 3], 0.0);
    if FLOATS >= 10 {
        let t = mesh.tangents().map_or([0.0; 4], |t| t[vertex]);
        tangent = rotate::<W, S>(m, [t[0], t[1], t[2]]);
        if unit {
            tangent = normalise::<W, S>(tangent);
        }
        handedness = t[3];
    }
    if packed {
        let [x, y, z] = in_cube::<W, S>(mesh.cube(), moved);
        out[0] = S::pack_16(x, y);
        out[1] = S::pack_16(z, S::splat(handedness.clamp(-1.0, 1.0) * SNORM));
        if FLOATS >= 6 {
            out[2] = octahedral::<W, S>(normal);
        }
        if FLOATS >= 10 {
            out[3] = octahedral::<W, S>(tangent);
        }
    } else {
        out[..3].copy_from_slice(&moved);
        if FLOATS >= 6 {
            out[3..6].copy_from_slice(&normal);
        }
        if FLOATS >= 10 {
            out[6..9].copy_from_slice(&tangent);
            out[9] = S::splat(handedness);
        }
    }
    out
}

#[inline(always)]
fn rotate<const W: usize, S: Simd<W>>(m: &Matrix<S::V>, v: [f32; 3]) -> [S::V; 3] {
    std::array::from_fn(|r| {
        let [x, y, z] = [m[4 * r], m[4 * r + 1], m[4 * r + 2]];
        S::mul_add(x, S::splat(v[0]), S::mul_add(y, S::splat(v[1]), S::mul(z, S::splat(v[2]))))
    })
}

/// Cofactors of the 3x3 part: each row is the cross product of the other two.
#[inline(always)]
fn cofactors<const W: usize, S: Simd<W>>(m: &Matrix<S::V>) -> Matrix<S::V> {
    let mut out = [S::splat(0.0); 12];
    for (row, a, b) in [(0, 4, 8), (4, 8, 0), (8, 0, 4)] {
        for c in 0..3 {
            let (i, j) = ((c + 1) % 3, (c + 2) % 3);
            out[row + c] = S::sub(S::mul(m[a + i], m[b + j]), S::mul(m[a + j], m[b + i]));
        }
    }
    out
}

/// Unit length; zero stays zero.
#[inline(always)]
pub(super) fn normalise<const W: usize, S: Simd<W>>(n: [S::V; 3]) -> [S::V; 3] {
    let squared = S::mul_add(n[0], n[0], S::mul_add(n[1], n[1], S::mul(n[2], n[2])));
    // The smallest normal float keeps the root finite.
    let scale = S::inverse_sqrt(S::max(squared, S::splat(f32::MIN_POSITIVE)));
    n.map(|c| S::mul(c, scale))
}

/// A position in steps of its cube.
#[inline(always)]
fn in_cube<const W: usize, S: Simd<W>>(cube: &Cube, p: [S::V; 3]) -> [S::V; 3] {
    let scale = SNORM / cube.half;
    let (low, high) = (S::splat(-SNORM), S::splat(SNORM));
    std::array::from_fn(|c| {
        let steps = S::mul_add(p[c], S::splat(scale), S::splat(-scale * cube.centre[c]));
        S::max(S::min(steps, high), low)
    })
}

/// A direction's octahedral word.
#[inline(always)]
fn octahedral<const W: usize, S: Simd<W>>([x, y, z]: [S::V; 3]) -> S::V {
    let sum = S::add(S::add(abs::<W, S>(x), abs::<W, S>(y)), abs::<W, S>(z));
    let scale = S::div(S::splat(1.0), S::max(sum, S::splat(f32::MIN_POSITIVE)));
    let (u, v) = (S::mul(x, scale), S::mul(y, scale));
    let one = S::splat(1.0);
    let below = |a, b| S::copysign(S::sub(one, abs::<W, S>(b)), a);
    let (u, v) = (S::select_negative(z, below(u, v), u), S::select_negative(z, below(v, u), v));
    S::pack_16(S::mul(u, S::splat(SNORM)), S::mul(v, S::splat(SNORM)))
}
