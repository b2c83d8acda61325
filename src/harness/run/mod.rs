//! Verifies backends on a scene and measures those that pass.
//!
//! Backends that fit in memory together form a rotation. Each is prepared and compared with the reference, its picture
//! is compared with those of the others, and it is warmed up. Then they alternate in blocks of frames. Some of the measured
//! frames are audited.

mod audit;
#[cfg(test)]
mod audit_tests;
mod bench;
mod contest;
mod demand;
mod disturbance;
mod observer;
mod options;
mod order;
mod outcome;
mod pacing;
mod processor_clock;
#[cfg(test)]
mod simulated_device_tests;
mod thread_clocks;

pub use demand::{passes, promised_memory};
pub use observer::{Observer, RunStep};
pub use options::{Disturbance, RunOptions};
pub use outcome::{Ended, Floor, Outcome, RelativeClock, Resources, StageTimes, Status};

use crate::backend::Context;
use crate::scene::BuiltScene;
use contest::{Contest, Depth};
use std::io;

/// Verifies backends on some instances of a scene, then measures them.
///
/// # Errors
/// The errors of [`Observer::finished`]. A failure of a backend is its outcome, not an error.
pub fn run(
    scene: &BuiltScene,
    context: &Context,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> io::Result<Vec<Outcome>> {
    Contest::new(scene, context, options, observer, Depth::Measured).all()
}

/// Verifies backends on every vertex of every instance of a scene; measures nothing.
///
/// # Errors
/// The errors of [`Observer::finished`]. A failure of a backend is its outcome, not an error.
pub fn verify(
    scene: &BuiltScene,
    context: &Context,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> io::Result<Vec<Outcome>> {
    Contest::new(scene, context, options, observer, Depth::Verified).all()
}
