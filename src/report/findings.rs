//! Findings from results, as sentences.

use super::units::{duration, grouped};
use crate::frame::StageGroup;
use crate::results::crossover::{Crossover, crossovers, reaches};
use crate::results::key::Point;
use crate::results::ranking::{Lead, Ranking, Second, ranking};
use crate::results::study::{Axis, Curve, Quantity, Sheet, Study, StudyEntry};

/// A frame at 60 Hz, in nanoseconds.
pub const FRAME_60_HZ: f64 = 1e9 / 60.0;

/// The fastest backend on the largest crowd, for each number of passes, and how certain that is.
pub fn verdict(study: &Study) -> Vec<String> {
    let said = |point: &&Point| {
        let crowd = crowd(&point.scene, point.instances as u64);
        Some(format!("{crowd} ({}): {}", drawn(point.passes), fastest(&ranking(study, point)?)))
    };
    let mut found: Vec<String> = study.headlines().iter().filter_map(said).collect();
    if study.machine.is_emulated() {
        let adapter = &study.machine.adapter;
        let drawn = study.entries.iter().any(|entry| entry.point.passes > 0);
        let without =
            if drawn { "; drawing swamps frames there, so drawn ones compare by pose + upload + skin" } else { "" };
        found.push(format!(
            "{adapter} says how GPU kernels compare with each other, nothing about graphics hardware{without}."
        ));
    }
    found
}

/// The other findings, the most requested first.
pub fn findings(study: &Study) -> Vec<String> {
    let mut found = Vec::new();
    for sheet in study.sheets(Axis::Instances) {
        found.extend(crossovers(study, &sheet).iter().filter(|c| c.leads).map(|c| overtakes(&sheet, c)));
        found.extend(fits(study, &sheet));
    }
    for sheet in study.sheets(Axis::Passes) {
        found.extend(crossovers(study, &sheet).iter().map(|c| overtakes(&sheet, c)));
    }
    for sheet in study.sheets(Axis::Models) {
        found.extend(crossovers(study, &sheet).iter().map(|c| overtakes(&sheet, c)));
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

/// `1,000 walkers, nothing drawn`.
pub fn place(point: &Point) -> String {
    format!("{}, {}", crowd(&point.scene, point.instances as u64), drawn(point.passes))
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
    let mut words = Vec::new();
    if *axis == Axis::Instances {
        words.push(fixed.scene.clone());
    } else {
        words.push(crowd(&fixed.scene, fixed.instances as u64));
    }
    if *axis != Axis::Passes {
        words.push(drawn(fixed.passes));
    }
    for (other, word) in [
        (Axis::Threads, "threads"),
        (Axis::Vertices, "vertices each"),
        (Axis::Influences, "influences"),
        (Axis::Models, "models"),
    ] {
        let varies = study.points().windows(2).any(|w| other.value(w[0]) != other.value(w[1]));
        if *axis != other && varies {
            words.push(format!("{} {word}", grouped(other.value(fixed))));
        }
    }
    if !fixed.options.is_empty() {
        words.push(fixed.options.clone());
    }
    words.join(", ")
}

/// The verdict on a point: `cpu-rayon is fastest, 6.41 ms a frame, 1.92 times as fast as cpu-simd.`
pub fn fastest(ranking: &Ranking) -> String {
    let Ranking { quantity, first, ns, second } = ranking;
    let time = match quantity {
        Quantity::Frame => format!("{} a frame", duration(*ns)),
        Quantity::Work => format!("{} for pose, upload and skin", duration(*ns)),
    };
    let second = second.as_ref().map_or(String::new(), |Second { entry, ratio, lead }| match lead {
        Lead::Certain => format!(", {ratio:.2} times as fast as {}", entry.backend),
        Lead::WithinNoise => format!("; {} is as fast within the noise", entry.backend),
        Lead::Unknown => format!(", {ratio:.2} times as fast as {} by too few samples to be sure", entry.backend),
    });
    format!("{} is fastest, {time}{second}.", first.backend)
}

/// The finding that a backend overtakes another, with its uncertainty.
pub(super) fn overtakes(sheet: &Sheet, crossover: &Crossover) -> String {
    let Crossover { above, below, at, range, .. } = crossover;
    let fixed = &sheet.fixed;
    let number = |x: f64| grouped(x.round() as u64);
    let (place, range) = match sheet.axis {
        Axis::Instances => {
            let place = format!("{} ({})", crowd(&fixed.scene, nearest_three_digits(*at)), drawn(fixed.passes));
            (place, (number(range.0), number(range.1)))
        }
        Axis::Passes => {
            let place = format!("{at:.1} passes ({})", crowd(&fixed.scene, fixed.instances as u64));
            (place, (format!("{:.1}", range.0), format!("{:.1}", range.1)))
        }
        Axis::Models => {
            let crowd = crowd(&fixed.scene, fixed.instances as u64);
            let place = format!("{} models ({crowd}, {})", number(*at), drawn(fixed.passes));
            (place, (number(range.0), number(range.1)))
        }
        axis => (format!("{} {}", number(*at), axis.title()), (number(range.0), number(range.1))),
    };
    format!("{above} overtakes {below} at {place}; 95 % certain between {} and {}.", range.0, range.1)
}

fn nearest_three_digits(value: f64) -> u64 {
    let unit = 10f64.powf(value.max(1.0).log10().floor() - 2.0).max(1.0);
    ((value / unit).round() * unit) as u64
}

/// Finding: the size of the crowd that fits a frame at 60 Hz.
fn fits(study: &Study, sheet: &Sheet) -> Option<String> {
    // The crowd that fits is meaningless if drawing is emulated.
    if sheet.quantity == Quantity::Work {
        return None;
    }
    let curves = || sheet.curves.iter().filter(|curve| study.skins_all(curve));
    let best = curves()
        .filter_map(|curve| Some((reaches(study, sheet, curve, FRAME_60_HZ)?, curve)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let over = |index: usize| study.entries[index].time(sheet.quantity).is_some_and(|ns| ns as f64 > FRAME_60_HZ);
    let last = |curve: &Curve| curve.points.last().map(|&(_, index)| index);
    let all_fit = curves().filter(|curve| last(curve).is_some_and(|index| !over(index)));
    let all_fit = all_fit.min_by_key(|curve| last(curve).and_then(|index| study.entries[index].time(sheet.quantity)));
    let (scene, drawn) = (&sheet.fixed.scene, drawn(sheet.fixed.passes));
    match (all_fit, best) {
        (Some(curve), _) => {
            let most = curve.points.last().map_or(0, |(value, _)| *value);
            Some(format!("More than {} fit a 60 Hz frame on {} ({drawn}).", crowd(scene, most), curve.backend))
        }
        (None, Some((count, curve))) => {
            let count = crowd(scene, nearest_three_digits(count));
            Some(format!("About {count} fit a 60 Hz frame on {} ({drawn}).", curve.backend))
        }
        (None, None) => None,
    }
}

/// Finding: the percentage of the memory bandwidth that the best skinning reaches.
fn limit(study: &Study) -> Option<String> {
    let near = |entry: &StudyEntry| {
        entry.stages(StageGroup::Skin).find_map(|m| m.row.pct_of_limit).filter(|pct| pct.is_finite())
    };
    let (pct, entry) = study.entries.iter().filter_map(|e| Some((near(e)?, e))).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let place = crowd(&entry.point.scene, entry.point.instances as u64);
    Some(format!("Skinning comes to {pct:.0} % of this machine's bandwidth: {}, {place}.", entry.backend))
}
