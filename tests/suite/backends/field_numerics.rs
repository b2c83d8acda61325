//! Characters from bug reports whose scales, sizes and places are unusual. Every backend agrees with the reference on
//! them, or refuses them with its reason. `tests/fixtures/field` holds small stand-ins.

use super::common::context;
use skinbench::harness::run::{self, Observer, RunOptions};
use skinbench::harness::{Outcome, Status};
use skinbench::registry::REGISTRY;
use skinbench::scene::{Interpolation, Scene, Settings};

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
    /// Verifies all backends on a scene or a stand-in.
    fn new(name: &str, settings: Settings) -> Self {
        let file = format!("{}/tests/fixtures/field/{name}", env!("CARGO_MANIFEST_DIR"));
        let name = if name.ends_with(".glb") { &file } else { name };
        let scene = Scene::load(name).unwrap().with(settings);
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

    /// The reason why a backend was skipped; `None` if it agreed with the reference.
    fn refusal(&self, backend: &str) -> Option<&str> {
        let outcome = self.outcomes.iter().find(|o| o.name == backend);
        outcome.and_then(|outcome| outcome.problem.as_deref())
    }
}

/// Two instances, and nothing else that is not in the file.
fn two() -> Settings {
    Settings {
        instances: Some(2),
        ..Settings::default()
    }
}

/// Backends that turn joints by quaternions, and run where there is no adapter.
const TURNING: &str = "cpu-simd:dual-quaternion";

#[test]
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
fn what_shrinks_to_a_point_is_at_its_joint() {
    for file in ["zero-scale-rest.glb", "zero-scale-animated.glb"] {
        let verified = Verified::new(file, two());
        verified.assert_parity();
        assert_eq!(verified.refusal(TURNING), None, "{file}");
    }
}

#[test]
fn what_nobody_sees_is_remarked_on_and_agrees() {
    for file in ["points-only.glb", "zero-scale-all.glb"] {
        let verified = Verified::new(file, two());
        verified.assert_parity();
        #[cfg(feature = "gpu")]
        assert_eq!(
            verified.remarks,
            ["the picture is empty: no triangle is in view, so times of drawing say little"],
            "{file}"
        );
    }
}

/// Models with tangents and models without them share no span of `gpu-compute:merged`.
#[test]
fn models_without_tangents_stand_among_others_with_them() {
    let tangents = Settings {
        attributes: Some(skinbench::vertex::Attributes::Pnt),
        ..Settings::default()
    };
    Verified::new("zoo", tangents).assert_parity();
}
