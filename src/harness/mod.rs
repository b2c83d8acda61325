//! Harness: runs backends, verifies them and measures them.

#[cfg(feature = "cli")]
pub mod environment;
pub mod fidelity;
pub mod gameplay;
#[cfg(feature = "cli")]
pub mod hardware;
pub mod limits;
pub mod lod_error;
pub mod order;
pub mod parity;
mod reference;
pub mod rotation;
pub mod run;
mod screen;
pub mod single;
pub mod stats;
pub mod sweep;
mod thread_clocks;
#[cfg(feature = "cli")]
pub mod uncertainty;
