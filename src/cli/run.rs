//! `skinbench run`: verifies, measures, writes CSV, prints the table.

use super::{
    Exit, Progress, ScreenArguments, UsageError, WorkloadArguments, built_from, common, positive,
    say,
};
use anyhow::Context as _;
use clap::Args;
use skinbench::frame::ClockChoice;
use skinbench::harness::environment::Environment;
use skinbench::harness::hardware::Conditions;
use skinbench::harness::{
    Disturbance, MachineLimits, Observer, Outcome, RunOptions, Step, counters, run,
};
use skinbench::report::{run_text, sustained};
use skinbench::results::{LimitsRow, MeasuredScene, Results, warnings};
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest time for which backends are sustained.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Verify backends on scenes, then measure them
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    pub workload: WorkloadArguments,
    /// Measured frames per backend; default: as many as fit 2 s, 5 to 300; 1 s where a software adapter draws, and 3 of
    /// frames that take 0.4 s
    #[arg(long, value_name = "N", value_parser = positive::<u32>)]
    frames: Option<u32>,
    /// Run all backends by turns for this time, such as 10m, and compare its last minute (at most a third) with its
    /// first
    #[arg(long, value_name = "TIME", value_parser = sustain, conflicts_with = "frames")]
    sustain: Option<Duration>,
    /// Clock of the stages on the device: timestamps of the device, fences (one submission per stage, in frames of
    /// their own), or fences where timestamps fail a check at the start (auto)
    #[arg(
        long,
        value_name = "timestamps|fenced|auto",
        default_value = "auto",
        hide_default_value = true
    )]
    clock: ClockChoice,
    /// Count cycles, instructions, last-level misses and context switches of each stage, in frames of their own (Linux)
    #[arg(long)]
    counters: bool,
    #[command(flatten)]
    disturbance: Disturbance,
    /// Also print the decision card: cost in time and memory, largest error and abilities of each backend
    #[arg(long)]
    card: bool,
    #[command(flatten)]
    screen: ScreenArguments,
    /// Folder for summary.csv, samples.csv, limits.csv and environment.json; default: a new one in skinbench-results
    #[arg(short = 'o', long, value_name = "DIR")]
    results: Option<PathBuf>,
}

/// Parses a time of at most a day.
fn sustain(text: &str) -> Result<Duration, &'static str> {
    let time = humantime::parse_duration(text)
        .ok()
        .filter(|time| !time.is_zero() && *time <= LONGEST);
    time.ok_or("expected a time with its unit, such as 90s or 10m, at most 1day")
}

/// Writes each backend's rows as soon as it is finished, and shows the progress.
struct Recorder<'a> {
    measured: MeasuredScene<'a>,
    results: &'a mut Results,
    progress: &'a mut Progress,
    /// Finished backends, if the progress is shown.
    shown: Vec<Outcome>,
    /// The machine's state when the first window of a sustained run ended.
    first: Option<Conditions>,
}

impl Observer for Recorder<'_> {
    fn progress(&mut self, step: &Step) {
        self.progress.progress(step);
    }

    fn interrupted(&self) -> bool {
        self.progress.interrupted()
    }

    fn remark(&mut self, remark: &str) {
        self.progress.remark(remark);
    }

    fn first_window_ended(&mut self) {
        self.first = Some(Conditions::collect());
    }

    fn finished(&mut self, outcome: &Outcome) -> io::Result<()> {
        self.results.write(&self.measured.measurements(outcome))?;
        if self.progress.is_shown() {
            self.shown.push(outcome.clone());
            self.progress.finished(outcome)?;
            let verdict = run_text::verdict(&self.measured, &self.shown, false);
            self.progress.show_verdict(verdict.trim_start());
        }
        Ok(())
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let backends = arguments.workload.backends()?;
    let scenes = arguments.workload.scenes()?;
    distinct("scenes are called", scenes.iter().map(|scene| &scene.name))?;
    distinct(
        "counts of --threads are",
        &arguments.workload.machine.threads,
    )?;
    let context = arguments.workload.machine.open()?;
    let scenes = common::build(&scenes)?;
    common::choose_clock(&context, arguments.clock)?;
    let environment = Environment::collect(built_from(), &context);
    let folder = arguments
        .results
        .clone()
        .unwrap_or_else(|| default_folder(&environment));
    let mut results = Results::create(&folder, common::session(&environment, &context)?)?;
    common::watch_for_interruption()?;
    if arguments.counters
        && let (_, Some(reason)) = counters::open(&context.threads)
    {
        eprintln!("note: {reason}");
    }

    let contexts = arguments.workload.machine.thread_counts(&context)?;
    let runs: Vec<_> = scenes
        .iter()
        .flat_map(|scene| contexts.iter().map(move |context| (scene, context)))
        .collect();
    let mut progress = Progress::new(runs.iter().map(|(scene, _)| &scene.name));
    let mut all = Vec::new();
    let mut verdict = String::new();
    for (scene, context) in runs {
        let threads = context.threads.count();
        // Samples do not record the number of threads, so each count is a run of its own.
        let run_id = match contexts.len() {
            1 => environment.run_id.clone(),
            _ => format!("{}.{threads}", environment.run_id),
        };
        let environment = Environment {
            threads,
            run_id,
            ..environment.clone()
        };
        let options = RunOptions {
            backends: backends.clone(),
            frames: arguments.frames,
            sustain: arguments.sustain,
            counters: arguments.counters,
            brief_on_software: true,
            memory: Some(common::memory()),
            disturbance: arguments.disturbance,
            ..RunOptions::default()
        };
        let cannot_write = || format!("cannot write to {}", folder.display());
        let limits = MachineLimits::measure(context);
        let rows = LimitsRow::all(&environment, scene, context.isa, &limits);
        results.write_limits(rows).with_context(cannot_write)?;
        let measured = MeasuredScene::new(&environment, scene);
        let mut recorder = Recorder {
            measured,
            results: &mut results,
            progress: &mut progress,
            shown: Vec::new(),
            first: None,
        };
        let outcomes =
            run::run(scene, context, &options, &mut recorder).with_context(cannot_write)?;
        let first = recorder.first.take();
        let screen = arguments.screen.screen();
        let mut text = run_text::text(&measured, &limits, &outcomes, arguments.card, screen);
        if let Some(first) = first {
            text += &sustained::text(&outcomes, &first, &Conditions::collect());
        }
        progress.end_scene(|| say(format_args!("{text}\n")))?;
        verdict += &run_text::verdict(&measured, &outcomes, arguments.card);
        all.extend(outcomes);
        if common::is_interrupted() {
            break;
        }
    }
    drop(progress);
    results
        .end()
        .with_context(|| format!("cannot write to {}", folder.display()))?;
    if let Some(warning) = warnings::of_machine() {
        say(format_args!("warning: {warning}\n"))?;
    }
    say(format_args!(
        "results: {}\n",
        results.summary_path().display()
    ))?;
    say(verdict)?;
    Ok(common::exit(all.iter().map(|o| o.status)))
}

/// Checks that nothing repeats that tells rows of the results apart.
fn distinct<T: Display + PartialEq>(
    what: &str,
    all: impl IntoIterator<Item = T>,
) -> Result<(), UsageError> {
    let mut known = Vec::new();
    for next in all {
        if known.contains(&next) {
            return Err(UsageError(format!(
                "two {what} {next}; expected each once, or two runs"
            )));
        }
        known.push(next);
    }
    Ok(())
}

/// The default folder, named after the time and the machine.
fn default_folder(environment: &Environment) -> PathBuf {
    let host: String = environment
        .host
        .chars()
        .filter(|c| c.is_alphanumeric() || "-_.".contains(*c))
        .collect();
    let moment = environment.utc.replace(":", "-");
    Path::new("skinbench-results").join(format!("{moment}-{host}").trim_end_matches('-'))
}
