//! Morph targets: every backend that claims them agrees with the reference, the others refuse by name.

use crate::backends::common::{
    self, backends, build_scene, context, morphing, refuses, tube, verified,
};
use skinbench::asset::glb;
use skinbench::backend::Context;
use skinbench::characters::face;
use skinbench::characters::walker;
use skinbench::crowd::{Crowd, Expression, Fade, Layer, LayerKind, Schedule};
use skinbench::frame::{Ability, Job};
use skinbench::model::{IDENTITY_ROWS, Model, TargetWeight};
use skinbench::reference::nan_max;
use skinbench::reference::reference_vertices;
use skinbench::scene::{Scene, SceneFile, Settings};
use skinbench::simd::Isa;
use skinbench::threads::Threads;
use skinbench::vertex::{Attributes, Encoding, VertexFormat};
use std::sync::Arc;

/// Tubes with targets and a tube without, layers of every kind, and instances with weights of their own.
fn crowd(format: VertexFormat) -> Crowd {
    let mut crowd = Crowd::with_format(format);
    let schedule = Schedule {
        period: 100,
        offset: 0,
        length: 80,
        fade_in: 50,
        fade_out: 20,
    };
    for (model, count) in [
        (morphing(tube(5, 12, 4)), 19),
        (tube(3, 4, 2), 3),
        (morphing(tube(7, 9, 9)), 2),
    ] {
        let mut model = model;
        let difference = model.clips()[1].additive().unwrap();
        let additive = model.add_clip(difference).unwrap();
        let model = Arc::new(model);
        let layers = |i: u32| {
            let base = Layer::looping(&model, i % 2, i.wrapping_mul(0x9e37_79b9), 1.0);
            let over = |kind| Layer {
                kind,
                weight: 0.7,
                schedule,
                ..Layer::looping(&model, 1, 7 * i, 0.5)
            };
            match i % 5 {
                0 => vec![base],
                1 => vec![
                    base,
                    Layer {
                        weight: 0.4,
                        ..over(LayerKind::Merge)
                    },
                ],
                2 => vec![base, over(LayerKind::Override)],
                3 => vec![
                    base,
                    Layer {
                        fade: Fade::Inertial,
                        ..over(LayerKind::Override)
                    },
                ],
                _ => vec![
                    base,
                    Layer {
                        clip: additive,
                        ..over(LayerKind::Additive)
                    },
                ],
            }
        };
        crowd
            .push_group(
                Arc::clone(&model),
                (0..count).map(|i| (IDENTITY_ROWS, layers(i))),
            )
            .unwrap();
    }
    let pinned = [
        TargetWeight {
            target: 2,
            weight: -1.5,
        },
        TargetWeight {
            target: 0,
            weight: 0.5,
        },
    ];
    let expressions = (0..24).map(|i| match i {
        // The tube without targets.
        19..22 => Expression::default(),
        _ => Expression {
            pinned: &pinned[..i % 3],
            alone: i % 4 == 3,
        },
    });
    crowd.with_expressions(expressions).unwrap()
}

fn assert_parity(crowd: &Crowd, context: &Context, ticks: &[u32]) -> usize {
    let agreed = common::assert_parity(context, crowd, ticks, |entry, backend| {
        let layered = entry.abilities().lack(Ability::Masks);
        layered || refuses(entry, backend, crowd, &Job::default())
    });
    agreed.len()
}

#[test]
fn every_backend_morphs_as_the_reference_does() {
    let context = context();
    let verified = assert_parity(&crowd(VertexFormat::default()), &context, &[0, 20, 59, 99]);
    assert!(
        verified
            >= if cfg!(feature = "gpu") && context_has_gpu(&context) {
                18
            } else {
                7
            },
        "{verified}"
    );
}

fn context_has_gpu(context: &Context) -> bool {
    backends(context)
        .iter()
        .any(|(entry, _)| entry.name.starts_with("gpu"))
}

#[test]
fn every_format_and_instruction_set_morphs() {
    for (attributes, encoding) in [
        (Attributes::P, Encoding::F32),
        (Attributes::Pnt, Encoding::F32),
        (Attributes::Pn, Encoding::Packed),
    ] {
        let crowd = crowd(VertexFormat {
            attributes,
            encoding,
            ..VertexFormat::default()
        });
        assert_parity(&crowd, &context(), &[33]);
        let host = Context {
            threads: Threads::new(2).unwrap(),
            ..Context::default()
        };
        for isa in Isa::available() {
            assert_parity(
                &crowd,
                &Context {
                    isa,
                    ..host.clone()
                },
                &[33],
            );
        }
    }
}

/// The crowd's vertices differ from those without targets, so that parity cannot pass by leaving targets out.
#[test]
fn targets_move_vertices() {
    let format = VertexFormat::default();
    let shown = |model: Model| {
        let mut crowd = Crowd::with_format(format);
        crowd
            .push_group(Arc::new(model), [(IDENTITY_ROWS, Layer::held(0, 0.3))])
            .unwrap();
        reference_vertices(&crowd, 0, 0)
    };
    let (plain, morphed) = (shown(tube(3, 4, 2)), shown(morphing(tube(3, 4, 2))));
    let farthest = plain
        .iter()
        .zip(&morphed)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    assert!(farthest > 0.05, "{farthest}");
}

#[test]
fn the_scenes_of_faces_verify() {
    let settings = Settings {
        instances: Some(21),
        vertices: Some(300),
        ..Settings::default()
    };
    let scene = build_scene("faces", settings);
    let crowd = &scene.crowd;
    for instance in 0..21 {
        let expression = crowd.expression(instance);
        assert!(expression.alone && expression.pinned.len() == 8);
    }
    assert_ne!(crowd.expression(0), crowd.expression(1));
    let context = context();
    common::assert_parity(&context, crowd, &[0, 77], |_, backend| {
        backend.footprint(crowd, &Job::default()).is_err()
    });
}

/// Poses that are older than a frame leave weights as they are.
#[test]
fn rarely_posed_crowds_morph() {
    let context = context();
    let crowd = crowd(VertexFormat::default())
        .with_update_rates(|_| 2)
        .unwrap();
    for name in ["cpu-scalar", "cpu-rayon"] {
        let backend = skinbench::registry::find(name)
            .unwrap()
            .create(&context)
            .unwrap();
        let parity = verified(&*backend, &context, &crowd, &[3, 41]);
        assert_eq!(parity.failure, None, "{name}");
    }
}

#[test]
fn exported_faces_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("face.glb");
    let original = face(300, 1).unwrap();
    std::fs::write(&file, glb::to_glb(&original).unwrap()).unwrap();
    let copy = skinbench::asset::load(&file).unwrap();
    assert_eq!(
        copy.mesh().targets().list(),
        original.mesh().targets().list()
    );
    let shown = |model: &Model, clip: u32, time: f32| {
        let mut crowd = Crowd::new();
        crowd
            .push_group(
                Arc::new(model.clone()),
                [(IDENTITY_ROWS, Layer::held(clip, time))],
            )
            .unwrap();
        reference_vertices(&crowd, 0, 0)
    };
    for clip in 0..original.clips().len() as u32 {
        for time in [0.0, 0.31, 0.77, 1.9, 9.0] {
            let (a, b) = (shown(&original, clip, time), shown(&copy, clip, time));
            let far = a
                .iter()
                .zip(&b)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, nan_max);
            assert!(far < 2e-6, "clip {clip} at {time} s: {far}");
        }
    }
}

#[test]
fn expressions_that_cannot_be_are_refused() {
    let refused = |model: Model, count: usize, pin: TargetWeight| {
        let mut crowd = Crowd::new();
        crowd
            .push_group(Arc::new(model), [(IDENTITY_ROWS, Layer::held(0, 0.0))])
            .unwrap();
        let expressions = (0..count).map(|_| Expression {
            pinned: std::slice::from_ref(&pin),
            alone: false,
        });
        crowd.with_expressions(expressions).unwrap_err().to_string()
    };
    let pin = TargetWeight {
        target: 5,
        weight: 1.0,
    };
    let error = refused(morphing(tube(3, 4, 2)), 1, pin);
    assert!(
        error.contains("expected a finite number for one of the 5 targets of \"tube\""),
        "{error}"
    );
    let nan = TargetWeight {
        target: 0,
        weight: f32::NAN,
    };
    assert!(refused(morphing(tube(3, 4, 2)), 1, nan).contains("the weight NaN for target 0"));
    assert!(refused(walker(500).unwrap(), 1, pin).contains("one of the 0 targets"));
    let none = TargetWeight {
        target: 0,
        weight: 1.0,
    };
    assert!(refused(morphing(tube(3, 4, 2)), 0, none).contains("0 expressions; expected 1"));
}

#[test]
fn keys_of_scenes_name_targets_that_exist() {
    let built = |keys: &str| {
        let text = format!("[[group]]\nmodel = \"face\"\nvertices = 200\n{keys}");
        let file = SceneFile {
            name: "s".into(),
            file: "s.toml".into(),
            text,
            folder: "".into(),
        };
        file.read().and_then(|scene| scene.build(u64::MAX))
    };
    let scene =
        built("weights = { jaw_drop = 0.5, eye_blink_left = 1 }\nactive_targets = 3\n").unwrap();
    assert_eq!(scene.crowd.expression(0).pinned.len(), 5);
    let error = |keys: &str| built(keys).unwrap_err().to_string();
    assert!(error("weights = { jaw_dorp = 0.5 }").contains("unknown morph target \"jaw_dorp\""));
    assert!(error("active_targets = 53").contains("expected at most 52"));
    let settings = Settings {
        active_targets: Some(2),
        ..Settings::default()
    };
    let walkers = Scene::load("smoke")
        .unwrap()
        .with(settings)
        .build(u64::MAX)
        .unwrap_err()
        .to_string();
    assert!(
        walkers.contains("but no model of the scene has one; expected a model with morph targets"),
        "{walkers}"
    );
    let active = |count| {
        let settings = Settings {
            active_targets: Some(count),
            instances: Some(2),
            ..Settings::default()
        };
        let scene = build_scene("faces", settings);
        (scene.crowd.expression(1).pinned.len(), scene.hash)
    };
    assert_eq!((active(0).0, active(52).0), (0, 52));
    assert_ne!(active(1).1, active(2).1);
}
