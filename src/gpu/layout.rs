//! Every struct shared with WGSL. `tests/shader_layout.rs` compares them with the parsed shaders, field by field.

use bytemuck::{Pod, Zeroable};

/// A vertex as kernels read it (`Vertex` in shaders/skinning.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Vertex {
    /// Mesh space.
    pub position: [f32; 3],
    /// Index of the first influence << 5 | number of influences.
    pub influences: u32,
    /// Mesh space.
    pub normal: [f32; 3],
    /// To a multiple of 16 bytes.
    pub padding: u32,
}

/// A (joint, weight) pair (`Influence` in shaders/skinning.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Influence {
    /// Palette entry.
    pub entry: u32,
    /// Weight.
    pub weight: f32,
}

/// What is bound together (`Chunk` in shaders/chunk.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Chunk {
    /// The chunk's first instance, in the crowd.
    pub first_instance: u32,
    /// Instances in the chunk.
    pub instances: u32,
    /// Vertices of one instance.
    pub vertices: u32,
    /// Palette entries of one instance.
    pub entries: u32,
}

/// What a picture shows (`View` in shaders/draw.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct View {
    /// World to clip space, columns.
    pub view_projection: [[f32; 4]; 4],
    /// Towards the light, world space.
    pub light: [f32; 3],
    /// To a multiple of 16 bytes.
    pub padding: f32,
}

/// Which texels a capture fills (`Capture` in shaders/capture.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Capture {
    /// First instance, counted in the chunk.
    pub first: u32,
    /// Texels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// To a multiple of 16 bytes.
    pub padding: u32,
}
