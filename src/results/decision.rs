//! The cheapest backends at a point: in time, in memory, and among those that are equally exact.

use super::{Axis, Point, Ranking, Sheet, Study, StudyEntry, ranking_of};
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    let is_drawn = |value: &u64| sheet.axis != Axis::Passes || *value > 0;
    let mut measured: BTreeMap<u64, Vec<&StudyEntry>> = BTreeMap::new();
    let mut drawn: HashMap<&str, BTreeSet<u64>> = HashMap::new();
    for entry in study.entries.iter().filter(|entry| entry.is_ok() && !entry.leaves_out()) {
        let value = sheet.axis.value(&entry.point);
        if sheet.values.binary_search(&value).is_ok() && sheet.axis.is_along(&sheet.fixed, &entry.point) {
            measured.entry(value).or_default().push(entry);
            drawn.entry(&entry.backend).or_default().extend(Some(value).filter(is_drawn));
        }
    }
    let values = sheet.values.iter().filter(|value| is_drawn(value)).count();
    let complete = |entry: &&StudyEntry| drawn[entry.backend.as_str()].len() == values;
    let least = measured.iter().filter_map(|(&value, entries)| {
        let (entry, _) = smallest(entries.iter().copied().filter(complete))?;
        Some((value, entry.backend.clone()))
    });
    let least: Vec<_> = least.collect();
    let changes = least.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    let change =
        |pair: &[(u64, String)]| MemoryChange { before: pair[0].1.clone(), after: pair[1].1.clone(), from: pair[1].0 };
    changes.map(change).collect()
}

/// The sheets over instances and over passes that go through a point, with two values or more.
pub fn sheets_through<'a>(study: &'a Study, point: &Point) -> Vec<&'a Sheet> {
    let through = |axis: Axis| {
        study
            .sheets(axis)
            .iter()
            .filter(move |sheet| axis.is_along(&sheet.fixed, point) && sheet.values.contains(&axis.value(point)))
    };
    through(Axis::Instances).chain(through(Axis::Passes)).collect()
}
