//! The reference: poses, palettes and vertices in f64, computed directly from the definitions.
//!
//! It shares no kernel with any backend. Only the integer ticks of [`crate::crowd::Schedule`] and
//! [`crate::crowd::time`] are common, because they define the time that an instance shows; everything else is computed
//! independently.

mod blend;
mod deviation;
mod morph;
mod sample;
mod shown;

use crate::crowd::{Crowd, Layer, UpdateRate};
use crate::model::{Clip, JointTransform, Model, NO_PARENT, Skeleton, rows_to_affine};
use crate::vertex::Normals;
pub use deviation::{Deviation, WorstError, distances, nan_max, position, vertex_errors};
use glam::{DAffine3, DMat3, DQuat, DVec3, DVec4};
pub use sample::LocalPose;
pub use shown::{clip_bounds, shown, with_fitting_cubes};

/// Cosine of half the angle between rotations; below it f32 rounding may choose either direction of a half turn.
const HALF_TURN: f64 = 1e-5;
/// Scale of a joint over that of another; below it f32 rounding decides how the joint is turned.
const COLLAPSED: f64 = 1e-5;

/// Method by which a vertex's joints are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blending {
    /// A weighted sum of matrices.
    Linear,
    /// A weighted sum of dual quaternions (Kavan and others 2008); joints must not scale unevenly.
    DualQuaternion,
}

/// A skinned vertex.
pub struct ReferenceVertex {
    /// In units of the model.
    pub position: DVec3,
    /// Of length 1 unless normals are [`Normals::Raw`].
    pub normal: DVec3,
    /// As the normal, then its handedness.
    pub tangent: DVec4,
}

/// One instance at one tick.
pub struct ReferencePose {
    /// Local pose of each joint.
    pub local: Vec<LocalPose>,
    /// Model pose of each joint.
    pub model: Vec<DAffine3>,
    /// Model pose times inverse bind matrix, of each entry of the palette.
    pub palette: Vec<DAffine3>,
    /// Sums of morph targets' deltas for each vertex; empty without targets.
    offsets: Vec<[DVec3; 3]>,
}

impl ReferencePose {
    /// The pose that an instance shows at a tick.
    pub fn new(crowd: &Crowd, instance: u32, tick: u32) -> Self {
        let layers = crowd.layers_at(instance, tick);
        Self::playing(crowd, instance, &layers, crowd.update_rate(instance), tick)
    }

    /// The pose that an instance would show without reduced posing.
    pub fn unsaved(crowd: &Crowd, instance: u32, tick: u32) -> Self {
        let layers = crowd.own_layers().of(instance as usize);
        Self::playing(crowd, instance, layers, UpdateRate::PLAIN, tick)
    }

    fn playing(
        crowd: &Crowd,
        instance: u32,
        layers: &[Layer],
        rate: UpdateRate,
        tick: u32,
    ) -> Self {
        let group = &crowd.groups()[crowd.group_of(instance)];
        let (model, skeleton) = (&*group.model, group.model.skeleton());
        let posed = |tick| blend::pose(group, layers, layers.len(), tick);
        let UpdateRate { every, offset } = rate;
        let past = (u64::from(tick) + u64::from(offset)) % u64::from(every);
        let local = match past {
            0 => posed(tick),
            _ => {
                let (start, end) = (
                    u64::from(tick).saturating_sub(past),
                    u64::from(tick) + u64::from(every) - past,
                );
                let part = (u64::from(tick) - start) as f64 / (end - start) as f64;
                blend::between(posed(start as u32), posed(end as u32), part)
            }
        };
        let pose = in_model(skeleton, &local);
        let palette = model
            .palette_joints()
            .iter()
            .zip(model.inverse_binds())
            .map(|(&joint, inverse_bind)| pose[usize::from(joint)] * rows_to_affine(inverse_bind))
            .collect();
        let offsets = morph::offsets(
            model.mesh(),
            &morph::weights(crowd, model, instance, layers, tick),
        );
        Self {
            local,
            model: pose,
            palette,
            offsets,
        }
    }

    /// Returns whether rounding decides where dual quaternions put a vertex: rotations of its joints are half a turn
    /// apart, so that either direction is as near, or one joint almost shrinks to a point, so that its matrix hardly
    /// says how it is turned. A joint that shrinks to nothing counts as unrotated.
    pub fn is_undecided(&self, model: &Model, vertex: usize) -> bool {
        let parts: Vec<(f64, DQuat)> = model
            .mesh()
            .influences_of(vertex)
            .filter(|(_, weight)| *weight != 0.0)
            .map(|(entry, _)| scale_and_rotation(&self.palette[usize::from(entry)]))
            .collect();
        let largest = parts.iter().map(|(size, _)| *size).fold(0.0, f64::max);
        let collapsed = parts
            .iter()
            .any(|(size, _)| *size != 0.0 && *size < COLLAPSED * largest);
        let half_turn = parts
            .iter()
            .any(|(_, rotation)| rotation.dot(parts[0].1).abs() < HALF_TURN);
        collapsed || half_turn
    }

    /// A vertex that targets move first, then joints.
    pub fn skin(
        &self,
        model: &Model,
        vertex: usize,
        normals: Normals,
        blending: Blending,
    ) -> ReferenceVertex {
        let mesh = model.mesh();
        let influences = mesh
            .influences_of(vertex)
            .map(|(entry, w)| (&self.palette[usize::from(entry)], f64::from(w)));
        let m = match blending {
            Blending::Linear => linear(influences),
            Blending::DualQuaternion => dual_quaternion(influences),
        };
        let [moved, turned, swayed] = self.offsets.get(vertex).copied().unwrap_or_default();
        let p = DVec3::from(mesh.positions()[vertex].map(f64::from)) + moved;
        let n = DVec3::from(mesh.normals()[vertex].map(f64::from)) + turned;
        let t = mesh
            .tangents()
            .map_or([0.0; 4], |t| t[vertex].map(f64::from));
        let normal = match normals {
            Normals::Unit | Normals::Raw => m.matrix3 * n,
            Normals::Exact => {
                let [x, y, z] = [0, 1, 2].map(|row| m.matrix3.row(row));
                DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y)).transpose() * n
            }
        };
        let finished = |v: DVec3| {
            if normals == Normals::Raw {
                v
            } else {
                v.normalize_or_zero()
            }
        };
        ReferenceVertex {
            position: m.matrix3 * p + m.translation,
            normal: finished(normal),
            tangent: finished(m.matrix3 * (DVec3::new(t[0], t[1], t[2]) + swayed)).extend(t[3]),
        }
    }
}

/// The model pose of a clip alone at a time in seconds.
pub fn clip_pose(skeleton: &Skeleton, clip: &Clip, time: f64) -> Vec<DAffine3> {
    let mut local = blend::resting(skeleton);
    sample::sample(clip, time, &mut local);
    in_model(skeleton, &local)
}

/// Joint to model space, of local poses.
fn in_model(skeleton: &Skeleton, local: &[LocalPose]) -> Vec<DAffine3> {
    let mut pose: Vec<DAffine3> = Vec::with_capacity(local.len());
    for (joint, (l, &parent)) in local.iter().zip(skeleton.parents()).enumerate() {
        let own = match skeleton.rest_of(joint) {
            JointTransform::Matrix(rows) => rows_to_affine(&rows),
            JointTransform::Transform(_) => {
                DAffine3::from_scale_rotation_translation(l.scale, l.rotation, l.translation)
            }
        };
        pose.push(if parent == NO_PARENT {
            own
        } else {
            pose[usize::from(parent)] * own
        });
    }
    pose
}

/// Skinned vertices of one instance by the reference, in stored order, `[vertex][floats]` of the group's format.
pub fn reference_vertices(crowd: &Crowd, instance: u32, tick: u32) -> Vec<f64> {
    blended_vertices(crowd, instance, tick, Blending::Linear)
}

/// As [`reference_vertices`], by either rule of blending. A vertex of which rounding decides where dual quaternions put
/// it has no place by that rule: its numbers are NaN.
pub fn blended_vertices(crowd: &Crowd, instance: u32, tick: u32, blending: Blending) -> Vec<f64> {
    let group = &crowd.groups()[crowd.group_of(instance)];
    let pose = ReferencePose::new(crowd, instance, tick);
    let floats = group.format.floats();
    (0..group.model.mesh().vertex_count())
        .flat_map(|vertex| {
            let ReferenceVertex {
                position: p,
                normal: n,
                tangent: t,
            } = pose.skin(&group.model, vertex, group.format.normals, blending);
            let undefined =
                blending == Blending::DualQuaternion && pose.is_undecided(&group.model, vertex);
            let number = move |value: f64| if undefined { f64::NAN } else { value };
            [p.x, p.y, p.z, n.x, n.y, n.z, t.x, t.y, t.z, t.w]
                .into_iter()
                .take(floats)
                .map(number)
        })
        .collect()
}

/// The weighted sum of matrices.
fn linear<'a>(influences: impl Iterator<Item = (&'a DAffine3, f64)>) -> DAffine3 {
    let zero = DAffine3 {
        matrix3: DMat3::ZERO,
        translation: DVec3::ZERO,
    };
    influences.fold(zero, |sum, (m, weight)| DAffine3 {
        matrix3: sum.matrix3 + m.matrix3 * weight,
        translation: sum.translation + m.translation * weight,
    })
}

/// Scale and rotation of a matrix that scales evenly. What shrinks to a point has no rotation; it counts as unrotated.
fn scale_and_rotation(m: &DAffine3) -> (f64, DQuat) {
    let size = m.matrix3.determinant().cbrt();
    if size == 0.0 {
        return (0.0, DQuat::IDENTITY);
    }
    (
        size,
        DQuat::from_mat3(&(m.matrix3 * (1.0 / size))).normalize(),
    )
}

/// The weighted sum of the matrices' dual quaternions, all in the hemisphere of the first, as a matrix (Kavan and
/// others 2008). Scales are summed separately.
fn dual_quaternion<'a>(influences: impl Iterator<Item = (&'a DAffine3, f64)>) -> DAffine3 {
    let (mut real, mut dual, mut scale) = (DVec4::ZERO, DVec4::ZERO, 0.0);
    let mut first = None;
    for (m, weight) in influences {
        let (size, rotation) = scale_and_rotation(m);
        let moved = DQuat::from_vec4(m.translation.extend(0.0)) * rotation;
        let side = DVec4::from(rotation).dot(*first.get_or_insert(DVec4::from(rotation)));
        let signed = if side < 0.0 { -weight } else { weight };
        real += DVec4::from(rotation) * signed;
        dual += DVec4::from(moved) * (0.5 * signed);
        scale += size * weight;
    }
    let (real, dual) = (real / real.length(), dual / real.length());
    let rotation = DQuat::from_vec4(real);
    let (r, d) = (real.truncate(), dual.truncate());
    DAffine3 {
        matrix3: DMat3::from_quat(rotation) * scale,
        translation: 2.0 * (d * real.w - r * dual.w + r.cross(d)),
    }
}
