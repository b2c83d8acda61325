//! Lines and columns of text files.

use serde::Deserialize;
use std::fmt;

/// Line and column in a text, both counted from one; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

impl Place {
    /// The beginning of a text.
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// The place of a byte of a text, or of the text's end.
    pub fn of(text: &[u8], byte: usize) -> Self {
        Self::START.after(&text[..byte.min(text.len())])
    }

    /// The place behind a text that begins here.
    pub(crate) fn after(mut self, text: &[u8]) -> Self {
        for byte in text {
            if *byte == b'\n' {
                self.line += 1;
                self.column = 1;
            } else if byte & 0xc0 != 0x80 {
                // Continuation bytes of UTF-8 are not characters.
                self.column += 1;
            }
        }
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "line {} column {}", self.line, self.column)
    }
}

impl From<Place> for String {
    fn from(place: Place) -> Self {
        place.to_string()
    }
}
