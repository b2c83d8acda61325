//! Conversions between the matrices of files and of stores.

use glam::{DAffine3, DQuat};
use skinbench_kernels::model::{Rows, Transform};

/// Largest deviation of a matrix's last row from 0 0 0 1.
const ROUNDING: f32 = 1e-3;

/// A matrix for column vectors stored column by column, or for row vectors stored row by row, as rows.
pub(super) fn rows(m: &[f32; 16]) -> Result<Rows, String> {
    let last = [m[3], m[7], m[11], m[15]];
    if last
        .iter()
        .zip([0.0, 0.0, 0.0, 1.0])
        .any(|(v, expected)| (v - expected).abs() > ROUNDING)
    {
        return Err(format!("its last row is {last:?}; expected 0 0 0 1"));
    }
    Ok([
        m[0], m[4], m[8], m[12], m[1], m[5], m[9], m[13], m[2], m[6], m[10], m[14],
    ])
}

/// The nearest rotation, translation and scale.
pub(super) fn decompose(affine: &DAffine3) -> Transform {
    let (scale, rotation, translation) = affine.to_scale_rotation_translation();
    Transform {
        rotation: rotation.as_quat(),
        translation: translation.as_vec3(),
        scale: scale.as_vec3(),
    }
}

/// A quaternion x y z w in f64, normalised unless it is zero.
pub(super) fn quaternion(q: [f32; 4]) -> DQuat {
    let q = DQuat::from_array(q.map(f64::from));
    if q.length_squared() > 0.0 {
        q.normalize()
    } else {
        q
    }
}
