//! Text about runs for terminals.

use super::Screen;
use super::findings::{
    answers, conditions_of_times, emulated, findings, headline_verdicts, verdict,
};
use super::places::{conditions, place, settings};
use super::remark::Remark;
use super::table::{Column, Table, Value, left_out, time};
use crate::harness::run::{Ended, Status};
use crate::results::{Axis, Point, Quantity, Sheet, SheetCurve, Study, Verdict};
use crate::wording::{counted, duration, one_line};
use std::collections::BTreeMap;
use std::fmt::Display;

/// Most notes that are listed one by one.
const LISTED: usize = 12;

/// The verdict on a run of a scene, a fact per line, with an empty line and its place above: what is fastest; with the
/// decision card also what takes the least memory, and where the answers change.
pub fn of_run(study: &Study, with_card: bool) -> String {
    let mut text = String::new();
    for point in &study.points {
        let mut facts = verdict(study, point);
        if facts.is_empty() {
            continue;
        }
        facts.extend(emulated(study).map(|remark| remark.to_string()));
        if with_card {
            facts.extend(answers(study, point).iter().map(ToString::to_string));
        }
        let threads = counted(point.threads as u64, "thread");
        text += &format!("\n{}, {threads}:\n", place(point));
        for fact in facts {
            text += &format!("{fact}\n");
        }
    }
    text
}

/// Text about the results of several points: a table for each series, the verdicts, then the findings.
pub fn of_points(study: &Study, screen: Screen) -> String {
    let mut text = String::new();
    for axis in Axis::ALL {
        let mut sheets = study.sheets(*axis).peekable();
        if sheets.peek().is_some() {
            for sheet in sheets {
                text += &format!(
                    "{}: {}\n\n{}\n",
                    conditions(study, sheet),
                    sheet.quantity.name(),
                    times(sheet).transposed().stacked(screen)
                );
            }
            break;
        }
    }
    text += &verdicts(study, screen);
    if let Some(remark) = emulated(study) {
        text += &format!("{remark}\n");
    }
    for remark in conditions_of_times(study) {
        if matches!(remark, Remark::Noisy(_)) {
            text += &format!("{remark}\n");
        }
    }
    for finding in findings(study) {
        text += &format!("{finding}\n");
    }
    text + &notes(&study.notes)
}

/// The verdicts on the headline points: sentences for a few, a table for more.
fn verdicts(study: &Study, screen: Screen) -> String {
    let table = verdict_table(study);
    if table.len() > 2 {
        let table = table.fitted(screen);
        let about = about_times(study).map_or(String::new(), |remark| format!("{remark}\n"));
        return format!("{}{about}{}\n", table.text, left_out(&table.left_out));
    }
    let mut text = String::new();
    for verdict in headline_verdicts(study) {
        text += &format!("{verdict}\n");
    }
    text
}

/// A headline point, and the verdict on it.
struct Decided<'a> {
    point: &'a Point,
    verdict: Verdict<'a>,
}

/// Columns of the table of verdicts.
fn columns<'a>() -> [Column<Decided<'a>>; 9] {
    [
        Column::new("scene", |row| Value::words(&row.point.scene)),
        Column::new("instances", |row| Value::Count(row.point.instances as u64)),
        Column::new("passes", |row| Value::Count(row.point.passes.into())),
        Column::optional("settings", 2, |row| {
            Value::words(settings(row.point).trim_start_matches(", "))
        }),
        Column::new("fastest", |row| Value::words(&row.verdict.first.backend)),
        Column::new("time", |row| Value::Time(row.verdict.ns)),
        Column::optional("next", 1, |row| match &row.verdict.second {
            Some(second) => Value::words(&second.entry.backend),
            None => Value::Absent,
        }),
        Column::optional("its time", 0, |row| {
            time(row.verdict.second.as_ref().map(|second| second.ns))
        }),
        Column::new("sure?", |row| Value::words(row.verdict.lead.word())),
    ]
}

/// The fastest backend at each headline point and its time, the next one, and whether the run is sure.
pub fn verdict_table(study: &Study) -> Table {
    let mut decided = Vec::new();
    for point in study.headlines() {
        if let Some(verdict) = study.verdict(point) {
            decided.push(Decided { point, verdict });
        }
    }
    Table::of(&columns(), &decided)
}

/// What the times of a table of verdicts are, if not those of frames.
pub fn about_times(study: &Study) -> Option<Remark<'_>> {
    let mut headlines = study.headlines().into_iter();
    let is_work = headlines.any(|point| study.quantity(point.passes) == Quantity::Work);
    is_work.then_some(Remark::DrawingLeftOut)
}

/// The times of a sheet: headings, then a row for each value of the axis. Backends stand in the order of their last times.
pub fn times(sheet: &Sheet) -> Table {
    let mut curves: Vec<&SheetCurve> = sheet.curves.iter().collect();
    curves.sort_by_key(|curve| {
        let last = curve.points.last();
        let is_short = last.map(|point| point.value) != sheet.values.last().copied();
        (is_short, last.map(|point| point.ns))
    });
    let mut headings = vec![sheet.axis.title()];
    headings.extend(curves.iter().map(|curve| curve.backend.as_str()));
    let mut table = Table::new(headings);
    for value in &sheet.values {
        let mut row = vec![Value::Count(*value)];
        for curve in &curves {
            let point = curve.points.iter().find(|point| point.value == *value);
            row.push(time(point.map(|point| point.ns)));
        }
        table.push(row);
    }
    table
}

/// Notes, one per line, if there are any.
pub fn notes(notes: &[impl Display]) -> String {
    let mut text = String::new();
    for note in notes.iter().take(LISTED) {
        text += &format!("note: {}\n", one_line(&note.to_string(), usize::MAX));
    }
    if notes.len() > LISTED {
        text += &format!("note: {} more like these\n", notes.len() - LISTED);
    }
    text
}

/// A point that has ended: the fastest backends, how many are slower, and how many have each other status.
pub fn fastest(ended: &[Ended]) -> String {
    const SHOWN: usize = 3;
    let mut times = Vec::new();
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    for one in ended {
        match (one.status, one.frame) {
            (Status::Ok, Some(frame)) => times.push((frame, one.backend)),
            (status, _) => *others.entry(status.name()).or_default() += 1,
        }
    }
    times.sort_unstable();
    let mut words = Vec::new();
    for (frame, name) in times.iter().take(SHOWN) {
        words.push(format!("{name} {}", duration(frame.as_nanos() as u64)));
    }
    if times.len() > SHOWN {
        words.push(format!("{} slower", times.len() - SHOWN));
    }
    for (status, count) in others {
        words.push(format!("{count} {status}"));
    }
    if words.is_empty() {
        words.push("nothing was measured".into());
    }
    words.join(", ")
}
