//! The bind pose of a crowd: the pose in which the meshes were bound to their joints. It may differ from the rest pose.

use crate::crowd::{Crowd, CrowdError, Layer};
use crate::error::DataError;
use crate::model::{
    Channel, Clip, Interpolation, Keys, Model, NO_PARENT, RotationBlend, rows_to_affine,
};
use glam::DAffine3;
use std::sync::Arc;

/// The crowd with every instance in its bind pose.
///
/// # Errors
/// A model whose bind pose has no valid clip, or any error of [`Crowd::push_group`].
pub fn crowd_at_bind(crowd: &Crowd) -> Result<Crowd, String> {
    let mut bound = Crowd::with_format(crowd.format());
    for group in crowd.groups() {
        let mut model = (*group.model).clone();
        let clip = bind_clip(&model)
            .and_then(|clip| model.add_clip(clip))
            .map_err(|error| error.to_string())?;
        let instances = group.instances.clone().map(|instance| {
            let placement = crowd.placements()[instance as usize];
            (placement, Layer::held(clip, 0.0))
        });
        bound
            .push_group(Arc::new(model), instances)
            .map_err(|error: CrowdError| error.to_string())?;
    }
    Ok(bound)
}

/// A clip that holds every joint at the inverse of its inverse bind matrix; a joint without one keeps its rest pose.
/// The first skin decides for a joint of several skins. A bind pose with shear is approximated.
fn bind_clip(model: &Model) -> Result<Clip, DataError> {
    let skeleton = model.skeleton();
    let mut bound: Vec<Option<DAffine3>> = vec![None; skeleton.len()];
    for (&joint, inverse) in model
        .palette_joints()
        .iter()
        .zip(model.inverse_binds())
        .rev()
    {
        let pose = rows_to_affine(inverse).inverse();
        if pose.is_finite() {
            bound[usize::from(joint)] = Some(pose);
        }
    }
    let rest = skeleton.rest_model_pose();
    let mut pose: Vec<DAffine3> = Vec::with_capacity(skeleton.len());
    let mut keys = Vec::new();
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        let mut matrices = skeleton.matrices().iter();
        let is_fixed = matrices.any(|matrix| usize::from(matrix.0) == joint);
        let Some(bound) = bound[joint].filter(|_| !is_fixed) else {
            pose.push(at(&pose, parent) * at(&rest, parent).inverse() * rest[joint]);
            continue;
        };
        let local = at(&pose, parent).inverse() * bound;
        pose.push(bound);
        let (scale, rotation, translation) = local.to_scale_rotation_translation();
        let values = [
            (Channel::Rotation, rotation.as_quat().to_array().to_vec()),
            (
                Channel::Translation,
                translation.as_vec3().to_array().to_vec(),
            ),
            (Channel::Scale, scale.as_vec3().to_array().to_vec()),
        ];
        for (channel, values) in values {
            keys.push(Keys {
                joint: joint as u16,
                channel,
                interpolation: Interpolation::Step,
                times: vec![0.0],
                values,
            });
        }
    }
    Clip::new("bind pose", Some(0.0), RotationBlend::Slerp, keys)
}

/// The pose of a parent; the identity above a root.
fn at(pose: &[DAffine3], parent: u16) -> DAffine3 {
    match parent {
        NO_PARENT => DAffine3::IDENTITY,
        _ => pose[usize::from(parent)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Axes, Influences, Joint, JointTransform, ModelParts, Notes, PrimitiveData, Skeleton,
        SkinData, Transform,
    };
    use crate::reference::reference_vertices;
    use crate::scene::Scene;
    use glam::{Quat, Vec3};

    fn assert_at_bind(crowd: &Crowd) {
        for group in crowd.groups() {
            let diagonal = f64::from(group.model.bounds().diagonal());
            let vertices = reference_vertices(crowd, group.instances.start, 0);
            for (found, wanted) in vertices
                .chunks(group.format.floats())
                .zip(group.model.mesh().positions())
            {
                let off = (0..3)
                    .map(|axis| (found[axis] - f64::from(wanted[axis])).abs())
                    .fold(0.0, f64::max);
                assert!(
                    off < 1e-5 * diagonal,
                    "{}: {found:?} instead of {wanted:?}",
                    group.model.name()
                );
            }
        }
    }

    #[test]
    fn every_vertex_of_a_bind_pose_is_where_the_mesh_has_it() {
        for scene in ["zoo", "smoke"] {
            let crowd = Scene::load(scene).unwrap().build(1 << 30).unwrap().crowd;
            assert_at_bind(&crowd_at_bind(&crowd).unwrap());
        }
    }

    /// A triangle on two joints that rest elsewhere than they were bound.
    #[test]
    fn a_rest_pose_that_is_not_the_bind_pose_makes_no_difference() {
        let joint = |name: &str, parent, rotation| Joint {
            name: name.into(),
            parent,
            rest: JointTransform::Transform(Transform {
                rotation,
                translation: Vec3::new(0.0, 1.0, 0.5),
                scale: Vec3::splat(1.5),
            }),
        };
        let joints = vec![
            joint("hip", None, Quat::from_rotation_x(0.7)),
            joint("knee", Some(0), Quat::from_rotation_z(1.1)),
        ];
        let (skeleton, _) = Skeleton::new(joints).unwrap();
        let mut influences = Influences::default();
        (0..3).for_each(|vertex| influences.push([(0, 0.5), (u16::from(vertex > 0), 0.5)]));
        let bind = |x: f32| [1.0, 0.0, 0.0, x, 0.0, 0.0, -2.0, 0.5, 0.0, 2.0, 0.0, 1.0];
        let bind = [
            [1.0, 0.0, 0.0, 0.3, 0.0, 1.0, 0.0, 0.1, 0.0, 0.0, 1.0, 0.0],
            {
                let mut scaled = bind(0.2);
                scaled[0] = 2.0;
                scaled
            },
        ];
        let primitive = PrimitiveData {
            positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 2.0]],
            influences,
            indices: vec![0, 1, 2],
            dumped_vertices: 3,
            ..PrimitiveData::default()
        };
        let model = Model::new(ModelParts {
            name: "bent".into(),
            axes: Axes::Y_UP,
            skeleton,
            skins: vec![SkinData {
                name: String::new(),
                joints: vec![0, 1],
                inverse_binds: bind.to_vec(),
            }],
            clips: Vec::new(),
            primitives: vec![primitive],
            targets: Vec::new(),
            materials: Vec::new(),
            notes: Notes::default(),
        })
        .unwrap();
        let mut crowd = Crowd::new();
        let resting = (
            crate::model::IDENTITY_ROWS,
            Layer::held(crate::crowd::REST, 0.0),
        );
        crowd.push_group(Arc::new(model), [resting]).unwrap();
        let at_rest = reference_vertices(&crowd, 0, 0);
        assert!(
            at_rest[..3].iter().any(|axis| axis.abs() > 0.1),
            "the rest pose moves the first vertex"
        );
        assert_at_bind(&crowd_at_bind(&crowd).unwrap());
    }
}
