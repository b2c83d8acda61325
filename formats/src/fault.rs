//! Errors of importers, before the file's name is added.

use crate::ImportError;
/// An error and its place in a file: line and column, JSON path, or byte.
pub(super) use skinbench_kernels::model::ModelError as Fault;
use skinbench_kernels::model::Repair;
use std::path::Path;

/// Adds the name of the file to a fault.
pub(super) fn in_file(file: &Path) -> impl Fn(Fault) -> ImportError {
    move |fault| ImportError::new(file, fault.place, fault.problem)
}

/// Refuses what does not hold.
pub(super) fn ensure(holds: bool, fault: impl FnOnce() -> Fault) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(fault()) }
}

/// Checks that numbers are finite.
pub(super) fn finite(numbers: &[f32], place: impl FnOnce() -> String) -> Result<(), Fault> {
    let wrong = numbers.iter().find(|number| !number.is_finite());
    wrong.map_or(Ok(()), |number| {
        Err(Fault::new(
            place(),
            format!("holds {number}; expected finite numbers"),
        ))
    })
}

/// The item of a list at an index in the file; `what` names it in the error, possibly not at all.
pub(super) fn item<'a, T>(
    list: &'a [T],
    index: u32,
    what: &str,
    place: impl FnOnce() -> String,
) -> Result<&'a T, Fault> {
    let named = if what.is_empty() {
        String::new()
    } else {
        format!("{what} ")
    };
    let missing = || {
        Fault::new(
            place(),
            format!("{named}{index} is out of range; there are {}", list.len()),
        )
    };
    list.get(index as usize).ok_or_else(missing)
}

/// Counts quaternions that deviate from unit length by more than rounding; the stores normalise them.
#[derive(Default)]
pub(super) struct OffUnit {
    count: u32,
    worst: f32,
}

impl OffUnit {
    const ROUNDING: f32 = 1e-3;

    /// Counts one more quaternion.
    ///
    /// # Errors
    /// The quaternion is zero.
    pub(super) fn check(&mut self, quaternion: &[f32; 4]) -> Result<(), &'static str> {
        let zero = self.count(quaternion) < 1e-6;
        if zero {
            Err("has zero length; expected a unit quaternion")
        } else {
            Ok(())
        }
    }

    /// Counts one more quaternion, which may be zero; returns its length.
    pub(super) fn count(&mut self, quaternion: &[f32; 4]) -> f32 {
        let length = quaternion
            .iter()
            .map(|&v| f64::from(v).powi(2))
            .sum::<f64>()
            .sqrt() as f32;
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
    pub(super) fn describe(&self, what: &str) -> Option<Repair> {
        let Self { count, worst } = self;
        let message = format!("normalised {count} {what} (worst length {worst})");
        (*count > 0).then(|| Repair::new(message))
    }
}
