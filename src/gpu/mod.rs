//! The device that GPU backends and drawing share. CPU backends do not use it.

pub mod device;
pub mod draw;
pub mod pose;
pub mod shader;
pub mod skin;

pub use device::adapter::{Adapter, apis};
pub use device::commands::{Commands, Flight};
pub use device::gpu::{Edit, Gpu};
pub use device::timestamps::StageQueries;
pub use draw::capture::Capture;
pub use draw::ground::ground;
pub use draw::overlay::{Beneath, LineEnd, Overlay, opaque, skeleton_lines};
pub use draw::source::{Drawable, VertexSource};
pub use draw::surfaces::Surfaces;
pub use pose::palette_source::{PaletteSource, PoseBytes};
pub use pose::palettes::{PaletteForm, Palettes, TEXTURE_WIDTH, UNIFORM_ENTRIES};
pub use pose::posed_palettes::PosedPalettes;
pub use pose::posing::Posing;
pub use skin::chunks::{Chunk, chunks};
pub use skin::statics::{
    MeshForm, OwnMesh, chunk_contents, chunk_uniform, mesh_bytes, upload_meshes,
};
