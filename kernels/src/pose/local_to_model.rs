//! Stage `local_to_model`: converts local poses to model poses, down the hierarchy.

use super::{Affine, Local};
use crate::crowd::BLOCK;
use crate::model::{NO_PARENT, Skeleton};
use crate::simd::{Kernel, Simd, dot3, dot3_add};

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
    fn run<const W: usize, V: Simd<W>>(self) {
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
                        let mut own = [V::splat(0.0); 12];
                        own.iter_mut()
                            .zip(rows)
                            .for_each(|(v, number)| *v = V::splat(*number));
                        own
                    }
                    None => affine::<N, W, V>(local, chunk),
                };
                // With 32 registers all numbers are stored at the end: stores between loads of the parent cost 12 %.
                if const { W == BLOCK } || parent == NO_PARENT {
                    let own = match parent {
                        NO_PARENT => own,
                        _ => product(&model[usize::from(parent)], &own, chunk),
                    };
                    V::store_rows(&own, &mut model[joint], chunk);
                } else {
                    let (before, after) = model.split_at_mut(joint);
                    multiply(&before[usize::from(parent)], &own, chunk, &mut after[0]);
                }
            }
        }
    }
}

/// Rotation, translation and scale as matrix rows, by the usual formula for unit quaternions.
#[inline(always)]
pub(super) fn affine<const N: usize, const W: usize, V: Simd<W>>(
    local: &Local<N>,
    chunk: usize,
) -> [V; 12] {
    let [x, y, z, w, tx, ty, tz, sx, sy, sz] = V::load_rows(local, chunk);
    let x2 = x + x;
    let y2 = y + y;
    let z2 = z + z;
    let wx = w * x2;
    let wy = w * y2;
    let wz = w * z2;
    let xx = x * x2;
    let xz = x * z2;
    let yy = y * y2;
    let zz = z * z2;
    let one = V::splat(1.0);
    [
        (one - yy - zz) * sx,
        (x * y2 - wz) * sy,
        (xz + wy) * sz,
        tx,
        x.mul_add(y2, wz) * sx,
        (one - xx - zz) * sy,
        (y * z2 - wx) * sz,
        ty,
        (xz - wy) * sx,
        y.mul_add(z2, wx) * sy,
        (one - xx - yy) * sz,
        tz,
    ]
}

/// Writes the product of the parent's matrix and the joint's own, for 16 registers. `palette` has a body of its own there,
/// because it reads the second factor from memory: with one body for both, that factor was kept in registers, and spilled.
#[inline(always)]
fn multiply<const N: usize, const W: usize, V: Simd<W>>(
    a: &Affine<N>,
    b: &[V; 12],
    chunk: usize,
    out: &mut Affine<N>,
) {
    for row in [0, 4, 8] {
        let [x, y, z] = [0, 1, 2].map(|column| V::load_chunk(&a[row + column], chunk));
        for column in 0..4 {
            let b = [b[column], b[4 + column], b[8 + column]];
            let sum = match column {
                3 => dot3_add([x, y, z], b, V::load_chunk(&a[row + 3], chunk)),
                _ => dot3([x, y, z], b),
            };
            sum.store(&mut out[row + column].as_chunks_mut().0[chunk]);
        }
    }
}

/// Product of two matrices whose numbers fit in registers.
#[inline(always)]
pub(super) fn product<const N: usize, const W: usize, V: Simd<W>>(
    a: &Affine<N>,
    b: &[V; 12],
    chunk: usize,
) -> [V; 12] {
    let mut m = *b;
    for row in [0, 4, 8] {
        let [x, y, z, t] = [0, 1, 2, 3].map(|column| V::load_chunk(&a[row + column], chunk));
        for column in 0..3 {
            m[row + column] = dot3([x, y, z], [b[column], b[4 + column], b[8 + column]]);
        }
        m[row + 3] = dot3_add([x, y, z], [b[3], b[7], b[11]], t);
    }
    m
}
