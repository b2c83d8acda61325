//! The machine of a row.

use super::Row;
use crate::frame::EMULATED;
use std::fmt;

/// A machine as named in results; fields are empty if they do not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Machine {
    /// Operating system, with version.
    pub os: String,
    /// Processor's name.
    pub cpu: String,
    /// The adapter's name, marked if it is emulated on the processor.
    pub adapter: String,
    /// The adapter's driver, with version.
    pub driver: String,
}

impl Machine {
    /// That of a row.
    pub fn of(row: &Row) -> Self {
        let text = |column: &Option<String>| column.clone().unwrap_or_default();
        Self {
            os: text(&row.os),
            cpu: text(&row.cpu),
            adapter: text(&row.adapter),
            driver: text(&row.driver),
        }
    }

    /// Returns whether the adapter is emulated on the processor.
    pub fn is_emulated(&self) -> bool {
        self.adapter.ends_with(EMULATED)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let cpu = known(&self.cpu, "unknown processor");
        write!(f, "{cpu}, {}", known(&self.adapter, "no adapter"))
    }
}

/// A fact, or the words for an empty one.
pub fn known<'a>(text: &'a str, absent: &'a str) -> &'a str {
    if text.is_empty() { absent } else { text }
}
