//! Tables of chosen figures, for pages that report measurements and the fraction of the machine's limits that they
//! reach.
//!
//! A word names a figure: a stage's name, `pose`, `skin`, `other` or `processor` for a time, followed by `@joint` or `@vertex`
//! for nanoseconds per joint or vertex; `A/B` for a ratio of two times, where one side may be a pattern of backends and
//! stands for the fastest of those; `limit` for the percentage that skinning reaches; `parity`, `clip_error`, `error_px`,
//! `memory`, `visible`, `draws` or `dispatches`.

use crate::headline::{self, origin};
use skinbench::frame::{Side, Stage, StageGroup};
use skinbench::report::findings::conditions;
use skinbench::report::markdown::rows;
use skinbench::report::{duration, grouped};
use skinbench::results::rows::LimitsRow;
use skinbench::results::study::{Axis, Study, StudyEntry};
use skinbench::wording;
use wildmatch::WildMatch;

/// Figures that are not times.
const OTHERS: [&str; 8] = [
    "limit",
    "parity",
    "clip_error",
    "error_px",
    "memory",
    "visible",
    "draws",
    "dispatches",
];
/// Times that are not stages.
const SUMS: [&str; 3] = ["pose", "processor", "other"];

/// A run's name and its results.
pub type NamedStudy<'a> = (&'a str, &'a Study);

/// Table of the backends that were measured at a study's headline point, with some figures of each.
///
/// # Errors
/// An unknown figure.
pub fn backends(study: &Study, words: &[&str], source: &str) -> Result<String, String> {
    let own = measured(study);
    let mut table = vec![heading("backend", words)?];
    table.extend(
        own.iter()
            .map(|entry| row(&entry.backend, words, entry, &own)),
    );
    let place = headline::point(study).map_or(String::new(), |point| {
        headline::caption(study, point, source)
    });
    Ok(format!("{place}\n\n{}", rows(&table)))
}

/// Table of a backend in several runs, with some figures of each.
///
/// # Errors
/// An unknown figure, or a run without the backend.
pub fn runs(
    runs: &[NamedStudy],
    backend: &str,
    words: &[&str],
    source: &str,
) -> Result<String, String> {
    let mut table = vec![heading(&code(backend), words)?];
    for (name, study) in runs {
        let own = measured(study);
        table.push(row(name, words, of_backend(name, &own, backend)?, &own));
    }
    Ok(format!("{}\n\n{}", from_runs(runs, source), rows(&table)))
}

/// Table of one figure of the backends that a pattern matches, or of all, in several runs.
///
/// # Errors
/// An unknown figure.
pub fn matrix(
    runs: &[NamedStudy],
    word: &str,
    patterns: &[&str],
    source: &str,
) -> Result<String, String> {
    let head = heading(word, &[word])?;
    let mut table = vec![vec![head[1].clone()]];
    table[0].extend(runs.iter().map(|(name, _)| code(name)));
    let columns: Vec<_> = runs.iter().map(|(_, study)| measured(study)).collect();
    table.extend(by_backend(&columns, patterns, |entry, own| {
        cell(word, entry, own)
    }));
    Ok(format!("{}\n\n{}", from_runs(runs, source), rows(&table)))
}

/// Table of the times of `skin` of the backends that a pattern matches, or of all, in several runs, whose crowds head the
/// columns. Behind a time is the percentage of the limit: `device` GB/s for an adapter, for a processor what its run
/// measured.
///
/// # Errors
/// A run without results.
pub fn sizes(
    runs: &[NamedStudy],
    device: f64,
    patterns: &[&str],
    source: &str,
) -> Result<String, String> {
    let mut head = vec!["`skin`".to_owned()];
    let mut columns = Vec::new();
    for (name, study) in runs {
        let own = measured(study);
        let point = &own
            .first()
            .ok_or_else(|| format!("{name}: no results"))?
            .point;
        let [instances, vertices] = [point.instances as u64, point.vertices].map(grouped);
        head.push(format!("{instances} x {vertices}"));
        columns.push(own);
    }
    let mut table = vec![head];
    table.extend(by_backend(&columns, patterns, |entry, _| {
        time_of_limit(entry, device).unwrap_or("-".into())
    }));
    let origin = from_runs(runs, source);
    let limit = format!(
        "(%): of {} GB/s; on the processor of what the run reached.",
        grouped(device as u64)
    );
    Ok(format!("{origin}\n\n{}\n{limit}\n", rows(&table)))
}

/// The time of `skin`, and the percentage of the limit, which is `device` GB/s for stages on the device.
fn time_of_limit(entry: &StudyEntry, device: f64) -> Option<String> {
    let row = &entry.stages(StageGroup::Skin).next()?.row;
    let ns = row.median_ns?;
    let limit = if row.clock.is_of_device() {
        device * 1e9
    } else {
        row.limit? as f64
    };
    let percent = 100.0 * row.bytes? as f64 / ns as f64 * 1e9 / limit;
    Some(format!("{} ({percent:.0} %)", duration(ns)))
}

/// Tables of one figure of the backends that a pattern matches, or of all, at each value of an axis: one for each set of
/// points that differ along the axis alone.
///
/// # Errors
/// An unknown axis or figure, or results that do not vary along the axis.
pub fn sweep(
    study: &Study,
    axis: &str,
    word: &str,
    patterns: &[&str],
    source: &str,
) -> Result<String, String> {
    let name = |axis: &Axis| axis.title().split([' ', ',']).next().unwrap_or_default();
    let Some(axis) = Axis::ALL.iter().find(|known| name(known) == axis) else {
        return Err(wording::unknown(
            "axis",
            axis,
            &Axis::ALL.iter().map(name).collect::<Vec<_>>(),
        ));
    };
    let head = heading(word, &[word])?;
    let mut text = String::new();
    for sheet in study.sheets(*axis) {
        let along = |entry: &&StudyEntry| entry.is_ok() && sheet.value(&entry.point).is_some();
        let along: Vec<&StudyEntry> = study.entries.iter().filter(along).collect();
        let mut table = vec![vec![format!("{} by {}", head[1], name(axis))]];
        table[0].extend(sheet.values.iter().map(|value| grouped(*value)));
        let at = |value: &u64| {
            along
                .iter()
                .copied()
                .filter(|entry| axis.value(&entry.point) == *value)
                .collect()
        };
        let columns: Vec<_> = sheet.values.iter().map(at).collect();
        table.extend(by_backend(&columns, patterns, |entry, own| {
            cell(word, entry, own)
        }));
        let place = along
            .first()
            .map_or(String::new(), |entry| origin(study, &entry.point, source));
        text += &format!(
            "{}; {place}:\n\n{}\n",
            conditions(study, sheet),
            rows(&table)
        );
    }
    if text.is_empty() {
        Err(format!("the results do not vary in {}", axis.title()))
    } else {
        Ok(text)
    }
}

/// Rows of cells, one for each backend that a pattern matches, or for all, in the order of `columns`. A column has
/// the entries that were measured together.
fn by_backend(
    columns: &[Vec<&StudyEntry>],
    patterns: &[&str],
    cell: impl Fn(&StudyEntry, &[&StudyEntry]) -> String,
) -> Vec<Vec<String>> {
    let mut backends: Vec<&str> = Vec::new();
    for entry in columns.iter().flatten() {
        let wanted = patterns.is_empty()
            || patterns
                .iter()
                .any(|p| WildMatch::new(p).matches(&entry.backend));
        if wanted && !backends.contains(&entry.backend.as_str()) {
            backends.push(&entry.backend);
        }
    }
    let of_backend = |backend: &str| {
        let cells = columns.iter().map(|own| {
            own.iter()
                .find(|entry| entry.backend == backend)
                .map_or("-".into(), |entry| cell(entry, own))
        });
        std::iter::once(code(backend)).chain(cells).collect()
    };
    backends.into_iter().map(of_backend).collect()
}

/// Table of the processor's limits, one row per number of threads.
pub fn limits(limits: &[LimitsRow]) -> String {
    let head = [
        "threads",
        "GB/s written",
        "streamed",
        "read",
        "G multiply-adds/s",
    ]
    .map(String::from)
    .to_vec();
    let row = |row: &LimitsRow| {
        let rates = [row.write, row.stream, row.read, row.fma]
            .map(|rate| format!("{:.1}", rate as f64 / 1e9));
        std::iter::once(row.threads.to_string())
            .chain(rates)
            .collect()
    };
    rows(
        &std::iter::once(head)
            .chain(limits.iter().map(row))
            .collect::<Vec<_>>(),
    )
}

/// Table that compares skinning with the time of its vector instructions alone, each counted as a fused multiply-add.
/// An item consists of run, backend and operations per vertex.
///
/// # Errors
/// A run without the backend or its vertices.
pub fn peak(limits: &LimitsRow, items: &[(NamedStudy, &str, f64)]) -> Result<String, String> {
    let head = [
        "one thread",
        "operations per vertex",
        "ns at the peak",
        "ns measured",
        "% of the peak",
    ];
    let mut table = vec![head.map(String::from).to_vec()];
    for ((name, study), backend, operations) in items {
        let own = measured(study);
        let entry = of_backend(name, &own, backend)?;
        let least = 1e9 * operations / (limits.fma as f64 / limits.lanes as f64);
        let took =
            time("skin@vertex", entry).ok_or_else(|| format!("{name}: no time of {backend}"))?;
        table.push(vec![
            format!("{name}: {}", code(backend)),
            format!("{operations:.1}"),
            format!("{least:.2}"),
            format!("{took:.2}"),
            format!("{:.0}", 100.0 * least / took),
        ]);
    }
    Ok(rows(&table))
}

fn measured(study: &Study) -> Vec<&StudyEntry> {
    headline::point(study).map_or(Vec::new(), |point| {
        study.at(point).filter(|entry| entry.is_ok()).collect()
    })
}

fn of_backend<'a>(
    run: &str,
    entries: &[&'a StudyEntry],
    backend: &str,
) -> Result<&'a StudyEntry, String> {
    let names: Vec<_> = entries.iter().map(|entry| entry.backend.as_str()).collect();
    let found = entries
        .iter()
        .copied()
        .find(|entry| entry.backend == backend);
    found.ok_or_else(|| format!("{run}: {}", wording::unknown("backend", backend, &names)))
}

fn from_runs(runs: &[NamedStudy], source: &str) -> String {
    let first = runs
        .first()
        .and_then(|(_, study)| Some((study, headline::point(study)?)));
    first.map_or(String::new(), |(study, point)| {
        format!("{}:", origin(study, point, source))
    })
}

fn code(name: &str) -> String {
    format!("`{name}`")
}

/// The first column's name, then the names of the figures.
fn heading(first: &str, words: &[&str]) -> Result<Vec<String>, String> {
    let name = |word: &&str| {
        Ok(match (*word, word.split_once('/'), word.split_once('@')) {
            ("limit", ..) => "% of the limit".into(),
            ("parity", ..) => "parity".into(),
            ("clip_error", ..) => "joints' ends off by".into(),
            ("error_px", ..) => "error in pixels".into(),
            ("memory", ..) => "MB on host and device".into(),
            ("visible", ..) => "instances in view".into(),
            ("draws" | "dispatches", ..) => (*word).into(),
            (_, Some((a, b)), _) => match (is_time(a), is_time(b)) {
                (true, true) => format!("`{a}` over `{b}`"),
                (true, false) if b.contains('*') => format!("`{a}` over the least of `{b}`"),
                (true, false) => format!("`{a}` over that of `{b}`"),
                (false, true) => format!("`{b}`, times as fast as `{a}`"),
                (false, false) => return Err(unknown(a)),
            },
            (_, None, Some((name, unit))) if is_time(word) => format!("`{name}`, ns/{unit}"),
            (word, None, _) if is_time(word) => code(word),
            (word, ..) => return Err(unknown(word)),
        })
    };
    std::iter::once(Ok(first.into()))
        .chain(words.iter().map(name))
        .collect()
}

fn unknown(word: &str) -> String {
    let stages: Vec<_> = Stage::ALL.iter().copied().map(Stage::name).collect();
    wording::unknown("figure", word, &[&stages[..], &SUMS, &OTHERS].concat())
}

fn is_time(word: &str) -> bool {
    let (name, unit) = word.split_once('@').unwrap_or((word, ""));
    let known = SUMS.contains(&name) || Stage::try_from(name.to_owned()).is_ok();
    known && ["", "joint", "vertex"].contains(&unit)
}

fn row(name: &str, words: &[&str], entry: &StudyEntry, all: &[&StudyEntry]) -> Vec<String> {
    std::iter::once(code(name))
        .chain(words.iter().map(|word| cell(word, entry, all)))
        .collect()
}

/// A figure of a backend; `all` are the backends that a ratio compares it with.
fn cell(word: &str, entry: &StudyEntry, all: &[&StudyEntry]) -> String {
    let small = |value: f64| format!("{value:.1e}");
    let row = entry.last().map(|m| &m.row);
    let text = match (word, word.split_once('/')) {
        ("limit", _) => entry
            .stages(StageGroup::Skin)
            .find_map(|m| m.row.pct_of_limit)
            .map(|percent| format!("{percent:.0}")),
        ("parity", _) => row.and_then(|row| row.parity_max_rel).map(small),
        ("clip_error", _) => row.and_then(|row| row.clip_error).map(small),
        ("error_px", _) => entry
            .frame()
            .and_then(|row| row.error_px)
            .map(|pixels| format!("{pixels:.4}")),
        ("memory", _) => entry.frame().and_then(|row| {
            let bytes = row.host_bytes? + row.device_bytes?;
            Some(format!("{:.2}", bytes as f64 / 1e6))
        }),
        ("visible", _) => Some(
            row.and_then(|row| row.visible)
                .map_or("all".into(), grouped),
        ),
        ("draws", _) => entry.frame().and_then(|row| row.draws).map(grouped),
        ("dispatches", _) => entry.frame().and_then(|row| row.dispatches).map(grouped),
        (_, Some((a, b))) => {
            let least = |word: &str, pattern: &str| {
                let pattern = WildMatch::new(pattern);
                let named = all.iter().filter(|entry| pattern.matches(&entry.backend));
                named
                    .filter_map(|entry| time(word, entry))
                    .min_by(f64::total_cmp)
            };
            let above = if is_time(a) {
                time(a, entry)
            } else {
                least(b, a)
            };
            let below = if is_time(b) {
                time(b, entry)
            } else {
                least(a, b)
            };
            above
                .zip(below)
                .map(|(above, below)| format!("{:.2}", above / below))
        }
        (_, None) if word.contains('@') => time(word, entry).map(|ns| format!("{ns:.2}")),
        (_, None) => time(word, entry).map(milliseconds),
    };
    text.unwrap_or("-".into())
}

/// A time in nanoseconds, or in nanoseconds per joint or vertex.
fn time(word: &str, entry: &StudyEntry) -> Option<f64> {
    let (name, unit) = word.split_once('@').unwrap_or((word, ""));
    let ns = match name {
        "pose" => entry.total(StageGroup::Pose)?,
        "skin" => entry.total(StageGroup::Skin)?,
        "processor" => entry.processor()?,
        "other" => entry.other()?,
        _ => {
            let stage = Stage::try_from(name.to_owned()).ok()?;
            let parts = Side::BOTH.map(|side| entry.part(stage, side)?.row.median_ns);
            parts.into_iter().flatten().reduce(|a, b| a + b)?
        }
    };
    let row = &entry.last()?.row;
    Some(match unit {
        "joint" => ns as f64 / row.joints as f64,
        "vertex" => ns as f64 / row.vertices as f64,
        _ => ns as f64,
    })
}

/// Milliseconds for every row, so that the rows of a table are easy to compare.
fn milliseconds(ns: f64) -> String {
    format!("{:.*} ms", if ns < 1e7 { 2 } else { 1 }, ns / 1e6)
}
