//! The device that GPU backends and drawing share. CPU backends never look here.

mod capture;
mod chunks;
mod device;
pub mod layout;
mod lines;
mod palettes;
pub mod present;
pub mod skinning;
mod statics;
mod timestamps;

pub use capture::Capture;
pub use chunks::{Chunk, chunks};
pub use device::{AdapterSummary, Commands, Gpu, INSTANCES_PER_THREAD, WORKGROUP};
pub use lines::{LineEnd, skeleton_lines};
pub use palettes::PosedPalettes;
pub use skinning::SKINNING_WGSL;
pub use statics::{MeshBuffers, chunk_uniform};
pub use timestamps::GpuSpan;
