//! `skinbench verify`: compares every vertex of every instance with the f64 reference.

use super::common::{self, WorkloadArguments};
use super::exit::Exit;
use super::output::say;
use super::progress::Progress;
use clap::Args;
use skinbench::harness::parity::Tolerance;
use skinbench::harness::run::{self, Observer, RunOptions};
use skinbench::report::table;
use std::sync::atomic::{AtomicBool, Ordering};

/// Compare every vertex of every instance with the reference
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    workload: WorkloadArguments,
    /// Largest position error that passes, as a fraction of the bounding box's diagonal; default: 1e-5, packed 7e-5
    #[arg(long, value_name = "E", value_parser = epsilon)]
    epsilon: Option<f64>,
}

fn epsilon(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|e: &f64| e.is_finite() && *e > 0.0).ok_or("expected a finite number, more than 0")
}

struct Watcher<'a> {
    scene: &'a str,
    progress: &'a Progress,
    interrupted: &'a AtomicBool,
}

impl Observer for Watcher<'_> {
    fn progress(&mut self, what: &str, done: f64) {
        self.progress.show(self.scene, what, done);
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let backends = arguments.workload.backends()?;
    let keep = arguments.workload.keep()?;
    let scenes = arguments.workload.scenes(None)?;
    let context = arguments.workload.machine.open()?;
    let interrupted = common::interruption()?;

    let mut progress = Progress::new(scenes.len());
    let mut all = Vec::new();
    for scene in &common::build(&scenes)? {
        let default = Tolerance::of(scene.crowd.format());
        let tolerance = arguments.epsilon.map(|e| Tolerance { pose: e, position: e, ..default });
        let options = RunOptions {
            backends: backends.clone(),
            tolerance,
            memory: common::memory(),
            keep,
            ..RunOptions::default()
        };
        let mut watcher = Watcher { scene: &scene.name, progress: &progress, interrupted };
        let outcomes = run::verify(scene, &context, &options, &mut watcher)?;
        let text = table::verified(scene, &outcomes);
        progress.suspend(|| say(format_args!("{text}\n")))?;
        progress.next_scene();
        all.extend(outcomes);
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(common::exit(all.iter().map(|o| o.status), interrupted.load(Ordering::Relaxed)))
}
