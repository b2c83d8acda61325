//! A crowd as a device sees it: the only place that divides one among bindings and dispatches.

pub mod chunk;
mod output;
pub mod table;

pub use chunk::{Chunk, chunks};
pub use table::{CrowdTable, Visible, VisibleChunk, chunk_contents, chunk_uniform};
