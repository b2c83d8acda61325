//! The parts of a frame that backends, devices and the harness agree on: stages and their timer, the arena that vertices
//! go to, what a run asks for, what memory and bandwidth it takes, and how it can fail.

mod accuracy;
mod arena;
mod error;
mod input;
mod job;
mod timer;
mod traffic;
mod view;

pub use accuracy::{Approximation, Blending};
pub use arena::Arena;
pub use error::{BackendError, Result};
pub use input::FrameInput;
pub use job::{Footprint, Job, Retention};
pub use timer::{Clock, Group, Span, Stage, StageTimer};
pub use traffic::{Memory, Traffic};
pub use view::{Mode, View};
