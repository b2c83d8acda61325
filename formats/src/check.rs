//! Checks that importers share, and their errors before the name of the file is added.

use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::Notes;

/// Returns an error from the function unless a condition holds: `ensure!(holds, error)`, or
/// `ensure!(holds, place, "problem")`, where the problem is a format string.
macro_rules! ensure {
    ($holds:expr, $error:expr) => {
        let holds: bool = $holds;
        if !holds {
            return Err($error);
        }
    };
    ($holds:expr, $place:expr, $($problem:tt)+) => {
        ensure!($holds, skinbench_kernels::error::DataError::new($place, format!($($problem)+)))
    };
}

/// Returns an error from the function: `bail!(place, "problem")`, where the problem is a format string.
macro_rules! bail {
    ($place:expr, $($problem:tt)+) => {
        return Err(skinbench_kernels::error::DataError::new($place, format!($($problem)+)))
    };
}

/// Checks that values are finite.
pub fn finite(values: &[f32], place: impl FnOnce() -> String) -> Result<()> {
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
) -> Result<&'a T> {
    list.get(index as usize).ok_or_else(|| {
        let problem = format!("{what} {index} is out of range; there are {}", list.len());
        DataError::new(place(), problem.trim_start())
    })
}

/// Largest deviation from unit length that is not noted.
const ROUNDING: f32 = 1e-3;

/// Notes a quaternion that is not of unit length; the stores normalise it. Returns its length.
pub fn note_length(quaternion: &[f32; 4], notes: &mut Notes) -> f32 {
    let squares = quaternion.iter().map(|&v| f64::from(v).powi(2));
    let length = squares.sum::<f64>().sqrt() as f32;
    let off = (length - 1.0).abs();
    if off > ROUNDING {
        notes.add_number("normalised # rotations (worst length @)", length, off);
    }
    length
}

/// As [`note_length`], for a quaternion that must not be zero.
///
/// # Errors
/// It is zero.
pub fn check_rotation(quaternion: &[f32; 4], notes: &mut Notes) -> Result<(), &'static str> {
    if note_length(quaternion, notes) < 1e-6 {
        return Err("has zero length; expected a unit quaternion");
    }
    Ok(())
}
