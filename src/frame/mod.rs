//! The parts of a frame that backends, devices and the harness share: stages and their timer, the output buffers,
//! options, abilities, memory and bandwidth requirements, and errors.

mod ability;
mod adapter_summary;
mod bandwidth;
mod best_of;
mod clock_meter;
mod counts;
mod device_object;
mod error;
mod even_scale;
mod footprint;
mod host_poser;
mod job;
mod output_buffers;
mod timer;

pub use ability::{Ability, Lack};
pub use adapter_summary::{AdapterSummary, Api, EMULATED};
pub use bandwidth::{DeviceBandwidth, UploadBandwidth};
pub use best_of::{Rounds, least_time, least_times};
pub use clock_meter::{ClockMeter, Pacer, STEADY, Spinner};
pub use counts::{CountSource, CountSum, Counts, Event};
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
