//! Pages that run skinbench's own shaders in a browser.
//!
//! Backends run once on a device that only records what it is asked for ([`Gpu::recording`](crate::gpu::Gpu::recording)).
//! The page (`page`) holds these recordings for a few crowds (`recording`), the reference's vertices (`reference`) and
//! scripts that play the recordings with WebGPU, compare the vertices, and measure.

mod page;
mod recording;
mod reference;

pub use page::{PageChoice, PageError, page};
