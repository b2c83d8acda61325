//! Outcomes of commands: exit codes, and the error for meaningless arguments.

/// Outcome of a command, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    Error,
    ParityFailure,
    Regression,
    Interrupted,
}

/// Arguments that parse but make no sense: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);
