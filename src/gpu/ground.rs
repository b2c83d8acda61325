//! The ground that a crowd stands on: a disc with a grid that fades into the background.

use super::overlay::{LineEnd, Overlay};
use glam::Vec3;

/// Linear RGB in the middle of the ground, of the grid's lines, and of the background.
const GROUND: Vec3 = Vec3::new(0.30, 0.33, 0.36);
const GRID: Vec3 = Vec3::new(0.20, 0.22, 0.25);
const FAR: Vec3 = Vec3::new(0.55, 0.65, 0.75);
/// Radius of the ground in radii of the crowd.
const REACH: f32 = 4.0;
/// Corners of the disc's rim, and rings of it.
const SEGMENTS: u32 = 64;
const RINGS: u32 = 8;
/// Most grid lines each way.
const MOST_LINES: f32 = 40.0;
/// Lifts lines off the ground, in radii of the crowd.
const LIFT: f32 = 1e-3;

/// A ground around a crowd.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ground {
    /// Corners of the disc.
    pub corners: Vec<LineEnd>,
    /// Its triangles.
    pub indices: Vec<u32>,
    /// Lines of the grid, one metre apart, or ten, a hundred and so on for large crowds.
    pub lines: Vec<LineEnd>,
}

impl Ground {
    /// A ground under a crowd of this middle and radius.
    pub fn new(middle: Vec3, radius: f32) -> Self {
        let reach = REACH * radius;
        let at = |point: Vec3, near: Vec3| {
            let past = ((point - Vec3::new(middle.x, 0.0, middle.z)).length() / reach).clamp(0.0, 1.0);
            // Eases out, so that no edge is seen where the ground ends.
            let past = 1.0 - (1.0 - past * past).powi(2);
            LineEnd { position: point.to_array(), color: packed(near.lerp(FAR, past)) }
        };
        let mut ground = Self::default();
        for ring in 0..=RINGS {
            let distance = reach * ring as f32 / RINGS as f32;
            for segment in 0..SEGMENTS {
                let (sin, cos) = (segment as f32 / SEGMENTS as f32 * std::f32::consts::TAU).sin_cos();
                ground.corners.push(at(Vec3::new(middle.x + distance * cos, 0.0, middle.z + distance * sin), GROUND));
            }
        }
        for ring in 0..RINGS {
            for segment in 0..SEGMENTS {
                let [a, b] = [segment, (segment + 1) % SEGMENTS].map(|corner| ring * SEGMENTS + corner);
                ground.indices.extend([a, b, a + SEGMENTS, b, b + SEGMENTS, a + SEGMENTS]);
            }
        }
        let mut step = 1.0;
        while 2.0 * reach / step > MOST_LINES {
            step *= if 4.0 * reach / step > 10.0 * MOST_LINES { 10.0 } else { 2.0 };
        }
        let first = |from: f32| (from / step).ceil() * step;
        let count = (2.0 * reach / step) as u32;
        for line in 0..=count {
            for across in [false, true] {
                let offset =
                    if across { first(middle.x - reach) } else { first(middle.z - reach) } + line as f32 * step;
                let from_middle = offset - if across { middle.x } else { middle.z };
                let half = (reach * reach - from_middle * from_middle).max(0.0).sqrt();
                // Short pieces, because colours are mixed along each.
                let pieces = 16;
                let point = |piece: u32| {
                    let along = half * (2.0 * piece as f32 / pieces as f32 - 1.0);
                    let height = LIFT * radius;
                    match across {
                        true => Vec3::new(offset, height, middle.z + along),
                        false => Vec3::new(middle.x + along, height, offset),
                    }
                };
                for piece in 0..pieces {
                    ground.lines.extend([at(point(piece), GRID), at(point(piece + 1), GRID)]);
                }
            }
        }
        ground
    }
}

impl Ground {
    /// The ground as an overlay of a picture.
    pub fn overlay(&self) -> Overlay<'_> {
        Overlay { lines: &self.lines, corners: &self.corners, indices: &self.indices }
    }
}

/// A linear colour as 8-bit RGBA.
pub fn packed(color: Vec3) -> u32 {
    let [r, g, b] = color.clamp(Vec3::ZERO, Vec3::ONE).to_array().map(|c| (c * 255.0).round() as u8);
    u32::from_le_bytes([r, g, b, 255])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ground_of_any_size_has_few_lines_and_fades_at_its_rim() {
        for radius in [0.1, 1.0, 30.0, 5_000.0] {
            let ground = Ground::new(Vec3::new(3.0, 1.0, -2.0), radius);
            assert!(ground.lines.len() <= 2 * 16 * 2 * 42, "{radius}: {}", ground.lines.len());
            assert_eq!(ground.corners.last().unwrap().color, packed(FAR));
            assert_eq!(ground.corners[0].color, packed(GROUND));
            assert!(ground.indices.iter().all(|&corner| (corner as usize) < ground.corners.len()));
        }
    }
}
