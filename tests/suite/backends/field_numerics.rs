//! Characters from bug reports whose scales, sizes and places are unusual. Every backend agrees with the reference on
//! them, or refuses them with its reason. The characters are small files of `SKINBENCH_SHARED`.

use super::common::{context, small_scene};
use crate::support::gltf_fixture::Fixture;
use crate::support::shared::shared_folder;
use serde_json::json;
use skinbench::harness::fidelity::clip_error;
use skinbench::harness::run::{self, Observer, RunOptions};
use skinbench::harness::{Outcome, Status};
use skinbench::reference::reference_vertices;
use skinbench::registry::REGISTRY;
use skinbench::scene::{Clips, Interpolation, Output, Scene, Settings};
use skinbench::vertex::{Attributes, Normals};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// The path of a character, which lies in the folder of its case.
fn character(name: &str) -> PathBuf {
    let cases = fs::read_dir(shared_folder().join("field")).unwrap();
    let paths = cases.map(|case| case.unwrap().path().join(name));
    let mut found = paths.filter(|path| path.is_file());
    found.next().unwrap_or_else(|| panic!("no case has {name}"))
}

/// Remarks on a scene, and what became of each backend.
struct Verified {
    remarks: Vec<String>,
    outcomes: Vec<Outcome>,
}

impl Observer for Verified {
    fn remark(&mut self, remark: &str) {
        self.remarks.push(remark.into());
    }
}

impl Verified {
    /// Verifies all backends on a scene, or on a character: a file that ends in `.glb`.
    fn new(name: &str, settings: Settings) -> Self {
        let scene = if name.ends_with(".glb") {
            Scene::load(character(name)).unwrap()
        } else {
            Scene::load(name).unwrap()
        };
        Self::of(scene.with(settings))
    }

    /// Verifies all backends on a scene.
    fn of(scene: Scene) -> Self {
        let scene = scene.build(u64::MAX).unwrap();
        let options = RunOptions {
            backends: REGISTRY.iter().filter(|entry| entry.is_built()).collect(),
            ..RunOptions::default()
        };
        let mut verified = Self {
            remarks: scene.remarks.clone(),
            outcomes: Vec::new(),
        };
        verified.outcomes = run::verify(&scene, &context(), &options, &mut verified).unwrap();
        verified
    }

    /// Checks that no backend differs from the reference, and that some agree with it.
    fn assert_parity(&self) {
        for outcome in &self.outcomes {
            let (name, problem) = (outcome.name, outcome.problem.as_deref().unwrap_or(""));
            println!("{name}: {:?} {problem}", outcome.status);
            assert!(
                matches!(outcome.status, Status::Ok | Status::Skipped),
                "{name}: {problem}"
            );
        }
        let agreed = self.outcomes.iter().filter(|o| o.status == Status::Ok);
        assert!(agreed.count() >= 7, "few backends ran");
    }

    /// Returns whether a remark begins like this.
    fn says(&self, beginning: &str) -> bool {
        self.remarks
            .iter()
            .any(|remark| remark.starts_with(beginning))
    }

    /// The reason why a backend was skipped; `None` if it agreed with the reference.
    fn refusal(&self, backend: &str) -> Option<&str> {
        let outcome = self.outcomes.iter().find(|o| o.name == backend);
        outcome.and_then(|outcome| outcome.problem.as_deref())
    }
}

/// Two instances, of which no picture is drawn.
fn two() -> Settings {
    Settings {
        instances: Some(2),
        passes: Some(0),
        ..Settings::default()
    }
}

/// Backends that turn joints by quaternions, and run where there is no adapter.
const TURNING: &str = "cpu-simd:dual-quaternion";

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn quaternions_refuse_what_mirrors() {
    for (file, joint) in [("mirror-all", "j0"), ("mirror-all-inner", "j1")] {
        let verified = Verified::new(&format!("{file}.glb"), two());
        verified.assert_parity();
        let reason = format!(
            "turns joints by quaternions, which cannot mirror: joint \"{joint}\" of \"{file}\" at rest"
        );
        assert_eq!(verified.refusal(TURNING), Some(&reason[..]));
        #[cfg(feature = "gpu")]
        for backend in [
            "gpu-compute:dual-quaternion",
            "gpu-baked",
            "gpu-baked:compute",
        ] {
            assert_eq!(verified.refusal(backend), Some(&reason[..]), "{backend}");
        }
    }
}

/// Curves through linear keys overshoot: from 1 to 0.01 and back, they pass below 0.
#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn curves_that_overshoot_below_zero_mirror() {
    let smooth = Settings {
        interpolation: Some(Interpolation::Smooth),
        ..two()
    };
    let verified = Verified::new("smooth-s001.glb", smooth);
    let refusal = verified.refusal(TURNING).unwrap();
    assert!(
        refusal.ends_with("of \"smooth-s001\" in a clip"),
        "{refusal}"
    );
    let authored = Verified::new("smooth-s001.glb", two());
    assert_eq!(authored.refusal(TURNING), None);
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn what_shrinks_to_a_point_is_at_its_joint() {
    for file in ["zero-scale-rest.glb", "zero-scale-animated.glb"] {
        let verified = Verified::new(file, two());
        verified.assert_parity();
        assert_eq!(verified.refusal(TURNING), None, "{file}");
    }
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn what_nobody_sees_is_remarked_on_and_agrees() {
    for file in ["points-only.glb", "zero-scale-all.glb"] {
        let drawn = Settings {
            passes: Some(1),
            ..two()
        };
        let verified = Verified::new(file, drawn);
        verified.assert_parity();
        #[cfg(feature = "gpu")]
        assert!(verified.says("the picture is empty"), "{file}");
    }
}

/// Models with tangents and models without them share no span of `gpu-compute:merged`.
#[test]
fn models_without_tangents_stand_among_others_with_them() {
    let tangents = Settings {
        attributes: Some(Attributes::Pnt),
        ..Settings::default()
    };
    Verified::of(small_scene("zoo").with(tangents)).assert_parity();
}

/// Scaled to 0, 1e-4 or 0.3 at rest; a single point; a limb that a clip stretches by two diagonals.
#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn errors_are_relative_to_what_is_shown() {
    for file in [
        "rest-scale-zero",
        "rest-scale-tiny",
        "rest-scale-0.3",
        "one-point",
        "stretch-8",
    ] {
        Verified::new(&format!("{file}.glb"), two()).assert_parity();
    }
    let packed = Settings {
        output: Some(Output::Packed),
        ..two()
    };
    Verified::new("rest-scale-zero.glb", packed).assert_parity();
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn scales_that_pass_through_zero_are_held_to_the_largest() {
    for file in ["smooth-s0.glb", "smooth-s001.glb"] {
        let smooth = Settings {
            interpolation: Some(Interpolation::Smooth),
            ..two()
        };
        Verified::new(file, smooth).assert_parity();
    }
}

/// 300 m and 224 km from the origin, where f32 numbers are 3e-5 and 1.6e-2 apart.
#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn what_is_far_from_the_origin_is_held_to_f32() {
    for (file, distance, limit) in [
        ("far-300", "far-300 is up to 300.", 1e-4),
        ("far-away", "far-away is up to 2236", 5e-2),
    ] {
        let drawn = Settings {
            passes: Some(1),
            ..two()
        };
        let verified = Verified::new(&format!("{file}.glb"), drawn);
        verified.assert_parity();
        assert!(verified.says(distance), "{:?}", verified.remarks);
        for outcome in &verified.outcomes {
            let Some(parity) = &outcome.parity else {
                continue;
            };
            assert!(parity.tolerance.position > 1e-5, "{}", outcome.name);
            if parity.approximation.is_none() {
                assert!(parity.max_rel.unwrap() < limit, "{}", outcome.name);
            }
        }
    }
    let near = Verified::new("stretch-8.glb", two());
    assert!(!near.says("f32 numbers"), "{:?}", near.remarks);
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn the_cube_of_packed_positions_holds_root_motion() {
    let packed = Settings {
        output: Some(Output::Packed),
        ..two()
    };
    let verified = Verified::new("root-motion.glb", packed);
    verified.assert_parity();
    let remark = "root-motion moves so far that the cube around its packed positions is";
    assert!(verified.says(remark), "{:?}", verified.remarks);
}

/// A joint that no vertex follows lies 1,000 units away. The clip turns the spine by 0.02 radians.
#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn a_joint_that_nothing_follows_counts_for_nothing() {
    let compact = |clips| Settings {
        clips: Some(clips),
        ..two()
    };
    let scenes = [Clips::Raw, Clips::Compact].map(|clips| {
        let scene = Scene::load(character("parked-joint.glb")).unwrap();
        let scene = scene.with(compact(clips));
        scene.build(u64::MAX).unwrap()
    });
    let mut moved = 0.0f64;
    for tick in 0..60 {
        let [raw, compact, rest] = [(0, tick), (1, tick), (0, 0)]
            .map(|(scene, tick): (usize, u32)| reference_vertices(&scenes[scene].crowd, 0, tick));
        for ((raw, compact), rest) in raw.iter().zip(&compact).zip(&rest) {
            assert!(
                (raw - compact).abs() < 6e-4,
                "tick {tick}: {raw}, {compact}"
            );
            moved = moved.max((raw - rest).abs());
        }
    }
    assert!(moved > 0.01, "it breathes");
    let stated = clip_error(&scenes[1]).unwrap();
    assert!(stated > 0.0 && stated < 1e-4, "{stated}");
    Verified::new("parked-joint.glb", compact(Clips::Compact)).assert_parity();
}

/// Vertices of two backends that pass may be farther apart than a pixel of this picture.
#[test]
#[cfg(feature = "gpu")]
fn packed_vertices_agree_in_a_near_picture() {
    let near = Settings {
        instances: Some(20),
        models: Some(2),
        distance: Some(0.3),
        attributes: Some(Attributes::Pnt),
        output: Some(Output::Packed),
        influences: Some(1),
        motion: true,
        passes: Some(1),
        ..Settings::default()
    };
    Verified::new("city", near).assert_parity();
}

/// A curve from a quaternion to its opposite, and to almost its opposite.
#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn curves_that_pass_near_zero_are_held_to_f32() {
    let verified = Verified::new("through-zero.glb", two());
    verified.assert_parity();
    let remark = "turns along curves that pass so near to zero";
    assert!(!verified.says(&format!("through-zero {remark}")));
    let verified = Verified::new("near-zero.glb", two());
    verified.assert_parity();
    assert!(
        verified.says(&format!("near-zero {remark}")),
        "{:?}",
        verified.remarks
    );
}

/// A joint turns by half a turn less 0.01 or 0.0001 radians, and back.
#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn smooth_half_turns_agree() {
    for file in ["turn-0.01.glb", "turn-0.0001.glb"] {
        let smooth = Settings {
            interpolation: Some(Interpolation::Smooth),
            ..two()
        };
        Verified::new(file, smooth).assert_parity();
    }
}

/// Two clips that merge with weights of 1e-20 each; a joint hidden by a scale of 1e-20.
#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn numbers_whose_squares_vanish_agree() {
    for weight in ["1e-20", "3e38"] {
        let file = character("shares.toml");
        let text = fs::read_to_string(&file).unwrap().replace("1e-20", weight);
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("shares.toml");
        fs::write(&copy, text).unwrap();
        fs::copy(file.with_file_name("m.glb"), folder.path().join("m.glb")).unwrap();
        Verified::of(Scene::load(copy).unwrap().with(two())).assert_parity();
    }
    for normals in [Normals::Unit, Normals::Exact] {
        let settings = Settings {
            normals: Some(normals),
            ..two()
        };
        Verified::new("hide-1e-20.glb", settings).assert_parity();
    }
}

/// The triangle of the fixture in a folder, its root and the joint below it scaled by so much.
fn scaled(folder: &TempDir, root: f64, tip: f64) -> Scene {
    let mut fixture = Fixture::new();
    fixture.set("/nodes/0/scale", json!([root, root, root]));
    fixture.set("/nodes/1/scale", json!([tip, tip, tip]));
    let scene = Scene::load(fixture.write(folder.path())).unwrap();
    scene.with(two())
}

/// Joints of which f32 numbers hold the scale, but neither its square nor its product with another.
#[test]
fn scales_that_vanish_agree_or_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (root, tip) in [(1.0, 1e-30), (1e-20, 1.0), (1e-20, 1e-20), (1e-30, 1e-30)] {
        let verified = Verified::of(scaled(&folder, root, tip));
        verified.assert_parity();
        let refusal = (root < 1.0).then_some(
            "finds rotations by the squares of scales, which are at least 1e-36: joint \"root\" of \"fixture\"",
        );
        assert_eq!(verified.refusal(TURNING), refusal, "{root}, {tip}");
    }
    let refused = scaled(&folder, 1e-33, 1.0).build(u64::MAX).unwrap_err();
    assert_eq!(
        refused.problem,
        "fixture has a diagonal of 2.0e-33; expected 1e-32 or more"
    );
}

/// Chains of 200 and 400 joints, each turned by 0.13 radians.
#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn limits_of_poses_grow_with_chains() {
    for file in ["curl200", "curl400"] {
        let verified = Verified::new(&format!("{file}.glb"), two());
        verified.assert_parity();
        assert!(
            verified.says(&format!("{file} has so long chains of joints")),
            "{:?}",
            verified.remarks
        );
    }
}

/// Of two joints, one mirrors: where a vertex belongs half to each, the terms of its normal cancel out, and rounding alone
/// says where it points.
#[test]
fn normals_that_cancel_out_are_not_held_to_a_direction() {
    let folder = tempfile::tempdir().unwrap();
    for mirror in [[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]] {
        let mut fixture = Fixture::new();
        let normals = fixture.floats("VEC3", &[0.0, 0.0, 1.0].repeat(3));
        fixture.set("/meshes/0/primitives/0/attributes/NORMAL", json!(normals));
        fixture.set("/nodes/1/scale", json!(mirror));
        let scene = Scene::load(fixture.write(folder.path())).unwrap();
        for normals in [Normals::Unit, Normals::Exact] {
            let settings = Settings {
                normals: Some(normals),
                instances: Some(20),
                ..two()
            };
            Verified::of(scene.clone().with(settings)).assert_parity();
        }
    }
}

/// A clip that plays once ends with its last key, also where each key holds up to the next one.
#[test]
fn a_clip_that_plays_once_ends_with_its_last_key() {
    let folder = tempfile::tempdir().unwrap();
    let mut fixture = Fixture::new();
    fixture.set("/animations/0/samplers/0/interpolation", json!("STEP"));
    fixture.write(folder.path());
    let file = folder.path().join("once.toml");
    for (play, first, last) in [
        ("playback = \"once\"", 1.0, 0.0),
        // An offset beyond the end is the end, and one before the beginning is the beginning.
        ("playback = \"once\"\noffset = 7", 0.0, 0.0),
        ("playback = \"once\"\nspeed = -1", 0.0, 1.0),
        ("playback = \"once\"\nspeed = -1\noffset = 7", 1.0, 1.0),
    ] {
        fs::write(
            &file,
            format!("[[group]]\nmodel = \"fixture.gltf\"\ncount = 2\n{play}"),
        )
        .unwrap();
        let scene = Scene::load(&file).unwrap().with(two());
        let built = scene.clone().build(u64::MAX).unwrap();
        for (tick, shown) in [(0, first), (600, last)] {
            let vertices = reference_vertices(&built.crowd, 1, tick);
            let x = vertices
                .chunks(6)
                .map(|vertex| vertex[0])
                .fold(0.0, f64::max);
            // The only vertex off the axis belongs half to the joint that a half turn takes away.
            assert!((x - shown).abs() < 1e-6, "{play}, tick {tick}: {x}");
        }
        Verified::of(scene).assert_parity();
    }
}
