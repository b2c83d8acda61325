//! Memory against time against error, from full skeletons to baked vertices, for growing crowds.

use super::super::findings::drawn;
use super::super::units::{duration, grouped};
use super::drawing::{Chart, class, dot, slug, time_scale};
use super::plot::{Item, Plot, Scale, Shape};
use crate::backend::Joints;
use crate::registry;
use crate::results::key::Point;
use crate::results::study::{Quantity, Study, StudyEntry};
use bytesize::ByteSize;
use std::collections::BTreeMap;

/// A measured backend: bytes on host and device, nanoseconds of a frame, error in pixels.
struct Tier<'a> {
    entry: &'a StudyEntry,
    bytes: f64,
    ns: f64,
    pixels: f64,
}

/// A chart for each kind of crowd that was measured with several numbers of instances, some of them by a backend that
/// keeps no joints.
pub fn tiers(study: &Study) -> Vec<Chart> {
    let mut kinds: BTreeMap<Point, Vec<Tier>> = BTreeMap::new();
    for entry in &study.entries {
        let Some((row, ns)) = entry.frame().zip(entry.time(Quantity::Frame)) else { continue };
        let (Some(host), Some(device), Some(pixels)) = (row.host_bytes, row.device_bytes, row.error_px) else {
            continue;
        };
        let mut kind = Point { vertices: 0, influences: 0, instances: 0, ..entry.point.without_hash() };
        kind.options.0.remove("lod");
        kinds.entry(kind).or_default().push(Tier { entry, bytes: (host + device) as f64, ns: ns as f64, pixels });
    }
    kinds.iter().filter_map(|(kind, tiers)| chart(study, kind, tiers)).collect()
}

fn chart(study: &Study, kind: &Point, tiers: &[Tier]) -> Option<Chart> {
    let jointless = |tier: &Tier| {
        registry::find(&tier.entry.backend).is_some_and(|entry| entry.abilities().joints == Joints::Nowhere)
    };
    let first = tiers.first()?.entry.point.instances;
    if !tiers.iter().any(jointless) || tiers.iter().all(|tier| tier.entry.point.instances == first) {
        return None;
    }
    let lod = |entry: &StudyEntry| entry.point.options.get("lod").unwrap_or_default().to_owned();
    let mut lines: BTreeMap<(String, String), Vec<&Tier>> = BTreeMap::new();
    for tier in tiers {
        lines.entry((lod(tier.entry), tier.entry.backend.clone())).or_default().push(tier);
    }
    let headings = ["instances", "backend", "levels", "bytes", "time", "error in pixels"];
    let mut table = vec![headings.map(String::from).to_vec()];
    let (mut items, mut dots) = (Vec::new(), Vec::new());
    // Labels of neighbouring lines are at different heights.
    for (((lod, backend), own), lift) in lines.iter_mut().zip([1.16, 1.0, 0.86].into_iter().cycle()) {
        own.sort_by_key(|tier| tier.entry.point.instances);
        let points = own.iter().map(|tier| (tier.bytes, tier.ns)).collect();
        items.push(Item::new(Shape::Line, class(study, backend), points));
        for Tier { entry, bytes, ns, pixels } in own {
            let (instances, memory) = (grouped(entry.point.instances as u64), size(*bytes));
            let (time, error) = (duration(*ns as u64), format!("{pixels:.4}"));
            let levels = if lod.is_empty() { "full detail".into() } else { format!("levels of {lod}") };
            let words = format!("{backend}, {levels}, {instances} instances: {memory}, {time}, {error} pixels");
            dots.push(dot(study, backend, (*bytes, *ns)).described(words));
            dots.push(Item::new(Shape::Name(format!("{error} px")), "", vec![(*bytes, lift * ns)]));
            table.push(vec![instances, backend.clone(), levels, memory, time, error]);
        }
    }
    items.extend(dots);
    let range = |value: fn(&Tier) -> f64, before: f64| {
        let (low, high) = tiers.iter().map(value).fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
        (low / before, 1.5 * high)
    };
    let backends = study.backends.iter().filter(|backend| tiers.iter().any(|tier| tier.entry.backend == **backend));
    let plot = Plot {
        id: slug(&format!("tiers {} passes {}", kind.scene, kind.passes)),
        title: format!("Frame time against memory and error: {}, {}", kind.scene, drawn(kind.passes)),
        height: 420,
        left: 0,
        x: Scale {
            title: "memory on host and device".into(),
            // Room for the words beside the first point.
            range: range(|tier| tier.bytes, 4.0),
            logarithmic: true,
            label: Some(size),
            ticks: 8,
        },
        y: time_scale(range(|tier| tier.ns, 1.5), true),
        items,
        legend: backends.map(|backend| (class(study, backend), backend.clone())).collect(),
    };
    let caption = "Each line is a way with a growing crowd, which the camera sees from farther away. Beside a point: the \
                   largest error of a vertex in pixels. Lower is faster, further left is smaller.";
    Some(Chart::new(&plot, caption.into(), table))
}

fn size(bytes: f64) -> String {
    ByteSize(bytes.round().max(0.0) as u64).display().si().to_string()
}
