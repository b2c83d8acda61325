//! The text of a comparison: what changed, what did not, what is undecided, and the verdict.

use super::Screen;
use super::places::place;
use super::table::{Column, Table, Value, left_out};
use crate::results::Point;
use crate::results::compare::{Change, ComparedRow, Comparison, Judgement, Sensitivity};
use crate::wording::{counted, counted_as};
use std::collections::BTreeSet;

/// Rows that the verdict names.
const NAMED: usize = 2;

/// Columns of the table of a comparison.
fn columns<'a>() -> [Column<ComparisonLine<'a>>; 6] {
    [
        Column::new("backend", |line| Value::words(&line.name)),
        Column::optional("base", 2, |line| median(line.row.medians[0])),
        Column::optional("new", 3, |line| median(line.row.medians[1])),
        Column::new("change", |line| match &line.row.change {
            Ok(change) => Value::Words(percent(change.ratio)),
            Err(_) => Value::Absent,
        }),
        Column::optional("certain", 1, |line| match &line.row.change {
            Ok(Change {
                range: Some(range), ..
            }) => Value::Words(interval(*range)),
            _ => Value::Absent,
        }),
        Column::optional("says", 4, |line| match line.row.judgement() {
            None | Some(Judgement::Unjudged) => Value::Absent,
            Some(judgement) => Value::words(judgement.name()),
        }),
    ]
}

/// A row under the name that it has below its backend.
struct ComparisonLine<'a> {
    name: String,
    row: &'a ComparedRow,
}

/// What a text shows of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct ShownRows {
    /// `true` for all rows, `false` for those that changed or are undecided, with their frames.
    pub all: bool,
    /// The change, as a fraction, that matters.
    pub detect: f64,
    /// The change above which a slower row is a failure, as a fraction, if any is.
    pub limit: Option<f64>,
    /// Where it is shown.
    pub screen: Screen,
}

/// The rows, then one line for each other fact; the last one is the verdict.
pub fn text(comparison: &Comparison, shown: &ShownRows) -> String {
    let mut text = tables(comparison, shown);
    text += &counts(comparison, shown.detect);
    for (why, count) in comparison.reasons() {
        text += &format!(
            "{}: {why}\n",
            counted_as(count as u64, "row not compared", "rows not compared")
        );
    }
    for warning in &comparison.warnings {
        text += &format!("warning: {warning}\n");
    }
    match &comparison.sensitivity {
        Some(sensitivity) => text += &smallest(sensitivity, shown.detect),
        None => {
            text += "ratios only: these are no rounds, in which both programs run alternately; \
                     `skinbench compare --run OLD NEW` measures some\n";
        }
    }
    if comparison.sensitivity.is_some() {
        text += "rounds differ in addresses and in the size of the environment, but not in how the linker laid out either \
                 program, which alone can move a kernel by several per cent\n";
    }
    if shown.limit.is_some() {
        for row in &comparison.failed {
            text += &format!(
                "failed in the new results: {}: {}\n",
                at(&row.point),
                row.subject()
            );
        }
    }
    text + &verdict(comparison, shown) + "\n"
}

/// A point in words, with its threads if they tell points apart.
fn at(point: &Point) -> String {
    if point.threads == 0 {
        return place(point);
    }
    format!(
        "{}, {}",
        place(point),
        counted(point.threads as u64, "thread")
    )
}

/// Returns whether a row is shown even if not all are.
fn is_told(row: &ComparedRow) -> bool {
    row.has_changed()
        || (row.is_frame && row.judgement() != Some(Judgement::Same) && row.change.is_ok())
}

/// A table for each point.
fn tables(comparison: &Comparison, shown: &ShownRows) -> String {
    let mut text = String::new();
    let mut narrower = BTreeSet::new();
    for rows in comparison.rows.chunk_by(|a, b| a.point == b.point) {
        let mut lines = Vec::new();
        for rows in rows.chunk_by(ComparedRow::is_beside) {
            if shown.all || rows.iter().any(is_told) {
                lines.extend(lines_of(rows, shown.all));
            }
        }
        if lines.is_empty() {
            continue;
        }
        let table = Table::of(&columns(), &lines).fitted(shown.screen);
        text += &format!("{}\n{}", at(&rows[0].point), table.text);
        narrower.extend(table.left_out);
    }
    text + &left_out(&narrower.into_iter().collect::<Vec<_>>())
}

/// The lines of a backend: the first stands for it, and those of its stages are indented.
fn lines_of(rows: &[ComparedRow], all: bool) -> Vec<ComparisonLine<'_>> {
    let mut lines = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        if at > 0 && !all && !row.has_changed() {
            continue;
        }
        let name = if at > 0 {
            format!("  {}", row.stage_and_clock())
        } else {
            row.subject()
        };
        lines.push(ComparisonLine { name, row });
    }
    lines
}

fn median(ns: Option<f64>) -> Value {
    ns.map_or(Value::Absent, |ns| Value::Time(ns.round() as u64))
}

/// `+7.1 to +12.6 %`.
fn interval([low, high]: [f64; 2]) -> String {
    format!("{:+.1} to {}", (low - 1.0) * 1e2, percent(high))
}

/// How many frames and stages there are of each judgement.
fn counts(comparison: &Comparison, detect: f64) -> String {
    let mut text = String::new();
    for (what, is_frame) in [("frame", true), ("stage", false)] {
        let mut words = Vec::new();
        let mut all = 0;
        for judgement in [
            Judgement::Slower,
            Judgement::Faster,
            Judgement::Same,
            Judgement::Undecided,
        ] {
            let mut rows = comparison.rows.iter().collect::<Vec<_>>();
            rows.retain(|row| row.is_frame == is_frame && row.judgement() == Some(judgement));
            all += rows.len();
            words.push(match judgement {
                Judgement::Same => format!("{} the same within {}", rows.len(), magnitude(detect)),
                _ => format!("{} {}", rows.len(), judgement.name()),
            });
        }
        if all > 0 {
            text += &format!("{}: {}\n", counted(all as u64, what), words.join(", "));
        }
    }
    text
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
    if worst <= detect {
        return text;
    }
    text += &match needed {
        Some(needed) => {
            let more = needed.saturating_sub(rounds).max(1);
            format!(
                "{} for {wanted}: --rounds {}\n",
                counted(more as u64, "more round"),
                rounds + more
            )
        }
        None => format!(
            "too noisy for {wanted}: close other programs, measure fewer backends, or longer (-- --frames 300)\n"
        ),
    };
    text
}

/// The line that answers: what is slower and faster, or that nothing is.
fn verdict(comparison: &Comparison, shown: &ShownRows) -> String {
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
    if comparison.sensitivity.is_none() {
        let mut frames: Vec<&ComparedRow> = comparison.rows.iter().collect();
        frames.retain(|row| row.is_frame && row.change.is_ok());
        return format!("not judged: {}", named(&frames));
    }
    let mut told = Vec::new();
    for judgement in [Judgement::Slower, Judgement::Faster, Judgement::Undecided] {
        let mut rows: Vec<&ComparedRow> = comparison.rows.iter().collect();
        rows.retain(|row| row.judgement() == Some(judgement));
        // Stages explain their frames, and count where no frame changed.
        if rows.iter().any(|row| row.is_frame) {
            rows.retain(|row| row.is_frame);
        } else if judgement == Judgement::Undecided {
            continue;
        }
        if !rows.is_empty() {
            told.push(format!("{}: {}", judgement.name(), named(&rows)));
        }
    }
    if told.is_empty() {
        return format!("no frame changed by {} or more", magnitude(shown.detect));
    }
    told.join("; ")
}

/// The first few rows with their changes, and the number of others.
fn named(rows: &[&ComparedRow]) -> String {
    let mut words = Vec::new();
    for row in rows.iter().take(NAMED) {
        let change = match &row.change {
            Ok(Change {
                judgement: Judgement::Undecided,
                range: Some(range),
                ..
            }) => interval(*range),
            Ok(change) => percent(change.ratio),
            Err(_) => String::new(),
        };
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
