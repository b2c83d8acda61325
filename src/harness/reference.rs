//! The reference: poses, palettes and vertices in f64, straight from the definitions.
//!
//! It shares no kernel with any backend. Only the whole ticks of [`crate::crowd::Schedule`] and [`crate::crowd::time`]
//! are common, because they define which time an instance shows; everything after them is computed here anew.

mod blend;
mod compact;

use crate::crowd::{Crowd, Group, UpdateRate};
use crate::frame::Blending;
use crate::model::{
    Channel, Clip, ClipKeys, Interpolation, Model, NO_PARENT, RawKeys, RotationBlend, Track, rows_to_affine,
};
use crate::vertex::Normals;
use glam::{DAffine3, DMat3, DQuat, DVec3, DVec4};

/// Cosine of half the angle between rotations, below which f32 may find them on the other side of half a turn.
const HALF_TURN: f64 = 1e-5;

/// A joint's local pose.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalPose {
    pub rotation: DQuat,
    pub translation: DVec3,
    pub scale: DVec3,
}

/// A skinned vertex.
pub(super) struct Vertex {
    pub position: DVec3,
    pub normal: DVec3,
    pub tangent: DVec4,
}

/// One instance at one tick.
pub(super) struct Pose {
    pub local: Vec<LocalPose>,
    pub model: Vec<DAffine3>,
    pub palette: Vec<DAffine3>,
}

impl Pose {
    /// What an instance shows.
    pub(super) fn new(crowd: &Crowd, instance: u32, tick: u32) -> Self {
        let group = &crowd.groups()[crowd.group_of(instance)];
        let layers = crowd.layers().of(instance as usize);
        let posed = |tick| blend::pose(group, layers, layers.len(), tick);
        let UpdateRate { every, offset } = crowd.update_rate(instance);
        let past = (u64::from(tick) + u64::from(offset)) % u64::from(every);
        let local = match past {
            0 => posed(tick),
            _ => {
                let (start, end) = (u64::from(tick).saturating_sub(past), u64::from(tick) + u64::from(every) - past);
                let part = (u64::from(tick) - start) as f64 / (end - start) as f64;
                blend::between(posed(start as u32), posed(end as u32), part)
            }
        };
        Self::of_local(group, local)
    }

    /// What an instance would show if the crowd did not save.
    pub(super) fn unsaved(crowd: &Crowd, instance: u32, tick: u32) -> Self {
        let group = &crowd.groups()[crowd.group_of(instance)];
        let layers = crowd.own_layers().of(instance as usize);
        Self::of_local(group, blend::pose(group, layers, layers.len(), tick))
    }

    fn of_local(group: &Group, local: Vec<LocalPose>) -> Self {
        let model = &group.model;
        let skeleton = model.skeleton();
        let mut pose: Vec<DAffine3> = Vec::with_capacity(local.len());
        let mut matrices = skeleton.matrices().iter().peekable();
        for (joint, (l, &parent)) in local.iter().zip(skeleton.parents()).enumerate() {
            let own = match matrices.next_if(|(j, _)| usize::from(*j) == joint) {
                Some((_, rows)) => rows_to_affine(rows),
                None => DAffine3 {
                    matrix3: DMat3::from_quat(l.rotation) * DMat3::from_diagonal(l.scale),
                    translation: l.translation,
                },
            };
            pose.push(if parent == NO_PARENT { own } else { pose[usize::from(parent)] * own });
        }
        let palette = model
            .palette_joints()
            .iter()
            .zip(model.inverse_binds())
            .map(|(&joint, inverse_bind)| pose[usize::from(joint)] * rows_to_affine(inverse_bind))
            .collect();
        Self { local, model: pose, palette }
    }

    /// Whether a vertex's joints are so near half a turn apart that rounding decides which way dual quaternions go.
    pub(super) fn turns_either_way(&self, model: &Model, vertex: usize) -> bool {
        let influences = model.mesh().influences_of(vertex).filter(|(_, weight)| *weight != 0.0);
        let mut rotations = influences.map(|(entry, _)| scale_and_rotation(&self.palette[usize::from(entry)]).1);
        rotations.next().is_some_and(|first| rotations.any(|rotation| rotation.dot(first).abs() < HALF_TURN))
    }

    /// A skinned vertex.
    pub(super) fn skin(&self, model: &Model, vertex: usize, normals: Normals, blending: Blending) -> Vertex {
        let mesh = model.mesh();
        let influences = mesh.influences_of(vertex).map(|(entry, w)| (&self.palette[usize::from(entry)], f64::from(w)));
        let m = match blending {
            Blending::Linear => linear(influences),
            Blending::DualQuaternion => dual_quaternion(influences),
        };
        let p = DVec3::from(mesh.positions()[vertex].map(f64::from));
        let n = DVec3::from(mesh.normals()[vertex].map(f64::from));
        let t = mesh.tangents().map_or([0.0; 4], |t| t[vertex].map(f64::from));
        let normal = match normals {
            Normals::Unit | Normals::Raw => m.matrix3 * n,
            Normals::Exact => {
                let [x, y, z] = [0, 1, 2].map(|row| m.matrix3.row(row));
                DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y)).transpose() * n
            }
        };
        let finished = |v: DVec3| if normals == Normals::Raw { v } else { v.normalize_or_zero() };
        Vertex {
            position: m.matrix3 * p + m.translation,
            normal: finished(normal),
            tangent: finished(m.matrix3 * DVec3::new(t[0], t[1], t[2])).extend(t[3]),
        }
    }
}

/// The weighted sum of matrices.
fn linear<'a>(influences: impl Iterator<Item = (&'a DAffine3, f64)>) -> DAffine3 {
    let zero = DAffine3 { matrix3: DMat3::ZERO, translation: DVec3::ZERO };
    influences.fold(zero, |sum, (m, weight)| DAffine3 {
        matrix3: sum.matrix3 + m.matrix3 * weight,
        translation: sum.translation + m.translation * weight,
    })
}

/// The parts of a matrix that scales evenly.
fn scale_and_rotation(m: &DAffine3) -> (f64, DQuat) {
    let size = m.matrix3.determinant().cbrt();
    (size, DQuat::from_mat3(&(m.matrix3 * (1.0 / size))).normalize())
}

/// The weighted sum of the matrices' dual quaternions, all turned to the side of the first, as a matrix again
/// (Kavan and others 2008); scales are summed apart.
fn dual_quaternion<'a>(influences: impl Iterator<Item = (&'a DAffine3, f64)>) -> DAffine3 {
    let (mut real, mut dual, mut scale) = (DVec4::ZERO, DVec4::ZERO, 0.0);
    let mut first = None;
    for (m, weight) in influences {
        let (size, rotation) = scale_and_rotation(m);
        let moved = DQuat::from_vec4(m.translation.extend(0.0)) * rotation;
        let side = DVec4::from(rotation).dot(*first.get_or_insert(DVec4::from(rotation)));
        let turned = if side < 0.0 { -weight } else { weight };
        real += DVec4::from(rotation) * turned;
        dual += DVec4::from(moved) * (0.5 * turned);
        scale += size * weight;
    }
    let (real, dual) = (real / real.length(), dual / real.length());
    let rotation = DQuat::from_vec4(real);
    let (r, d) = (real.truncate(), dual.truncate());
    DAffine3 { matrix3: DMat3::from_quat(rotation) * scale, translation: 2.0 * (d * real.w - r * dual.w + r.cross(d)) }
}

/// The pose that a clip shows, over the one there is.
fn sample(clip: &Clip, time: f64, local: &mut [LocalPose]) {
    let raw = match clip.keys() {
        ClipKeys::Raw(raw) => raw,
        ClipKeys::Compact(compact) => return compact::sample(compact, time, local),
    };
    for track in raw.tracks() {
        let joint = &mut local[usize::from(track.joint)];
        let value = value(raw, clip.rotation_blend(), track, time);
        match track.channel {
            Channel::Rotation => joint.rotation = DQuat::from_vec4(value),
            Channel::Translation => joint.translation = value.truncate(),
            Channel::Scale => joint.scale = value.truncate(),
        }
    }
}

fn value(raw: &RawKeys, blend: RotationBlend, track: &Track, time: f64) -> DVec4 {
    let times: Vec<f64> = raw.times_of(track).iter().map(|&t| f64::from(t)).collect();
    let width = track.channel.width();
    // Key `k`'s `part`: 0 the value, or for cubic splines 0 in-tangent, 1 value, 2 out-tangent, for squad 0 value,
    // 1 control point.
    let part = |k: usize, part: usize| {
        let index = match track.interpolation {
            Interpolation::CubicSpline => 3 * k + part,
            Interpolation::Squad => 2 * k + part,
            Interpolation::Step | Interpolation::Linear => k,
        };
        let at = track.first_value as usize + index * width;
        let mut v = DVec4::ZERO;
        for c in 0..width {
            v[c] = f64::from(raw.values()[at + c]);
        }
        v
    };
    let rotation = track.channel == Channel::Rotation;
    let unit = |v: DVec4| if rotation { v.normalize() } else { v };
    let last = times.len() - 1;
    let own = usize::from(track.interpolation == Interpolation::CubicSpline);
    if time <= times[0] {
        return unit(part(0, own));
    }
    if time >= times[last] {
        return unit(part(last, own));
    }
    let k = (0..last).find(|&k| time < times[k + 1]).unwrap_or(last - 1);
    let interval = times[k + 1] - times[k];
    let t = (time - times[k]) / interval;
    match track.interpolation {
        Interpolation::Step => part(k, 0),
        Interpolation::Linear if rotation => arc(part(k, 0), part(k + 1, 0), t, blend),
        Interpolation::Linear => part(k, 0).lerp(part(k + 1, 0), t),
        Interpolation::Squad => {
            let (keys, controls) = (sphere(part(k, 0), part(k + 1, 0), t), sphere(part(k, 1), part(k + 1, 1), t));
            sphere(keys, controls, 2.0 * t * (1.0 - t))
        }
        Interpolation::CubicSpline => {
            let (t2, t3) = (t * t, t * t * t);
            unit(
                part(k, 1) * (2.0 * t3 - 3.0 * t2 + 1.0)
                    + part(k, 2) * (interval * (t3 - 2.0 * t2 + t))
                    + part(k + 1, 1) * (3.0 * t2 - 2.0 * t3)
                    + part(k + 1, 0) * (interval * (t3 - t2)),
            )
        }
    }
}

fn arc(a: DVec4, b: DVec4, t: f64, blend: RotationBlend) -> DVec4 {
    let mut cos = a.dot(b);
    let mut b = b;
    if cos < 0.0 && blend != RotationBlend::AuthoredPath {
        b = -b;
        cos = -cos;
    }
    let line = match blend {
        RotationBlend::Nlerp => true,
        RotationBlend::AuthoredPath => cos.abs() >= 0.95,
        // Closer than this the sine loses digits and the chord is the arc to 1e-12.
        RotationBlend::Slerp => cos > 1.0 - 1e-12,
    };
    if line {
        return a.lerp(b, t).normalize();
    }
    let angle = cos.clamp(-1.0, 1.0).acos();
    (a * ((1.0 - t) * angle).sin() + b * (t * angle).sin()) / angle.sin()
}

/// Along the great circle from one unit quaternion to another, as they are.
fn sphere(a: DVec4, b: DVec4, t: f64) -> DVec4 {
    let angle = 2.0 * (a - b).length().atan2((a + b).length());
    let share = |part: f64| if angle < 1e-9 { part } else { (part * angle).sin() / angle.sin() };
    (a * share(1.0 - t) + b * share(t)).normalize()
}
