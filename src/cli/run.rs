//! `skinbench run`: verifies, measures, writes CSV, prints the table.

use super::built_from::built_from;
use super::common::{self, WorkloadArguments, positive};
use super::exit::{Exit, UsageError};
use super::output::say;
use super::progress::Progress;
use anyhow::Context as _;
use arrayvec::ArrayVec;
use clap::Args;
use skinbench::backend::Context;
use skinbench::frame::ClockChoice;
use skinbench::harness::environment::Environment;
use skinbench::harness::fidelity;
use skinbench::harness::limits::Host;
use skinbench::harness::run::{self, Observer, Outcome, RunOptions};
use skinbench::report::{card, table};
use skinbench::results::files::Results;
use skinbench::results::rows::{LimitsRow, measurements};
use skinbench::results::warnings;
use skinbench::scene::{BuiltScene, Scene};
use skinbench::threads::Threads;
use std::fmt::Display;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Most passes that a scene may ask for.
const MOST_PASSES: u32 = 64;

/// Measure backends on scenes, each verified first
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    workload: WorkloadArguments,
    /// Measured frames per backend; default: as many as fit 2 s, 5 to 200
    #[arg(long, value_name = "N", value_parser = positive::<u32>)]
    frames: Option<u32>,
    /// Number of times that a frame draws the crowd; 0 draws nothing
    #[arg(long, value_name = "N", value_parser = passes)]
    passes: Option<u32>,
    /// Clock of the stages on the device: timestamps of the device, fences (one submission per stage, in frames of their
    /// own), or fences where timestamps fail a check at the start (auto)
    #[arg(long, value_name = "timestamps|fenced|auto", default_value = "auto", hide_default_value = true)]
    clock: ClockChoice,
    /// Also print the decision card: cost in time and memory, largest error and abilities of each backend
    #[arg(long)]
    card: bool,
    /// Folder for summary.csv, samples.csv, limits.csv and environment.json; default: a new one in skinbench-results
    #[arg(short = 'o', long, value_name = "DIR")]
    results: Option<PathBuf>,
}

/// Parses a number of passes.
pub fn passes(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|n| *n <= MOST_PASSES).ok_or(format!("expected a whole number, 0 to {MOST_PASSES}"))
}

/// Writes each backend's rows as soon as it is finished.
struct Recorder<'a> {
    environment: &'a Environment,
    scene: &'a BuiltScene,
    clip_error: Option<f64>,
    results: &'a mut Results,
    progress: &'a Progress,
    interrupted: &'a AtomicBool,
}

impl Observer for Recorder<'_> {
    fn progress(&mut self, what: &str, done: f64) {
        self.progress.show(&self.scene.name, what, done);
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn finished(&mut self, outcome: &Outcome) -> io::Result<()> {
        self.results.write(&measurements(self.environment, self.scene, self.clip_error, outcome))
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let backends = arguments.workload.backends()?;
    let keep = arguments.workload.keep()?;
    let scenes = arguments.workload.scenes(arguments.passes)?;
    distinct("scenes are called", scenes.iter().map(Scene::name))?;
    distinct("counts of --threads are", &arguments.workload.machine.threads)?;
    let context = arguments.workload.machine.open()?;
    let scenes = common::build(&scenes)?;
    common::choose_clock(&context, arguments.clock)?;
    let environment = Environment::collect(built_from(), common::adapter(&context));
    let folder = arguments.results.clone().unwrap_or_else(|| default_folder(&environment));
    let mut results = Results::create(&folder)?;
    let session = common::session(&environment, &context)?;
    results.record(session).with_context(|| format!("cannot write to {}", folder.display()))?;
    let interrupted = common::interruption()?;

    let mut progress = Progress::new(scenes.len() * arguments.workload.machine.threads.len().max(1));
    let mut all = Vec::new();
    let contexts = arguments.workload.machine.thread_counts(&context)?;
    for (scene, context) in scenes.iter().flat_map(|scene| contexts.iter().map(move |context| (scene, context))) {
        let threads = context.threads.count();
        // Samples do not record the number of threads, so each count is a run of its own.
        let run_id = match contexts.len() {
            1 => environment.run_id.clone(),
            _ => format!("{}.{threads}", environment.run_id),
        };
        let environment = Environment { threads, run_id, ..environment.clone() };
        let options = RunOptions {
            backends: backends.clone(),
            frames: arguments.frames,
            memory: common::memory(),
            keep,
            ..RunOptions::default()
        };
        let cannot_write = || format!("cannot write to {}", folder.display());
        let hosts = hosts(context);
        let limits = hosts.iter().map(|host| LimitsRow::new(&environment, scene, context.isa, host));
        results.write_limits(limits).with_context(cannot_write)?;
        let clip_error = fidelity::clip_error(scene);
        let mut recorder = Recorder {
            environment: &environment,
            scene,
            clip_error,
            results: &mut results,
            progress: &progress,
            interrupted,
        };
        let outcomes = run::run(scene, context, &options, &mut recorder).with_context(cannot_write)?;
        let mut text = table::measured(&environment, scene, clip_error, &outcomes);
        text += &table::limits(&hosts);
        if arguments.card {
            text += &card::text(&table::study_of(&environment, scene, clip_error, &outcomes));
        }
        warnings::warnings(&outcomes).iter().for_each(|warning| text += &format!("warning: {warning}\n"));
        progress.suspend(|| say(format_args!("{text}\n")))?;
        progress.next_scene();
        all.extend(outcomes);
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
    }
    drop(progress);
    results.end().with_context(|| format!("cannot write to {}", folder.display()))?;
    if let Some(warning) = warnings::of_machine() {
        say(format_args!("warning: {warning}\n"))?;
    }
    say(format_args!("results: {}\n", results.summary_path().display()))?;
    Ok(common::exit(all.iter().map(|o| o.status), interrupted.load(Ordering::Relaxed)))
}

/// Checks that nothing repeats that tells rows of the results apart.
fn distinct<T: Display + PartialEq>(what: &str, all: impl IntoIterator<Item = T>) -> Result<(), UsageError> {
    let mut known = Vec::new();
    for next in all {
        if known.contains(&next) {
            return Err(UsageError(format!("two {what} {next}; expected each once, or two runs")));
        }
        known.push(next);
    }
    Ok(())
}

/// Peak rates of one thread and of all threads.
fn hosts(context: &Context) -> ArrayVec<Host, 2> {
    let all = (context.threads.count() > 1).then_some(&context.threads);
    iter::once(&Threads::One).chain(all).map(|threads| Host::measure(context.isa, threads)).collect()
}

/// The default folder, named after the time and the machine.
fn default_folder(environment: &Environment) -> PathBuf {
    let host: String = environment.host.chars().filter(|c| c.is_alphanumeric() || "-_.".contains(*c)).collect();
    let moment = environment.utc.replace(":", "-");
    Path::new("skinbench-results").join(format!("{moment}-{host}").trim_end_matches('-'))
}
