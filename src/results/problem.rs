//! The reason why results cannot be read or written.

use std::io;
use std::path::Path;

/// The reason why results cannot be read or written, in one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}{}{what}", if .place.is_empty() { "" } else { ": " })]
pub struct Problem {
    /// File or folder, and line if there is one; empty if there is none.
    pub place: String,
    /// What is wrong, and what would be accepted.
    pub what: String,
}

impl Problem {
    /// Something that is wrong at a place.
    pub(super) fn at(place: impl AsRef<Path>, what: impl Into<String>) -> Self {
        Self {
            place: place.as_ref().display().to_string(),
            what: what.into(),
        }
    }

    /// An error of reading a file or folder.
    pub(super) fn reading(place: impl AsRef<Path>, error: &io::Error) -> Self {
        let what = match error.kind() {
            io::ErrorKind::NotFound => "no such file or folder".into(),
            _ => format!("cannot read: {error}"),
        };
        Self::at(place, what)
    }
}
