//! The hash of a scene changes with everything that vertices and pictures depend on.

use fnv::FnvHasher;
use skinbench::asset::glb;
use skinbench::results::Recorded;
use skinbench::scene::{Effect, ModelSource, SceneFile, Settings, argument};
use std::fs;
use std::hash::Hasher;

/// Built-in scenes, numbers of instances, and their hashes.
const HASHES: [(&str, u64, &str); 3] = [
    ("smoke", 20, "bd48f40a3343ca31"),
    ("walkers", 20, "b8af3db2cff33723"),
    ("street", 20, "7695415d46247cad"),
];

/// Hashes of generated models as GLB files in this edition.
const EDITION_1: [(&str, u64); 6] = [
    ("walker", 0xa012_4fc2_bdb8_8012),
    ("walker-8", 0xc628_65fe_cd8d_7453),
    ("people", 0xcac6_ce71_7579_8088),
    ("face", 0x8f50_d92e_7a89_ea38),
    ("chain-64", 0x94d9_cf04_8059_2a02),
    ("star-64", 0x9201_9a06_c4f9_476f),
];

fn hash(file: &SceneFile, settings: Settings) -> u64 {
    let scene = file.read().unwrap().with(settings);
    scene.build(1 << 30).unwrap().hash
}

fn scene(text: &str) -> SceneFile {
    SceneFile {
        name: "test".into(),
        file: "test.toml".into(),
        text: text.into(),
        folder: Default::default(),
    }
}

#[test]
fn the_bytes_of_model_files_change_the_hash_and_their_places_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let glb = include_bytes!("../../scenes/models/sprout.glb");
    let hash_of = |name: &str, bytes: &[u8]| {
        fs::write(folder.path().join(name), bytes).unwrap();
        let file = SceneFile {
            folder: folder.path().into(),
            ..scene(&format!("[[group]]\nmodel = {name:?}\ncount = 2"))
        };
        hash(&file, Settings::default())
    };
    let mut moved = glb.to_vec();
    *moved.last_mut().unwrap() ^= 1;
    assert_eq!(hash_of("a.glb", glb), hash_of("b.glb", glb));
    assert_ne!(hash_of("a.glb", glb), hash_of("a.glb", &moved));
}

/// A new setting is in the hash, unless its row says that no vertex and no picture depends on it.
#[test]
fn settings_change_the_hash_unless_they_are_those_of_a_run() {
    let file = scene("[[group]]\nmodel = \"walker\"\nvertices = 600\ncount = 3");
    let base = hash(&file, Settings::default());
    for setting in Settings::ALL {
        for value in setting.tried {
            let mut word = argument(setting.name);
            if !value.is_empty() {
                word += &format!("={value}");
            }
            let settings = Settings::parse(std::slice::from_ref(&word)).unwrap();
            let is_same = hash(&file, settings) == base;
            assert_eq!(is_same, setting.effect == Effect::Run, "{word}");
        }
    }
}

/// Results of the same scene stay comparable from version to version.
#[test]
fn built_in_scenes_keep_their_hashes() {
    let mut found = Vec::new();
    for (name, instances, _) in HASHES {
        let settings = Settings {
            instances: Some(instances),
            ..Settings::default()
        };
        let hash = hash(&SceneFile::find(name).unwrap(), settings);
        found.push((name, instances, format!("{hash:016x}")));
    }
    let expected = HASHES.map(|(name, instances, hash)| (name, instances, hash.to_owned()));
    assert_eq!(found, expected);
}

/// The hash of a scene has the name of a generated model and its edition, not its vertices.
#[test]
fn a_generated_model_that_changes_has_a_new_edition() {
    let mut found = Vec::new();
    for (name, _) in EDITION_1 {
        let model = ModelSource::from_name(name).load().unwrap();
        let mut hash = FnvHasher::default();
        hash.write(&glb::to_glb(&model).unwrap());
        found.push((name, hash.finish()));
    }
    assert_eq!(found, EDITION_1, "raise EDITION in model_source.rs");
}

/// Results that were measured when hashes were computed otherwise are still those of the same scene.
#[test]
fn committed_results_have_the_hash_that_their_scene_has_now() {
    let recorded = Recorded::read(&["results/2026-11-25-epyc-first-table"]).unwrap();
    let settings = Settings {
        normals: Some(skinbench::vertex::Normals::Raw),
        ..Settings::default()
    };
    let now = hash(&SceneFile::find("kernel").unwrap(), settings);
    for row in recorded.rows {
        assert_eq!((&*row.scene, row.instances), ("kernel", 256));
        assert_eq!(row.scene_hash, format!("{now:016x}"));
    }
}
