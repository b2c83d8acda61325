//! Clips derived from other clips, once, when a scene is built.

use super::keys::close;
use super::{
    Channel, Clip, ClipKeys, Interpolation, Keys, RawKeys, RotationBlend, Track, WeightKeys,
};
use crate::error::DataError;
use glam::{DQuat, DVec3, DVec4};

/// Largest angle between the quaternions of a key and of its control point, in radians. Keys are up to a quarter of a
/// turn apart, so control points stay 0.1 short of opposite: between opposite ones, the way is in the digits that f32
/// numbers lack.
const FARTHEST_CONTROL: f64 = std::f64::consts::FRAC_PI_4 - 0.05;

impl Clip {
    /// The clip as differences from its first frame: the rotation, translation and scale of a joint relative to it.
    ///
    /// Rotations are `q * q0⁻¹` (in the parent's axes), translations `t - t0`, scales `s / s0`. All of these commute
    /// with interpolation, so only the keys change.
    ///
    /// # Errors
    /// A scale of zero in the first frame, or compact keys.
    pub fn additive(&self) -> Result<Self, DataError> {
        let raw = self.uncompacted()?;
        let mut additive = raw.clone();
        for (index, track) in raw.tracks().iter().enumerate() {
            let value_part = track.interpolation.value_of_key();
            let first = raw.value(track, 0, value_part);
            if track.channel == Channel::Scale && first.truncate().to_array().contains(&0.0) {
                let place = format!(
                    "clip {:?}, track {index} (joint {})",
                    self.name, track.joint
                );
                return Err(DataError::new(
                    place,
                    "its first scale is 0; expected another number",
                ));
            }
            let parts = track.interpolation.values_per_key();
            let length = raw.values_of(track).len();
            let values = &mut additive.values[track.first_value as usize..][..length];
            for (index, out) in values.chunks_exact_mut(track.channel.width()).enumerate() {
                let part = index % parts;
                let value = raw.value(track, index / parts, part);
                let relative = match track.channel {
                    Channel::Rotation => {
                        let inverse = DQuat::from_vec4(first).normalize().conjugate();
                        DVec4::from(DQuat::from_vec4(value) * inverse)
                    }
                    Channel::Translation if part == value_part => value - first,
                    // A tangent is a difference already.
                    Channel::Translation => value,
                    Channel::Scale => value / first,
                };
                for (out, v) in out.iter_mut().zip(relative.to_array()) {
                    *out = v as f32;
                }
            }
        }
        let weights = self.weights.iter().map(WeightKeys::additive).collect();
        Ok(Self {
            name: self.name.clone(),
            additive: true,
            keys: ClipKeys::Raw(additive),
            weights,
            ..*self
        })
    }

    /// The clip as a loop whose last key equals its first: each track gets its first key again at the end.
    ///
    /// If a key is at the end already, the loop becomes longer by the last interval between keys.
    ///
    /// # Errors
    /// The errors of [`Clip::new`] for the longer tracks, or compact keys.
    pub fn closed(&self) -> Result<Self, DataError> {
        let raw = self.uncompacted()?;
        let timelines = raw
            .timelines()
            .iter()
            .chain(self.weights.iter().map(|track| &track.times[..]));
        let on_end = timelines.filter_map(|times| match times {
            [.., before, last] => (*last >= self.duration).then_some(last - before),
            _ => None,
        });
        let end = self.duration + on_end.fold(0.0, f32::max);
        let keys = raw.tracks().iter().map(|track| {
            let mut keys = keys_of(raw, track);
            close(&mut keys.times, &mut keys.values, end);
            keys.part_opposite_keys();
            keys
        });
        let clip = Self::new(
            self.name.clone(),
            Some(end),
            self.rotation_blend,
            keys.collect(),
        )?;
        let weights = self.weights.iter().map(|track| track.closed(end)).collect();
        Ok(Self {
            additive: self.additive,
            weights,
            ..clip
        })
    }

    /// The clip with curves in place of straight lines if all its keys are raw and linear; otherwise the clip
    /// unchanged.
    ///
    /// Translations and scales follow Catmull-Rom splines (as Hermite's, over uneven times), rotations squad (Shoemake,
    /// "Quaternion calculus and fast animation", 1987). A track whose last key repeats its first counts as a loop and
    /// is smooth across its seam.
    ///
    /// # Errors
    /// The errors of [`Clip::new`] for the curves: numbers that are not finite.
    pub fn smoothed(&self) -> Result<Self, DataError> {
        let Some(raw) = self.keys.raw() else {
            return Ok(self.clone());
        };
        let mut tracks = raw.tracks().iter();
        if tracks.any(|track| track.interpolation != Interpolation::Linear) {
            return Ok(self.clone());
        }
        // Control points are computed between neighbours on the shorter arc.
        let mut aligned = raw.clone();
        aligned.set_rotation_blend(RotationBlend::Slerp);
        let keys = aligned.tracks().iter().map(|track| {
            let keys = keys_of(&aligned, track);
            match (track.channel, keys.times.len()) {
                (_, 1) => keys,
                (Channel::Rotation, _) => squad(keys),
                _ => catmull_rom(keys),
            }
        });
        let clip = Self::new(
            self.name.clone(),
            Some(self.duration),
            RotationBlend::Slerp,
            keys.collect(),
        )?;
        Ok(Self {
            additive: self.additive,
            weights: self.weights.clone(),
            ..clip
        })
    }

    /// The raw keys. Clips can be derived only before they become compact.
    fn uncompacted(&self) -> Result<&RawKeys, DataError> {
        self.keys.raw().ok_or_else(|| {
            DataError::new(
                format!("clip {:?}", self.name),
                "compact keys; expected raw ones",
            )
        })
    }
}

/// A track in the form that importers give.
fn keys_of(raw: &RawKeys, track: &Track) -> Keys {
    Keys {
        joint: track.joint,
        channel: track.channel,
        interpolation: track.interpolation,
        times: raw.times_of(track).to_vec(),
        values: raw.values_of(track).to_vec(),
    }
}

/// Returns whether the last key repeats the first. Keys have `width` values each.
fn is_loop(keys: &Keys, width: usize) -> bool {
    let first = &keys.values[..width];
    let last = &keys.values[(keys.times.len() - 1) * width..];
    let mut distance = 0.0f32;
    let mut distance_negated = 0.0f32;
    for (a, b) in first.iter().zip(last) {
        distance = distance.max((a - b).abs());
        distance_negated = distance_negated.max((a + b).abs());
    }
    // Opposite quaternions are the same rotation.
    distance < 1e-5 || keys.channel == Channel::Rotation && distance_negated < 1e-5
}

/// The keys before and after one.
struct Neighbours {
    before: usize,
    after: usize,
}

/// The neighbours of a key. In a loop they wrap around; at open ends the neighbour is the key itself.
fn neighbours(key: usize, last: usize, is_loop: bool) -> Neighbours {
    let mut before = key.saturating_sub(1);
    let mut after = last.min(key + 1);
    if is_loop && key == 0 {
        before = last - 1;
    } else if is_loop && key == last {
        after = 1;
    }
    Neighbours { before, after }
}

fn catmull_rom(keys: Keys) -> Keys {
    let is_loop = is_loop(&keys, 3);
    let last = keys.times.len() - 1;
    let times: Vec<f64> = keys.times.iter().map(|time| f64::from(*time)).collect();
    let points = keys.values.as_chunks::<3>().0;
    let mut values = Vec::new();
    for (key, point) in points.iter().enumerate() {
        let Neighbours { before, after } = neighbours(key, last, is_loop);
        let is_seam = before > key || after < key;
        let span = if is_seam {
            (times[last] - times[last - 1]) + (times[1] - times[0])
        } else {
            times[after] - times[before]
        };
        let mut tangent = [0.0; 3];
        for (c, slope) in tangent.iter_mut().enumerate() {
            *slope = ((f64::from(points[after][c]) - f64::from(points[before][c])) / span) as f32;
        }
        values.extend([tangent, *point, tangent].as_flattened());
    }
    Keys {
        values,
        interpolation: Interpolation::CubicSpline,
        ..keys
    }
}

fn squad(keys: Keys) -> Keys {
    let is_loop = is_loop(&keys, 4);
    let mut rotations = Vec::new();
    for rotation in keys.values.as_chunks::<4>().0 {
        rotations.push(DQuat::from_array(rotation.map(f64::from)));
    }
    let mut values = Vec::new();
    for (key, q) in rotations.iter().enumerate() {
        let Neighbours { before, after } = neighbours(key, rotations.len() - 1, is_loop);
        let sum = logarithm(*q, rotations[before]) + logarithm(*q, rotations[after]);
        let control = *q * exponential(-(0.25 * sum).clamp_length_max(FARTHEST_CONTROL));
        values.extend(q.to_array().map(|v| v as f32));
        values.extend(control.to_array().map(|v| v as f32));
    }
    Keys {
        values,
        interpolation: Interpolation::Squad,
        ..keys
    }
}

/// The logarithm of the rotation from `q` to `p`. In a loop, a neighbour across the seam may have the other sign.
fn logarithm(q: DQuat, p: DQuat) -> DVec3 {
    let nearer = if p.dot(q) < 0.0 { -p } else { p };
    0.5 * scaled_axis(q.conjugate() * nearer)
}

/// A rotation as its axis times its angle; computed with libm, so that every platform gets the same keys.
fn scaled_axis(q: DQuat) -> DVec3 {
    let axis = DVec3::new(q.x, q.y, q.z);
    let sine = axis.length();
    if sine < 1e-12 {
        2.0 * axis
    } else {
        axis / sine * (2.0 * libm::atan2(sine, q.w))
    }
}

/// The exponential of a pure quaternion.
fn exponential(v: DVec3) -> DQuat {
    let angle = v.length();
    let sine_over_angle = if angle < 1e-12 {
        1.0
    } else {
        libm::sin(angle) / angle
    };
    DQuat::from_vec4((sine_over_angle * v).extend(libm::cos(angle)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;

    fn raw(clip: &Clip) -> &RawKeys {
        clip.keys().raw().unwrap()
    }

    fn track(channel: Channel, times: &[f32], values: &[f32]) -> Keys {
        let interpolation = Interpolation::Linear;
        Keys {
            joint: 0,
            channel,
            interpolation,
            times: times.into(),
            values: values.into(),
        }
    }

    #[test]
    fn closed_clips_lead_back_to_their_first_key() {
        let values = [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 5.0, 0.0, 0.0];
        let closed = |duration| {
            let keys = vec![track(Channel::Translation, &[0.0, 0.5, 0.75], &values)];
            Clip::new("c", duration, RotationBlend::Slerp, keys)
                .unwrap()
                .closed()
                .unwrap()
        };
        let longer = closed(None);
        assert_eq!(
            (longer.duration(), raw(&longer).timelines().all()),
            (1.0, &[0.0, 0.5, 0.75, 1.0][..])
        );
        assert_eq!(raw(&longer).values()[9..], [1.0, 0.0, 0.0]);
        assert_eq!(
            raw(&closed(Some(2.0))).timelines().all(),
            [0.0, 0.5, 0.75, 2.0]
        );
        assert_eq!(
            raw(&closed(Some(2.0)).closed().unwrap())
                .timelines()
                .all()
                .last(),
            Some(&3.25),
            "its last key is on the end now"
        );
    }

    #[test]
    fn smooth_moves_have_the_slope_between_the_neighbours_of_a_key() {
        // The slopes along x at the keys.
        let slopes = |times: &[f32], x: &[f32]| -> Vec<f32> {
            let values: Vec<f32> = x.iter().flat_map(|x| [*x, 0.0, 0.0]).collect();
            let keys = vec![track(Channel::Translation, times, &values)];
            let clip = Clip::new("c", None, RotationBlend::Slerp, keys)
                .unwrap()
                .smoothed()
                .unwrap();
            raw(&clip).values().chunks(9).map(|key| key[6]).collect()
        };
        assert_eq!(
            slopes(&[0.0, 2.0], &[1.0, 5.0]),
            [2.0, 2.0],
            "a straight move stays one"
        );
        assert_eq!(slopes(&[0.0, 1.0, 3.0], &[0.0, 2.0, 9.0]), [2.0, 3.0, 3.5]);
        assert_eq!(
            slopes(&[0.0, 1.0, 3.0, 4.0], &[0.0, 2.0, 5.0, 0.0]),
            [-1.5, 5.0 / 3.0, -2.0 / 3.0, -1.5],
            "a loop"
        );
        assert_eq!(
            slopes(&[0.0, 1.0], &[3.0, 3.0]),
            [0.0, 0.0],
            "a loop that rests"
        );
    }

    /// Turns about one axis, for which squad is a formula of angles.
    #[test]
    fn smooth_turns_keep_their_formula_up_to_half_a_turn() {
        let angles_off = |short: f32| -> Vec<f64> {
            let half = (std::f32::consts::PI - short) / 2.0;
            let keys = [0.0, half, 0.0].map(|half: f32| [0.0, 0.0, half.sin(), half.cos()]);
            let times = [0.0, 1.0, 2.0];
            let keys = vec![track(Channel::Rotation, &times, keys.as_flattened())];
            let clip = Clip::new("c", None, RotationBlend::Slerp, keys).unwrap();
            let clip = clip.smoothed().unwrap();
            let raw = raw(&clip);
            let mut off = Vec::new();
            for t in [0.0, 0.125, 0.25, 0.5, 0.75, 1.0] {
                let q = raw.exact(&raw.tracks()[0], RotationBlend::Slerp, t);
                let u = 2.0 * t * (1.0 - t);
                let formula = (1.0 - u) * t + u * (2.0 * t - 0.5);
                off.push((q.z.atan2(q.w) - f64::from(half) * formula).abs());
            }
            off
        };
        assert!(
            angles_off(0.3).iter().all(|off| *off < 1e-6),
            "{:?}",
            angles_off(0.3)
        );
        // The control points, almost opposite, are nearer to their keys.
        for short in [0.01, 1e-4] {
            let off = angles_off(short);
            assert!(off.iter().all(|off| *off < 0.01), "{off:?}");
            assert!(off[0] < 1e-6 && off[3] < 1e-6 && off[5] < 1e-6, "{off:?}");
        }
    }

    #[test]
    fn additive_clips_start_at_no_difference() {
        let [a, b] =
            [0.3f32, 1.1].map(|angle| Quat::from_axis_angle(glam::Vec3::new(0.6, 0.0, 0.8), angle));
        let keys = vec![
            track(
                Channel::Rotation,
                &[0.0, 1.0],
                &[a.to_array(), b.to_array()].concat(),
            ),
            track(Channel::Scale, &[0.0, 1.0], &[2.0, 1.0, 1.0, 3.0, 1.0, 0.0]),
        ];
        let clip = Clip::new("c", None, RotationBlend::Slerp, keys)
            .unwrap()
            .additive()
            .unwrap();
        assert!(clip.is_additive());
        let difference = b * a.conjugate();
        for (got, want) in raw(&clip)
            .values()
            .iter()
            .zip([0.0, 0.0, 0.0, 1.0].iter().chain(&difference.to_array()))
        {
            assert!((got - want).abs() < 1e-6, "{:?}", raw(&clip).values());
        }
        assert_eq!(raw(&clip).values()[8..], [1.0, 1.0, 1.0, 1.5, 1.0, 0.0]);
        let flat = vec![track(Channel::Scale, &[0.0], &[1.0, 0.0, 1.0])];
        let error = Clip::new("c", None, RotationBlend::Slerp, flat)
            .unwrap()
            .additive()
            .unwrap_err();
        assert!(error.problem.contains("first scale is 0"), "{error}");
    }
}
