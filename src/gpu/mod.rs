//! The device that GPU backends and drawing share. CPU backends never look here.

pub mod baked;
mod bandwidth;
mod buffers;
mod capture;
mod chunks;
pub mod compute;
mod device;
pub mod device_pose;
pub mod layout;
mod lines;
mod packing;
mod palettes;
mod posing;
pub mod present;
mod recording;
pub mod skinning;
pub mod source;
mod statics;
mod timestamps;
pub mod visibility;

pub use bandwidth::Bandwidth;
pub use capture::Capture;
pub use chunks::{Chunk, chunks};
pub use device::{AdapterSummary, Gpu};
pub use lines::{LineEnd, skeleton_lines};
pub use palettes::{PaletteForm, PaletteSource, Palettes, PoseBytes, PosedPalettes, TEXTURE_WIDTH, UNIFORM_ENTRIES};
pub use posing::Posing;
pub use recording::{Commands, Flight};
pub use statics::{MeshBuffers, MeshForm, chunk_contents, chunk_uniform};
pub use timestamps::GpuSpan;
