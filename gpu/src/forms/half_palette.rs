//! Palette entries in half precision: rotation and scale as 16-bit floats, the translation in full precision.
//!
//! # Error
//! A 16-bit float has 11 significant bits. Rounding changes an element `a` by at most `2^-11 |a|`, or by `2^-25` if it
//! is below the normal range. The rotation and scale `s` of an entry, whose Frobenius norm is `sqrt(3) s`, change by at
//! most `e = 2^-11 sqrt(3) s + 3 * 2^-25` in that norm, which bounds what becomes of a vector `x`: it is off by at most
//! `e |x|`. The translation is chosen so that the centre of the entry's vertices is mapped exactly. A vertex is
//! therefore off by at most `e r`, where `r` is the largest distance of such a vertex from the centre. Blending adds up
//! weighted errors, which stay below the largest of them.
//!
//! A direction is off by at most `e / s` radians. Where joints rotate against each other, blending shortens the sum, and
//! errors count twice if the sum has half the length. Cofactors (exact normals) are products of two elements, whose
//! errors add up.

use skinbench_frame::Approximation;
use skinbench_kernels::crowd::{Crowd, Group};
use skinbench_kernels::reference::shown;
use skinbench_kernels::vertex::Normals;

/// Largest relative error of rounding.
const RELATIVE: f64 = 1.0 / 2048.0;
/// Largest error of rounding below the normal range.
const ABSOLUTE: f64 = 1.0 / (1u64 << 25) as f64;

/// Largest error of a matrix that rotates and scales, in the Frobenius norm.
fn matrix_error(scale: f64) -> f64 {
    RELATIVE * 3f64.sqrt() * scale + 3.0 * ABSOLUTE
}

/// For each entry of a group's palettes the point that [half precision](skinbench_kernels::device_palette::DeviceForm::Half) maps exactly.
pub fn centres(crowd: &Crowd, group: &Group) -> Vec<[f32; 3]> {
    crowd
        .entry_reaches(group)
        .iter()
        .map(|reach| reach.centre.as_vec3().to_array())
        .collect()
}

/// Stated error of a crowd's palettes; joints must not scale unevenly.
pub fn approximation(crowd: &Crowd) -> Approximation {
    let mut stated = Approximation {
        pose: 0.0,
        position: 0.0,
        normal: 0.0,
        clip_error: None,
    };
    for group in crowd.groups() {
        let diagonal = shown(crowd, group).diagonal;
        let factors = if group.format.normals == Normals::Exact {
            2.0
        } else {
            1.0
        };
        for reach in crowd
            .entry_reaches(group)
            .iter()
            .filter(|reach| reach.radius > 0.0)
        {
            let angle = 2.0 * factors * matrix_error(reach.least) / reach.least;
            stated.position = stated
                .position
                .max(matrix_error(reach.stretch) * reach.radius / diagonal);
            // A joint may shrink to nothing, and then no direction is known.
            stated.normal = stated.normal.max(angle).min(std::f64::consts::PI);
        }
    }
    stated
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;
    use glam::{Mat3, Quat, Vec3};
    use half::f16;
    use skinbench_kernels::device_palette::{DeviceForm, HalfEntry, convert};
    use skinbench_kernels::model::Rows;
    use skinbench_kernels::pose::BlockPalettes;
    use skinbench_kernels::simd::Isa;

    /// The error of points at the radius is below the bound, and not far below.
    #[test]
    fn the_bound_is_kept_and_tight() {
        let (mut worst, centre, radius) = (0.0f64, Vec3::new(3.0, -2.0, 40.0), 2.0);
        let scale = 1.7f32;
        for i in 0..2_000 {
            let turn = |k: f32| (i as f32 * k).sin();
            let axis = Vec3::new(turn(1.3), turn(2.7), turn(0.9)).normalize();
            let m = Mat3::from_axis_angle(axis, 3.0 * turn(0.37)) * scale;
            let rows: Rows =
                std::array::from_fn(|i| if i % 4 == 3 { 5.0 } else { m.col(i % 4)[i / 4] });
            let mut half = HalfEntry::zeroed();
            let out = bytemuck::cast_slice_mut(std::slice::from_mut(&mut half));
            let centres = [centre.to_array()];
            let palette = BlockPalettes::Rows(&[rows]);
            convert(
                Isa::strongest(),
                DeviceForm::Half,
                palette,
                &centres,
                1,
                out,
            );
            let point = centre + radius * (Quat::from_rotation_y(turn(3.1) * 3.0) * axis);
            let off = (0..3).map(|row| {
                let exact = (0..3)
                    .map(|c| f64::from(rows[4 * row + c]) * f64::from(point[c]))
                    .sum::<f64>();
                let element = |c: usize| f16::from_bits(half.rows[3 * row + c]).to_f64();
                let got = (0..3)
                    .map(|c| element(c) * f64::from(point[c]))
                    .sum::<f64>();
                got + f64::from(half.translation[row]) - exact - f64::from(rows[4 * row + 3])
            });
            worst = worst.max(off.map(|o| o * o).sum::<f64>().sqrt());
        }
        let bound = matrix_error(scale.into()) * f64::from(radius);
        assert!(
            worst < bound && worst > 0.2 * bound,
            "off by {worst}, stated {bound}"
        );
    }
}
