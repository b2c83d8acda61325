// A model for tests, which the example of README.md includes.

use glam::{Quat, Vec3};
use skinbench_kernels::error::DataError;
use skinbench_kernels::model::*;

/// A mast of two joints and a triangle, with a clip of a second and one of two.
pub fn mast() -> Result<Model, DataError> {
    let mut builder = SkeletonBuilder::new();
    builder.joint("foot", None, Vec3::ZERO);
    builder.joint("top", Some("foot"), Vec3::Y);
    let mast = builder.build()?;
    let mut clips = Vec::new();
    for seconds in [1.0, 2.0] {
        let bent = Frame {
            time: seconds,
            rotation: Quat::from_rotation_z(seconds),
            ..Frame::REST
        };
        let keys = mast.keys("top", &[Frame::REST, bent])?;
        clips.push(Clip::new("bend", None, RotationBlend::Slerp, keys)?);
    }
    let mut influences = Influences::default();
    for vertex in 0..3 {
        influences.push([(vertex / 2, 1.0)]);
    }
    let triangle = PrimitiveData {
        positions: vec![[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 2.0, 0.0]],
        influences,
        indices: vec![0, 1, 2],
        ..PrimitiveData::default()
    };
    let skin = SkinData::at_rest(&mast, vec![0, 1])?;
    let parts = ModelParts::new("mast", mast, skin, vec![triangle]);
    Model::new(ModelParts { clips, ..parts })
}
