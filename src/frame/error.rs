//! Errors of backends.

/// Reason why a backend cannot continue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// The machine lacks something that the backend needs: it is skipped.
    #[error("{0}")]
    Unavailable(String),
    /// The crowd does not fit: the estimate and the limit.
    #[error("{0}")]
    TooLarge(String),
    /// A program of others did not do what it was asked to.
    #[error("{0}")]
    Failed(String),
    /// The device was lost or refused a command.
    #[error("device error: {0}")]
    Device(String),
}

/// Result of a backend or of one of its parts.
pub type Result<T> = std::result::Result<T, BackendError>;
