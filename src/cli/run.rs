//! `skinbench run`: verifies, measures, writes CSV, prints the table.

use super::common::Named;
use super::{
    ClockArguments, Exit, Progress, ScreenArguments, UsageError, WorkloadArguments, built_from,
    common, create_folder, positive, say, say_fitted, tell,
};
use anyhow::bail;
use clap::Args;
use skinbench::harness::environment::Environment;
use skinbench::harness::hardware::Conditions;
use skinbench::harness::run::Ended;
use skinbench::harness::{
    Disturbance, MachineLimits, Observer, Outcome, RunOptions, Status, Step, counters, run,
};
use skinbench::report::{run_text, sustained};
use skinbench::results::{LimitsRow, MeasuredScene, Results, warnings};
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest time for which backends are sustained.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Examples at the end of the help.
const EXAMPLES: &str = "\
Examples:
  skinbench run Fox.glb --instances 500
          500 instances of a model of yours, by each backend
  skinbench run walkers -b 'cpu-*' --passes 0 --card
          All ways on the CPU, and what each costs and can do
  skinbench run smoke -b gpu-compute,gpu-full --require gpu -o results/smoke
          Two backends, or an error without a GPU; the results in a folder";

/// Verify backends on scenes, then measure them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    pub workload: WorkloadArguments,
    /// Measured frames per backend; default: as many as fit 2 s, 5 to 300; 1 s where a software adapter draws, and 3 of
    /// frames that take 0.4 s
    #[arg(long, value_name = "N", value_parser = positive::<u32>, help_heading = "Measurement")]
    frames: Option<u32>,
    /// Run all backends by turns for this time, such as 10m, and compare its last minute (at most a third) with its
    /// first
    #[arg(long, value_name = "TIME", value_parser = sustain, conflicts_with = "frames", help_heading = "Measurement")]
    sustain: Option<Duration>,
    #[command(flatten)]
    clock: ClockArguments,
    /// Count cycles, instructions, last-level misses and context switches of each stage, in frames of their own (Linux)
    #[arg(long, help_heading = "Measurement")]
    counters: bool,
    #[command(flatten)]
    disturbance: Disturbance,
    /// Also print the decision card: cost in time and memory, largest error and abilities of each backend
    #[arg(long, help_heading = "Output")]
    card: bool,
    #[command(flatten)]
    screen: ScreenArguments,
    /// Folder for summary.csv, samples.csv, limits.csv and environment.json; default: a new one in skinbench-results
    #[arg(short = 'o', long, value_name = "DIR", help_heading = "Output")]
    results: Option<PathBuf>,
}

/// Parses a time of at most a day.
fn sustain(text: &str) -> Result<Duration, &'static str> {
    humantime::parse_duration(text)
        .ok()
        .filter(|time| !time.is_zero() && *time <= LONGEST)
        .ok_or("expected a time with its unit, such as 90s or 10m, at most 1day")
}

/// The files of a run, as far as they can be written: a full disk must not cost the table.
struct Kept {
    results: Results,
    folder: PathBuf,
    /// The first error.
    failure: Option<io::Error>,
}

impl Kept {
    /// Writes, unless that failed before: rows behind a gap would follow from nothing.
    fn write(&mut self, write: impl FnOnce(&mut Results) -> io::Result<()>) {
        if self.failure.is_some() {
            return;
        }
        if let Err(error) = write(&mut self.results) {
            let folder = self.folder.display();
            tell(format_args!(
                "note: cannot write to {folder}: {error}; what follows is only printed"
            ));
            self.failure = Some(error);
        }
    }
}

/// Writes each backend's rows as soon as it is finished, and shows the progress.
struct Recorder<'a> {
    measured: &'a MeasuredScene<'a>,
    kept: &'a mut Kept,
    progress: &'a mut Progress,
    /// Finished backends, if the progress is shown.
    shown: Vec<Outcome>,
    /// Backends that an interruption ended.
    partial: Vec<&'static str>,
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
        if common::is_interrupted() && outcome.status == Status::Ok {
            self.partial.push(outcome.name);
        }
        let measurements = self.measured.measurements(outcome);
        self.kept.write(|results| results.write(&measurements));
        if self.progress.is_shown() {
            self.shown.push(outcome.clone());
            self.progress.finished(outcome)?;
            let verdict = run_text::verdict(self.measured, &self.shown, false);
            self.progress.show_verdict(verdict.trim_start());
        }
        Ok(())
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let scenes = arguments.workload.scenes()?;
    let backends = arguments.workload.backends.entries()?;
    distinct("scenes are called", scenes.iter().map(|scene| &scene.name))?;
    let names = backends.iter().map(|backend| backend.name);
    distinct("backends are called", names)?;
    distinct(
        "counts of --threads are",
        &arguments.workload.machine.threads,
    )?;
    let context = arguments.workload.machine.open()?;
    let scenes = common::build(&scenes)?;
    arguments.clock.choose(&context)?;
    let environment = Environment::collect(built_from(), &context);
    let session = common::session(&environment, &context)?;
    // Signals end the process with what it has, so none may come between the files and their watch.
    common::watch_for_interruption()?;
    let folder = match &arguments.results {
        Some(folder) => folder.clone(),
        None => new_folder(&environment)?,
    };
    let mut kept = Kept {
        results: Results::create(&folder, session)?,
        folder: folder.clone(),
        failure: None,
    };
    if arguments.counters
        && let (_, Some(reason)) = counters::open(&context.threads)
    {
        tell(format_args!("note: {reason}"));
    }

    let contexts = arguments.workload.machine.thread_counts(&context)?;
    let mut runs = Vec::new();
    let mut names = Vec::new();
    for scene in &scenes {
        runs.extend(contexts.iter().map(|context| (scene, context)));
        names.extend(contexts.iter().map(|_| &scene.name));
    }
    let screen = arguments.screen.screen();
    let mut progress = Progress::new(names);
    let mut all = Vec::new();
    let mut verdict = String::new();
    for (scene, context) in runs {
        let threads = context.threads.count();
        // Samples do not record the number of threads, so each count is a run of its own.
        let mut environment = environment.clone();
        environment.threads = threads;
        if contexts.len() > 1 {
            environment.run_id += &format!(".{threads}");
        }
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
        let limits = MachineLimits::measure(context);
        let rows = LimitsRow::all(&environment, scene, context.isa, &limits);
        kept.write(|results| results.write_limits(rows));
        let measured = MeasuredScene::new(&environment, scene);
        let mut recorder = Recorder {
            measured: &measured,
            kept: &mut kept,
            progress: &mut progress,
            shown: Vec::new(),
            partial: Vec::new(),
            first: None,
        };
        let outcomes = run::run(scene, context, &options, &mut recorder)?;
        let Recorder { first, partial, .. } = recorder;
        let mut text = run_text::text(&measured, &limits, &outcomes, arguments.card, screen);
        if let Some(first) = first {
            text += &sustained::text(&outcomes, &first, &Conditions::collect());
        }
        // Asked once: a signal that comes later ends the next scene, which then says so.
        let interrupted = common::is_interrupted();
        if interrupted {
            text += &common::left_out(&backends, &outcomes, &partial);
        }
        progress.end_scene(|| say_fitted(format_args!("{text}\n"), screen))?;
        verdict += &run_text::verdict(&measured, &outcomes, arguments.card);
        all.extend(outcomes.iter().map(Ended::from));
        if interrupted {
            break;
        }
    }
    drop(progress);
    kept.write(Results::end);
    if let Some(warning) = warnings::of_machine() {
        say_fitted(format_args!("warning: {warning}\n"), screen)?;
    }
    if let Some(error) = kept.failure {
        say_fitted(verdict, screen)?;
        let folder = folder.display();
        bail!("cannot write to {folder}: {error}; it lacks results that are printed above");
    }
    say(format_args!(
        "results: {}\n",
        kept.results.summary_path().display()
    ))?;
    say_fitted(verdict, screen)?;
    let named = &arguments.workload.backends.backends;
    Ok(common::exit(named, &all, Named::Everywhere))
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

/// Creates a folder that is named after the time and the machine; a number tells those of the same second apart.
fn new_folder(environment: &Environment) -> anyhow::Result<PathBuf> {
    let mut host = environment.host.clone();
    host.retain(|c| c.is_alphanumeric() || "-_.".contains(c));
    let moment = environment.utc.replace(":", "-");
    let name = format!("{moment}-{host}");
    let name = name.trim_end_matches('-');
    let all = Path::new("skinbench-results");
    create_folder(all)?;
    let mut number = 1;
    loop {
        let folder = match number {
            1 => all.join(name),
            _ => all.join(format!("{name}-{number}")),
        };
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => bail!("cannot create {}: {error}", folder.display()),
        }
    }
}
