//! The text of a scene file: places in it, and checked numbers.

use super::super::error::{Place, SceneError};
use std::fmt;
use toml::Spanned;

/// Turns byte positions of a text into errors with line and column.
pub(super) struct SceneText<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl SceneText<'_> {
    pub fn place(&self, byte: usize) -> Place {
        let before = &self.text.as_bytes()[..byte.min(self.text.len())];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
        Place {
            line: before.iter().filter(|&&b| b == b'\n').count() + 1,
            // Columns count characters: continuation bytes of UTF-8 do not start one.
            column: before[line_start..].iter().filter(|&&b| b & 0xc0 != 0x80).count() + 1,
        }
    }

    pub fn error<T>(&self, at: &Spanned<T>, problem: String) -> SceneError {
        SceneError::at(self.file, self.place(at.span().start), problem)
    }

    /// A key's number, or its default; refuses a number unless `accepts` holds for it.
    pub fn number<T: Copy + fmt::Display>(
        &self,
        key: &str,
        value: Option<&Spanned<T>>,
        default: T,
        accepts: impl Fn(T) -> bool,
        expected: &str,
    ) -> Result<T, SceneError> {
        match value {
            None => Ok(default),
            Some(value) if accepts(*value.get_ref()) => Ok(*value.get_ref()),
            Some(value) => Err(self.error(value, format!("{key} = {}; expected {expected}", value.get_ref()))),
        }
    }

    /// A key's number, if the key is there.
    pub fn optional<T: Copy + fmt::Display>(
        &self,
        key: &str,
        value: Option<&Spanned<T>>,
        accepts: impl Fn(T) -> bool,
        expected: &str,
    ) -> Result<Option<T>, SceneError> {
        value.map(|v| self.number(key, Some(v), *v.get_ref(), &accepts, expected)).transpose()
    }
}

pub(super) fn positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}
