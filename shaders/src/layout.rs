//! Every struct shared with WGSL. tests/suite/backends/shader_layout.rs compares them with the parsed shaders, field by
//! field.
//!
//! A struct has the name of its WGSL counterpart, which may also be the name of the type that it is made from. Code
//! outside this module therefore writes the module too: `layout::Chunk` is what shaders read of a chunk.

use bytemuck::{Pod, Zeroable};

/// Declares structs of plain data.
macro_rules! shared {
    ($($(#[$doc:meta])* pub struct $name:ident { $($fields:tt)* })*) => {
        $($(#[$doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
        pub struct $name { $($fields)* })*
    };
}

shared! {
    /// A vertex in full precision (`Vertex` in shaders/mesh_plain.wgsl).
    pub struct Vertex {
        /// Mesh space.
        pub position: [f32; 3],
        /// Pads to a multiple of 16 bytes.
        pub padding: u32,
        /// Mesh space.
        pub normal: [f32; 3],
        /// Pads to a multiple of 16 bytes.
        pub more_padding: u32,
        /// Palette entries of the four largest influences.
        pub entries: [u32; 4],
        /// Their weights.
        pub weights: [f32; 4],
    }

    /// A vertex in 20 bytes (`PackedVertex` in shaders/mesh_packed.wgsl).
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

    /// An influence after a vertex's fourth (`Influence` in shaders/vertex.wgsl).
    pub struct Influence {
        /// Palette entry.
        pub entry: u32,
        /// Weight.
        pub weight: f32,
    }

    /// Numbers of a chunk (`Chunk` in shaders/chunk_numbers.wgsl).
    pub struct Chunk {
        /// The chunk's first instance, in the crowd or among all instances in view.
        pub first_instance: u32,
        /// Instances in the chunk.
        pub instances: u32,
        /// Vertices of one instance.
        pub vertices: u32,
        /// Palette entries of one instance.
        pub entries: u32,
        /// Position of step 0 of packed positions.
        pub origin: [f32; 3],
        /// First vertex with eight influences instead of up to four.
        pub eights: u32,
        /// Length of one step of a packed position along each axis.
        pub step: [f32; 3],
        /// First vertex with sixteen influences.
        pub sixteens: u32,
        /// Centre of the cube that packed output is relative to.
        pub centre: [f32; 3],
        /// Half the length of the cube's edge.
        pub half: f32,
        /// Index of its first skinned vertex, in a buffer that it shares with other models.
        pub first_vertex: u32,
        /// Index of its first palette entry.
        pub first_entry: u32,
        /// Index of its model's first vertex, in meshes that share buffers.
        pub mesh_vertex: u32,
        /// Index of its model's first influence after a vertex's fourth, in these meshes.
        pub mesh_influence: u32,
    }

    /// Part of a chunk that a workgroup skins (`Workgroup` in shaders/numbers_table.wgsl).
    pub struct Workgroup {
        /// Index of the chunk.
        pub chunk: u32,
        /// Its first vertex.
        pub vertex: u32,
        /// Its first instance, relative to the chunk.
        pub instance: u32,
    }

    /// Place of a drawn instance's vertices (`DrawnInstance` in shaders/drawn_merged.wgsl).
    pub struct DrawnInstance {
        /// Difference between the index of a skinned vertex and that of the drawn one; wraps around.
        pub place: u32,
        /// Index of its model's cube.
        pub model: u32,
    }

    /// A vertex of a surface in a picture (`Surface` in shaders/draw_picture.wgsl).
    pub struct Surface {
        /// Linear RGB, 8 bits each, and the alpha below which a texel is left out.
        pub color: u32,
        /// 0 for no texture, or layer + 1; from bit 16 on, two bits of wrapping across and two down.
        pub layer: u32,
        /// Where the texture is sampled.
        pub uv: [f32; 2],
    }

    /// Camera and light of a picture (`View` in shaders/view.wgsl).
    pub struct View {
        /// World to clip space, columns.
        pub view_projection: [[f32; 4]; 4],
        /// Direction towards the light, world space.
        pub light: [f32; 3],
        /// Pads to a multiple of 16 bytes.
        pub padding: f32,
    }

    /// Texels that a capture fills (`Capture` in shaders/capture.wgsl).
    pub struct Capture {
        /// First instance, relative to the chunk.
        pub first: u32,
        /// Texels per row.
        pub width: u32,
        /// Rows.
        pub height: u32,
        /// Pads to a multiple of 16 bytes.
        pub padding: u32,
    }

    /// Neighbouring instances of one model that are posed together (`PosedChunk` in shaders/pose_chunk.wgsl).
    pub struct PosedChunk {
        /// Number of instances.
        pub instances: u32,
        /// Joints of the skeleton.
        pub joints: u32,
        /// Palette entries of one instance.
        pub entries: u32,
        /// Poses sampled for all instances.
        pub slots: u32,
        /// Levels of the hierarchy.
        pub levels: u32,
        /// Clips of the model, and its rest pose.
        pub clips: u32,
        /// Index of the chunk's first instance, in buffers that it shares with other models.
        pub first_instance: u32,
        /// Index of its first model pose.
        pub first_joint: u32,
        /// Index of its first palette entry.
        pub first_entry: u32,
        /// Pads to a multiple of 16 bytes.
        pub padding_a: u32,
        /// Padding.
        pub padding_b: u32,
        /// Padding.
        pub padding_c: u32,
    }

    /// Where a chunk and its model begin in buffers that they share with other models (`Places` in shaders/pose_chunk.wgsl).
    pub struct Places {
        /// Index of its first slot.
        pub first_slot: u32,
        /// Index of its first local pose, each of which takes one place per channel.
        pub first_local: u32,
        /// Index of the model's first clip.
        pub first_clip: u32,
        /// Index of the model's first joint at rest.
        pub first_rest: u32,
        /// Index of the first weight of its masks.
        pub first_mask: u32,
        /// Index of its first level.
        pub first_level: u32,
        /// Index of its first inverse bind matrix.
        pub first_bind: u32,
        /// Pads to a multiple of 16 bytes.
        pub padding: u32,
    }

    /// A chunk among several (`PlacedChunk` in shaders/batch_table.wgsl).
    pub struct PlacedChunk {
        /// Its numbers.
        pub posed: PosedChunk,
        /// Where it begins.
        pub places: Places,
    }

    /// Part of a chunk that a workgroup poses (`ChunkPart` in shaders/batch_table.wgsl).
    pub struct ChunkPart {
        /// Index of the chunk.
        pub chunk: u32,
        /// Number of the workgroup among those of its chunk.
        pub workgroup: u32,
    }

    /// Layers, slots and update rate of an instance (`Player` in shaders/pose_chunk.wgsl).
    pub struct Player {
        /// Index of its first layer among those of its family.
        pub first_layer: u32,
        /// Number of layers.
        pub layers: u32,
        /// Index of the first slot of its poses among those of its family, or of its chunk's instances in view.
        pub first_slot: u32,
        /// Index of the layer that fades inertially, or [`NONE`].
        pub inertial: u32,
        /// Ticks from pose to pose.
        pub every: u32,
        /// Added to the tick; a pose is due if the sum is a multiple of `every`.
        pub offset: u32,
    }

    /// A layer of clips (`Layer` in shaders/pose_time.wgsl).
    pub struct Layer {
        /// Index into the model's clips, or [`NONE`] for the rest pose.
        pub clip: u32,
        /// Phase at tick 0: `0..2^32` stands for one cycle.
        pub phase: u32,
        /// Added to the phase every tick, wrapping.
        pub step: u32,
        /// Seconds at phase 0.
        pub time_base: f32,
        /// Seconds per 2^-24 of a cycle.
        pub time_scale: f32,
        /// Whole frames per second that the clip is shown at; 0 shows it continuously.
        pub frame_rate: f32,
        /// Bytes from the lowest: kind, playback, fade, in step.
        pub modes: u32,
        /// Weight.
        pub weight: f32,
        /// Index of its mask among those of the group, or [`NONE`].
        pub mask: u32,
        /// Ticks from one start to the next; 0 starts once.
        pub period: u32,
        /// Position in the schedule at tick 0, wrapping.
        pub offset: u32,
        /// Ticks from a start to the end of the fade-out; 0 means always present.
        pub length: u32,
        /// Ticks of the fade at the start.
        pub fade_in: u32,
        /// Ticks of the fade at the end.
        pub fade_out: u32,
        /// Added to the step of all layers in step while this one is fully present.
        pub pace: u32,
        /// Seconds per whole frame, computed on the CPU so that no device rounds differently.
        pub frame_time: f32,
    }

    /// A joint at rest (`Joint` in shaders/pose.wgsl).
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

    /// The frame's time (`Now` in shaders/pose_time.wgsl): the only data that is sent every frame.
    pub struct Now {
        /// Simulation time in ticks.
        pub tick: u32,
        /// Pads to a multiple of 16 bytes.
        pub padding_a: u32,
        /// Padding.
        pub padding_b: u32,
        /// Padding.
        pub padding_c: u32,
    }

    /// A clip (`Clip` in shaders/pose_schedule.wgsl).
    pub struct Clip {
        /// Its first track; there are three per joint.
        pub tracks: u32,
        /// Index of the word with the key count of most tracks' timeline, or [`NONE`]; the times follow it.
        pub timeline: u32,
        /// Frames of a compact clip; 0 for a raw one.
        pub frames: u32,
        /// Words per compact frame.
        pub row: u32,
        /// Index of the word at which its compact frames begin.
        pub numbers: u32,
        /// Seconds at the first compact frame.
        pub start: f32,
        /// Seconds from frame to frame.
        pub interval: f32,
    }

    /// A channel of a joint in a clip (`Track` in shaders/pose_keys.wgsl).
    pub struct Track {
        /// Bits 0-3: its form; from bit 4 on: index of its first value among the quads, or its first bit in a compact
        /// frame.
        pub place: u32,
        /// Index of the word with its first angle, or with a compact track's lows.
        pub angle: u32,
        /// Index of the word with its own key times, or [`NONE`] if it has those of the clip.
        pub timeline: u32,
    }

    /// The instances that are culled together (`Cull` in shaders/cull.wgsl).
    pub struct Cull {
        /// The first instance, among all placements.
        pub first_instance: u32,
        /// Number of instances.
        pub instances: u32,
        /// Workgroups for the instances.
        pub groups: u32,
        /// Number of dispatches to compute.
        pub dispatches: u32,
        /// Most workgroups of a dispatch in one dimension.
        pub most: u32,
        /// Pads to a multiple of 16 bytes.
        pub padding_a: u32,
        /// Padding.
        pub padding_b: u32,
        /// Padding.
        pub padding_c: u32,
    }

    /// The camera of a frame (`Camera` in shaders/cull.wgsl).
    pub struct Camera {
        /// Planes of the view frustum that face inwards: unit normal, distance.
        pub planes: [[f32; 4]; 6],
    }

    /// Uniforms of a chunk's instances in view (`Numbers` in shaders/cull_scan.wgsl), each at a multiple of 256 bytes, as
    /// every adapter can bind it.
    pub struct Numbers {
        /// Numbers for posing.
        pub posed: PosedChunk,
        /// Pads to 256 bytes.
        pub padding_a: [u32; 52],
        /// Numbers for skinning and drawing.
        pub chunk: Chunk,
        /// Pads to 512 bytes.
        pub padding_b: [u32; 44],
    }

    /// Rule for computing the workgroups of a dispatch from a number of instances or slots (`Dispatch` in
    /// shaders/cull_scan.wgsl).
    pub struct Dispatch {
        /// 1 if it counts slots, 0 if it counts instances.
        pub slots: u32,
        /// Number of slots or instances that share threads.
        pub at_once: u32,
        /// Threads for each such part.
        pub threads: u32,
        /// Threads of a workgroup.
        pub workgroup: u32,
        /// Workgroups in x, with the counted ones in y; 0 if the counted ones are folded into x and y.
        pub x: u32,
        /// Workgroups in z.
        pub z: u32,
    }

    /// The box around the vertices that a palette entry moves (`EntryBox` in shaders/bounds.wgsl).
    pub struct EntryBox {
        /// Middle of the box, in the mesh's axes.
        pub centre: [f32; 3],
        /// The palette entry.
        pub entry: u32,
        /// Half its lengths.
        pub half: [f32; 3],
        /// Distance by which the box of an instance is larger than what it contains.
        pub margin: f32,
    }

    /// A joint whose pose gameplay reads (`Socket` in shaders/sockets.wgsl).
    pub struct Socket {
        /// Rows of the transform that turns the palette entry into the joint's model pose.
        pub bind: [f32; 12],
        /// The joint's palette entry.
        pub entry: u32,
        /// Pads to a multiple of 16 bytes.
        pub padding: [u32; 3],
    }

    /// A baked clip (`BakedClip` in shaders/pose_baked.wgsl).
    pub struct BakedClip {
        /// Index of the first entry of its first frame.
        pub first: u32,
        /// Number of frames.
        pub frames: u32,
        /// Seconds from frame to frame.
        pub interval: f32,
        /// Pads to a multiple of 16 bytes.
        pub padding: u32,
    }

    /// Origin and scales of the numbers of baked vertices (`VertexCube` in shaders/gpu_vat.wgsl).
    pub struct VertexCube {
        /// Middle of the cube around all positions.
        pub centre: [f32; 3],
        /// Half the length of its edge.
        pub half: f32,
        /// Largest component of a normal or tangent.
        pub longest: f32,
        /// Pads to a multiple of 16 bytes.
        pub padding: [u32; 3],
    }
}

impl Dispatch {
    /// One thread per instance, in workgroups of this size.
    pub fn by_instance(workgroup: u32) -> Self {
        Self {
            slots: 0,
            at_once: 1,
            threads: 1,
            workgroup,
            x: 0,
            z: 1,
        }
    }

    /// The number of workgroups for so many instances and slots.
    pub fn count(&self, instances: u32, slots: u32) -> u32 {
        let counted = if self.slots == 1 { slots } else { instances };
        let threads = u64::from(counted.div_ceil(self.at_once)) * u64::from(self.threads);
        threads.div_ceil(self.workgroup.into()) as u32
    }
}

/// Threads of a workgroup in every kernel.
pub const WORKGROUP: u32 = 64;

/// Influences that are stored in a vertex; further ones are in a stream of their own.
pub const INLINE: usize = 4;

/// Most chunks of a batch (`MOST_CHUNKS` in shaders/batch_table.wgsl).
pub const MOST_CHUNKS: usize = 128;

/// Interpolation of a track (the constants in shaders/pose_sample.wgsl).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The rest pose's value in all clips: not sampled.
    Still,
    /// One value.
    Constant,
    /// The earlier key holds.
    Step,
    /// Linear interpolation of vectors.
    Line,
    /// Spherical interpolation, by an angle that the clip stores.
    Slerp,
    /// Normalised linear interpolation.
    Nlerp,
    /// Spherical interpolation along the authored arc.
    Authored,
    /// Hermite spline.
    Cubic,
    /// Shoemake's squad.
    Squad,
    /// Numbers of a compact clip.
    Packed,
}

impl Track {
    /// A track with a form, its first value, its first angle, and its own timeline or [`NONE`].
    pub fn new(form: Form, value: u32, angle: u32, timeline: u32) -> Self {
        Self {
            place: form as u32 | value << 4,
            angle,
            timeline,
        }
    }

    /// The track with another first value.
    pub fn with_value(self, value: u32) -> Self {
        Self {
            place: self.form() | value << 4,
            ..self
        }
    }

    /// Its form.
    pub fn form(self) -> u32 {
        self.place & 0xf
    }

    /// Index of its first value among the quads.
    pub fn value(self) -> usize {
        (self.place >> 4) as usize
    }
}

/// Index that stands for none.
pub const NONE: u32 = u32::MAX;

// Bytes of structs that only the device reads and writes; their fields are in WGSL alone.

/// Bytes of a slot's position in its clip (`Cursor` in shaders/pose.wgsl).
pub const CURSOR_BYTES: u64 = 32;
/// Bytes of an inertial fade under way (`Momentum` in shaders/pose.wgsl).
pub const MOMENTUM_BYTES: u64 = 16;
/// Bytes of the two poses between which an instance is interpolated (`PosePair` in shaders/pose.wgsl).
pub const POSE_PAIR_BYTES: u64 = 16;
/// Bytes of the baked frames between which a layer of an instance is interpolated (`FramePair` in shaders/baked.wgsl).
pub const FRAME_PAIR_BYTES: u64 = 16;
