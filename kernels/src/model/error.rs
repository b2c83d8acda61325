//! The error type of everything that checks a model's data.

/// A fault in data that a model is made from: its place inside the model, and what would be accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ModelError {
    /// Place in the model, such as `clip "walk", track 3, key 12`.
    pub place: String,
    /// The fault and what was expected instead.
    pub problem: String,
}

impl ModelError {
    /// A fault at a place.
    pub fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            problem: problem.into(),
        }
    }

    /// The fault with another place before its own.
    pub fn within(self, place: impl std::fmt::Display) -> Self {
        Self {
            place: format!("{place}, {}", self.place),
            ..self
        }
    }
}

/// Refuses what does not hold.
pub(crate) fn ensure<E>(holds: bool, error: impl FnOnce() -> E) -> Result<(), E> {
    if holds { Ok(()) } else { Err(error()) }
}
