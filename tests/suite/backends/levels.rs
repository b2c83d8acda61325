//! Levels of detail: every backend shows them, and how far off they are is known.

use crate::backends::common::context;
use crate::backends::crowds::assert_parity;
use skinbench::crowd::Crowd;
use skinbench::model::Rows;
use skinbench::scene::{BuiltScene, Clips, Lod, MeshLevels, Scene, SceneFile, Settings};

/// A street that recedes: people at all levels.
const STREET: &str = "resolution = [240, 135]\n[camera]\norbit = 5\nelevation = 8\ndistance = 0.45\n[[group]]\n\
    model = \"people\"\nmodels = 3\nvertices = 600\ncount = 96\nlayout = \"street\"\nspacing = 1.4\nclip = \"walk\"\n\
    [[group.layer]]\nclip = \"wave\"\nmask = { subtree = [\"clavicle_r\"] }\nevery = 2\nlasts = 1\n";

fn built(text: &str, settings: Settings) -> BuiltScene {
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

/// A scene with levels of meshes.
fn leveled(text: &str, clips: Clips) -> BuiltScene {
    let settings = Settings {
        lod: Some(Lod::Mesh),
        clips: Some(clips),
        ..Settings::default()
    };
    built(text, settings)
}

/// The bits of placements, in a rising order.
fn places(crowd: &Crowd) -> Vec<[u32; 12]> {
    let bits = |place: &Rows| place.map(f32::to_bits);
    let mut places: Vec<_> = crowd.placements().iter().map(bits).collect();
    places.sort_unstable();
    places
}

#[test]
fn every_backend_agrees_at_every_level_and_levels_cost_less() {
    let full = built(STREET, Settings::default());
    assert_eq!(full.levels, None);
    let scene = leveled(STREET, Clips::Raw);
    let levels = scene.levels.unwrap();
    let counts = &levels.counts;
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    assert_eq!(counts.iter().sum::<usize>(), 96);
    assert_eq!(places(&scene.crowd), places(&full.crowd));
    assert!(scene.crowd.vertex_count() < full.crowd.vertex_count());
    assert_eq!(scene.crowd.joint_count(), full.crowd.joint_count());
    // The last level has the largest error, on instances of less than 40 pixels.
    let MeshLevels {
        error, error_px, ..
    } = &levels;
    assert!(*error > 1e-3 && *error < 0.2, "{levels:?}");
    assert!(*error_px > 0.1 && *error_px < 200.0 * error, "{levels:?}");
    assert_parity(&context(), &scene.crowd, 8);
}

#[test]
fn levels_keep_compact_clips() {
    let scene = leveled(STREET, Clips::Compact);
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
    let full = built(faces, Settings::default()).crowd;
    let scene = leveled(faces, Clips::Raw);
    let counts = scene.levels.unwrap().counts;
    assert!(
        counts.iter().filter(|count| **count > 0).count() > 1,
        "{counts:?}"
    );
    assert!(
        scene
            .crowd
            .groups()
            .iter()
            .all(|group| group.model.mesh().targets().len() == 52)
    );
    assert!(scene.crowd.vertex_count() < full.vertex_count());
    for (instance, place) in (0..).zip(scene.crowd.placements()) {
        let mut before = full.placements().iter();
        let original = before.position(|other| other == place).unwrap() as u32;
        let kept = scene.crowd.expression(instance);
        assert_eq!((kept.pinned.len(), kept), (8, full.expression(original)));
    }
    assert_parity(&context(), &scene.crowd, 8);
}

#[test]
fn wrong_numbers_of_models_and_unknown_levels_are_refused() {
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
            "test.toml:8:10: several models of one that is always the same; expected model = \"people\"",
        ),
        (
            "[camera]",
            "lod = \"joints\"\n[camera]",
            "test.toml:2:7: unknown value \"joints\"; expected none or mesh",
        ),
    ] {
        let text = STREET.replace(from, to);
        let error = file(&text).read().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}\nnot {expected}");
    }
}
