//! Words for points and for what the points of a sheet share.

use crate::results::{Axis, Point, Sheet, Study};
use crate::wording::grouped;

/// Attributes of vertices unless results say otherwise: positions and normals.
const DEFAULT_ATTRIBUTES: &str = "pn";

/// `1,000 walkers`: the scene's name is used as the word if it is one for people.
pub fn crowd(scene: &str, instances: u64) -> String {
    match (scene, instances) {
        ("walkers", 1) => "1 walker".into(),
        ("walkers", _) => format!("{} walkers", grouped(instances)),
        (_, 1) => "1 instance".into(),
        _ => format!("{} instances of scene {scene}", grouped(instances)),
    }
}

/// `1,000 walkers, nothing drawn`, and the settings that are not the defaults.
pub fn place(point: &Point) -> String {
    let way = drawn(point.passes) + &settings(point);
    format!("{}, {way}", crowd_at(point))
}

/// `1,000 walkers`.
pub fn crowd_at(point: &Point) -> String {
    crowd(&point.scene, point.instances as u64)
}

/// Options and attributes that are not the defaults, each after a comma.
pub fn settings(point: &Point) -> String {
    let mut settings = String::new();
    if !point.options.is_empty() {
        settings += &format!(", {}", point.options);
    }
    if !["", DEFAULT_ATTRIBUTES].contains(&point.attributes.as_str()) {
        settings += &format!(", {}", attributes(point));
    }
    settings
}

/// What vertices have.
fn attributes(point: &Point) -> &'static str {
    match point.attributes.as_str() {
        "p" => "positions only",
        "pnt" => "with tangents",
        _ => "positions and normals",
    }
}

/// `2 passes`, or `nothing drawn`.
pub fn drawn(passes: u32) -> String {
    match passes {
        0 => "nothing drawn".into(),
        1 => "1 pass".into(),
        _ => format!("{passes} passes"),
    }
}

/// Description of the conditions that a sheet's points share.
pub fn conditions(study: &Study, sheet: &Sheet) -> String {
    let common = &sheet.common;
    let mut words = vec![if sheet.axis == Axis::Instances {
        common.scene.clone()
    } else {
        crowd_at(common)
    }];
    if sheet.axis != Axis::Passes {
        words.push(drawn(common.passes));
    }
    for (axis, word) in [
        (Axis::Threads, "threads"),
        (Axis::Vertices, "vertices each"),
        (Axis::Influences, "influences"),
        (Axis::Models, "models"),
    ] {
        let value = axis.value(common);
        if value > 0 && axis != sheet.axis && varies(study, |point| axis.value(point)) {
            words.push(format!("{} {word}", grouped(value)));
        }
    }
    if !common.options.is_empty() {
        words.push(common.options.clone());
    }
    if varies(study, |point| &point.attributes) {
        words.push(attributes(common).to_owned());
    }
    words.join(", ")
}

/// Returns whether points of a study differ in a value.
fn varies<'a, T: PartialEq>(study: &'a Study, value: impl Fn(&'a Point) -> T) -> bool {
    let mut pairs = study.points.windows(2);
    pairs.any(|pair| value(&pair[0]) != value(&pair[1]))
}
