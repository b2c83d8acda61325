//! The terminal table of a scene, and the verdict under it.

use super::findings::{drawn, fastest};
use super::units::{duration, grouped};
use crate::frame::{AdapterSummary, Side, Stage, StageGroup};
use crate::harness::environment::Environment;
use crate::harness::{Floor, Host, Outcome, Parity, Status, TAIL_SAMPLES, lod_error};
use crate::results::{
    MeasuredScene, Measurement, Point, Quantity, Recorded, Study, StudyEntry, ranking,
};
use crate::scene::BuiltScene;
use comfy_table::{CellAlignment, ContentArrangement, Row, Table, presets::UTF8_BORDERS_ONLY};

/// Index of the column of what gameplay reads, which a table has only where something is read.
const GAMEPLAY: usize = 8;

/// An empty table with these columns: the first left-aligned, the others right-aligned.
pub fn new_table(columns: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table
        .load_style(UTF8_BORDERS_ONLY)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(columns);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Table of a scene's measurements: a heading, one row per backend, the reasons why some are missing, and the fastest.
/// Figures are those of the rows of `summary.csv`.
pub fn measured(measured: &MeasuredScene, outcomes: &[Outcome]) -> String {
    let &MeasuredScene {
        environment,
        scene,
        clip_error,
    } = measured;
    let study = study_of(measured, outcomes);
    let mut columns = vec![
        "backend",
        "frame",
        "p99",
        "worst",
        "pose",
        "upload",
        "skin",
        "draw",
        "gameplay",
        "other",
        "ns/vertex",
        "parity",
        "status",
    ];
    let mut rows: Vec<Vec<String>> = study.entries.iter().map(|e| cells(e).into()).collect();
    if !rows.iter().any(|row| row[GAMEPLAY] != "-") {
        columns.remove(GAMEPLAY);
        for row in &mut rows {
            row.remove(GAMEPLAY);
        }
    }
    let mut table = new_table(columns);
    table.add_rows(rows);
    let mut text = format!(
        "{}\n{table}\n{}",
        heading(environment, scene, outcomes),
        problems(outcomes)
    );
    for outcome in outcomes
        .iter()
        .filter(|o| o.status == Status::Ok && !o.device.is_empty())
    {
        let visible = outcome.visible().map_or(String::new(), |visible| {
            format!(", {}", in_view(scene, visible))
        });
        text += &format!("{}: {}{visible}\n", outcome.name, outcome.device);
    }
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
    if rows().any(|row| row.limit.is_some()) {
        text += "(%): of the bandwidth that this machine reached with as many bytes just before\n";
    }
    let on_hardware = !study.machine.is_emulated();
    if on_hardware && study.entries.iter().any(|entry| entry.device().is_some()) {
        text += "upload: writing staging memory + copying on the device; other: the frame less its stages, which is \
                 submitting, gaps on the device and waiting for its end\n";
    }
    text += &noise_notes(&study.entries);
    let few = |entry: &&StudyEntry| {
        entry
            .frame()
            .and_then(|row| row.frames)
            .is_some_and(|count| count < TAIL_SAMPLES)
    };
    let few: Vec<&str> = study
        .entries
        .iter()
        .filter(few)
        .map(|entry| entry.backend.as_str())
        .collect();
    if !few.is_empty() {
        text += &format!(
            "p99: needs {TAIL_SAMPLES} frames or more (--frames {TAIL_SAMPLES}); fewer: {}\n",
            few.join(", ")
        );
    }
    text + &verdicts(&study)
}

/// The verdict at each point of a scene, in lines.
pub fn verdicts(study: &Study) -> String {
    study
        .points
        .iter()
        .map(|point| verdict(study, point))
        .collect()
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

/// The columns of a backend in the table.
fn cells(entry: &StudyEntry) -> [String; 13] {
    let cell = |ns: Option<u64>| ns.map_or("-".into(), duration);
    let limited = |group: StageGroup| match percent_of_limit(entry, group) {
        Some(percent) => format!("{} ({percent:.0} %)", cell(entry.total(group))),
        None => cell(entry.total(group)),
    };
    let row = entry.last().map(|m| &m.row);
    let frame = entry.stage(Stage::Frame).map(|m| &m.row);
    let per_vertex = entry
        .time(Quantity::Work)
        .zip(row)
        .filter(|_| !entry.leaves_out());
    [
        entry.backend.clone(),
        frame.map_or("-".into(), |row| {
            format!("{} ± {}", cell(row.median_ns), cell(row.mad_ns))
        }),
        cell(frame.and_then(|row| row.p99_ns)),
        cell(frame.and_then(|row| row.max_ns)),
        limited(StageGroup::Pose),
        parts(entry, StageGroup::Upload).unwrap_or("-".into()),
        if skins_in_draw(entry) {
            "in draw".into()
        } else {
            limited(StageGroup::Skin)
        },
        cell(entry.total(StageGroup::Draw)),
        parts(entry, StageGroup::Gameplay).unwrap_or("-".into()),
        cell(entry.other()),
        per_vertex.map_or("-".into(), |(ns, row)| {
            format!("{:.2}", ns as f64 / row.vertices as f64)
        }),
        row.and_then(|row| row.parity_max_rel)
            .map_or("-".into(), |error| format!("{error:.1e}")),
        status(entry),
    ]
}

/// A group's times on host and device, as `3.00 ms + 85.5 µs`; a single time if one side has no part in it.
pub(super) fn parts(entry: &StudyEntry, group: StageGroup) -> Option<String> {
    let times = Side::BOTH
        .into_iter()
        .filter_map(|side| entry.total_on(side, group));
    let times: Vec<String> = times.map(duration).collect();
    (!times.is_empty()).then(|| times.join(" + "))
}

/// The status of a backend, and which sides of its frames are noisy.
fn status(entry: &StudyEntry) -> String {
    let name = entry.last().map_or("-", |m| m.row.status.name());
    let noisy = entry.noisy_sides().into_iter().map(Side::name);
    match noisy.collect::<Vec<_>>().join(" + ") {
        sides if sides.is_empty() => name.into(),
        sides => format!("{name}, noisy {sides}"),
    }
}

/// What makes rows noisy and what helps, a line for each side; empty if none is.
fn noise_notes(entries: &[StudyEntry]) -> String {
    let mut text = String::new();
    for side in Side::BOTH {
        let is_noisy = |entry: &StudyEntry| entry.noisy_sides().contains(&side);
        if entries.iter().any(is_noisy) {
            text += match side {
                Side::Host => {
                    "noisy host: the processor's part deviates by more than 5 % of the frame; close other programs and run again\n"
                }
                Side::Device => {
                    "noisy device: its stages deviate by more than 5 % of their time; close what uses the device and run again\n"
                }
            };
        }
    }
    text
}

/// Peak rates of the processor just before a scene, one line per thread count.
pub fn limits(hosts: &[Host]) -> String {
    let line = |host: &Host| {
        let Host {
            threads,
            bandwidth,
            fma,
            ..
        } = *host;
        let [write, stream, read, fma] = [bandwidth.write, bandwidth.stream, bandwidth.read, fma]
            .map(|rate| format!("{:.1}", rate / 1e9));
        let (plural, size) = (if threads == 1 { "" } else { "s" }, Host::BYTES >> 20);
        let rates = format!(
            "{write} GB/s written, {stream} streamed, {read} read ({size} MiB); {fma} G multiply-adds/s"
        );
        format!("limits, {threads} thread{plural}: {rates}\n")
    };
    hosts.iter().map(line).collect()
}

/// Table of a scene's verification: a heading, one row per backend, and the reasons why some failed.
pub fn verified(scene: &BuiltScene, outcomes: &[Outcome]) -> String {
    let mut table = new_table(["backend", "position", "normal", "vertices", "status"]);
    for outcome in outcomes {
        let cell =
            |figure: fn(&Parity) -> String| outcome.parity.as_ref().map_or("-".into(), figure);
        table.add_row([
            outcome.name.into(),
            cell(|p| format!("{:.1e}", p.max_rel)),
            cell(|p| format!("{:.1e} rad", p.max_normal)),
            cell(|p| grouped(p.vertices)),
            outcome.status.name().into(),
        ]);
    }
    let instances = grouped(scene.crowd.instance_count() as u64);
    let mut text = format!(
        "{}: {instances} instances\n{table}\n{}",
        scene.name,
        problems(outcomes)
    );
    for (outcome, visible) in outcomes
        .iter()
        .filter_map(|outcome| Some((outcome, outcome.visible()?)))
    {
        text += &format!("{}: {}\n", outcome.name, in_view(scene, visible));
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
    let counts = [
        crowd.instance_count() as u64,
        crowd.vertex_count(),
        crowd.joint_count(),
    ];
    let [instances, vertices, joints] = counts.map(grouped);
    let Environment { cpu, threads, .. } = environment;
    let crowd = format!(
        "{}: {instances} instances, {vertices} vertices, {joints} joints",
        scene.name
    );
    format!("{crowd}, {passes}\n{cpu}, {threads} threads; {adapter}")
}

/// The fastest backend at a point, in lines; empty if there is no time.
fn verdict(study: &Study, point: &Point) -> String {
    let Some(ranking) = ranking(study, point) else {
        return String::new();
    };
    let mut text = format!("{}\n", fastest(&ranking));
    if ranking.quantity == Quantity::Work {
        text += "the adapter is CPU-emulated: drawing dominates its frames, so the verdict leaves out drawing";
        let hidden: Vec<_> = study
            .at(point)
            .filter(|e| skins_in_draw(e))
            .map(|e| e.backend.as_str())
            .collect();
        if !hidden.is_empty() {
            text += &format!(" and what skins in it: {}", hidden.join(", "));
        }
        text += "\n";
    }
    text
}

/// Percentage of the machine's bandwidth that some stages reach together; a stage without a limit moves nothing.
fn percent_of_limit(entry: &StudyEntry, group: StageGroup) -> Option<f64> {
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
    (took > 0).then(|| 100.0 * floor / took as f64)
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
