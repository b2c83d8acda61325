//! What instances play: their layers, which are uploaded once. A frame sends its tick, by which the device poses.

use crate::Gpu;
use crate::crowd::chunk::slots;
use crate::crowd::table::CrowdTable;
use crate::device::{Buffer, named};
use crate::passes::{Frame, Pass};
use crate::shader::layout::{self, NONE};
use bytemuck::Zeroable;
use skinbench_frame::Purpose;
use skinbench_kernels::crowd::{Crowd, Fade, Layer, UpdateRate};
use std::ops::Range;

/// The pass. It is so short that no stage is timed.
pub struct Tick {
    now: Buffer,
    /// The layers of each batch.
    pub layers: Vec<Buffer>,
}

impl Tick {
    /// Uploads what instances play, and binds it. `players` is the name of the list of instances.
    pub fn new(gpu: &Gpu, crowd: &Crowd, table: &mut CrowdTable, players: &'static str) -> Self {
        let now = gpu.uniform(Purpose::Scratch, "now", &layout::Now::zeroed());
        let mut all_layers = Vec::with_capacity(table.batches.len());
        for batch in &table.batches {
            let (listed, layers) = listed(crowd, table.instances(batch));
            let listed = gpu.storage(Purpose::Clips, "players", &listed);
            let layers = gpu.storage(Purpose::Clips, "layers", &layers);
            for bindings in &mut table.bindings[batch.clone()] {
                bindings.extend([
                    named("now", &now),
                    named("layers", &layers),
                    named(players, &listed),
                ]);
            }
            all_layers.push(layers);
        }
        Self {
            now,
            layers: all_layers,
        }
    }
}

impl Pass for Tick {
    fn record(&mut self, frame: &mut Frame) {
        let now = layout::Now {
            tick: frame.tick,
            ..Zeroable::zeroed()
        };
        frame.commands.upload(&self.now, bytemuck::bytes_of(&now));
    }
}

/// A layer in the kernels' layout.
pub(crate) fn played(layer: &Layer) -> layout::Layer {
    let modes = [
        layer.kind as u8,
        layer.playback as u8,
        layer.fade as u8,
        layer.in_step,
    ];
    layout::Layer {
        clip: layer.clip,
        phase: layer.phase,
        step: layer.step,
        time_base: layer.time_base,
        time_scale: layer.time_scale,
        frame_rate: layer.frame_rate,
        modes: u32::from_le_bytes(modes),
        weight: layer.weight,
        mask: layer.mask,
        period: layer.schedule.period,
        offset: layer.schedule.offset,
        length: layer.schedule.length,
        fade_in: layer.schedule.fade_in,
        fade_out: layer.schedule.fade_out,
        pace: layer.pace,
        frame_time: if layer.frame_rate == 0.0 {
            0.0
        } else {
            1.0 / layer.frame_rate
        },
    }
}

/// Players and layers of some instances in the kernels' layout. Layers and slots are relative to those of the first
/// instance.
fn listed(crowd: &Crowd, instances: Range<u32>) -> (Vec<layout::Player>, Vec<layout::Layer>) {
    let mut players = Vec::with_capacity(instances.len());
    let mut all: Vec<layout::Layer> = Vec::new();
    let mut first_slot = 0;
    for instance in instances {
        let layers = crowd.layers().of(instance as usize);
        let inertial = layers.iter().position(|l| l.fade == Fade::Inertial);
        let UpdateRate { every, offset } = crowd.update_rate(instance);
        players.push(layout::Player {
            first_layer: all.len() as u32,
            layers: layers.len() as u32,
            first_slot,
            inertial: inertial.map_or(NONE, |layer| layer as u32),
            every,
            offset,
        });
        all.extend(layers.iter().map(played));
        first_slot += slots(crowd, instance);
    }
    (players, all)
}
