//! Repairs that import makes.

/// A repair made on import: its kind, its count, and the worst case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// One line for the user.
    pub message: String,
}
