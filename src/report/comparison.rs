//! The terminal table of a comparison.

use super::Screen;
use super::columns::{Align, Column, Place, fitted};
use super::units::duration;
use crate::results::compare::{Comparison, StageComparison, Verdict};

/// Columns of the table of a comparison.
const COLUMNS: [Column<StageComparison>; 6] = [
    Column {
        heading: "row",
        place: Place::Stays,
        align: Align::Left,
        cell: |row| Some(row.name.clone()),
    },
    Column {
        heading: "base",
        place: Place::Leaves(2),
        align: Align::Right,
        cell: |row| row.medians[0].map(time),
    },
    Column {
        heading: "new",
        place: Place::Leaves(3),
        align: Align::Right,
        cell: |row| row.medians[1].map(time),
    },
    Column {
        heading: "change",
        place: Place::Stays,
        align: Align::Right,
        cell: |row| Some(percent(row.ratio.as_ref().ok()?.0)),
    },
    Column {
        heading: "95 % for all rows",
        place: Place::Leaves(1),
        align: Align::Right,
        cell: |row| {
            let &(_, low, high) = row.ratio.as_ref().ok()?;
            Some(format!("{} to {}", percent(low), percent(high)))
        },
    },
    Column {
        heading: "verdict",
        place: Place::Stays,
        align: Align::Left,
        cell: |row| {
            Some(match row.verdict() {
                Ok(verdict) => <&str>::from(verdict).into(),
                Err(why) => format!("not comparable: {why}"),
            })
        },
    },
];

/// A median of nanoseconds with its unit.
fn time(ns: f64) -> String {
    duration(ns.round() as u64)
}

/// The rows, or only those that changed; then the number of rows of each kind, and warnings.
pub fn text(comparison: &Comparison, all: bool) -> String {
    let changed = |row: &&StageComparison| {
        all || matches!(row.verdict(), Ok(Verdict::Faster | Verdict::Slower))
    };
    let shown: Vec<_> = comparison.rows.iter().filter(changed).collect();
    let mut text = if shown.is_empty() {
        String::new()
    } else {
        fitted(&COLUMNS, &shown, Screen::Wide).text
    };
    let count = |verdict: Verdict| {
        comparison
            .rows
            .iter()
            .filter(|row| row.verdict() == Ok(verdict))
            .count()
    };
    let [slower, faster, same] = [Verdict::Slower, Verdict::Faster, Verdict::Same].map(count);
    let compared = comparison.compared();
    let left_out = comparison.rows.len() - compared;
    text += &format!(
        "{compared} rows compared: {slower} slower, {faster} faster, {same} the same within noise"
    );
    text += &if left_out > 0 {
        format!("; {left_out} not comparable\n")
    } else {
        "\n".into()
    };
    for warning in &comparison.warnings {
        text += &format!("warning: {warning}\n");
    }
    text
}

fn percent(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 1e2)
}
