//! Palettes of an instance in the forms that shaders read.

use crate::model::Rows;
use crate::simd::{Isa, Kernel, Simd, run};
use crate::skin::motion::motion;
use bytemuck::{Pod, Zeroable};
use glam::Vec4;

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
pub fn dual_quaternions(isa: Isa, palette: &[Rows], out: &mut [DeviceDualQuaternion]) {
    run(isa, DualQuaternions { palette, out });
}

/// Rounds each entry to half precision; `out` takes one item per entry. The translation makes up for the rounding at one
/// point per entry, those of `centres`, which are mapped exactly.
pub fn half_entries(isa: Isa, palette: &[Rows], centres: &[[f32; 3]], out: &mut [HalfEntry]) {
    let kernel = HalfEntries {
        palette,
        centres,
        out,
    };
    run(isa, kernel);
}

struct DualQuaternions<'a> {
    palette: &'a [Rows],
    out: &'a mut [DeviceDualQuaternion],
}

impl Kernel for DualQuaternions<'_> {
    #[inline(always)] // to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        for (palette, out) in self.palette.chunks(W).zip(self.out.chunks_mut(W)) {
            let [x, y, z, w, dx, dy, dz, dw, scale] = motion::<W, S>(&in_lanes::<W, S>(palette));
            let real = S::columns([x, y, z, w]);
            let dual = S::columns([dx, dy, dz, dw]);
            let zero = S::splat(0.0);
            let scale = S::columns([scale, zero, zero, zero]);
            for (lane, out) in out.iter_mut().enumerate() {
                let numbers = [real[lane], dual[lane], scale[lane]];
                for (out, numbers) in out.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
                    *out = numbers.to_array();
                }
            }
        }
    }
}

struct HalfEntries<'a> {
    palette: &'a [Rows],
    centres: &'a [[f32; 3]],
    out: &'a mut [HalfEntry],
}

impl Kernel for HalfEntries<'_> {
    #[inline(always)] // as above
    fn run<const W: usize, S: Simd<W>>(self) {
        let entries = self.palette.chunks(W).zip(self.centres.chunks(W));
        for ((palette, centres), out) in entries.zip(self.out.chunks_mut(W)) {
            let matrix = in_lanes::<W, S>(palette);
            let mut columns = [Vec4::ZERO; W];
            for (column, &[x, y, z]) in columns.iter_mut().zip(centres) {
                *column = Vec4::new(x, y, z, 0.0);
            }
            let centre = S::rows(&columns);
            let mut moved = [S::splat(0.0); 3];
            for (moved, row) in moved.iter_mut().zip(&matrix) {
                *moved = row[3];
                for (number, centre) in row[..3].iter().zip(centre) {
                    let rounding = S::sub(*number, S::to_half(*number));
                    *moved = S::mul_add(rounding, centre, *moved);
                }
            }
            let [x, y, z] = matrix;
            let front = S::columns([moved[0], moved[1], moved[2], S::pack_half(x[0], x[1])]);
            let back = S::columns([
                S::pack_half(x[2], y[0]),
                S::pack_half(y[1], y[2]),
                S::pack_half(z[0], z[1]),
                S::pack_half(z[2], S::splat(0.0)),
            ]);
            for (lane, out) in out.iter_mut().enumerate() {
                let [first, second]: &mut [[f32; 4]; 2] = bytemuck::cast_mut(out);
                *first = front[lane].to_array();
                *second = back[lane].to_array();
            }
        }
    }
}

/// Up to `W` entries side by side, in rows of four. Lanes without an entry have zeros.
#[inline(always)] // as above
fn in_lanes<const W: usize, S: Simd<W>>(palette: &[Rows]) -> [[S::V; 4]; 3] {
    let mut rows = [[S::splat(0.0); 4]; 3];
    for (row, lanes) in rows.iter_mut().enumerate() {
        let mut columns = [Vec4::ZERO; W];
        for (column, entry) in columns.iter_mut().zip(palette) {
            *column = Vec4::from_array(entry.as_chunks::<4>().0[row]);
        }
        *lanes = S::rows(&columns);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Similarity;
    use glam::{Mat4, Quat, Vec3};
    use half::f16;

    /// Turns about many axes by up to a whole turn, translations and scales; the last one shrinks to nothing.
    fn palette() -> Vec<Rows> {
        let mut palette = Vec::new();
        for i in 1..204 {
            let turn = |k: f32| (i as f32 * k).sin();
            let axis = Vec3::new(turn(1.3), turn(2.7), turn(0.9)).normalize();
            let rotation = Quat::from_axis_angle(axis, 3.2 * turn(0.37));
            let scale = if i == 203 { 0.0 } else { 1.5 + turn(0.11) };
            let translation = 5.0 * Vec3::new(turn(0.2), turn(0.3), turn(0.5));
            let matrix =
                Mat4::from_scale_rotation_translation(Vec3::splat(scale), rotation, translation);
            let numbers = matrix.transpose().to_cols_array();
            palette.push(std::array::from_fn(|at| numbers[at]));
        }
        palette
    }

    #[test]
    fn dual_quaternions_are_the_motions_of_their_matrices() {
        let palette = palette();
        for isa in Isa::available() {
            let mut out = vec![[f32::NAN; 12]; palette.len()];
            dual_quaternions(isa, &palette, &mut out);
            for (rows, out) in palette.iter().zip(&out) {
                let want = Similarity::of(rows);
                let rotation = Quat::from_slice(out);
                let sign = rotation.dot(want.rotation).signum();
                let off = (rotation * sign - want.rotation).length();
                assert!(off < 2e-6, "{isa}: {rotation} for {}", want.rotation);
                let half = Quat::from_vec4((0.5 * want.translation).extend(0.0));
                let off = (Quat::from_slice(&out[4..8]) * sign - half * want.rotation).length();
                assert!(off < 1e-5, "{isa}: the dual part is off by {off}");
                assert!((out[8] - want.scale).abs() < 2e-6, "{isa}: {out:?}");
                assert_eq!(out[9..], [0.0; 3], "{isa}");
            }
        }
    }

    #[test]
    fn half_entries_are_rounded_to_nearest_and_keep_their_centres() {
        let mut palette = palette();
        // Below the normal range, and halfway between two numbers.
        palette[7][0] = 3.1e-6;
        palette[8][5] = 1.0 + 1.0 / 2048.0;
        let centres = vec![[0.3, -2.0, 1.1]; palette.len()];
        for isa in Isa::available() {
            let mut out = vec![HalfEntry::zeroed(); palette.len()];
            half_entries(isa, &palette, &centres, &mut out);
            for (rows, out) in palette.iter().zip(&out) {
                for row in 0..3 {
                    let mut want = rows[4 * row + 3];
                    for column in 0..3 {
                        let rounded = f16::from_f32(rows[4 * row + column]);
                        assert_eq!(out.rows[3 * row + column], rounded.to_bits(), "{isa}");
                        want += (rows[4 * row + column] - rounded.to_f32()) * centres[0][column];
                    }
                    assert!((out.translation[row] - want).abs() < 1e-6, "{isa}");
                }
                assert_eq!(out.rows[9], 0, "{isa}");
            }
        }
    }
}
