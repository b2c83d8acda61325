//! Crossovers: sizes at which one backend overtakes another, with their uncertainty.

use super::{Axis, CONFIDENCE, Sheet, SheetCurve, Study};
use crate::harness::uncertainty::{Level, Ratio};
use std::collections::BTreeMap;

/// Two curves that cross.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossover {
    /// The faster backend above [`Crossover::at`].
    pub above: String,
    /// The faster backend below it.
    pub below: String,
    /// Value of the axis, interpolated between measured ones.
    pub at: f64,
    /// Interval that contains the true value.
    pub range: (f64, f64),
    /// Nanoseconds that both take there.
    pub ns: f64,
    /// `true` if no other backend is faster there.
    pub leads: bool,
}

/// The crossings of a sheet's curves, those of the fastest first. Curves that differ by less than the noise on one side
/// do not cross, nor do those of backends that do not compete.
pub fn crossovers(study: &Study, sheet: &Sheet) -> Vec<Crossover> {
    let mut found = Vec::new();
    let mut curves = Vec::new();
    for curve in &sheet.curves {
        if !study.competes(curve) {
            continue;
        }
        let mut levels = BTreeMap::new();
        for point in &curve.points {
            if let Some(level) = study.entries[point.entry].level(sheet.quantity) {
                levels.insert(point.value, level);
            }
        }
        curves.push(CurveWithLevels { curve, levels });
    }
    for (index, a) in curves.iter().enumerate() {
        for b in &curves[index + 1..] {
            found.extend(between(sheet, a, b));
        }
    }
    found.sort_by(|a, b| b.leads.cmp(&a.leads).then_with(|| a.at.total_cmp(&b.at)));
    found
}

/// A point that both curves have: position, ratio of the times, and time of the second.
struct Shared {
    x: f64,
    /// Logarithm of the ratio, and of its bounds.
    log: f64,
    low: f64,
    high: f64,
    ns: f64,
}

/// A curve, and its levels by value of the axis.
struct CurveWithLevels<'a> {
    curve: &'a SheetCurve,
    levels: BTreeMap<u64, Level>,
}

/// The crossings of two curves of a sheet, whose other curves may be faster there.
fn between(sheet: &Sheet, a: &CurveWithLevels, b: &CurveWithLevels) -> Vec<Crossover> {
    let axis = sheet.axis;
    let mut shared = Vec::new();
    for (value, level) in &a.levels {
        let Some(other) = b.levels.get(value) else {
            continue;
        };
        let ratio: Ratio = level.over(other);
        let (low, high) = ratio.interval(CONFIDENCE);
        shared.push(Shared {
            x: position(axis, *value as f64),
            log: ratio.log,
            low: low.ln(),
            high: high.ln(),
            ns: other.median(),
        });
    }
    // Points at which the sign of the difference is certain.
    let sure: Vec<usize> = (0..shared.len())
        .filter(|&i| shared[i].low > 0.0 || shared[i].high < 0.0)
        .collect();
    let mut found = Vec::new();
    for pair in sure.windows(2) {
        let span = &shared[pair[0]..=pair[1]];
        let rising = span[0].log < 0.0;
        if rising == (span[span.len() - 1].log < 0.0) {
            continue;
        }
        let low = crossing(span, |shared| shared.low);
        let middle = crossing(span, |shared| shared.log);
        let high = crossing(span, |shared| shared.high);
        let from = low.x.min(middle.x).min(high.x);
        let to = low.x.max(middle.x).max(high.x);
        let [below, above] = if rising {
            [a.curve, b.curve]
        } else {
            [b.curve, a.curve]
        };
        let leads = sheet
            .curves
            .iter()
            .filter(|curve| curve.backend != below.backend && curve.backend != above.backend)
            .filter_map(|curve| interpolated(&positions(axis, curve), middle.x))
            .all(|other| other >= middle.ns);
        found.push(Crossover {
            above: above.backend.clone(),
            below: below.backend.clone(),
            at: value_at(axis, middle.x),
            range: (value_at(axis, from), value_at(axis, to)),
            ns: middle.ns,
            leads,
        });
    }
    found
}

/// Where a line crosses zero: position, and time there in nanoseconds.
struct Zero {
    x: f64,
    ns: f64,
}

/// First crossing of zero of the line through the points.
fn crossing(span: &[Shared], value: fn(&Shared) -> f64) -> Zero {
    let step = span
        .windows(2)
        .find(|pair| (value(&pair[0]) < 0.0) != (value(&pair[1]) < 0.0));
    let [from, to] = step.map_or([&span[0], &span[span.len() - 1]], |pair| {
        [&pair[0], &pair[1]]
    });
    let fraction = value(from) / (value(from) - value(to));
    let log = from.ns.ln() + (to.ns.ln() - from.ns.ln()) * fraction;
    Zero {
        x: from.x + (to.x - from.x) * fraction,
        ns: log.exp(),
    }
}

/// A curve's points: position, and logarithm of the time.
fn positions(axis: Axis, curve: &SheetCurve) -> Vec<(f64, f64)> {
    curve
        .points
        .iter()
        .map(|point| (position(axis, point.value as f64), (point.ns as f64).ln()))
        .collect()
}

/// The time at a position between points, which rise, in nanoseconds.
fn interpolated(points: &[(f64, f64)], x: f64) -> Option<f64> {
    let next = points.partition_point(|point| point.0 < x).max(1);
    let pair = points.get(next - 1..=next).filter(|pair| pair[0].0 <= x)?;
    Some((pair[0].1 + (pair[1].1 - pair[0].1) * (x - pair[0].0) / (pair[1].0 - pair[0].0)).exp())
}

/// Value of the axis at which the curve's time is `ns`, between measured ones; `None` if it never is.
pub fn reaches(axis: Axis, curve: &SheetCurve, ns: f64) -> Option<f64> {
    let points = positions(axis, curve);
    let target = ns.ln();
    let pair = points
        .windows(2)
        .find(|w| w[0].1 <= target && target < w[1].1)?;
    let x = pair[0].0 + (pair[1].0 - pair[0].0) * (target - pair[0].1) / (pair[1].1 - pair[0].1);
    Some(value_at(axis, x))
}

/// Position on the axis: the logarithm if times are almost proportional, so that straight lines fit.
fn position(axis: Axis, value: f64) -> f64 {
    if axis.is_linear() {
        value
    } else {
        value.max(f64::MIN_POSITIVE).ln()
    }
}

fn value_at(axis: Axis, x: f64) -> f64 {
    if axis.is_linear() { x } else { x.exp() }
}
