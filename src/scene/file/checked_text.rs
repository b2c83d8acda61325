//! The text of a scene file: places in it, and checked numbers.

use super::super::error::SceneError;
use crate::asset::Place;
use std::fmt;
use toml::Spanned;

/// Turns byte positions of a text into errors with line and column.
pub(super) struct SceneText<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl SceneText<'_> {
    pub fn place(&self, byte: usize) -> Place {
        Place::of(self.text.as_bytes(), byte)
    }

    pub fn error<T>(&self, at: &Spanned<T>, problem: String) -> SceneError {
        SceneError::at(self.file, self.place(at.span().start), problem)
    }

    /// A key's number, or its default.
    pub fn number<T: Copy + fmt::Display>(
        &self,
        key: &str,
        value: &Option<Spanned<T>>,
        default: T,
        accepts: impl Fn(T) -> bool,
        expected: &str,
    ) -> Result<T, SceneError> {
        self.optional(key, value, accepts, expected).map(|value| value.unwrap_or(default))
    }

    /// A key's number, if the key is there.
    pub fn optional<T: Copy + fmt::Display>(
        &self,
        key: &str,
        value: &Option<Spanned<T>>,
        accepts: impl Fn(T) -> bool,
        expected: &str,
    ) -> Result<Option<T>, SceneError> {
        value.as_ref().map(|value| self.checked(key, value, accepts, expected)).transpose()
    }

    /// A key's number; refuses it unless `accepts` holds for it.
    pub fn checked<T: Copy + fmt::Display>(
        &self,
        key: &str,
        value: &Spanned<T>,
        accepts: impl Fn(T) -> bool,
        expected: &str,
    ) -> Result<T, SceneError> {
        match *value.get_ref() {
            number if accepts(number) => Ok(number),
            number => Err(self.error(value, format!("{key} = {number}; expected {expected}"))),
        }
    }
}

pub(super) fn positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}
