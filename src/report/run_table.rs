//! The tables of a run and of a verification, and the lines below them.

use super::findings::conditions_of_times;
use super::places::drawn;
use super::remark::Remark;
use super::table::{Column, Priority, Table, Value, left_out, magnitude, number, time};
use super::{Screen, findings};
use crate::frame::{AdapterSummary, Stage, StageGroup};
use crate::harness::environment::Environment;
use crate::harness::{DeviceLimits, Floor, MachineLimits, Outcome, Status};
use crate::results::{Entry, MeasuredScene, Point, Quantity, Recorded, Study};
use crate::scene::BuiltScene;
use crate::wording::{counted, counted_as, duration, grouped};
use indexmap::IndexMap;

/// Columns of the table of a run.
const COLUMNS: [Column<Entry>; 17] = [
    Column::new("backend", |entry| Value::words(&entry.backend)),
    Column::optional("work", 10, |entry| time(entry.time(Quantity::Work))),
    Column::new("frame", frame),
    Column::optional("p99", 3, |entry| {
        time(entry.frame().and_then(|row| row.p99_ns))
    }),
    Column::optional("worst", 4, |entry| {
        time(entry.frame().and_then(|row| row.max_ns))
    }),
    Column::new("pose", |entry| time(entry.total(StageGroup::Pose))),
    Column::optional("pose %", 1, |entry| {
        percent_of_limit(entry, StageGroup::Pose)
    }),
    Column::optional("upload", 8, |entry| time(entry.total(StageGroup::Upload))),
    Column::new("skin", |entry| {
        if entry.skins_in_draw() {
            Value::words("in draw")
        } else {
            time(entry.total(StageGroup::Skin))
        }
    }),
    Column::optional("skin %", 5, |entry| {
        percent_of_limit(entry, StageGroup::Skin)
    }),
    Column::optional("draw", 0, |entry| time(entry.total(StageGroup::Draw))),
    Column::optional("gameplay", 9, |entry| {
        time(entry.total(StageGroup::Gameplay))
    }),
    Column::optional("other", 5, |entry| time(entry.other())),
    Column::optional("ns/vertex", 2, nanoseconds_per_vertex),
    Column::optional("clock %", 7, |entry| {
        number(entry.frame().and_then(|row| row.device_clock_pct), 0)
    }),
    Column::optional("parity", 6, |entry| {
        magnitude(entry.last().and_then(|row| row.parity_max_rel))
    }),
    Column::new("status", |entry| Value::words(status(entry))),
];

/// The median of the frame, and the median deviation from it.
fn frame(entry: &Entry) -> Value {
    let Some(row) = entry.frame() else {
        return Value::Absent;
    };
    match (row.median_ns, row.mad_ns) {
        (Some(median), Some(mad)) => Value::Spread(median, mad),
        (median, _) => time(median),
    }
}

fn nanoseconds_per_vertex(entry: &Entry) -> Value {
    let (Some(work), Some(row)) = (entry.time(Quantity::Work), entry.last()) else {
        return Value::Absent;
    };
    if entry.leaves_out() {
        return Value::Absent;
    }
    Value::Number(work as f64 / row.vertices as f64, 2)
}

/// The status of a backend, which side of its frames is noisy, if only one is, and whether the device's clock was unsteady.
fn status(entry: &Entry) -> String {
    let mut status = entry.last().map_or("", |row| row.status.name()).to_owned();
    match entry.noisy_sides()[..] {
        [] => {}
        [side] => status += &format!(", noisy {}", side.name()),
        _ => status += ", noisy",
    }
    if findings::is_unsteady(entry) {
        status += ", unsteady";
    }
    status
}

/// Percentage of the machine's bandwidth that some stages reach together; a stage without a limit moves nothing.
fn percent_of_limit(entry: &Entry, group: StageGroup) -> Value {
    let mut floor = None;
    let mut took = 0;
    for row in entry.stages(group) {
        if let (Some(bytes), Some(limit)) = (row.moved_bytes, row.limit_bytes_per_s) {
            *floor.get_or_insert(0.0) += Floor { bytes, limit }.ns();
        }
        took += row.median_ns.unwrap_or(0);
    }
    match floor {
        Some(floor) if took > 0 => Value::Number(100.0 * floor / took as f64, 0),
        _ => Value::Absent,
    }
}

/// The table of the backends at a point, the fastest first.
pub fn table(study: &Study, point: &Point) -> Table {
    let mut table = Table::of(&COLUMNS, study.ranked(point));
    match study.quantity(point.passes) {
        Quantity::Frame => table.leave_out("work"),
        Quantity::Work => {
            // What ranks stays on the screen, and what says little leaves it first.
            table.prioritise("work", Priority::Stays);
            table.prioritise("frame", Priority::DropsAfter(0));
        }
    }
    table
}

/// The results of a scene in order, as `report` reads them from the files.
pub fn study_of(measured: &MeasuredScene, outcomes: &[Outcome]) -> Study {
    let rows = outcomes.iter().flat_map(|outcome| measured.rows(outcome));
    Study::new(Recorded {
        rows: rows.collect(),
        ..Recorded::default()
    })
}

/// The text about a run of a scene, whose outcomes are a study: a heading, one row per backend, the rates of the machine
/// just before, and remarks.
pub fn measured(
    measured: &MeasuredScene,
    study: &Study,
    limits: &MachineLimits,
    outcomes: &[Outcome],
    screen: Screen,
) -> String {
    let &MeasuredScene {
        environment,
        scene,
        clip_error,
    } = measured;
    let Some(point) = study.points.first() else {
        return String::new();
    };
    let table = table(study, point);
    let fitted = table.fitted(screen);
    let mut text = format!(
        "{}\n\n{}\n{}{}{}",
        heading(environment, scene, outcomes),
        fitted.text,
        problems(outcomes),
        devices(scene, outcomes),
        levels(scene)
    );
    let mut remarks = Vec::new();
    if let Some(error) = clip_error {
        remarks.push(Remark::ClipError(&point.options, error));
    }
    remarks.extend(environment.clock.empty_submission.map(Remark::Fenced));
    for (heading, remark) in [
        ("work", Remark::WorkColumn),
        ("skin %", Remark::PercentColumns),
        ("upload", Remark::UploadColumn),
        ("other", Remark::OtherColumn),
    ] {
        if table.has(heading) && !fitted.left_out.iter().any(|left| left == heading) {
            remarks.push(remark);
        }
    }
    remarks.extend(conditions_of_times(study));
    for remark in remarks.iter().filter(|remark| !remark.is_warning()) {
        text += &format!("{remark}\n");
    }
    text += &left_out(&fitted.left_out);
    text += &limits_text(limits);
    for remark in remarks.iter().filter(|remark| remark.is_warning()) {
        text += &format!("warning: {remark}\n");
    }
    text
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

/// Peak rates of the machine just before a scene: one line per thread count, and those of the device.
pub fn limits_text(limits: &MachineLimits) -> String {
    let mut text = String::new();
    for host in &limits.hosts {
        let bandwidth = host.bandwidth;
        text += &format!(
            "limits, {}: {} GB/s written, {} streamed, {} read ({}); {} G multiply-adds/s\n",
            counted(host.threads as u64, "thread"),
            giga(bandwidth.write),
            giga(bandwidth.stream),
            giga(bandwidth.read),
            mebibytes(host.bytes),
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
    Column::new("backend", |outcome| Value::words(outcome.name)),
    Column::new("position", |outcome| {
        magnitude(outcome.parity.as_ref().and_then(|parity| parity.max_rel))
    }),
    Column::optional("normal, rad", 2, |outcome| {
        magnitude(outcome.parity.as_ref().and_then(|parity| parity.max_normal))
    }),
    Column::optional("vertices", 1, |outcome| match &outcome.parity {
        Some(parity) if parity.vertices > 0 => Value::Count(parity.vertices),
        _ => Value::Absent,
    }),
    Column::new("status", |outcome| Value::words(outcome.status.name())),
];

/// Text about a scene's verification: a heading, one row per backend, and the reasons why some failed.
pub fn verified(scene: &BuiltScene, outcomes: &[Outcome], screen: Screen) -> String {
    let table = Table::of(&VERIFIED, outcomes).fitted(screen);
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
    let Some(levels) = &scene.levels else {
        return String::new();
    };
    let counts: Vec<String> = levels
        .counts
        .iter()
        .map(|&count| grouped(count as u64))
        .collect();
    let last = counts.len() - 1;
    format!(
        "lod={}: {} instances at levels 0 to {last}; meshes off by up to {:.1} pixels ({:.1} % of the diagonal) at \
         rest\n",
        scene.settings.lod.unwrap_or_default(),
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

fn heading(environment: &Environment, scene: &BuiltScene, outcomes: &[Outcome]) -> String {
    let crowd = &scene.crowd;
    let [width, height] = scene.resolution;
    let passes = match outcomes.iter().map(|outcome| outcome.passes).max() {
        None | Some(0) => drawn(0),
        Some(passes) => format!("{} of {width}x{height}", drawn(passes)),
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
