//! Crowds that change: all backends show the same, and what they skip or replace is measured.

use crate::backends::common::{build_scene, context};
use crate::backends::crowds::assert_parity;
use skinbench::frame::{Clock, Stage};
use skinbench::harness::run::{self, RunOptions, Status};
use skinbench::registry::find;
use skinbench::scene::{BuiltScene, Settings};

fn scene(name: &str, instances: u64, changes: Settings) -> BuiltScene {
    let few = Settings {
        instances: Some(instances),
        passes: Some(0),
        vertices: Some(500),
        ..changes
    };
    build_scene(name, few)
}

fn changing(turnover: f64, frozen: f64) -> Settings {
    Settings {
        turnover: Some(turnover),
        frozen: Some(frozen),
        ..Settings::default()
    }
}

#[test]
fn every_backend_agrees_on_crowds_that_change() {
    let context = context();
    for (name, turnover, frozen) in [
        ("street", 0.05, 0.8),
        ("street", 0.0, 1.0),
        ("walkers", 0.05, 0.0),
        ("walkers", 0.0, 0.8),
    ] {
        let crowd = scene(name, 40, changing(turnover, frozen)).crowd;
        assert_eq!(
            (crowd.turnover().is_some(), crowd.has_frozen()),
            (turnover > 0.0, frozen > 0.0)
        );
        assert_parity(&context, &crowd, 9);
    }
    assert_parity(&context, &scene("faces", 20, changing(0.1, 0.5)).crowd, 7);
}

/// The host has a share of the update where it poses or sends anything, and the device where it holds what is replaced.
#[test]
fn updates_are_a_stage_of_host_and_device() {
    let context = context();
    let backends: Vec<_> = ["cpu-simd", "gpu-full", "gpu-compute:instances"]
        .into_iter()
        .filter_map(find)
        .collect();
    let options = RunOptions {
        backends,
        frames: Some(12),
        ..RunOptions::default()
    };
    for outcome in run::run(
        &scene("walkers", 60, changing(0.1, 0.0)),
        &context,
        &options,
        &mut (),
    )
    .unwrap()
    {
        if outcome.status == Status::Skipped {
            continue;
        }
        assert_eq!((outcome.status, &outcome.problem), (Status::Ok, &None));
        let frames = |stage, of_device| {
            let times = outcome
                .stages
                .iter()
                .filter(|s| s.stage == stage && s.clock.is_of_device() == of_device);
            times
                .filter(|s| s.clock != Clock::ThreadSum)
                .map(|s| s.samples.len())
                .sum::<usize>()
        };
        assert_eq!(frames(Stage::Update, false), 12, "{}", outcome.name);
        let timed = outcome.name == "gpu-full" && frames(Stage::Skin, true) > 0;
        assert_eq!(frames(Stage::Update, true) > 0, timed, "{}", outcome.name);
    }
}

#[cfg(feature = "gpu")]
mod gpu {
    use super::*;
    use crate::backends::common::prepare;
    use skinbench::crowd::Crowd;
    use skinbench::frame::{FrameInput, StageTimer};
    use skinbench::gpu::draw::present::Presenter;
    use std::sync::Arc;

    /// The device computes nothing for frozen instances, unless another backend wrote over their vertices.
    #[test]
    fn frozen_instances_take_no_dispatch() {
        let context = context();
        let Some(gpu) = &context.gpu else { return };
        let crowd = scene("walkers", 40, changing(0.0, 1.0)).crowd;
        let mut timer = StageTimer::default();
        for name in ["gpu-full", "gpu-compute:instances"] {
            let backend = find(name).unwrap().create(&context).unwrap();
            let (mut backend, mut output) = prepare(&*backend, &context, &crowd);
            let mut dispatches = |lost: bool, tick| {
                if lost {
                    output.lose();
                }
                gpu.take_work();
                let mut frame = FrameInput {
                    crowd: &crowd,
                    tick,
                    output: &mut output,
                };
                backend
                    .submit(&mut frame, &mut timer)
                    .unwrap()
                    .finish()
                    .unwrap();
                gpu.take_work().dispatches
            };
            assert!(dispatches(false, 0) > 0, "{name}");
            assert_eq!(
                [
                    dispatches(false, 1),
                    dispatches(true, 2),
                    dispatches(false, 3)
                ],
                [0, 1, 0],
                "{name}"
            );
        }
    }

    /// A crowd without turnover whose instances are those of a tick.
    fn at(crowd: &Crowd, tick: u32) -> Crowd {
        let mut still = Crowd::with_format(crowd.format());
        for group in crowd.groups() {
            let of = |i: u32| (*crowd.placement_at(i, tick), crowd.layers_at(i, tick));
            still
                .push_group(Arc::clone(&group.model), group.instances.clone().map(of))
                .unwrap();
        }
        still
    }

    #[test]
    fn newcomers_are_drawn_at_their_places() {
        let context = context();
        let Some(gpu) = &context.gpu else { return };
        let scene = scene("zoo", 60, changing(0.1, 0.0));
        let drawn = |crowd: &Crowd, name: &str, ticks: &[u32]| {
            let backend = find(name).unwrap().create(&context).unwrap();
            let (mut backend, mut output) = prepare(&*backend, &context, crowd);
            let mut presenter = Presenter::new(Arc::clone(gpu), crowd, scene.view(), 1).unwrap();
            let mut timer = StageTimer::default();
            for &tick in ticks {
                let mut frame = FrameInput {
                    crowd,
                    tick,
                    output: &mut output,
                };
                let ticket = backend.submit(&mut frame, &mut timer).unwrap();
                ticket
                    .draw(&mut presenter, &backend.skinned(), &frame, &mut timer)
                    .unwrap()
                    .finish()
                    .unwrap();
            }
            presenter.read_depth().unwrap()
        };
        // Kernels are chosen by time, and round differently: a pixel at an edge may show what is behind it.
        let differing = |a: &[f32], b: &[f32]| {
            a.iter()
                .zip(b)
                .filter(|(a, b)| (*a - *b).abs() > 1e-5)
                .count()
        };
        for name in ["cpu-scalar", "gpu-full", "gpu-vertex"] {
            let expected = drawn(&at(&scene.crowd, 7), name, &[7]);
            let shown =
                |crowd: &Crowd, ticks: &[u32]| differing(&drawn(crowd, name, ticks), &expected);
            assert!(shown(&scene.crowd, &[0, 1, 2, 3, 6, 7]) < 10, "{name}");
            assert!(shown(&at(&scene.crowd, 0), &[7]) > 1_000, "{name}");
        }
    }
}
