//! Stage `local_to_model`: local poses down the hierarchy become model poses.

use super::{Affine, Local, ROTATION, SCALE, TRANSLATION};
use crate::model::{NO_PARENT, Skeleton};

/// Joint to model space for every joint of a block: `model[j] = model[parent[j]] * local[j]`.
///
/// Both slices hold one entry a joint. Parents come first, so one pass is enough.
pub fn local_to_model<const N: usize>(skeleton: &Skeleton, local: &[Local<N>], model: &mut [Affine<N>]) {
    let mut matrices = skeleton.matrices().iter().peekable();
    for (joint, (&parent, local)) in skeleton.parents().iter().zip(local).enumerate() {
        let own = match matrices.next_if(|(j, _)| usize::from(*j) == joint) {
            Some((_, rows)) => rows.map(|v| [v; N]),
            None => affine(local),
        };
        model[joint] = if parent == NO_PARENT { own } else { multiply(&model[usize::from(parent)], &own) };
    }
}

/// Rotation, translation and scale as rows; the quaternion form is the usual one for unit quaternions.
#[inline]
fn affine<const N: usize>(local: &Local<N>) -> Affine<N> {
    let mut m = [[0.0; N]; 12];
    for i in 0..N {
        let [x, y, z, w] = std::array::from_fn(|c| local[ROTATION + c][i]);
        let [sx, sy, sz] = std::array::from_fn(|c| local[SCALE + c][i]);
        let (x2, y2, z2) = (x + x, y + y, z + z);
        m[0][i] = (1.0 - (y * y2 + z * z2)) * sx;
        m[1][i] = (x * y2 - w * z2) * sy;
        m[2][i] = (x * z2 + w * y2) * sz;
        m[3][i] = local[TRANSLATION][i];
        m[4][i] = (x * y2 + w * z2) * sx;
        m[5][i] = (1.0 - (x * x2 + z * z2)) * sy;
        m[6][i] = (y * z2 - w * x2) * sz;
        m[7][i] = local[TRANSLATION + 1][i];
        m[8][i] = (x * z2 - w * y2) * sx;
        m[9][i] = (y * z2 + w * x2) * sy;
        m[10][i] = (1.0 - (x * x2 + y * y2)) * sz;
        m[11][i] = local[TRANSLATION + 2][i];
    }
    m
}

/// Product of two affine matrices.
#[inline]
fn multiply<const N: usize>(a: &Affine<N>, b: &Affine<N>) -> Affine<N> {
    let mut m = [[0.0; N]; 12];
    for row in [0, 4, 8] {
        for column in 0..4 {
            for i in 0..N {
                let moved = if column == 3 { a[row + 3][i] } else { 0.0 };
                m[row + column][i] = a[row][i] * b[column][i]
                    + a[row + 1][i] * b[4 + column][i]
                    + a[row + 2][i] * b[8 + column][i]
                    + moved;
            }
        }
    }
    m
}
