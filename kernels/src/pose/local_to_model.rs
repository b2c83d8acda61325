//! Stage `local_to_model`: converts local poses to model poses, down the hierarchy.

use super::{Affine, Local};
use crate::crowd::BLOCK;
use crate::model::{NO_PARENT, Skeleton};
use crate::simd::{Kernel, Simd, dot3, dot3_add, load_chunk, load_rows, store_rows};

/// Joint to model space for every joint of a block: `model[j] = model[parent[j]] * local[j]`.
///
/// Both slices hold one entry per joint. Parents come first, so one pass is enough. Of the lanes, at least the first
/// `lanes` are converted.
pub(super) struct LocalToModel<'a, const N: usize> {
    pub skeleton: &'a Skeleton,
    pub lanes: usize,
    pub local: &'a [Local<N>],
    pub model: &'a mut [Affine<N>],
}

impl<const N: usize> Kernel for LocalToModel<'_, N> {
    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        let Self {
            skeleton,
            lanes,
            local,
            model,
        } = self;
        let mut matrices = skeleton.matrices().iter().peekable();
        for (joint, (&parent, local)) in skeleton.parents().iter().zip(local).enumerate() {
            let fixed = matrices.next_if(|(j, _)| usize::from(*j) == joint);
            for chunk in 0..lanes.min(N).div_ceil(W) {
                let own = match fixed {
                    Some((_, rows)) => {
                        let mut own = [S::splat(0.0); 12];
                        own.iter_mut()
                            .zip(rows)
                            .for_each(|(v, number)| *v = S::splat(*number));
                        own
                    }
                    None => affine::<N, W, S>(local, chunk),
                };
                // With 32 registers all numbers are stored at the end: stores between loads of the parent cost 12 %.
                if const { W == BLOCK } || parent == NO_PARENT {
                    let own = match parent {
                        NO_PARENT => own,
                        _ => product::<N, W, S>(&model[usize::from(parent)], &own, chunk),
                    };
                    store_rows::<N, W, S>(&own, &mut model[joint], chunk);
                } else {
                    let (before, after) = model.split_at_mut(joint);
                    multiply::<N, W, S>(&before[usize::from(parent)], &own, chunk, &mut after[0]);
                }
            }
        }
    }
}

/// Rotation, translation and scale as matrix rows, by the usual formula for unit quaternions.
#[inline(always)]
pub(super) fn affine<const N: usize, const W: usize, S: Simd<W>>(
    local: &Local<N>,
    chunk: usize,
) -> [S::V; 12] {
    let [x, y, z, w, tx, ty, tz, sx, sy, sz] = load_rows::<N, W, S, 10>(local, chunk);
    let x2 = S::add(x, x);
    let y2 = S::add(y, y);
    let z2 = S::add(z, z);
    let wx = S::mul(w, x2);
    let wy = S::mul(w, y2);
    let wz = S::mul(w, z2);
    let xx = S::mul(x, x2);
    let xz = S::mul(x, z2);
    let yy = S::mul(y, y2);
    let zz = S::mul(z, z2);
    let one = S::splat(1.0);
    [
        S::mul(S::sub(S::sub(one, yy), zz), sx),
        S::mul(S::sub(S::mul(x, y2), wz), sy),
        S::mul(S::add(xz, wy), sz),
        tx,
        S::mul(S::mul_add(x, y2, wz), sx),
        S::mul(S::sub(S::sub(one, xx), zz), sy),
        S::mul(S::sub(S::mul(y, z2), wx), sz),
        ty,
        S::mul(S::sub(xz, wy), sx),
        S::mul(S::mul_add(y, z2, wx), sy),
        S::mul(S::sub(S::sub(one, xx), yy), sz),
        tz,
    ]
}

/// Writes the product of the parent's matrix and the joint's own, for 16 registers. `palette` has a body of its own there,
/// because it reads the second factor from memory: with one body for both, that factor was kept in registers, and spilled.
#[inline(always)]
fn multiply<const N: usize, const W: usize, S: Simd<W>>(
    a: &Affine<N>,
    b: &[S::V; 12],
    chunk: usize,
    out: &mut Affine<N>,
) {
    for row in [0, 4, 8] {
        let [x, y, z] = [0, 1, 2].map(|column| load_chunk::<N, W, S>(&a[row + column], chunk));
        for column in 0..4 {
            let b = [b[column], b[4 + column], b[8 + column]];
            let sum = match column {
                3 => dot3_add::<W, S>([x, y, z], b, load_chunk::<N, W, S>(&a[row + 3], chunk)),
                _ => dot3::<W, S>([x, y, z], b),
            };
            S::store(sum, &mut out[row + column].as_chunks_mut().0[chunk]);
        }
    }
}

/// Product of two matrices whose numbers fit in registers.
#[inline(always)]
pub(super) fn product<const N: usize, const W: usize, S: Simd<W>>(
    a: &Affine<N>,
    b: &[S::V; 12],
    chunk: usize,
) -> [S::V; 12] {
    let mut m = *b;
    for row in [0, 4, 8] {
        let [x, y, z, t] =
            [0, 1, 2, 3].map(|column| load_chunk::<N, W, S>(&a[row + column], chunk));
        for column in 0..3 {
            m[row + column] = dot3::<W, S>([x, y, z], [b[column], b[4 + column], b[8 + column]]);
        }
        m[row + 3] = dot3_add::<W, S>([x, y, z], [b[3], b[7], b[11]], t);
    }
    m
}
