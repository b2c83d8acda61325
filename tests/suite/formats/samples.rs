//! The small models under scenes/models: made by this project, one in each format, all of them the same character.
use crate::support::reference;
use crate::support::sprout::{Sprout, mirrored, z_up};
use glam::DVec3;
use skinbench::asset::{self, Request, Vertices, glb};
use skinbench::model::Model;
use skinbench::reference::nan_max;
use std::fs;
use std::path::{Path, PathBuf};

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/models")
}

/// Every file, as the writers make it now.
fn written() -> Vec<(&'static str, Vec<u8>)> {
    let sprout = Sprout::new();
    let [sway, nod] = &sprout.clips[..] else {
        unreachable!("two clips")
    };
    let texts = [
        ("sprout.m3d", sprout.m3d()),
        ("sprout.ram", sprout.ram()),
        ("sprout.raa", sprout.raa(sway)),
        ("sprout-nod.raa", sprout.raa(nod)),
        ("sprout.js", sprout.three_json()),
        ("sprout-frames.json", sprout.three_json_frames()),
        ("sprout.mesh.xml", sprout.mesh_xml()),
        ("sprout.skeleton.xml", sprout.skeleton_xml()),
        ("sprout.md5mesh", sprout.md5mesh()),
        ("sprout.md5anim", sprout.md5anim(sway)),
        ("sprout-nod.md5anim", sprout.md5anim(nod)),
    ];
    let temporary = tempfile::tempdir().unwrap();
    let json = temporary.path().join("sprout.js");
    fs::write(&json, &texts[4].1).unwrap();
    let glb = glb::to_glb(&asset::load(&json).unwrap_or_else(|error| panic!("{error}"))).unwrap();
    texts
        .into_iter()
        .map(|(name, text)| (name, text.into_bytes()))
        .chain([("sprout.glb", glb)])
        .collect()
}

/// With SKINBENCH_WRITE_SAMPLES set, writes them instead.
#[test]
fn samples_are_what_their_writers_make() {
    for (name, bytes) in written() {
        assert!(bytes.len() < 40_000, "{name} has {} bytes", bytes.len());
        let file = folder().join(name);
        if std::env::var_os("SKINBENCH_WRITE_SAMPLES").is_some() {
            fs::create_dir_all(folder()).unwrap();
            fs::write(&file, &bytes).unwrap();
        }
        let same = fs::read(&file).is_ok_and(|kept| kept == bytes);
        assert!(
            same,
            "{} differs; SKINBENCH_WRITE_SAMPLES=1 cargo test samples writes it",
            file.display()
        );
    }
}

/// Positions of all primitives in the character's own space.
fn positions(model: &Model, clip: Option<(usize, f64)>) -> Vec<DVec3> {
    let back = |v: DVec3| match model.axes() {
        axes if axes.up == 2 => z_up().inverse() * v,
        axes if axes.handedness == skinbench::model::Handedness::Left => mirrored(v),
        _ => v,
    };
    reference::skin(model, clip)
        .into_iter()
        .flat_map(|p| p.positions)
        .map(back)
        .collect()
}

#[test]
fn all_formats_hold_the_same_character() {
    let load =
        |name: &str| asset::load(folder().join(name)).unwrap_or_else(|error| panic!("{error}"));
    let expected = load("sprout.js");
    assert_eq!(expected.mesh().vertex_count(), 112);
    assert_eq!(expected.materials().len(), 2);
    let diagonal = f64::from(expected.bounds().diagonal());
    let nod = vec![folder().join("sprout.raa"), folder().join("sprout-nod.raa")];
    let models = [
        ("sprout.m3d", load("sprout.m3d"), 2),
        (
            "sprout.ram",
            asset::load_with(&Request {
                file: &folder().join("sprout.ram"),
                clips: &nod,
                vertices: Vertices::Drawn,
            })
            .unwrap(),
            2,
        ),
        ("sprout-frames.json", load("sprout-frames.json"), 1),
        ("sprout.mesh.xml", load("sprout.mesh.xml"), 2),
        ("sprout.md5mesh", load("sprout.md5mesh"), 2),
        ("sprout.glb", load("sprout.glb"), 2),
    ];
    for (name, model, clips) in models {
        assert_eq!(model.clips().len(), clips, "{name}");
        assert_eq!(model.notes().lines().count(), 0, "{name}");
        assert_eq!(model.materials().len(), 2, "{name}");
        let mut worst = 0.0f64;
        let mut compare = |clip| {
            let (a, b) = (positions(&expected, clip), positions(&model, clip));
            assert_eq!(a.len(), b.len(), "{name}");
            worst = a
                .iter()
                .zip(&b)
                .map(|(a, b)| (*a - *b).length() / diagonal)
                .fold(worst, nan_max);
        };
        compare(None);
        for clip in 0..clips {
            let duration = f64::from(expected.clips()[clip].duration());
            assert!(
                (duration - f64::from(model.clips()[clip].duration())).abs() < 1e-6,
                "{name}"
            );
            (0..20).for_each(|i| compare(Some((clip, duration * f64::from(i) / 20.0))));
        }
        println!("{name:20} {worst:8.1e}");
        assert!(worst < 1e-4, "{name}: {worst}");
    }
}

#[test]
fn ram_takes_the_clip_of_its_name_and_md5_all_that_fit() {
    let clips = |name: &str| -> Vec<String> {
        asset::load(folder().join(name))
            .unwrap()
            .clips()
            .iter()
            .map(|c| c.name().to_owned())
            .collect()
    };
    assert_eq!(clips("sprout.ram"), ["sprout"]);
    assert_eq!(clips("sprout.md5mesh"), ["sprout", "sprout-nod"]);
}

#[test]
fn clips_are_refused_where_the_model_has_its_own() {
    let clip = folder().join("sprout.raa");
    let error = asset::load_with(&Request {
        file: &folder().join("sprout.m3d"),
        clips: std::slice::from_ref(&clip),
        vertices: Vertices::Drawn,
    });
    let error = error.unwrap_err();
    assert_eq!(error.file, clip);
    assert!(
        error
            .problem
            .contains("expected no other file, as m3d holds its clips"),
        "{error}"
    );
}
