//! Findings from results, as sentences.

use super::units::{duration, grouped};
use crate::frame::StageGroup;
use crate::results::crossover::{Crossover, crossovers, reaches};
use crate::results::{
    Axis, Curve, Lead, Point, Quantity, Ranking, Sheet, Study, StudyEntry, ranking,
};
use crate::wording;
use std::cmp::Reverse;

/// A frame at 60 Hz, in nanoseconds.
pub const FRAME_60_HZ: f64 = 1e9 / 60.0;

/// Attributes of vertices unless results say otherwise: positions and normals.
const DEFAULT_ATTRIBUTES: &str = "pn";

/// The fastest backend on the largest crowd, for each number of passes, and how certain that is.
pub fn verdict(study: &Study) -> Vec<String> {
    let said = |point: &&Point| {
        let crowd = crowd(&point.scene, point.instances as u64);
        let way = format!("{}{}", drawn(point.passes), settings(point));
        Some(format!(
            "{crowd} ({way}): {}",
            fastest(&ranking(study, point)?).join(" ")
        ))
    };
    let mut found: Vec<String> = study.headlines().iter().filter_map(said).collect();
    if study.machine.is_emulated() {
        let adapter = &study.machine.adapter;
        let drawn = study.entries.iter().any(|entry| entry.point.passes > 0);
        let without = if drawn {
            "; drawing dominates frames there, so they are compared by pose + upload + skin"
        } else {
            ""
        };
        found.push(format!("{}{without}.", emulated(adapter)));
    }
    found
}

/// The other findings, the most requested first.
pub fn findings(study: &Study) -> Vec<String> {
    let mut found = Vec::new();
    for sheet in study.sheets(Axis::Instances) {
        found.extend(
            crossovers(study, sheet)
                .iter()
                .filter(|c| c.leads)
                .map(|c| overtakes(sheet, c)),
        );
        found.extend(fits(study, sheet));
    }
    for sheet in [Axis::Passes, Axis::Models]
        .into_iter()
        .flat_map(|axis| study.sheets(axis))
    {
        found.extend(crossovers(study, sheet).iter().map(|c| overtakes(sheet, c)));
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
    format!(
        "{}, {}{}",
        crowd(&point.scene, point.instances as u64),
        drawn(point.passes),
        settings(point)
    )
}

/// Options and attributes that are not the defaults, each after a comma.
fn settings(point: &Point) -> String {
    let Point {
        options,
        attributes,
        ..
    } = point;
    let options = (!options.0.is_empty()).then(|| format!(", {options}"));
    let are_default = ["", DEFAULT_ATTRIBUTES].contains(&attributes.as_str());
    let attributes = (!are_default).then(|| format!(", attributes={attributes}"));
    options.into_iter().chain(attributes).collect()
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
    let Sheet { axis, fixed, .. } = sheet;
    let mut words = vec![match axis {
        Axis::Instances => fixed.scene.clone(),
        _ => crowd(&fixed.scene, fixed.instances as u64),
    }];
    if *axis != Axis::Passes {
        words.push(drawn(fixed.passes));
    }
    for (other, word) in [
        (Axis::Threads, "threads"),
        (Axis::Vertices, "vertices each"),
        (Axis::Influences, "influences"),
        (Axis::Models, "models"),
    ] {
        let varies = study
            .points
            .windows(2)
            .any(|w| other.value(&w[0]) != other.value(&w[1]));
        if *axis != other && varies {
            words.push(format!("{} {word}", grouped(other.value(fixed))));
        }
    }
    if !fixed.options.0.is_empty() {
        words.push(fixed.options.to_string());
    }
    if study
        .points
        .windows(2)
        .any(|w| w[0].attributes != w[1].attributes)
    {
        words.push(format!("attributes={}", fixed.attributes));
    }
    words.join(", ")
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
    let Crossover {
        above,
        below,
        at,
        range,
        ..
    } = crossover;
    let fixed = &sheet.fixed;
    let number = |x: f64| match sheet.axis {
        Axis::Passes => format!("{x:.1}"),
        _ => grouped(x.round() as u64),
    };
    let (settings, drawn) = (settings(fixed), drawn(fixed.passes));
    let whole = crowd(&fixed.scene, fixed.instances as u64);
    let (from, value, to) = (number(range.0), number(*at), number(range.1));
    let place = match sheet.axis {
        Axis::Instances => format!(
            "{} ({drawn}{settings})",
            crowd(&fixed.scene, wording::rounded(*at, 3))
        ),
        Axis::Passes => format!("{value} passes ({whole}{settings})"),
        Axis::Models => format!("{value} models ({whole}, {drawn}{settings})"),
        axis => format!("{value} {}", axis.title()),
    };
    format!("{above} overtakes {below} at {place}; 95 % certain between {from} and {to}.")
}

/// Finding: the size of the crowd that fits a frame at 60 Hz.
fn fits(study: &Study, sheet: &Sheet) -> Option<String> {
    // The crowd that fits is meaningless if drawing is emulated.
    if sheet.quantity == Quantity::Work {
        return None;
    }
    let is_steady = |curve: &&Curve| {
        let mut entries = curve.points.iter().map(|point| &study.entries[point.entry]);
        entries.all(|entry| !entry.is_unsteady(sheet.quantity))
    };
    let curves = || {
        let whole = sheet.curves.iter().filter(|curve| study.skins_all(curve));
        whole.filter(is_steady)
    };
    let best = curves()
        .filter_map(|curve| Some((reaches(sheet.axis, curve, FRAME_60_HZ)?, curve)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    // Not every backend was measured on the same crowds: the one that holds most at the end of its curve is named.
    let all_fit = curves()
        .filter_map(|curve| Some((*curve.points.last()?, curve)))
        .filter(|(last, _)| last.ns as f64 <= FRAME_60_HZ)
        .min_by_key(|(last, _)| (Reverse(last.value), last.ns));
    let scene = &sheet.fixed.scene;
    let way = format!("{}{}", drawn(sheet.fixed.passes), settings(&sheet.fixed));
    match (all_fit, best) {
        (Some((last, curve)), best) if best.is_none_or(|(count, _)| count <= last.value as f64) => {
            Some(format!(
                "More than {} fit a 60 Hz frame on {} ({way}).",
                crowd(scene, last.value),
                curve.backend
            ))
        }
        (_, Some((count, curve))) => {
            let count = crowd(scene, wording::rounded(count, 3));
            Some(format!(
                "About {count} fit a 60 Hz frame on {} ({way}).",
                curve.backend
            ))
        }
        (_, None) => None,
    }
}

/// Finding: the percentage of the memory bandwidth that the best skinning reaches at the headline points. Times of tiny
/// crowds are too noisy, and their data too near, to say anything about memory.
fn limit(study: &Study) -> Option<String> {
    let near = |entry: &StudyEntry| {
        entry
            .stages(StageGroup::Skin)
            .find_map(|m| m.row.pct_of_limit)
            .filter(|pct| pct.is_finite())
    };
    let headlines = study.headlines();
    let entries = headlines.iter().flat_map(|point| study.at(point));
    let (pct, entry) = entries
        .filter_map(|e| Some((near(e)?, e)))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let point = &entry.point;
    let place = format!(
        "{}{}",
        crowd(&point.scene, point.instances as u64),
        settings(point)
    );
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
