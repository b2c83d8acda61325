//! Cubic curves of rotations, which have no direction where their length is 0: half way between a quaternion and its
//! opposite.

use super::{Channel, Interpolation, Keys};
use glam::DVec4;

/// Shortest quaternion on the curve between two keys, over the longest of its control points. What is shorter is
/// refused: normalised, its f32 numbers would say little about the rotation.
pub const SHORTEST_CURVE: f64 = 1.0 / 256.0;

/// A curve whose control points are this far from zero, all on one side of it, needs no closer look.
const FAR: f64 = 0.25;
/// Parts of a curve among which the shortest quaternion is sought, and halvings of the part that has it.
const PARTS: usize = 64;
const HALVINGS: usize = 40;

/// Numbers of a key: in-tangent, value, out-tangent.
type CubicKey = [f32; 12];

/// The lengths of the curves between neighbouring keys of a cubic rotation, over their longest control point: the
/// shortest of each curve, or a lower bound of at least 1/4.
pub(super) fn shortest_lengths<'a>(
    times: &'a [f32],
    values: &'a [f32],
) -> impl Iterator<Item = f64> + 'a {
    let keys: &[CubicKey] = values.as_chunks().0;
    let spans = times
        .windows(2)
        .map(|times| f64::from(times[1]) - f64::from(times[0]));
    keys.windows(2)
        .zip(spans)
        .map(|(keys, seconds)| Curve::between(&keys[0], &keys[1], seconds).shortest())
}

impl Keys {
    /// Negates keys of a cubic rotation, which stay the same rotations, where the curve to them would be shorter than
    /// 1/256 of its longest control point, and becomes longer by that. Returns the number of these curves.
    pub fn part_opposite_keys(&mut self) -> usize {
        if self.channel != Channel::Rotation || self.interpolation != Interpolation::CubicSpline {
            return 0;
        }
        let keys: &mut [CubicKey] = self.values.as_chunks_mut().0;
        let mut parted = 0;
        for index in 1..keys.len().min(self.times.len()) {
            let from = keys[index - 1];
            let seconds = f64::from(self.times[index]) - f64::from(self.times[index - 1]);
            // Keys behind a negated one are negated too, so that their curves keep their shape.
            if parted % 2 == 1 {
                keys[index] = keys[index].map(|v| -v);
            }
            let opposite = keys[index].map(|v| -v);
            let length = Curve::between(&from, &keys[index], seconds).shortest();
            if length < SHORTEST_CURVE
                && Curve::between(&from, &opposite, seconds).shortest() > length
            {
                keys[index] = opposite;
                parted += 1;
            }
        }
        parted
    }
}

/// Control points of a Bézier curve.
struct Curve([DVec4; 4]);

impl Curve {
    fn between(from: &CubicKey, to: &CubicKey, seconds: f64) -> Self {
        let part = |key: &CubicKey, part: usize| {
            let [x, y, z, w] = [0, 1, 2, 3].map(|c| f64::from(key[4 * part + c]));
            DVec4::new(x, y, z, w)
        };
        let start = part(from, 1);
        let end = part(to, 1);
        Self([
            start,
            start + part(from, 2) * (seconds / 3.0),
            end - part(to, 0) * (seconds / 3.0),
            end,
        ])
    }

    fn at(&self, t: f64) -> DVec4 {
        let [a, b, c, d] = self.0;
        let [ab, bc, cd] = [a.lerp(b, t), b.lerp(c, t), c.lerp(d, t)];
        ab.lerp(bc, t).lerp(bc.lerp(cd, t), t)
    }

    /// The shortest length over that of the longest control point; 0 for a curve of zeros.
    fn shortest(&self) -> f64 {
        let longest = self.0.iter().fold(0.0, |most: f64, p| most.max(p.length()));
        if longest == 0.0 {
            return 0.0;
        }
        // The curve is within the hull of its control points.
        let side = (self.0[0] + self.0[3]).normalize_or_zero();
        let nearest = self
            .0
            .iter()
            .fold(longest, |least, p| least.min(p.dot(side)));
        if nearest >= FAR * longest {
            return nearest / longest;
        }
        let mut shortest = f64::INFINITY;
        let mut place = 0.0;
        for part in 0..=PARTS {
            let t = part as f64 / PARTS as f64;
            let length = self.at(t).length();
            if length < shortest {
                shortest = length;
                place = t;
            }
        }
        let mut step = 1.0 / PARTS as f64;
        for _ in 0..HALVINGS {
            step *= 0.5;
            for t in [place - step, place + step] {
                let t = t.clamp(0.0, 1.0);
                let length = self.at(t).length();
                if length < shortest {
                    shortest = length;
                    place = t;
                }
            }
        }
        shortest / longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Clip, RotationBlend};

    /// A cubic rotation about Z through these half angles in radians, one key a second, whose tangents are 0.
    fn turns(halves: &[f32]) -> Keys {
        let mut values = Vec::new();
        for half in halves {
            values.extend([0.0; 4]);
            values.extend([0.0, 0.0, half.sin(), half.cos()]);
            values.extend([0.0; 4]);
        }
        Keys {
            joint: 0,
            channel: Channel::Rotation,
            interpolation: Interpolation::CubicSpline,
            times: (0..halves.len()).map(|key| key as f32).collect(),
            values,
        }
    }

    fn lengths(keys: &Keys) -> Vec<f64> {
        shortest_lengths(&keys.times, &keys.values).collect()
    }

    const PI: f32 = std::f32::consts::PI;

    #[test]
    fn the_shortest_quaternion_is_found() {
        let found = lengths(&turns(&[0.3, 0.3 + PI, 0.31, 1.9, 1.9 + PI - 0.01]));
        let near = |index: usize, length: f64| (found[index] - length).abs() < 1e-6;
        assert!(near(0, 0.0) && near(1, 5e-3) && near(3, 5e-3), "{found:?}");
        // The chord between keys that are 1.59 apart.
        assert!(found[2] > 0.25 && found[2] <= 0.7004, "{found:?}");
        assert_eq!(lengths(&turns(&[0.3])), [0.0; 0]);
    }

    #[test]
    fn opposite_keys_are_parted_and_later_curves_keep_their_shape() {
        let mut keys = turns(&[0.3, 0.3 + PI, 0.31, 0.7]);
        let before = lengths(&keys);
        assert_eq!(keys.part_opposite_keys(), 1);
        let after = lengths(&keys);
        assert!(after[0] > 0.99, "{after:?}");
        assert_eq!(after[1..], before[1..]);
        assert_eq!(keys.part_opposite_keys(), 0);
    }

    #[test]
    fn a_curve_through_zero_is_refused() {
        let clip = |keys| Clip::new("c", None, RotationBlend::Slerp, vec![keys]);
        let error = clip(turns(&[0.1, 0.3, 0.3 + PI])).unwrap_err();
        assert!(
            error
                .problem
                .starts_with("between keys 1 and 2 its rotation"),
            "{error}"
        );
        let mut zero = turns(&[0.1]);
        zero.values.fill(0.0);
        let error = clip(zero).unwrap_err();
        assert!(error.problem.contains("zero length"), "{error}");
        // As near as this is allowed.
        clip(turns(&[0.3, 0.31 + PI])).unwrap();
    }
}
