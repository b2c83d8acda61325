//! What follows from the results of a machine: verdicts and remarks.

use super::places::place;
use super::remark::Remark;
use crate::frame::{Side, Stage, StageGroup};
use crate::harness::TAIL_SAMPLES;
use crate::harness::stats::Summary;
use crate::results::crossover::{crossovers, reaches};
use crate::results::memory::{least_memory, smallest};
use crate::results::{Axis, Entry, Point, Quantity, RESOLUTION, Sheet, Study, verdict_of};
use std::cmp::Reverse;

/// A frame at 60 Hz, in nanoseconds.
pub const FRAME_60_HZ: f64 = 1e9 / 60.0;
/// Fewest frames from which a slow start or a drift can be told.
const FRAMES: usize = 20;
/// Largest excess of the first tenth of the frames, and largest drift between the thirds of a run.
const SLOW_START: f64 = 0.10;
const DRIFT: f64 = 0.05;

/// The verdict on a point in sentences; none if nothing was measured.
pub fn verdict(study: &Study, point: &Point) -> Vec<String> {
    let Some(verdict) = study.verdict(point) else {
        if study.at(point).any(is_unsteady) {
            return vec![Remark::NoVerdict.to_string()];
        }
        return left_out(study, point);
    };
    let mut sentences = vec![verdict.to_string()];
    sentences.extend(left_out(study, point));
    sentences
}

/// The verdict on each headline point that was measured, with its place before it.
pub fn headline_verdicts(study: &Study) -> Vec<String> {
    let mut verdicts = Vec::new();
    for point in study.headlines() {
        let sentences = verdict(study, point);
        if !sentences.is_empty() {
            verdicts.push(format!("{}: {}", place(point), sentences.join(" ")));
        }
    }
    verdicts
}

/// What a verdict leaves out, in sentences.
fn left_out(study: &Study, point: &Point) -> Vec<String> {
    let mut sentences = Vec::new();
    if study.quantity(point.passes) == Quantity::Work && study.at(point).next().is_some() {
        sentences.push(Remark::DrawingLeftOut.to_string());
    }
    sentences.extend(not_ranked(study, point).iter().map(ToString::to_string));
    sentences
}

/// The backends at a point without a rank: those that skin while drawing, where drawing is left out, and those whose
/// output cannot be drawn.
pub fn not_ranked<'a>(study: &'a Study, point: &Point) -> Vec<Remark<'a>> {
    let is_work = study.quantity(point.passes) == Quantity::Work;
    let mut skinning_in_draw = Vec::new();
    let mut never_drawn = Vec::new();
    for entry in study.at(point).filter(|entry| entry.is_ok()) {
        if entry.is_never_drawn() {
            never_drawn.push(entry.backend.as_str());
        } else if is_work && entry.skins_in_draw() {
            skinning_in_draw.push(entry.backend.as_str());
        }
    }
    let mut remarks = Vec::new();
    if !skinning_in_draw.is_empty() {
        remarks.push(Remark::NotRanked(skinning_in_draw));
    }
    if !never_drawn.is_empty() {
        remarks.push(Remark::NeverDrawn(never_drawn));
    }
    remarks
}

/// The remark that the times say nothing about graphics hardware, if a processor emulated the adapter.
pub fn emulated(study: &Study) -> Option<Remark<'_>> {
    let takes_part = study.entries.iter().any(Entry::uses_adapter);
    let is_emulated = study.machine.is_emulated() && takes_part;
    is_emulated.then_some(Remark::Emulated(&study.machine.adapter))
}

/// The findings of a study, the most requested first.
pub fn findings(study: &Study) -> Vec<Remark<'_>> {
    let mut found = Vec::new();
    for sheet in study.sheets(Axis::Instances) {
        found.extend(leading_crossovers(study, sheet));
        found.extend(fits(study, sheet));
    }
    for axis in [Axis::Passes, Axis::Models] {
        for sheet in study.sheets(axis) {
            for crossover in crossovers(study, sheet) {
                found.push(Remark::Overtakes(sheet, crossover));
            }
        }
    }
    found.extend(bandwidth(study));
    found
}

fn leading_crossovers<'a>(study: &'a Study, sheet: &'a Sheet) -> Vec<Remark<'a>> {
    let mut crossovers = crossovers(study, sheet);
    crossovers.retain(|crossover| crossover.leads);
    crossovers
        .into_iter()
        .map(|crossover| Remark::Overtakes(sheet, crossover))
        .collect()
}

/// The size of the crowd that fits a frame at 60 Hz.
fn fits<'a>(study: &'a Study, sheet: &'a Sheet) -> Option<Remark<'a>> {
    // The crowd that fits is meaningless if drawing is emulated.
    if sheet.quantity == Quantity::Work {
        return None;
    }
    let mut best = None;
    for curve in &sheet.curves {
        let mut entries = curve.points.iter().map(|point| &study.entries[point.entry]);
        let is_steady = entries.all(|entry| !entry.is_unsteady(sheet.quantity));
        let Some(last) = curve
            .points
            .last()
            .filter(|_| is_steady && study.competes(curve))
        else {
            continue;
        };
        // Not every backend was measured on the same crowds: of those that hold as many at the end of their curves, the
        // fastest is named.
        let is_end = last.ns as f64 <= FRAME_60_HZ;
        let instances = if is_end {
            Some(last.value as f64)
        } else {
            reaches(sheet.axis, curve, FRAME_60_HZ)
        };
        if let Some(instances) = instances {
            let held = (instances, is_end, Reverse(last.ns), curve.backend.as_str());
            if best.is_none_or(|best| held > best) {
                best = Some(held);
            }
        }
    }
    let (instances, is_end, _, backend) = best?;
    Some(Remark::Fits {
        sheet,
        backend,
        instances,
        is_end,
    })
}

/// The percentage of the memory bandwidth that the best skinning reaches at the headline points. Times of tiny crowds are
/// too noisy, and their data too near, to say anything about memory.
fn bandwidth(study: &Study) -> Option<Remark<'_>> {
    let mut best: Option<(f64, &Entry)> = None;
    for point in study.headlines() {
        for entry in study.at(point) {
            let reached = entry
                .stages(StageGroup::Skin)
                .find_map(|row| row.pct_of_limit)
                .filter(|percent| percent.is_finite());
            if let Some(percent) = reached
                && best.is_none_or(|best| percent >= best.0)
            {
                best = Some((percent, entry));
            }
        }
    }
    let (percent, entry) = best?;
    Some(Remark::Bandwidth {
        percent,
        backend: &entry.backend,
        point: &entry.point,
    })
}

/// What else decides at a point beside time: memory, error, and where the answers change.
pub fn answers<'a>(study: &'a Study, point: &Point) -> Vec<Remark<'a>> {
    let quantity = study.quantity(point.passes);
    let whole: Vec<&Entry> = study
        .at(point)
        .filter(|entry| entry.is_ok() && entry.competes())
        .collect();
    let memory = smallest(whole.iter().copied());
    let mut answers = Vec::new();
    if let Some(entry) = memory {
        answers.push(Remark::LeastMemory(
            &entry.backend,
            entry.memory().unwrap_or_default(),
        ));
    }
    answers.extend(among_exact(&whole, quantity));
    let mut has_sheet = false;
    for axis in [Axis::Instances, Axis::Passes] {
        for sheet in study.sheets(axis) {
            if sheet.value(point).is_some() {
                has_sheet = true;
                answers.extend(changes(study, sheet));
            }
        }
    }
    if !has_sheet {
        answers.push(Remark::OneCrowd);
    }
    answers
}

/// The cheapest backends among those with the smallest error.
fn among_exact<'a>(whole: &[&'a Entry], quantity: Quantity) -> Option<Remark<'a>> {
    let tolerances = whole.iter().filter_map(|entry| tolerance(entry));
    let least = tolerances.min_by(f64::total_cmp)?;
    let mut exact = whole.to_vec();
    exact.retain(|entry| tolerance(entry) == Some(least));
    let [all, exact] = [whole, &exact[..]].map(|entries| {
        let fastest = verdict_of(quantity, entries.iter().copied());
        let smallest = smallest(entries.iter().copied());
        (
            fastest.map(|verdict| verdict.first.backend.as_str()),
            smallest.map(|entry| entry.backend.as_str()),
        )
    });
    if exact == (None, None) {
        return None;
    }
    Some(Remark::Exact {
        tolerance: least,
        fastest: exact.0,
        smallest: exact.1,
        is_same: all == exact,
    })
}

/// The tolerance to which a backend was held, over the diagonal of the model's bounding box; old results do not say.
fn tolerance(entry: &Entry) -> Option<f64> {
    entry.last()?.parity_tol
}

/// Changes of the fastest backend and of the one with the least memory along a sheet over instances or passes.
fn changes<'a>(study: &'a Study, sheet: &'a Sheet) -> Vec<Remark<'a>> {
    let mut found = leading_crossovers(study, sheet);
    for pair in least_memory(study, sheet).windows(2) {
        let [(_, before), (from, after)] = [pair[0], pair[1]];
        if before != after {
            found.push(Remark::MemoryChanges {
                sheet,
                from,
                before,
                after,
            });
        }
    }
    if found.is_empty() {
        found.push(Remark::NothingChanges(sheet));
    }
    found
}

/// Returns whether the device's clock was unsteady in a time by which a backend is compared.
pub fn is_unsteady(entry: &Entry) -> bool {
    Quantity::ALL
        .iter()
        .any(|quantity| entry.is_unsteady(*quantity))
}

/// Remarks on the times of a study: what may be wrong with them, and what helps.
pub fn conditions_of_times(study: &Study) -> Vec<Remark<'_>> {
    let mut remarks = Vec::new();
    let unsteady = study.entries.iter().filter(|entry| is_unsteady(entry));
    let least = unsteady
        .flat_map(|entry| entry.runs.iter().flatten())
        .filter_map(|row| row.device_clock_min_pct)
        .reduce(f64::min);
    remarks.extend(least.map(Remark::Unsteady));
    remarks.extend(backends_that(study, has_dropped).map(Remark::OtherClocks));
    for side in Side::BOTH {
        let mut noisy = study.entries.iter().map(Entry::noisy_sides);
        if noisy.any(|sides| sides.contains(&side)) {
            remarks.push(Remark::Noisy(side));
        }
    }
    let mut frames = study
        .entries
        .iter()
        .filter_map(|entry| entry.frame()?.frames);
    if frames.any(|count| count < TAIL_SAMPLES) {
        remarks.push(Remark::Tail);
    }
    remarks
        .extend(backends_that(study, |entry| starts_slowly(&times(entry))).map(Remark::SlowStart));
    remarks.extend(backends_that(study, |entry| drifts(&times(entry))).map(Remark::Drift));
    let mut short = Vec::new();
    for entry in &study.entries {
        for row in entry.runs.last().into_iter().flatten() {
            if row.median_ns.is_some_and(|ns| ns < RESOLUTION) {
                short.push(format!("{} {}", entry.backend, row.stage.name()));
            }
        }
    }
    if !short.is_empty() {
        remarks.push(Remark::Short(short));
    }
    remarks
}

/// The backends of the entries for which something holds; `None` without any.
fn backends_that(study: &Study, holds: impl Fn(&Entry) -> bool) -> Option<Vec<&str>> {
    let entries = study.entries.iter().filter(|entry| holds(entry));
    let backends: Vec<&str> = entries.map(|entry| entry.backend.as_str()).collect();
    (!backends.is_empty()).then_some(backends)
}

/// Returns whether frames were left out because they ran at another clock.
fn has_dropped(entry: &Entry) -> bool {
    entry.frame().is_some_and(|row| row.dropped > Some(0))
}

/// The measured times of a backend's frames by the host's clock.
fn times(entry: &Entry) -> Vec<u64> {
    let frame = entry.stage_on(Stage::Frame, Side::Host);
    frame.map_or(Vec::new(), |row| row.times().collect())
}

fn starts_slowly(times: &[u64]) -> bool {
    let (first, rest) = times.split_at(times.len() / 10);
    times.len() >= FRAMES && median(first) > median(rest) * (1.0 + SLOW_START)
}

fn drifts(times: &[u64]) -> bool {
    let mut least = f64::INFINITY;
    let mut most: f64 = 0.0;
    for third in times.chunks((times.len() / 3).max(1)).take(3) {
        least = least.min(median(third));
        most = most.max(median(third));
    }
    times.len() >= FRAMES && most > least * (1.0 + DRIFT)
}

/// Median of some frames in nanoseconds; 0 without any.
fn median(times: &[u64]) -> f64 {
    Summary::of(times.iter().copied()).map_or(0.0, |summary| summary.median as f64)
}
