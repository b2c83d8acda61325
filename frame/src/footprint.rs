//! Memory of backends by purpose, commands of a frame, and the fewest bytes that each stage must move: the lower bound
//! that its time is compared with.

use super::timer::Stage;
use serde::{Deserialize, Serialize};
use skinbench_kernels::crowd::{Crowd, Turnover};
use skinbench_kernels::model::Clip;
use skinbench_kernels::pose::PoseMemory;
use skinbench_kernels::vertex::Attributes;
use std::ops::{Add, AddAssign};
use strum::VariantArray;

/// Purpose of a buffer. Its serialised form is its name. Those that frames need without drawing come first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, VariantArray,
)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Constant data that skinning reads: vertices and influences.
    Mesh,
    /// Constant data that posing reads: clips, skeletons, and the layers of each instance. Baked frames too.
    Clips,
    /// Palettes, in the form that skinning reads and in those that they are made from.
    Palettes,
    /// Skinned vertices.
    Output,
    /// Everything else that a frame needs: local and model poses, lists of instances, uniforms.
    Scratch,
    /// Pictures, and data that only drawing reads. It has no serialised form.
    #[serde(skip)]
    Targets,
    /// Memory of trials and read-backs, which a frame does not need. It has no serialised form.
    #[serde(skip)]
    Staging,
}

/// Numbers of bytes by purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bytes([u64; Purpose::VARIANTS.len()]);

impl Bytes {
    /// Bytes of one purpose.
    pub fn of(purpose: Purpose, bytes: u64) -> Self {
        let mut all = Self::default();
        all.0[purpose as usize] = bytes;
        all
    }

    /// The bytes of a purpose.
    pub fn get(self, purpose: Purpose) -> u64 {
        self.0[purpose as usize]
    }

    /// The bytes of all purposes together.
    pub fn total(self) -> u64 {
        saturating_sum(&self.0)
    }

    /// The bytes that frames need, without drawing.
    pub fn resident(self) -> u64 {
        saturating_sum(&self.0[..Purpose::Targets as usize])
    }
}

fn saturating_sum(bytes: &[u64]) -> u64 {
    bytes
        .iter()
        .fold(0, |sum, bytes| sum.saturating_add(*bytes))
}

impl Add for Bytes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|purpose| {
            self.0[purpose].saturating_add(other.0[purpose])
        }))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

impl From<PoseMemory> for Bytes {
    fn from(pose: PoseMemory) -> Self {
        let PoseMemory { clips, poses } = pose;
        Self::of(Purpose::Clips, clips) + Self::of(Purpose::Scratch, poses)
    }
}

/// Memory of a backend for a crowd, besides the shared [`OutputBuffers`](super::OutputBuffers).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Bytes of main memory.
    pub host: Bytes,
    /// Bytes of device memory.
    pub device: Bytes,
    /// Bytes of the models' stores that frames read where they are, which all backends share.
    pub in_place: Bytes,
    /// `true` if vertices go to the host side of the output buffers.
    pub host_output: bool,
    /// `true` if vertices go to the device side of the output buffers.
    pub device_output: bool,
}

impl AsRef<Self> for Footprint {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// Bytes of the clips, skeletons and layers that posing on the host reads where they are.
pub fn clips_in_place(crowd: &Crowd) -> Bytes {
    let mut bytes = crowd.layers().bytes() + crowd.expression_bytes();
    bytes += crowd.turnover().map_or(0, Turnover::bytes);
    for group in crowd.first_of_models() {
        let model = &group.model;
        let skeleton = model.skeleton();
        bytes += model.clips().iter().map(Clip::bytes).sum::<usize>();
        bytes += size_of_val(skeleton.parents()) + size_of_val(skeleton.rest());
        bytes += size_of_val(skeleton.matrices());
        bytes += size_of_val(model.palette_joints()) + size_of_val(model.inverse_binds());
    }
    Bytes::of(Purpose::Clips, bytes as u64)
}

/// Bytes of the vertices and influences that skinning on the host reads where they are.
pub fn meshes_in_place(crowd: &Crowd) -> Bytes {
    let mut bytes = 0;
    for group in crowd.first_of_models() {
        let mesh = group.model.mesh();
        bytes += size_of_val(mesh.positions()) + size_of_val(mesh.normals());
        bytes += size_of_val(mesh.joints()) + size_of_val(mesh.weights());
        bytes += mesh.targets().bytes();
        if group.format.attributes == Attributes::Pnt {
            bytes += mesh.tangents().map_or(0, size_of_val);
        }
    }
    Bytes::of(Purpose::Mesh, bytes as u64)
}

/// Work that a frame gives to the device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameWork {
    /// Bytes copied from host to device.
    pub uploaded: u64,
    /// Draw calls of all passes.
    pub draws: u64,
    /// Dispatches of compute kernels.
    pub dispatches: u64,
}

impl FrameWork {
    /// Returns whether the device has anything to do.
    pub fn reaches_device(self) -> bool {
        self != Self::default()
    }
}

impl AddAssign for FrameWork {
    fn add_assign(&mut self, other: Self) {
        self.uploaded += other.uploaded;
        self.draws += other.draws;
        self.dispatches += other.dispatches;
    }
}

/// Memory whose bandwidth bounds a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Main memory and its caches.
    Host {
        /// Threads that run the stage.
        threads: usize,
    },
    /// Reads of main memory, and writes to staging memory that the device reads.
    Staging {
        /// Threads that run the stage.
        threads: usize,
    },
    /// The device's memory.
    Device,
    /// Transfers from staging memory to the device's.
    Upload,
}

/// Bytes that a stage of one frame must move, each counted once however often a kernel accesses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// The stage.
    pub stage: Stage,
    /// Bytes that the stage must read.
    pub read: u64,
    /// Bytes that it must write.
    pub written: u64,
    /// Memory that holds the bytes.
    pub memory: Memory,
}

impl Traffic {
    /// Bytes read plus bytes written.
    pub fn bytes(&self) -> u64 {
        self.read + self.written
    }
}
