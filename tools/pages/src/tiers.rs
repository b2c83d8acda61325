//! Memory against time against error, from full skeletons to baked vertices, for growing crowds.

use skinbench::backend::Joints;
use skinbench::registry;
use skinbench::report::chart::Chart;
use skinbench::report::chart::drawing::{class, dot, slug, time_scale};
use skinbench::report::chart::plot::{Item, Scale, Shape};
use skinbench::report::places::drawn;
use skinbench::report::table::{Table, Value};
use skinbench::report::{duration, grouped, size};
use skinbench::results::{Entry, Point, Quantity, Study, options};
use std::collections::BTreeMap;

/// A measured backend: the camera's distance, bytes on host and device, nanoseconds of a frame, error in pixels.
struct Tier<'a> {
    entry: &'a Entry,
    distance: f64,
    bytes: f64,
    ns: f64,
    pixels: f64,
}

/// The horizontal axis of a chart of times, and the words of the chart.
struct Axis {
    id: &'static str,
    title: &'static str,
    caption: &'static str,
    scale: &'static str,
    /// Position of a point.
    place: fn(&Tier) -> f64,
    label: fn(f64) -> String,
    /// Factor below the least position, for the words beside it.
    room: f64,
    /// Words beside a point, or beside a line if all of its points have the same.
    beside: fn(&Tier) -> String,
    /// The crowds that have lines of their own; `None` where a line is a growing crowd.
    line: fn(&Tier) -> Option<usize>,
}

const MEMORY: Axis = Axis {
    id: "tiers",
    title: "Frame time against memory and error",
    caption: "Each line is a way with a growing crowd, which the camera sees from farther away. Beside a point: the largest \
              error of a vertex in pixels. Lower is faster, further left is smaller.",
    scale: "memory on host and device",
    place: |tier| tier.bytes,
    label: size,
    room: 4.0,
    beside: |tier| format!("{:.4} px", tier.pixels),
    line: |_| None,
};

const DISTANCE: Axis = Axis {
    id: "distances",
    title: "Frame time against error, as the camera moves away",
    caption: "Each line is a way with one crowd, from the farthest camera on the left to the nearest. Beside a line: \
              instances, and memory on host and device. Lower is faster, further left is more exact.",
    scale: "largest error of a vertex, pixels",
    place: |tier| tier.pixels,
    label: |pixels| pixels.to_string(),
    room: 20.0,
    beside: |tier| {
        format!(
            "{} in {}",
            grouped(tier.entry.point.instances as u64),
            size(tier.bytes)
        )
    },
    line: |tier| Some(tier.entry.point.instances),
};

/// What the points of a line have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct LineKey<'a> {
    /// Kinds of detail that were dropped; empty for full detail.
    levels: &'a str,
    backend: &'a str,
    instances: Option<usize>,
}

/// Charts for each kind of crowd that a backend without joints was measured with: one if it has several numbers of
/// instances, and one if cameras saw it from several distances.
pub fn tiers(study: &Study) -> Vec<Chart> {
    let mut kinds: BTreeMap<Point, Vec<Tier>> = BTreeMap::new();
    for entry in &study.entries {
        let pixels = entry.frame().and_then(|row| row.error_px);
        let (Some(ns), Some(bytes), Some(pixels)) =
            (entry.time(Quantity::Frame), entry.memory(), pixels)
        else {
            continue;
        };
        let all = &entry.point.options;
        let distance = options::get(all, "distance");
        let distance = distance.and_then(|factor| factor.parse().ok());
        let kind = Point {
            vertices_each: 0,
            influences: 0,
            instances: 0,
            options: options::without(&options::without(all, "lod"), "distance"),
            scene_hash: String::new(),
            ..entry.point.clone()
        };
        kinds.entry(kind).or_default().push(Tier {
            entry,
            distance: distance.unwrap_or(1.0),
            bytes: bytes as f64,
            ns: ns as f64,
            pixels,
        });
    }
    let mut charts = Vec::new();
    for mut tiers in kinds.into_values() {
        if !tiers.iter().any(is_without_joints) {
            continue;
        }
        tiers.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        let near = tiers.partition_point(|tier| tier.distance == tiers[0].distance);
        let instances = tiers[0].entry.point.instances;
        if tiers[..near]
            .iter()
            .any(|tier| tier.entry.point.instances != instances)
        {
            charts.push(chart(study, &tiers[..near], &MEMORY));
        }
        if near < tiers.len() {
            charts.push(chart(study, &tiers, &DISTANCE));
        }
    }
    charts
}

fn is_without_joints(tier: &Tier) -> bool {
    registry::find(&tier.entry.backend)
        .is_some_and(|entry| entry.abilities().joints == Joints::Nowhere)
}

/// The chart of points of one kind of crowd; there is at least one.
fn chart(study: &Study, tiers: &[Tier], axis: &Axis) -> Chart {
    let mut lines: BTreeMap<LineKey, Vec<&Tier>> = BTreeMap::new();
    for tier in tiers {
        let key = LineKey {
            levels: options::get(&tier.entry.point.options, "lod").unwrap_or_default(),
            backend: &tier.entry.backend,
            instances: (axis.line)(tier),
        };
        lines.entry(key).or_default().push(tier);
    }
    let mut table = Table::new([
        "instances",
        "distance",
        "backend",
        "levels",
        "bytes",
        "time",
        "error in pixels",
    ]);
    let mut items = Vec::new();
    let mut dots = Vec::new();
    // Labels of neighbouring lines are at different heights.
    let lifts = [1.16, 1.0, 0.86].into_iter().cycle();
    for ((key, mut line), lift) in lines.into_iter().zip(lifts) {
        let backend = key.backend;
        let levels = if key.levels.is_empty() {
            "full detail".to_owned()
        } else {
            format!("levels of {}", key.levels)
        };
        line.sort_by_key(|tier| tier.entry.point.instances);
        let points = line
            .iter()
            .map(|tier| ((axis.place)(tier), tier.ns))
            .collect();
        items.push(Item::new(Shape::Line, class(study, backend), points));
        let beside: Vec<String> = line.iter().map(|tier| (axis.beside)(tier)).collect();
        for (at, tier) in line.iter().enumerate() {
            let words = format!(
                "{backend}, {levels}, {} instances at distance {}: {}, {}, {:.4} pixels",
                grouped(tier.entry.point.instances as u64),
                tier.distance,
                size(tier.bytes),
                duration(tier.ns as u64),
                tier.pixels
            );
            let place = (axis.place)(tier);
            dots.push(dot(study, backend, (place, tier.ns)).described(words));
            // What the points of a line have in common is said once.
            if beside.get(at + 1) != Some(&beside[at]) {
                let name = Shape::Name(beside[at].clone());
                dots.push(Item::new(name, "", vec![(place, lift * tier.ns)]));
            }
            table.push(vec![
                Value::Count(tier.entry.point.instances as u64),
                Value::Words(tier.distance.to_string()),
                Value::words(backend),
                Value::words(&levels),
                Value::Bytes(tier.bytes as u64),
                Value::Time(tier.ns as u64),
                Value::Number(tier.pixels, 4),
            ]);
        }
    }
    items.extend(dots);
    let mut legend = Vec::new();
    for backend in &study.backends {
        if tiers.iter().any(|tier| tier.entry.backend == *backend) {
            legend.push((class(study, backend), backend.clone()));
        }
    }
    let x_range = range(tiers.iter().map(axis.place), axis.room);
    let Point { scene, passes, .. } = &tiers[0].entry.point;
    Chart {
        id: slug(&format!("{} {scene} passes {passes}", axis.id)),
        title: format!("{}: {scene}, {}", axis.title, drawn(*passes)),
        caption: axis.caption.into(),
        height: 420,
        x: Scale {
            logarithmic: true,
            ..Scale::linear(axis.scale, x_range, axis.label, 8)
        },
        y: time_scale(range(tiers.iter().map(|tier| tier.ns), 1.5), true),
        items,
        legend,
        table,
    }
}

/// The range of a scale for some values, with room below the least by a factor, and some above.
fn range(values: impl Iterator<Item = f64>, room: f64) -> (f64, f64) {
    let mut low = f64::INFINITY;
    let mut high: f64 = 0.0;
    for value in values {
        low = low.min(value);
        high = high.max(value);
    }
    (low / room, 1.5 * high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use skinbench::results::Recorded;
    use std::path::Path;

    /// Charts show memory, time and error of a growing crowd and of a camera that moves away, from full skeletons to
    /// baked vertices.
    #[test]
    fn each_axis_has_a_chart_of_all_its_points() {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/2026-11-25-epyc-tiers");
        let study = Study::new(Recorded::read(&[folder]).unwrap());
        let charts = tiers(&study);
        let ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
        assert_eq!(
            ids,
            ["tiers-walkers-passes-1", "distances-walkers-passes-1"]
        );
        for chart in &charts {
            assert_eq!(chart.table.len(), chart.marks());
        }
        let errors = |backend: &str| -> Vec<f64> {
            let cells = charts[0].table.cells();
            let rows = cells.iter().filter(|row| row[2] == backend);
            rows.map(|row| row[6].parse().unwrap()).collect()
        };
        let exact = errors("gpu-full:vertex");
        let baked = errors("gpu-vat");
        assert!(!baked.is_empty() && baked.iter().all(|error| exact.iter().all(|e| e < error)));
    }
}
