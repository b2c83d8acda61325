//! Clocks of the stages on the device, and the end of waiting for a device that hangs.

use crate::backends::common::{build_scene, context, context_with};
use skinbench::backend::Context;
use skinbench::frame::{Clock, ClockChoice, DeviceClock, Purpose, Stage};
use skinbench::gpu::Gpu;
use skinbench::gpu::device::command::{Command, Recorder};
use skinbench::gpu::wgpu;
use skinbench::harness::run::{self, Outcome, RunOptions, Status};
use skinbench::registry::find;
use skinbench::scene::Settings;
use std::sync::Arc;
use std::time::Duration;

const FRAMES: u32 = 3;

fn measured(gpu: &Arc<Gpu>, backends: &[&str]) -> Vec<Outcome> {
    let crowd = Settings {
        instances: Some(20),
        vertices: Some(500),
        passes: Some(2),
        ..Settings::default()
    };
    let scene = build_scene("smoke", crowd);
    let context = Context {
        gpu: Some(Arc::clone(gpu)),
        ..Context::default()
    };
    let backends = backends.iter().filter_map(|name| find(name)).collect();
    let options = RunOptions {
        backends,
        frames: Some(FRAMES),
        ..RunOptions::default()
    };
    run::run(&scene, &context, &options, &mut ()).unwrap()
}

/// The device's stages of each backend, which must all be timed by one clock.
fn stages(outcomes: &[Outcome], clock: Clock) -> Vec<Vec<Stage>> {
    let of_outcome = |outcome: &Outcome| {
        assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.problem);
        let device = outcome
            .stages
            .iter()
            .filter(|times| times.clock.is_of_device());
        device
            .inspect(|times| assert_eq!(times.clock, clock, "{}", outcome.name))
            .map(|times| times.stage)
            .collect()
    };
    outcomes.iter().map(of_outcome).collect()
}

/// Fences time the stages that timestamps time, in frames of their own: none is dropped, none takes no time, and frames
/// by the wall clock are as many.
#[test]
fn fences_time_every_stage() {
    let Some(gpu) = context().gpu else { return };
    let backends = [
        "cpu-scalar",
        "gpu-vertex",
        "gpu-compute:instances",
        "gpu-full",
        "gpu-baked",
    ];
    if gpu.choose_clock(ClockChoice::Timestamps).is_err() {
        println!("no timestamps to compare with");
        return;
    }
    let by_timestamps = stages(&measured(&gpu, &backends), Clock::Gpu);
    assert_eq!(gpu.choose_clock(ClockChoice::Fenced), Ok(None));
    assert!(gpu.clock().empty_submission.unwrap() > Duration::ZERO);
    let fenced = measured(&gpu, &backends);
    assert_eq!(stages(&fenced, Clock::Fenced), by_timestamps);
    assert!(
        by_timestamps
            .iter()
            .all(|stages| stages.contains(&Stage::Draw)),
        "{by_timestamps:?}"
    );
    for times in fenced
        .iter()
        .flat_map(|outcome| &outcome.stages)
        .filter(|t| t.clock != Clock::ThreadSum)
    {
        let frames: Vec<u32> = times.samples.iter().map(|(frame, _)| *frame).collect();
        if times.stage != Stage::Throughput {
            assert_eq!(
                (frames, times.dropped),
                ((0..FRAMES).collect(), 0),
                "{times:?}"
            );
        }
        assert!(times.samples.iter().all(|(_, ns)| *ns > 0), "{times:?}");
    }
}

#[test]
fn sound_timestamps_are_used() {
    let Some(gpu) = context().gpu else { return };
    match gpu.choose_clock(ClockChoice::Auto).unwrap() {
        None => assert_eq!(gpu.clock(), DeviceClock::default()),
        Some(fault) => {
            println!("{fault}");
            // llvmpipe and SwiftShader have sound ones.
            assert!(
                !gpu.adapter.summary.software && gpu.clock().is_fenced(),
                "{fault}"
            );
        }
    }
}

/// A device that does not finish in time is given up: the message says for which backend, at what and how long, and
/// every later use fails at once.
#[test]
fn a_device_that_hangs_is_given_up() {
    let Some(context) = context_with(|gpu| gpu.patience = Duration::ZERO) else {
        return;
    };
    let gpu = context.gpu.unwrap();
    let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    // Enough for the device to be still at work when it is asked.
    let large = gpu.buffer(Purpose::Staging, "large", 256 << 20, usage);
    gpu.work_for("gpu-full");
    let error = gpu.poison(&[large]).unwrap_err().to_string();
    let expected = format!(
        "device error: gpu-full: {} did not finish a frame within 0 s",
        gpu.adapter.summary.name
    );
    assert!(error.starts_with(&expected), "{error}");
    assert!(gpu.lost().is_some());
    let later = measured(&gpu, &["gpu-full", "cpu-scalar"]);
    assert!(
        later.iter().all(|outcome| outcome.status == Status::Error),
        "{later:?}"
    );
    assert!(
        later.iter().all(|outcome| outcome
            .problem
            .as_ref()
            .is_some_and(|p| p.contains(&expected))),
        "{later:?}"
    );
}

/// The watchdog names the stage that fences wait for, unless the device is still at work on what comes before it.
#[test]
fn the_stage_that_hangs_is_named() {
    let Some(mut gpu) = context().gpu else { return };
    let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let [from, to] =
        ["from", "to"].map(|label| gpu.buffer(Purpose::Staging, label, 256 << 20, usage));
    gpu.choose_clock(ClockChoice::Fenced).unwrap();
    Arc::get_mut(&mut gpu).unwrap().patience = Duration::ZERO;
    let mut commands = gpu.frame("copy");
    commands.run(Command::Stage(Stage::Upload));
    commands.run(Command::Copy {
        from: &from,
        from_offset: 0,
        to: &to,
        to_offset: 0,
        bytes: from.size,
    });
    commands.run(Command::EndStage);
    let error = commands.finish().unwrap_err().to_string();
    let named = ["upload", "what comes before a stage"]
        .map(|what| format!(" did not finish {what} within 0 s"));
    assert!(named.iter().any(|named| error.contains(named)), "{error}");
}
