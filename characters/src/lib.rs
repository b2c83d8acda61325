// Builds that document nothing need not be repeated after the page changed.
#![cfg_attr(doc, doc = include_str!("../README.md"))]
//!
//! # Floor plan
//!
//! Modules from the ground up. Each one imports only what stands above it in this table.
//!
//! | module | holds |
//! | --- | --- |
//! | `curves` | formulas that all models share |
//! | `extremes` | models with extreme hierarchies |
//! | `walker` | the walker, and people who differ |
//! | `face` | the face, with morph targets |

mod curves;
mod extremes;
mod face;
mod walker;

pub use extremes::{chain_64, star_64};
pub use face::face;
pub use walker::{People, VERTICES, walker};
