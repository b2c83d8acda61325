// Builds that document nothing need not be repeated after the page changed.
#![cfg_attr(doc, doc = include_str!("../README.md"))]
//!
//! # With the crate
//!
//! `shader` makes the text of a complete shader, and `Interface` says what it binds. Your engine creates modules and pipelines.
//!
//! ```
//! use skinbench_shaders::{Interface, shader};
//!
//! let wgsl = shader("cull_count.wgsl", &[]);
//! let interface = Interface::of(&wgsl)?;
//! assert_eq!(interface.threads, 64);
//! assert_eq!(interface.bindings[0].name, "camera");
//! # Ok::<(), String>(())
//! ```
//!
//! # Floor plan
//!
//! Modules from the ground up; each imports only what stands above it in this table, as `tests/architecture.rs` checks:
//!
//! | module | holds |
//! | --- | --- |
//! | `layout` | structs that shaders share with Rust |
//! | `wgsl` | the files, and complete shaders from them |
//! | `reflection` | bindings and overrides of a complete shader |

pub mod layout;
pub mod reflection;
pub mod wgsl;

#[doc(inline)]
pub use layout::WORKGROUP;
#[doc(inline)]
pub use reflection::Interface;
#[doc(inline)]
pub use wgsl::{Role, shader};
