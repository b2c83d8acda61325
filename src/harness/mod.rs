//! Harness: runs backends, verifies them and measures them.

#[cfg(feature = "gpu")]
mod adapter_side;
mod device_side;
#[cfg(feature = "cli")]
pub mod environment;
pub mod fidelity;
pub mod gameplay;
#[cfg(feature = "cli")]
pub mod hardware;
pub mod limits;
pub mod lod_error;
mod opened_device;
pub mod parity;
mod picture;
pub mod rotation;
pub mod run;
pub mod single;
pub mod stats;
pub mod sweep;
#[cfg(feature = "cli")]
pub mod uncertainty;
