//! Errors of reading and building scenes.

use crate::asset::Place;
use crate::error::DataError;
use std::fmt::Display;

/// An error in a file, or an argument that was given; without either if that is empty. Editors open `file:line:column`.
pub fn error(file: &str, place: Option<Place>, problem: impl Display) -> DataError {
    let mut file = file.to_owned();
    if let Some(Place { line, column }) = place
        && !file.is_empty()
    {
        file += &format!(":{line}:{column}");
    }
    DataError {
        file,
        place: String::new(),
        problem: problem.to_string(),
    }
}

/// A problem that the value of a setting causes, found where neither the scene nor its file is known.
pub fn of_setting(setting: &str, problem: impl Display) -> DataError {
    DataError {
        place: setting.into(),
        ..error("", None, problem)
    }
}
