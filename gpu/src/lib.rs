// Builds that document nothing need not be repeated after the page changed.
#![cfg_attr(doc, doc = include_str!("../README.md"))]
//!
//! # Floor plan
//!
//! Modules from the ground up; each imports only what stands above it in this table, as `tests/architecture.rs` checks. All but
//! `adopt` are skinbench's own, have no page here, and may change at any time.
//!
//! | module | holds |
//! | --- | --- |
//! | `device` | adapters, objects and commands as data, memory that is counted |
//! | `kernel` | compiled shaders, and layouts of what they bind |
//! | `timing` | clocks of stages and of the device |
//! | `forms` | forms of meshes, palettes, morph targets, clips and vertices in device memory |
//! | `crowd` | the table of a crowd, divided among bindings |
//! | `passes` | the passes of a frame, and the plan that lists them |
//! | `adopt` | passes on a device of another program's |
//! | `draw` | drawing: pictures, overlays, read-backs |

pub mod adopt;
#[doc(hidden)]
pub mod crowd;
#[doc(hidden)]
pub mod device;
#[doc(hidden)]
pub mod draw;
#[doc(hidden)]
pub mod forms;
#[doc(hidden)]
pub mod kernel;
#[doc(hidden)]
pub mod passes;
pub(crate) mod timing;

#[doc(inline)]
pub use adopt::{
    AdoptedCrowd, AdoptedMesh, BoundMesh, Matrices, MeshBuffers, MeshSlices, TargetSlices, Vertices,
};
#[doc(inline)]
pub use device::gpu::{Gpu, ShaderChecks};
#[doc(inline)]
pub use passes::skin_kernels::CANDIDATES;
#[doc(inline)]
pub use skinbench_frame::BackendError;
pub use skinbench_shaders as shader;
/// The version whose types are in public functions.
pub use wgpu;

#[doc(hidden)]
pub use {
    crowd::{Chunk, CrowdTable},
    device::adapter::{Adapter, apis, summaries},
    device::commands::{Commands, Flight},
    device::gpu::Edit,
    draw::capture::Capture,
    draw::ground::ground,
    draw::overlay::{Beneath, LineEnd, Overlay, add_skeleton, opaque},
    draw::surfaces::{ImageReader, Surfaces},
    forms::mesh::{MeshForm, OwnMesh, mesh_bytes},
    forms::palettes::{PaletteForm, TEXTURE_WIDTH, UNIFORM_ENTRIES},
    passes::pose::PoseBytes,
    passes::strategy::{Posing, Skinning, Strategy},
    passes::upload::uploaded_bytes,
    passes::vertices::Drawable,
};
