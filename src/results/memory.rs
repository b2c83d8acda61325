//! The backends that take the least memory.

use super::{Axis, Entry, Sheet, Study};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The entry with the least memory; of equals the first. Entries whose results do not say do not count.
pub fn smallest<'a>(entries: impl Iterator<Item = &'a Entry>) -> Option<&'a Entry> {
    entries
        .filter(|entry| entry.memory().is_some())
        .min_by_key(|entry| entry.memory())
}

/// The backend with the least memory at each of a sheet's values, of the backends that were measured at all of them;
/// where nothing is drawn, some backends have nothing to do.
pub fn least_memory<'a>(study: &'a Study, sheet: &Sheet) -> Vec<(u64, &'a str)> {
    let mut measured: BTreeMap<u64, Vec<&Entry>> = BTreeMap::new();
    let mut drawn: HashMap<&str, BTreeSet<u64>> = HashMap::new();
    for entry in &study.entries {
        if !entry.is_ok() || !entry.competes() {
            continue;
        }
        if let Some(value) = sheet.value(&entry.point) {
            measured.entry(value).or_default().push(entry);
            let values = drawn.entry(&entry.backend).or_default();
            if is_drawn(sheet, value) {
                values.insert(value);
            }
        }
    }
    let values = sheet.values.iter().copied();
    let values = values.filter(|value| is_drawn(sheet, *value)).count();
    let mut least = Vec::new();
    for (value, entries) in measured {
        let complete = entries
            .into_iter()
            .filter(|entry| drawn[entry.backend.as_str()].len() == values);
        if let Some(entry) = smallest(complete) {
            least.push((value, entry.backend.as_str()));
        }
    }
    least
}

fn is_drawn(sheet: &Sheet, value: u64) -> bool {
    sheet.axis != Axis::Passes || value > 0
}
