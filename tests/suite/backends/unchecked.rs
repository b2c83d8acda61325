//! Shaders run without bounds checks because no model that would need them exists: validation refuses it.

use skinbench::model::{
    Axes, IDENTITY_ROWS, Influences, Joint, JointTransform, Model, ModelParts, Notes,
    PrimitiveData, Skeleton, SkinData, Transform,
};

/// Influences of vertices that follow one joint each.
fn following(joints: &[u16]) -> Influences {
    joints.iter().map(|&joint| [(joint, 1.0)]).collect()
}

/// Two joints, one skin of both, one triangle; `break_it` changes the parts before they are validated.
fn model(break_it: impl FnOnce(&mut ModelParts)) -> Result<Model, String> {
    let joint = |parent| Joint {
        name: String::new(),
        parent,
        rest: JointTransform::Transform(Transform::IDENTITY),
    };
    let mut parts = ModelParts {
        name: "triangle".into(),
        axes: Axes::Y_UP,
        skeleton: Skeleton::new(vec![joint(None), joint(Some(0))]).unwrap().0,
        skins: vec![SkinData {
            name: String::new(),
            joints: vec![0, 1],
            inverse_binds: vec![IDENTITY_ROWS; 2],
        }],
        clips: vec![],
        primitives: vec![PrimitiveData {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            influences: following(&[0, 1, 1]),
            indices: vec![0, 1, 2],
            dumped_vertices: 3,
            ..Default::default()
        }],
        targets: Vec::new(),
        materials: vec![],
        notes: Notes::default(),
    };
    break_it(&mut parts);
    Model::new(parts).map_err(|error| error.to_string())
}

#[test]
fn indices_out_of_range_never_reach_a_shader() {
    model(|_| {}).unwrap();
    let refused = |break_it: fn(&mut ModelParts), why: &str| {
        let error = model(break_it).expect_err(why);
        assert!(error.contains(why), "{error}");
    };
    // A palette entry beyond the skin's, at the edge and far away.
    refused(
        |parts| parts.primitives[0].influences = following(&[0, 2, 1]),
        "vertex 1 has joint 2; its skin has 2",
    );
    refused(
        |parts| parts.primitives[0].influences = following(&[0, 1, u16::MAX]),
        "vertex 2 has joint 65535",
    );
    // An entry whose joint is none of the skeleton's.
    refused(|parts| parts.skins[0].joints[1] = 2, "joint");
    refused(
        |parts| parts.skins[0].inverse_binds.truncate(1),
        "inverse bind",
    );
    refused(
        |parts| parts.primitives[0].skin = 1,
        "skin 1 is out of range",
    );
    // A vertex beyond the stream's, and influences that do not cover the vertices.
    refused(
        |parts| parts.primitives[0].indices[2] = 3,
        "names vertex 3; there are 3",
    );
    refused(
        |parts| parts.primitives[0].influences = following(&[0, 1, 1, 1]),
        "4 sets of influences for 3",
    );
    refused(
        |parts| parts.primitives[0].influences = following(&[0, 1]),
        "2 sets of influences for 3",
    );
}
