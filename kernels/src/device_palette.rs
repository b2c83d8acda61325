//! Palettes of an instance in the forms that shaders read.

use crate::crowd::BLOCK;
use crate::model::Rows;
use crate::pose::{Affine, BlockPalettes};
use crate::simd::{Isa, Kernel, Simd, run};
use crate::skin::motion::motion;
use bytemuck::{Pod, Zeroable};
use glam::Vec4;
use std::marker::PhantomData;

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

/// A form of palettes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceForm {
    /// [`ColumnMatrix`].
    Columns,
    /// [`DeviceDualQuaternion`]. Matrices must be rotations, translations and uniform scales; others give wrong numbers.
    DualQuaternions,
    /// [`HalfEntry`]. The translation makes up for the rounding at one point per entry, its centre, which is mapped exactly.
    Half,
}

/// Converts the palettes of a block's instances. `centres` holds one item per entry, or nothing for forms that need none.
/// `out` takes `instances` palettes of equally many numbers, of which those beyond the entries are not written.
///
/// # Panics
/// Palettes in rows, or `out`, cannot be divided equally among the instances.
pub fn convert(
    isa: Isa,
    form: DeviceForm,
    palettes: BlockPalettes,
    centres: &[[f32; 3]],
    instances: usize,
    out: &mut [f32],
) {
    match form {
        DeviceForm::Columns => convert_to::<Columns>(isa, palettes, centres, instances, out),
        DeviceForm::DualQuaternions => {
            convert_to::<DualQuaternions>(isa, palettes, centres, instances, out);
        }
        DeviceForm::Half => convert_to::<Half>(isa, palettes, centres, instances, out),
    }
}

fn convert_to<F: Entries>(
    isa: Isa,
    palettes: BlockPalettes,
    centres: &[[f32; 3]],
    instances: usize,
    out: &mut [f32],
) {
    let floats = share(out.len(), "floats", instances);
    match palettes {
        BlockPalettes::Rows(rows) => {
            let entries = share(rows.len(), "matrices", instances);
            for (rows, out) in rows.chunks_exact(entries).zip(out.chunks_exact_mut(floats)) {
                let form = PhantomData::<F>;
                run(
                    isa,
                    OfRows {
                        rows,
                        centres,
                        out,
                        form,
                    },
                );
            }
        }
        BlockPalettes::Lanes(lanes) => {
            let form = PhantomData::<F>;
            run(
                isa,
                OfLanes {
                    lanes,
                    centres,
                    floats,
                    out,
                    form,
                },
            );
        }
    }
}

/// What each instance has of a list, at least 1, so that the list can be cut.
fn share(items: usize, of: &str, instances: usize) -> usize {
    assert!(
        items.is_multiple_of(instances),
        "{items} {of}; expected as many for each of {instances} instances"
    );
    (items / instances.max(1)).max(1)
}

/// Entries that vectors compute side by side.
trait Entries {
    /// Numbers of an entry, a multiple of 4.
    const FLOATS: usize;

    /// The entries of some matrices in rows of four, side by side: in each lane the numbers of an entry in groups of four,
    /// of which the first `FLOATS` count. `centre` is a point for each.
    fn entries<const W: usize, V: Simd<W>>(matrix: &[[V; 4]; 3], centre: [V; 3]) -> [[Vec4; W]; 4];
}

enum Columns {}

enum DualQuaternions {}

enum Half {}

impl Entries for Columns {
    const FLOATS: usize = 16;

    #[inline(always)] // as all here: to take on the caller's instruction set
    fn entries<const W: usize, V: Simd<W>>(matrix: &[[V; 4]; 3], _: [V; 3]) -> [[Vec4; W]; 4] {
        let [x, y, z] = matrix;
        let [zero, one] = [V::splat(0.0), V::splat(1.0)];
        [
            V::columns([x[0], y[0], z[0], zero]),
            V::columns([x[1], y[1], z[1], zero]),
            V::columns([x[2], y[2], z[2], zero]),
            V::columns([x[3], y[3], z[3], one]),
        ]
    }
}

impl Entries for DualQuaternions {
    const FLOATS: usize = 12;

    #[inline(always)]
    fn entries<const W: usize, V: Simd<W>>(matrix: &[[V; 4]; 3], _: [V; 3]) -> [[Vec4; W]; 4] {
        let [x, y, z, w, dx, dy, dz, dw, scale] = motion(matrix);
        let zero = V::splat(0.0);
        [
            V::columns([x, y, z, w]),
            V::columns([dx, dy, dz, dw]),
            V::columns([scale, zero, zero, zero]),
            [Vec4::ZERO; W],
        ]
    }
}

impl Entries for Half {
    const FLOATS: usize = 8;

    #[inline(always)]
    fn entries<const W: usize, V: Simd<W>>(matrix: &[[V; 4]; 3], centre: [V; 3]) -> [[Vec4; W]; 4] {
        let mut moved = [V::splat(0.0); 3];
        for (moved, row) in moved.iter_mut().zip(matrix) {
            *moved = row[3];
            for (number, centre) in row[..3].iter().zip(centre) {
                let rounding = *number - number.to_half();
                *moved = rounding.mul_add(centre, *moved);
            }
        }
        let [x, y, z] = matrix;
        [
            V::columns([moved[0], moved[1], moved[2], V::pack_half(x[0], x[1])]),
            V::columns([
                V::pack_half(x[2], y[0]),
                V::pack_half(y[1], y[2]),
                V::pack_half(z[0], z[1]),
                V::pack_half(z[2], V::splat(0.0)),
            ]),
            [Vec4::ZERO; W],
            [Vec4::ZERO; W],
        ]
    }
}

/// Converts an instance's palette, neighbouring entries side by side.
struct OfRows<'a, F> {
    rows: &'a [Rows],
    centres: &'a [[f32; 3]],
    out: &'a mut [f32],
    form: PhantomData<F>,
}

impl<F: Entries> Kernel for OfRows<'_, F> {
    #[inline(always)]
    fn run<const W: usize, V: Simd<W>>(self) {
        let out = self.out.chunks_mut(W * F::FLOATS);
        for (index, (rows, out)) in self.rows.chunks(W).zip(out).enumerate() {
            let mut columns = [Vec4::ZERO; W];
            for (column, &[x, y, z]) in columns.iter_mut().zip(self.centres.iter().skip(index * W))
            {
                *column = Vec4::new(x, y, z, 0.0);
            }
            let [x, y, z, _] = V::rows(&columns);
            let entries = F::entries::<W, V>(&in_lanes::<W, V>(rows), [x, y, z]);
            let out = out.chunks_exact_mut(F::FLOATS).take(rows.len());
            for (lane, out) in out.enumerate() {
                put(&entries, lane, out);
            }
        }
    }
}

/// Converts a block's palettes, the instances of the block side by side.
struct OfLanes<'a, F> {
    lanes: &'a [Affine<BLOCK>],
    centres: &'a [[f32; 3]],
    /// Numbers of an instance.
    floats: usize,
    out: &'a mut [f32],
    form: PhantomData<F>,
}

impl<F: Entries> Kernel for OfLanes<'_, F> {
    #[inline(always)]
    fn run<const W: usize, V: Simd<W>>(self) {
        for (index, entry) in self.lanes.iter().enumerate() {
            let centre = self.centres.get(index).copied().unwrap_or_default();
            let first = index * F::FLOATS;
            for (chunk, out) in self.out.chunks_mut(W * self.floats).enumerate() {
                let rows: &[[[f32; BLOCK]; 4]; 3] = bytemuck::cast_ref(entry);
                let mut matrix = [[V::splat(0.0); 4]; 3];
                for (row, numbers) in matrix.iter_mut().zip(rows) {
                    *row = V::load_rows(numbers, chunk);
                }
                let entries = F::entries::<W, V>(&matrix, centre.map(V::splat));
                for (lane, out) in out.chunks_exact_mut(self.floats).enumerate() {
                    put(&entries, lane, &mut out[first..][..F::FLOATS]);
                }
            }
        }
    }
}

/// Writes the entry of a lane.
#[inline(always)]
fn put<const W: usize>(entries: &[[Vec4; W]; 4], lane: usize, out: &mut [f32]) {
    for (out, numbers) in out.as_chunks_mut::<4>().0.iter_mut().zip(entries) {
        *out = numbers[lane].to_array();
    }
}

/// Up to `W` entries side by side, in rows of four. Lanes without an entry have zeros.
#[inline(always)] // as above
fn in_lanes<const W: usize, V: Simd<W>>(palette: &[Rows]) -> [[V; 4]; 3] {
    let mut rows = [[V::splat(0.0); 4]; 3];
    for (row, lanes) in rows.iter_mut().enumerate() {
        let mut columns = [Vec4::ZERO; W];
        for (column, entry) in columns.iter_mut().zip(palette) {
            *column = Vec4::from_array(entry.as_chunks::<4>().0[row]);
        }
        *lanes = V::rows(&columns);
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

    /// An entry of a palette, its matrix, and what that is converted to.
    struct Converted {
        entry: usize,
        rows: Rows,
        out: Vec<f32>,
    }

    /// Entries with what they are converted to: as a single instance, and as those of a block whose last lanes are empty.
    fn converted<F: Entries>(isa: Isa, palette: &[Rows], centres: &[[f32; 3]]) -> Vec<Converted> {
        const INSTANCES: usize = 7;
        let mut rows = vec![f32::NAN; palette.len() * F::FLOATS];
        let single = BlockPalettes::Rows(palette);
        convert_to::<F>(isa, single, centres, 1, &mut rows);
        let mut all = Vec::new();
        for (entry, out) in rows.chunks_exact(F::FLOATS).enumerate() {
            all.push(Converted {
                entry,
                rows: palette[entry],
                out: out.to_vec(),
            });
        }
        let entries = palette.len() / INSTANCES;
        let mut lanes = vec![[[0.0; BLOCK]; 12]; entries];
        for (index, rows) in palette[..INSTANCES * entries].iter().enumerate() {
            for (lanes, number) in lanes[index % entries].iter_mut().zip(rows) {
                lanes[index / entries] = *number;
            }
        }
        // Each instance has room for one entry more.
        let mut out = vec![f32::NAN; INSTANCES * (entries + 1) * F::FLOATS];
        let block = BlockPalettes::Lanes(&lanes);
        convert_to::<F>(isa, block, centres, INSTANCES, &mut out);
        for (index, out) in out.chunks_exact(F::FLOATS).enumerate() {
            let lane = index / (entries + 1);
            let entry = index % (entries + 1);
            if entry == entries {
                assert!(out.iter().all(|number| number.is_nan()), "{isa}");
            } else {
                all.push(Converted {
                    entry,
                    rows: palette[lane * entries + entry],
                    out: out.to_vec(),
                });
            }
        }
        all
    }

    #[test]
    fn columns_are_those_of_the_matrices() {
        let palette = palette();
        for isa in Isa::available() {
            for Converted { rows, out, .. } in converted::<Columns>(isa, &palette, &[]) {
                for (index, number) in rows.iter().enumerate() {
                    assert_eq!(out[index % 4 * 4 + index / 4], *number, "{isa}");
                }
                assert_eq!([out[3], out[7], out[11], out[15]], [0.0, 0.0, 0.0, 1.0]);
            }
        }
    }

    #[test]
    fn dual_quaternions_are_the_motions_of_their_matrices() {
        let palette = palette();
        for isa in Isa::available() {
            for Converted { rows, out, .. } in converted::<DualQuaternions>(isa, &palette, &[]) {
                let want = Similarity::of(&rows);
                let rotation = Quat::from_slice(&out);
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
        let centres: Vec<_> = (0..palette.len())
            .map(|entry| [0.3, 2.0 * (entry as f32).sin(), 1.1])
            .collect();
        for isa in Isa::available() {
            for Converted { entry, rows, out } in converted::<Half>(isa, &palette, &centres) {
                let out: HalfEntry = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&out));
                for row in 0..3 {
                    let mut want = rows[4 * row + 3];
                    for column in 0..3 {
                        let rounded = f16::from_f32(rows[4 * row + column]);
                        assert_eq!(out.rows[3 * row + column], rounded.to_bits(), "{isa}");
                        want +=
                            (rows[4 * row + column] - rounded.to_f32()) * centres[entry][column];
                    }
                    assert!((out.translation[row] - want).abs() < 1e-6, "{isa}");
                }
                assert_eq!(out.rows[9], 0, "{isa}");
            }
        }
    }
}
