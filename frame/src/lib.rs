//! The parts of a frame that backends, devices and the harness of [skinbench](https://crates.io/crates/skinbench) share: stages
//! and their timer, the output buffers, options, abilities, memory and bandwidth requirements, and errors.
//!
//! **You need this crate only to write a backend.** To skin characters, take `skinbench-kernels` or `skinbench-gpu`, whose errors
//! are [`BackendError`]. Until 1.0, a minor version may change each name here.
//!
//! ```
//! use skinbench_frame::{Stage, StageTimer};
//!
//! let mut timer = StageTimer::default();
//! let sum = timer.wall(Stage::Skin, || (0..1_000).sum::<u32>());
//! assert_eq!(sum, 499_500);
//! assert_eq!(timer.spans[0].stage, Stage::Skin);
//! ```
//!
//! # Floor plan
//!
//! Modules from the ground up; each imports only what stands above it in this table, as `tests/architecture.rs` checks:
//!
//! | module | holds |
//! | --- | --- |
//! | `wording` | lists, numbers and suggestions in messages |
//! | `frustum` | the part of the world that a camera sees, and the size of things in it |
//! | `error` | errors, and stated approximations |
//! | `timer` | stages and clocks, and the times of a frame |
//! | `best_of` | the best of several rounds |
//! | `bandwidth` | bandwidths of a device |
//! | `clock_meter` | the clock of a device |
//! | `adapter_summary` | the description of an adapter |
//! | `device_object` | objects of a device |
//! | `output_buffers` | buffers of skinned vertices |
//! | `footprint` | memory and traffic by purpose |
//! | `job` | options of a run, a frame, and the view of a picture |
//! | `even_scale` | joints that scale unevenly or mirror |
//! | `ability` | what crowds and jobs ask of a backend |
//! | `host_poser` | poses of a crowd on the host |

mod ability;
mod adapter_summary;
mod bandwidth;
mod best_of;
mod clock_meter;
mod device_object;
mod error;
mod even_scale;
mod footprint;
pub mod frustum;
mod host_poser;
mod job;
mod output_buffers;
mod timer;
pub mod wording;

pub use ability::{Ability, Lack};
pub use adapter_summary::{AdapterSummary, Api, EMULATED};
pub use bandwidth::{DeviceBandwidth, UploadBandwidth};
pub use best_of::{Rounds, least_time, least_times};
pub use clock_meter::{ClockMeter, Pacer, STEADY, Spinner};
pub use device_object::{DeviceBuffer, DeviceObject};
pub use error::{Approximation, BackendError, Result};
pub use footprint::{
    Bytes, Footprint, FrameWork, Memory, Purpose, Traffic, clips_in_place, meshes_in_place,
};
pub use host_poser::{HostPoser, PaletteLayout};
pub use job::{FrameInput, Job, Mode, Retention, View};
pub use output_buffers::{OutputBuffers, OutputUser};
pub use timer::{
    Clock, ClockChoice, DeviceClock, Side, Stage, StageGroup, StageTime, StageTimer, ThreadTimes,
};
