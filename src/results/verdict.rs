//! The verdict on a point: which backend is fastest, and whether this run can tell.

use super::{CONFIDENCE, Entry, Point, Quantity, Study};
use crate::wording::duration;
use std::fmt;

/// Bounds of an interval of ratios beyond which it says nothing.
const LEAST_RATIO: f64 = 0.1;
const MOST_RATIO: f64 = 10.0;
/// Ratio that the whole interval must exceed for a backend to be the fastest: a smaller one is printed as 1.00.
const LEAST_LEAD: f64 = 1.005;

/// The two fastest backends at a point, of those that compete. It is displayed as one or two sentences.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict<'a> {
    /// The quantity by which they are compared.
    pub quantity: Quantity,
    /// The backend with the smallest median.
    pub first: &'a Entry,
    /// That median, in nanoseconds.
    pub ns: u64,
    /// The next one; `None` if no other was measured.
    pub second: Option<Second<'a>>,
    /// Whether the first is faster.
    pub lead: Lead,
}

/// The second-fastest backend.
#[derive(Debug, Clone, PartialEq)]
pub struct Second<'a> {
    /// The backend.
    pub entry: &'a Entry,
    /// Its median, in nanoseconds.
    pub ns: u64,
    /// Ratio of its median to the first one's.
    pub ratio: f64,
    /// Bounds of the ratio's interval; equal to it with too few samples.
    pub range: [f64; 2],
}

/// Certainty that one backend is faster than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// There is no other backend.
    Alone,
    /// The interval of the ratio of their times is above 1.
    Certain,
    /// The interval contains 1.
    Undecided,
    /// There are too few samples for an interval.
    TooFew,
}

impl Lead {
    /// Whether a run is sure which backend is fastest, in a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Certain => "yes",
            Self::Undecided => "undecided",
            Self::TooFew => "few frames",
        }
    }

    /// The sentence of a verdict, with names in braces: the first backend and its time with what it is for, the second
    /// backend and its time, the ratio of the second time to the first, and the bounds of its interval.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Alone => "{first} takes {time}; there is no other to compare it with.",
            Self::Certain => "{first} is fastest, {time}, {ratio} times as fast as {second}.",
            Self::Undecided => {
                "{first} has the smallest median, {time}. This run cannot tell it from {second} ({secondTime}), which takes \
                 between {low} and {high} times as long."
            }
            Self::TooFew => {
                "{first} has the smallest median, {time}. {second} has {secondTime} ({ratio} times), with too few samples \
                 to be sure."
            }
        }
    }
}

impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let unit = match self.quantity {
            Quantity::Frame => "a frame",
            Quantity::Work => "for pose, upload and skin",
        };
        let second = self.second.as_ref();
        let [low, high] = second.map_or([1.0; 2], |second| second.range);
        if self.lead == Lead::Undecided && (low < LEAST_RATIO || high > MOST_RATIO) {
            return write!(
                f,
                "{} has the smallest median, {} {unit}. The times vary too much to tell more.",
                self.first.backend,
                duration(self.ns)
            );
        }
        let mut sentence = self.lead.sentence().to_owned();
        for (name, value) in [
            ("{first}", self.first.backend.clone()),
            ("{time}", format!("{} {unit}", duration(self.ns))),
            (
                "{second}",
                second.map_or(String::new(), |second| second.entry.backend.clone()),
            ),
            (
                "{secondTime}",
                duration(second.map_or(0, |second| second.ns)),
            ),
            ("{ratio}", factor(second.map_or(1.0, |second| second.ratio))),
            ("{low}", factor(low)),
            ("{high}", factor(high)),
        ] {
            sentence = sentence.replace(name, &value);
        }
        f.write_str(&sentence)
    }
}

/// A ratio with at most two decimals and, below 1000, at most three digits.
fn factor(ratio: f64) -> String {
    let decimals = match ratio {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{ratio:.decimals$}")
}

impl Study {
    /// The verdict on the backends at a point that compete; `None` if none of them has a time.
    pub fn verdict<'a>(&'a self, point: &Point) -> Option<Verdict<'a>> {
        let competing = self.at(point).filter(|entry| entry.competes());
        verdict_of(self.quantity(point.passes), competing)
    }
}

/// The verdict on some backends by a quantity; `None` if none of them has a time. Times at an unsteady clock of the device
/// do not compete.
pub fn verdict_of<'a>(
    quantity: Quantity,
    entries: impl Iterator<Item = &'a Entry>,
) -> Option<Verdict<'a>> {
    let mut timed = Vec::new();
    for entry in entries.filter(|entry| !entry.is_unsteady(quantity)) {
        if let Some(ns) = entry.time(quantity) {
            timed.push((ns, entry));
        }
    }
    timed.sort_by_key(|(ns, _)| *ns);
    let &(ns, first) = timed.first()?;
    let mut verdict = Verdict {
        quantity,
        first,
        ns,
        second: None,
        lead: Lead::Alone,
    };
    if let Some(&(next, entry)) = timed.get(1) {
        let ratio = next as f64 / ns.max(1) as f64;
        let mut range = [ratio; 2];
        verdict.lead = Lead::TooFew;
        if let (Some(first), Some(second)) = (first.level(quantity), entry.level(quantity)) {
            let (low, high) = second.over(&first).interval(CONFIDENCE);
            range = [low, high];
            verdict.lead = if low > LEAST_LEAD {
                Lead::Certain
            } else {
                Lead::Undecided
            };
        }
        verdict.second = Some(Second {
            entry,
            ns: next,
            ratio,
            range,
        });
    }
    Some(verdict)
}
