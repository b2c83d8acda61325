//! Players: the instances of a chunk and the layers that they play, as kernels read them, and the time that they share.

use crate::crowd::{Crowd, Fade, UpdateRate};
use crate::frame::Purpose;
use crate::gpu::Gpu;
use crate::gpu::device::objects::Buffer;
use crate::gpu::pose::slots::slots;
use crate::gpu::shader::layout::{self, NONE};
use std::ops::Range;

/// The buffer to which each frame's time is sent.
pub fn now(gpu: &Gpu) -> Buffer {
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    gpu.buffer(Purpose::Scratch, "now", size_of::<layout::Now>() as u64, usage)
}

/// Players and layers of some instances in the kernels' layout. Layers and slots are relative to those of the first
/// instance.
pub fn listed(crowd: &Crowd, instances: Range<u32>) -> (Vec<layout::Player>, Vec<layout::Layer>) {
    let mut players = Vec::with_capacity(instances.len());
    let mut layers: Vec<layout::Layer> = Vec::new();
    let mut first_slot = 0;
    for instance in instances {
        let own = crowd.layers().of(instance as usize);
        let UpdateRate { every, offset } = crowd.update_rate(instance);
        players.push(layout::Player {
            first_layer: layers.len() as u32,
            layers: own.len() as u32,
            first_slot,
            inertial: own.iter().position(|l| l.fade == Fade::Inertial).map_or(NONE, |layer| layer as u32),
            every,
            offset,
        });
        layers.extend(own.iter().map(layout::Layer::from));
        first_slot += slots(crowd, instance);
    }
    (players, layers)
}
