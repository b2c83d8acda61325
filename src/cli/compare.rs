//! `skinbench compare`: finds the changes between two sets of results, and tells them from noise.

use super::{Exit, say, tell_all};
use anyhow::bail;
use clap::Args;
use skinbench::report::{comparison, text};
use skinbench::results::compare::compare;
use skinbench::results::recorded::Recorded;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Tell changes from noise between two sets of results
#[derive(Debug, Args)]
pub struct Arguments {
    /// Results to compare with: a summary.csv, or a folder of one run or several
    #[arg(value_name = "BASE")]
    base: PathBuf,
    /// Results to judge
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Exit with 4 if a row is certainly slower by more than this, such as 5%, or failed
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_above: Option<f64>,
    /// Show only rows that changed
    #[arg(long)]
    changed: bool,
}

fn percent(text: &str) -> Result<f64, &'static str> {
    let number = text
        .strip_suffix('%')
        .unwrap_or(text)
        .trim_end()
        .parse::<f64>()
        .ok();
    number
        .filter(|n| n.is_finite() && *n >= 0.0)
        .map(|n| n / 1e2)
        .ok_or("expected a percentage, such as 5%")
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let base = read(&arguments.base)?;
    let new = read(&arguments.new)?;
    let comparison = compare(&base, &new);
    if comparison.compared() == 0 {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for why in comparison
            .rows
            .iter()
            .filter_map(|row| row.ratio.as_ref().err())
        {
            *reasons.entry(why).or_default() += 1;
        }
        let why: Vec<_> = reasons
            .iter()
            .map(|(why, count)| format!("{why} ({count} rows)"))
            .collect();
        bail!("nothing can be compared: {}", why.join("; "));
    }
    say(comparison::text(&comparison, !arguments.changed))?;
    let Some(limit) = arguments.fail_above else {
        return Ok(Exit::Done);
    };
    let (beyond, limit) = (comparison.beyond(limit).len(), limit * 1e2);
    if !comparison.failed.is_empty() {
        say(format_args!(
            "failed in the new results: {}\n",
            comparison.failed.join("; ")
        ))?;
    }
    if beyond > 0 {
        say(format_args!(
            "{beyond} rows are slower by more than {limit} % for certain\n"
        ))?;
    }
    Ok(if beyond > 0 || !comparison.failed.is_empty() {
        Exit::Regression
    } else {
        Exit::Done
    })
}

/// Reads results; reports unusable parts on stderr.
fn read(path: &PathBuf) -> anyhow::Result<Recorded> {
    let recorded = Recorded::read(&[path])?;
    tell_all(&text::notes(&recorded.problems));
    Ok(recorded)
}
