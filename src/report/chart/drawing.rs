//! The names, scales and colours that all charts share.

use super::plot::{Item, Scale, Shape};
use crate::results::{Point, Quantity, Study};
use crate::wording::duration;

/// Classes of the style sheet for backends; further backends start over.
const COLOURS: usize = 8;

/// A vertical scale of times without a title, which the chart's own names.
pub fn time_scale(range: (f64, f64), logarithmic: bool) -> Scale {
    Scale {
        logarithmic,
        ..Scale::linear("", range, |ns| duration(ns.round() as u64), 8)
    }
}

/// The time by which backends are compared, at the beginning of a title.
pub fn time_of(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Frame => "Frame time",
        Quantity::Work => "Pose + upload + skin",
    }
}

/// The class of a backend, the same in every chart.
pub fn class(study: &Study, backend: &str) -> String {
    format!("b{}", index(study, backend) % COLOURS)
}

/// A point of a backend, with the form and the class that it has in every chart.
pub fn dot(study: &Study, backend: &str, point: (f64, f64)) -> Item {
    Item::new(
        Shape::Dot(index(study, backend)),
        class(study, backend),
        vec![point],
    )
}

fn index(study: &Study, backend: &str) -> usize {
    study
        .backends
        .iter()
        .position(|known| *known == backend)
        .unwrap_or(0)
}

/// The id of a chart of a point.
pub fn id_of(chart: &str, point: &Point) -> String {
    slug(&format!(
        "{chart} {} {} passes {}",
        point.scene, point.instances, point.passes
    ))
}

/// The text as a word for ids and file names: letters and digits of all scripts, in lower case.
pub fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    words.join("-")
}
