//! Every struct shared with WGSL. `tests/shader_layout.rs` compares them with the parsed shaders, field by field.

use bytemuck::{Pod, Zeroable};

/// A vertex in full precision (`Vertex` in shaders/mesh_plain.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Vertex {
    /// Mesh space.
    pub position: [f32; 3],
    /// To a multiple of 16 bytes.
    pub padding: u32,
    /// Mesh space.
    pub normal: [f32; 3],
    /// To a multiple of 16 bytes.
    pub more_padding: u32,
    /// Palette entries of the four largest influences.
    pub entries: [u32; 4],
    /// Their weights.
    pub weights: [f32; 4],
}

/// A vertex in 20 bytes (`PackedVertex` in shaders/mesh_packed.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct PackedVertex {
    /// 4 x 8 bits.
    pub entries: u32,
    /// Weights of the second and third influence.
    pub weights: u32,
    /// Weight of the fourth; upper 16 of the position's 17 bits in x.
    pub weight_x: u32,
    /// Upper 16 bits of the position in y and z.
    pub yz: u32,
    /// Lowest bits of x, y, z; octahedral normal, 14 bits each.
    pub rest: u32,
}

/// An influence after a vertex' fourth (`Influence` in shaders/skinning.wgsl).
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
    /// Where packed positions begin.
    pub origin: [f32; 3],
    /// First vertex with eight influences instead of up to four.
    pub eights: u32,
    /// What one step of a packed position is.
    pub step: [f32; 3],
    /// First vertex with sixteen influences.
    pub sixteens: u32,
    /// Middle of the cube that packed output counts in.
    pub centre: [f32; 3],
    /// Half the length of its edge.
    pub half: f32,
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
