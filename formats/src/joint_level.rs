//! Levels of detail of skeletons: the same character without its smallest limbs, such as fingers.

use crate::adapt::add;
use glam::{DAffine3, DVec3};
use skinbench_kernels::error::DataError;
use skinbench_kernels::model::{
    Influences, Joint, Model, NO_PARENT, Rows, Skeleton, SkinData, affine_to_rows, rows_to_affine,
};

/// Largest difference of two matrices that count as one, relative to their largest number.
const SAME: f64 = 1e-5;

/// A model with fewer joints.
pub struct FewerJoints {
    /// The model. Its vertices are those of the original, in the same order within each primitive.
    pub model: Model,
    /// For each of its joints the index in the original.
    pub kept: Vec<u16>,
}

/// The model without limbs that reach less far than `reach` times the diagonal of its bounding box; `None` if it has no
/// such limb.
///
/// A limb is a joint with all of its descendants. Its reach is the largest distance at rest from the joint to a vertex
/// or joint of the limb. Vertices of a removed limb follow its parent, at the place that they have at rest. Clips lose
/// the tracks of removed joints. Roots stay.
///
/// # Errors
/// Compact clips, or more palette entries than a model may have.
pub fn without_small_limbs(model: &Model, reach: f64) -> Result<Option<FewerJoints>, DataError> {
    let skeleton = model.skeleton();
    let bounds = model.bounds();
    let least = reach * f64::from((bounds.max - bounds.min).length());
    let Some(fold) = Fold::new(model, least) else {
        return Ok(None);
    };
    let mut kept = Vec::new();
    let mut joints = Vec::new();
    for (joint, &parent) in (0u16..).zip(skeleton.parents()) {
        if fold.new_index[usize::from(joint)].is_some() {
            kept.push(joint);
            joints.push(Joint {
                name: skeleton.names()[usize::from(joint)].clone(),
                parent: (parent != NO_PARENT).then(|| fold.holder_index(parent).into()),
                rest: skeleton.rest_of(joint.into()),
            });
        }
    }
    let mut parts = model.clone().into_parts();
    // Joints are sorted as in the original, so their order stays.
    (parts.skeleton, _) = Skeleton::new(joints)?;
    let mut entries_of_skins = Vec::new();
    for skin in &mut parts.skins {
        entries_of_skins.push(fold.fold(skin));
    }
    for primitive in &mut parts.primitives {
        let entries = &entries_of_skins[usize::from(primitive.skin)];
        let mut influences = Influences::default();
        for vertex in 0..primitive.positions.len() {
            // Influences whose entries became one are added up.
            let mut sums = Vec::new();
            for (joint, weight) in primitive.influences.of(vertex) {
                add(&mut sums, entries[usize::from(joint)], weight);
            }
            influences.push(sums);
        }
        primitive.influences = influences;
    }
    for clip in &mut parts.clips {
        *clip = clip.with_joints(&fold.new_index)?;
    }
    Ok(Some(FewerJoints {
        model: Model::new(parts)?,
        kept,
    }))
}

/// The reach of each joint's limb, in units of the model.
fn reaches(model: &Model, pose: &[DAffine3]) -> Vec<f64> {
    let palette = model.rest_palette();
    let mut reaches = vec![0.0f64; pose.len()];
    // The joint of a point, and the point.
    let mut points: Vec<(u16, DVec3)> = Vec::new();
    for (joint, pose) in (0..).zip(pose) {
        points.push((joint, pose.translation));
    }
    let mesh = model.mesh();
    for (vertex, position) in mesh.positions().iter().enumerate() {
        let position = DVec3::from(position.map(f64::from));
        for (entry, weight) in mesh.influences_of(vertex) {
            if weight > 0.0 {
                let entry = usize::from(entry);
                let point = palette[entry].transform_point3(position);
                points.push((model.palette_joints()[entry], point));
            }
        }
    }
    for (mut joint, point) in points {
        // A point that belongs to a joint also belongs to the limbs of all ancestors.
        while joint != NO_PARENT {
            let index = usize::from(joint);
            reaches[index] = reaches[index].max(pose[index].translation.distance(point));
            joint = model.skeleton().parents()[index];
        }
    }
    reaches
}

/// The result of removing joints: for each joint of the full skeleton its pose and its substitute.
struct Fold {
    /// The rest pose of each joint.
    pose: Vec<DAffine3>,
    /// The joint that each joint's vertices follow.
    holder: Vec<u16>,
    /// The new index of each joint that is kept.
    new_index: Vec<Option<u16>>,
}

impl Fold {
    /// Removes limbs that reach less far than `least`; `None` if there is none.
    fn new(model: &Model, least: f64) -> Option<Self> {
        let pose = model.skeleton().rest_model_pose();
        let reaches = reaches(model, &pose);
        // Parents come first.
        let mut holder: Vec<u16> = Vec::new();
        let mut new_index = Vec::new();
        let mut count = 0;
        for (joint, &parent) in (0u16..).zip(model.skeleton().parents()) {
            let goes = parent != NO_PARENT && {
                let above = holder[usize::from(parent)];
                let determinant = pose[usize::from(above)].matrix3.determinant();
                // Below a removed joint, all are.
                above != parent
                    || (reaches[usize::from(joint)] < least
                        && determinant.abs() > f64::MIN_POSITIVE)
            };
            if goes {
                holder.push(holder[usize::from(parent)]);
                new_index.push(None);
            } else {
                holder.push(joint);
                new_index.push(Some(count));
                count += 1;
            }
        }
        new_index.contains(&None).then_some(Self {
            pose,
            holder,
            new_index,
        })
    }

    /// The new index of the joint that a joint's vertices follow.
    fn holder_index(&self, joint: u16) -> u16 {
        let holder = self.holder[usize::from(joint)];
        self.new_index[usize::from(holder)].unwrap_or(0)
    }

    /// Lets all entries of a skin follow kept joints; returns the new entry of each old one. An entry of a removed joint
    /// becomes that of its holder if both matrices agree, as in files whose rest pose is the bind pose.
    fn fold(&self, skin: &mut SkinData) -> Vec<u16> {
        let old_joints = std::mem::take(&mut skin.joints);
        let old_binds = std::mem::take(&mut skin.inverse_binds);
        let mut new_entries = vec![0; old_joints.len()];
        let mut order: Vec<usize> = (0..old_joints.len()).collect();
        order.sort_by_key(|&entry| self.new_index[usize::from(old_joints[entry])].is_none());
        for entry in order {
            let joint = old_joints[entry];
            let index = self.holder_index(joint);
            let holder = self.holder[usize::from(joint)];
            let mut inverse = old_binds[entry];
            let mut known = None;
            if holder != joint {
                let held = self.pose[usize::from(joint)];
                let between = self.pose[usize::from(holder)].inverse() * held;
                inverse = affine_to_rows(&(between * rows_to_affine(&inverse)));
                known = (0..skin.joints.len()).find(|&other| {
                    skin.joints[other] == index && alike(&skin.inverse_binds[other], &inverse)
                });
            }
            new_entries[entry] = known.unwrap_or(skin.joints.len()) as u16;
            if known.is_none() {
                skin.joints.push(index);
                skin.inverse_binds.push(inverse);
            }
        }
        new_entries
    }
}

fn alike(a: &Rows, b: &Rows) -> bool {
    let most = a.iter().map(|v| f64::from(v.abs())).fold(0.0, f64::max);
    let mut pairs = a.iter().zip(b);
    pairs.all(|(a, b)| f64::from((a - b).abs()) <= SAME * most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use skinbench_characters::walker;

    #[test]
    fn fingers_and_face_go_first_and_nothing_moves_at_rest() {
        let model = walker(600).unwrap();
        let FewerJoints { model: fewer, kept } =
            without_small_limbs(&model, 0.06).unwrap().unwrap();
        let names = fewer.skeleton().names();
        assert!(
            names
                .iter()
                .all(|name| !name.contains("index_0") && name != "jaw" && !name.contains("eye_"))
        );
        assert!(
            ["hand_l", "foot_r", "head"]
                .iter()
                .all(|wanted| names.iter().any(|name| name == wanted))
        );
        assert_eq!(kept.len(), names.len());
        for (name, &joint) in names.iter().zip(&kept) {
            assert_eq!(*name, model.skeleton().names()[usize::from(joint)]);
        }
        // Rest pose and bind pose are one, so every fold finds the entry of its parent.
        assert_eq!(fewer.palette_joints().len(), names.len());
        assert_eq!(fewer.mesh().vertex_count(), model.mesh().vertex_count());
        assert!(fewer.bounds().min.distance(model.bounds().min) < 1e-5);
        assert!(fewer.bounds().max.distance(model.bounds().max) < 1e-5);
        for vertex in 0..fewer.mesh().vertex_count() {
            let sum: f32 = fewer
                .mesh()
                .influences_of(vertex)
                .map(|(_, weight)| weight)
                .sum();
            assert!((sum - 1.0).abs() < 1e-5, "vertex {vertex}: {sum}");
        }
        assert!(
            fewer
                .clips()
                .iter()
                .zip(model.clips())
                .all(|(a, b)| a.duration() == b.duration())
        );
        assert!(without_small_limbs(&model, 0.0).unwrap().is_none());
    }

    #[test]
    fn entries_of_another_bind_pose_are_kept_where_they_rest() {
        let mut parts = walker(600).unwrap().into_parts();
        // A finger bound a metre off, so that its vertices rest elsewhere than its hand's matrix would put them.
        let finger = parts
            .skeleton
            .names()
            .iter()
            .position(|name| name == "index_01_l")
            .unwrap();
        parts.skins[0].inverse_binds[finger][3] += 1.0;
        let model = Model::new(parts).unwrap();
        let fewer = without_small_limbs(&model, 0.03).unwrap().unwrap().model;
        assert!(
            fewer.bounds().min.distance(model.bounds().min) < 1e-5,
            "{:?} {:?}",
            fewer.bounds(),
            model.bounds()
        );
        assert!(
            fewer.bounds().max.distance(model.bounds().max) < 1e-5,
            "{:?} {:?}",
            fewer.bounds(),
            model.bounds()
        );
    }
}
