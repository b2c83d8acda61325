//! Bars: the parts of a frame, the fraction of the memory bandwidth that stages reach, and the spread of frames.

use super::super::findings::place;
use super::super::units::duration;
use super::drawing::{Chart, class, slug, time_scale};
use super::plot::{Item, Plot, Scale, Shape};
use crate::frame::{Stage, StageGroup};
use crate::results::{Point, Study, StudyEntry};

/// Height of a bar with the space around it, and height of the bar as a fraction of that.
const ROW: u32 = 38;
const BAR: f64 = 0.62;
/// Width of an average character, for names on the left.
const CHARACTER: f64 = 7.2;

/// Stages that are parts of a frame, in its order; the time of no stage is the rest.
fn parts() -> impl Iterator<Item = Stage> {
    Stage::ALL.iter().copied().filter(|stage| stage.group() != StageGroup::Whole)
}

/// A stage's class in the style sheet.
fn class_of(stage: Stage) -> &'static str {
    match stage {
        Stage::Sample => "s0",
        Stage::Blend => "s1",
        Stage::LocalToModel => "s2",
        Stage::Palette | Stage::Pose => "s3",
        Stage::Upload => "s4",
        Stage::Skin | Stage::PoseSkin => "s5",
        Stage::Draw => "s6",
        Stage::Cull | Stage::Update | Stage::Morph | Stage::Bounds | Stage::Sockets => "s7",
        Stage::Frame | Stage::EngineFrame | Stage::Throughput => "s7",
    }
}

/// The parts of each backend's frames.
pub fn stages(study: &Study, point: &Point) -> Option<Chart> {
    let entries: Vec<&StudyEntry> = study.at(point).filter(|entry| entry.median(Stage::Frame).is_some()).collect();
    let mut items = Vec::new();
    let mut present: Vec<Stage> = Vec::new();
    let mut table = vec![["backend", "stage", "median"].map(String::from).to_vec()];
    let mut longest: f64 = 0.0;
    for (row, entry) in entries.iter().enumerate() {
        let mut from = 0.0;
        for stage in parts() {
            let Some(ns) = entry.median(stage) else { continue };
            if !present.contains(&stage) {
                present.push(stage);
            }
            let words = format!("{}, {}: {}", entry.backend, stage.name(), duration(ns));
            items.push(bar(entries.len(), row, (from, from + ns as f64), class_of(stage), words));
            table.push(vec![entry.backend.clone(), stage.name().into(), duration(ns)]);
            from += ns as f64;
        }
        let frame = entry.median(Stage::Frame)?;
        let words = format!("{}, frame by wall clock: {}", entry.backend, duration(frame));
        let at = vec![(frame as f64, middle(entries.len(), row))];
        items.push(Item::new(Shape::Stroke, "whole", at).described(words));
        table.push(vec![entry.backend.clone(), "frame".into(), duration(frame)]);
        longest = longest.max(from).max(frame as f64);
    }
    let present = parts().filter(|stage| present.contains(stage));
    let mut legend: Vec<_> = present.map(|stage| (class_of(stage).to_owned(), stage.name().to_owned())).collect();
    legend.push(("whole".into(), "frame".into()));
    let title = format!("Stages of a frame: {}", place(point));
    let id = slug(&format!("stages {} {} passes {}", point.scene, point.instances, point.passes));
    let scale = Scale { title: "median".into(), ticks: 6, ..time_scale((0.0, longest * 1.03), false) };
    let plot = rows(id, title, &names(&entries), items, scale, legend);
    let caption = "Medians, by the clock nearest to each stage; the stroke is the whole frame by wall clock.".into();
    (!entries.is_empty()).then(|| Chart::new(&plot, caption, table))
}

/// The fraction of the machine's bandwidth that skinning and posing reach, if it was measured.
pub fn limits(study: &Study) -> Option<Chart> {
    let point = study.headlines().into_iter().max_by_key(|point| {
        let told = |entry: &StudyEntry| parts().filter(|&stage| percentage(entry, stage).is_some()).count();
        (study.at(point).map(told).sum::<usize>(), point.instances)
    })?;
    let entries: Vec<&StudyEntry> =
        study.at(point).filter(|e| parts().any(|stage| percentage(e, stage).is_some())).collect();
    let told: Vec<(&StudyEntry, Stage, f64)> = entries
        .iter()
        .flat_map(|entry| parts().filter_map(|stage| Some((*entry, stage, percentage(entry, stage)?))))
        .collect();
    let mut table = vec![["backend", "stage", "% of limit"].map(String::from).to_vec()];
    let mut items = Vec::new();
    let mut names = Vec::new();
    for (row, (entry, stage, pct)) in told.iter().enumerate() {
        let name = stage.name();
        let words = format!("{}, {name}: {pct:.0} % of the limit", entry.backend);
        items.push(bar(told.len(), row, (0.0, *pct), class_of(*stage), words));
        names.push(format!("{} {name}", entry.backend));
        table.push(vec![entry.backend.clone(), name.into(), format!("{pct:.1}")]);
    }
    let most = told.iter().map(|(.., pct)| *pct).fold(100.0, f64::max);
    let label = |pct: f64| format!("{pct:.0} %");
    let scale = Scale::linear("% of the bandwidth measured in the same run", (0.0, most * 1.03), label, 6);
    let title = format!("Percentage of the limit: {}", place(point));
    let plot = rows("limits".into(), title, &names, items, scale, Vec::new());
    let caption = "Bytes that a stage must move over its median, as a part of what the machine can move.".into();
    (!told.is_empty()).then(|| Chart::new(&plot, caption, table))
}

fn percentage(entry: &StudyEntry, stage: Stage) -> Option<f64> {
    entry.stage(stage)?.row.pct_of_limit.filter(|pct| pct.is_finite() && *pct >= 0.0)
}

/// Every frame of each backend.
pub fn distribution(study: &Study, point: &Point) -> Option<Chart> {
    let entries: Vec<&StudyEntry> =
        study.at(point).filter(|e| e.stage(Stage::Frame).is_some_and(|m| !m.samples.is_empty())).collect();
    let mut items = Vec::new();
    let mut table = vec![
        ["backend", "frames", "smallest", "median", "95th percentile", "99th percentile", "largest"]
            .map(String::from)
            .to_vec(),
    ];
    let (mut low, mut high) = (f64::INFINITY, 0.0f64);
    for (row, entry) in entries.iter().enumerate() {
        let frame = entry.stage(Stage::Frame)?;
        let y = middle(entries.len(), row);
        let middle = frame.row.median_ns.unwrap_or(1).max(1) as f64;
        let points: Vec<_> = frame.samples.iter().map(|&(_, ns)| (ns as f64 / middle, y)).collect();
        low = points.iter().map(|p| p.0).fold(low, f64::min);
        high = points.iter().map(|p| p.0).fold(high, f64::max);
        let time = |ns: Option<u64>| ns.map_or("-".into(), duration);
        let row = &frame.row;
        let cells = [time(row.min_ns), time(row.median_ns), time(row.p95_ns), time(row.p99_ns), time(row.max_ns)];
        let (count, [min, median, .., max]) = (frame.samples.len(), &cells);
        let words = format!("{}: {count} frames, median {median}, from {min} to {max}", entry.backend);
        let class = class(study, &entry.backend);
        items.push(Item::new(Shape::Strokes, class, points).described(words));
        items.push(Item::new(Shape::Stroke, "whole", vec![(1.0, y)]));
        let counted = [entry.backend.clone(), count.to_string()];
        table.push(counted.into_iter().chain(cells).collect());
    }
    let range = (low.min(0.98) - 0.01, high.max(1.02) + 0.01);
    let scale = Scale::linear("% of the backend's median", range, |part| format!("{:.0} %", part * 1e2), 8);
    let title = format!("Every frame: {}", place(point));
    let id = slug(&format!("frames {} {} passes {}", point.scene, point.instances, point.passes));
    let plot = rows(id, title, &names(&entries), items, scale, Vec::new());
    let caption = "One stroke per frame, in percent of the median of its backend, which is the long stroke. Several clusters are several states of the machine.";
    (!entries.is_empty()).then(|| Chart::new(&plot, caption.into(), table))
}

/// The middle of a row; the first row is at the top.
fn middle(rows: usize, row: usize) -> f64 {
    (rows - row) as f64 - 0.5
}

/// A bar in one of `rows` rows, from one value to another.
pub(super) fn bar(rows: usize, row: usize, (from, to): (f64, f64), class: &str, words: String) -> Item {
    let (y, half) = (middle(rows, row), BAR / 2.0);
    Item::new(Shape::Bar, class, vec![(from, y - half), (to, y + half)]).described(words)
}

fn names(entries: &[&StudyEntry]) -> Vec<String> {
    entries.iter().map(|entry| entry.backend.clone()).collect()
}

/// A plot with one named row per bar.
pub(super) fn rows(
    id: String,
    title: String,
    names: &[String],
    mut items: Vec<Item>,
    x: Scale,
    legend: Vec<(String, String)>,
) -> Plot {
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (row, name) in names.iter().enumerate() {
        items.push(Item::new(Shape::Name(name.clone()), "", vec![(x.range.0, middle(names.len(), row))]));
    }
    let count = names.len().max(1);
    let y = Scale { title: String::new(), range: (0.0, count as f64), logarithmic: false, label: None, ticks: 0 };
    let left = (longest as f64 * CHARACTER) as u32 + 20;
    Plot { id, title, height: ROW * count as u32, left, x, y, items, legend }
}
