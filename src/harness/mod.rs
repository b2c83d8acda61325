//! Harness: runs backends, verifies them and measures them.

#[cfg(feature = "gpu")]
mod adapter_side;
mod device_side;
#[cfg(feature = "cli")]
pub mod environment;
pub mod fidelity;
pub mod gameplay;
#[cfg(feature = "cli")]
pub mod governor;
pub mod limits;
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

pub(in crate::harness) use device_side::{DeviceSide, OpenDevice};
pub use limits::{DeviceLimits, Host, Limits, MachineLimits};
pub use parity::{Coverage, Parity, SAMPLED, Tolerance, spread};
pub use rotation::{BackendMemory, SharedMemory};
pub use run::{Disturbance, Floor, Observer, Outcome, RunOptions, RunStep, StageTimes, Status};
pub use stats::{Summary, TAIL_SAMPLES};
