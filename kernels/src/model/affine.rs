//! Affine matrices in f32 rows and in f64.

use glam::{DAffine3, DMat4, DVec4, Mat3, Quat, Vec3};

/// Rows of an affine 3x4 matrix: `[m00 m01 m02 tx, m10 m11 m12 ty, m20 m21 m22 tz]`, column vectors.
pub type Rows = [f32; 12];

/// The identity as [`Rows`].
pub const IDENTITY_ROWS: Rows = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];

/// [`Rows`] as an f64 affine.
pub fn rows_to_affine(rows: &Rows) -> DAffine3 {
    let numbers = rows.map(f64::from);
    let [x, y, z] = [0, 4, 8].map(|first| DVec4::from_slice(&numbers[first..]));
    DAffine3::from_mat4(DMat4::from_cols(x, y, z, DVec4::W).transpose())
}

/// The numbers of an f64 affine, in the order of [`Rows`].
pub(crate) fn row_numbers(a: &DAffine3) -> [f64; 12] {
    std::array::from_fn(|i| {
        if i % 4 == 3 {
            a.translation[i / 4]
        } else {
            a.matrix3.col(i % 4)[i / 4]
        }
    })
}

/// An f64 affine rounded to [`Rows`].
pub fn affine_to_rows(a: &DAffine3) -> Rows {
    row_numbers(a).map(|v| v as f32)
}

/// A uniform scale, then a rotation, then a translation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similarity {
    /// Unit quaternion.
    pub rotation: Quat,
    /// Translation.
    pub translation: Vec3,
    /// Factor on all three axes.
    pub scale: f32,
}

impl Similarity {
    /// Parts of a matrix that consists of nothing else; others give wrong numbers.
    pub fn of(rows: &Rows) -> Self {
        let column = |c: usize| Vec3::new(rows[c], rows[4 + c], rows[8 + c]);
        let scale = column(0).length();
        let unit = |c: usize| {
            if scale > 0.0 {
                column(c) / scale
            } else {
                Vec3::AXES[c]
            }
        };
        let rotation = Quat::from_mat3(&Mat3::from_cols(unit(0), unit(1), unit(2))).normalize();
        Self {
            rotation,
            translation: column(3),
            scale,
        }
    }

    /// The dual part of the dual quaternion whose real part is the rotation: half the translation, as a quaternion
    /// without a real part, times the rotation (Kavan, Collins, Žára, O'Sullivan 2008).
    pub fn dual_part(&self) -> Quat {
        Quat::from_vec4((0.5 * self.translation).extend(0.0)) * self.rotation
    }
}
