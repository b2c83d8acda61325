//! The error of everything that checks data.

use std::fmt::{self, Display};
use std::path::Path;

/// A fault in data of a file or of a caller: where it is, what it is, and what would be accepted.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{problem}", before(.file), before(.place))]
pub struct DataError {
    /// The file; empty if the data is from none, or until whoever reads the file adds its name.
    pub file: String,
    /// Place in it, such as `line 3 column 7`, `nodes[2].mesh` or `clip "walk", track 3, key 12`; empty for a fault of the
    /// whole.
    pub place: String,
    /// The fault and what was expected instead.
    pub problem: String,
}

/// As the message: a `main` that returns the error prints it so.
impl fmt::Debug for DataError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The result of what checks data.
pub type Result<T, E = DataError> = std::result::Result<T, E>;

/// Part of a place as it stands before the rest of a message.
fn before(part: &str) -> String {
    if part.is_empty() {
        String::new()
    } else {
        format!("{part}: ")
    }
}

/// Most characters of a text that comes from a file, such as a name, and of the message around it.
const MOST_CHARACTERS: usize = 400;

/// A message of at most 400 characters and a few dots, as [`shortened`].
pub fn bounded(message: impl Into<String>) -> String {
    shortened(&message.into(), MOST_CHARACTERS)
}

/// A message of at most so many characters. The middle of a longer one becomes a few dots, because a message begins with
/// what was found and ends with what was expected.
pub fn shortened(message: &str, most: usize) -> String {
    if message.chars().nth(most).is_none() {
        return message.into();
    }
    let half = most / 2;
    let start: String = message.chars().take(half).collect();
    let end = message.char_indices().nth_back(half - 1);
    format!("{start} ... {}", &message[end.map_or(0, |end| end.0)..])
}

impl DataError {
    /// A fault at a place. Both texts are [`bounded`].
    pub fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            file: String::new(),
            place: bounded(place),
            problem: bounded(problem),
        }
    }

    /// The fault with another place before its own.
    pub fn within(self, place: impl Display) -> Self {
        Self {
            place: bounded(format!("{place}, {}", self.place)),
            ..self
        }
    }

    /// The fault with the name of its file, unless it has one.
    pub fn in_file(mut self, file: &Path) -> Self {
        if self.file.is_empty() {
            self.file = file.display().to_string();
        }
        self
    }
}

/// Returns an error with a message, as of [`format!`], unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        let holds: bool = $holds;
        if !holds {
            return Err(format!($($message)+).into());
        }
    };
}
pub(crate) use ensure;

/// A number as messages write it: by its power of ten where it would be a row of zeros.
pub fn written(number: f32) -> String {
    let text = format!("{number:?}");
    text.strip_suffix(".0").unwrap_or(&text).into()
}

/// Largest number that a model, or what a crowd shows of it, may hold: f32 numbers have the sum of squares of three. All
/// that is stored is held to it, so that importers need no limit of their own.
pub const LARGEST: f32 = 1e18;

/// Smallest extent of what a crowd shows, unless it is none: devices round f32 numbers below 1.2e-38 to zero, which is 1e-6
/// of it.
pub const SMALLEST: f32 = 1e-32;

/// The first item that holds a number beyond [`LARGEST`], or one that is not finite.
pub(crate) fn first_too_large<const N: usize>(items: &[[f32; N]]) -> Option<TooLarge> {
    for (item, numbers) in items.iter().enumerate() {
        for &number in numbers {
            let holds = number.abs() <= LARGEST;
            if !holds {
                return Some(TooLarge { item, number });
            }
        }
    }
    None
}

/// A number that is too large to be stored. It is displayed with what would be accepted.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{number:e}; expected numbers of at most {LARGEST:e}")]
pub(crate) struct TooLarge {
    /// Index of the item that holds it.
    pub item: usize,
    number: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_lose_their_middle() {
        let long = format!("{:?}; expected a number", "ä".repeat(1 << 20));
        let error = DataError::new(long.clone(), long);
        assert!(error.to_string().len() < 4 * MOST_CHARACTERS + 40);
        assert!(error.problem.starts_with("\"ää"), "{error}");
        assert!(error.problem.ends_with("ä\"; expected a number"), "{error}");
        let short = "a".repeat(MOST_CHARACTERS);
        assert_eq!(bounded(short.clone()), short);
        assert_eq!(shortened("abcdef", 4), "ab ... ef");
    }

    #[test]
    fn numbers_are_written_without_rows_of_zeros() {
        let texts = [0.0, -1.0, 0.25, 655.0008, 3e38, -1e-30].map(written);
        assert_eq!(texts, ["0", "-1", "0.25", "655.0008", "3e38", "-1e-30"]);
    }

    #[test]
    fn a_message_has_the_parts_of_its_place_that_are_known() {
        let error = DataError::new("", "is empty");
        assert_eq!(error.to_string(), "is empty");
        let error = DataError::new("key 3", "is late").within("clip 1");
        assert_eq!(error.to_string(), "clip 1, key 3: is late");
        let error = error.in_file(Path::new("a.glb")).in_file(Path::new("b"));
        assert_eq!(error.to_string(), "a.glb: clip 1, key 3: is late");
    }
}
