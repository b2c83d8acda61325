//! Times along an axis: instances, passes, threads, vertices, influences, models, active morph targets.

use super::super::findings::FRAME_60_HZ;
use super::super::places::conditions;
use super::super::remark::Remark;
use super::super::run_text::times;
use super::drawing::{class, dot, slug, time_of, time_scale};
use super::plot::{Chart, Item, Scale, Shape};
use crate::results::crossover::crossovers;
use crate::results::{Axis, Quantity, Sheet, Study};
use crate::wording::{duration, grouped};

/// A chart for each series along each axis.
pub fn curves(study: &Study) -> Vec<Chart> {
    Axis::ALL
        .iter()
        .flat_map(|axis| study.sheets(*axis).map(|sheet| chart(study, sheet)))
        .collect()
}

fn chart(study: &Study, sheet: &Sheet) -> Chart {
    let conditions = conditions(study, sheet);
    let time = time_of(sheet.quantity);
    let title = format!("{time} against {}: {conditions}", sheet.axis.title());
    let mut lines = Vec::new();
    let mut dots = Vec::new();
    let mut legend = Vec::new();
    let mut y_low = f64::INFINITY;
    let mut y_high: f64 = 0.0;
    for curve in &sheet.curves {
        let backend = &curve.backend;
        let mut line = Vec::new();
        for point in &curve.points {
            let ns = point.ns as f64;
            y_low = y_low.min(ns);
            y_high = y_high.max(ns);
            let place = format!("{} {}", grouped(point.value), sheet.axis.title());
            let words = format!("{backend}, {place}: {}", duration(point.ns));
            dots.push(dot(study, backend, (point.value as f64, ns)).described(words));
            line.push((point.value as f64, ns));
        }
        lines.push(Item::new(Shape::Line, class(study, backend), line));
        legend.push((class(study, backend), backend.clone()));
    }
    let log_x = !sheet.axis.is_linear();
    let x_low = sheet.values[0] as f64;
    let x_high = sheet.values[sheet.values.len() - 1] as f64;
    let x_range = if log_x {
        (x_low / 1.12, x_high * 1.12)
    } else {
        (x_low - 0.1, x_high + 0.1)
    };
    // Times along an axis of few values are shown from zero on.
    let y_range = if log_x {
        (y_low / 1.5, y_high * 1.5)
    } else {
        (0.0, y_high * 1.08)
    };
    let mut items = Vec::new();
    let has_rule =
        (y_range.0..y_range.1).contains(&FRAME_60_HZ) && sheet.quantity == Quantity::Frame;
    if has_rule {
        let ends = vec![(x_range.0, FRAME_60_HZ), (x_range.1, FRAME_60_HZ)];
        items.push(Item::new(Shape::Rule, "", ends));
    }
    items.extend(lines);
    items.extend(dots);
    let crossings = crossovers(study, sheet);
    for crossing in &crossings {
        let point = vec![(crossing.at, crossing.ns)];
        let remark = Remark::Overtakes(sheet, crossing.clone());
        items.push(Item::new(Shape::Ring, "", point).described(remark.to_string()));
    }
    let rings = if crossings.is_empty() {
        ""
    } else {
        " Rings mark where one overtakes another."
    };
    let rule = if has_rule {
        " The dashed line is 60 Hz."
    } else {
        ""
    };
    Chart {
        id: slug(&format!(
            "{} {} {conditions}",
            sheet.quantity.name(),
            sheet.axis.title()
        )),
        title,
        caption: format!("Medians; lower is faster.{rings}{rule}"),
        height: 300,
        x: Scale {
            title: sheet.axis.title().into(),
            range: x_range,
            logarithmic: log_x,
            label: if log_x {
                |x| grouped(x.round() as u64)
            } else {
                whole
            },
            ticks: if log_x {
                8
            } else {
                ((x_high - x_low) as usize + 1).min(9)
            },
        },
        y: time_scale(y_range, log_x),
        items,
        legend,
        table: times(sheet),
    }
}

/// Labels whole numbers only.
fn whole(x: f64) -> String {
    if (x - x.round()).abs() < 0.01 {
        format!("{x:.0}")
    } else {
        String::new()
    }
}
