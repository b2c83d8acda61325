//! Outcomes of commands: exit codes, and the error for meaningless arguments.

use std::process::ExitCode;

/// Outcome of a command: its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Done = 0,
    Error = 1,
    Usage = 2,
    /// Vertices of a backend or an engine are wrong, files differ, or a backend that was named did not run.
    Unverified = 3,
    Regression = 4,
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        (exit as u8).into()
    }
}

/// Arguments that parse but make no sense: [`Exit::Usage`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);
