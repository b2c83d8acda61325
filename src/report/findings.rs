//! Findings from results, as sentences.

use super::units::{duration, grouped};
use crate::frame::StageGroup;
use crate::results::crossover::{Crossover, crossovers, reaches};
use crate::results::key::Options;
use crate::results::{
    Axis, CurvePoint, Lead, Point, Quantity, Ranking, Sheet, Study, StudyEntry, ranking,
};
use crate::wording;
use std::cmp::Reverse;

/// A frame at 60 Hz, in nanoseconds.
pub const FRAME_60_HZ: f64 = 1e9 / 60.0;

/// Attributes of vertices unless results say otherwise: positions and normals.
const DEFAULT_ATTRIBUTES: &str = "pn";

/// The fastest backend on the largest crowd, for each number of passes, and how certain that is.
pub fn verdict(study: &Study) -> Vec<String> {
    let mut found = Vec::new();
    for point in study.headlines() {
        if let Some(ranking) = ranking(study, point) {
            let fastest = fastest(&ranking).join(" ");
            found.push(format!("{} ({}): {fastest}", crowd_at(point), way(point)));
        }
    }
    if study.machine.is_emulated {
        let emulated = emulated(&study.machine.adapter_label());
        let drawn = study.entries.iter().any(|entry| entry.point.passes > 0);
        let without = if drawn {
            "; drawing dominates frames there, so they are compared by pose + upload + skin"
        } else {
            ""
        };
        found.push(format!("{emulated}{without}."));
    }
    found
}

/// The other findings, the most requested first.
pub fn findings(study: &Study) -> Vec<String> {
    let mut found = Vec::new();
    for sheet in study.sheets(Axis::Instances) {
        for crossover in crossovers(study, sheet) {
            if crossover.leads {
                found.push(overtakes(sheet, &crossover));
            }
        }
        found.extend(fits(study, sheet));
    }
    for axis in [Axis::Passes, Axis::Models] {
        for sheet in study.sheets(axis) {
            for crossover in crossovers(study, sheet) {
                found.push(overtakes(sheet, &crossover));
            }
        }
    }
    found.extend(limit(study));
    found
}

/// `1,000 walkers`: the scene's name is used as the word if it is one for people.
pub fn crowd(scene: &str, instances: u64) -> String {
    match (scene, instances) {
        ("walkers", 1) => "1 walker".into(),
        ("walkers", _) => format!("{} walkers", grouped(instances)),
        (_, 1) => "1 instance".into(),
        _ => format!("{} instances of {scene}", grouped(instances)),
    }
}

/// `1,000 walkers, nothing drawn`, and the settings that are not the defaults.
pub fn place(point: &Point) -> String {
    format!("{}, {}", crowd_at(point), way(point))
}

fn crowd_at(point: &Point) -> String {
    crowd(&point.scene, point.instances as u64)
}

/// `nothing drawn`, and the settings that are not the defaults.
fn way(point: &Point) -> String {
    let settings = settings(&point.options, &point.attributes);
    format!("{}{settings}", drawn(point.passes))
}

/// Options and attributes that are not the defaults, each after a comma.
fn settings(options: &Options, attributes: &str) -> String {
    let mut settings = String::new();
    if !options.0.is_empty() {
        settings += &format!(", {options}");
    }
    if !["", DEFAULT_ATTRIBUTES].contains(&attributes) {
        settings += &format!(", attributes={attributes}");
    }
    settings
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
    let fixed = &sheet.fixed;
    let mut words = vec![match fixed.instances {
        Some(instances) => crowd(&fixed.scene, instances as u64),
        None => fixed.scene.clone(),
    }];
    words.extend(fixed.passes.map(drawn));
    for (axis, value, word) in [
        (
            Axis::Threads,
            fixed.threads.map(|count| count as u64),
            "threads",
        ),
        (Axis::Vertices, fixed.vertices, "vertices each"),
        (
            Axis::Influences,
            fixed.influences.map(u64::from),
            "influences",
        ),
        (Axis::Models, fixed.models.map(u64::from), "models"),
    ] {
        if let Some(value) = value
            && varies(study, |point| axis.value(point))
        {
            words.push(format!("{} {word}", grouped(value)));
        }
    }
    if !fixed.options.0.is_empty() {
        words.push(fixed.options.to_string());
    }
    if varies(study, |point| &point.attributes) {
        words.push(format!("attributes={}", fixed.attributes));
    }
    words.join(", ")
}

/// Returns whether points of a study differ in a value.
fn varies<'a, T: PartialEq>(study: &'a Study, value: impl Fn(&'a Point) -> T) -> bool {
    let mut pairs = study.points.windows(2);
    pairs.any(|pair| value(&pair[0]) != value(&pair[1]))
}

/// The verdict on a point, in one or two sentences: `cpu-rayon is fastest, 6.41 ms a frame, 1.92 times as fast as cpu-simd.`
pub fn fastest(ranking: &Ranking) -> Vec<String> {
    let unit = match ranking.quantity {
        Quantity::Frame => "a frame",
        Quantity::Work => "for pose, upload and skin",
    };
    let first = Contender {
        name: &ranking.first.backend,
        time: &format!("{} {unit}", duration(ranking.ns)),
    };
    let Some(second) = &ranking.second else {
        return alone(&first);
    };
    let next = Contender {
        name: &second.entry.backend,
        time: &duration(second.ns),
    };
    sentences(&first, &next, &format!("{:.2}", second.ratio), second.lead)
}

/// A backend in a verdict.
#[derive(Debug, Clone, Copy)]
pub struct Contender<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its median with its unit.
    pub time: &'a str,
}

/// The verdict where one backend has a time.
pub fn alone(only: &Contender) -> Vec<String> {
    let Contender { name, time } = only;
    vec![format!(
        "{name} takes {time}; there is no other to compare it with."
    )]
}

/// The verdict on the two backends with the smallest medians; `ratio` is that of the second to the first.
pub fn sentences(first: &Contender, second: &Contender, ratio: &str, lead: Lead) -> Vec<String> {
    let Contender { name, time } = first;
    let next = second.name;
    match lead {
        Lead::Certain => vec![format!(
            "{name} is fastest, {time}, {ratio} times as fast as {next}."
        )],
        Lead::WithinNoise => vec![
            format!("{name} has the smallest median, {time}."),
            format!(
                "This run cannot tell it from {next} ({}): too noisy.",
                second.time
            ),
        ],
        Lead::Unknown => vec![
            format!("{name} has the smallest median, {time}."),
            format!(
                "{next} has {} ({ratio} times), with too few samples to be sure.",
                second.time
            ),
        ],
    }
}

/// The sentence about an adapter that is emulated on the CPU, without its end.
pub fn emulated(adapter: &str) -> String {
    format!(
        "{adapter} runs GPU kernels on the CPU: its times compare them with each other and say nothing about graphics hardware"
    )
}

/// The finding that a backend overtakes another, with its uncertainty.
pub(super) fn overtakes(sheet: &Sheet, crossover: &Crossover) -> String {
    let fixed = &sheet.fixed;
    let [from, value, to] = [crossover.range.0, crossover.at, crossover.range.1].map(|value| {
        if sheet.axis == Axis::Passes {
            format!("{value:.1}")
        } else {
            grouped(value.round() as u64)
        }
    });
    let settings = settings(&fixed.options, &fixed.attributes);
    let place = match (sheet.axis, fixed.instances, fixed.passes) {
        (Axis::Instances, _, Some(passes)) => {
            let crowd = crowd(&fixed.scene, wording::rounded(crossover.at, 3));
            format!("{crowd} ({}{settings})", drawn(passes))
        }
        (Axis::Passes, Some(instances), _) => {
            let crowd = crowd(&fixed.scene, instances as u64);
            format!("{value} passes ({crowd}{settings})")
        }
        (Axis::Models, Some(instances), Some(passes)) => {
            let crowd = crowd(&fixed.scene, instances as u64);
            format!("{value} models ({crowd}, {}{settings})", drawn(passes))
        }
        (axis, ..) => format!("{value} {}", axis.title()),
    };
    format!(
        "{} overtakes {} at {place}; 95 % certain between {from} and {to}.",
        crossover.above, crossover.below
    )
}

/// Finding: the size of the crowd that fits a frame at 60 Hz.
fn fits(study: &Study, sheet: &Sheet) -> Option<String> {
    // The crowd that fits is meaningless if drawing is emulated.
    if sheet.quantity == Quantity::Work {
        return None;
    }
    let mut largest: Vec<(f64, &str)> = Vec::new();
    let mut ends: Vec<(CurvePoint, &str)> = Vec::new();
    for curve in &sheet.curves {
        let mut entries = curve.points.iter().map(|point| &study.entries[point.entry]);
        let is_steady = entries.all(|entry| !entry.is_unsteady(sheet.quantity));
        if !is_steady || !study.skins_all(curve) {
            continue;
        }
        if let Some(instances) = reaches(sheet.axis, curve, FRAME_60_HZ) {
            largest.push((instances, &curve.backend));
        }
        let last = curve.points.last();
        if let Some(last) = last.filter(|last| last.ns as f64 <= FRAME_60_HZ) {
            ends.push((*last, &curve.backend));
        }
    }
    let largest = largest.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    // Not every backend was measured on the same crowds: the one that holds most at the end of its curve is named.
    let end = ends
        .into_iter()
        .min_by_key(|end| (Reverse(end.0.value), end.0.ns));
    let fixed = &sheet.fixed;
    let settings = settings(&fixed.options, &fixed.attributes);
    let way = drawn(fixed.passes?) + &settings;
    if let Some((last, backend)) = end
        && largest.is_none_or(|largest| largest.0 <= last.value as f64)
    {
        let crowd = crowd(&fixed.scene, last.value);
        return Some(format!(
            "More than {crowd} fit a 60 Hz frame on {backend} ({way})."
        ));
    }
    let (instances, backend) = largest?;
    let crowd = crowd(&fixed.scene, wording::rounded(instances, 3));
    Some(format!(
        "About {crowd} fit a 60 Hz frame on {backend} ({way})."
    ))
}

/// Finding: the percentage of the memory bandwidth that the best skinning reaches at the headline points. Times of tiny
/// crowds are too noisy, and their data too near, to say anything about memory.
fn limit(study: &Study) -> Option<String> {
    let mut reached: Vec<(f64, &StudyEntry)> = Vec::new();
    for entry in study
        .headlines()
        .into_iter()
        .flat_map(|point| study.at(point))
    {
        let mut stages = entry.stages(StageGroup::Skin);
        let pct = stages.find_map(|m| m.row.pct_of_limit);
        if let Some(pct) = pct.filter(|pct| pct.is_finite()) {
            reached.push((pct, entry));
        }
    }
    let (pct, entry) = reached.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let point = &entry.point;
    let place = crowd_at(point) + &settings(&point.options, &point.attributes);
    let beyond = if pct > 100.5 {
        " More than 100 % is not an error: caches held some of the data, or the limit was measured at a slower moment."
    } else {
        ""
    };
    Some(format!(
        "Skinning reaches {pct:.0} % of this machine's bandwidth: {}, {place}.{beyond}",
        entry.backend
    ))
}
