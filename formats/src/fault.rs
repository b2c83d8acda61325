//! Errors of importers, before the file's name is added.

use crate::ImportError;
use skinbench_kernels::model::{ModelError, Repair};
use std::path::Path;

/// An error and its place in a file.
#[derive(Debug)]
pub(super) struct Fault {
    /// Line and column, JSON path, or byte.
    pub(super) place: String,
    pub(super) problem: String,
}

impl Fault {
    pub(super) fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into() }
    }

    pub(super) fn in_file(self, file: &Path) -> ImportError {
        ImportError::new(file, self.place, self.problem)
    }
}

/// Checks that numbers are finite.
pub(super) fn finite(numbers: &[f32], place: impl FnOnce() -> String) -> Result<(), Fault> {
    match numbers.iter().find(|number| !number.is_finite()) {
        Some(number) => Err(Fault::new(place(), format!("holds {number}; expected finite numbers"))),
        None => Ok(()),
    }
}

/// The item of a list at an index in the file; `what` names it in the error, possibly not at all.
pub(super) fn item<'a, T>(
    list: &'a [T],
    index: u32,
    what: &str,
    place: impl FnOnce() -> String,
) -> Result<&'a T, Fault> {
    let named = if what.is_empty() { String::new() } else { format!("{what} ") };
    let missing = || Fault::new(place(), format!("{named}{index} is out of range; there are {}", list.len()));
    list.get(index as usize).ok_or_else(missing)
}

impl From<ModelError> for Fault {
    fn from(error: ModelError) -> Self {
        Self::new(error.place, error.problem)
    }
}

/// Counts quaternions that deviate from unit length by more than rounding; the stores normalise them.
pub(super) struct OffUnit {
    count: u32,
    worst: f32,
}

impl Default for OffUnit {
    fn default() -> Self {
        Self { count: 0, worst: 1.0 }
    }
}

impl OffUnit {
    const ROUNDING: f32 = 1e-3;

    /// Counts one more quaternion.
    ///
    /// # Errors
    /// The quaternion is zero.
    pub(super) fn check(&mut self, quaternion: &[f32; 4]) -> Result<(), &'static str> {
        match self.count(quaternion) {
            length if length < 1e-6 => Err("has zero length; expected a unit quaternion"),
            _ => Ok(()),
        }
    }

    /// Counts one more quaternion, which may be zero; returns its length.
    pub(super) fn count(&mut self, quaternion: &[f32; 4]) -> f32 {
        let length = quaternion.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>().sqrt() as f32;
        let error = (length - 1.0).abs();
        if error > Self::ROUNDING {
            self.count += 1;
        }
        if error > (self.worst - 1.0).abs() {
            self.worst = length;
        }
        length
    }

    pub(super) fn describe(self, what: &str, repairs: &mut Vec<Repair>) {
        let Self { count, worst } = self;
        if count > 0 {
            repairs.push(Repair { message: format!("normalised {count} {what} (worst length {worst})") });
        }
    }
}
