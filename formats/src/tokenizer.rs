//! The tokenizer of the text formats: words, quoted strings and single marks, each with its line and column.

use crate::budget::Budget;
use crate::check::check_rotation;
use crate::place::Place;
use crate::read_file::{read_text, stem};
use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::Notes;
use std::path::Path;

/// Tokens of a format besides words and quoted strings.
pub struct Syntax {
    /// Characters that are tokens by themselves.
    pub marks: &'static str,
    /// `true` if `//` starts a comment that runs to the end of the line.
    pub comments: bool,
}

impl Syntax {
    /// Only words between white space.
    pub const WORDS: Self = Self {
        marks: "",
        comments: false,
    };
}

/// A token; a quoted string keeps its quotes.
#[derive(Debug, Clone, Copy)]
pub struct Token<'a> {
    pub text: &'a str,
    /// Byte offset in the file.
    pub offset: usize,
}

/// Reads tokens in order.
pub struct Scanner<'a> {
    text: &'a str,
    syntax: Syntax,
    at: usize,
    pub budget: Budget,
    pub notes: &'a mut Notes,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str, syntax: Syntax, notes: &'a mut Notes) -> Self {
        Self {
            text,
            syntax,
            at: 0,
            budget: Budget::new(text.len()),
            notes,
        }
    }

    /// Reads a whole file, whose name errors have; `read` takes the display name of its content.
    pub fn read<T>(
        file: &Path,
        syntax: Syntax,
        notes: &mut Notes,
        read: impl FnOnce(&mut Scanner, String) -> Result<T>,
    ) -> Result<T> {
        let text = read_text(file).map_err(|error| error.in_file(file))?;
        let mut scanner = Scanner::new(&text, syntax, notes);
        let all = read(&mut scanner, stem(file)).and_then(|all| match scanner.next() {
            None => Ok(all),
            Some(token) => Err(scanner.unexpected(token, "the end of the file")),
        });
        all.map_err(|error| error.in_file(file))
    }

    /// The next token, without consuming it.
    pub fn peek(&self) -> Option<Token<'a>> {
        let mut rest = self.text[self.at..].trim_start();
        while self.syntax.comments && rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| rest[end..].trim_start());
        }
        let offset = self.text.len() - rest.len();
        let first = rest.chars().next()?;
        let length = if first == '"' {
            let line = rest.find('\n').unwrap_or(rest.len());
            rest[1..line].find('"').map_or(line, |end| end + 2)
        } else if self.syntax.marks.contains(first) {
            first.len_utf8()
        } else {
            rest.find(|c: char| c.is_whitespace() || self.syntax.marks.contains(c))
                .unwrap_or(rest.len())
        };
        Some(Token {
            text: &rest[..length],
            offset,
        })
    }

    /// Consumes the next token.
    pub fn next(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?;
        self.at = token.offset + token.text.len();
        Some(token)
    }

    /// Consumes the next token if it is on the line of the last one.
    pub fn next_on_line(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?;
        if self.text[self.at..token.offset].contains('\n') {
            return None;
        }
        self.next()
    }

    /// Consumes the next token if it is this word.
    pub fn accept(&mut self, word: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.text == word);
        if found {
            self.next();
        }
        found
    }

    /// Returns whether the next token looks like a number.
    pub fn at_number(&self) -> bool {
        let token = self.peek().map_or("", |token| token.text);
        token.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
    }

    /// Consumes the next token, which must exist.
    pub fn token(&mut self, expected: &str) -> Result<Token<'a>> {
        match self.next() {
            Some(token) => Ok(token),
            None => bail!(
                self.place(self.text.len()),
                "the file ends here; expected {expected}"
            ),
        }
    }

    /// Expects this word.
    pub fn expect(&mut self, word: &str) -> Result<Token<'a>> {
        let token = self.token(word)?;
        ensure!(token.text == word, self.unexpected(token, word));
        Ok(token)
    }

    /// Expects a string in quotes.
    pub fn string(&mut self, what: &str) -> Result<&'a str> {
        let token = self.token(what)?;
        let rest = token.text.strip_prefix('"');
        rest.and_then(|rest| rest.strip_suffix('"'))
            .ok_or_else(|| self.unexpected(token, &format!("{what} in quotes")))
    }

    /// Expects a finite number.
    pub fn number(&mut self, what: &str) -> Result<f32> {
        let token = self.token(what)?;
        let value = token.text.parse::<f32>().ok().filter(|v| v.is_finite());
        value.ok_or_else(|| self.unexpected(token, &format!("{what} as a finite number")))
    }

    /// Expects finite numbers.
    pub fn numbers<const N: usize>(&mut self, what: &str) -> Result<[f32; N]> {
        let mut values = [0.0; N];
        for value in &mut values {
            *value = self.number(what)?;
        }
        Ok(values)
    }

    /// Expects what `read` takes, and that `accepts` holds for it; `expected` says both.
    pub fn accepted<T>(
        &mut self,
        expected: &str,
        read: impl FnOnce(&mut Self, &str) -> Result<T>,
        accepts: impl FnOnce(&T) -> bool,
    ) -> Result<T> {
        let token = self.token(expected)?;
        self.at = token.offset;
        let value = read(self, expected)?;
        ensure!(accepts(&value), self.unexpected(token, expected));
        Ok(value)
    }

    /// Expects a weight: a finite number of 0 or more.
    pub fn weight(&mut self) -> Result<f32> {
        self.accepted("a weight of 0 or more", Self::number, |weight| {
            *weight >= 0.0
        })
    }

    /// Expects this whole number.
    pub fn exactly(&mut self, number: u32, what: &str) -> Result<()> {
        let expected = format!("{what} {number}");
        self.accepted(&expected, Self::integer::<u32>, |found| *found == number)?;
        Ok(())
    }

    /// Expects what `read` takes, in braces.
    pub fn braced<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.expect("{")?;
        let inner = read(self)?;
        self.expect("}")?;
        Ok(inner)
    }

    /// Expects a label and the whole number after it.
    pub fn labelled<T: TryFrom<i64>>(&mut self, label: &str) -> Result<T> {
        self.expect(label)?;
        self.integer(&format!("the number after {label}"))
    }

    /// Expects a time in seconds, 0 or more, later than `previous`.
    pub fn time(&mut self, previous: Option<f32>) -> Result<f32> {
        let expected = match previous {
            None => "a time of 0 or more".into(),
            Some(previous) => format!("a time after {previous}, the one before"),
        };
        self.accepted(&expected, Self::number, |time| {
            *time >= 0.0 && previous.is_none_or(|previous| *time > previous)
        })
    }

    /// Expects a quaternion x y z w, not zero.
    pub fn quaternion(&mut self, what: &str) -> Result<[f32; 4]> {
        let start = self.offset();
        let rotation = self.numbers(what)?;
        match check_rotation(&rotation, self.notes) {
            Ok(()) => Ok(rotation),
            Err(problem) => bail!(self.place(start), "{what} {problem}"),
        }
    }

    /// Expects a whole number within a type's range.
    pub fn integer<T: TryFrom<i64>>(&mut self, what: &str) -> Result<T> {
        let token = self.token(what)?;
        let value = token.text.parse::<i64>().ok();
        let value = value.and_then(|value| T::try_from(value).ok());
        value.ok_or_else(|| self.unexpected(token, &format!("{what} as a whole number")))
    }

    /// Expects an index below `count`.
    pub fn index(&mut self, what: &str, count: usize) -> Result<u32> {
        let start = self.offset();
        let index: u32 = self.integer(what)?;
        ensure!(
            (index as usize) < count,
            self.place(start),
            "{what} {index} is out of range; there are {count}"
        );
        Ok(index)
    }

    /// Refuses a parent that is not one of `count`, each a `what`, at a byte of the file.
    pub fn check_parent(
        &self,
        offset: usize,
        parent: Option<usize>,
        count: usize,
        what: &str,
    ) -> Result<()> {
        if let Some(parent) = parent.filter(|parent| *parent >= count) {
            bail!(
                self.place(offset),
                "parent {parent} is out of range; there are {count} {what}"
            );
        }
        Ok(())
    }

    /// Byte offset of the next token.
    pub fn offset(&self) -> usize {
        self.peek().map_or(self.text.len(), |token| token.offset)
    }

    /// A fault for a token that is not the expected one.
    pub fn unexpected(&self, token: Token, expected: &str) -> DataError {
        // In a damaged file one token can be very long.
        let shown: String = token.text.chars().take(40).collect();
        let problem = format!("{shown:?}; expected {expected}");
        DataError::new(self.place(token.offset), problem)
    }

    /// The line and column of a byte of the file.
    pub fn place(&self, offset: usize) -> Place {
        Place::of(self.text.as_bytes(), offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNTAX: Syntax = Syntax {
        marks: "{}",
        comments: true,
    };

    #[test]
    fn tokens_are_words_strings_and_marks() {
        let text = "one{two} // three\n\"four five\" \"six\nseven";
        let mut notes = Notes::default();
        let mut scanner = Scanner::new(text, SYNTAX, &mut notes);
        let mut tokens = Vec::new();
        while let Some(token) = scanner.next() {
            tokens.push(token.text);
        }
        assert_eq!(
            tokens,
            ["one", "{", "two", "}", "\"four five\"", "\"six", "seven"]
        );
    }

    #[test]
    fn faults_count_lines_and_characters_from_one() {
        let mut notes = Notes::default();
        let mut scanner = Scanner::new("ä b\n  c", SYNTAX, &mut notes);
        let place = |f: DataError| f.place;
        assert_eq!(place(scanner.expect("x").unwrap_err()), "line 1 column 1");
        assert_eq!(place(scanner.number("x").unwrap_err()), "line 1 column 3");
        assert_eq!(place(scanner.string("x").unwrap_err()), "line 2 column 3");
        assert_eq!(place(scanner.token("x").unwrap_err()), "line 2 column 4");
    }

    #[test]
    fn numbers_are_finite_and_integers_in_range() {
        let mut notes = Notes::default();
        let mut scanner = Scanner::new("nan 1e39 -1 4294967296 7", SYNTAX, &mut notes);
        for text in ["nan", "1e39"] {
            let refused = scanner.number("x").unwrap_err().problem;
            assert_eq!(refused, format!("{text:?}; expected x as a finite number"));
        }
        assert!(scanner.integer::<u32>("x").is_err());
        assert!(scanner.integer::<u32>("x").is_err());
        assert_eq!(
            scanner.index("x", 7).unwrap_err().problem,
            "x 7 is out of range; there are 7"
        );
    }
}
