//! Crowds of many models: every backend shows them.

use crate::backends::common::{backends, context, prepare};
use skinbench::backend::Context;
use skinbench::crowd::Crowd;
use skinbench::frame::Job;
use skinbench::harness::parity::{Coverage, Tolerance, verify};
use skinbench::scene::{Scene, Settings};

const TICKS: [u32; 3] = [0, 17, 216_003];

/// Verifies every backend that accepts a crowd; there must be at least `most`.
pub fn assert_parity(context: &Context, crowd: &Crowd, most: usize) {
    let coverage = Coverage::all(crowd, &TICKS);
    let mut verified = 0;
    for (entry, backend) in backends(context) {
        if backend.footprint(crowd, &Job::default()).is_err() {
            continue;
        }
        let (mut backend, mut output) = prepare(&*backend, context, crowd);
        let parity = verify(
            &mut *backend,
            context,
            crowd,
            &mut output,
            &coverage,
            Tolerance::default(),
        )
        .unwrap();
        assert_eq!(parity.failure, None, "{}", entry.name);
        verified += 1;
    }
    assert!(verified >= most, "{verified}");
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
        let crowd = Scene::load("city")
            .unwrap()
            .with(models)
            .build(1 << 30)
            .unwrap()
            .crowd;
        assert!(
            crowd
                .groups()
                .iter()
                .all(|group| sizes.contains(&group.len()))
        );
        assert_parity(&context, &crowd, 8);
    }
}
