//! The error type of all importers.

use skinbench_kernels::model::bounded;
use std::path::{Path, PathBuf};

/// Error for a model file that could not be read: one line with the file, the place in it and what was expected.
#[derive(Debug, thiserror::Error)]
#[error("{}: {place}{}{problem}", .file.display(), if .place.is_empty() { "" } else { ": " })]
pub struct ImportError {
    /// The file.
    pub file: PathBuf,
    /// Line and column, JSON or XML path, or byte; empty if it concerns the whole file.
    pub place: String,
    /// The problem, and what would be accepted.
    pub problem: String,
}

impl ImportError {
    pub(crate) fn new(file: &Path, place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            place: bounded(place),
            problem: bounded(problem),
        }
    }
}
