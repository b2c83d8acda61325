//! The reference's vertices of sampled instances, in the form in which a page holds them.
//!
//! A vertex is its position, three floats, and the directions of its normal and tangent, if the format has them, as two
//! 16-bit octahedral coordinates each. That is finer than a tenth of what backends are allowed to be off by.

use crate::crowd::Crowd;
use crate::harness::parity::{SAMPLED, Tolerance};
use crate::reference::{Blending, blended_vertices, shown};
use crate::vertex::{VertexFormat, octahedral, pack};
use glam::DVec3;

/// Fraction of a tolerance by which a stored number may be off.
const PRECISION: f64 = 0.1;
/// The word that stands for a vector without direction: no direction has -32,768 as a coordinate.
const NO_DIRECTION: u32 = 0x8000_8000;

/// Bytes of a vertex in this form: 12 for its position, and 4 for each direction, which has three floats in a format.
fn vertex_bytes(format: VertexFormat) -> usize {
    12 + 4 * (format.floats() / 3 - 1)
}

/// What a page holds of the reference.
#[derive(Debug)]
pub struct Coverage {
    /// Instances of each group, at most [`SAMPLED`].
    pub instances: usize,
    /// Number of ticks.
    pub ticks: usize,
}

impl Coverage {
    /// As much as fits into so many bytes, at most `ticks`. Fewer instances come before fewer ticks; two instances at
    /// one tick are there in any case.
    pub fn within(bytes: usize, crowd: &Crowd, ticks: usize) -> Self {
        for instances in (2..=SAMPLED).rev() {
            let groups = crowd.groups().iter();
            let sizes = groups.map(|group| {
                let vertices = group.len().min(instances) * group.model.mesh().vertex_count();
                vertices * vertex_bytes(group.format)
            });
            if sizes.sum::<usize>() * ticks <= bytes {
                return Self { instances, ticks };
            }
        }
        Self {
            instances: 2,
            ticks: 1,
        }
    }
}

/// The reference's vertices of an instance. A vertex that has no place by the rule of blending is NaN.
///
/// # Errors
/// A model so far from its origin that floats cannot hold its positions precisely.
pub fn vertices(
    crowd: &Crowd,
    instance: u32,
    tick: u32,
    blending: Blending,
) -> Result<Vec<u8>, String> {
    let group = &crowd.groups()[crowd.group_of(instance)];
    let shown = shown(crowd, group);
    let diagonal = shown.diagonal;
    let numbers = blended_vertices(crowd, instance, tick, blending);
    let mut bytes = Vec::with_capacity(numbers.len() * 4);
    let mut off: f64 = 0.0;
    for vertex in numbers.chunks_exact(group.format.floats()) {
        let (position, directions) = vertex.split_at(3);
        for &coordinate in position {
            off = off.max((f64::from(coordinate as f32) - coordinate).abs() / diagonal);
            bytes.extend((coordinate as f32).to_le_bytes());
        }
        for direction in directions.chunks_exact(3) {
            bytes.extend(packed(DVec3::from_slice(direction)).to_le_bytes());
        }
    }
    let allowed = PRECISION * Tolerance::of(group.format).of_group(group, shown).position;
    if off <= allowed {
        return Ok(bytes);
    }
    let held = format!("floats hold its vertices to {off:.1e} of its size; expected {allowed:.0e}");
    Err(format!(
        "{:?} is too far from its origin for a page: {held}",
        group.model.name()
    ))
}

/// Octahedral coordinates of a direction in one word. Floats hold a unit vector a hundred times finer than 16 bits do.
fn packed(v: DVec3) -> u32 {
    let length = v.length();
    if length.is_nan() || length < 1e-6 {
        return NO_DIRECTION;
    }
    let [x, y] = octahedral((v / length).as_vec3().to_array());
    pack(x, y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::parity::spread;
    use crate::scene::Scene;

    /// The direction that a page reads from a word.
    fn unfolded(word: u32) -> DVec3 {
        let [x, y] =
            [word as u16, (word >> 16) as u16].map(|half| f64::from(half as i16) / 32_767.0);
        let z = 1.0 - x.abs() - y.abs();
        let fold = (-z).max(0.0);
        DVec3::new(x - fold.copysign(x), y - fold.copysign(y), z).normalize()
    }

    #[test]
    fn directions_are_finer_than_a_tenth_of_the_tolerance() {
        let spiral = |i: u32| {
            let z = 1.0 - 2.0 * (f64::from(i) + 0.5) / 10_000.0;
            let (sin, cos) = (f64::from(i) * 2.399_963).sin_cos();
            DVec3::new(cos, sin, 0.0) * (1.0 - z * z).sqrt() + DVec3::Z * z
        };
        let off = |n: DVec3| unfolded(packed(n)).distance(n);
        let worst = (0..10_000).map(|i| off(spiral(i))).fold(0.0, f64::max);
        assert!(
            worst < PRECISION * Tolerance::default().normal,
            "off by {worst}"
        );
        assert_eq!(packed(DVec3::ZERO), NO_DIRECTION);
    }

    #[test]
    fn coverage_keeps_within_bytes() {
        let crowd = Scene::load("smoke").unwrap().build(u64::MAX).unwrap().crowd;
        let all = Coverage::within(usize::MAX, &crowd, 3);
        assert_eq!((all.instances, all.ticks), (SAMPLED, 3));
        let Coverage { instances, ticks } = Coverage::within(1_000_000, &crowd, 3);
        assert_eq!(ticks, 3);
        assert!((3..SAMPLED).contains(&instances), "{instances}");
        let least = Coverage::within(1, &crowd, 3);
        assert_eq!((least.instances, least.ticks), (2, 1));
        let group = &crowd.groups()[0];
        let ends: Vec<_> = spread(group, instances).collect();
        assert_eq!(
            (ends[0], ends[ends.len() - 1]),
            (group.instances.start, group.instances.end - 1)
        );
    }
}
