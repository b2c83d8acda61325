//! Errors of writing a model.

use std::fmt;

/// Error for a model that could not be written.
#[derive(thiserror::Error)]
pub enum ExportError {
    /// The container counts bytes in 32 bits.
    #[error("the model needs {0} bytes; a binary glTF file holds at most {max}", max = u32::MAX)]
    TooLarge(u64),
    /// Compact keys are derived from a file's keys, which are closer to the authored clip.
    #[error("clip {0:?} is compact; expected the clip that it was made from")]
    Compact(String),
    /// The weights of one mesh have keys at several lists of times, or beyond the clip's end.
    #[error(
        "weights of one mesh have different keys in clip {0:?}; expected the same keys, up to the clip's end"
    )]
    Weights(String),
}

/// As the message: a `main` that returns the error prints it so.
impl fmt::Debug for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
