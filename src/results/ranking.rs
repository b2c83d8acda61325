//! The fastest backend at a point, and how certain that is.

use super::{CONFIDENCE, Point, Quantity, Study, StudyEntry};

/// The two fastest backends at a point that skin the whole crowd.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking<'a> {
    /// The quantity by which they are compared.
    pub quantity: Quantity,
    /// The backend with the smallest median.
    pub first: &'a StudyEntry,
    /// That median, in nanoseconds.
    pub ns: u64,
    /// The next one; `None` if no other was measured.
    pub second: Option<Second<'a>>,
}

/// The second-fastest backend.
#[derive(Debug, Clone, PartialEq)]
pub struct Second<'a> {
    /// The backend.
    pub entry: &'a StudyEntry,
    /// Its median, in nanoseconds.
    pub ns: u64,
    /// Ratio of its median to the first one's.
    pub ratio: f64,
    /// Certainty of the difference.
    pub lead: Lead,
}

/// Certainty that one backend is faster than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// The interval of the ratio of their times is above 1.
    Certain,
    /// The interval contains 1.
    WithinNoise,
    /// There are too few samples for an interval.
    Unknown,
}

/// Ranks the backends at a point; `None` if none of them has a time. Backends that leave instances out do less work,
/// and do not compete.
pub fn ranking<'a>(study: &'a Study, point: &'a Point) -> Option<Ranking<'a>> {
    ranking_of(
        study.quantity(point.passes),
        study.at(point).filter(|entry| !entry.leaves_out()),
    )
}

/// Ranks some backends by a quantity; `None` if none of them has a time. Times at an unsteady clock of the device do not
/// compete.
pub fn ranking_of<'a>(
    quantity: Quantity,
    entries: impl Iterator<Item = &'a StudyEntry>,
) -> Option<Ranking<'a>> {
    let mut ranked: Vec<&StudyEntry> = entries
        .filter(|entry| !entry.is_unsteady(quantity) && entry.time(quantity).is_some())
        .collect();
    ranked.sort_by_cached_key(|entry| entry.time(quantity));
    let first = *ranked.first()?;
    let ns = first.time(quantity)?;
    let mut second = None;
    if let Some(entry) = ranked.get(1).copied() {
        let next = entry.time(quantity)?;
        second = Some(Second {
            entry,
            ns: next,
            ratio: next as f64 / ns.max(1) as f64,
            lead: lead(first, entry, quantity),
        });
    }
    Some(Ranking {
        quantity,
        first,
        ns,
        second,
    })
}

/// The certainty that `first` is faster than `second`.
fn lead(first: &StudyEntry, second: &StudyEntry, quantity: Quantity) -> Lead {
    match (first.level(quantity), second.level(quantity)) {
        (Some(first), Some(second)) if second.over(&first).interval(CONFIDENCE).0 > 1.0 => {
            Lead::Certain
        }
        (Some(_), Some(_)) => Lead::WithinNoise,
        _ => Lead::Unknown,
    }
}
