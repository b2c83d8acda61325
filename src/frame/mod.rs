//! The parts of a frame that backends, devices and the harness share: stages and their timer, the arena of vertices,
//! options, memory and bandwidth requirements, and errors.

mod accuracy;
mod arena;
mod camera_view;
mod device_clock;
mod error;
mod footprint;
mod host_gameplay;
mod input;
mod job;
mod timer;
mod traffic;

pub use accuracy::{Approximation, Blending};
pub use arena::Arena;
pub use camera_view::{Mode, View};
pub use device_clock::{ClockChoice, DeviceClock};
pub use error::{BackendError, Result};
pub use footprint::{Bytes, Footprint, FrameWork, Purpose, clips_in_place, meshes_in_place};
pub use host_gameplay::HostGameplay;
pub use input::FrameInput;
pub use job::{Job, Retention};
pub use timer::{Clock, Span, Stage, StageGroup, StageTimer, ThreadTimes};
pub use traffic::{Memory, Traffic};
