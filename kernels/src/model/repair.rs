//! Repairs that import makes.

/// A repair made on import: its kind, its count, and the worst case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// One line for the user.
    pub message: String,
}

impl Repair {
    /// A repair with a message of [bounded](super::bounded) length.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: super::bounded(message),
        }
    }
}
