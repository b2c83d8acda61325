//! The terminal table of a comparison.

use super::table::new_table;
use super::units::duration;
use crate::results::compare::{Comparison, StageComparison, Verdict};

/// The rows, or only those that changed; then the number of rows of each kind, and warnings.
pub fn text(comparison: &Comparison, all: bool) -> String {
    let mut table = new_table([
        "row",
        "base",
        "new",
        "change",
        "95 % for all rows",
        "verdict",
    ]);
    let time = |ns: Option<f64>| ns.map_or("-".into(), |ns| duration(ns.round() as u64));
    let changed = |row: &&StageComparison| {
        all || matches!(row.verdict(), Ok(Verdict::Faster | Verdict::Slower))
    };
    let shown: Vec<_> = comparison.rows.iter().filter(changed).collect();
    for row in &shown {
        let (change, interval) =
            row.ratio
                .as_ref()
                .map_or(("-".into(), "-".into()), |&(ratio, low, high)| {
                    (
                        percent(ratio),
                        format!("{} to {}", percent(low), percent(high)),
                    )
                });
        let verdict = match row.verdict() {
            Ok(verdict) => <&str>::from(verdict).into(),
            Err(why) => format!("not comparable: {why}"),
        };
        let [base, new] = row.medians.map(time);
        table.add_row([row.name.clone(), base, new, change, interval, verdict]);
    }
    let mut text = if shown.is_empty() {
        String::new()
    } else {
        format!("{table}\n")
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
