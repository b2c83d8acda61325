// Builds that document nothing need not be repeated after the page changed.
#![cfg_attr(doc, doc = include_str!("../README.md"))]
//!
//! # Contract
//!
//! This crate declares what `include/skinbench.h` does; its functions are for C, not for Rust.
//!
//! All functions but constructors, destructors and failing ones work in memory of the caller and allocate nothing. Objects do
//! not change after they were made, so any number of threads may use one at a time.
//!
//! # Floor plan
//!
//! Modules from the ground up. Each one imports only what stands above it in this table.
//!
//! | module | holds |
//! | --- | --- |
//! | `status` | codes and texts of errors, and the checks of pointers |
//! | `skin` | jobs and clusters |
//! | `pose` | skeletons, clips, poses of one character and palettes |

#![allow(
    clippy::missing_safety_doc,
    reason = "one contract for all functions: a pointer is null, or points to as much as its documentation says; objects \
              are used between their constructor and their destructor"
)]

mod pose;
mod skin;
mod status;

pub use pose::*;
pub use skin::*;
pub use status::{SkinbenchStatus, skinbench_error_text, skinbench_version};
