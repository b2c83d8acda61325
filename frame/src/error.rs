//! Errors of backends: reasons why one cannot continue, and differences from the plain reference that it states.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Reason why a backend cannot continue.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
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
    /// The output of the backend differs from the reference.
    #[error("{0}")]
    Differs(String),
}

/// As the message: a `main` that returns the error prints it so.
impl fmt::Debug for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Result of a backend or of one of its parts.
pub type Result<T, E = BackendError> = std::result::Result<T, E>;

/// Stated error of a backend that approximates, beyond rounding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approximation {
    /// Largest error of poses that are compared with the reference: of a quaternion's numbers, of a scale, and of a
    /// distance over the diagonal of the model's bounds.
    pub pose: f64,
    /// Largest distance of a vertex, over the diagonal of the model's bounds.
    pub position: f64,
    /// Largest angle of normals and tangents, in radians.
    pub normal: f64,
    /// Largest distance of a joint's end, over the skeleton's size; `None` if poses are exact, which are then compared
    /// with the reference as well as vertices are.
    #[serde(skip)]
    pub clip_error: Option<f64>,
}

impl Approximation {
    /// Most that a vertex may be off, over the diagonal of the model's bounds: a hand's breadth of a person. A larger
    /// tolerance would let almost every wrong vertex pass.
    pub const MOST: f64 = 0.05;

    /// Checks that the error is small enough to be of use.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if vertices may be off by more than [`MOST`](Self::MOST).
    pub fn check(&self) -> Result<()> {
        // A number that is none is no bound either.
        if self.position <= Self::MOST {
            return Ok(());
        }
        Err(BackendError::Unavailable(format!(
            "its vertices may be off by {:.2} of the size here; expected at most {}",
            self.position,
            Self::MOST
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_is_too_large_or_no_number_is_refused() {
        let stated = |position| Approximation {
            pose: 0.0,
            position,
            normal: 0.0,
            clip_error: None,
        };
        stated(Approximation::MOST).check().unwrap();
        for position in [0.06, f64::INFINITY, f64::NAN] {
            let refusal = stated(position).check().unwrap_err();
            assert!(
                matches!(refusal, BackendError::Unavailable(_)),
                "{position}"
            );
        }
    }
}
