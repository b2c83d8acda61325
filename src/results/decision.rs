//! The cheapest backends at a point: in time, in memory, and among those that are equally exact.

use super::key::Point;
use super::ranking::{Ranking, ranking_of};
use super::study::{Axis, Sheet, Study, StudyEntry};

/// The cheapest backends at a point that skin the whole crowd.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision<'a> {
    /// By time; `None` if none has a time.
    pub time: Option<Ranking<'a>>,
    /// By memory, with its bytes on host and device; `None` if none has a memory column, as in old results.
    pub memory: Option<(&'a StudyEntry, u64)>,
    /// Smallest tolerance to which a backend was held, over the diagonal of the model's bounding box; `None` if results
    /// do not say.
    pub tolerance: Option<f64>,
    /// By time, of the backends that were held to this tolerance.
    pub exact_time: Option<Ranking<'a>>,
    /// By memory, of the backends that were held to this tolerance.
    pub exact_memory: Option<(&'a StudyEntry, u64)>,
}

/// Decides at a point.
pub fn decision<'a>(study: &'a Study, point: &'a Point) -> Decision<'a> {
    let whole: Vec<&StudyEntry> = study.at(point).filter(|entry| entry.is_ok() && !entry.leaves_out()).collect();
    let held = |entry: &StudyEntry| entry.last()?.row.parity_tol;
    let tolerance = whole.iter().filter_map(|entry| held(entry)).min_by(f64::total_cmp);
    let exact = || whole.iter().copied().filter(|entry| tolerance.is_some() && held(entry) == tolerance);
    let quantity = study.quantity(point.passes);
    Decision {
        time: ranking_of(quantity, whole.iter().copied()),
        memory: smallest(whole.iter().copied()),
        tolerance,
        exact_time: ranking_of(quantity, exact()),
        exact_memory: smallest(exact()),
    }
}

/// The entry with the least memory; of equals the first.
fn smallest<'a>(entries: impl Iterator<Item = &'a StudyEntry>) -> Option<(&'a StudyEntry, u64)> {
    entries.filter_map(|entry| Some((entry, entry.memory()?))).min_by_key(|(_, bytes)| *bytes)
}

/// A change of the backend with the least memory along an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryChange {
    /// The backend with the least memory at the measured value before `from`.
    pub before: String,
    /// The backend with the least memory at `from`.
    pub after: String,
    /// Value of the axis.
    pub from: u64,
}

/// The changes of the backend with the least memory along a sheet's axis, of the backends that were measured at all
/// of the sheet's values; where nothing is drawn, some backends have nothing to do.
pub fn memory_changes(study: &Study, sheet: &Sheet) -> Vec<MemoryChange> {
    let measured_at = |value: u64| {
        let of_value = study.entries.iter().filter(move |entry| {
            entry.is_ok() && sheet.axis.value(&entry.point) == value && sheet.axis.is_along(&sheet.fixed, &entry.point)
        });
        of_value.filter(|entry| !entry.leaves_out())
    };
    let complete = |entry: &&StudyEntry| {
        let mut drawn = sheet.values.iter().filter(|value| sheet.axis != Axis::Passes || **value > 0);
        drawn.all(|&value| measured_at(value).any(|other| other.backend == entry.backend))
    };
    let least = sheet.values.iter().filter_map(|&value| {
        let (entry, _) = smallest(measured_at(value).filter(complete))?;
        Some((value, entry.backend.clone()))
    });
    let least: Vec<_> = least.collect();
    let changes = least.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    let change =
        |pair: &[(u64, String)]| MemoryChange { before: pair[0].1.clone(), after: pair[1].1.clone(), from: pair[1].0 };
    changes.map(change).collect()
}

/// The sheets over instances and over passes that go through a point, with two values or more.
pub fn sheets_through(study: &Study, point: &Point) -> Vec<Sheet> {
    let through = |axis: Axis| {
        study
            .sheets(axis)
            .into_iter()
            .filter(move |sheet| axis.is_along(&sheet.fixed, point) && sheet.values.contains(&axis.value(point)))
    };
    through(Axis::Instances).chain(through(Axis::Passes)).collect()
}
