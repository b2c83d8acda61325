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
        Self { place: place.into(), problem: problem.into() }
    }
}
