//! Harness: runs backends, verifies them and measures them.

#[cfg(feature = "cli")]
pub mod environment;
pub mod fidelity;
pub mod limits;
pub mod parity;
mod reference;
pub mod rotation;
pub mod run;
pub mod schedule;
mod screen;
pub mod stats;
pub mod sweep;
mod thread_clocks;
#[cfg(feature = "cli")]
pub mod uncertainty;
