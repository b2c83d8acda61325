//! The error type of reading and building scenes.

use crate::asset::Place;
use crate::wording;
use std::fmt::Display;

/// Error for a scene that cannot be read or built: one line with the file, the place in it and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", prefix(.file, *.place))]
pub struct SceneError {
    /// The file, or the argument that was given; may be empty.
    pub(super) file: String,
    pub(super) place: Option<Place>,
    pub(super) problem: String,
    /// `true` if nothing has the name that was given for a scene or model.
    pub is_unknown: bool,
}

impl SceneError {
    pub(crate) fn new(file: impl Into<String>, problem: String) -> Self {
        Self {
            file: file.into(),
            place: None,
            problem,
            is_unknown: false,
        }
    }

    /// The error for a name of a scene or model that nothing has.
    pub(super) fn unknown(kind: &str, name: &str, known: &[impl AsRef<str>]) -> Self {
        Self {
            is_unknown: true,
            ..Self::new("", wording::unknown(kind, name, known))
        }
    }

    pub(super) fn at(file: &str, place: Place, problem: String) -> Self {
        Self {
            place: Some(place),
            ..Self::new(file, problem)
        }
    }
}

/// A problem that is found where the scene is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The setting whose value causes it, if one does.
    pub setting: Option<&'static str>,
    /// What is wrong.
    pub text: String,
}

impl Problem {
    /// A problem that no setting causes.
    pub fn new(text: impl Display) -> Self {
        Self {
            setting: None,
            text: text.to_string(),
        }
    }

    /// The same problem, caused by the value of a setting.
    pub fn of(setting: &'static str, text: impl Display) -> Self {
        Self {
            setting: Some(setting),
            ..Self::new(text)
        }
    }
}

/// The file and the place in it, as they stand before a problem.
fn prefix(file: &str, place: Option<Place>) -> String {
    match place {
        _ if file.is_empty() => String::new(),
        Some(Place { line, column }) => format!("{file}:{line}:{column}: "),
        None => format!("{file}: "),
    }
}
