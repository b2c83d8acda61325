//! Reasons why a backend cannot go on.

/// Reason why a backend cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// The machine lacks what the backend needs: it is skipped.
    #[error("{0}")]
    Unavailable(String),
    /// The crowd does not fit: the estimate and the limit.
    #[error("{0}")]
    TooLarge(String),
    /// The device was lost or refused a command.
    #[error("device error: {0}")]
    Device(String),
}

/// Shorthand for results of backends and of what they are made from.
pub type Result<T> = std::result::Result<T, BackendError>;
