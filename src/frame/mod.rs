//! The parts of a frame that backends, devices and the harness agree on: stages and their timer, the arena that vertices
//! go to, what a run asks for, what memory and bandwidth it takes, and how it can fail.

mod accuracy;
mod arena;
mod error;
mod input;
mod job;
mod timer;
mod traffic;

pub use accuracy::{Approximation, Blending};
pub use arena::Arena;
pub use error::{BackendError, Result};
pub use input::{FrameInput, ReadBack};
pub use job::{Footprint, Job, Keep};
pub use timer::{Clock, Span, Stage, StageTimer};
pub use traffic::{Memory, Traffic};
