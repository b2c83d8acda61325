//! Poses and skins characters on a device: its objects and commands, and the passes of a frame. Their shaders are the crate
//! `skinbench-shaders`, which is re-exported as [`shader`].
//!
//! Rooms from the ground up; each imports only what stands above it in this table, as `tests/architecture.rs` checks:
//!
//! | room | holds |
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
pub mod crowd;
pub mod device;
pub mod draw;
pub mod forms;
pub mod kernel;
pub mod passes;
pub(crate) mod timing;

pub use adopt::{AdoptedCrowd, AdoptedMesh, MeshSlices, Vertices};
pub use crowd::{Chunk, CrowdTable};
pub use device::adapter::{Adapter, apis, summaries};
pub use device::commands::{Commands, Flight};
pub use device::gpu::{Edit, Gpu, ShaderChecks};
pub use draw::capture::Capture;
pub use draw::ground::ground;
pub use draw::overlay::{Beneath, LineEnd, Overlay, add_skeleton, opaque};
pub use draw::surfaces::{ImageReader, Surfaces};
pub use forms::mesh::{MeshForm, OwnMesh, mesh_bytes};
pub use forms::palettes::{PaletteForm, TEXTURE_WIDTH, UNIFORM_ENTRIES};
pub use passes::pose::PoseBytes;
pub use passes::strategy::{Posing, Skinning, Strategy};
pub use passes::upload::uploaded_bytes;
pub use passes::vertices::Drawable;
pub use skinbench_shaders as shader;
/// The version whose types are in public functions.
pub use wgpu;
