//! `skinbench run`: verifies, measures, writes CSV, prints tables. Lists of settings make a run of many points.

mod point;
mod record;
mod search;

use super::common::MustRun;
use super::settings::AxisArguments;
use super::{
    ClockArguments, Exit, Progress, ScreenArguments, UsageError, WorkloadArguments, built_from,
    common, create_folder, positive, say, say_fitted, tell, tell_all,
};
use anyhow::bail;
use clap::Args;
use record::RunRecord;
use skinbench::harness::environment::Environment;
use skinbench::harness::governor::governor;
use skinbench::harness::sweep::{Shard, SweepAxes, distinct};
use skinbench::harness::{Disturbance, RunOptions};
use skinbench::report::remark::Remark;
use skinbench::report::run_text;
use skinbench::results::{Recorded, Results, Session, Study};
use skinbench::scene::{Output, Scene};
use skinbench::wording::counted;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Examples at the end of the help.
const EXAMPLES: &str = "\
Examples:
  skinbench run Fox.glb --instances 500
    500 instances of a model of yours, by each backend
  skinbench run walkers -b 'cpu-*' --passes 0 --card
    All ways on the CPU, and what each costs and can do
  skinbench run walkers --instances 100,1000,10000 --passes 0,1 -o results/walkers
    Every combination; the same command goes on where it was interrupted
  skinbench run smoke -b gpu-compute,gpu-full --require gpu --json
    Two backends, or an error without a GPU; rows as JSON lines";

/// Verify backends on scenes, then measure them
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    pub workload: WorkloadArguments,
    #[command(flatten)]
    axes: AxisArguments,
    /// Measured frames per backend; default: as many as fit 2 s, 5 to 300
    ///
    /// Where a software adapter draws, the default is 1 s, and 3 of frames that take 0.4 s
    #[arg(long, value_name = "N", value_parser = positive::<u32>, help_heading = "Measurement")]
    frames: Option<u32>,
    #[command(flatten)]
    clock: ClockArguments,
    #[command(flatten)]
    disturbance: Disturbance,
    /// Of many points, measure only this part, such as 1/4; each part needs a folder of its own
    #[arg(
        long,
        value_name = "I/N",
        default_value = "1/1",
        hide_default_value = true,
        help_heading = "Measurement"
    )]
    shard: Shard,
    /// Skip larger crowds for a backend whose frame took longer than this, such as 500ms
    #[arg(long, value_name = "TIME", value_parser = search::time, help_heading = "Measurement")]
    max_frame_time: Option<Duration>,
    /// Search for the largest crowd whose frame fits, such as 16.7ms, instead of measuring given ones
    #[arg(long, value_name = "TIME", value_parser = search::time, conflicts_with_all = ["max_frame_time", "shard"], help_heading = "Measurement")]
    budget: Option<Duration>,
    /// Search for the largest crowd whose memory on host and device fits, such as 128MB, instead of measuring given
    /// ones; with --budget, for one that fits both
    #[arg(long, value_name = "SIZE", value_parser = search::size, conflicts_with_all = ["max_frame_time", "shard"], help_heading = "Measurement")]
    memory: Option<u64>,
    /// Also print the decision card: cost in time and memory, largest error and abilities of each backend
    #[arg(long, help_heading = "Output")]
    card: bool,
    /// Print the rows of summary.csv as JSON lines, as soon as each backend is finished, and nothing else
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    screen: ScreenArguments,
    /// Folder of results; a run in it goes on; default: a new one in skinbench-results
    ///
    /// It gets summary.csv, samples.csv, limits.csv and environment.json
    #[arg(short = 'o', long, value_name = "DIR", help_heading = "Output")]
    results: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let scenes = arguments.workload.scenes()?;
    let names: Vec<&str> = scenes.iter().map(|scene| scene.name.as_str()).collect();
    distinct_names("scenes", &names)?;
    let axes = SweepAxes {
        settings: arguments.axes.0.clone(),
        threads: arguments.workload.machine.threads.clone(),
    };
    let mut plans = axes.points(arguments.shard);
    if arguments.card && plans.len() > 1 {
        let what = "--card with several values of a setting; expected one each, or `skinbench report`, whose page has a card for each crowd";
        return Err(UsageError(what.into()).into());
    }
    for plan in &plans {
        common::checked(&plan.settings)?;
    }
    let backends = arguments.workload.backends.entries()?;
    let names: Vec<&str> = backends.iter().map(|backend| backend.name).collect();
    distinct_names("backends", &names)?;
    let context = arguments.workload.machine.open()?;
    arguments.clock.choose(&context)?;
    let contexts = arguments.workload.machine.thread_counts(&context)?;
    let given = plans.len();
    plans = distinct(plans, |plan| {
        context.has_adapter() && plan.settings.output != Some(Output::Ring)
    });
    if plans.len() < given {
        tell(
            "note: nothing is drawn, so --passes makes no difference: each crowd is measured once",
        );
    }
    if let Some(first) = plans.first() {
        // Scenes that cannot be built are refused before anything is written.
        let first = scenes
            .iter()
            .map(|scene| scene.clone().with(first.settings.clone()));
        common::build(&first.collect::<Vec<_>>())?;
    }
    let options = RunOptions {
        backends,
        frames: arguments.frames,
        brief_on_software: plans.len() == 1,
        memory: Some(common::memory()),
        disturbance: arguments.disturbance,
        ..RunOptions::default()
    };
    let environment = Environment::collect(built_from(), &context);
    let course = point::Course {
        plans,
        contexts,
        options,
    };
    let session = Session::begin(&environment, context.isa);
    // Signals end the process with what it has, so none may come between the files and their watch.
    common::watch_for_interruption()?;
    let folder = match &arguments.results {
        Some(folder) => {
            create_folder(folder)?;
            folder.clone()
        }
        None => new_folder(&environment)?,
    };
    let results = Results::append(&folder, session)?;
    let progress = Progress::new(scenes.len() * course.plans.len());
    let mut record = RunRecord::new(results, folder, environment, progress)?;
    record.keep_known(arguments.frames)?;
    record.prints_json = arguments.json;
    record.keeps_partial = course.plans.len() == 1;
    if arguments.budget.is_some() || arguments.memory.is_some() {
        let budgets = search::Budgets {
            time: arguments.budget,
            memory: arguments.memory,
        };
        let answers = search::run(&scenes, &course, &mut record, &budgets)?;
        return finish(arguments, &course, record, &answers);
    }
    measure(arguments, &scenes, &course, record)
}

/// Measures every scene at every point, and prints what was found.
fn measure(
    arguments: &Arguments,
    scenes: &[Scene],
    course: &point::Course,
    mut record: RunRecord,
) -> anyhow::Result<Exit> {
    let screen = arguments.screen.screen();
    let mut verdicts = String::new();
    let mut slow = Vec::new();
    'scenes: for scene in scenes {
        for plan in &course.plans {
            let mut racing = course.options.backends.clone();
            racing.retain(|entry| !slow.contains(&(plan.series(), entry.name)));
            let measured = match course.point(scene, plan, &racing, &mut record) {
                Ok(measured) => measured,
                // Memory may end a series at large crowds; the results of smaller ones are kept.
                Err(error) if record.ended.is_empty() => return Err(error),
                Err(error) => {
                    record
                        .progress
                        .tell(format_args!("note: {error:#}: left out"));
                    continue;
                }
            };
            if let Some(most) = arguments.max_frame_time {
                slow.extend(measured.slower_than(most, plan));
            }
            if arguments.json {
                record.progress.end_point(|| ());
            } else if course.plans.len() == 1 && record.kept == 0 {
                let text = measured.text(arguments.card, screen, &course.options.backends);
                record.progress.end_point(|| say_fitted(text, screen))?;
                verdicts += &measured.verdict(arguments.card);
            } else {
                let lines = measured.lines(plan);
                record.progress.end_point(|| tell_all(&lines));
                record.progress.tell_left();
            }
            if common::is_interrupted() {
                break 'scenes;
            }
        }
    }
    finish(arguments, course, record, &verdicts)
}

/// Prints what stands below the tables, with the verdict last.
fn finish(
    arguments: &Arguments,
    course: &point::Course,
    record: RunRecord,
    verdicts: &str,
) -> anyhow::Result<Exit> {
    let screen = arguments.screen.screen();
    let named = if course.plans.len() == 1 {
        MustRun::Everywhere
    } else {
        MustRun::Somewhere
    };
    let exit = common::exit(&arguments.workload.backends.backends, &record.ended, named);
    let kept = record.kept;
    let has_rows = !record.ended.is_empty();
    let is_search = arguments.budget.is_some() || arguments.memory.is_some();
    // As in `measure`: otherwise the results of the folder are told together.
    let has_tables = course.plans.len() == 1 && kept == 0 && !is_search;
    let (results, folder, failure) = record.close();
    let summary = results.summary_path();
    drop(results);
    if kept > 0 {
        let kept = counted(kept as u64, "measurement");
        tell(format_args!("note: {kept} of an earlier run kept"));
    }
    if !arguments.json {
        if let Some(governor) = governor().filter(|governor| governor != "performance") {
            let remark = Remark::Governor(governor);
            say_fitted(format_args!("warning: {remark}\n"), screen)?;
        }
        if failure.is_none() {
            say(format_args!("results: {}\n", summary.display()))?;
        }
        if !has_tables && has_rows && failure.is_none() {
            say("\n")?;
            let study = Study::new(Recorded::read(&[&summary])?);
            say_fitted(run_text::of_points(&study, screen), screen)?;
        }
        if has_tables || is_search || failure.is_some() {
            say_fitted(verdicts, screen)?;
        }
    }
    if let Some(error) = failure {
        let folder = folder.display();
        bail!("cannot write to {folder}: {error}; it lacks results that are printed above");
    }
    if common::is_interrupted() && course.plans.len() > 1 {
        let folder = folder.display();
        tell(format_args!(
            "interrupted; the same command with -o {folder} goes on there"
        ));
    }
    Ok(exit)
}

/// Checks that names, by which rows of the results are told apart, occur once.
fn distinct_names(what: &str, names: &[&str]) -> Result<(), UsageError> {
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            return Err(UsageError(format!(
                "two {what} are called {name}; expected each once, or two runs"
            )));
        }
    }
    Ok(())
}

/// Creates a folder that is named after the time; a number tells those of the same second apart.
fn new_folder(environment: &Environment) -> anyhow::Result<PathBuf> {
    let name = environment.utc.replace(':', "-");
    let all = Path::new("skinbench-results");
    create_folder(all)?;
    let mut number = 1;
    loop {
        let folder = match number {
            1 => all.join(&name),
            _ => all.join(format!("{name}-{number}")),
        };
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => bail!("cannot create {}: {error}", folder.display()),
        }
    }
}
