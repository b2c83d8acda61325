//! The keys of a scene file's tables: their places, and checked values.

use super::super::description::SceneFile;
use super::super::error::error;
use super::super::{Setting, Settings};
use crate::asset::Place;
use crate::error::{DataError, LARGEST};
use crate::wording;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

impl SceneFile {
    /// The line and column of a byte.
    pub(super) fn place(&self, byte: usize) -> Place {
        Place::of(self.text.as_bytes(), byte)
    }

    pub(super) fn error(&self, byte: usize, problem: String) -> DataError {
        error(&self.file, Some(self.place(byte)), problem)
    }

    pub(super) fn unreadable(&self, error: &toml::de::Error) -> DataError {
        self.error(
            error.span().map_or(0, |span| span.start),
            problem(error.message()),
        )
    }
}

/// A table of a scene file.
#[derive(Clone, Copy)]
pub struct TableKeys<'a> {
    pub source: &'a SceneFile,
    pub table: &'a DeTable<'a>,
    /// Byte at which it begins.
    pub at: usize,
}

impl<'a> TableKeys<'a> {
    /// Reads those of the settings that stand in the table, and refuses keys that are neither such settings nor among
    /// `others`, which spaces separate.
    pub fn settings(
        &self,
        is_known: impl Fn(&Setting) -> bool,
        others: &str,
    ) -> Result<Settings, DataError> {
        let settings = Settings::ALL.iter().filter(|setting| is_known(setting));
        let names: Vec<&str> = settings.map(|setting| setting.name).collect();
        let mut known: Vec<&str> = others.split_whitespace().collect();
        known.extend(&names);
        self.check_among(&known)?;
        let mut values = DeTable::new();
        for (key, value) in self.table {
            if names.contains(&key.get_ref().as_ref()) {
                values.insert(key.clone(), value.clone());
            }
        }
        let values = Spanned::new(self.at..self.at, values);
        let settings = Settings::deserialize(toml::Deserializer::from(values))
            .map_err(|error| self.source.unreadable(&error))?;
        settings
            .check()
            .map_err(|refused| self.error(refused.name, refused.of_key()))?;
        Ok(settings)
    }

    /// Refuses keys that are not among `known`, which spaces separate.
    pub fn check(&self, known: &str) -> Result<(), DataError> {
        self.check_among(&known.split_whitespace().collect::<Vec<_>>())
    }

    fn check_among(&self, known: &[&str]) -> Result<(), DataError> {
        for key in self.table.keys() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let problem = wording::unknown("key", name, known);
                return Err(self.source.error(key.span().start, problem));
            }
        }
        Ok(())
    }

    pub fn has(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }

    /// Place of a key's value, or of the table if it lacks the key.
    pub fn place(&self, name: &str) -> Place {
        self.source.place(self.byte(name))
    }

    /// A problem with a key's value.
    pub fn error(&self, name: &str, problem: impl Into<String>) -> DataError {
        self.source.error(self.byte(name), problem.into())
    }

    /// A problem with the table.
    pub fn fault(&self, problem: impl Into<String>) -> DataError {
        self.source.error(self.at, problem.into())
    }

    fn byte(&self, name: &str) -> usize {
        self.table
            .get(name)
            .map_or(self.at, |value| value.span().start)
    }

    /// A key's value, if the key is there.
    pub fn get<T: Deserialize<'a>>(&self, name: &str) -> Result<Option<T>, DataError> {
        let Some(value) = self.table.get(name) else {
            return Ok(None);
        };
        T::deserialize(ValueDeserializer::from(value.clone()))
            .map(Some)
            .map_err(|error| self.source.unreadable(&error))
    }

    /// A key's value, or that of a key which is not there.
    pub fn or_default<T: Deserialize<'a> + Default>(&self, name: &str) -> Result<T, DataError> {
        self.get(name).map(Option::unwrap_or_default)
    }

    /// The value of a key that must be there.
    pub fn required<T: Deserialize<'a>>(&self, name: &str) -> Result<T, DataError> {
        self.get(name)?
            .ok_or_else(|| self.error(name, format!("no `{name}`; expected one")))
    }

    /// A key's number, or its default.
    pub fn number<T: Deserialize<'a> + Copy + fmt::Display>(
        &self,
        name: &str,
        default: T,
        accepts: impl Fn(T) -> bool,
        expected: &str,
    ) -> Result<T, DataError> {
        self.optional(name, accepts, expected)
            .map(|value| value.unwrap_or(default))
    }

    /// A key's number, if the key is there; refuses it unless `accepts` holds for it.
    pub fn optional<T: Deserialize<'a> + Copy + fmt::Display>(
        &self,
        name: &str,
        accepts: impl Fn(T) -> bool,
        expected: &str,
    ) -> Result<Option<T>, DataError> {
        match self.get(name)? {
            Some(number) if !accepts(number) => {
                Err(self.error(name, format!("{name} = {number}; expected {expected}")))
            }
            number => Ok(number),
        }
    }

    /// The table `weights`, by name; `prefix` stands before names in errors.
    pub fn weights(
        &self,
        prefix: &str,
        accepts: impl Fn(f64) -> bool,
        expected: &str,
    ) -> Result<Vec<(String, f64)>, DataError> {
        let weights: BTreeMap<String, Spanned<f64>> = self.or_default("weights")?;
        let mut checked = Vec::with_capacity(weights.len());
        for (name, weight) in weights {
            let value = *weight.get_ref();
            if !accepts(value) {
                let problem = format!("{prefix}{name} = {value}; expected {expected}");
                return Err(self.source.error(weight.span().start, problem));
            }
            checked.push((name, value));
        }
        Ok(checked)
    }

    /// The table of a key, if the key is there.
    pub fn table(&self, name: &str) -> Result<Option<Self>, DataError> {
        let value = self.table.get(name);
        value.map(|value| self.inner(value)).transpose()
    }

    /// The tables of a key.
    pub fn tables(&self, name: &str) -> Result<Vec<Self>, DataError> {
        match self.table.get(name).map(Spanned::get_ref) {
            None => Ok(Vec::new()),
            Some(DeValue::Array(tables)) => tables.iter().map(|value| self.inner(value)).collect(),
            Some(DeValue::Table(_)) => Err(self.error(
                name,
                format!("[{name}] is one table; expected [[{name}]], which may be repeated"),
            )),
            Some(other) => Err(self.error(
                name,
                format!("invalid type: {}, expected tables", other.type_str()),
            )),
        }
    }

    fn inner(&self, value: &'a Spanned<DeValue<'a>>) -> Result<Self, DataError> {
        let at = value.span().start;
        match value.get_ref() {
            DeValue::Table(table) => Ok(Self { table, at, ..*self }),
            other => {
                let problem = format!("invalid type: {}, expected a table", other.type_str());
                Err(self.source.error(at, problem))
            }
        }
    }
}

/// Returns whether f32 numbers hold a number and its square.
pub fn is_held(value: f64) -> bool {
    (value as f32).abs() <= LARGEST
}

/// As [`is_held`], of numbers above 0.
pub fn is_size(value: f64) -> bool {
    value > 0.0 && is_held(value)
}

/// Returns whether a number is a fraction of a whole.
pub fn fraction(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}

/// The parser's message in one line, with the closest name if it says that one is unknown.
fn problem(message: &str) -> String {
    let line = message.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let rest = line.strip_prefix("unknown variant `");
    match rest.and_then(|rest| rest.split_once('`')) {
        Some((name, expected)) => {
            let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
            wording::unknown("value", name, &known)
        }
        None => line,
    }
}
