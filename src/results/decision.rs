//! Facts for choosing a backend by more than its speed: which backend takes the least memory, and along which axes that
//! answer may change.

use super::{Axis, Point, Sheet, Study, StudyEntry};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The entry with the least memory; of equals the first.
pub fn smallest<'a>(
    entries: impl Iterator<Item = &'a StudyEntry>,
) -> Option<(&'a StudyEntry, u64)> {
    entries
        .filter_map(|entry| Some((entry, entry.memory()?)))
        .min_by_key(|(_, bytes)| *bytes)
}

/// The backend with the least memory at each of a sheet's values, of the backends that were measured at all of them;
/// where nothing is drawn, some backends have nothing to do.
pub fn least_memory<'a>(study: &'a Study, sheet: &Sheet) -> Vec<(u64, &'a str)> {
    let is_drawn = |value: &u64| sheet.axis != Axis::Passes || *value > 0;
    let mut measured: BTreeMap<u64, Vec<&StudyEntry>> = BTreeMap::new();
    let mut drawn: HashMap<&str, BTreeSet<u64>> = HashMap::new();
    for entry in study
        .entries
        .iter()
        .filter(|entry| entry.is_ok() && !entry.leaves_out())
    {
        if let Some(value) = sheet.value(&entry.point) {
            measured.entry(value).or_default().push(entry);
            drawn
                .entry(&entry.backend)
                .or_default()
                .extend(Some(value).filter(is_drawn));
        }
    }
    let values = sheet.values.iter().filter(|value| is_drawn(value)).count();
    let complete = |entry: &&StudyEntry| drawn[entry.backend.as_str()].len() == values;
    let least = measured.iter().filter_map(|(&value, entries)| {
        let (entry, _) = smallest(entries.iter().copied().filter(complete))?;
        Some((value, &entry.backend[..]))
    });
    least.collect()
}

/// The sheets over instances and over passes that go through a point, with two values or more.
pub fn sheets_through<'a>(study: &'a Study, point: &Point) -> Vec<&'a Sheet> {
    let sheets = [Axis::Instances, Axis::Passes]
        .into_iter()
        .flat_map(|axis| study.sheets(axis));
    sheets
        .filter(|sheet| sheet.value(point).is_some())
        .collect()
}
