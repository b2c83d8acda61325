//! The terminal table of a scene, and the verdict under it.

use super::Screen;
use super::columns::{self, Column, Place, fitted};
use super::findings::{drawn, fastest};
use super::units::{duration, grouped};
use crate::frame::{AdapterSummary, Side, Stage, StageGroup};
use crate::harness::environment::Environment;
use crate::harness::{DeviceLimits, Floor, Host, MachineLimits, Outcome, Status, TAIL_SAMPLES};
use crate::results::{
    MeasuredScene, Measurement, Point, Quantity, Recorded, Study, StudyEntry, ranking,
};
use crate::scene::BuiltScene;
use crate::wording::{counted, counted_as};
use indexmap::IndexMap;

/// Columns of the table of a run.
const COLUMNS: [Column<StudyEntry>; 16] = [
    Column::words("backend", |entry| Some(entry.backend.clone())),
    Column::figures("frame", Place::Stays, frame),
    Column::figures("p99", Place::Leaves(3), |entry| {
        entry.frame()?.p99_ns.map(duration)
    }),
    Column::figures("worst", Place::Leaves(4), |entry| {
        entry.frame()?.max_ns.map(duration)
    }),
    Column::figures("pose", Place::Stays, |entry| {
        entry.total(StageGroup::Pose).map(duration)
    }),
    Column::figures("pose %", Place::Leaves(1), |entry| {
        percent_of_limit(entry, StageGroup::Pose)
    }),
    Column::figures("upload", Place::Leaves(7), |entry| {
        both_sides(entry, StageGroup::Upload)
    }),
    Column::figures("skin", Place::Stays, |entry| {
        if skins_in_draw(entry) {
            Some("in draw".into())
        } else {
            entry.total(StageGroup::Skin).map(duration)
        }
    }),
    Column::figures("skin %", Place::Leaves(5), |entry| {
        percent_of_limit(entry, StageGroup::Skin)
    }),
    Column::figures("draw", Place::Leaves(8), |entry| {
        entry.total(StageGroup::Draw).map(duration)
    }),
    Column::figures("gameplay", Place::Leaves(9), |entry| {
        both_sides(entry, StageGroup::Gameplay)
    }),
    Column::figures("other", Place::Leaves(5), |entry| {
        entry.other().map(duration)
    }),
    Column::figures("ns/vertex", Place::Leaves(2), nanoseconds_per_vertex),
    Column::figures("clock %", Place::Leaves(7), device_clock),
    Column::figures("parity", Place::Leaves(6), |entry| {
        Some(format!("{:.1e}", entry.last()?.row.parity_max_rel?))
    }),
    Column::words("status", status),
];

/// The median of the frame, and the median deviation from it in percent.
fn frame(entry: &StudyEntry) -> Option<String> {
    let row = &entry.stage(Stage::Frame)?.row;
    let median = row.median_ns?;
    let deviation = match row.mad_ns {
        Some(mad) => format!(" ± {:.0} %", 100.0 * mad as f64 / median.max(1) as f64),
        None => String::new(),
    };
    Some(duration(median) + &deviation)
}

/// Median of the device's clock in percent of its best, and the least if that is lower.
pub(super) fn device_clock(entry: &StudyEntry) -> Option<String> {
    let row = entry.frame()?;
    let median = format!("{:.0}", row.device_clock_pct?);
    let least = format!("{:.0}", row.device_clock_min_pct?);
    Some(if least == median {
        median
    } else {
        format!("{median} (least {least})")
    })
}

fn nanoseconds_per_vertex(entry: &StudyEntry) -> Option<String> {
    if entry.leaves_out() {
        return None;
    }
    let vertices = entry.last()?.row.vertices;
    let work = entry.time(Quantity::Work)?;
    Some(format!("{:.2}", work as f64 / vertices as f64))
}

/// The status of a backend, which side of its frames is noisy, if only one is, and whether the device's clock was unsteady.
fn status(entry: &StudyEntry) -> Option<String> {
    let mut status = entry.last()?.row.status.name().to_owned();
    match entry.noisy_sides()[..] {
        [] => {}
        [side] => status += &format!(", noisy {}", side.name()),
        _ => status += ", noisy",
    }
    if is_unsteady(entry) {
        status += ", unsteady";
    }
    Some(status)
}

/// Table of a scene's measurements: a heading, one row per backend, and remarks. Figures are those of the rows of
/// `summary.csv`.
pub fn measured(measured: &MeasuredScene, outcomes: &[Outcome], screen: Screen) -> String {
    let &MeasuredScene {
        environment,
        scene,
        clip_error,
    } = measured;
    let study = study_of(measured, outcomes);
    let table = fitted(&COLUMNS, &study.entries.iter().collect::<Vec<_>>(), screen);
    let mut text = format!(
        "{}\n\n{}\n{}{}",
        heading(environment, scene, outcomes),
        table.text,
        problems(outcomes),
        devices(scene, outcomes)
    );
    text += &levels(scene);
    if let Some(error) = clip_error
        && let Some(first) = study.rows.first()
    {
        let options = first.row.options.as_deref().unwrap_or_default();
        text += &format!(
            "{options}: joints' ends are off by up to {error:.1e} of the skeleton's size\n"
        );
    }
    if let Some(empty) = environment.clock.empty_submission {
        let empty = duration(empty.as_nanos() as u64);
        text += &format!(
            "fenced: stages on the device are submissions of their own, less {empty} for an empty one\n"
        );
    }
    let shows_limits = ["pose %", "skin %"]
        .iter()
        .any(|heading| !table.left_out.contains(heading));
    if shows_limits && study.rows.iter().any(|m| m.row.limit.is_some()) {
        text += "%: of the memory bandwidth measured just before with as many bytes\n";
    }
    let is_timed =
        !study.machine.is_emulated && study.entries.iter().any(|entry| entry.device().is_some());
    if is_timed && !table.left_out.contains(&"upload") {
        text += "upload: opening staging memory (for CPU backends: writing it) + copying it\n";
    }
    if is_timed && !table.left_out.contains(&"other") {
        text += "other: the frame less its stages (submitting, gaps, waiting for the device)\n";
    }
    text += &unsteady(&study);
    text += &noise_notes(&study.entries);
    let mut frames = study
        .entries
        .iter()
        .filter_map(|entry| entry.frame()?.frames);
    if frames.any(|count| count < TAIL_SAMPLES) {
        text += &format!("p99: needs {TAIL_SAMPLES} frames or more (--frames {TAIL_SAMPLES})\n");
    }
    text + &left_out(&table.left_out)
}

/// Headings, then the cells of each backend, of the table of a run.
pub fn cells(study: &Study) -> Vec<Vec<String>> {
    columns::cells(&COLUMNS, &study.entries.iter().collect::<Vec<_>>())
}

/// The columns that a screen had no room for, in a line; empty if it had room for all.
pub(super) fn left_out(headings: &[&str]) -> String {
    if headings.is_empty() {
        return String::new();
    }
    format!("--wide also shows {}\n", headings.join(", "))
}

/// How each backend ran, in lines: backends that ran alike share one.
fn devices(scene: &BuiltScene, outcomes: &[Outcome]) -> String {
    let mut backends_of: IndexMap<String, Vec<&str>> = IndexMap::new();
    for outcome in outcomes {
        if outcome.status != Status::Ok || outcome.device.is_empty() {
            continue;
        }
        let mut device = outcome.device.clone();
        if let Some(visible) = outcome.visible() {
            device += &format!(", {}", in_view(scene, visible));
        }
        backends_of.entry(device).or_default().push(outcome.name);
    }
    let mut text = String::new();
    for (device, backends) in backends_of {
        text += &format!("{}: {device}\n", backends.join(", "));
    }
    text
}

/// A backend's time of a frame, its largest error and its status, in one line.
pub fn result(outcome: &Outcome) -> String {
    let mut known = Vec::new();
    if let Some(ns) = outcome.median(Stage::Frame) {
        known.push(format!("{} per frame", duration(ns)));
    }
    if let Some(error) = outcome.parity.as_ref().and_then(|parity| parity.max_rel) {
        known.push(format!("off by {error:.1e} at most"));
    }
    known.push(outcome.status.name().into());
    known.join(", ")
}

/// The results of a scene in order, as `report` reads them from the files.
pub fn study_of(measured: &MeasuredScene, outcomes: &[Outcome]) -> Study {
    let measurements = outcomes
        .iter()
        .flat_map(|outcome| measured.measurements(outcome));
    Study::new(Recorded {
        measurements: measurements.collect(),
        ..Recorded::default()
    })
}

/// A group's times on host and device, as `3.00 ms + 85.5 µs`; a single time if one side has no part in it.
pub(super) fn both_sides(entry: &StudyEntry, group: StageGroup) -> Option<String> {
    on_both_sides(entry, group, duration)
}

/// A group's times on host and device in some format, with a plus between them.
pub(super) fn on_both_sides(
    entry: &StudyEntry,
    group: StageGroup,
    format: fn(u64) -> String,
) -> Option<String> {
    let sides = Side::BOTH.map(|side| entry.total_on(side, group));
    let times: Vec<String> = sides.into_iter().flatten().map(format).collect();
    (!times.is_empty()).then(|| times.join(" + "))
}

/// What makes rows noisy and what helps, a line for each side; empty if none is.
fn noise_notes(entries: &[StudyEntry]) -> String {
    let mut text = String::new();
    for side in Side::BOTH {
        let mut noisy = entries.iter().map(StudyEntry::noisy_sides);
        if noisy.any(|sides| sides.contains(&side)) {
            text += match side {
                Side::Host => {
                    "noisy host: its part deviates by more than 5 % of the frame; close other programs\n"
                }
                Side::Device => {
                    "noisy device: its stages deviate by more than 5 %; close what uses the device\n"
                }
            };
        }
    }
    text
}

/// Peak rates of the machine just before a scene: one line per thread count, and those of the device.
pub fn limits(limits: &MachineLimits) -> String {
    let mut text = String::new();
    for host in &limits.hosts {
        let bandwidth = host.bandwidth;
        text += &format!(
            "limits, {}: {} GB/s written, {} streamed, {} read ({}); {} G multiply-adds/s\n",
            counted(host.threads as u64, "thread"),
            giga(bandwidth.write),
            giga(bandwidth.stream),
            giga(bandwidth.read),
            mebibytes(Host::BYTES),
            giga(host.fma),
        );
    }
    let Some(DeviceLimits { memory, upload }) = limits.device else {
        return text;
    };
    text += &format!(
        "limits, device: {} GB/s written, {} read, {} read and written by copying ({})\n",
        giga(memory.write as f64),
        giga(memory.read as f64),
        giga(memory.copy as f64),
        mebibytes(memory.bytes),
    );
    text += &format!(
        "limits, upload: {} GB/s staged by 1 thread, {} by {}; {} copied ({})\n",
        giga(upload.write_by_one as f64),
        giga(upload.write_by_all as f64),
        counted(upload.threads as u64, "thread"),
        giga(upload.copy as f64),
        mebibytes(upload.bytes),
    );
    text
}

fn giga(rate: f64) -> String {
    format!("{:.1}", rate / 1e9)
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

/// Columns of the table of a verification.
const VERIFIED: [Column<Outcome>; 5] = [
    Column::words("backend", |outcome| Some(outcome.name.into())),
    Column::figures("position", Place::Stays, |outcome| {
        Some(format!("{:.1e}", outcome.parity.as_ref()?.max_rel?))
    }),
    Column::figures("normal", Place::Leaves(2), |outcome| {
        Some(format!("{:.1e} rad", outcome.parity.as_ref()?.max_normal?))
    }),
    Column::figures("vertices", Place::Leaves(1), |outcome| {
        let vertices = outcome.parity.as_ref()?.vertices;
        (vertices > 0).then(|| grouped(vertices))
    }),
    Column::words("status", |outcome| Some(outcome.status.name().into())),
];

/// Table of a scene's verification: a heading, one row per backend, and the reasons why some failed.
pub fn verified(scene: &BuiltScene, outcomes: &[Outcome], screen: Screen) -> String {
    let table = fitted(&VERIFIED, &outcomes.iter().collect::<Vec<_>>(), screen);
    let instances = counted(scene.crowd.instance_count() as u64, "instance");
    let mut notes = problems(outcomes) + &left_out(&table.left_out);
    for outcome in outcomes {
        if let Some(visible) = outcome.visible() {
            notes += &format!("{}: {}\n", outcome.name, in_view(scene, visible));
        }
    }
    if !notes.is_empty() {
        notes.insert(0, '\n');
    }
    format!("{}: {instances}\n\n{}{notes}", scene.name, table.text)
}

/// The levels of a scene's instances and their error, in one line; empty without levels.
fn levels(scene: &BuiltScene) -> String {
    let Some(levels) = scene.levels else {
        return String::new();
    };
    let counts = levels.counts.map(|count| grouped(count as u64));
    let last = counts.len() - 1;
    format!(
        "lod=mesh: {} instances at levels 0 to {last}; meshes off by up to {:.1} pixels ({:.1} % of the diagonal) at \
         rest\n",
        counts.join(", "),
        levels.error_px,
        100.0 * levels.error
    )
}

fn in_view(scene: &BuiltScene, visible: u64) -> String {
    format!(
        "{} of {} instances in view",
        grouped(visible),
        grouped(scene.crowd.instance_count() as u64)
    )
}

fn problems(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        if let Some(problem) = &outcome.problem {
            let status = outcome.status.name();
            text += &format!("{}: {status}: {problem}\n", outcome.name);
        }
    }
    text
}

fn heading(environment: &Environment, scene: &BuiltScene, outcomes: &[Outcome]) -> String {
    let crowd = &scene.crowd;
    let [width, height] = scene.resolution;
    let passes = match outcomes.iter().map(|o| o.passes).max().unwrap_or(0) {
        0 => drawn(0),
        passes => format!("{} of {width}x{height}", drawn(passes)),
    };
    let adapter = environment.adapter.as_ref();
    format!(
        "{}: {}, {}, {}, {passes}\n{}, {}; {}",
        scene.name,
        counted(crowd.instance_count() as u64, "instance"),
        counted_as(crowd.vertex_count(), "vertex", "vertices"),
        counted(crowd.joint_count(), "joint"),
        environment.cpu,
        counted(environment.threads as u64, "thread"),
        adapter.map_or("no adapter".into(), AdapterSummary::label)
    )
}

/// The fastest backend at a point, a sentence per fact; empty if there is no time.
pub fn verdict(study: &Study, point: &Point) -> Vec<String> {
    let Some(ranking) = ranking(study, point) else {
        if study.at(point).any(is_unsteady) {
            return vec!["No verdict: the device's clock was unsteady.".into()];
        }
        return Vec::new();
    };
    let mut facts = fastest(&ranking);
    if ranking.quantity == Quantity::Work {
        facts.push("A CPU emulates the adapter, and drawing dominates: it is left out.".into());
        let hidden: Vec<&str> = study
            .at(point)
            .filter(|entry| skins_in_draw(entry))
            .map(|entry| entry.backend.as_str())
            .collect();
        if !hidden.is_empty() {
            facts.push(format!(
                "Not ranked, as they skin while drawing: {}.",
                hidden.join(", ")
            ));
        }
    }
    facts
}

fn is_unsteady(entry: &StudyEntry) -> bool {
    Quantity::ALL
        .iter()
        .any(|quantity| entry.is_unsteady(*quantity))
}

/// The note on rows that were measured while the device's clock fell, in one line; empty if there is none.
fn unsteady(study: &Study) -> String {
    let entries = study.entries.iter().filter(|entry| is_unsteady(entry));
    let rows = entries.flat_map(|entry| entry.runs.iter().flatten());
    let least = rows
        .filter_map(|measurement| measurement.row.device_clock_min_pct)
        .reduce(f64::min);
    least.map_or(String::new(), |least| {
        format!(
            "unsteady: the device's clock fell to {least:.0} % of its best; no part in the verdict\n"
        )
    })
}

/// Percentage of the machine's bandwidth that some stages reach together; a stage without a limit moves nothing.
fn percent_of_limit(entry: &StudyEntry, group: StageGroup) -> Option<String> {
    let mut floor = None;
    let mut took = 0;
    for Measurement { row, .. } in entry.stages(group) {
        if let (Some(bytes), Some(limit)) = (row.bytes, row.limit) {
            *floor.get_or_insert(0.0) += Floor { bytes, limit }.ns();
        }
        took += row.median_ns.unwrap_or(0);
    }
    let floor = floor?;
    (took > 0).then(|| format!("{:.0}", 100.0 * floor / took as f64))
}

fn skins_in_draw(entry: &StudyEntry) -> bool {
    entry.is_ok() && entry.point.passes > 0 && entry.total(StageGroup::Skin).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(duration(999), "999 ns");
        assert_eq!(duration(1_234), "1.23 µs");
        assert_eq!(duration(12_340_000), "12.3 ms");
        assert_eq!(duration(123_400_000), "123 ms");
        assert_eq!(duration(2_000_000_000), "2.00 s");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(12), "12");
    }
}
