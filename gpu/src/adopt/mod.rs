//! Passes on a device that another program owns, recorded in its own compute pass or encoder.
//!
//! A program creates everything once: the device with [`Gpu::adopt`](crate::Gpu::adopt), then [`AdoptedMesh`] for one mesh
//! whose matrices it has in a buffer, or [`AdoptedCrowd`] for a crowd that the device poses, and binds slices of its buffers. A
//! frame only records commands.

pub mod crowd;
mod host;
pub mod mesh;
pub mod slices;
#[cfg(test)]
mod tests;

pub use crowd::AdoptedCrowd;
pub use host::Vertices;
pub use mesh::{AdoptedMesh, BoundMesh, Matrices, MeshBuffers};
pub use slices::{MeshSlices, TargetSlices};
