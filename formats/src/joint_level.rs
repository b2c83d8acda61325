//! Levels of detail of skeletons: the same character without its smallest limbs, such as fingers.

use crate::adapt::add;
use glam::{DAffine3, DVec3};
use skinbench_kernels::model::{
    Joint, Model, ModelError, NO_PARENT, Rows, Skeleton, SkinData, affine_to_rows, rows_to_affine,
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
pub fn without_small_limbs(model: &Model, reach: f64) -> Result<Option<FewerJoints>, ModelError> {
    let pose = model.skeleton().rest_model_pose();
    let parents = model.skeleton().parents();
    let bounds = model.bounds();
    let least = reach * f64::from((bounds.max - bounds.min).length());
    let reaches = reaches(model, &pose);
    // The joint that each joint's vertices follow; parents come first.
    let mut holder: Vec<u16> = Vec::with_capacity(parents.len());
    for (joint, &parent) in parents.iter().enumerate() {
        let goes = parent != NO_PARENT && {
            let above = holder[usize::from(parent)];
            // Below a removed joint, all are.
            let invertible =
                pose[usize::from(above)].matrix3.determinant().abs() > f64::MIN_POSITIVE;
            above != parent || (reaches[joint] < least && invertible)
        };
        holder.push(if goes {
            holder[usize::from(parent)]
        } else {
            joint as u16
        });
    }
    let kept: Vec<u16> = (0..)
        .zip(&holder)
        .filter(|(joint, holder)| joint == *holder)
        .map(|(joint, _)| joint)
        .collect();
    if kept.len() == parents.len() {
        return Ok(None);
    }
    let mut new_index = vec![None; parents.len()];
    kept.iter()
        .zip(0u16..)
        .for_each(|(&joint, index)| new_index[usize::from(joint)] = Some(index));
    let place = |joint: u16| new_index[usize::from(joint)].unwrap_or(0);

    let mut parts = model.clone().into_parts();
    let joints = kept.iter().map(|&joint| {
        let index = usize::from(joint);
        Joint {
            name: model.skeleton().names()[index].clone(),
            parent: (parents[index] != NO_PARENT).then(|| usize::from(place(parents[index]))),
            rest: model.skeleton().rest_of(index),
        }
    });
    // Joints are sorted as in the original, so their order stays.
    (parts.skeleton, _) = Skeleton::new(joints.collect())?;
    let folded: Vec<(SkinData, Vec<u16>)> = parts
        .skins
        .iter()
        .map(|skin| folded(skin, &pose, &holder, place))
        .collect();
    for primitive in &mut parts.primitives {
        let (_, entry_of) = &folded[usize::from(primitive.skin)];
        // Influences whose entries became one are added up.
        let sums = |vertex| {
            let mut sums = Vec::new();
            for (joint, weight) in primitive.influences.of(vertex) {
                add(&mut sums, entry_of[usize::from(joint)], weight);
            }
            sums
        };
        primitive.influences = (0..primitive.positions.len()).map(sums).collect();
    }
    parts.skins = folded.into_iter().map(|(skin, _)| skin).collect();
    parts.clips = parts
        .clips
        .iter()
        .map(|clip| clip.with_joints(&new_index))
        .collect::<Result<_, _>>()?;
    Ok(Some(FewerJoints {
        model: Model::new(parts)?,
        kept,
    }))
}

/// The reach of each joint's limb, in units of the model.
fn reaches(model: &Model, pose: &[DAffine3]) -> Vec<f64> {
    let parents = model.skeleton().parents();
    let palette = model.rest_palette();
    let mut reaches = vec![0.0f64; pose.len()];
    // A point that belongs to a joint also belongs to the limbs of all ancestors.
    let mut add = |joint: u16, point: DVec3| {
        let mut joint = joint;
        while joint != NO_PARENT {
            let reach = &mut reaches[usize::from(joint)];
            *reach = reach.max(pose[usize::from(joint)].translation.distance(point));
            joint = parents[usize::from(joint)];
        }
    };
    (0..)
        .zip(pose)
        .for_each(|(joint, pose)| add(joint, pose.translation));
    let mesh = model.mesh();
    for vertex in 0..mesh.vertex_count() {
        let position = DVec3::from(mesh.positions()[vertex].map(f64::from));
        for (entry, weight) in mesh.influences_of(vertex) {
            if weight > 0.0 {
                let entry = usize::from(entry);
                add(
                    model.palette_joints()[entry],
                    palette[entry].transform_point3(position),
                );
            }
        }
    }
    reaches
}

/// A skin whose entries all follow kept joints, and the new entry of each old one. An entry of a removed joint becomes
/// that of its holder if both matrices agree, as in files whose rest pose is the bind pose.
fn folded(
    skin: &SkinData,
    pose: &[DAffine3],
    holder: &[u16],
    place: impl Fn(u16) -> u16,
) -> (SkinData, Vec<u16>) {
    let mut to = SkinData {
        name: skin.name.clone(),
        joints: Vec::new(),
        inverse_binds: Vec::new(),
    };
    let mut entry_of = vec![0; skin.joints.len()];
    let is_kept = |entry: &usize| holder[usize::from(skin.joints[*entry])] == skin.joints[*entry];
    let (kept, removed): (Vec<usize>, Vec<usize>) = (0..entry_of.len()).partition(is_kept);
    for entry in kept.iter().copied().chain(removed) {
        let (joint, mut inverse) = (skin.joints[entry], skin.inverse_binds[entry]);
        let held = holder[usize::from(joint)];
        let mut known = None;
        if held != joint {
            let between = pose[usize::from(held)].inverse() * pose[usize::from(joint)];
            inverse = affine_to_rows(&(between * rows_to_affine(&inverse)));
            let mut all = to.joints.iter().zip(&to.inverse_binds);
            known =
                all.position(|(other, matrix)| *other == place(held) && alike(matrix, &inverse));
        }
        entry_of[entry] = known.unwrap_or(to.joints.len()) as u16;
        if known.is_none() {
            to.joints.push(place(held));
            to.inverse_binds.push(inverse);
        }
    }
    (to, entry_of)
}

fn alike(a: &Rows, b: &Rows) -> bool {
    let most = a.iter().map(|v| f64::from(v.abs())).fold(0.0, f64::max);
    a.iter()
        .zip(b)
        .all(|(a, b)| f64::from((a - b).abs()) <= SAME * most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walker::walker;

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
