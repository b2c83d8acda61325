//! Errors of importers, before the file's name is added.

use crate::ImportError;
/// An error and its place in a file: line and column, JSON path, or byte.
pub use skinbench_kernels::model::ModelError as Fault;
use skinbench_kernels::model::Repair;
use std::path::Path;

/// Returns a fault from the function unless a condition holds: `ensure!(holds, fault)`, or
/// `ensure!(holds, place, "problem")`, where the problem is a format string.
macro_rules! ensure {
    ($holds:expr, $fault:expr) => {
        let holds: bool = $holds;
        if !holds {
            return Err($fault);
        }
    };
    ($holds:expr, $place:expr, $($problem:tt)+) => {
        ensure!($holds, Fault::new($place, format!($($problem)+)))
    };
}

/// Returns a fault from the function: `bail!(place, "problem")`, where the problem is a format string.
macro_rules! bail {
    ($place:expr, $($problem:tt)+) => {
        return Err(Fault::new($place, format!($($problem)+)))
    };
}

/// Adds the name of the file to a fault.
pub fn in_file(file: &Path) -> impl Fn(Fault) -> ImportError {
    move |fault| ImportError::new(file, fault.place, fault.problem)
}

/// Checks that values are finite.
pub fn finite(values: &[f32], place: impl FnOnce() -> String) -> Result<(), Fault> {
    match values.iter().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(value) => bail!(place(), "holds {value}; expected finite numbers"),
    }
}

/// The item of a list at an index in the file; `what` names it in the error, possibly not at all.
pub fn item<'a, T>(
    list: &'a [T],
    index: u32,
    what: &str,
    place: impl FnOnce() -> String,
) -> Result<&'a T, Fault> {
    list.get(index as usize).ok_or_else(|| {
        let problem = format!("{what} {index} is out of range; there are {}", list.len());
        Fault::new(place(), problem.trim_start())
    })
}

/// Counts quaternions that deviate from unit length by more than rounding; the stores normalise them.
#[derive(Default)]
pub struct OffUnit {
    count: u32,
    worst: f32,
}

impl OffUnit {
    const ROUNDING: f32 = 1e-3;

    /// Counts one more quaternion.
    ///
    /// # Errors
    /// The quaternion is zero.
    pub fn check(&mut self, quaternion: &[f32; 4]) -> Result<(), &'static str> {
        if self.count(quaternion) < 1e-6 {
            return Err("has zero length; expected a unit quaternion");
        }
        Ok(())
    }

    /// Counts one more quaternion, which may be zero; returns its length.
    pub fn count(&mut self, quaternion: &[f32; 4]) -> f32 {
        let squares = quaternion.iter().map(|&v| f64::from(v).powi(2));
        let length = squares.sum::<f64>().sqrt() as f32;
        let error = (length - 1.0).abs();
        if error > Self::ROUNDING {
            if self.count == 0 || error > (self.worst - 1.0).abs() {
                self.worst = length;
            }
            self.count += 1;
        }
        length
    }

    /// One note, if there is anything to note; `what` names the quaternions.
    pub fn describe(&self, what: &str) -> Option<Repair> {
        let Self { count, worst } = self;
        let message = format!("normalised {count} {what} (worst length {worst})");
        (*count > 0).then(|| Repair::new(message))
    }
}
