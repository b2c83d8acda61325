//! Time against error of levels of detail: which saving buys the most.

use super::super::findings::place;
use super::super::markdown::headed;
use super::super::units::duration;
use super::drawing::{class, dot, id_of, time_of, time_scale};
use super::plot::{Chart, Item, Scale, Shape};
use crate::results::key::PointKey;
use crate::results::{Point, Study, StudyEntry};
use std::collections::BTreeMap;

/// A measured backend: kinds of detail that were dropped, error in pixels, nanoseconds.
struct Saving<'a> {
    entry: &'a StudyEntry,
    lod: &'a str,
    pixels: f64,
    ns: u64,
}

/// A crowd and what was measured of it with different levels of detail.
struct Crowd<'a> {
    point: Point,
    savings: Vec<Saving<'a>>,
}

/// A chart for each crowd that was measured with different levels of detail, or with and without.
pub fn levels(study: &Study) -> Vec<Chart> {
    let mut crowds: BTreeMap<PointKey, Crowd> = BTreeMap::new();
    for entry in &study.entries {
        let lod = entry.point.options.get("lod").unwrap_or_default();
        let pixels = if lod.is_empty() {
            Some(0.0)
        } else {
            entry.frame().and_then(|row| row.lod_error_px)
        };
        let ns = entry.time(study.quantity(entry.point.passes));
        if let (Some(pixels), Some(ns)) = (pixels, ns) {
            let point = undropped(&entry.point);
            // Levels of detail change these fields, too.
            let key = PointKey {
                vertices: None,
                influences: None,
                ..point.key_without_hash()
            };
            let savings = Vec::new();
            let crowd = crowds.entry(key).or_insert(Crowd { point, savings });
            crowd.savings.push(Saving {
                entry,
                lod,
                pixels,
                ns,
            });
        }
    }
    crowds
        .values()
        .filter_map(|crowd| chart(study, crowd))
        .collect()
}

/// The point without the option for levels of detail.
fn undropped(point: &Point) -> Point {
    Point {
        options: point.options.without("lod"),
        ..point.clone()
    }
}

fn chart(study: &Study, crowd: &Crowd) -> Option<Chart> {
    let Crowd { point, savings } = crowd;
    let pixels = savings.iter().map(|saving| saving.pixels);
    let most = pixels.fold(0.0, f64::max);
    let slowest = savings.iter().map(|saving| saving.ns).max()? as f64;
    if !(most > 0.0 && most.is_finite())
        || savings.iter().all(|saving| saving.lod == savings[0].lod)
    {
        return None;
    }
    let mut table = headed(["backend", "dropped", "error in pixels", "time"]);
    let mut items = Vec::new();
    let mut legend = Vec::new();
    for backend in &study.backends {
        let mut line: Vec<&Saving> = savings
            .iter()
            .filter(|saving| saving.entry.backend == *backend)
            .collect();
        line.sort_by(|a, b| a.pixels.total_cmp(&b.pixels));
        if line.is_empty() {
            continue;
        }
        legend.push((class(study, backend), backend.clone()));
        let points = line
            .iter()
            .map(|saving| (saving.pixels, saving.ns as f64))
            .collect();
        items.push(Item::new(Shape::Line, class(study, backend), points));
        for saving in line {
            let dropped = if saving.lod.is_empty() {
                "full detail".into()
            } else {
                saving.lod.replace('+', " and ")
            };
            let pixels = format!("{:.2}", saving.pixels);
            let time = duration(saving.ns);
            let words = format!("{backend}, {dropped}: {pixels} pixels, {time}");
            items.push(dot(study, backend, (saving.pixels, saving.ns as f64)).described(words));
            table.push(vec![backend.clone(), dropped, pixels, time]);
        }
    }
    let time = time_of(study.quantity(point.passes));
    let title = format!("{time} against error of levels of detail: {}", place(point));
    let x = Scale::linear(
        "largest error in pixels",
        (-0.02 * most, 1.05 * most),
        |pixels| format!("{pixels:.1}"),
        8,
    );
    let caption = "Each point drops other kinds of detail; lower is faster, further left is closer to full detail.";
    Some(Chart {
        id: id_of("levels", point),
        title,
        caption: caption.into(),
        height: 300,
        x,
        y: time_scale((0.0, 1.08 * slowest), false),
        items,
        legend,
        table,
    })
}
