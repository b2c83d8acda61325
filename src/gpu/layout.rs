//! Every struct shared with WGSL. `tests/shader_layout.rs` compares them with the parsed shaders, field by field.

use bytemuck::{Pod, Zeroable};

/// Threads of a workgroup in every kernel.
pub const WORKGROUP: u32 = 64;

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

/// Numbers of a chunk (`Chunk` in shaders/chunk.wgsl).
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
    /// Length of one step of a packed position along each axis.
    pub step: [f32; 3],
    /// First vertex with sixteen influences.
    pub sixteens: u32,
    /// Middle of the cube that packed output counts in.
    pub centre: [f32; 3],
    /// Half the length of its edge.
    pub half: f32,
}

/// Camera and light of a picture (`View` in shaders/draw.wgsl).
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

/// Neighbouring instances of one model that are posed together (`Batch` in shaders/pose.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub struct Batch {
    /// How many instances.
    pub instances: u32,
    /// Joints of the skeleton.
    pub joints: u32,
    /// Palette entries of one instance.
    pub entries: u32,
    /// Poses sampled for all instances.
    pub slots: u32,
    /// Levels of the hierarchy.
    pub levels: u32,
    /// To a multiple of 16 bytes.
    pub padding_a: u32,
    /// Likewise.
    pub padding_b: u32,
    /// Likewise.
    pub padding_c: u32,
}

/// Layers, slots and update rate of an instance (`Player` in shaders/pose.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Player {
    /// Its first layer, in the batch.
    pub first_layer: u32,
    /// How many layers.
    pub layers: u32,
    /// The first slot of its poses, in the batch.
    pub first_slot: u32,
    /// Index of the layer that fades inertially, or [`NONE`].
    pub inertial: u32,
    /// Ticks from pose to pose.
    pub every: u32,
    /// Added to the ticks that are multiples of that.
    pub offset: u32,
}

/// The two poses between which an instance is interpolated (`Kept` in shaders/pose.wgsl). Only the device writes it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Kept {
    /// Of the first.
    pub first_tick: u32,
    /// Of the second.
    pub second_tick: u32,
    /// Which there are, which are posed now, which comes before.
    pub modes: u32,
    /// Of the way from one to the other.
    pub part: f32,
}

/// A joint at rest (`Joint` in shaders/pose.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Joint {
    /// Unit quaternion.
    pub rotation: [f32; 4],
    /// In the parent's axes.
    pub translation: [f32; 3],
    /// Its parent, or [`NONE`].
    pub parent: u32,
    /// Along its own axes.
    pub scale: [f32; 3],
    /// Index of the fixed matrix that it has instead, or [`NONE`].
    pub matrix: u32,
}

/// A slot's place in its clip (`Cursor` in shaders/pose.wgsl); only the device writes it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Cursor {
    /// The clip's first track, or [`NONE`]: weighs nothing.
    pub tracks: u32,
    /// Key, or where a compact frame's numbers begin.
    pub key: u32,
    /// Where the next compact frame's begin.
    pub next: u32,
    /// Of the way from one to the other.
    pub fraction: f32,
    /// Seconds of that way.
    pub interval: f32,
    /// Seconds in the clip.
    pub time: f32,
    /// Before masks.
    pub weight: f32,
    /// Kind and mask.
    pub modes: u32,
}

/// An inertial fade under way (`Momentum` in shaders/pose.wgsl); only the device writes it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Momentum {
    /// Index of the layer, or [`NONE`].
    pub layer: u32,
    /// 1 if it comes.
    pub coming: u32,
    /// Remaining fraction of the offset at the fade's start.
    pub offset: f32,
    /// Factor for the change of that offset in the tick before the start.
    pub speed: f32,
}

/// A layer in 64 bytes (`Layer` in shaders/pose_time.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Layer {
    /// Index among the model's clips, or [`NONE`].
    pub clip: u32,
    /// Where in its turn tick 0 is.
    pub phase: u32,
    /// Added every tick.
    pub step: u32,
    /// Seconds at phase 0.
    pub time_base: f32,
    /// Seconds per 2^-24 of a turn.
    pub time_scale: f32,
    /// Whole frames a second, or 0.
    pub frame_rate: f32,
    /// Bytes: kind, playback, fade, in step.
    pub modes: u32,
    /// Before fades and masks.
    pub weight: f32,
    /// Index among the group's masks, or [`NONE`].
    pub mask: u32,
    /// Of the schedule.
    pub period: u32,
    /// Of the schedule.
    pub offset: u32,
    /// Of the schedule.
    pub length: u32,
    /// Of the schedule.
    pub fade_in: u32,
    /// Of the schedule.
    pub fade_out: u32,
    /// Added to the step of all layers in step.
    pub pace: u32,
    /// Seconds of a whole frame: the CPU's quotient, so that no device rounds another way.
    pub frame_time: f32,
}

impl From<&crate::crowd::Layer> for Layer {
    fn from(layer: &crate::crowd::Layer) -> Self {
        let schedule = &layer.schedule;
        Self {
            clip: layer.clip,
            phase: layer.phase,
            step: layer.step,
            time_base: layer.time_base,
            time_scale: layer.time_scale,
            frame_rate: layer.frame_rate,
            modes: u32::from_le_bytes([layer.kind as u8, layer.playback as u8, layer.fade as u8, layer.in_step]),
            weight: layer.weight,
            mask: layer.mask,
            period: schedule.period,
            offset: schedule.offset,
            length: schedule.length,
            fade_in: schedule.fade_in,
            fade_out: schedule.fade_out,
            pace: layer.pace,
            frame_time: if layer.frame_rate == 0.0 { 0.0 } else { 1.0 / layer.frame_rate },
        }
    }
}

/// The frame's time (`Now` in shaders/pose_time.wgsl): all that is sent a frame.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Now {
    /// Simulation time.
    pub tick: u32,
    /// To a multiple of 16 bytes.
    pub padding_a: u32,
    /// Likewise.
    pub padding_b: u32,
    /// Likewise.
    pub padding_c: u32,
}

impl Now {
    /// At a tick.
    pub fn at(tick: u32) -> Self {
        Self { tick, ..Self::zeroed() }
    }
}

/// A clip (`Clip` in shaders/pose_schedule.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Clip {
    /// Its first track; there are three a joint.
    pub tracks: u32,
    /// The word where most tracks' key times are, behind their count, or [`NONE`].
    pub timeline: u32,
    /// Frames of a compact clip; 0 of a raw one.
    pub frames: u32,
    /// 16-bit numbers of a compact frame.
    pub row: u32,
    /// Where its 16-bit numbers begin, counted in such numbers.
    pub numbers: u32,
    /// Seconds at the first compact frame.
    pub start: f32,
    /// Seconds from frame to frame.
    pub interval: f32,
}

/// How a track goes from key to key (the constants in shaders/pose_sample.wgsl).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The rest pose's value in all clips: nothing is sampled.
    Still,
    /// One value.
    Constant,
    /// The earlier key holds.
    Step,
    /// A straight line, of vectors.
    Line,
    /// Spherical, by an angle that the clip holds.
    Slerp,
    /// A normalised line.
    Nlerp,
    /// As authored.
    Authored,
    /// Hermite.
    Cubic,
    /// Shoemake's.
    Squad,
    /// 16-bit numbers.
    Packed,
}

/// A channel of a joint in a clip (`Track` in shaders/pose_keys.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Track {
    /// Bits 0-3: how it goes from key to key; from bit 4: its first value among the quads, or its place in a compact
    /// frame.
    pub place: u32,
    /// The word of its first angle, or of a compact track's lows.
    pub angle: u32,
    /// The word where its own key times are, or [`NONE`]: the clip's.
    pub timeline: u32,
}

impl Track {
    /// A track of a form; its first value, its first angle, its own timeline or [`NONE`].
    pub fn new(form: Form, value: u32, angle: u32, timeline: u32) -> Self {
        Self { place: form as u32 | value << 4, angle, timeline }
    }

    /// How it goes from key to key.
    pub fn form(self) -> u32 {
        self.place & 0xf
    }

    /// Its first value among the quads.
    pub fn value(self) -> usize {
        (self.place >> 4) as usize
    }
}

/// View planes and instances of a chunk for culling (`Cull` in shaders/cull.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Cull {
    /// Planes that look inwards: unit normal, distance.
    pub planes: [[f32; 4]; 6],
    /// The chunk's first instance, in the crowd.
    pub first_instance: u32,
    /// How many instances.
    pub instances: u32,
    /// Workgroups that they take.
    pub groups: u32,
    /// Dispatches that follow.
    pub dispatches: u32,
    /// Workgroups of a dispatch in one dimension.
    pub most: u32,
    /// To a multiple of 16 bytes.
    pub padding_a: u32,
    /// Likewise.
    pub padding_b: u32,
    /// Likewise.
    pub padding_c: u32,
}

/// Rule for computing the workgroups of a dispatch from a number of instances or slots (`Dispatch` in
/// shaders/cull_scan.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct Dispatch {
    /// 1: of all slots, 0: of all instances.
    pub slots: u32,
    /// Of them, that share threads.
    pub at_once: u32,
    /// Threads of each such part.
    pub threads: u32,
    /// Threads of a workgroup.
    pub workgroup: u32,
    /// Workgroups in x, and those in y follow; 0: they are folded into x and y.
    pub x: u32,
    /// Workgroups in z.
    pub z: u32,
}

/// A baked clip (`BakedClip` in shaders/pose_baked.wgsl).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct BakedClip {
    /// Its first frame's first entry.
    pub first: u32,
    /// How many frames.
    pub frames: u32,
    /// Seconds from frame to frame.
    pub interval: f32,
    /// To a multiple of 16 bytes.
    pub padding: u32,
}

/// The frames that an instance is between (`Shown` in shaders/baked.wgsl); only the device writes it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub struct Shown {
    /// First entry of the earlier one.
    pub first: u32,
    /// First entry of the later one.
    pub next: u32,
    /// Of the way from one to the other.
    pub part: f32,
    /// To a multiple of 16 bytes.
    pub padding: u32,
}

/// No such thing, wherever an index stands.
pub const NONE: u32 = u32::MAX;
