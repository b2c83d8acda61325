//! Results as text for terminals.

use super::Screen;
use super::columns::stacked;
use super::findings::{conditions, crowd, findings, verdict};
use super::units::{duration, duration_or_dash, grouped, size};
use crate::harness::Status;
use crate::harness::sweep::{Bounds, Found, PointEnd, SweepPoint};
use crate::results::study::{Axis, Sheet, Study};
use crate::scene::words;
use crate::wording::{counted, one_line};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

/// Backends whose times the line of a point names.
const SHOWN: usize = 3;
/// Most problems of files that are listed one by one.
const LISTED: usize = 12;

/// Text about a sweep's folder: a table for each series, then the findings.
pub fn swept(study: &Study, screen: Screen) -> String {
    let mut text = String::new();
    let mut series = Axis::ALL.iter().map(|axis| study.sheets(*axis));
    for sheet in series.find(|sheets| !sheets.is_empty()).unwrap_or_default() {
        text += &times(study, sheet, screen);
    }
    for finding in verdict(study).into_iter().chain(findings(study)) {
        text += &format!("{finding}\n");
    }
    text + &notes(&study.problems)
}

/// The verdicts of a study, one per line.
pub fn verdicts(study: &Study) -> String {
    verdict(study)
        .iter()
        .map(|line| format!("{line}\n"))
        .collect()
}

/// A sheet's medians: one row per backend, one column per value.
fn times(study: &Study, sheet: &Sheet, screen: Screen) -> String {
    let by_value = rows(sheet);
    let columns = by_value[0].len();
    let by_backend: Vec<Vec<String>> = (0..columns)
        .map(|column| by_value.iter().map(|row| row[column].clone()).collect())
        .collect();
    format!(
        "{}: {}\n\n{}\n",
        conditions(study, sheet),
        sheet.quantity.name(),
        stacked(&by_backend, screen)
    )
}

/// The times of a sheet: headings, then a row for each value of the axis.
pub(super) fn rows(sheet: &Sheet) -> Vec<Vec<String>> {
    let mut headings = vec![sheet.axis.title().to_owned()];
    headings.extend(sheet.curves.iter().map(|curve| curve.backend.clone()));
    let mut rows = vec![headings];
    for value in &sheet.values {
        let mut row = vec![grouped(*value)];
        for curve in &sheet.curves {
            let point = curve.points.iter().find(|point| point.value == *value);
            row.push(duration_or_dash(point.map(|point| point.ns)));
        }
        rows.push(row);
    }
    rows
}

/// Notes on problems of files, if there are any.
pub fn notes(problems: &[impl Display]) -> String {
    let mut text = String::new();
    for problem in problems.iter().take(LISTED) {
        text += &format!("note: {}\n", one_line(&problem.to_string(), usize::MAX));
    }
    if problems.len() > LISTED {
        text += &format!("note: {} more like these\n", problems.len() - LISTED);
    }
    text
}

/// The answers to a search for the largest crowd within a time, within a number of bytes, or both.
pub fn largest(
    scene: &str,
    budget: Option<Duration>,
    memory: Option<u64>,
    found: &[Found],
) -> String {
    let mut bounds = Vec::new();
    bounds.extend(budget.map(|time| format!("{} a frame", duration(time.as_nanos() as u64))));
    bounds.extend(memory.map(|bytes| format!("{} on host and device", size(bytes as f64))));
    let mut text = format!("largest crowd within {}:\n", bounds.join(" and "));
    for found in found {
        text += &format!("  {}\n", answer(scene, found));
    }
    text
}

/// The line of a point that a sweep has finished: its place, the fastest backends, and the time left.
pub fn point_ended(end: &PointEnd) -> String {
    let mut text = format!("point {} of {}{}", end.number, end.count, place(&end.point));
    let mut times = Vec::new();
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, result) in &end.results {
        match (result.status, result.frame) {
            (Status::Ok, Some(frame)) => times.push((frame, *name)),
            (status, _) => *others.entry(status.name()).or_default() += 1,
        }
    }
    times.sort();
    let mut results = Vec::new();
    for (frame, name) in times.iter().take(SHOWN) {
        results.push(format!("{name} {}", duration(frame.as_nanos() as u64)));
    }
    if times.len() > SHOWN {
        results.push(format!("{} slower", times.len() - SHOWN));
    }
    for (status, count) in others {
        results.push(format!("{count} {status}"));
    }
    if results.is_empty() {
        results.push("nothing was measured".into());
    }
    text += &format!(": {}", results.join(", "));
    if end.kept {
        text += " (kept from an earlier sweep)";
    }
    match end.left {
        Some(left) if end.number < end.count => text + &format!("; about {} left", roughly(left)),
        _ => text,
    }
}

/// A time that somebody waits, in its two largest units or fewer.
pub fn roughly(time: Duration) -> String {
    let seconds = time.as_secs_f64().round().max(1.0) as u64;
    let rounded = match seconds {
        0..60 => seconds,
        60..600 => seconds.next_multiple_of(10),
        600..3_600 => seconds.next_multiple_of(60),
        _ => seconds.next_multiple_of(600),
    };
    humantime::format_duration(Duration::from_secs(rounded)).to_string()
}

/// The settings of a point, each after a comma.
fn place(point: &SweepPoint) -> String {
    let mut place = String::new();
    let instances = point.settings.instances;
    if let Some(instances) = instances {
        place += &format!(", {}", counted(instances, "instance"));
    }
    for (name, value) in &point.series().settings.chosen() {
        place += &format!(", {} {}", name.replace('_', " "), words(value).join(","));
    }
    if let Some(threads) = point.threads {
        place += &format!(", threads {threads}");
    }
    place
}

/// The answer to a search for the largest crowd of a backend.
pub fn answer(scene: &str, found: &Found) -> String {
    let Found {
        series,
        backend,
        time,
        memory,
        problem,
    } = found;
    let mut answers = Vec::new();
    answers.extend(memory.map(|bounds| by_memory(scene, bounds)));
    if let Some(bounds) = *time {
        let by = if answers.is_empty() { "" } else { "by time " };
        answers.push(format!("{by}{}", by_time(scene, bounds)));
    }
    answers.extend(problem.clone());
    if answers.is_empty() {
        answers.push("not measured".into());
    }
    format!("{backend}{}: {}", place(series), answers.join("; "))
}

/// The largest crowd that fits a number of bytes.
fn by_memory(scene: &str, Bounds { fits, exceeds }: Bounds) -> String {
    let Some((instances, taken)) = fits else {
        return match exceeds {
            Some((_, taken)) if taken.is_finite() => {
                format!("not even one fits: it takes {}", size(taken))
            }
            _ => "not even one fits".into(),
        };
    };
    let verb = if instances == 1 { "takes" } else { "take" };
    let mut answer = format!("{} {verb} {}", crowd(scene, instances), size(taken));
    if let Some((exceeds, _)) = exceeds {
        answer += &format!(", {} would not fit", grouped(exceeds));
    }
    answer
}

/// The largest crowd that fits a time.
fn by_time(scene: &str, Bounds { fits, exceeds }: Bounds) -> String {
    let exceeds = exceeds.filter(|bound| bound.1.is_finite());
    let Some((instances, _)) = fits else {
        let is_known = exceeds.is_some();
        return if is_known {
            "not even one fits"
        } else {
            "not measured"
        }
        .into();
    };
    let verb = if instances == 1 { "fits" } else { "fit" };
    let answer = format!("{} {verb}", crowd(scene, instances));
    match exceeds {
        Some((exceeds, _)) => format!("{answer}, {exceeds} do not"),
        None => format!("{answer}; memory ends the search"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::sweep::SweepPoint;
    use crate::scene::{Lod, Settings};

    #[test]
    fn answers_of_each_series_have_another_label() {
        let series = |models, lod| SweepPoint {
            threads: None,
            settings: Settings {
                models: Some(models),
                lod: Some(lod),
                ..Settings::default()
            },
        };
        let answer = |series| Found {
            series,
            backend: "cpu-simd",
            time: None,
            memory: None,
            problem: None,
        };
        let found = [
            series(1, Lod::None),
            series(1, Lod::Mesh),
            series(2, Lod::Mesh),
        ]
        .map(answer);
        let text = largest("walkers", Some(Duration::from_millis(16)), None, &found);
        for label in [
            "lod none, models 1:",
            "lod mesh, models 1:",
            "lod mesh, models 2:",
        ] {
            assert_eq!(text.matches(label).count(), 1, "{label} in {text}");
        }
    }

    #[test]
    fn one_instance_takes_and_fits() {
        let bounds = |fits| {
            Some(Bounds {
                fits: Some((fits, 2e6)),
                exceeds: None,
            })
        };
        let text = |fits| {
            let series = SweepPoint {
                threads: None,
                settings: Settings::default(),
            };
            let found = Found {
                series,
                backend: "cpu-simd",
                time: bounds(fits),
                memory: bounds(fits),
                problem: None,
            };
            largest(
                "walkers",
                Some(Duration::from_millis(16)),
                Some(1 << 30),
                &[found],
            )
        };
        assert!(
            text(1).ends_with(
                ": 1 walker takes 2.0 MB; by time 1 walker fits; memory ends the search\n"
            ),
            "{}",
            text(1)
        );
        assert!(
            text(2).contains(": 2 walkers take 2.0 MB; by time 2 walkers fit;"),
            "{}",
            text(2)
        );
    }
}
