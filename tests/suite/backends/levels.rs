//! Levels of detail: every backend shows them, and how far off they are is known.

use crate::backends::common::context;
use crate::backends::crowds::assert_parity;
use skinbench::crowd::Crowd;
use skinbench::harness::lod_error;
use skinbench::scene::{BuiltScene, Clips, Scene, SceneFile, Settings};

/// A street that recedes: people at all levels.
pub const STREET: &str = "resolution = [240, 135]\n[camera]\norbit = 5\nelevation = 8\ndistance = 0.45\n[[group]]\n\
    model = \"people\"\nmodels = 3\nvertices = 600\ncount = 96\nlayout = \"street\"\nspacing = 1.4\nclip = \"walk\"\n\
    [[group.layer]]\nclip = \"wave\"\nmask = { subtree = [\"clavicle_r\"] }\nevery = 2\nlasts = 1\n";

pub fn built(text: &str, settings: Settings) -> BuiltScene {
    file(text)
        .read()
        .unwrap()
        .with(settings)
        .build(1 << 30)
        .unwrap()
}

fn file(text: &str) -> SceneFile {
    SceneFile {
        name: "test".into(),
        file: "test.toml".into(),
        text: text.into(),
        folder: "".into(),
    }
}

#[test]
fn every_backend_agrees_at_every_level_and_levels_cost_less() {
    let context = context();
    let lod = |kinds: &str| {
        built(
            STREET,
            Settings {
                lod: Some(kinds.parse().unwrap()),
                ..Settings::default()
            },
        )
    };
    let full = lod("none").crowd;
    for kinds in ["mesh", "joints", "influences", "mesh,joints,influences"] {
        let scene = lod(kinds);
        let levels = scene.levels.as_ref().unwrap();
        assert!(
            levels.counts.iter().all(|count| *count > 0),
            "{kinds}: {:?}",
            levels.counts
        );
        assert_eq!(
            levels.counts.iter().sum::<usize>(),
            scene.crowd.instance_count()
        );
        let mut seen = levels.original.clone();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..96), "every instance is shown once");
        assert_eq!(
            scene.crowd.vertex_count() < full.vertex_count(),
            kinds.contains("mesh")
        );
        assert_eq!(
            scene.crowd.joint_count() < full.joint_count(),
            kinds.contains("joints")
        );
        let most = |crowd: &Crowd| {
            crowd
                .groups()
                .iter()
                .map(|g| g.model.mesh().max_influences())
                .min()
        };
        assert_eq!(
            most(&scene.crowd),
            if kinds.contains("influences") {
                Some(1)
            } else {
                most(&full)
            }
        );
        let error = lod_error::of_scene(&scene).unwrap();
        assert!(
            error.relative > 1e-4 && error.relative < 0.2 && error.pixels > 0.01,
            "{kinds}: {error:?}"
        );
        if kinds.contains(',') {
            assert_parity(&context, &scene.crowd, 8);
        }
    }
    assert!(lod_error::of_scene(&lod("none")).is_none());
}

#[test]
fn levels_keep_compact_clips() {
    let lod = Some("mesh,joints".parse().unwrap());
    let scene = built(
        STREET,
        Settings {
            lod,
            clips: Some(Clips::Compact),
            ..Settings::default()
        },
    );
    assert!(scene.crowd.groups().iter().all(|g| {
        g.model
            .clips()
            .iter()
            .all(|clip| clip.keys().compact().is_some())
    }));
    assert_eq!(scene.remarks, [""; 0]);
}

#[test]
fn levels_keep_morph_targets_and_expressions() {
    let faces = "resolution = [240, 135]\n[camera]\ndistance = 0.45\n[[group]]\nmodel = \"face\"\nvertices = 600\n\
        count = 24\nlayout = \"street\"\nspacing = 1.0\nactive_targets = 8\n";
    let scene = built(
        faces,
        Settings {
            lod: Some("mesh".parse().unwrap()),
            ..Settings::default()
        },
    );
    let levels = scene.levels.as_ref().unwrap();
    assert!(
        levels.counts.iter().filter(|count| **count > 0).count() > 1,
        "{:?}",
        levels.counts
    );
    assert!(
        scene
            .crowd
            .groups()
            .iter()
            .all(|group| group.model.mesh().targets().len() == 52)
    );
    assert!(scene.crowd.vertex_count() < levels.full.vertex_count());
    for (instance, &original) in (0..).zip(&levels.original) {
        let kept = scene.crowd.expression(instance);
        assert_eq!(
            (kept.pinned.len(), kept),
            (8, levels.full.expression(original))
        );
    }
    assert_parity(&context(), &scene.crowd, 8);
}

#[test]
fn wrong_numbers_of_models_and_unknown_kinds_are_refused() {
    let refused = |name: &str, settings| {
        Scene::load(name)
            .unwrap()
            .with(settings)
            .build(1 << 30)
            .unwrap_err()
            .to_string()
    };
    let models = |models, instances| Settings {
        models: Some(models),
        instances,
        ..Settings::default()
    };
    assert_eq!(
        refused("city", models(64, Some(10))),
        "--models for city: 64 models for 10 instances; expected at most 10"
    );
    let error = refused("walkers", models(4, None));
    assert!(
        error.starts_with("--models for walkers: 4 models, but no group of people; expected"),
        "{error}"
    );
    for (from, to, expected) in [
        (
            "models = 3",
            "models = 0",
            "test.toml:8:10: models = 0; expected 1 to 4096",
        ),
        (
            "models = 3",
            "models = 97",
            "test.toml:8:10: models = 97 for 96 instances; expected at most 96",
        ),
        (
            "\"people\"",
            "\"walker\"",
            "test.toml:8:10: models of one model; expected model = \"people\"",
        ),
        (
            "[camera]",
            "lod = [\"joint\"]\n[camera]",
            "test.toml:2:7: unknown kind of level \"joint\"; did you mean",
        ),
    ] {
        let text = STREET.replace(from, to);
        let error = file(&text).read().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}\nnot {expected}");
    }
}
