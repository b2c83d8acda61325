//! Crowds that are not posed at every tick: all backends show the same, and how far off is known.

use crate::backends::common::{self, build_scene, context, refuses_for};
use skinbench::backend::Context;
use skinbench::crowd::Crowd;
use skinbench::harness::fidelity;
use skinbench::scene::Settings;

/// Steps, jumps both ways, and an hour in: poses of several ticks depend on the frames before.
const TICKS: [u32; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 1_234, 1_235, 216_003, 2];

fn by_distance(metres: [f64; 2]) -> Settings {
    Settings {
        update_rate: Some(metres),
        ..Settings::default()
    }
}

fn crowd(scene: &str, instances: u64, reuse: Settings) -> Crowd {
    let few = Settings {
        instances: Some(instances),
        vertices: Some(500),
        ..reuse
    };
    build_scene(scene, few).crowd
}

fn assert_parity(context: &Context, crowd: &Crowd, ticks: &[u32]) {
    let reasons = [
        "does not support uneven scale",
        "without update rates",
        "blends whole palettes",
    ];
    let agreed = common::assert_parity(context, crowd, ticks, |entry, backend| {
        refuses_for(&reasons, entry, backend, crowd)
    });
    assert!(agreed.len() > 4);
}

#[test]
fn every_backend_agrees_on_poses_of_every_second_and_fourth_tick() {
    let context = context();
    for scene in ["street", "walkers"] {
        let crowd = crowd(scene, 40, by_distance([14.0, 15.0]));
        for every in [1, 2, 4] {
            assert!(
                (0..40).any(|i| crowd.update_rate(i).every == every),
                "{scene}: no instance is posed every {every} ticks"
            );
        }
        assert_parity(&context, &crowd, &TICKS);
    }
}

#[test]
fn the_error_of_saving_is_measured() {
    let error = |reuse| fidelity::saving_error(&crowd("street", 90, reuse)).unwrap();
    let (seldom, always) = (
        error(by_distance([0.0, 0.0])),
        error(by_distance([1e3, 1e3])),
    );
    assert!(
        seldom > 1e-3 && seldom < 0.1 && always == 0.0,
        "{seldom} {always}"
    );
    assert_eq!(
        fidelity::saving_error(&crowd("street", 90, Settings::default())),
        None
    );
}
