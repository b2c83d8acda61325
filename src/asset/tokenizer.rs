//! The tokenizer of the text formats: words, quoted strings and single marks, each with its line and column.

use super::fault::{Fault, OffUnit};
use super::place::line_and_column;

/// Tokens of a format besides words and quoted strings.
#[derive(Clone, Copy)]
pub(super) struct Syntax {
    /// Characters that are tokens by themselves.
    pub(super) marks: &'static str,
    /// `true` if `//` starts a comment that runs to the end of the line.
    pub(super) comments: bool,
}

impl Syntax {
    /// Only words between white space.
    pub(super) const WORDS: Self = Self { marks: "", comments: false };
}

/// A token; a quoted string keeps its quotes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    /// Byte offset in the file.
    pub(super) offset: usize,
}

impl Token<'_> {
    fn end(&self) -> usize {
        self.offset + self.text.len()
    }
}

/// Reads tokens in order.
pub(super) struct Scanner<'a> {
    text: &'a str,
    syntax: Syntax,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, syntax: Syntax) -> Self {
        Self { text, syntax, at: 0 }
    }

    /// The next token, without consuming it.
    pub(super) fn peek(&self) -> Option<Token<'a>> {
        let mut offset = self.at;
        loop {
            let rest = &self.text[offset..];
            let skipped = rest.len() - rest.trim_start().len();
            offset += skipped;
            if !(self.syntax.comments && self.text[offset..].starts_with("//")) {
                break;
            }
            offset += self.text[offset..].find('\n').unwrap_or(self.text.len() - offset);
        }
        let rest = &self.text[offset..];
        let first = rest.chars().next()?;
        let length = if first == '"' {
            let line = rest.find('\n').unwrap_or(rest.len());
            rest[1..line].find('"').map_or(line, |end| end + 2)
        } else if self.syntax.marks.contains(first) {
            first.len_utf8()
        } else {
            rest.find(|c: char| c.is_whitespace() || self.syntax.marks.contains(c)).unwrap_or(rest.len())
        };
        Some(Token { text: &rest[..length], offset })
    }

    /// Consumes the next token.
    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?;
        self.at = token.end();
        Some(token)
    }

    /// Consumes the next token if it is on the line of the last one.
    pub(super) fn next_on_line(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?;
        if self.text[self.at..token.offset].contains('\n') {
            return None;
        }
        self.next()
    }

    /// Consumes the next token if it is this word.
    pub(super) fn accept(&mut self, word: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.text == word);
        if found {
            self.next();
        }
        found
    }

    /// Returns whether the next token looks like a number.
    pub(super) fn at_number(&self) -> bool {
        self.peek().is_some_and(|t| t.text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)))
    }

    /// Consumes the next token, which must exist.
    pub(super) fn token(&mut self, expected: &str) -> Result<Token<'a>, Fault> {
        self.next().ok_or_else(|| self.fault_at(self.text.len(), format!("the file ends here; expected {expected}")))
    }

    /// Expects this word.
    pub(super) fn expect(&mut self, word: &str) -> Result<Token<'a>, Fault> {
        let token = self.token(word)?;
        if token.text == word { Ok(token) } else { Err(self.unexpected(token, word)) }
    }

    /// Expects a string in quotes.
    pub(super) fn string(&mut self, what: &str) -> Result<&'a str, Fault> {
        let token = self.token(what)?;
        let inner = token.text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        inner.ok_or_else(|| self.unexpected(token, &format!("{what} in quotes")))
    }

    /// Expects a finite number.
    pub(super) fn number(&mut self, what: &str) -> Result<f32, Fault> {
        let token = self.token(what)?;
        let value = token.text.parse::<f32>().ok().filter(|v| v.is_finite());
        value.ok_or_else(|| self.unexpected(token, &format!("{what} as a finite number")))
    }

    /// Expects finite numbers.
    pub(super) fn numbers<const N: usize>(&mut self, what: &str) -> Result<[f32; N], Fault> {
        let mut values = [0.0; N];
        for value in &mut values {
            *value = self.number(what)?;
        }
        Ok(values)
    }

    /// Expects a weight: a finite number of 0 or more.
    pub(super) fn weight(&mut self) -> Result<f32, Fault> {
        let token = self.peek();
        let weight = self.number("a weight")?;
        match token {
            Some(token) if weight < 0.0 => Err(self.unexpected(token, "a weight of 0 or more")),
            _ => Ok(weight),
        }
    }

    /// Expects a time in seconds, 0 or more, later than `previous`.
    pub(super) fn time(&mut self, previous: Option<f32>) -> Result<f32, Fault> {
        let token = self.peek();
        let time = self.number("a time")?;
        match (token, previous) {
            (Some(token), _) if time < 0.0 => Err(self.unexpected(token, "a time of 0 or more")),
            (Some(token), Some(previous)) if time <= previous => {
                Err(self.unexpected(token, &format!("a time after {previous}, the one before")))
            }
            _ => Ok(time),
        }
    }

    /// Expects a quaternion x y z w, not zero.
    pub(super) fn quaternion(&mut self, what: &str, off_unit: &mut OffUnit) -> Result<[f32; 4], Fault> {
        let start = self.peek();
        let rotation = self.numbers(what)?;
        if off_unit.count(&rotation) < 1e-6 {
            let offset = start.map_or(self.at, |t| t.offset);
            return Err(self.fault_at(offset, format!("{what} has zero length; expected a unit quaternion")));
        }
        Ok(rotation)
    }

    /// Expects a whole number within a type's range.
    pub(super) fn integer<T: TryFrom<i64>>(&mut self, what: &str) -> Result<T, Fault> {
        let token = self.token(what)?;
        let value = token.text.parse::<i64>().ok().and_then(|v| T::try_from(v).ok());
        value.ok_or_else(|| self.unexpected(token, &format!("{what} as a whole number")))
    }

    /// Expects an index below `count`.
    pub(super) fn index(&mut self, what: &str, count: usize) -> Result<u32, Fault> {
        let token = self.peek();
        let index: u32 = self.integer(what)?;
        match token {
            Some(token) if index as usize >= count => {
                Err(self.fault(token, format!("{what} {index} is out of range; there are {count}")))
            }
            _ => Ok(index),
        }
    }

    /// A fault at a token.
    pub(super) fn fault(&self, token: Token, problem: impl Into<String>) -> Fault {
        self.fault_at(token.offset, problem)
    }

    /// A fault for a token that is not the expected one.
    pub(super) fn unexpected(&self, token: Token, expected: &str) -> Fault {
        // In a damaged file one token can be very long.
        let shown: String = token.text.chars().take(40).collect();
        self.fault(token, format!("{shown:?}; expected {expected}"))
    }

    /// A fault at a byte of the file.
    pub(super) fn fault_at(&self, offset: usize, problem: impl Into<String>) -> Fault {
        Fault::new(line_and_column(self.text.as_bytes(), offset), problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNTAX: Syntax = Syntax { marks: "{}", comments: true };

    #[test]
    fn tokens_are_words_strings_and_marks() {
        let mut scanner = Scanner::new("one{two} // three\n\"four five\" \"six\nseven", SYNTAX);
        let mut tokens = Vec::new();
        while let Some(token) = scanner.next() {
            tokens.push(token.text);
        }
        assert_eq!(tokens, ["one", "{", "two", "}", "\"four five\"", "\"six", "seven"]);
    }

    #[test]
    fn faults_count_lines_and_characters_from_one() {
        let mut scanner = Scanner::new("ä b\n  c", SYNTAX);
        let place = |f: Fault| f.place;
        assert_eq!(place(scanner.expect("x").unwrap_err()), "line 1 column 1");
        assert_eq!(place(scanner.number("x").unwrap_err()), "line 1 column 3");
        assert_eq!(place(scanner.string("x").unwrap_err()), "line 2 column 3");
        assert_eq!(place(scanner.token("x").unwrap_err()), "line 2 column 4");
    }

    #[test]
    fn numbers_are_finite_and_integers_in_range() {
        let refused = |text: &str| Scanner::new(text, SYNTAX).number("x").unwrap_err().problem;
        assert_eq!(refused("nan"), "\"nan\"; expected x as a finite number");
        assert_eq!(refused("1e39"), "\"1e39\"; expected x as a finite number");
        assert!(Scanner::new("-1", SYNTAX).integer::<u32>("x").is_err());
        assert!(Scanner::new("4294967296", SYNTAX).integer::<u32>("x").is_err());
        assert_eq!(Scanner::new("7", SYNTAX).index("x", 7).unwrap_err().problem, "x 7 is out of range; there are 7");
    }
}
