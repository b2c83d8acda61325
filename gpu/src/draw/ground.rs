//! The ground that a crowd stands on: a disc with a grid that fades into the background.

use crate::draw::overlay::{LineEnd, Overlay, opaque};
use crate::draw::present::BACKGROUND;
use glam::{Vec2, Vec3};
use skinbench_kernels::crowd::Crowd;
use skinbench_kernels::model::rows_to_affine;
use skinbench_kernels::reference::shown;

/// Linear RGB in the middle of the ground, of the grid's lines, and at the rim: that of the background.
const GROUND: Vec3 = Vec3::new(0.30, 0.33, 0.36);
const GRID: Vec3 = Vec3::new(0.20, 0.22, 0.25);
const FAR: Vec3 = Vec3::new(
    BACKGROUND[0] as f32,
    BACKGROUND[1] as f32,
    BACKGROUND[2] as f32,
);
/// Radius of the ground in radii of the crowd.
const REACH: f32 = 4.0;
/// Corners of the disc's rim, and rings of it.
const SEGMENTS: u32 = 64;
const RINGS: u32 = 8;
/// Most grid lines each way.
const MOST_LINES: f32 = 40.0;
/// Half axes of a shadow in half extents of the model, and the longer one in parts of the shorter one at most.
const SHADOW: f32 = 0.9;
const MOST_STRETCHED: f32 = 2.5;
/// Part of the light that is left in the middle of a shadow.
const DARKEST: f32 = 0.35;
/// Corners of a shadow.
const SHADOW_SEGMENTS: u32 = 20;
/// Height of the lines above the ground, in radii of the crowd.
const LIFT: f32 = 1e-3;

/// The disc that the ground fills.
struct Disc {
    middle: Vec3,
    reach: f32,
}

impl Disc {
    fn new(middle: Vec3, radius: f32) -> Self {
        let reach = REACH * radius;
        Self { middle, reach }
    }

    /// A point of the ground, in a colour that fades into the background.
    fn at(&self, point: Vec3, near: Vec3) -> LineEnd {
        let from_middle = Vec3::new(point.x - self.middle.x, 0.0, point.z - self.middle.z);
        let past = (from_middle.length() / self.reach).clamp(0.0, 1.0);
        // Fades out smoothly, so that the ground has no visible edge.
        let past = 1.0 - (1.0 - past * past).powi(2);
        LineEnd {
            position: point.to_array(),
            color: opaque(near.lerp(FAR, past)),
        }
    }
}

/// A disc around a crowd with this middle and radius, and lines one metre apart, or ten, a hundred and so on for large
/// crowds.
fn plain(middle: Vec3, radius: f32) -> Overlay {
    let disc = Disc::new(middle, radius);
    let reach = disc.reach;
    let mut ground = Overlay::default();
    for ring in 0..=RINGS {
        let distance = reach * ring as f32 / RINGS as f32;
        for segment in 0..SEGMENTS {
            let Vec2 { x, y } = distance * direction(segment, SEGMENTS);
            let corner = Vec3::new(middle.x + x, 0.0, middle.z + y);
            ground.corners.push(disc.at(corner, GROUND));
        }
    }
    for ring in 0..RINGS {
        for segment in 0..SEGMENTS {
            let [a, b] = [segment, (segment + 1) % SEGMENTS].map(|corner| ring * SEGMENTS + corner);
            ground
                .indices
                .extend([a, b, a + SEGMENTS, b, b + SEGMENTS, a + SEGMENTS]);
        }
    }
    let mut step = 1.0;
    while 2.0 * reach / step > MOST_LINES {
        step *= if 4.0 * reach / step > 10.0 * MOST_LINES {
            10.0
        } else {
            2.0
        };
    }
    let count = (2.0 * reach / step) as u32;
    for line in 0..=count {
        for across in [false, true] {
            let centre = if across { middle.x } else { middle.z };
            let first = ((centre - reach) / step).ceil() * step;
            let offset = first + line as f32 * step;
            let from_middle = offset - centre;
            let half = (reach * reach - from_middle * from_middle).max(0.0).sqrt();
            // Short segments, because colours are interpolated along each.
            let pieces = 16;
            for piece in 0..pieces {
                for end in [piece, piece + 1] {
                    let along = half * (2.0 * end as f32 / pieces as f32 - 1.0);
                    let height = LIFT * radius;
                    let point = if across {
                        Vec3::new(offset, height, middle.z + along)
                    } else {
                        Vec3::new(middle.x + along, height, offset)
                    };
                    ground.lines.push(disc.at(point, GRID));
                }
            }
        }
    }
    ground
}

/// A ground under a crowd, with a soft shadow under each instance. `middle` and `radius` are the crowd's.
pub fn ground(crowd: &Crowd, middle: Vec3, radius: f32) -> Overlay {
    let mut ground = plain(middle, radius);
    let disc = Disc::new(middle, radius);
    for group in crowd.groups() {
        let bounds = shown(crowd, group).bounds;
        let centre = 0.5 * (bounds.min + bounds.max);
        let half = 0.5 * (bounds.max - bounds.min);
        for instance in group.instances.clone() {
            let placement = rows_to_affine(&crowd.placements()[instance as usize]).as_affine3a();
            let centre = placement.transform_point3(centre);
            let mut axes =
                [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| placement.transform_vector3(axis * half));
            // The axis that stands most upright has no part in the shape on the ground.
            axes.sort_by(|a, b| steepness(*a).total_cmp(&steepness(*b)));
            let middle = Vec3::new(centre.x, 0.5 * LIFT * radius, centre.z);
            add_shadow(&mut ground, &disc, middle, [axes[0], axes[1]]);
        }
    }
    ground
}

/// The direction of a corner of a circle.
fn direction(segment: u32, segments: u32) -> Vec2 {
    Vec2::from_angle(segment as f32 / segments as f32 * std::f32::consts::TAU)
}

/// An ellipse that fades from its middle to its edge.
fn add_shadow(ground: &mut Overlay, disc: &Disc, middle: Vec3, axes: [Vec3; 2]) {
    let shortest = axes
        .map(Vec3::length)
        .into_iter()
        .fold(f32::INFINITY, f32::min);
    // Arms that are spread at rest would make it too wide.
    let [a, b] = axes.map(|axis| SHADOW * axis.clamp_length_max(MOST_STRETCHED * shortest));
    let first = ground.corners.len() as u32;
    ground.corners.push(disc.at(middle, GROUND * DARKEST));
    for (distance, shadow) in [(0.55, 0.5 * (1.0 + DARKEST)), (1.0, 1.0)] {
        for segment in 0..SHADOW_SEGMENTS {
            let Vec2 { x, y } = direction(segment, SHADOW_SEGMENTS);
            let along = distance * (x * a + y * b);
            let corner = Vec3::new(middle.x + along.x, middle.y, middle.z + along.z);
            ground.corners.push(disc.at(corner, GROUND * shadow));
        }
    }
    for segment in 0..SHADOW_SEGMENTS {
        let [c, d] = [segment, (segment + 1) % SHADOW_SEGMENTS].map(|corner| first + 1 + corner);
        let [e, f] = [c, d].map(|corner| corner + SHADOW_SEGMENTS);
        ground.indices.extend([first, c, d, c, e, d, d, e, f]);
    }
}

/// Steepness of a vector: 0 if it lies flat, 1 if it stands upright.
fn steepness(axis: Vec3) -> f32 {
    axis.y.abs() / axis.length().max(f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ground_of_any_size_has_few_lines_and_fades_at_its_rim() {
        for radius in [0.1, 1.0, 30.0, 5_000.0] {
            let ground = plain(Vec3::new(3.0, 1.0, -2.0), radius);
            assert!(
                ground.lines.len() <= 2 * 16 * 2 * 42,
                "{radius}: {}",
                ground.lines.len()
            );
            assert_eq!(ground.corners.last().unwrap().color, opaque(FAR));
            assert_eq!(ground.corners[0].color, opaque(GROUND));
            assert!(
                ground
                    .indices
                    .iter()
                    .all(|&corner| (corner as usize) < ground.corners.len())
            );
        }
    }

    #[test]
    fn every_instance_has_a_shadow_where_it_stands() {
        let model = std::sync::Arc::new(skinbench_characters::walker(500).unwrap());
        let mut crowd = Crowd::new();
        let placed = [2.0, 5.0].map(|x| {
            let mut rows = skinbench_kernels::model::IDENTITY_ROWS;
            rows[3] = x;
            (
                rows,
                skinbench_kernels::crowd::Layer::held(skinbench_kernels::crowd::REST, 0.0),
            )
        });
        crowd.push_group(model, placed).unwrap();
        let (bare, ground) = (plain(Vec3::ZERO, 8.0), ground(&crowd, Vec3::ZERO, 8.0));
        let shadows = &ground.corners[bare.corners.len()..];
        assert_eq!(shadows.len(), 2 * (1 + 2 * SHADOW_SEGMENTS as usize));
        for (shadow, x) in shadows
            .chunks(1 + 2 * SHADOW_SEGMENTS as usize)
            .zip([2.0, 5.0])
        {
            assert!(
                (shadow[0].position[0] - x).abs() < 0.1 && shadow[0].position[1] < 0.01,
                "{:?}",
                shadow[0]
            );
            let brightness = |end: &LineEnd| end.color & 0xff;
            assert!(
                brightness(&shadow[0]) + 20 < brightness(shadow.last().unwrap()),
                "dark in the middle"
            );
            assert!(shadow.iter().all(|end| (end.position[0] - x).abs() < 1.5));
        }
        assert!(
            ground
                .indices
                .iter()
                .all(|&corner| (corner as usize) < ground.corners.len())
        );
    }
}
