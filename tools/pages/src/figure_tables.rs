//! Tables of chosen figures, for pages that report measurements and the fraction of the machine's limits that they
//! reach.
//!
//! A word names a figure: a stage's name, `pose`, `skin`, `other` or `processor` for a time, followed by `@joint` or `@vertex`
//! for nanoseconds per joint or vertex; `A/B` for a ratio of two times, where one side may be a pattern of backends and
//! stands for the fastest of those; `limit` for the percentage that skinning reaches; `parity`, `clip_error`, `error_px`,
//! `memory`, `visible`, `draws` or `dispatches`.

use crate::headline::{self, origin};
use skinbench::frame::{Side, Stage, StageGroup};
use skinbench::report::places::conditions;
use skinbench::report::table::{Table, Value, count, magnitude, number};
use skinbench::report::{duration, grouped};
use skinbench::results::{Axis, Entry, LimitsRow, Quantity, Study};
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
    let entries = measured(study);
    let mut table = Table::new(heading("backend", words)?);
    for entry in &entries {
        table.push(row(&entry.backend, words, entry, &entries));
    }
    let place = headline::point(study).map_or(String::new(), |point| {
        headline::caption(study, point, source)
    });
    Ok(format!("{place}\n\n{}", table.markdown()))
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
    let mut table = Table::new(heading(&code(backend), words)?);
    for (name, study) in runs {
        let entries = measured(study);
        let entry = of_backend(name, &entries, backend)?;
        table.push(row(name, words, entry, &entries));
    }
    Ok(format!(
        "{}\n\n{}",
        from_runs(runs, source),
        table.markdown()
    ))
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
    let mut headings = vec![head[1].clone()];
    let mut columns = Vec::new();
    for (name, study) in runs {
        headings.push(code(name));
        columns.push(measured(study));
    }
    let table = by_backend(headings, &columns, patterns, |entry, all| {
        cell(word, entry, all)
    });
    Ok(format!(
        "{}\n\n{}",
        from_runs(runs, source),
        table.markdown()
    ))
}

/// Table of the times of `skin` of the backends that a pattern matches, or of all, in several runs, whose crowds head the
/// columns, with the run's name where crowds are of one size. Behind a time is the percentage of the limit: `device` GB/s
/// for an adapter, for a processor what its run measured.
///
/// # Errors
/// A run without results.
pub fn sizes(
    runs: &[NamedStudy],
    device: f64,
    patterns: &[&str],
    source: &str,
) -> Result<String, String> {
    let mut crowds = Vec::new();
    let mut columns = Vec::new();
    for (name, study) in runs {
        let entries = measured(study);
        let first = entries.first();
        let point = &first.ok_or_else(|| format!("{name}: no results"))?.point;
        crowds.push(format!(
            "{} x {}",
            grouped(point.instances as u64),
            grouped(point.vertices_each)
        ));
        columns.push(entries);
    }
    let mut head = vec!["`skin`".to_owned()];
    for ((name, _), crowd) in runs.iter().zip(&crowds) {
        let alike = crowds.iter().filter(|other| *other == crowd).count();
        head.push(if alike > 1 {
            format!("{crowd} {}", code(name))
        } else {
            crowd.clone()
        });
    }
    let table = by_backend(head, &columns, patterns, |entry, _| {
        Value::words(time_of_limit(entry, device).unwrap_or_default())
    });
    let origin = from_runs(runs, source);
    let limit = limits_of(columns.iter().flatten(), patterns, device);
    Ok(format!("{origin}\n\n{}\n{limit}\n", table.markdown()))
}

/// The time of `skin`, and the percentage of the limit, which is `device` GB/s for stages on the device; of a peer, whose bytes
/// are not known, the time alone.
fn time_of_limit(entry: &Entry, device: f64) -> Option<String> {
    let row = entry.stages(StageGroup::Skin).next()?;
    let ns = row.median_ns?;
    let time = duration(ns);
    let Some(bytes) = row.moved_bytes else {
        return Some(time);
    };
    let limit = if row.clock.is_of_device() {
        device * 1e9
    } else {
        row.limit_bytes_per_s? as f64
    };
    let percent = 100.0 * bytes as f64 / ns as f64 * 1e9 / limit;
    Some(format!("{time} ({percent:.0} %)"))
}

/// The line that says what the percentages of [`time_of_limit`] refer to, of the backends that a pattern matches.
fn limits_of<'a>(
    entries: impl Iterator<Item = &'a &'a Entry>,
    patterns: &[&str],
    device: f64,
) -> String {
    let mut on_device = false;
    let mut on_processor = false;
    for entry in entries.filter(|entry| is_wanted(patterns, &entry.backend)) {
        for row in entry.stages(StageGroup::Skin) {
            if row.moved_bytes.is_some() {
                on_device |= row.clock.is_of_device();
                on_processor |= !row.clock.is_of_device();
            }
        }
    }
    let device = format!("of {} GB/s", grouped(device as u64));
    let reached = "of what the run reached";
    match (on_device, on_processor) {
        (false, true) => format!("In brackets: percent {reached}."),
        (_, false) => format!("In brackets: percent {device}."),
        (true, true) => format!("In brackets: percent {device}; on the processor, {reached}."),
    }
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
    let Some(axis) = Axis::ALL.iter().find(|known| name(known) == axis) else {
        let known: Vec<&str> = Axis::ALL.iter().map(name).collect();
        return Err(wording::unknown("axis", axis, &known));
    };
    let head = heading(word, &[word])?;
    let mut text = String::new();
    for sheet in study.sheets(*axis) {
        // Times of a software adapter that draws say nothing about others.
        if sheet.quantity == Quantity::Work {
            continue;
        }
        let along: Vec<&Entry> = study
            .entries
            .iter()
            .filter(|entry| entry.is_ok() && sheet.value(&entry.point).is_some())
            .collect();
        let mut headings = vec![format!("{}, by {}", head[1], name(axis))];
        let mut columns = Vec::new();
        for value in &sheet.values {
            headings.push(grouped(*value));
            let mut column = along.clone();
            column.retain(|entry| axis.value(&entry.point) == *value);
            columns.push(column);
        }
        let table = by_backend(headings, &columns, patterns, |entry, all| {
            cell(word, entry, all)
        });
        let place = along
            .first()
            .map_or(String::new(), |entry| origin(study, &entry.point, source));
        text += &format!(
            "{}; {place}:\n\n{}\n",
            conditions(study, sheet),
            table.markdown()
        );
    }
    if text.is_empty() {
        Err(format!("the results do not vary in {}", axis.title()))
    } else {
        Ok(text)
    }
}

/// The word of an axis in markers.
fn name(axis: &Axis) -> &'static str {
    axis.title().split([' ', ',']).next().unwrap_or_default()
}

/// A table with a row for each backend that a pattern matches, or for all, in the order of `columns`. A column has the
/// entries that were measured together.
fn by_backend(
    headings: Vec<String>,
    columns: &[Vec<&Entry>],
    patterns: &[&str],
    cell: impl Fn(&Entry, &[&Entry]) -> Value,
) -> Table {
    let mut backends: Vec<&str> = Vec::new();
    for entry in columns.iter().flatten() {
        if is_wanted(patterns, &entry.backend) && !backends.contains(&entry.backend.as_str()) {
            backends.push(&entry.backend);
        }
    }
    let mut table = Table::new(headings);
    for backend in backends {
        let mut row = vec![Value::Words(code(backend))];
        for column in columns {
            let entry = column.iter().find(|entry| entry.backend == backend);
            row.push(entry.map_or(Value::Absent, |entry| cell(entry, column)));
        }
        table.push(row);
    }
    table
}

/// Returns whether one of some patterns matches a backend, or there is none.
fn is_wanted(patterns: &[&str], backend: &str) -> bool {
    let mut globs = patterns.iter().map(|pattern| WildMatch::new(pattern));
    patterns.is_empty() || globs.any(|glob| glob.matches(backend))
}

/// Table of the processor's limits, one row per number of threads.
pub fn limits(limits: &[LimitsRow]) -> String {
    let mut table = Table::new([
        "threads",
        "GB/s written",
        "streamed",
        "read",
        "G multiply-adds/s",
    ]);
    for row in limits {
        let mut cells = vec![Value::Count(row.threads as u64)];
        for rate in [row.write, row.stream, row.read, row.fma] {
            cells.push(Value::Number(rate as f64 / 1e9, 1));
        }
        table.push(cells);
    }
    table.markdown()
}

/// Table that compares skinning with the time of its vector instructions alone; its rows are from [`peak`].
pub fn peaks(backends: Vec<Vec<Value>>) -> String {
    let mut table = Table::new([
        "one thread",
        "operations per vertex",
        "ns at the peak",
        "ns measured",
        "% of the peak",
    ]);
    for row in backends {
        table.push(row);
    }
    table.markdown()
}

/// Row of a backend in such a table, with so many operations per vertex, each counted as a fused multiply-add.
///
/// # Errors
/// A run without the backend or its vertices.
pub fn peak(
    limits: &LimitsRow,
    run: &str,
    study: &Study,
    backend: &str,
    operations: f64,
) -> Result<Vec<Value>, String> {
    let entries = measured(study);
    let entry = of_backend(run, &entries, backend)?;
    let least = 1e9 * operations / (limits.fma as f64 / limits.lanes as f64);
    let took = time("skin@vertex", entry).ok_or_else(|| format!("{run}: no time of {backend}"))?;
    Ok(vec![
        Value::Words(format!("{run}: {}", code(backend))),
        Value::Number(operations, 1),
        Value::Number(least, 2),
        Value::Number(took, 2),
        Value::Number(100.0 * least / took, 0),
    ])
}

fn measured(study: &Study) -> Vec<&Entry> {
    headline::point(study).map_or(Vec::new(), |point| {
        study.at(point).filter(|entry| entry.is_ok()).collect()
    })
}

fn of_backend<'a>(run: &str, entries: &[&'a Entry], backend: &str) -> Result<&'a Entry, String> {
    let names: Vec<_> = entries.iter().map(|entry| entry.backend.as_str()).collect();
    let found = entries
        .iter()
        .copied()
        .find(|entry| entry.backend == backend);
    found.ok_or_else(|| format!("{run}: {}", wording::unknown("backend", backend, &names)))
}

fn from_runs(runs: &[NamedStudy], source: &str) -> String {
    for (_, study) in runs.iter().take(1) {
        if let Some(point) = headline::point(study) {
            return format!("{}:", origin(study, point, source));
        }
    }
    String::new()
}

fn code(name: &str) -> String {
    format!("`{name}`")
}

/// The first column's name, then the names of the figures.
fn heading(first: &str, words: &[&str]) -> Result<Vec<String>, String> {
    let mut cells = vec![first.to_owned()];
    for word in words {
        cells.push(title(word)?);
    }
    Ok(cells)
}

/// The name of a figure in a heading.
fn title(word: &str) -> Result<String, String> {
    let title = match word {
        "limit" => "% of the limit",
        "parity" => "parity",
        "clip_error" => "joints' ends off by",
        "error_px" => "error in pixels",
        "memory" => "MB on host and device",
        "visible" => "instances in view",
        "draws" | "dispatches" => word,
        _ => return title_of_times(word),
    };
    Ok(title.into())
}

/// The name of a time, or of a ratio of two.
fn title_of_times(word: &str) -> Result<String, String> {
    if let Some((a, b)) = word.split_once('/') {
        return match (is_time(a), is_time(b)) {
            (true, true) => Ok(format!("`{a}` over `{b}`")),
            (true, false) if b.contains('*') => Ok(format!("`{a}` over the least of `{b}`")),
            (true, false) => Ok(format!("`{a}` over that of `{b}`")),
            (false, true) => Ok(format!("`{b}`, times as fast as `{a}`")),
            (false, false) => Err(unknown(a)),
        };
    }
    if !is_time(word) {
        return Err(unknown(word));
    }
    Ok(match word.split_once('@') {
        Some((name, unit)) => format!("`{name}`, ns/{unit}"),
        None => format!("{}, ms", code(word)),
    })
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

fn row(name: &str, words: &[&str], entry: &Entry, all: &[&Entry]) -> Vec<Value> {
    let mut row = vec![Value::Words(code(name))];
    row.extend(words.iter().map(|word| cell(word, entry, all)));
    row
}

/// A figure of a backend; `all` are the backends that a ratio compares it with.
fn cell(word: &str, entry: &Entry, all: &[&Entry]) -> Value {
    let last = entry.last();
    let frame = entry.frame();
    match word {
        "limit" => {
            let mut stages = entry.stages(StageGroup::Skin);
            number(stages.find_map(|row| row.pct_of_limit), 0)
        }
        "parity" => magnitude(last.and_then(|row| row.parity_max_rel)),
        "clip_error" => magnitude(last.and_then(|row| row.clip_error_rel)),
        "error_px" => number(frame.and_then(|row| row.error_px), 4),
        "memory" => number(entry.memory().map(|bytes| bytes as f64 / 1e6), 2),
        "visible" => match last.and_then(|row| row.visible) {
            Some(visible) => Value::Count(visible),
            None => Value::words("all"),
        },
        "draws" => count(frame.and_then(|row| row.draws)),
        "dispatches" => count(frame.and_then(|row| row.dispatches)),
        _ => time_or_ratio(word, entry, all),
    }
}

fn time_or_ratio(word: &str, entry: &Entry, all: &[&Entry]) -> Value {
    if let Some((a, b)) = word.split_once('/') {
        let above = if is_time(a) {
            time(a, entry)
        } else {
            least_time(b, a, all)
        };
        let below = if is_time(b) {
            time(b, entry)
        } else {
            least_time(a, b, all)
        };
        return match (above, below) {
            (Some(above), Some(below)) => Value::Number(above / below, 2),
            _ => Value::Absent,
        };
    }
    match time(word, entry) {
        None => Value::Absent,
        Some(ns) if word.contains('@') => Value::Number(ns, 2),
        // Milliseconds for every row, so that the rows of a table are easy to compare.
        Some(ns) => Value::Number(ns / 1e6, if ns < 1e7 { 2 } else { 1 }),
    }
}

/// The least time of the backends that a pattern matches.
fn least_time(word: &str, pattern: &str, entries: &[&Entry]) -> Option<f64> {
    let pattern = WildMatch::new(pattern);
    entries
        .iter()
        .filter(|entry| pattern.matches(&entry.backend))
        .filter_map(|entry| time(word, entry))
        .min_by(f64::total_cmp)
}

/// A time in nanoseconds, or in nanoseconds per joint or vertex.
fn time(word: &str, entry: &Entry) -> Option<f64> {
    let (name, unit) = word.split_once('@').unwrap_or((word, ""));
    let ns = match name {
        "pose" => entry.total(StageGroup::Pose)?,
        "skin" => entry.total(StageGroup::Skin)?,
        "processor" => entry.processor()?,
        "other" => entry.other()?,
        _ => {
            let stage = Stage::try_from(name.to_owned()).ok()?;
            let parts = Side::BOTH.map(|side| entry.stage_on(stage, side)?.median_ns);
            parts.into_iter().flatten().reduce(|a, b| a + b)?
        }
    };
    let row = entry.last()?;
    Some(match unit {
        "joint" => ns as f64 / row.joints as f64,
        "vertex" => ns as f64 / row.vertices as f64,
        _ => ns as f64,
    })
}
