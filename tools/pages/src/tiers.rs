//! Memory against time against error, from full skeletons to baked vertices, for growing crowds.

use skinbench::backend::Joints;
use skinbench::registry;
use skinbench::report::chart::Chart;
use skinbench::report::chart::drawing::{class, dot, slug, table, time_scale};
use skinbench::report::chart::plot::{Item, Scale, Shape};
use skinbench::report::findings::drawn;
use skinbench::report::{duration, grouped, size};
use skinbench::results::key::Point;
use skinbench::results::study::{Quantity, Study, StudyEntry};
use std::collections::BTreeMap;

/// A measured backend: the camera's distance, bytes on host and device, nanoseconds of a frame, error in pixels.
struct Tier<'a> {
    entry: &'a StudyEntry,
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
    /// A key of a point. Points with equal keys, backends and levels make one line.
    line: fn(&Tier) -> usize,
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
    line: |_| 0,
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
    line: |tier| tier.entry.point.instances,
};

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
        let mut kind = Point {
            vertices: 0,
            influences: 0,
            instances: 0,
            ..entry.point.without_hash()
        };
        kind.options.0.remove("lod");
        let distance = kind
            .options
            .0
            .remove("distance")
            .and_then(|factor| factor.parse().ok())
            .unwrap_or(1.0);
        let tier = Tier {
            entry,
            distance,
            bytes: bytes as f64,
            ns: ns as f64,
            pixels,
        };
        kinds.entry(kind).or_default().push(tier);
    }
    let jointless = |tier: &Tier| {
        registry::find(&tier.entry.backend)
            .is_some_and(|entry| entry.abilities().joints == Joints::Nowhere)
    };
    let mut charts = Vec::new();
    for (kind, mut tiers) in kinds
        .into_iter()
        .filter(|(_, tiers)| tiers.iter().any(jointless))
    {
        tiers.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        let near = tiers.partition_point(|tier| tier.distance == tiers[0].distance);
        let grows = tiers[..near]
            .iter()
            .any(|tier| tier.entry.point.instances != tiers[0].entry.point.instances);
        charts.extend(grows.then(|| chart(study, &kind, &tiers[..near], &MEMORY)));
        charts.extend((near < tiers.len()).then(|| chart(study, &kind, &tiers, &DISTANCE)));
    }
    charts
}

fn chart(study: &Study, kind: &Point, tiers: &[Tier], axis: &Axis) -> Chart {
    let lod = |entry: &StudyEntry| {
        entry
            .point
            .options
            .get("lod")
            .unwrap_or_default()
            .to_owned()
    };
    let mut lines: BTreeMap<(String, String, usize), Vec<&Tier>> = BTreeMap::new();
    for tier in tiers {
        let key = (
            lod(tier.entry),
            tier.entry.backend.clone(),
            (axis.line)(tier),
        );
        lines.entry(key).or_default().push(tier);
    }
    let headings = [
        "instances",
        "distance",
        "backend",
        "levels",
        "bytes",
        "time",
        "error in pixels",
    ];
    let mut table = table(headings);
    let (mut items, mut dots) = (Vec::new(), Vec::new());
    // Labels of neighbouring lines are at different heights.
    for (((lod, backend, _), own), lift) in
        lines.iter_mut().zip([1.16, 1.0, 0.86].into_iter().cycle())
    {
        own.sort_by_key(|tier| tier.entry.point.instances);
        let points = own
            .iter()
            .map(|tier| ((axis.place)(tier), tier.ns))
            .collect();
        items.push(Item::new(Shape::Line, class(study, backend), points));
        let beside: Vec<String> = own.iter().map(|tier| (axis.beside)(tier)).collect();
        for (at, tier) in own.iter().enumerate() {
            let Tier {
                entry,
                distance,
                bytes,
                ns,
                pixels,
            } = tier;
            let (instances, memory) = (grouped(entry.point.instances as u64), size(*bytes));
            let (time, error) = (duration(*ns as u64), format!("{pixels:.4}"));
            let levels = if lod.is_empty() {
                "full detail".into()
            } else {
                format!("levels of {lod}")
            };
            let words = format!(
                "{backend}, {levels}, {instances} instances at distance {distance}: {memory}, {time}, {error} pixels"
            );
            let place = (axis.place)(tier);
            dots.push(dot(study, backend, (place, *ns)).described(words));
            // What the points of a line have in common is said once.
            if beside.get(at + 1) != Some(&beside[at]) {
                dots.push(Item::new(
                    Shape::Name(beside[at].clone()),
                    "",
                    vec![(place, lift * ns)],
                ));
            }
            table.push(vec![
                instances,
                distance.to_string(),
                backend.clone(),
                levels,
                memory,
                time,
                error,
            ]);
        }
    }
    items.extend(dots);
    let range = |value: &dyn Fn(&Tier) -> f64, before: f64| {
        let (low, high) = tiers
            .iter()
            .map(value)
            .fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
        (low / before, 1.5 * high)
    };
    let backends = study
        .backends
        .iter()
        .filter(|backend| tiers.iter().any(|tier| tier.entry.backend == **backend));
    let legend = backends
        .map(|backend| (class(study, backend), backend.clone()))
        .collect();
    let linear = Scale::linear(axis.scale, range(&axis.place, axis.room), axis.label, 8);
    let x = Scale {
        logarithmic: true,
        ..linear
    };
    let y = time_scale(range(&|tier| tier.ns, 1.5), true);
    let id = slug(&format!(
        "{} {} passes {}",
        axis.id, kind.scene, kind.passes
    ));
    let title = format!("{}: {}, {}", axis.title, kind.scene, drawn(kind.passes));
    Chart {
        id,
        title,
        caption: axis.caption.into(),
        height: 420,
        x,
        y,
        items,
        legend,
        table,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skinbench::results::recorded::Recorded;
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
            assert_eq!(chart.table.len(), 1 + chart.marks());
        }
        let errors = |backend: &str| -> Vec<f64> {
            let rows = charts[0].table.iter().filter(|row| row[2] == backend);
            rows.map(|row| row[6].parse().unwrap()).collect()
        };
        let exact = errors("gpu-full:vertex");
        let baked = errors("gpu-vat");
        assert!(!baked.is_empty() && baked.iter().all(|error| exact.iter().all(|e| e < error)));
    }
}
