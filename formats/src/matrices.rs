//! Conversions between the matrices of files and of stores.

use glam::{DAffine3, DQuat, Mat4, Vec4};
use skinbench_kernels::model::{Rows, Transform, columns_to_rows};

/// Largest deviation of a matrix's last row from 0 0 0 1.
const ROUNDING: f32 = 1e-3;

/// A matrix for column vectors stored column by column, or for row vectors stored row by row, as rows.
pub fn rows(m: &[f32; 16]) -> Result<Rows, String> {
    let last = Mat4::from_cols_array(m).row(3);
    if (last - Vec4::W).abs().max_element() > ROUNDING {
        return Err(format!(
            "its last row is {:?}; expected 0 0 0 1",
            last.to_array()
        ));
    }
    Ok(columns_to_rows(m))
}

/// Rows as a matrix for column vectors, stored column by column.
pub fn columns(rows: &Rows) -> [f32; 16] {
    let [x, y, z] = [0, 4, 8].map(|start| Vec4::from_slice(&rows[start..]));
    Mat4::from_cols(x, y, z, Vec4::W)
        .transpose()
        .to_cols_array()
}

/// The nearest rotation, translation and scale.
pub fn decompose(affine: &DAffine3) -> Transform {
    let (scale, rotation, translation) = affine.to_scale_rotation_translation();
    Transform {
        rotation: rotation.as_quat(),
        translation: translation.as_vec3(),
        scale: scale.as_vec3(),
    }
}

/// A quaternion x y z w in f64, normalised unless it is zero.
pub fn quaternion(q: [f32; 4]) -> DQuat {
    let q = DQuat::from_array(q.map(f64::from));
    if q.length_squared() > 0.0 {
        q.normalize()
    } else {
        q
    }
}
