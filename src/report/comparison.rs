//! The terminal's text of a comparison: what changed, how many rows did not, what could have been found, and the verdict.

use super::Screen;
use super::columns::{Column, Place, fitted};
use super::table::left_out;
use super::units::duration;
use crate::results::compare::{Change, Comparison, Sensitivity, StageComparison, Verdict};
use crate::wording::{counted, counted_as};
use std::collections::{BTreeMap, BTreeSet};

/// Rows that the verdict names.
const NAMED: usize = 2;

/// Columns of the table of a comparison.
const COLUMNS: [Column<Line>; 5] = [
    Column::words("backend", |line| Some(line.name.clone())),
    Column::figures("base", Place::Leaves(2), |line| line.medians[0].map(time)),
    Column::figures("new", Place::Leaves(3), |line| line.medians[1].map(time)),
    Column::figures("change", Place::Stays, |line| {
        Some(percent(line.change?.ratio))
    }),
    Column::figures("certain", Place::Leaves(1), |line| {
        line.change.as_ref().map(interval)
    }),
];

/// A row under the name that it has below its backend.
struct Line {
    name: String,
    /// Medians in the base and in the new set, in nanoseconds.
    medians: [Option<f64>; 2],
    change: Option<Change>,
}

/// What a text shows of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// `true` for all rows, `false` for those that changed, with their frames.
    pub all: bool,
    /// The change, as a fraction, that every frame should show.
    pub detect: f64,
    /// The change above which a slower row is a failure, as a fraction, if any is.
    pub limit: Option<f64>,
    /// Where it is shown.
    pub screen: Screen,
}

/// The rows, then one line for each other fact; the last one is the verdict.
pub fn text(comparison: &Comparison, shown: &Shown) -> String {
    let mut text = tables(comparison, shown);
    text += &counts(comparison);
    for (why, count) in reasons(comparison) {
        text += &format!(
            "{}: {why}\n",
            counted_as(count as u64, "row not compared", "rows not compared")
        );
    }
    for warning in &comparison.warnings {
        text += &format!("warning: {warning}\n");
    }
    if let Some(sensitivity) = &comparison.sensitivity {
        text += &smallest(sensitivity, shown.detect);
    }
    if shown.limit.is_some() {
        for row in &comparison.failed {
            text += &format!("failed in the new results: {row}\n");
        }
    }
    text + &verdict(comparison, shown) + "\n"
}

/// A table for each point.
fn tables(comparison: &Comparison, shown: &Shown) -> String {
    let mut text = String::new();
    let mut narrower = BTreeSet::new();
    for rows in comparison.rows.chunk_by(|a, b| a.point == b.point) {
        let lines: Vec<Line> = rows
            .chunk_by(StageComparison::is_beside)
            .filter(|rows| shown.all || rows.iter().any(StageComparison::has_changed))
            .flat_map(|rows| lines(rows, shown.all))
            .collect();
        if lines.is_empty() {
            continue;
        }
        let table = fitted(&COLUMNS, &lines.iter().collect::<Vec<_>>(), shown.screen);
        text += &format!("{}\n{}", rows[0].point, table.text);
        narrower.extend(table.left_out);
    }
    if !narrower.is_empty() {
        text += &left_out(&narrower.into_iter().collect::<Vec<_>>());
    }
    text
}

/// The lines of a backend: the first stands for it, and those of its stages are indented.
fn lines(rows: &[StageComparison], all: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        if at > 0 && !all && !row.has_changed() {
            continue;
        }
        let name = if at > 0 {
            format!("  {}", row.stage)
        } else {
            row.subject()
        };
        lines.push(Line {
            name,
            medians: row.medians,
            change: row.change.as_ref().ok().copied(),
        });
    }
    lines
}

/// A median of nanoseconds with its unit.
fn time(ns: f64) -> String {
    duration(ns.round() as u64)
}

/// `+7.1 to +12.6 %`.
fn interval(change: &Change) -> String {
    format!(
        "{:+.1} to {}",
        (change.low - 1.0) * 1e2,
        percent(change.high)
    )
}

/// How many frames and stages there are of each verdict.
fn counts(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (what, is_frame) in [("frame", true), ("stage", false)] {
        let [slower, faster, same] = [Verdict::Slower, Verdict::Faster, Verdict::Same]
            .map(|verdict| count(comparison, is_frame, verdict));
        let all = slower + faster + same;
        if all > 0 {
            text += &format!(
                "{}: {slower} slower, {faster} faster, {same} the same within noise\n",
                counted(all as u64, what)
            );
        }
    }
    text
}

fn count(comparison: &Comparison, is_frame: bool, verdict: Verdict) -> usize {
    comparison
        .rows
        .iter()
        .filter(|row| row.is_frame == is_frame && row.verdict() == Some(verdict))
        .count()
}

/// The reasons why rows cannot be compared, and how many have each.
pub fn reasons(comparison: &Comparison) -> BTreeMap<&str, usize> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &comparison.rows {
        if let Err(why) = &row.change {
            *reasons.entry(why).or_default() += 1;
        }
    }
    reasons
}

/// What could have been found, and how to find more.
fn smallest(sensitivity: &Sensitivity, detect: f64) -> String {
    let &Sensitivity {
        rounds,
        best,
        worst,
        needed,
    } = sensitivity;
    let wanted = magnitude(detect);
    let range = if magnitude(best) == magnitude(worst) {
        magnitude(worst)
    } else {
        format!("{} to {}", magnitude(best), magnitude(worst))
    };
    let mut text = format!("smallest change that this could show: {range}\n");
    let Some(rounds) = rounds.filter(|_| worst > detect) else {
        return text;
    };
    text += &match needed {
        Some(needed) => {
            let more = needed.saturating_sub(rounds).max(1);
            format!("{} for {wanted}\n", counted(more as u64, "more round"))
        }
        None => {
            format!("too noisy for {wanted}: close other programs, or measure fewer backends\n")
        }
    };
    text
}

/// The line that answers: what is slower and faster, or that nothing is.
fn verdict(comparison: &Comparison, shown: &Shown) -> String {
    if let Some(limit) = shown.limit {
        let beyond = comparison.beyond(limit);
        let failed = match comparison.failed.len() {
            0 => String::new(),
            failed => format!("{failed} failed; "),
        };
        let limit = magnitude(limit);
        return match &beyond[..] {
            [] => format!("{failed}nothing is certainly slower by more than {limit}"),
            rows => format!("{failed}slower by more than {limit}: {}", named(rows)),
        };
    }
    let mut told = Vec::new();
    for verdict in [Verdict::Slower, Verdict::Faster] {
        let rows = comparison.rows.iter();
        let mut rows: Vec<_> = rows.filter(|row| row.verdict() == Some(verdict)).collect();
        // Stages explain their frames, and count where no frame changed.
        if rows.iter().any(|row| row.is_frame) {
            rows.retain(|row| row.is_frame);
        }
        if !rows.is_empty() {
            told.push(format!("{}: {}", <&str>::from(verdict), named(&rows)));
        }
    }
    if !told.is_empty() {
        told.join("; ")
    } else if comparison.is_decided(None, shown.detect) {
        format!("no frame changed by {} or more", magnitude(shown.detect))
    } else {
        "no change is certain".into()
    }
}

/// The first few rows with their changes, and the number of others.
fn named(rows: &[&StageComparison]) -> String {
    let mut words = Vec::new();
    for row in rows.iter().take(NAMED) {
        let change = row.change.as_ref();
        let change = change.map_or(String::new(), |change| percent(change.ratio));
        words.push(format!("{} {change}", row.subject()));
    }
    if rows.len() > NAMED {
        words.push(format!("{} more", rows.len() - NAMED));
    }
    words.join(", ")
}

fn percent(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 1e2)
}

/// A fraction as a percentage with two digits.
fn magnitude(fraction: f64) -> String {
    let percent = 1e2 * fraction;
    let digits = usize::from(percent < 9.95 && (10.0 * percent).round() % 10.0 != 0.0);
    format!("{percent:.digits$} %")
}
