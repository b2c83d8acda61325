//! A crowd as a device sees it: the only place that divides one among bindings and dispatches.

pub mod chunk;
mod output;
pub mod table;

pub use chunk::Chunk;
pub use table::CrowdTable;
