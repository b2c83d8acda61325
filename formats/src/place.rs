//! Lines and columns of text files.

use std::fmt;

/// Line and column in a text, both counted from one; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl Place {
    /// The place of a byte of a text, or of the text's end.
    pub fn of(text: &[u8], byte: usize) -> Self {
        let before = &text[..byte.min(text.len())];
        let newlines = before.iter().filter(|&&b| b == b'\n').count();
        let last_line = before.rsplit(|&b| b == b'\n').next().unwrap_or(before);
        // Continuation bytes of UTF-8 are not characters.
        let characters = last_line.iter().filter(|&&b| b & 0xc0 != 0x80).count();
        Self {
            line: newlines + 1,
            column: characters + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "line {} column {}", self.line, self.column)
    }
}
