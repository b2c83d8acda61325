//! Crowds of many models: every backend shows them.

use crate::backends::common::{self, build_scene, context};
use skinbench::backend::Context;
use skinbench::crowd::Crowd;
use skinbench::frame::Job;
use skinbench::scene::Settings;

const TICKS: [u32; 3] = [0, 17, 216_003];

/// Verifies every backend that accepts a crowd; there must be at least `fewest`.
pub fn assert_parity(context: &Context, crowd: &Crowd, fewest: usize) {
    let agreed = common::assert_parity(context, crowd, &TICKS, |_, backend| {
        backend.footprint(crowd, &Job::default()).is_err()
    });
    assert!(agreed.len() >= fewest, "{}", agreed.len());
}

#[test]
fn every_backend_agrees_on_many_models() {
    let context = context();
    // Sparse blocks only; then full ones with a rest.
    for (instances, models, sizes) in [(25, 7, 3..=4), (38, 2, 19..=19)] {
        let few = Settings {
            instances: Some(instances),
            vertices: Some(600),
            ..Settings::default()
        };
        let models = Settings {
            models: Some(models),
            ..few
        };
        let crowd = build_scene("city", models).crowd;
        assert!(
            crowd
                .groups()
                .iter()
                .all(|group| sizes.contains(&group.len()))
        );
        assert_parity(&context, &crowd, 8);
    }
}
