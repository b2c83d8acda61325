//! The WGSL of skinbench: its files, complete shaders made from them, what these bind, and the structs that they share
//! with the host. It needs naga, and no graphics API: an engine creates modules and pipelines itself.
//!
//! ```
//! use skinbench_shaders::reflection::Interface;
//! use skinbench_shaders::shader;
//!
//! let wgsl = shader("cull_count.wgsl", &[]);
//! let interface = Interface::of(&wgsl)?;
//! assert_eq!(interface.threads, 64);
//! assert_eq!(interface.bindings[0].name, "camera");
//! # Ok::<(), String>(())
//! ```
//!
//! Complete kernels, translated to other languages and described for those who do not use Rust, lie in `flat/`.
//!
//! Rooms from the ground up; each imports only what stands above it in this table, as `tests/architecture.rs` checks:
//!
//! | room | holds |
//! | --- | --- |
//! | `layout` | structs that shaders share with Rust |
//! | `wgsl` | the files, and complete shaders from them |
//! | `reflection` | bindings and overrides of a complete shader |

pub mod layout;
pub mod reflection;
pub mod wgsl;

pub use layout::WORKGROUP;
pub use wgsl::{Role, shader};
