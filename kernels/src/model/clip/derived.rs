//! Clips derived from other clips, once, when a scene is built.

use super::keys::close;
use super::{
    Channel, Clip, ClipKeys, Interpolation, Keys, RawKeys, RotationBlend, Track, WeightKeys,
};
use crate::model::ModelError;
use glam::{DQuat, DVec3, DVec4};

impl Clip {
    /// The clip as differences from its first frame: the rotation, translation and scale of a joint relative to it.
    ///
    /// Rotations are `q * q0⁻¹` (in the parent's axes), translations `t - t0`, scales `s / s0`. All of these commute
    /// with interpolation, so only the keys change.
    ///
    /// # Errors
    /// A scale of zero in the first frame, or compact keys.
    pub fn additive(&self) -> Result<Self, ModelError> {
        let raw = self.uncompacted()?;
        let mut made = raw.clone();
        for (index, track) in raw.tracks().iter().enumerate() {
            let own = track.interpolation.value_of_key();
            let first = raw.value(track, 0, own);
            if track.channel == Channel::Scale && first.truncate().to_array().contains(&0.0) {
                let place = format!(
                    "clip {:?}, track {index} (joint {})",
                    self.name, track.joint
                );
                return Err(ModelError::new(
                    place,
                    "its first scale is 0; expected another number",
                ));
            }
            let inverse = || DQuat::from_vec4(first).normalize().conjugate();
            let parts = track.interpolation.values_per_key();
            let made = &mut made.values[track.first_value as usize..][..raw.values_of(track).len()];
            for (index, out) in made.chunks_exact_mut(track.channel.width()).enumerate() {
                let (key, part) = (index / parts, index % parts);
                let value = raw.value(track, key, part);
                let relative = match track.channel {
                    Channel::Rotation => DVec4::from(DQuat::from_vec4(value) * inverse()),
                    Channel::Translation if part == own => value - first,
                    // A tangent is a difference already.
                    Channel::Translation => value,
                    Channel::Scale => value / first,
                };
                out.iter_mut()
                    .zip(relative.to_array())
                    .for_each(|(out, v)| *out = v as f32);
            }
        }
        let weights = self.weights.iter().map(WeightKeys::additive).collect();
        Ok(Self {
            name: self.name.clone(),
            additive: true,
            keys: ClipKeys::Raw(made),
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
    pub fn closed(&self) -> Result<Self, ModelError> {
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
    pub fn smoothed(&self) -> Result<Self, ModelError> {
        let linear = |raw: &&RawKeys| {
            raw.tracks()
                .iter()
                .all(|t| t.interpolation == Interpolation::Linear)
        };
        let Some(raw) = self.keys.raw().filter(linear) else {
            return Ok(self.clone());
        };
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

    /// The clip for a skeleton that lacks some joints: `new_index` has the new index of each joint that is kept.
    ///
    /// # Errors
    /// Compact keys.
    pub fn with_joints(&self, new_index: &[Option<u16>]) -> Result<Self, ModelError> {
        let raw = self.uncompacted()?;
        let kept = raw.tracks().iter().filter_map(|track| {
            let joint = new_index[usize::from(track.joint)]?;
            Some(Keys {
                joint,
                ..keys_of(raw, track)
            })
        });
        let clip = Self::new(
            self.name.clone(),
            Some(self.duration),
            self.rotation_blend,
            kept.collect(),
        )?;
        Ok(Self {
            additive: self.additive,
            weights: self.weights.clone(),
            ..clip
        })
    }

    /// The raw keys. Clips can be derived only before they become compact.
    fn uncompacted(&self) -> Result<&RawKeys, ModelError> {
        let compact = || {
            ModelError::new(
                format!("clip {:?}", self.name),
                "compact keys; expected raw ones",
            )
        };
        self.keys.raw().ok_or_else(compact)
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

/// The keys before and after one. In a loop (the last key repeats the first) neighbours wrap around; at open ends the
/// neighbour is the key itself.
fn neighbours(keys: &Keys, width: usize) -> impl Fn(usize) -> (usize, usize) + use<> {
    let last = keys.times.len() - 1;
    let (first, end) = (&keys.values[..width], &keys.values[last * width..]);
    let distance = |sign: f32| {
        first
            .iter()
            .zip(end)
            .map(|(a, b)| (a - sign * b).abs())
            .fold(0.0, f32::max)
    };
    let negated = if keys.channel == Channel::Rotation {
        distance(-1.0)
    } else {
        f32::INFINITY
    };
    let closed = distance(1.0).min(negated) < 1e-5;
    move |key| match key {
        0 => (if closed { last - 1 } else { 0 }, 1),
        _ if key == last => (last - 1, if closed { 1 } else { last }),
        _ => (key - 1, key + 1),
    }
}

fn catmull_rom(keys: Keys) -> Keys {
    let around = neighbours(&keys, 3);
    let time = |key: usize| f64::from(keys.times[key]);
    let values = (0..keys.times.len()).flat_map(|key| {
        let (before, after) = around(key);
        let last = keys.times.len() - 1;
        let is_seam = before > key || after < key;
        let span = match is_seam {
            true => (time(last) - time(last - 1)) + (time(1) - time(0)),
            false => time(after) - time(before),
        };
        let value = |key: usize, c: usize| keys.values[3 * key + c];
        let tangent: [f32; 3] = std::array::from_fn(|c| {
            ((f64::from(value(after, c)) - f64::from(value(before, c))) / span) as f32
        });
        [tangent, std::array::from_fn(|c| value(key, c)), tangent].concat()
    });
    Keys {
        values: values.collect(),
        interpolation: Interpolation::CubicSpline,
        ..keys.clone()
    }
}

fn squad(keys: Keys) -> Keys {
    let around = neighbours(&keys, 4);
    let quaternion = |key: usize| {
        DQuat::from_array(std::array::from_fn(|c| f64::from(keys.values[4 * key + c])))
    };
    let values = (0..keys.times.len()).flat_map(|key| {
        let q = quaternion(key);
        let (before, after) = around(key);
        // The logarithm of the rotation to a neighbour. In a loop, a neighbour across the seam may have the other sign.
        let logarithm_to = |other: usize| {
            let p = quaternion(other);
            let p = if p.dot(q) < 0.0 { -p } else { p };
            0.5 * scaled_axis(q.conjugate() * p)
        };
        let control = q * exponential(-0.25 * (logarithm_to(before) + logarithm_to(after)));
        [q, control]
            .into_iter()
            .flat_map(|q| q.to_array().map(|v| v as f32))
    });
    Keys {
        values: values.collect(),
        interpolation: Interpolation::Squad,
        ..keys.clone()
    }
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
