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

use crate::crowd::{Crowd, JointOverride, Layer, UpdateRate};
use crate::model::{Clip, JointTransform, Model, NO_PARENT, Skeleton, rows_to_affine};
use crate::vertex::{Normals, VANISHING};
pub use deviation::{Deviation, WorstError, distances, nan_max, position, vertex_errors};
use glam::{DAffine3, DMat3, DQuat, DVec3, DVec4, Vec3, Vec4};
pub use sample::LocalPose;
pub use shown::{clip_bounds, shown, with_fitting_cubes};

/// Cosine of half the angle between rotations; below it f32 rounding may choose either direction of a half turn.
const HALF_TURN: f64 = 1e-5;
/// Length of a normal or tangent over that of the terms that it is summed from; below it f32 rounding decides where it
/// points, by as much as is compared.
const CANCELLED: f64 = 1e-3;
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

    /// The pose that an instance would show if it were posed at every tick.
    pub fn unsaved(crowd: &Crowd, instance: u32, tick: u32) -> Self {
        let layers = crowd.layers().of(instance as usize);
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
        let model = &*group.model;
        let past = (u64::from(tick) + u64::from(rate.offset)) % u64::from(rate.every);
        let mut local = if past == 0 {
            blend::pose(group, layers, layers.len(), tick)
        } else {
            let tick = u64::from(tick);
            let start = tick.saturating_sub(past);
            let end = tick + u64::from(rate.every) - past;
            let before = blend::pose(group, layers, layers.len(), start as u32);
            let after = blend::pose(group, layers, layers.len(), end as u32);
            blend::between(before, after, (tick - start) as f64 / (end - start) as f64)
        };
        for JointOverride {
            joint, local: own, ..
        } in crowd.joint_overrides(instance)
        {
            local[usize::from(joint)] = LocalPose {
                rotation: own.rotation.as_dquat(),
                translation: own.translation.as_dvec3(),
                scale: own.scale.as_dvec3(),
            };
        }
        let pose = in_model(model.skeleton(), &local);
        let mut palette = Vec::with_capacity(model.palette_joints().len());
        for (&joint, inverse_bind) in model.palette_joints().iter().zip(model.inverse_binds()) {
            palette.push(pose[usize::from(joint)] * rows_to_affine(inverse_bind));
        }
        let weights = morph::weights(crowd, model, instance, layers, tick);
        Self {
            local,
            model: pose,
            palette,
            offsets: morph::offsets(model.mesh(), &weights),
        }
    }

    /// Returns whether rounding decides where dual quaternions put a vertex: rotations of its joints are half a turn
    /// apart, so that either direction is as near, or one joint almost shrinks to a point, so that its matrix hardly
    /// says how it is turned. A joint that shrinks to nothing counts as unrotated.
    pub fn is_undecided(&self, model: &Model, vertex: usize) -> bool {
        let mut first = None;
        let mut largest = 0.0f64;
        let mut smallest = f64::INFINITY;
        for (entry, weight) in model.mesh().influences_of(vertex) {
            if weight == 0.0 {
                continue;
            }
            let motion = EvenMotion::of(&self.palette[usize::from(entry)]);
            largest = largest.max(motion.scale);
            if motion.scale != 0.0 {
                smallest = smallest.min(motion.scale);
            }
            let first = *first.get_or_insert(motion.rotation);
            if motion.rotation.dot(first).abs() < HALF_TURN {
                return true;
            }
        }
        smallest < COLLAPSED * largest
    }

    /// Returns whether rounding decides where a vertex's normal, and where its tangent, points: the terms that it is summed
    /// from cancel out, as where one of two joints mirrors what the other does not.
    pub fn cancels(&self, model: &Model, vertex: usize, normals: Normals) -> [bool; 2] {
        let mut sum = DMat3::ZERO;
        let mut terms = DMat3::ZERO;
        for (entry, weight) in model.mesh().influences_of(vertex) {
            let m = self.palette[usize::from(entry)].matrix3 * f64::from(weight);
            sum += m;
            terms += m.abs();
        }
        let [normal, tangent] = self.directions(model, vertex);
        let [turned, turned_terms] = match normals {
            Normals::Unit | Normals::Raw => [sum, terms],
            Normals::Exact => [cofactors(&sum, -1.0), cofactors(&terms, 1.0)],
        };
        [(turned, turned_terms, normal), (sum, terms, tangent)].map(|(sum, terms, [own, added])| {
            let length = (sum * (own + added)).length();
            length < CANCELLED * (terms * (own.abs() + added.abs())).length()
        })
    }

    /// The normal and the tangent of a vertex at rest, and what targets add to each.
    pub fn directions(&self, model: &Model, vertex: usize) -> [[DVec3; 2]; 2] {
        let mesh = model.mesh();
        let [_, turned, swayed] = self.offsets.get(vertex).copied().unwrap_or_default();
        let normal = Vec3::from(mesh.normals()[vertex]).as_dvec3();
        let tangent = mesh
            .tangents()
            .map_or(Vec4::ZERO, |tangents| tangents[vertex].into());
        [[normal, turned], [tangent.as_dvec4().truncate(), swayed]]
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
        let [moved, ..] = self.offsets.get(vertex).copied().unwrap_or_default();
        let p = Vec3::from(mesh.positions()[vertex]).as_dvec3() + moved;
        let [n, t] = self
            .directions(model, vertex)
            .map(|[own, added]| own + added);
        let handedness = mesh.tangents().map_or(0.0, |tangents| tangents[vertex][3]);
        let mut normal = match normals {
            Normals::Unit | Normals::Raw => m.matrix3 * n,
            Normals::Exact => cofactors(&m.matrix3, -1.0) * n,
        };
        let mut tangent = m.matrix3 * t;
        if normals != Normals::Raw {
            let shortest = f64::from(VANISHING).sqrt();
            normal /= normal.length().max(shortest);
            tangent /= tangent.length().max(shortest);
        }
        ReferenceVertex {
            position: m.matrix3 * p + m.translation,
            normal,
            tangent: tangent.extend(handedness.into()),
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
    for (joint, (local, &parent)) in local.iter().zip(skeleton.parents()).enumerate() {
        let to_parent = match skeleton.rest_of(joint) {
            JointTransform::Matrix(rows) => rows_to_affine(&rows),
            JointTransform::Transform(_) => DAffine3::from_scale_rotation_translation(
                local.scale,
                local.rotation,
                local.translation,
            ),
        };
        pose.push(match parent {
            NO_PARENT => to_parent,
            parent => pose[usize::from(parent)] * to_parent,
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
    let model = &group.model;
    let floats = group.format.floats();
    let mut vertices = Vec::with_capacity(model.mesh().vertex_count() * floats);
    for vertex in 0..model.mesh().vertex_count() {
        let ReferenceVertex {
            position: p,
            normal: n,
            tangent: t,
        } = pose.skin(model, vertex, group.format.normals, blending);
        let mut values = [p.x, p.y, p.z, n.x, n.y, n.z, t.x, t.y, t.z, t.w];
        if blending == Blending::DualQuaternion && pose.is_undecided(model, vertex) {
            values.fill(f64::NAN);
        }
        vertices.extend_from_slice(&values[..floats]);
    }
    vertices
}

/// Cofactors of a matrix, each the difference of two products for a `sign` of -1, and their sum for 1.
fn cofactors(m: &DMat3, sign: f64) -> DMat3 {
    let [x, y, z] = [0, 1, 2].map(|row| m.row(row));
    let cross = |a: DVec3, b: DVec3| {
        DVec3::new(
            a.y * b.z + sign * (a.z * b.y),
            a.z * b.x + sign * (a.x * b.z),
            a.x * b.y + sign * (a.y * b.x),
        )
    };
    DMat3::from_cols(cross(y, z), cross(z, x), cross(x, y)).transpose()
}

/// The weighted sum of matrices.
fn linear<'a>(influences: impl Iterator<Item = (&'a DAffine3, f64)>) -> DAffine3 {
    let mut sum = DAffine3 {
        matrix3: DMat3::ZERO,
        translation: DVec3::ZERO,
    };
    for (m, weight) in influences {
        sum.matrix3 += m.matrix3 * weight;
        sum.translation += m.translation * weight;
    }
    sum
}

/// Scale and rotation of a matrix that scales evenly.
struct EvenMotion {
    scale: f64,
    rotation: DQuat,
}

impl EvenMotion {
    /// What shrinks to a point has no rotation; it counts as unrotated.
    fn of(m: &DAffine3) -> Self {
        let scale = m.matrix3.determinant().cbrt();
        let mut rotation = DQuat::IDENTITY;
        if scale != 0.0 {
            rotation = DQuat::from_mat3(&(m.matrix3 * (1.0 / scale))).normalize();
        }
        Self { scale, rotation }
    }
}

/// The weighted sum of the matrices' dual quaternions, all in the hemisphere of the first, as a matrix (Kavan and
/// others 2008). Scales are summed separately.
fn dual_quaternion<'a>(influences: impl Iterator<Item = (&'a DAffine3, f64)>) -> DAffine3 {
    let mut real = DVec4::ZERO;
    let mut dual = DVec4::ZERO;
    let mut scale = 0.0;
    let mut first = None;
    for (m, weight) in influences {
        let motion = EvenMotion::of(m);
        let rotation = DVec4::from(motion.rotation);
        let moved = DQuat::from_vec4(m.translation.extend(0.0)) * motion.rotation;
        let side = rotation.dot(*first.get_or_insert(rotation));
        let signed = if side < 0.0 { -weight } else { weight };
        real += rotation * signed;
        dual += DVec4::from(moved) * (0.5 * signed);
        scale += motion.scale * weight;
    }
    let length = real.length();
    real /= length;
    dual /= length;
    let r = real.truncate();
    let d = dual.truncate();
    DAffine3 {
        matrix3: DMat3::from_quat(DQuat::from_vec4(real)) * scale,
        translation: 2.0 * (d * real.w - r * dual.w + r.cross(d)),
    }
}
