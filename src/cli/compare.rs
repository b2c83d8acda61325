//! `skinbench compare`: finds the changes between two sets of results, and tells them from noise.

use super::output::expect_folder;
use super::turns::Turns;
use super::{
    Exit, Progress, ScreenArguments, UsageError, common, say, say_fitted, say_json_line, tell_all,
};
use anyhow::bail;
use clap::Args;
use serde_json::{Value, json};
use skinbench::harness::environment::now;
use skinbench::harness::uncertainty::LOOKS;
use skinbench::report::comparison::{self, ShownRows};
use skinbench::report::run_text;
use skinbench::results::Recorded;
use skinbench::results::compare::{ComparedRow, Comparison, compare};
use skinbench::wording;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Most rounds, unless told otherwise.
const ROUNDS: &str = "32";

/// Tell changes from noise between two sets of results, or two builds
#[derive(Debug, Args)]
pub struct Arguments {
    /// Results to compare with: a summary.csv, or a folder of one run or several; with --run, a skinbench program
    #[arg(value_name = "BASE")]
    base: PathBuf,
    /// Results to judge; with --run, a program
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Run both programs alternately, until each frame has certainly changed, or certainly not by --detect
    #[arg(long)]
    run: bool,
    /// Most rounds of --run; results are looked at after 5, 8, 13, 20, 32 and 50
    #[arg(long, value_name = "N", requires = "run", default_value = ROUNDS, value_parser = rounds)]
    rounds: usize,
    /// Smallest change of a frame that matters
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = percent)]
    detect: f64,
    /// Exit with 4 if a row is certainly slower by more than this, such as 5%, or failed; needs rounds
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_above: Option<f64>,
    /// Show all rows, not only those that changed or are undecided
    #[arg(long)]
    all: bool,
    /// Print all rows as JSON lines, and nothing else
    #[arg(long)]
    json: bool,
    /// Folder for the results of --run; default: a new one in skinbench-results
    #[arg(short = 'o', long, value_name = "DIR", requires = "run")]
    results: Option<PathBuf>,
    /// Arguments of `skinbench run` for --run, such as `walkers -b cpu-simd`
    #[arg(value_name = "ARGUMENTS", last = true, requires = "run")]
    arguments: Vec<OsString>,
    #[command(flatten)]
    screen: ScreenArguments,
}

fn percent(text: &str) -> Result<f64, &'static str> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    let accepts = |number: &f64| number.is_finite() && *number >= 0.0;
    Ok(wording::parsed(number, accepts, "expected a percentage, such as 5%")? / 1e2)
}

fn rounds(text: &str) -> Result<usize, String> {
    let fewest = LOOKS[0];
    let most = LOOKS[LOOKS.len() - 1];
    let rounds = text.parse().ok();
    rounds
        .filter(|rounds| (fewest..=most).contains(rounds))
        .ok_or_else(|| format!("expected a number from {fewest} to {most}"))
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if arguments.run {
        return by_turns(arguments);
    }
    let base = read(&arguments.base)?;
    let new = read(&arguments.new)?;
    let comparison = compared(&base, &new, arguments.detect)?;
    finish(arguments, &comparison)
}

/// Runs two programs alternately, and compares them.
fn by_turns(arguments: &Arguments) -> anyhow::Result<Exit> {
    let folder = arguments.results.clone().unwrap_or_else(|| {
        let moment = now().replace(':', "-");
        Path::new("skinbench-results").join(format!("{moment}-compare"))
    });
    expect_folder(&folder)?;
    let programs = [arguments.base.as_path(), arguments.new.as_path()];
    let mut turns = Turns::new(programs, &arguments.arguments, &folder)?;
    common::watch_for_interruption()?;
    let progress = Progress::new(1);
    let most = arguments.rounds;
    let mut decided = None;
    while decided.is_none() && turns.rounds() < most && !common::is_interrupted() {
        let next = turns.rounds() + 1;
        let done = turns.rounds() as f64 / most as f64;
        progress.show(format!("round {next} of at most {most}"), done);
        turns.round()?;
        progress.tell(format_args!("round {next} of at most {most}: done"));
        if LOOKS.contains(&turns.rounds()) {
            let comparison = of_rounds(&turns, arguments.detect)?;
            if comparison.is_decided(arguments.fail_above) {
                decided = Some(comparison);
            }
        }
    }
    drop(progress);
    if turns.rounds() == 0 {
        return Ok(Exit::Interrupted);
    }
    let comparison = match decided {
        Some(comparison) => comparison,
        None => of_rounds(&turns, arguments.detect)?,
    };
    if !arguments.json {
        say(format_args!("results: {}\n", folder.display()))?;
    }
    let exit = finish(arguments, &comparison)?;
    Ok(if common::is_interrupted() {
        Exit::Interrupted
    } else {
        exit
    })
}

/// Compares the results of two programs.
fn of_rounds(turns: &Turns, detect: f64) -> anyhow::Result<Comparison> {
    compared(&turns.results(0)?, &turns.results(1)?, detect)
}

/// Compares two sets, of which at least one row must be comparable.
fn compared(base: &Recorded, new: &Recorded, detect: f64) -> anyhow::Result<Comparison> {
    let comparison = compare(base, new, detect);
    if comparison.compared() == 0 {
        let mut reasons = Vec::new();
        for (reason, count) in comparison.reasons() {
            reasons.push(format!("{reason} ({count} rows)"));
        }
        bail!(
            "nothing can be compared: {}; expected rows of the same scene, instances, passes, options and backend",
            reasons.join("; ")
        );
    }
    Ok(comparison)
}

/// Prints a comparison; the exit code says whether it is a regression.
fn finish(arguments: &Arguments, comparison: &Comparison) -> anyhow::Result<Exit> {
    if arguments.fail_above.is_some()
        && comparison.sensitivity.is_none()
        && comparison.failed.is_empty()
    {
        let what = "--fail-above needs rounds, in which both programs run alternately: skinbench compare --run OLD NEW";
        return Err(UsageError(what.into()).into());
    }
    let shown = ShownRows {
        all: arguments.all,
        detect: arguments.detect,
        limit: arguments.fail_above,
        screen: arguments.screen.screen(),
    };
    if arguments.json {
        for row in &comparison.rows {
            say_json_line(&json(row))?;
        }
    } else {
        say_fitted(comparison::text(comparison, &shown), shown.screen)?;
    }
    let Some(limit) = arguments.fail_above else {
        return Ok(Exit::Done);
    };
    if !comparison.failed.is_empty() || !comparison.beyond(limit).is_empty() {
        return Ok(Exit::Regression);
    }
    Ok(Exit::Done)
}

/// A row in JSON. Threads are 0 unless the sets have several numbers of them; `low` and `high` bound `ratio`, new over
/// base; `reason` says why a row cannot be compared.
fn json(row: &ComparedRow) -> Value {
    let change = row.change.as_ref().ok();
    let range = change.and_then(|change| change.range);
    json!({
        "scene": row.point.scene,
        "instances": row.point.instances,
        "passes": row.point.passes,
        "options": row.point.options,
        "attributes": row.point.attributes,
        "vertices_each": row.point.vertices_each,
        "threads": row.point.threads,
        "backend": row.backend,
        "stage": row.stage,
        "clock": row.clock,
        "base_ns": row.medians[0],
        "new_ns": row.medians[1],
        "ratio": change.map(|change| change.ratio),
        "low": range.map(|[low, _]| low),
        "high": range.map(|[_, high]| high),
        "judgement": row.judgement(),
        "reason": row.change.as_ref().err(),
    })
}

/// Reads results; reports unusable parts on stderr.
fn read(path: &PathBuf) -> anyhow::Result<Recorded> {
    let recorded = Recorded::read(&[path])?;
    tell_all(&run_text::notes(&recorded.notes));
    Ok(recorded)
}
