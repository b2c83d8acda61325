//! Results as text for terminals.

use super::Screen;
use super::columns::stacked;
use super::findings::{conditions, crowd, findings, verdict};
use super::units::{duration, grouped, size};
use crate::harness::sweep::{Bounds, Found};
use crate::results::study::{Axis, Curve, Sheet, Study};
use crate::scene::words;
use crate::wording::one_line;
use std::fmt::Display;
use std::time::Duration;

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
    for Found {
        series,
        backend,
        time,
        memory,
        problem,
    } in found
    {
        let chosen = series.settings.chosen();
        let chosen = chosen
            .iter()
            .map(|(name, value)| (name.replace('_', " "), words(value).join(",")));
        let threads = series
            .threads
            .map(|threads| ("threads".to_owned(), threads.to_string()));
        let place: String = chosen
            .chain(threads)
            .map(|(name, value)| format!(", {name} {value}"))
            .collect();
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
        text += &format!("  {backend}{place}: {answer}\n");
    }
    text
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
