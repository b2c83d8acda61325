//! Time against error of levels of detail: which saving buys the most.

use super::super::findings::place;
use super::super::units::duration;
use super::drawing::{class, dot, id_of, table, time_of, time_scale};
use super::plot::{Chart, Item, Scale, Shape};
use crate::results::{Point, Study, StudyEntry};
use std::collections::BTreeMap;

/// A measured backend: kinds of detail that were dropped, error in pixels, nanoseconds.
struct Saving<'a> {
    entry: &'a StudyEntry,
    lod: &'a str,
    pixels: f64,
    ns: u64,
}

/// A chart for each crowd that was measured with different levels of detail, or with and without.
pub fn levels(study: &Study) -> Vec<Chart> {
    let mut crowds: BTreeMap<Point, Vec<Saving>> = BTreeMap::new();
    for entry in &study.entries {
        let lod = entry.point.options.get("lod").unwrap_or_default();
        let pixels = entry.frame().and_then(|row| row.lod_error_px);
        let ns = entry.time(study.quantity(entry.point.passes));
        if let (Some(pixels), Some(ns)) = (if lod.is_empty() { Some(0.0) } else { pixels }, ns) {
            crowds
                .entry(undropped(&entry.point))
                .or_default()
                .push(Saving {
                    entry,
                    lod,
                    pixels,
                    ns,
                });
        }
    }
    crowds
        .iter()
        .filter_map(|(crowd, savings)| chart(study, crowd, savings))
        .collect()
}

/// The point without what levels of detail change.
fn undropped(point: &Point) -> Point {
    let mut crowd = Point {
        vertices: 0,
        influences: 0,
        ..point.without_hash()
    };
    crowd.options.0.remove("lod");
    crowd
}

fn chart(study: &Study, crowd: &Point, savings: &[Saving]) -> Option<Chart> {
    let most = savings
        .iter()
        .map(|saving| saving.pixels)
        .fold(0.0, f64::max);
    let slowest = savings.iter().map(|saving| saving.ns).max()? as f64;
    if !(most > 0.0 && most.is_finite())
        || savings.iter().all(|saving| saving.lod == savings[0].lod)
    {
        return None;
    }
    let named = |lod: &str| {
        if lod.is_empty() {
            "full detail".to_owned()
        } else {
            lod.replace('+', " and ")
        }
    };
    let mut table = table(["backend", "dropped", "error in pixels", "time"]);
    let (mut items, mut legend) = (Vec::new(), Vec::new());
    for backend in &study.backends {
        let mut own: Vec<&Saving> = savings
            .iter()
            .filter(|saving| saving.entry.backend == *backend)
            .collect();
        own.sort_by(|a, b| a.pixels.total_cmp(&b.pixels));
        if own.is_empty() {
            continue;
        }
        legend.push((class(study, backend), backend.clone()));
        let points = own
            .iter()
            .map(|saving| (saving.pixels, saving.ns as f64))
            .collect();
        items.push(Item::new(Shape::Line, class(study, backend), points));
        for saving in own {
            let (pixels, time) = (format!("{:.2}", saving.pixels), duration(saving.ns));
            let words = format!("{backend}, {}: {pixels} pixels, {time}", named(saving.lod));
            items.push(dot(study, backend, (saving.pixels, saving.ns as f64)).described(words));
            table.push(vec![backend.clone(), named(saving.lod), pixels, time]);
        }
    }
    let time = time_of(study.quantity(crowd.passes));
    let title = format!("{time} against error of levels of detail: {}", place(crowd));
    let x_range = (-0.02 * most, 1.05 * most);
    let x = Scale::linear(
        "largest error in pixels",
        x_range,
        |pixels| format!("{pixels:.1}"),
        8,
    );
    let y = time_scale((0.0, 1.08 * slowest), false);
    let caption = "Each point drops other kinds of detail; lower is faster, further left is closer to full detail.";
    let id = id_of("levels", crowd);
    Some(Chart {
        id,
        title,
        caption: caption.into(),
        height: 300,
        x,
        y,
        items,
        legend,
        table,
    })
}
