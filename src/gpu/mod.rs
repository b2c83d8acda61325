//! The device that GPU backends and drawing share. CPU backends never look here.

mod bandwidth;
mod capture;
mod chunks;
pub mod compute;
mod device;
pub mod layout;
mod lines;
mod packing;
mod palettes;
pub mod present;
pub mod skinning;
mod statics;
mod timestamps;

pub use bandwidth::Bandwidth;
pub use capture::Capture;
pub use chunks::{Chunk, chunks};
pub use device::{AdapterSummary, Commands, Flight, Gpu};
pub use lines::{LineEnd, skeleton_lines};
pub use palettes::{PaletteForm, Palettes, PosedPalettes, TEXTURE_WIDTH, UNIFORM_ENTRIES};
pub use statics::{MeshBuffers, MeshForm, chunk_uniform};
pub use timestamps::GpuSpan;
