//! The search for joints whose scale rigid motions cannot express: because it differs between axes, because it mirrors, or
//! because it is too small.

use glam::{DMat3, Vec3};
use skinbench_kernels::crowd::{Crowd, Fade, Group, LayerKind, REST};
use skinbench_kernels::model::{
    Channel, Clip, ClipKeys, EVEN, Interpolation, NO_PARENT, Rows, is_uneven, rows_to_affine,
};
use skinbench_kernels::reference::{ReferencePose, shown};
use std::collections::BTreeSet;

/// Instances of a group, and ticks of each, at which inertial fades are looked at: they may overshoot.
const FADING_INSTANCES: usize = 16;
const FADING_TICKS: u32 = 64;
/// Ticks from one of these to the next: without a common divisor with the periods of clips and schedules.
const TICK_STRIDE: u32 = 10_007;

/// Smallest scale of which f32 numbers hold the square with all its digits.
const LEAST_SCALE: f64 = 1e-18;
/// Part of what a group shows that counts as visible.
const VISIBLE: f64 = 1e-6;

/// A scale of a joint.
struct JointScale {
    joint: usize,
    scale: Vec3,
}

impl JointScale {
    fn new(joint: u16, scale: Vec3) -> Self {
        let joint = joint.into();
        Self { joint, scale }
    }
}

/// The scales in a clip.
fn scales(clip: &Clip) -> Vec<JointScale> {
    let mut scales = Vec::new();
    match clip.keys() {
        ClipKeys::Raw(raw) => {
            for track in raw.tracks().iter().filter(|t| t.channel == Channel::Scale) {
                // A cubic key is in-tangent, value, out-tangent: even tangents keep even values even.
                for &scale in raw.values_of(track).as_chunks::<3>().0 {
                    scales.push(JointScale::new(track.joint, scale.into()));
                }
            }
        }
        ClipKeys::Compact(compact) => {
            for still in compact.still.iter().filter(|s| s.channel == Channel::Scale) {
                scales.push(JointScale::new(still.joint, Vec3::from_slice(&still.value)));
            }
            for index in 0..compact.frames as usize {
                for (track, key) in compact.frame(index) {
                    if track.channel == Channel::Scale {
                        let scale = track.decoder().vector(key.numbers);
                        scales.push(JointScale::new(track.joint, scale.into()));
                    }
                }
            }
        }
    }
    scales
}

/// The clips that a group's instances play, without the rest pose.
fn played<'a>(crowd: &Crowd, group: &'a Group) -> impl Iterator<Item = &'a Clip> {
    let mut clips = BTreeSet::new();
    for instance in group.instances.clone() {
        let layers = crowd.layers().of(instance as usize);
        clips.extend(layers.iter().map(|layer| layer.clip));
    }
    clips.remove(&REST);
    let all = group.model.clips();
    clips.into_iter().map(|clip| &all[clip as usize])
}

/// The first place where a group scales unevenly what some vertex follows.
pub(super) fn uneven(crowd: &Crowd, group: &Group) -> Option<String> {
    let model = group.model.name();
    let skeleton = group.model.skeleton();
    let names = skeleton.names();
    let followed = group.model.followed_joints();
    for (joint, rest) in skeleton.rest().iter().enumerate() {
        if followed[joint] && is_uneven(rest.scale.as_dvec3()) {
            return Some(format!("joint {:?} of {model:?} at rest", names[joint]));
        }
    }
    for clip in played(crowd, group) {
        for JointScale { joint, scale } in scales(clip) {
            if followed[joint] && is_uneven(scale.as_dvec3()) {
                let joint = &names[joint];
                let clip = clip.name();
                return Some(format!("joint {joint:?} of {model:?} in clip {clip:?}"));
            }
        }
    }
    let palette_joints = group.model.palette_joints().iter();
    let binds = palette_joints.zip(group.model.inverse_binds());
    let fixed = skeleton.matrices().iter();
    for (&joint, rows) in fixed.map(|matrix| (&matrix.0, &matrix.1)).chain(binds) {
        let joint = usize::from(joint);
        if followed[joint] && shears(rows_to_affine(rows).matrix3) {
            let joint = &names[joint];
            return Some(format!("the matrix of joint {joint:?} of {model:?}"));
        }
    }
    None
}

/// Returns whether a matrix does anything but turn, mirror and scale evenly.
fn shears(matrix: DMat3) -> bool {
    let product = matrix.transpose() * matrix;
    let size = product.x_axis.x;
    let off = product - DMat3::IDENTITY * size;
    (0..3).any(|column| off.col(column).length() > 10.0 * EVEN * size)
}

/// The first joint that a group scales below [`LEAST_SCALE`], without hiding what follows it.
pub(super) fn vanishing(crowd: &Crowd, group: &Group) -> Option<String> {
    let model = &*group.model;
    let visible = VISIBLE * shown(crowd, group).diagonal;
    for (entry, reach) in crowd.entry_reaches(group).into_iter().enumerate() {
        let distance = reach.centre.length() + reach.radius;
        if reach.least < LEAST_SCALE && LEAST_SCALE * distance > visible {
            let joint = usize::from(model.palette_joints()[entry]);
            let joint = &model.skeleton().names()[joint];
            return Some(format!("joint {joint:?} of {:?}", model.name()));
        }
    }
    None
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
    fn of([low, high]: [f64; 2]) -> Self {
        if low >= 0.0 {
            Self::Never
        } else if high <= 0.0 {
            Self::Always
        } else {
            Self::Sometimes
        }
    }

    /// That of a joint with a fixed matrix.
    fn of_matrix(rows: &Rows) -> Self {
        Self::of([rows_to_affine(rows).matrix3.determinant(); 2])
    }

    /// That of two joints, one below the other: what is mirrored twice is not mirrored.
    fn below(self, above: Self) -> Self {
        match (self, above) {
            (Self::Sometimes, _) | (_, Self::Sometimes) => Self::Sometimes,
            (below, above) if below == above => Self::Never,
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
    let mut fixed = vec![None; ranges.len()];
    for (joint, rows) in skeleton.matrices() {
        fixed[usize::from(*joint)] = Some(Mirroring::of_matrix(rows));
    }
    // Of each joint in the model, and the joint that is the reason.
    let mut mirrorings = Vec::with_capacity(ranges.len());
    let mut mirroring_joints = Vec::with_capacity(ranges.len());
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        let in_parent = fixed[joint]
            .unwrap_or_else(|| Mirroring::of(ranges[joint]).below(Mirroring::of(stretched[joint])));
        let mut above = Mirroring::Never;
        let mut mirroring_joint = joint;
        if parent != NO_PARENT {
            let parent = usize::from(parent);
            above = mirrorings[parent];
            if in_parent == Mirroring::Never {
                mirroring_joint = mirroring_joints[parent];
            }
        }
        mirrorings.push(in_parent.below(above));
        mirroring_joints.push(mirroring_joint);
    }
    for (entry, boxed) in model.entry_boxes().iter().enumerate() {
        let bind = Mirroring::of_matrix(&model.inverse_binds()[entry]);
        let joint = usize::from(model.palette_joints()[entry]);
        if boxed.is_some() && bind.below(mirrorings[joint]) != Mirroring::Never {
            let by = mirroring_joints[joint];
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
            .iter()
            .map(|scale| (scale.joint, [f64::from(scale.scale.x); 2]))
            .collect();
    };
    let mut ranges = Vec::new();
    for track in raw.tracks().iter().filter(|t| t.channel == Channel::Scale) {
        let joint = usize::from(track.joint);
        let times = raw.times_of(track);
        let value = |key: usize, place: usize| raw.value(track, key, place).x;
        for key in 0..times.len() {
            let here = value(key, track.interpolation.value_of_key());
            ranges.push((joint, [here; 2]));
            if track.interpolation == Interpolation::CubicSpline && key + 1 < times.len() {
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
    if played(crowd, group).all(|clip| scales(clip).is_empty()) {
        return None;
    }
    let mut fading = Vec::new();
    for instance in group.instances.clone() {
        let mut layers = crowd.layers().of(instance as usize).iter();
        if layers.any(|layer| layer.fade == Fade::Inertial && layer.kind != LayerKind::Merge) {
            fading.push(instance);
        }
    }
    let step = fading.len().div_ceil(FADING_INSTANCES).max(1);
    let boxes = model.entry_boxes();
    for &instance in fading.iter().step_by(step) {
        for tick in (0..FADING_TICKS).map(|i| i * TICK_STRIDE) {
            let pose = ReferencePose::new(crowd, instance, tick);
            for (entry, boxed) in boxes.iter().enumerate() {
                if boxed.is_some() && pose.palette[entry].matrix3.determinant() < 0.0 {
                    let joint = usize::from(model.palette_joints()[entry]);
                    let joint = &model.skeleton().names()[joint];
                    let model = model.name();
                    return Some(format!("joint {joint:?} of {model:?} in an inertial fade"));
                }
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
