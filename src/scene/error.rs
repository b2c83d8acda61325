//! The error type of reading and building scenes.

use crate::asset::Place;
use std::fmt;

/// Error for a scene that cannot be read or built: one line with the file, the place in it and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneError {
    pub(super) file: String,
    pub(super) place: Option<Place>,
    pub(super) problem: String,
    /// `true` if nothing has the name that was given for a scene or model.
    pub is_unknown: bool,
}

impl SceneError {
    pub(crate) fn new(file: impl Into<String>, problem: String) -> Self {
        Self { file: file.into(), place: None, problem, is_unknown: false }
    }

    pub(super) fn at(file: &str, place: Place, problem: String) -> Self {
        Self { place: Some(place), ..Self::new(file, problem) }
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}:", self.file)?;
            if let Some(place) = self.place {
                write!(f, "{}:{}:", place.line, place.column)?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for SceneError {}
