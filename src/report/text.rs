//! Results as text for terminals.

use super::findings::{conditions, crowd, findings, verdict};
use super::table::new_table;
use super::units::duration;
use crate::harness::sweep::{Largest, Series};
use crate::results::study::{Axis, Sheet, Study};
use std::time::Duration;

/// Most problems of files that are listed one by one.
const LISTED: usize = 12;

/// Text about a sweep's folder: a table for each series, then the findings.
pub fn swept(study: &Study) -> String {
    let mut text = String::new();
    for sheet in
        Axis::ALL.into_iter().find_map(|axis| Some(study.sheets(axis)).filter(|s| !s.is_empty())).into_iter().flatten()
    {
        text += &times(study, &sheet);
    }
    for finding in verdict(study).into_iter().chain(findings(study)) {
        text += &format!("{finding}\n");
    }
    text + &problems(study)
}

/// A sheet's medians: one row per value, one column per backend.
fn times(study: &Study, sheet: &Sheet) -> String {
    let backends = sheet.curves.iter().map(|curve| curve.backend.as_str());
    let mut table = new_table(&std::iter::once(sheet.axis.title()).chain(backends).collect::<Vec<_>>());
    for &value in &sheet.values {
        let cells = sheet.curves.iter().map(|curve| {
            let index = curve.points.iter().find(|(v, _)| *v == value).map(|(_, index)| *index);
            index.and_then(|i| study.entries[i].time(sheet.quantity)).map_or("-".into(), duration)
        });
        table.add_row(std::iter::once(value.to_string()).chain(cells));
    }
    format!("{}: {}\n{table}\n\n", conditions(study, sheet), sheet.quantity.name())
}

/// Notes on problems of the files, if there are any.
pub fn problems(study: &Study) -> String {
    let mut text: String = study.problems.iter().take(LISTED).map(|problem| format!("note: {problem}\n")).collect();
    if study.problems.len() > LISTED {
        text += &format!("note: {} more like these\n", study.problems.len() - LISTED);
    }
    text
}

/// The answers to a search for the largest crowd within `budget`.
pub fn largest(scene: &str, budget: Duration, found: &[(Series, &'static str, Largest)]) -> String {
    let mut text = format!("largest crowd within {} a frame:\n", duration(budget.as_nanos() as u64));
    for (series, backend, Largest { fits, exceeds }) in found {
        let mut place = String::new();
        for (name, value) in [
            ("passes", series.passes),
            ("threads", series.threads),
            ("vertices", series.vertices),
            ("influences", series.influences),
        ] {
            place += &value.map_or(String::new(), |value| format!(", {name} {value}"));
        }
        let answer = match (fits, exceeds) {
            (Some(fits), Some(exceeds)) => format!("{} fit, {} do not", crowd(scene, *fits), exceeds),
            (Some(fits), None) => format!("{} fit; memory ends the search", crowd(scene, *fits)),
            (None, Some(_)) => "not even one fits".into(),
            (None, None) => "not measured".into(),
        };
        text += &format!("  {backend}{place}: {answer}\n");
    }
    text
}
