//! skinbench: which way of skinning a crowd of animated characters is fastest on this machine, and do all ways agree?
//!
//! # Floor plan
//!
//! Modules from the ground up. Each one imports only what stands above it in this table; `tests/architecture.rs` holds
//! the source to it. The lowest floors are a crate of their own, `skinbench-kernels`, which is re-exported here.
//!
//! | module | holds |
//! | --- | --- |
//! | `wording` | lists, numbers and suggestions in messages |
//! | `asset` | importers, exporters, the built-in characters |
//! | `frustum` | the part of the world that a camera sees |
//! | `frame` | the parts of a frame: stages, timer, arena, errors |
//! | `scene` | scene files, and the crowds and cameras that they describe |
//! | `gpu` | device, buffers, layouts, shaders, timestamps |
//! | `backend` | the contract of a backend, and one file for each way of skinning |
//! | `registry` | the list of all backends |
//! | `harness` | reference, parity, schedule, limits, statistics, the run |
//! | `results` | results as rows of CSV files, and everything that is concluded from them |
//! | `report` | tables, text, charts and pages |
//! | `web` | pages that run our shaders in a browser: recorded devices, reference vertices |
//! | `view` | the window: its state, the thread that draws, its panels |

pub mod asset;
pub mod backend;
pub mod frame;
pub mod frustum;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod harness;
pub mod registry;
pub mod report;
#[cfg(feature = "cli")]
pub mod results;
pub mod scene;
#[cfg(feature = "view")]
pub mod view;
#[cfg(all(feature = "cli", feature = "gpu"))]
pub mod web;
pub mod wording;

pub use skinbench_kernels::{bake, blocks, compact, crowd, model, pose, probe, simd, skin, threads, vertex};
