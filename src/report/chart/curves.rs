//! Times along an axis: instances, passes, threads, vertices, influences, models, active morph targets.

use super::super::findings::{FRAME_60_HZ, conditions};
use super::super::text::rows;
use super::super::units::{duration, grouped};
use super::drawing::{class, dot, slug, time_of, time_scale};
use super::plot::{Chart, Item, Scale, Shape};
use crate::results::crossover::crossovers;
use crate::results::study::{Axis, Curve, Quantity, Sheet, Study};

/// A chart for each series along each axis.
pub fn curves(study: &Study) -> Vec<Chart> {
    Axis::ALL
        .iter()
        .flat_map(|axis| study.sheets(*axis).iter().map(|sheet| chart(study, sheet)))
        .collect()
}

fn chart(study: &Study, sheet: &Sheet) -> Chart {
    let conditions = conditions(study, sheet);
    let time = time_of(sheet.quantity);
    let title = format!("{time} against {}: {conditions}", sheet.axis.title());
    let times = |curve: &Curve| {
        curve
            .points
            .iter()
            .map(|point| (point.value as f64, point.ns as f64))
            .collect()
    };
    let times: Vec<Vec<(f64, f64)>> = sheet.curves.iter().map(times).collect();
    let bounds = |value: fn(&(f64, f64)) -> f64| {
        let all = times.iter().flatten();
        all.map(value)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            })
    };
    let ((x_low, x_high), (y_low, y_high)) = (bounds(|p| p.0), bounds(|p| p.1));
    let log_x = !sheet.axis.is_linear();
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
    if (y_range.0..y_range.1).contains(&FRAME_60_HZ) && sheet.quantity == Quantity::Frame {
        items.push(Item::new(
            Shape::Rule,
            "",
            vec![(x_range.0, FRAME_60_HZ), (x_range.1, FRAME_60_HZ)],
        ));
    }
    for (curve, times) in sheet.curves.iter().zip(&times) {
        items.push(Item::new(
            Shape::Line,
            class(study, &curve.backend),
            times.clone(),
        ));
    }
    for (curve, times) in sheet.curves.iter().zip(&times) {
        for &(x, ns) in times {
            let place = format!("{} {}", grouped(x as u64), sheet.axis.title());
            let words = format!("{}, {place}: {}", curve.backend, duration(ns as u64));
            items.push(dot(study, &curve.backend, (x, ns)).described(words));
        }
    }
    let crossings = crossovers(study, sheet);
    for crossing in &crossings {
        let number = |x: f64| {
            if log_x {
                grouped(x.round() as u64)
            } else {
                format!("{x:.1}")
            }
        };
        let range = format!(
            "95 % certain between {} and {}",
            number(crossing.range.0),
            number(crossing.range.1)
        );
        let words = format!(
            "{} overtakes {} at {}; {range}",
            crossing.above,
            crossing.below,
            number(crossing.at)
        );
        items.push(Item::new(Shape::Ring, "", vec![(crossing.at, crossing.ns)]).described(words));
    }
    let legend = sheet
        .curves
        .iter()
        .map(|c| (class(study, &c.backend), c.backend.clone()))
        .collect();
    let rings = if crossings.is_empty() {
        ""
    } else {
        " Rings mark where one overtakes another."
    };
    let rule = if items.iter().any(|i| matches!(i.shape, Shape::Rule)) {
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
        table: rows(sheet),
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
