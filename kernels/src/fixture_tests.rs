//! A model for unit tests.

use crate::model::{
    Channel, Clip, IDENTITY_ROWS, Interpolation, Joint, Keys, Model, ModelParts, PrimitiveData,
    RotationBlend, Skeleton, SkinData, Transform,
};
use glam::{Quat, Vec3};

/// Joints of [`chain`].
pub const JOINTS: usize = 64;

/// A chain of joints, each a metre from the one before, with one triangle and one clip of a second in which all joints
/// sway.
pub fn chain() -> Model {
    let joint = |j: usize| {
        let translation = if j == 0 { Vec3::ZERO } else { Vec3::Y };
        Joint::new(
            format!("joint {j}"),
            j.checked_sub(1),
            Transform {
                translation,
                ..Transform::IDENTITY
            },
        )
    };
    let (skeleton, _) = Skeleton::new((0..JOINTS).map(joint).collect()).unwrap();
    let keys = (0..JOINTS as u16).map(|joint| Keys {
        joint,
        channel: Channel::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 0.5, 1.0],
        values: [0.0, 0.1, 0.0]
            .iter()
            .flat_map(|angle| Quat::from_rotation_z(*angle).to_array())
            .collect(),
    });
    let clip = Clip::new("sway", None, RotationBlend::Slerp, keys.collect()).unwrap();
    let mut inverse_bind = IDENTITY_ROWS;
    let skin = SkinData {
        name: String::new(),
        joints: (0..JOINTS as u16).collect(),
        inverse_binds: (0..JOINTS)
            .map(|j| {
                inverse_bind[7] = -(j as f32);
                inverse_bind
            })
            .collect(),
    };
    let primitive = PrimitiveData {
        positions: vec![[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 2.0, 1.0]],
        influences: (0..3).map(|joint| [(joint, 1.0)]).collect(),
        indices: vec![0, 1, 2],
        dumped_vertices: 3,
        ..PrimitiveData::default()
    };
    let parts = ModelParts::new("chain", skeleton, skin, vec![primitive]);
    Model::new(ModelParts {
        clips: vec![clip],
        ..parts
    })
    .unwrap()
}
