//! The error type of everything that checks a model's data.

/// A fault in data that a model is made from: its place inside the model, and what would be accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ModelError {
    /// Place in the model, such as `clip "walk", track 3, key 12`.
    pub place: String,
    /// The fault and what was expected instead.
    pub problem: String,
}

/// Most characters of a text that comes from a file, such as a name, and of the message around it.
const MOST_CHARACTERS: usize = 400;

/// A message of at most 400 characters and a few dots, as [`shortened`].
pub fn bounded(message: impl Into<String>) -> String {
    shortened(message.into(), MOST_CHARACTERS)
}

/// A message of at most so many characters. The middle of a longer one becomes a few dots, because a message begins with
/// what was found and ends with what was expected.
pub fn shortened(message: String, most: usize) -> String {
    let count = message.chars().count();
    if count <= most {
        return message;
    }
    let half = most / 2;
    let start: String = message.chars().take(half).collect();
    let end: String = message.chars().skip(count - half).collect();
    format!("{start} ... {end}")
}

impl ModelError {
    /// A fault at a place. Both texts are [`bounded`].
    pub fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            place: bounded(place),
            problem: bounded(problem),
        }
    }

    /// The fault with another place before its own.
    pub fn within(self, place: impl std::fmt::Display) -> Self {
        Self {
            place: bounded(format!("{place}, {}", self.place)),
            ..self
        }
    }
}

/// Returns an error with a message, as of [`format!`], unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err(format!($($message)+).into());
        }
    };
}
pub(crate) use ensure;

/// Index of the first item that holds a number that is not finite.
pub(super) fn first_not_finite<const N: usize>(items: &[[f32; N]]) -> Option<usize> {
    items
        .iter()
        .position(|item| item.iter().any(|number| !number.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_lose_their_middle() {
        let long = format!("{:?}; expected a number", "ä".repeat(1 << 20));
        let error = ModelError::new(long.clone(), long);
        assert!(error.to_string().len() < 4 * MOST_CHARACTERS + 40);
        assert!(error.problem.starts_with("\"ää"), "{error}");
        assert!(error.problem.ends_with("ä\"; expected a number"), "{error}");
        let short = "a".repeat(MOST_CHARACTERS);
        assert_eq!(bounded(short.clone()), short);
    }
}
