//! Audits catch backends that compute what is verified, and less while they are timed.

use super::{Outcome, RunOptions, Status, run};
use crate::backend::altered_tests::{Altered, Submit};
use crate::backend::cpu::Cpu;
use crate::backend::cpu_kernels::SCALAR;
use crate::backend::{Backend, Context, Prepared, Ticket};
use crate::frame::{FrameInput, Result, StageTimer};
use crate::registry::{BackendEntry, Constructor, find};
use crate::scene::{Scene, Settings};

/// Backends that leave work out, except in frames that are verified.
static CHEATERS: [BackendEntry; 3] = [
    Constructor::Function(&|context| cheater(context, skip_everything))
        .named("cheat-everything", ""),
    Constructor::Function(&|context| cheater(context, skip_odd_ticks)).named("cheat-second", ""),
    Constructor::Function(&|context| cheater(context, skin_only_the_first))
        .named("cheat-first", ""),
];

fn cheater(context: &Context, submit: Submit) -> Box<dyn Backend> {
    Box::new(Altered {
        backend: Cpu::one_thread(&[&SCALAR], context),
        submit,
    })
}

/// Returns whether a frame will be verified: its output holds NaNs before it.
fn is_verified(frame: &FrameInput) -> bool {
    frame.output.host[0].is_nan()
}

fn skip_everything(
    prepared: &mut dyn Prepared,
    frame: &mut FrameInput,
    timer: &mut StageTimer,
) -> Result<Ticket> {
    if is_verified(frame) {
        prepared.submit(frame, timer)
    } else {
        Ok(Ticket::default())
    }
}

fn skip_odd_ticks(
    prepared: &mut dyn Prepared,
    frame: &mut FrameInput,
    timer: &mut StageTimer,
) -> Result<Ticket> {
    if is_verified(frame) || frame.tick.is_multiple_of(2) {
        prepared.submit(frame, timer)
    } else {
        Ok(Ticket::default())
    }
}

fn skin_only_the_first(
    prepared: &mut dyn Prepared,
    frame: &mut FrameInput,
    timer: &mut StageTimer,
) -> Result<Ticket> {
    if is_verified(frame) {
        return prepared.submit(frame, timer);
    }
    let first = frame.output.host.len() / 10;
    let before = frame.output.host[first..].to_vec();
    let ticket = prepared.submit(frame, timer);
    frame.output.host[first..].copy_from_slice(&before);
    ticket
}

fn measured(backends: Vec<&'static BackendEntry>, frames: u32, seed: u64) -> Vec<Outcome> {
    let crowd = Settings {
        instances: Some(40),
        passes: Some(0),
        ..Settings::default()
    };
    let scene = Scene::load("smoke")
        .unwrap()
        .with(crowd)
        .build(1 << 30)
        .unwrap();
    let options = RunOptions {
        backends,
        frames: Some(frames),
        seed: Some(seed),
        ..RunOptions::default()
    };
    run(&scene, &Context::default(), &options, &mut ()).unwrap()
}

#[test]
fn what_computes_less_while_it_is_timed_has_no_times() {
    let expected = [
        "; the vertices are those of tick 1000003", // the last that was verified
        "; the vertices are those of tick ",
        "position is off by ",
    ];
    for (cheater, expected) in CHEATERS.iter().zip(expected) {
        for outcome in measured(vec![cheater], 200, 1) {
            let problem = outcome.problem.unwrap();
            assert_eq!(
                (outcome.status, outcome.stages.len(), outcome.resources),
                (Status::ParityFailed, 0, None)
            );
            assert!(
                problem.starts_with("measured frame ") && problem.contains(expected),
                "{problem}"
            );
            assert_eq!(outcome.parity.unwrap().failure, None, "verification passed");
        }
    }
}

#[test]
fn audits_leave_no_samples_and_no_gaps() {
    let backends = ["cpu-scalar", "cpu-simd"]
        .map(|name| find(name).unwrap())
        .to_vec();
    for outcome in measured(backends, 200, 1) {
        assert_eq!((outcome.status, outcome.problem), (Status::Ok, None));
        for times in &outcome.stages {
            let frames: Vec<u32> = times.samples.iter().map(|(frame, _)| *frame).collect();
            assert_eq!(frames, (0..200).collect::<Vec<_>>(), "{:?}", times.stage);
        }
    }
}
