//! The search for joints whose scale rigid motions cannot express: because it differs between axes, or because it
//! mirrors.

use crate::crowd::{Crowd, Fade, Group, LayerKind, REST};
use crate::model::{Channel, Clip, ClipKeys, Interpolation, Model, NO_PARENT, rows_to_affine};
use crate::reference::ReferencePose;
use glam::{DMat3, DVec3, Vec3};
use std::collections::BTreeSet;

/// Largest difference between the scales of one joint, relative to the largest scale.
const EVEN: f64 = 1e-5;
/// Instances of a group, and ticks of each, at which inertial fades are looked at: they may overshoot.
const FADING_INSTANCES: usize = 16;
const FADING_TICKS: u32 = 64;
/// Ticks from one of these to the next: without a common divisor with the periods of clips and schedules.
const TICK_STRIDE: u32 = 10_007;

/// The scales in a clip, each with its joint.
fn scales(clip: &Clip) -> impl Iterator<Item = (u16, Vec3)> {
    // A cubic key is in-tangent, value, out-tangent: even tangents keep even values even.
    let raw = clip.keys().raw().into_iter().flat_map(|raw| {
        let tracks = raw.tracks().iter().filter(|t| t.channel == Channel::Scale);
        tracks.flat_map(|track| {
            raw.values_of(track)
                .as_chunks::<3>()
                .0
                .iter()
                .map(|&scale| (track.joint, scale.into()))
        })
    });
    let compact = clip.keys().compact().into_iter().flat_map(|compact| {
        let still = compact.still.iter().filter(|s| s.channel == Channel::Scale);
        let keys = (0..compact.frames as usize).flat_map(|index| compact.frame(index));
        let keys = keys.filter(|(track, _)| track.channel == Channel::Scale);
        still.map(|s| (s.joint, Vec3::from_slice(&s.value))).chain(
            keys.map(|(track, key)| (track.joint, track.decoder().vector(key.numbers).into())),
        )
    });
    raw.chain(compact)
}

/// The clips that a group's instances play, without the rest pose.
fn played<'a>(crowd: &Crowd, group: &'a Group) -> impl Iterator<Item = &'a Clip> {
    let layers = group
        .instances
        .clone()
        .flat_map(|instance| crowd.layers().of(instance as usize));
    let clips: BTreeSet<u32> = layers
        .map(|layer| layer.clip)
        .filter(|clip| *clip != REST)
        .collect();
    clips
        .into_iter()
        .map(|clip| &group.model.clips()[clip as usize])
}

/// The first place where a group scales unevenly what some vertex follows.
pub(super) fn uneven(crowd: &Crowd, group: &Group) -> Option<String> {
    let differ = |scale: Vec3| {
        let scale = scale.as_dvec3();
        (scale - DVec3::splat(scale.x)).abs().max_element() > EVEN * scale.abs().max_element()
    };
    let model = &*group.model;
    let followed = model.followed_joints();
    let name = |joint: usize| &model.skeleton().names()[joint];
    let skeleton = model.skeleton();
    let at_rest = (skeleton.rest().iter().zip(&followed))
        .position(|(rest, followed)| *followed && differ(rest.scale));
    if let Some(joint) = at_rest {
        return Some(format!(
            "joint {:?} of {:?} at rest",
            name(joint),
            model.name()
        ));
    }
    for clip in played(crowd, group) {
        let found =
            scales(clip).find(|(joint, scale)| followed[usize::from(*joint)] && differ(*scale));
        if let Some((joint, _)) = found {
            let joint = name(joint.into());
            return Some(format!(
                "joint {joint:?} of {:?} in clip {:?}",
                model.name(),
                clip.name()
            ));
        }
    }
    let sheared = |m: DMat3| {
        let product = m.transpose() * m;
        let size = product.x_axis.x;
        (0..3)
            .any(|c| (product.col(c) - DMat3::IDENTITY.col(c) * size).length() > 10.0 * EVEN * size)
    };
    let found = matrices(model)
        .find(|(joint, matrix)| followed[*joint] && sheared(*matrix))
        .map(|(joint, _)| joint);
    found.map(|joint| {
        format!(
            "the matrix of joint {:?} of {:?}",
            name(joint),
            model.name()
        )
    })
}

/// Fixed matrices and inverse bind matrices, each with its joint.
fn matrices(model: &Model) -> impl Iterator<Item = (usize, DMat3)> {
    let fixed = model
        .skeleton()
        .matrices()
        .iter()
        .map(|(joint, rows)| (usize::from(*joint), rows));
    let binds = model
        .palette_joints()
        .iter()
        .map(|&joint| usize::from(joint))
        .zip(model.inverse_binds());
    fixed
        .chain(binds)
        .map(|(joint, rows)| (joint, rows_to_affine(rows).matrix3))
}

/// Whether a joint mirrors its parent's space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mirroring {
    /// Never: its scale is not negative at any time.
    Never,
    /// Always: its scale is not positive at any time.
    Always,
    /// Now and then: its scale changes sign.
    Sometimes,
}

impl Mirroring {
    /// That of a joint whose scale is between two numbers.
    fn of(low: f64, high: f64) -> Self {
        if low >= 0.0 {
            Self::Never
        } else if high <= 0.0 {
            Self::Always
        } else {
            Self::Sometimes
        }
    }

    /// That of two joints, one below the other: what is mirrored twice is not mirrored.
    fn below(self, above: Self) -> Self {
        match (self, above) {
            (Self::Sometimes, _) | (_, Self::Sometimes) => Self::Sometimes,
            (own, above) if own == above => Self::Never,
            _ => Self::Always,
        }
    }
}

/// The first joint by which a group mirrors vertices, at rest or at any time of a clip that it plays, curves and layers
/// included. Joints scale evenly.
pub(super) fn mirrored(crowd: &Crowd, group: &Group) -> Option<String> {
    let model = &*group.model;
    let skeleton = model.skeleton();
    let mut ranges: Vec<[f64; 2]> = skeleton
        .rest()
        .iter()
        .map(|rest| [f64::from(rest.scale.x); 2])
        .collect();
    let mut stretched = vec![[1.0; 2]; ranges.len()];
    let mut moved = vec![false; ranges.len()];
    for clip in played(crowd, group) {
        for (joint, [low, high]) in scale_ranges(clip) {
            let range = if clip.is_additive() {
                &mut stretched[joint]
            } else {
                &mut ranges[joint]
            };
            moved[joint] = true;
            *range = [range[0].min(low), range[1].max(high)];
        }
    }
    // Whether the joint is mirrored in the model, and the joint that mirrors it.
    let mut chain: Vec<(Mirroring, usize)> = Vec::with_capacity(ranges.len());
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        let added = Mirroring::of(stretched[joint][0], stretched[joint][1]);
        let own = Mirroring::of(ranges[joint][0], ranges[joint][1]).below(added);
        let fixed = skeleton
            .matrices()
            .iter()
            .find(|(fixed, _)| usize::from(*fixed) == joint);
        let own = match fixed {
            Some((_, rows)) if rows_to_affine(rows).matrix3.determinant() < 0.0 => {
                Mirroring::Always
            }
            Some(_) => Mirroring::Never,
            None => own,
        };
        let above = match parent {
            NO_PARENT => (Mirroring::Never, joint),
            parent => chain[usize::from(parent)],
        };
        let mirrors = if own == Mirroring::Never {
            above.1
        } else {
            joint
        };
        chain.push((own.below(above.0), mirrors));
    }
    let entries = model.palette_joints().iter().zip(model.inverse_binds());
    for ((&joint, bind), boxed) in entries.zip(model.entry_boxes()) {
        let bind = match rows_to_affine(bind).matrix3.determinant() < 0.0 {
            true => Mirroring::Always,
            false => Mirroring::Never,
        };
        let (mirroring, by) = chain[usize::from(joint)];
        if boxed.is_some() && bind.below(mirroring) != Mirroring::Never {
            let when = if moved[by] { "in a clip" } else { "at rest" };
            let by = &skeleton.names()[by];
            return Some(format!("joint {by:?} of {:?} {when}", model.name()));
        }
    }
    overshot(crowd, group)
}

/// The smallest and the largest scale of joints along x in a clip, at any time.
fn scale_ranges(clip: &Clip) -> Vec<(usize, [f64; 2])> {
    let ClipKeys::Raw(raw) = clip.keys() else {
        return scales(clip)
            .map(|(joint, scale)| (usize::from(joint), [f64::from(scale.x); 2]))
            .collect();
    };
    let mut ranges = Vec::new();
    for track in raw.tracks().iter().filter(|t| t.channel == Channel::Scale) {
        let joint = usize::from(track.joint);
        let (times, interpolation) = (raw.times_of(track), track.interpolation);
        let value = |key: usize, part: usize| raw.value(track, key, part).x;
        for key in 0..times.len() {
            let here = value(key, interpolation.value_of_key());
            ranges.push((joint, [here; 2]));
            if interpolation == Interpolation::CubicSpline && key + 1 < times.len() {
                let seconds = f64::from(times[key + 1] - times[key]);
                let leaving = seconds * value(key, 2);
                let arriving = seconds * value(key + 1, 0);
                ranges.push((
                    joint,
                    hermite_range(here, leaving, value(key + 1, 1), arriving),
                ));
            }
        }
    }
    ranges
}

/// The smallest and the largest value of a Hermite spline from `from` to `to` with these tangents, over 0 to 1.
fn hermite_range(from: f64, leaving: f64, to: f64, arriving: f64) -> [f64; 2] {
    let cubic = 2.0 * from + leaving - 2.0 * to + arriving;
    let square = -3.0 * from - 2.0 * leaving + 3.0 * to - arriving;
    let at = |s: f64| ((cubic * s + square) * s + leaving) * s + from;
    // Where 3 cubic s^2 + 2 square s + leaving = 0, in the form that loses no digits.
    let root = (square * square - 3.0 * cubic * leaving).sqrt();
    let larger = -(square + root.copysign(square));
    let mut range = [from.min(to), from.max(to)];
    for s in [larger / (3.0 * cubic), leaving / larger] {
        if (0.0..=1.0).contains(&s) {
            range = [range[0].min(at(s)), range[1].max(at(s))];
        }
    }
    range
}

/// The first of a group's sampled poses in which an inertial fade overshoots so far that it mirrors vertices.
fn overshot(crowd: &Crowd, group: &Group) -> Option<String> {
    let model = &*group.model;
    let scales = played(crowd, group).any(|clip| scales(clip).next().is_some());
    let fades = |instance: &u32| {
        let layers = crowd.layers().of(*instance as usize);
        layers
            .iter()
            .any(|layer| layer.fade == Fade::Inertial && layer.kind != LayerKind::Merge)
    };
    if !scales {
        return None;
    }
    let fading: Vec<u32> = group.instances.clone().filter(fades).collect();
    let step = fading.len().div_ceil(FADING_INSTANCES).max(1);
    let boxes = model.entry_boxes();
    for &instance in fading.iter().step_by(step) {
        for tick in (0..FADING_TICKS).map(|i| i * TICK_STRIDE) {
            let pose = ReferencePose::new(crowd, instance, tick);
            let mirrored = (pose.palette.iter().zip(&boxes))
                .position(|(entry, boxed)| boxed.is_some() && entry.matrix3.determinant() < 0.0);
            if let Some(entry) = mirrored {
                let joint = usize::from(model.palette_joints()[entry]);
                let joint = &model.skeleton().names()[joint];
                return Some(format!(
                    "joint {joint:?} of {:?} in an inertial fade",
                    model.name()
                ));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_a_spline_is_that_of_its_curve() {
        for [from, leaving, to, arriving] in [
            [1.0, -8.0, 1.0, 8.0],
            [1.0, 0.0, 0.01, -0.3],
            [0.0, 0.0, 0.0, 0.0],
            [1.0, 1.0, 2.0, 1.0],
            [2.0, 3.0, -1.0, 3.0],
        ] {
            let [low, high] = hermite_range(from, leaving, to, arriving);
            let curve = (0..=1_000).map(|i| {
                let s = f64::from(i) / 1_000.0;
                let (s2, s3) = (s * s, s * s * s);
                (2.0 * s3 - 3.0 * s2 + 1.0) * from
                    + (s3 - 2.0 * s2 + s) * leaving
                    + (3.0 * s2 - 2.0 * s3) * to
                    + (s3 - s2) * arriving
            });
            let (least, most) = curve.fold((f64::MAX, f64::MIN), |(least, most), value| {
                (least.min(value), most.max(value))
            });
            assert!((low - least).abs() < 1e-4 && (high - most).abs() < 1e-4);
            assert!(low <= least + 1e-12 && high >= most - 1e-12);
        }
    }
}
