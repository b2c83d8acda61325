//! Affine matrices in f32 rows and in f64.

use glam::{DAffine3, DMat4, DVec3, DVec4, Mat3, Quat, Vec3};

/// Rows of an affine 3x4 matrix: `[m00 m01 m02 tx, m10 m11 m12 ty, m20 m21 m22 tz]`, column vectors.
pub type Rows = [f32; 12];

/// The identity as [`Rows`].
pub const IDENTITY_ROWS: Rows = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];

/// The first three rows of a 4x4 matrix in columns, as graphics interfaces have it.
pub fn columns_to_rows(columns: &[f32; 16]) -> Rows {
    std::array::from_fn(|place| columns[place % 4 * 4 + place / 4])
}

/// [`Rows`] as an f64 affine.
pub fn rows_to_affine(rows: &Rows) -> DAffine3 {
    let values = rows.map(f64::from);
    let [x, y, z] = [0, 4, 8].map(|first| DVec4::from_slice(&values[first..]));
    DAffine3::from_mat4(DMat4::from_cols(x, y, z, DVec4::W).transpose())
}

/// The elements of an f64 affine, in the order of [`Rows`].
pub(crate) fn affine_to_f64_rows(a: &DAffine3) -> [f64; 12] {
    let [rows @ .., _, _, _, _] = DMat4::from(*a).transpose().to_cols_array();
    rows
}

/// An f64 affine rounded to [`Rows`].
pub fn affine_to_rows(a: &DAffine3) -> Rows {
    affine_to_f64_rows(a).map(|v| v as f32)
}

/// Largest difference between the scales of two axes that counts as none, relative to the largest scale.
pub const EVEN: f64 = 1e-5;

/// Returns whether a scale differs between axes.
pub fn is_uneven(scale: DVec3) -> bool {
    (scale - DVec3::splat(scale.x)).abs().max_element() > EVEN * scale.abs().max_element()
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
    /// Scale, rotation and translation of a matrix that consists of nothing else; others give wrong numbers.
    pub fn of(rows: &Rows) -> Self {
        let [x, y, z, translation] =
            [0, 1, 2, 3].map(|column| Vec3::new(rows[column], rows[4 + column], rows[8 + column]));
        let scale = x.length();
        let axes = if scale > 0.0 {
            Mat3::from_cols(x / scale, y / scale, z / scale)
        } else {
            Mat3::IDENTITY
        };
        Self {
            rotation: Quat::from_mat3(&axes).normalize(),
            translation,
            scale,
        }
    }
}
