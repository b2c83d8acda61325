//! Palettes of an instance in the forms that shaders read.

use crate::model::{Rows, Similarity};
use bytemuck::{Pod, Zeroable};
use half::f16;

/// A 4x4 matrix, columns.
pub type ColumnMatrix = [f32; 16];

/// A unit dual quaternion, rotation and dual part x y z w each; then a uniform scale and padding.
pub type DeviceDualQuaternion = [f32; 12];

/// Rotation and scale of an entry in half precision, its translation in full precision.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct HalfEntry {
    /// Translation of the rounded matrix.
    pub translation: [f32; 3],
    /// Bits of three rows of three 16-bit floats, and padding.
    pub rows: [u16; 10],
}

/// Writes each entry as a 4x4 matrix; `out` takes one item per entry.
pub fn columns(palette: &[Rows], out: &mut [ColumnMatrix]) {
    for (out, rows) in out.iter_mut().zip(palette) {
        let &[xx, xy, xz, xw, yx, yy, yz, yw, zx, zy, zz, zw] = rows;
        *out = [
            xx, yx, zx, 0.0, xy, yy, zy, 0.0, xz, yz, zz, 0.0, xw, yw, zw, 1.0,
        ];
    }
}

/// Writes each entry as a dual quaternion; `out` takes one item per entry. Entries must be rotations, translations and
/// uniform scales; others give wrong numbers.
pub fn dual_quaternions(palette: &[Rows], out: &mut [DeviceDualQuaternion]) {
    for (out, rows) in out.iter_mut().zip(palette) {
        let motion = Similarity::of(rows);
        motion.rotation.write_to_slice(out);
        motion.dual_part().write_to_slice(&mut out[4..]);
        out[8..].copy_from_slice(&[motion.scale, 0.0, 0.0, 0.0]);
    }
}

/// Rounds each entry to half precision; `out` takes one item per entry. The translation makes up for the rounding at one
/// point per entry, those of `centres`, which are mapped exactly.
pub fn half_entries(palette: &[Rows], centres: &[[f32; 3]], out: &mut [HalfEntry]) {
    for (out, (rows, centre)) in out.iter_mut().zip(palette.iter().zip(centres)) {
        let mut entry = HalfEntry {
            translation: [rows[3], rows[7], rows[11]],
            rows: [0; 10],
        };
        for (row, moved) in entry.translation.iter_mut().enumerate() {
            for column in 0..3 {
                let rounded = f16::from_f32(rows[4 * row + column]);
                *moved += (rows[4 * row + column] - rounded.to_f32()) * centre[column];
                entry.rows[3 * row + column] = rounded.to_bits();
            }
        }
        *out = entry;
    }
}
