//! Every field of a model that can change vertices or a picture changes the hash of a scene.

use super::*;
use crate::model::{
    Axes, Channel, Clip, Handedness, IDENTITY_ROWS, Image, Influences, Interpolation, Joint,
    JointTransform, Keys, Material, Model, ModelParts, PrimitiveData, RotationBlend, Skeleton,
    SkinData, Subset, Target, TargetDeltas, Texture, Transform, WeightKeys, Wrap,
};
use glam::Vec3;

/// A change to a model, and what it is called.
type Change = (&'static str, fn(&mut ModelParts));

fn skeleton(scale: f32, fixed: f32) -> Skeleton {
    let rest = Transform {
        scale: Vec3::splat(scale),
        ..Transform::IDENTITY
    };
    let mut matrix = IDENTITY_ROWS;
    matrix[3] = fixed;
    let joints = vec![
        Joint {
            name: "fixed".into(),
            parent: None,
            rest: JointTransform::Matrix(matrix),
        },
        Joint::new("moved", Some(0), rest),
    ];
    Skeleton::new(joints).unwrap().0
}

fn keys() -> Keys {
    Keys {
        joint: 1,
        channel: Channel::Translation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    }
}

fn weights() -> WeightKeys {
    WeightKeys {
        targets: 0..1,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: vec![0.0, 1.0],
    }
}

fn clip(duration: f32, keys: Keys, weights: WeightKeys) -> Clip {
    Clip::new("clip", Some(duration), RotationBlend::Slerp, vec![keys])
        .and_then(|clip| clip.with_weights(vec![weights]))
        .unwrap()
}

/// A triangle of two joints with everything that a model can have.
fn parts() -> ModelParts {
    let influences: Influences = [
        [(0, 0.5), (1, 0.5)],
        [(0, 0.5), (1, 0.5)],
        [(0, 0.25), (1, 0.75)],
    ]
    .into_iter()
    .collect();
    let primitive = PrimitiveData {
        skin: 0,
        positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        normals: Some(vec![[0.0, 0.0, 1.0]; 3]),
        tangents: Some(vec![[1.0, 0.0, 0.0, 1.0]; 3]),
        uvs: Some(vec![[0.25; 2]; 3]),
        colors: Some(vec![[0.25; 4]; 3]),
        influences,
        indices: vec![0, 1, 2],
        subsets: vec![Subset {
            material: 0,
            indices: 0..3,
        }],
        dumped_vertices: 3,
        targets: vec![TargetDeltas {
            target: 0,
            vertices: vec![(1, [[0.5; 3]; 3])],
        }],
    };
    let skin = SkinData {
        name: "skin".into(),
        joints: vec![0, 1],
        inverse_binds: vec![IDENTITY_ROWS; 2],
    };
    let texture = Texture {
        image: Image::Embedded([1, 2, 3].into()),
        wrap: [Wrap::Repeat; 2],
        transform: Texture::IDENTITY,
    };
    let textured = Material {
        name: "textured".into(),
        texture: Some(texture),
        ..Material::default()
    };
    ModelParts {
        clips: vec![clip(1.0, keys(), weights())],
        targets: vec![Target {
            name: "target".into(),
            weight: 0.0,
        }],
        materials: vec![textured, Material::default()],
        ..ModelParts::new("model", skeleton(1.0, 0.0), skin, vec![primitive])
    }
}

/// Does not compile when a struct that describes models gets another field: add a change of it to [`CHANGES`], or say
/// here why no vertex and no picture depends on it.
fn fields(parts: ModelParts) {
    let ModelParts {
        axes: _,
        skeleton: _,
        skins,
        clips: _,
        primitives,
        targets,
        materials,
        // Names, and messages about the import.
        name: _,
        notes: _,
    } = parts;
    for SkinData {
        joints: _,
        inverse_binds: _,
        name: _,
    } in skins
    {}
    for primitive in primitives {
        let PrimitiveData {
            positions: _,
            normals: _,
            tangents: _,
            uvs: _,
            colors: _,
            influences: _,
            indices: _,
            subsets: _,
            targets: _,
            // The palette entries of influences follow from it.
            skin: _,
            // What `dump` prints.
            dumped_vertices: _,
        } = primitive;
    }
    for Target { weight: _, name: _ } in targets {}
    for material in materials {
        let Material {
            base_color: _,
            alpha_cutoff: _,
            texture,
            name: _,
        } = material;
        let Some(Texture {
            image: _,
            wrap: _,
            transform: _,
        }) = texture
        else {
            continue;
        };
    }
}

fn texture(parts: &mut ModelParts) -> &mut Texture {
    parts.materials[0].texture.as_mut().unwrap()
}

const CHANGES: &[Change] = &[
    ("up", |parts| parts.axes.up = 2),
    ("handedness", |parts| {
        parts.axes = Axes {
            handedness: Handedness::Left,
            ..Axes::Y_UP
        }
    }),
    ("rest", |parts| parts.skeleton = skeleton(2.0, 0.0)),
    ("matrix", |parts| parts.skeleton = skeleton(1.0, 1.0)),
    ("skin", |parts| parts.skins[0].joints = vec![1, 0]),
    ("bind", |parts| parts.skins[0].inverse_binds[1][3] = 1.0),
    ("duration", |parts| {
        parts.clips = vec![clip(2.0, keys(), weights())]
    }),
    ("rotation blend", |parts| {
        parts.clips[0] = Clip::new("clip", Some(1.0), RotationBlend::Nlerp, vec![keys()])
            .and_then(|clip| clip.with_weights(vec![weights()]))
            .unwrap()
    }),
    ("channel", |parts| {
        let keys = Keys {
            channel: Channel::Scale,
            ..keys()
        };
        parts.clips[0] = clip(1.0, keys, weights());
    }),
    ("interpolation", |parts| {
        let keys = Keys {
            interpolation: Interpolation::Step,
            ..keys()
        };
        parts.clips[0] = clip(1.0, keys, weights());
    }),
    ("time", |parts| {
        let keys = Keys {
            times: vec![0.0, 0.5],
            ..keys()
        };
        parts.clips[0] = clip(1.0, keys, weights());
    }),
    ("value", |parts| {
        let keys = Keys {
            values: vec![0.0, 0.0, 0.0, 2.0, 0.0, 0.0],
            ..keys()
        };
        parts.clips[0] = clip(1.0, keys, weights());
    }),
    ("weight's interpolation", |parts| {
        let weights = WeightKeys {
            interpolation: Interpolation::Step,
            ..weights()
        };
        parts.clips[0] = clip(1.0, keys(), weights);
    }),
    ("weight's value", |parts| {
        let weights = WeightKeys {
            values: vec![0.0, 0.5],
            ..weights()
        };
        parts.clips[0] = clip(1.0, keys(), weights);
    }),
    ("position", |parts| {
        parts.primitives[0].positions[0][0] = 0.1
    }),
    ("normal", |parts| {
        parts.primitives[0].normals = Some(vec![[0.0, 1.0, 0.0]; 3])
    }),
    ("tangent", |parts| {
        parts.primitives[0].tangents = Some(vec![[0.0, 1.0, 0.0, 1.0]; 3])
    }),
    ("no tangents", |parts| parts.primitives[0].tangents = None),
    ("texture coordinate", |parts| {
        parts.primitives[0].uvs = Some(vec![[0.5; 2]; 3])
    }),
    ("colour of vertices", |parts| {
        parts.primitives[0].colors = Some(vec![[0.5; 4]; 3])
    }),
    ("influence", |parts| {
        parts.primitives[0].influences = vec![[(0, 0.5), (1, 0.5)]; 3].into_iter().collect()
    }),
    ("triangle", |parts| {
        parts.primitives[0].indices = vec![0, 2, 1]
    }),
    ("subset", |parts| {
        parts.primitives[0].subsets[0].material = 1
    }),
    ("delta", |parts| {
        parts.primitives[0].targets[0].vertices[0].1[0] = [0.25; 3]
    }),
    ("moved vertex", |parts| {
        parts.primitives[0].targets[0].vertices[0].0 = 2
    }),
    ("target's weight", |parts| parts.targets[0].weight = 0.5),
    ("colour", |parts| parts.materials[0].base_color[0] = 0.1),
    ("alpha", |parts| parts.materials[0].alpha_cutoff = Some(0.5)),
    ("no texture", |parts| parts.materials[0].texture = None),
    ("image", |parts| {
        texture(parts).image = Image::Embedded([1, 2, 4].into())
    }),
    ("file of an image", |parts| {
        texture(parts).image = Image::File("a.png".into())
    }),
    ("wrap", |parts| texture(parts).wrap[1] = Wrap::Clamp),
    ("transform", |parts| {
        texture(parts).transform = Texture::FROM_BELOW
    }),
];

/// Built-in scenes, numbers of instances, and their hashes at commit b81d081.
const HASHES: [(&str, u64, &str); 3] = [
    ("smoke", 20, "4c1debe3c8efc216"),
    ("walkers", 20, "02fe86396a5cb0eb"),
    ("street", 20, "d1a84e9564d450de"),
];

/// The hash of a scene that shows this model from a file, with tangents.
fn hash(parts: ModelParts) -> u64 {
    let file = SceneFile {
        name: "test".into(),
        file: "test.toml".into(),
        text: "[[group]]\nmodel = \"model.glb\"\ncount = 2".into(),
        folder: Default::default(),
    };
    let scene = file.read().unwrap().with(Settings {
        attributes: Some(crate::vertex::Attributes::Pnt),
        ..Settings::default()
    });
    let mut load = |_: &[&ModelSource]| vec![Model::new(parts.clone())];
    scene.build_with(1 << 30, &mut load).unwrap().hash
}

#[test]
fn every_field_of_a_model_changes_the_hash() {
    fields(parts());
    let base = hash(parts());
    assert_eq!(base, hash(parts()));
    for (name, change) in CHANGES {
        let mut changed = parts();
        change(&mut changed);
        assert_ne!(base, hash(changed), "{name}");
    }
}

#[test]
fn what_no_picture_shows_keeps_the_hash() {
    let mut renamed = parts();
    renamed.name = "another".into();
    renamed.materials[0].name = "another".into();
    renamed.skins[0].name = "another".into();
    renamed.targets[0].name = "another".into();
    assert_eq!(hash(parts()), hash(renamed));
}

/// Results that were measured with earlier versions stay comparable.
#[test]
fn built_in_scenes_keep_their_hashes() {
    for (scene, instances, expected) in HASHES {
        let settings = Settings {
            instances: Some(instances),
            ..Settings::default()
        };
        let built = Scene::load(scene).unwrap().with(settings).build(1 << 30);
        assert_eq!(format!("{:016x}", built.unwrap().hash), expected, "{scene}");
    }
}
