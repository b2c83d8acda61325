//! Packing of meshes to 20 bytes per vertex (`PackedVertex` in shaders/mesh_packed.wgsl).
//!
//! Positions take 17 bits per axis of the mesh's box, normals 14 bits for each of two octahedral coordinates. The four
//! largest influences take 8 bits each for the palette entry. The largest weight is one minus the others; those are at
//! most a half each and take 16 bits.

use crate::shader::layout::PackedVertex;
use glam::{Vec2, Vec3};
use skinbench_kernels::crowd::Group;
use skinbench_kernels::model::{Bounds, Mesh};
use skinbench_kernels::vertex::{Attributes, Normals, octahedral};

/// Largest position on an axis.
const POSITION_STEPS: f32 = ((1 << 17) - 1) as f32;
/// Steps of a weight: the largest 16-bit value encodes a half.
const WEIGHT_STEPS: f32 = 131_070.0;
/// Half the number of steps of an octahedral coordinate.
const NORMAL_STEPS: f32 = 8191.0;
/// Largest distance of a normal's length from 1, because packing keeps only the direction.
const UNIT: f32 = 1e-4;

/// Origin and step of packed positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Position of step 0.
    pub origin: Vec3,
    /// Length of a step.
    pub step: Vec3,
}

impl Grid {
    /// The box around a mesh's positions.
    pub fn of(mesh: &Mesh) -> Self {
        let Bounds { min, max } = mesh.bounds();
        Self {
            origin: min,
            step: (max - min) / POSITION_STEPS,
        }
    }

    fn steps(&self, position: [f32; 3]) -> [u32; 3] {
        let offset = Vec3::from(position) - self.origin;
        let steps = Vec3::select(self.step.cmpgt(Vec3::ZERO), offset / self.step, Vec3::ZERO);
        steps
            .round()
            .clamp(Vec3::ZERO, Vec3::splat(POSITION_STEPS))
            .to_array()
            .map(|s| s as u32)
    }
}

/// Returns whether a group's mesh can be packed: entries fit 8 bits, normals are unit vectors if the format shows their
/// length, and no morph target adds to normals, whose rounding would grow when they become short.
pub fn fits(group: &Group) -> bool {
    let raw = group.format.normals == Normals::Raw && group.format.attributes > Attributes::P;
    !group.has_targets()
        && group.model.palette_joints().len() <= 256
        && (!raw || group.model.mesh().normals().iter().all(is_unit))
}

fn is_unit(normal: &[f32; 3]) -> bool {
    (Vec3::from(*normal).length() - 1.0).abs() <= UNIT
}

/// One vertex, its first influences padded to four with weight 0, the largest first.
pub fn pack(
    grid: &Grid,
    position: [f32; 3],
    normal: [f32; 3],
    influences: [(u16, f32); 4],
) -> PackedVertex {
    let mut entries = 0;
    let mut weights = [0; 4];
    for (place, (entry, weight)) in influences.into_iter().enumerate() {
        entries |= u32::from(entry) << (8 * place);
        weights[place] = ((weight * WEIGHT_STEPS).round() as u32).min(0xffff);
    }
    let [x, y, z] = grid.steps(position);
    let [nx, ny] = normal_steps(normal.into());
    PackedVertex {
        entries,
        weights: weights[1] | weights[2] << 16,
        weight_x: weights[3] | x >> 1 << 16,
        yz: y >> 1 | z >> 1 << 16,
        rest: (x & 1) | (y & 1) << 1 | (z & 1) << 2 | nx << 3 | ny << 17,
    }
}

/// The steps on the octahedron whose direction is closest, which are not always the rounded coordinates.
fn normal_steps(normal: Vec3) -> [u32; 2] {
    let wanted = normal.normalize_or_zero();
    let below = ((Vec2::from(octahedral(normal.into())) + 1.0) * NORMAL_STEPS).floor();
    let corners = [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE]
        .map(|c| (below + c).min(Vec2::splat(2.0 * NORMAL_STEPS)));
    let mut nearest = below;
    let mut least = f32::INFINITY;
    for corner in corners {
        let direction = unfolded(corner / NORMAL_STEPS - 1.0);
        let distance = direction.distance_squared(wanted);
        if distance < least {
            nearest = corner;
            least = distance;
        }
    }
    nearest.to_array().map(|steps| steps as u32)
}

/// Unit vector of a point on the octahedral square, as `unfolded` in shaders/octahedral.wgsl computes it.
fn unfolded(square: Vec2) -> Vec3 {
    let z = 1.0 - square.x.abs() - square.y.abs();
    let fold = (-z).max(0.0);
    let [x, y] = square.to_array().map(|axis| {
        if axis >= 0.0 {
            axis - fold
        } else {
            axis + fold
        }
    });
    Vec3::new(x, y, z).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use skinbench_characters::walker;

    #[test]
    fn a_packed_position_is_off_by_half_a_step() {
        let model = walker(1_000).unwrap();
        let mesh = model.mesh();
        let grid = Grid::of(mesh);
        for &position in mesh.positions() {
            let got = grid.origin + Vec3::from(grid.steps(position).map(|s| s as f32)) * grid.step;
            let off = (got - Vec3::from(position)).abs();
            assert!(
                off.cmple(grid.step * 0.6).all(),
                "{position:?} became {got}"
            );
        }
        let flat = Grid {
            origin: Vec3::ZERO,
            step: Vec3::new(1.0, 0.0, 1.0),
        };
        assert_eq!(
            flat.steps([2.0, 0.0, 3.0]),
            [2, 0, 3],
            "a mesh without extent in y"
        );
    }

    #[test]
    fn a_packed_normal_is_off_by_less_than_a_five_thousandth() {
        let spiral = |i: u32| {
            let z = 1.0 - 2.0 * (i as f32 + 0.5) / 10_000.0;
            let (sin, cos) = (i as f32 * 2.399_963).sin_cos();
            Vec3::new(cos, sin, 0.0) * (1.0 - z * z).sqrt() + Vec3::Z * z
        };
        let off = |n: Vec3| {
            let steps = normal_steps(n).map(|c| c as f32);
            unfolded(Vec2::from(steps) / NORMAL_STEPS - 1.0).distance(n)
        };
        let worst = (0..10_000).map(|i| off(spiral(i))).fold(0.0, f32::max);
        assert!(worst < 1.0 / 5_000.0, "off by {worst}");
    }

    #[test]
    fn fields_do_not_overlap() {
        let grid = Grid {
            origin: Vec3::ZERO,
            step: Vec3::ONE,
        };
        let none = [(0, 0.0); 4];
        let zero = pack(&grid, [0.0; 3], [0.0, 0.0, 1.0], none);
        let changed = |vertex: PackedVertex| {
            let bits: [u32; 5] = bytemuck::cast(vertex);
            let before: [u32; 5] = bytemuck::cast(zero);
            std::array::from_fn::<_, 5, _>(|word| bits[word] ^ before[word])
        };
        let all = POSITION_STEPS;
        let fields = [
            changed(pack(&grid, [all, 0.0, 0.0], [0.0, 0.0, 1.0], none)),
            changed(pack(&grid, [0.0, all, 0.0], [0.0, 0.0, 1.0], none)),
            changed(pack(&grid, [0.0, 0.0, all], [0.0, 0.0, 1.0], none)),
            changed(pack(
                &grid,
                [0.0; 3],
                [0.0, 0.0, 1.0],
                [(255, 0.5), (255, 0.5), (255, 0.5), (255, 0.5)],
            )),
            changed(pack(&grid, [0.0; 3], [1.0, 0.0, 0.0], none)),
        ];
        for (a, b) in (0..fields.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
            assert!(
                fields[a].iter().zip(fields[b]).all(|(x, y)| x & y == 0),
                "fields {a} and {b} overlap"
            );
        }
    }
}
