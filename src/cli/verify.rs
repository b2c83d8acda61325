//! `skinbench verify`: compares every vertex of every instance with the f64 reference.

use super::common::MustRun;
use super::{Exit, Progress, ScreenArguments, WorkloadArguments, common, say_fitted};
use clap::Args;
use skinbench::harness::run::Ended;
use skinbench::harness::{RunOptions, Tolerance, run};
use skinbench::report::run_table;
use skinbench::scene::Settings;
use skinbench::wording;

/// Compare every vertex of every instance with the reference
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    pub workload: WorkloadArguments,
    #[command(flatten)]
    pub settings: Settings,
    /// Largest position error that passes, as a fraction of the diagonal of what is shown; default: 1e-5, packed 7e-5
    #[arg(long, value_name = "E", value_parser = wording::above_zero)]
    epsilon: Option<f64>,
    #[command(flatten)]
    screen: ScreenArguments,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    common::checked(&arguments.settings)?;
    let mut scenes = Vec::new();
    for scene in arguments.workload.scenes()? {
        scenes.push(scene.with(arguments.settings.clone()));
    }
    let backends = arguments.workload.backends.entries()?;
    let context = arguments.workload.machine.open()?;
    common::watch_for_interruption()?;

    let screen = arguments.screen.screen();
    let mut progress = Progress::new(scenes.len());
    let mut all = Vec::new();
    for scene in &common::build(&scenes)? {
        progress.begin_point(&scene.name);
        let default = Tolerance::of(scene.crowd.format());
        let tolerance = arguments.epsilon.map(|e| Tolerance {
            sample: e,
            pose: e,
            position: e,
            ..default
        });
        let options = RunOptions {
            backends: backends.clone(),
            tolerance,
            memory: Some(common::memory()),
            ..RunOptions::default()
        };
        let outcomes = run::verify(scene, &context, &options, &mut progress)?;
        let mut text = run_table::verified(scene, &outcomes, screen);
        // Asked once: a signal that comes later ends the next scene, which then says so.
        let interrupted = common::is_interrupted();
        if interrupted {
            text.push('\n');
            text += &common::left_out(&backends, &outcomes, &[]);
        }
        progress.end_point(|| say_fitted(format_args!("{text}\n"), screen))?;
        all.extend(outcomes.iter().map(Ended::from));
        if interrupted {
            break;
        }
    }
    let named = &arguments.workload.backends.backends;
    Ok(common::exit(named, &all, MustRun::Everywhere))
}
