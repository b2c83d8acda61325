//! Input of backends: the options of a run, a frame, and the view of a picture.

use super::output_buffers::OutputBuffers;
use crate::frustum::Frustum;
use skinbench_kernels::crowd::Crowd;
use skinbench_kernels::gameplay::Gameplay;
use std::sync::Arc;

/// Options that a run passes to every backend.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Job {
    /// The vertices that stay on the device.
    pub keep: Retention,
    /// The visible part of the world; backends may leave out instances outside it.
    pub frustum: Frustum,
    /// Bounds and sockets that gameplay reads of each frame, if any.
    pub gameplay: Option<Arc<Gameplay>>,
    /// `true` to take the first of several kernels instead of the fastest in a trial: kernels round differently, and the
    /// first is the same in every run.
    pub first_kernel: bool,
}

/// Choice of the skinned vertices that stay on the device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Retention {
    /// All vertices of the frame.
    #[default]
    Frame,
    /// Only the last chunks: all chunks share a ring of buffers, so that a crowd may be larger than memory. Such a
    /// crowd cannot be drawn.
    Ring,
    /// The vertices of this frame and the previous one, in two outputs that swap, for motion vectors.
    TwoFrames,
}

impl Retention {
    /// Number of frames whose vertices stay on the device.
    pub fn frames(self) -> usize {
        if self == Self::TwoFrames { 2 } else { 1 }
    }
}

/// One frame's input.
pub struct FrameInput<'a> {
    /// The crowd given to `prepare`.
    pub crowd: &'a Crowd,
    /// Simulation time in ticks.
    pub tick: u32,
    /// Destination of skinned vertices.
    pub output: &'a mut OutputBuffers,
}

/// Drawing mode of meshes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Lit triangles.
    #[default]
    Skin,
    /// Edges of the visible triangles.
    Wireframe,
    /// Lit triangles with their edges on top.
    SkinAndWireframe,
}

impl Mode {
    /// The mode that shows triangles, their edges, or both; `None` for neither.
    pub fn of(skin: bool, wireframe: bool) -> Option<Self> {
        match (skin, wireframe) {
            (true, false) => Some(Self::Skin),
            (false, true) => Some(Self::Wireframe),
            (true, true) => Some(Self::SkinAndWireframe),
            (false, false) => None,
        }
    }
}

/// Camera, resolution and drawing mode of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// World to clip space, depth 0 to 1 (1 far).
    pub view_projection: glam::Mat4,
    /// Direction towards the light, world space.
    pub light: glam::Vec3,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Drawing mode of meshes.
    pub mode: Mode,
}
