//! Audits catch backends that compute what is verified, and less while they are timed.

use crate::backends::common::build_scene;
use skinbench::backend::cpu::Cpu;
use skinbench::backend::cpu_kernels::SCALAR;
use skinbench::backend::{Abilities, Backend, Context, Prepared, Skinned, Ticket};
use skinbench::crowd::Crowd;
use skinbench::frame::{Footprint, FrameInput, Job, OutputBuffers, Result, StageTimer};
use skinbench::harness::run::{self, Outcome, RunOptions, Status};
use skinbench::pose::PoseData;
use skinbench::registry::{BackendEntry, Constructor, find};
use skinbench::scene::Settings;
use std::ops::Range;

/// Work that a backend leaves out, except in frames that are verified: it knows them by the NaNs in its output.
#[derive(Clone, Copy, PartialEq)]
enum Cheat {
    Everything,
    EverySecondFrame,
    AllButTheFirstInstances,
}

struct Cheater(Box<dyn Backend>, Cheat);

struct PreparedCheater(Box<dyn Prepared>, Cheat);

static CHEATERS: [BackendEntry; 3] = [
    Constructor::Host(&|context| cheater(context, Cheat::Everything)).named("cheat-everything", ""),
    Constructor::Host(&|context| cheater(context, Cheat::EverySecondFrame))
        .named("cheat-second", ""),
    Constructor::Host(&|context| cheater(context, Cheat::AllButTheFirstInstances))
        .named("cheat-first", ""),
];

fn cheater(context: &Context, cheat: Cheat) -> Box<dyn Backend> {
    Box::new(Cheater(Cpu::one_thread(&[&SCALAR], context), cheat))
}

impl Backend for Cheater {
    fn abilities(&self) -> Abilities {
        self.0.abilities()
    }
    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        self.0.footprint(crowd, job)
    }
    fn prepare(&self, crowd: &Crowd, job: &Job) -> Result<Box<dyn Prepared>> {
        Ok(Box::new(PreparedCheater(
            self.0.prepare(crowd, job)?,
            self.1,
        )))
    }
}

impl Prepared for PreparedCheater {
    fn footprint(&self, crowd: &Crowd) -> Footprint {
        self.0.footprint(crowd)
    }
    fn device(&self) -> String {
        self.0.device()
    }
    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        if frame.output.host[0].is_nan() {
            return self.0.submit(frame, timer);
        }
        match self.1 {
            Cheat::Everything => Ok(Ticket::default()),
            Cheat::EverySecondFrame if frame.tick % 2 == 1 => Ok(Ticket::default()),
            Cheat::EverySecondFrame => self.0.submit(frame, timer),
            Cheat::AllButTheFirstInstances => {
                let first = frame.output.host.len() / 10;
                let before = frame.output.host[first..].to_vec();
                let ticket = self.0.submit(frame, timer);
                frame.output.host[first..].copy_from_slice(&before);
                ticket
            }
        }
    }
    fn skinned(&self) -> Skinned {
        self.0.skinned()
    }
    fn read_poses(
        &mut self,
        crowd: &Crowd,
        what: PoseData,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        self.0.read_poses(crowd, what, instances, out)
    }
    fn read_vertices(
        &mut self,
        crowd: &Crowd,
        output: &OutputBuffers,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        self.0.read_vertices(crowd, output, instances, out)
    }
}

fn measured(backends: Vec<&'static BackendEntry>, frames: u32, seed: u64) -> Vec<Outcome> {
    let crowd = Settings {
        instances: Some(40),
        passes: Some(0),
        ..Settings::default()
    };
    let scene = build_scene("smoke", crowd);
    let options = RunOptions {
        backends,
        frames: Some(frames),
        seed: Some(seed),
        ..RunOptions::default()
    };
    run::run(&scene, &Context::default(), &options, &mut ()).unwrap()
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
