//! `skinbench verify`: compares every vertex of every instance with the f64 reference.

use super::{Exit, Progress, WorkloadArguments, common, say};
use clap::Args;
use skinbench::harness::{Observer, Outcome, RunOptions, Step, Tolerance, run};
use skinbench::report::table;
use skinbench::wording;
use std::io;

/// Compare every vertex of every instance with the reference
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    pub workload: WorkloadArguments,
    /// Largest position error that passes, as a fraction of the bounding box's diagonal; default: 1e-5, packed 7e-5
    #[arg(long, value_name = "E", value_parser = wording::above_zero)]
    epsilon: Option<f64>,
}

struct Watcher<'a> {
    scene: &'a str,
    progress: &'a mut Progress,
}

impl Observer for Watcher<'_> {
    fn progress(&mut self, step: &Step) {
        self.progress.show(self.scene, step);
    }

    fn interrupted(&self) -> bool {
        common::is_interrupted()
    }

    fn finished(&mut self, outcome: &Outcome) -> io::Result<()> {
        self.progress.finished(outcome.name, &table::result(outcome));
        Ok(())
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let backends = arguments.workload.backends()?;
    let scenes = arguments.workload.scenes()?;
    let context = arguments.workload.machine.open()?;
    common::watch_for_interruption()?;

    let mut progress = Progress::new(scenes.len());
    let mut all = Vec::new();
    for scene in &common::build(&scenes)? {
        let default = Tolerance::of(scene.crowd.format());
        let tolerance = arguments.epsilon.map(|e| Tolerance { pose: e, position: e, ..default });
        let options = RunOptions {
            backends: backends.clone(),
            tolerance,
            memory: Some(common::memory()),
            ..RunOptions::default()
        };
        let mut watcher = Watcher { scene: &scene.name, progress: &mut progress };
        let outcomes = run::verify(scene, &context, &options, &mut watcher)?;
        let text = table::verified(scene, &outcomes);
        progress.end_scene(|| say(format_args!("{text}\n")))?;
        all.extend(outcomes);
        if common::is_interrupted() {
            break;
        }
    }
    Ok(common::exit(all.iter().map(|o| o.status)))
}
