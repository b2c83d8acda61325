//! Bounding spheres of a crowd's characters, computed from clips and hierarchy alone: no vertex leaves them at any
//! tick.
//!
//! A joint that never rotates moves its children's spheres with it. Around a joint that rotates, they may be in any
//! direction. Blending stays within the boxes that translations and scales span, because its weights add up to 1. The
//! largest contribution of additive layers and inertial fades is added to the boxes.

use super::{Crowd, Fade, Group, LayerKind};
use crate::model::compact::Compact;
use crate::model::{
    Bounds, Channel, ClipKeys, Interpolation, JointTransform, NO_PARENT, RawKeys, Rows,
    rows_to_affine,
};
use glam::{DAffine3, DMat3, DQuat, DVec3, DVec4, Vec3};

/// Margin for f32 rounding, as a fraction of radius and distance.
const ROUNDING: f64 = 1e-4;
/// Rotations closer than this to the rest rotation count as no rotation.
const STILL: f64 = 1e-6;
/// Largest overshoot of an inertial fade: twice (for the old and the new pose) the maximum of s - 6s^3 + 8s^4 - 3s^5
/// from 0 to 1. It is multiplied by the ticks of the fade and by the largest change per tick.
const MOMENTUM: f64 = 2.0 * 0.197_532;

/// A sphere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// Centre in model space.
    pub centre: DVec3,
    /// Radius in the model's unit.
    pub radius: f64,
}

impl Reach {
    /// The smallest sphere around two.
    fn join(self, other: Self) -> Self {
        let apart = self.centre.distance(other.centre);
        if apart + other.radius <= self.radius {
            return self;
        }
        if apart + self.radius <= other.radius {
            return other;
        }
        let radius = 0.5 * (apart + self.radius + other.radius);
        let towards = (other.centre - self.centre) / apart;
        Self {
            centre: self.centre + (radius - self.radius) * towards,
            radius,
        }
    }

    /// The bounding sphere of an instance in the world: x y z of its centre and its radius, rounded upwards.
    pub fn placed(&self, placement: &Rows) -> [f32; 4] {
        let placement = rows_to_affine(placement);
        let centre = placement.transform_point3(self.centre);
        let radius = self.radius * stretch(&placement.matrix3);
        let radius = radius + ROUNDING * (radius + centre.length());
        [
            centre.x as f32,
            centre.y as f32,
            centre.z as f32,
            radius as f32,
        ]
    }
}

/// Vertices that a palette entry moves, and the most that it stretches them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EntryReach {
    /// Centre of the box around the vertices, in mesh space; zero if there are none.
    pub centre: DVec3,
    /// Largest distance of a vertex from the centre.
    pub radius: f64,
    /// Upper bound of the factor by which the entry lengthens a vector, at any tick.
    pub stretch: f64,
    /// Lower bound of that factor, if no joint scales unevenly.
    pub least: f64,
}

/// Upper bound of the factor by which a matrix lengthens a vector: the root of the largest row sum of |MᵀM|
/// (Gershgorin's theorem), exact if its columns are perpendicular.
fn stretch(m: &DMat3) -> f64 {
    let squares = m.transpose() * *m;
    (squares.abs() * DVec3::ONE).max_element().sqrt()
}

/// Component-wise smallest and largest values of a channel.
#[derive(Debug, Clone, Copy)]
struct ValueRange {
    low: DVec3,
    high: DVec3,
}

impl From<Bounds> for ValueRange {
    fn from(bounds: Bounds) -> Self {
        Self {
            low: bounds.min.as_dvec3(),
            high: bounds.max.as_dvec3(),
        }
    }
}

impl ValueRange {
    fn at(value: DVec3) -> Self {
        Self {
            low: value,
            high: value,
        }
    }

    fn include(&mut self, value: DVec3) {
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    fn middle(&self) -> DVec3 {
        0.5 * (self.low + self.high)
    }

    fn half(&self) -> DVec3 {
        0.5 * (self.high - self.low)
    }

    /// The largest magnitude of each component.
    fn most(&self) -> DVec3 {
        self.low.abs().max(self.high.abs())
    }

    /// The smallest magnitude of each component.
    fn least(&self) -> DVec3 {
        self.low.max(-self.high).max(DVec3::ZERO)
    }

    fn widen(&mut self, by: DVec3) {
        self.low -= by;
        self.high += by;
    }
}

/// Ranges of a joint's channels over all clips.
#[derive(Debug, Clone, Copy)]
struct Motion {
    rest: DQuat,
    rotates: bool,
    translation: ValueRange,
    scale: ValueRange,
    /// For clips of differences: the most that a layer adds to the translation and multiplies the scale by.
    moved: DVec3,
    stretched: DVec3,
}

impl Motion {
    /// Adds a value of a channel in a clip, which is one of differences if it is `additive`.
    fn add(&mut self, channel: Channel, additive: bool, value: DVec4) {
        let vector = value.truncate();
        match (channel, additive) {
            (Channel::Translation, false) => self.translation.include(vector),
            (Channel::Scale, false) => self.scale.include(vector),
            (Channel::Translation, true) => self.moved = self.moved.max(vector.abs()),
            (Channel::Scale, true) => self.stretched = self.stretched.max(vector.abs()),
            (Channel::Rotation, _) => {
                let still = if additive { DQuat::IDENTITY } else { self.rest };
                self.rotates |= DQuat::from_vec4(value).normalize().dot(still).abs() < 1.0 - STILL;
            }
        }
    }
}

/// Ranges of the channels of a group's joints in its clips.
fn clip_motions(group: &Group) -> Vec<Motion> {
    let mut motions = Vec::with_capacity(group.model.skeleton().len());
    for rest in group.model.skeleton().rest() {
        motions.push(Motion {
            rest: rest.rotation.as_dquat().normalize(),
            rotates: false,
            translation: ValueRange::at(rest.translation.as_dvec3()),
            scale: ValueRange::at(rest.scale.as_dvec3()),
            moved: DVec3::ZERO,
            stretched: DVec3::ONE,
        });
    }
    for clip in group.model.clips() {
        match clip.keys() {
            ClipKeys::Raw(raw) => add_raw(&mut motions, clip.is_additive(), raw),
            ClipKeys::Compact(compact) => add_compact(&mut motions, clip.is_additive(), compact),
        }
    }
    motions
}

/// Adds the ranges of keys. A Hermite spline stays within the convex hull of its Bézier points.
fn add_raw(motions: &mut [Motion], additive: bool, raw: &RawKeys) {
    for track in raw.tracks() {
        let channel = track.channel;
        let times = raw.times_of(track);
        let motion = &mut motions[usize::from(track.joint)];
        let is_spline = track.interpolation == Interpolation::CubicSpline;
        let is_curved = is_spline || track.interpolation == Interpolation::Squad;
        motion.rotates |= channel == Channel::Rotation && is_curved;
        for key in 0..times.len() {
            let here = raw.value(track, key, track.interpolation.value_of_key());
            motion.add(channel, additive, here);
            if is_spline && key > 0 {
                let third = f64::from(times[key] - times[key - 1]) / 3.0;
                motion.add(channel, additive, here - third * raw.value(track, key, 0));
            }
            if is_spline && key + 1 < times.len() {
                let third = f64::from(times[key + 1] - times[key]) / 3.0;
                motion.add(channel, additive, here + third * raw.value(track, key, 2));
            }
        }
    }
}

fn add_compact(motions: &mut [Motion], additive: bool, compact: &Compact) {
    for still in &compact.still {
        let value = DVec4::from_array(still.value.map(f64::from));
        motions[usize::from(still.joint)].add(still.channel, additive, value);
    }
    for track in &compact.tracks {
        let motion = &mut motions[usize::from(track.joint)];
        if track.channel == Channel::Rotation {
            motion.rotates = true;
            continue;
        }
        for end in [track.decoder().low, track.high()] {
            motion.add(
                track.channel,
                additive,
                DVec3::from(end.map(f64::from)).extend(0.0),
            );
        }
    }
}

impl Crowd {
    /// A sphere in model space that contains every vertex of a group's instances at every tick.
    pub fn reach(&self, group: &Group) -> Reach {
        sphere(group, &self.motions(group))
    }

    /// The reach of each palette entry of a group.
    pub fn entry_reaches(&self, group: &Group) -> Vec<EntryReach> {
        let model = &*group.model;
        let skeleton = model.skeleton();
        // The least and the largest factor of each joint, first relative to its parent.
        let mut factors = Vec::with_capacity(skeleton.len());
        for motion in self.motions(group) {
            factors.push([
                motion.scale.least().min_element(),
                motion.scale.most().max_element(),
            ]);
        }
        for (joint, rows) in skeleton.matrices() {
            factors[usize::from(*joint)] = [stretch(&rows_to_affine(rows).matrix3); 2];
        }
        for (joint, &parent) in skeleton.parents().iter().enumerate() {
            if parent != NO_PARENT {
                let [least, largest] = factors[usize::from(parent)];
                factors[joint][0] *= least;
                factors[joint][1] *= largest;
            }
        }
        let mut reaches = Vec::with_capacity(model.palette_joints().len());
        for (entry, bounds) in model.entry_boxes().into_iter().enumerate() {
            let bind = stretch(&rows_to_affine(&model.inverse_binds()[entry]).matrix3);
            let [least, largest] = factors[usize::from(model.palette_joints()[entry])];
            reaches.push(EntryReach {
                centre: bounds.map_or(DVec3::ZERO, |bounds| ValueRange::from(bounds).middle()),
                radius: 0.0,
                stretch: largest * bind,
                least: least * bind,
            });
        }
        for (vertex, position) in model.mesh().positions().iter().enumerate() {
            let position = Vec3::from(*position).as_dvec3();
            for entry in model.mesh().entries_of(vertex) {
                let reach = &mut reaches[entry];
                reach.radius = reach.radius.max(position.distance(reach.centre));
            }
        }
        reaches
    }

    /// Ranges of the channels of a group's joints at any tick.
    fn motions(&self, group: &Group) -> Vec<Motion> {
        let mut additive = 0;
        let mut fade = 0;
        for layers in self.layers().range(group.instances.clone()) {
            let differences = layers.iter().filter(|l| l.kind == LayerKind::Additive);
            additive = additive.max(differences.count());
            for layer in layers.iter().filter(|l| l.fade == Fade::Inertial) {
                fade = fade.max(layer.schedule.fade_in.max(layer.schedule.fade_out));
            }
        }
        let mut motions = clip_motions(group);
        for motion in &mut motions {
            motion.translation.widen(additive as f64 * motion.moved);
            for _ in 0..additive {
                let ValueRange { low, high } = motion.scale;
                motion.scale.include(low * motion.stretched);
                motion.scale.include(high * motion.stretched);
            }
            for span in [&mut motion.translation, &mut motion.scale] {
                span.widen(MOMENTUM * f64::from(fade) * 2.0 * span.half());
            }
        }
        motions
    }
}

/// Joins spheres from the leaves to the roots, each in its joint's own space until it is passed to the parent.
fn sphere(group: &Group, motions: &[Motion]) -> Reach {
    let model = &group.model;
    let skeleton = model.skeleton();
    let mut spheres: Vec<Option<Reach>> = vec![None; skeleton.len()];
    for (entry, bounds) in model.entry_boxes().into_iter().enumerate() {
        let Some(bounds) = bounds else { continue };
        let range = ValueRange::from(bounds);
        let vertices = Reach {
            centre: range.middle(),
            radius: range.half().length(),
        };
        let bind = rows_to_affine(&model.inverse_binds()[entry]);
        let joint = usize::from(model.palette_joints()[entry]);
        join(&mut spheres[joint], carried(&bind, vertices));
    }
    let mut all = None;
    for joint in (0..skeleton.len()).rev() {
        let Some(inner) = spheres[joint] else {
            continue;
        };
        let outer = match skeleton.rest_of(joint) {
            JointTransform::Matrix(rows) => carried(&rows_to_affine(&rows), inner),
            JointTransform::Transform(_) => moved(&motions[joint], inner),
        };
        match skeleton.parents()[joint] {
            NO_PARENT => join(&mut all, outer),
            parent => join(&mut spheres[usize::from(parent)], outer),
        }
    }
    all.unwrap_or(Reach {
        centre: DVec3::ZERO,
        radius: 0.0,
    })
}

fn join(held: &mut Option<Reach>, new: Reach) {
    *held = Some(held.map_or(new, |held| held.join(new)));
}

fn carried(by: &DAffine3, inner: Reach) -> Reach {
    Reach {
        centre: by.transform_point3(inner.centre),
        radius: inner.radius * stretch(&by.matrix3),
    }
}

/// A joint's sphere in its parent's space.
fn moved(motion: &Motion, inner: Reach) -> Reach {
    let translation = motion.translation;
    let scale = motion.scale;
    let most = scale.most().max_element();
    if motion.rotates {
        return Reach {
            centre: translation.middle(),
            radius: translation.half().length() + most * (inner.centre.length() + inner.radius),
        };
    }
    let strayed = (scale.half() * inner.centre).length();
    Reach {
        centre: translation.middle() + motion.rest * (scale.middle() * inner.centre),
        radius: translation.half().length() + strayed + most * inner.radius,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_spheres_hold_both() {
        let at = |x: f64, radius: f64| Reach {
            centre: DVec3::new(x, 0.0, 0.0),
            radius,
        };
        assert_eq!(at(0.0, 1.0).join(at(4.0, 2.0)), at(2.5, 3.5));
        assert_eq!(at(0.0, 5.0).join(at(1.0, 2.0)), at(0.0, 5.0));
        assert_eq!(at(1.0, 2.0).join(at(0.0, 5.0)), at(0.0, 5.0));
    }

    #[test]
    fn placed_spheres_stretch_with_the_placement() {
        let reach = Reach {
            centre: DVec3::X,
            radius: 1.0,
        };
        let [x, y, z, radius] =
            reach.placed(&[0.0, -2.0, 0.0, 5.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 1.0]);
        assert_eq!([x, y, z], [5.0, 2.0, 1.0]);
        assert!((2.0..2.01).contains(&radius), "{radius}");
    }
}
