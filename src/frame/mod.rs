//! The parts of a frame that backends, devices and the harness share: stages and their timer, the arena of vertices,
//! options, abilities, memory and bandwidth requirements, and errors.

mod ability;
mod accuracy;
mod arena;
mod camera_view;
mod counts;
mod device_clock;
mod device_object;
mod error;
mod even_scale;
mod footprint;
mod host_gameplay;
mod input;
mod job;
mod timer;
mod traffic;

pub use ability::{Ability, Lack};
pub use accuracy::Approximation;
pub use arena::{Arena, ArenaUser};
pub use camera_view::{Mode, View};
pub use counts::{CountSource, CountSum, Counts, Event};
pub use device_clock::{ClockChoice, DeviceClock};
pub use device_object::{DeviceBuffer, DeviceObject};
pub use error::{BackendError, Result};
pub use footprint::{Bytes, Footprint, FrameWork, Purpose, clips_in_place, meshes_in_place};
pub use host_gameplay::HostGameplay;
pub use input::FrameInput;
pub use job::{Job, Retention};
pub use timer::{Clock, Stage, StageGroup, StageTime, StageTimer, ThreadTimes};
pub use traffic::{Memory, Traffic};
