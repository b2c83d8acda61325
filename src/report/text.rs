//! Results as text for terminals.

use super::Screen;
use super::columns::stacked;
use super::findings::{conditions, crowd, findings, verdict};
use super::units::{duration, grouped, size};
use crate::harness::Status;
use crate::harness::sweep::{Bounds, Found, PointEnd, SweepPoint};
use crate::results::study::{Axis, Curve, Sheet, Study};
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
    let series = Axis::ALL
        .iter()
        .map(|axis| study.sheets(*axis))
        .find(|sheets| !sheets.is_empty());
    series
        .unwrap_or_default()
        .iter()
        .for_each(|sheet| text += &times(study, sheet, screen));
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
    let backends = sheet.curves.iter().map(|curve| curve.backend.clone());
    let headings = std::iter::once(sheet.axis.title().to_owned())
        .chain(backends)
        .collect();
    let row = |&value: &u64| {
        let time = |curve: &Curve| {
            let known = curve.points.iter().find(|point| point.value == value);
            known.map_or("-".into(), |point| duration(point.ns))
        };
        std::iter::once(grouped(value))
            .chain(sheet.curves.iter().map(time))
            .collect()
    };
    std::iter::once(headings)
        .chain(sheet.values.iter().map(row))
        .collect()
}

/// Notes on problems of files, if there are any.
pub fn notes(problems: &[impl Display]) -> String {
    let note =
        |problem: &dyn Display| format!("note: {}\n", one_line(&problem.to_string(), usize::MAX));
    let mut text: String = problems
        .iter()
        .take(LISTED)
        .map(|problem| note(problem))
        .collect();
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
    let time = budget.map(|budget| format!("{} a frame", duration(budget.as_nanos() as u64)));
    let room = memory.map(|memory| format!("{} on host and device", size(memory as f64)));
    let bounds: Vec<_> = time.into_iter().chain(room).collect();
    let mut text = format!("largest crowd within {}:\n", bounds.join(" and "));
    for found in found {
        text += &format!("  {}\n", answer(scene, found));
    }
    text
}

/// The line of a point that a sweep has finished: its place, the fastest backends, and the time left.
pub fn point_ended(end: &PointEnd) -> String {
    let mut text = format!("point {} of {}{}", end.number, end.of, place(&end.point));
    let mut times = Vec::new();
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, result) in &end.results {
        match (result.status, result.frame) {
            (Status::Ok, Some(frame)) => times.push((frame, *name)),
            (status, _) => *others.entry(status.name()).or_default() += 1,
        }
    }
    times.sort();
    let mut said: Vec<String> = times
        .iter()
        .take(SHOWN)
        .map(|(frame, name)| format!("{name} {}", duration(frame.as_nanos() as u64)))
        .collect();
    if times.len() > SHOWN {
        said.push(format!("{} slower", times.len() - SHOWN));
    }
    said.extend(
        others
            .iter()
            .map(|(status, count)| format!("{count} {status}")),
    );
    if said.is_empty() {
        said.push("nothing was measured".into());
    }
    text += &format!(": {}", said.join(", "));
    if end.kept {
        text += " (kept from an earlier sweep)";
    }
    match end.left {
        Some(left) if end.number < end.of => text + &format!("; about {} left", roughly(left)),
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
    let place = place(series);
    let verb =
        |fits: u64, one: &'static str, more: &'static str| if fits == 1 { one } else { more };
    let taking = |fits, taken| {
        format!(
            "{} {} {}",
            crowd(scene, fits),
            verb(fits, "takes", "take"),
            size(taken)
        )
    };
    let fitting = |fits| format!("{} {}", crowd(scene, fits), verb(fits, "fits", "fit"));
    let by_memory = memory.map(|Bounds { fits, exceeds }| match (fits, exceeds) {
        (Some((fits, taken)), Some((exceeds, _))) => {
            format!(
                "{}, {} would not fit",
                taking(fits, taken),
                grouped(exceeds)
            )
        }
        (Some((fits, taken)), None) => taking(fits, taken),
        (None, Some((_, taken))) if taken.is_finite() => {
            format!("not even one fits: it takes {}", size(taken))
        }
        (None, _) => "not even one fits".into(),
    });
    let by_time = time.map(|Bounds { fits, exceeds }| {
        match (fits, exceeds.filter(|(_, ns)| ns.is_finite())) {
            (Some((fits, _)), Some((exceeds, _))) => {
                format!("{}, {exceeds} do not", fitting(fits))
            }
            (Some((fits, _)), None) => format!("{}; memory ends the search", fitting(fits)),
            (None, Some(_)) => "not even one fits".into(),
            (None, None) => "not measured".into(),
        }
    });
    let by_time = by_time.map(|time| {
        if by_memory.is_some() {
            format!("by time {time}")
        } else {
            time
        }
    });
    let answers: Vec<_> = by_memory
        .into_iter()
        .chain(by_time)
        .chain(problem.clone())
        .collect();
    let answer = if answers.is_empty() {
        "not measured".into()
    } else {
        answers.join("; ")
    };
    format!("{backend}{place}: {answer}")
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
        let mesh = Lod {
            mesh: true,
            ..Lod::default()
        };
        let answer = |series| Found {
            series,
            backend: "cpu-simd",
            time: None,
            memory: None,
            problem: None,
        };
        let found = [series(1, Lod::default()), series(1, mesh), series(2, mesh)].map(answer);
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
