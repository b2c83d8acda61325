//! The terminal table of a scene, and the verdict under it.

use super::Screen;
use super::columns::{self, Align, Column, Place, fitted};
use super::findings::{drawn, fastest};
use super::units::{duration, grouped};
use crate::frame::{AdapterSummary, Side, Stage, StageGroup};
use crate::harness::environment::Environment;
use crate::harness::{
    DeviceLimits, Floor, Host, MachineLimits, Outcome, Status, TAIL_SAMPLES, lod_error,
};
use crate::results::{
    MeasuredScene, Measurement, Point, Quantity, Recorded, Study, StudyEntry, ranking,
};
use crate::scene::BuiltScene;
use crate::wording::{counted, counted_as};
use indexmap::IndexMap;

/// Columns of the table of a run.
const COLUMNS: [Column<StudyEntry>; 16] = [
    Column {
        heading: "backend",
        place: Place::Stays,
        align: Align::Left,
        cell: |entry| Some(entry.backend.clone()),
    },
    Column {
        heading: "frame",
        place: Place::Stays,
        align: Align::Right,
        cell: frame,
    },
    Column {
        heading: "p99",
        place: Place::Leaves(3),
        align: Align::Right,
        cell: |entry| entry.frame()?.p99_ns.map(duration),
    },
    Column {
        heading: "worst",
        place: Place::Leaves(4),
        align: Align::Right,
        cell: |entry| entry.frame()?.max_ns.map(duration),
    },
    Column {
        heading: "pose",
        place: Place::Stays,
        align: Align::Right,
        cell: |entry| entry.total(StageGroup::Pose).map(duration),
    },
    Column {
        heading: "pose %",
        place: Place::Leaves(1),
        align: Align::Right,
        cell: |entry| percent_of_limit(entry, StageGroup::Pose),
    },
    Column {
        heading: "upload",
        place: Place::Leaves(7),
        align: Align::Right,
        cell: |entry| parts(entry, StageGroup::Upload),
    },
    Column {
        heading: "skin",
        place: Place::Stays,
        align: Align::Right,
        cell: |entry| match skins_in_draw(entry) {
            true => Some("in draw".into()),
            false => entry.total(StageGroup::Skin).map(duration),
        },
    },
    Column {
        heading: "skin %",
        place: Place::Leaves(5),
        align: Align::Right,
        cell: |entry| percent_of_limit(entry, StageGroup::Skin),
    },
    Column {
        heading: "draw",
        place: Place::Leaves(8),
        align: Align::Right,
        cell: |entry| entry.total(StageGroup::Draw).map(duration),
    },
    Column {
        heading: "gameplay",
        place: Place::Leaves(9),
        align: Align::Right,
        cell: |entry| parts(entry, StageGroup::Gameplay),
    },
    Column {
        heading: "other",
        place: Place::Leaves(5),
        align: Align::Right,
        cell: |entry| entry.other().map(duration),
    },
    Column {
        heading: "ns/vertex",
        place: Place::Leaves(2),
        align: Align::Right,
        cell: nanoseconds_per_vertex,
    },
    Column {
        heading: "clock %",
        place: Place::Leaves(7),
        align: Align::Right,
        cell: device_clock,
    },
    Column {
        heading: "parity",
        place: Place::Leaves(6),
        align: Align::Right,
        cell: |entry| Some(format!("{:.1e}", entry.last()?.row.parity_max_rel?)),
    },
    Column {
        heading: "status",
        place: Place::Stays,
        align: Align::Left,
        cell: status,
    },
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
    let rows = || study.rows.iter().map(|m| &m.row);
    if let Some((error, row)) = clip_error.zip(rows().next()) {
        let options = row.options.as_deref().unwrap_or_default();
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
    if shows_limits && rows().any(|row| row.limit.is_some()) {
        text += "%: of the memory bandwidth measured just before with as many bytes\n";
    }
    let on_hardware = !study.machine.is_emulated();
    let has_device = study.entries.iter().any(|entry| entry.device().is_some());
    let shown = |heading: &str| on_hardware && has_device && !table.left_out.contains(&heading);
    if shown("upload") {
        text += "upload: writing staging memory + copying on the device\n";
    }
    if shown("other") {
        text += "other: the frame less its stages (submitting, gaps, waiting for the device)\n";
    }
    text += &unsteady(&study);
    text += &noise_notes(&study.entries);
    let has_few_frames = |entry: &StudyEntry| {
        let frames = entry.frame().and_then(|row| row.frames);
        frames.is_some_and(|count| count < TAIL_SAMPLES)
    };
    if study.entries.iter().any(has_few_frames) {
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
    let frame = outcome
        .median(Stage::Frame)
        .map(|ns| format!("{} per frame", duration(ns)));
    let error = outcome
        .parity
        .as_ref()
        .map(|parity| format!("off by {:.1e} at most", parity.max_rel));
    let known: Vec<String> = frame
        .into_iter()
        .chain(error)
        .chain([outcome.status.name().into()])
        .collect();
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

/// `1 thread`, `2 threads`.
pub(super) fn counted_threads(threads: usize) -> String {
    let plural = if threads == 1 { "" } else { "s" };
    format!("{threads} thread{plural}")
}

/// A group's times on host and device, as `3.00 ms + 85.5 µs`; a single time if one side has no part in it.
pub(super) fn parts(entry: &StudyEntry, group: StageGroup) -> Option<String> {
    let times = Side::BOTH
        .into_iter()
        .filter_map(|side| entry.total_on(side, group));
    let times: Vec<String> = times.map(duration).collect();
    (!times.is_empty()).then(|| times.join(" + "))
}

/// What makes rows noisy and what helps, a line for each side; empty if none is.
fn noise_notes(entries: &[StudyEntry]) -> String {
    let mut text = String::new();
    for side in Side::BOTH {
        let is_noisy = |entry: &StudyEntry| entry.noisy_sides().contains(&side);
        if entries.iter().any(is_noisy) {
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
            counted_threads(host.threads),
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
        counted_threads(upload.threads),
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
    Column {
        heading: "backend",
        place: Place::Stays,
        align: Align::Left,
        cell: |outcome| Some(outcome.name.into()),
    },
    Column {
        heading: "position",
        place: Place::Stays,
        align: Align::Right,
        cell: |outcome| Some(format!("{:.1e}", outcome.parity.as_ref()?.max_rel)),
    },
    Column {
        heading: "normal",
        place: Place::Leaves(2),
        align: Align::Right,
        cell: |outcome| Some(format!("{:.1e} rad", outcome.parity.as_ref()?.max_normal)),
    },
    Column {
        heading: "vertices",
        place: Place::Leaves(1),
        align: Align::Right,
        cell: |outcome| Some(grouped(outcome.parity.as_ref()?.vertices)),
    },
    Column {
        heading: "status",
        place: Place::Stays,
        align: Align::Left,
        cell: |outcome| Some(outcome.status.name().into()),
    },
];

/// Table of a scene's verification: a heading, one row per backend, and the reasons why some failed.
pub fn verified(scene: &BuiltScene, outcomes: &[Outcome], screen: Screen) -> String {
    let table = fitted(&VERIFIED, &outcomes.iter().collect::<Vec<_>>(), screen);
    let instances = counted(scene.crowd.instance_count() as u64, "instance");
    let mut text = format!(
        "{}: {instances}\n\n{}\n{}{}",
        scene.name,
        table.text,
        problems(outcomes),
        left_out(&table.left_out)
    );
    for outcome in outcomes {
        if let Some(visible) = outcome.visible() {
            text += &format!("{}: {}\n", outcome.name, in_view(scene, visible));
        }
    }
    text
}

/// The levels of a scene's instances and their error, in one line; empty without levels.
fn levels(scene: &BuiltScene) -> String {
    let (Some(levels), Some(error)) = (&scene.levels, lod_error::of_scene(scene)) else {
        return String::new();
    };
    let (lod, counts) = (
        scene.settings.lod.unwrap_or_default().name(),
        levels.counts.map(|count| grouped(count as u64)),
    );
    let (counts, last) = (counts.join(", "), levels.counts.len() - 1);
    let off = format!(
        "{:.1} pixels ({:.1} % of the diagonal)",
        error.pixels,
        100.0 * error.relative
    );
    format!(
        "lod={lod}: {counts} instances at levels 0 to {last}; vertices up to {off} from the full characters\n"
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
    let line = |o: &Outcome| {
        Some(format!(
            "{}: {}: {}\n",
            o.name,
            o.status.name(),
            o.problem.as_ref()?
        ))
    };
    outcomes.iter().filter_map(line).collect()
}

fn heading(environment: &Environment, scene: &BuiltScene, outcomes: &[Outcome]) -> String {
    let crowd = &scene.crowd;
    let [width, height] = scene.resolution;
    let passes = match outcomes.iter().map(|o| o.passes).max().unwrap_or(0) {
        0 => drawn(0),
        passes => format!("{} of {width}x{height}", drawn(passes)),
    };
    let adapter = environment
        .adapter
        .as_ref()
        .map_or("no adapter".into(), AdapterSummary::label);
    let instances = counted(crowd.instance_count() as u64, "instance");
    let vertices = counted_as(crowd.vertex_count(), "vertex", "vertices");
    let joints = counted(crowd.joint_count(), "joint");
    let Environment { cpu, threads, .. } = environment;
    let crowd = format!("{}: {instances}, {vertices}, {joints}", scene.name);
    let threads = counted_threads(*threads);
    format!("{crowd}, {passes}\n{cpu}, {threads}; {adapter}")
}

/// The fastest backend at a point, a sentence per fact; empty if there is no time.
pub fn verdict(study: &Study, point: &Point) -> Vec<String> {
    let Some(ranking) = ranking(study, point) else {
        let is_withheld = study.at(point).any(is_unsteady);
        return if is_withheld {
            vec!["No verdict: the device's clock was unsteady.".into()]
        } else {
            Vec::new()
        };
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
    let floor = |m: &Measurement| {
        Some(
            Floor {
                bytes: m.row.bytes?,
                limit: m.row.limit?,
            }
            .ns(),
        )
    };
    let floor = entry.stages(group).filter_map(floor).reduce(|a, b| a + b)?;
    let took: u64 = entry.stages(group).filter_map(|m| m.row.median_ns).sum();
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
