//! All instances of a scene, structure-of-arrays, grouped by model.
//!
//! Time is integer: a layer's phase is a `u32` of its clip's turn, advanced by a whole step per tick, so that every
//! backend and the reference read bit-identical clip times at any hour ([`Layers::time`]).

use crate::model::{Model, Rows};
use crate::vertex::{Attributes, VertexFormat};
use std::ops::Range;
use std::sync::Arc;

/// Instances of a block, the unit in which CPU kernels put instances in SIMD lanes.
pub const BLOCK: usize = 16;
/// Ticks of the simulation per second.
pub const TICKS_PER_SECOND: f64 = 60.0;
/// [`Layer::clip`] of the rest pose.
pub const REST: u32 = u32::MAX;

/// What a crowd refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CrowdError(String);

/// One clip playing on an instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layer {
    /// Index into the model's clips, or [`REST`].
    pub clip: u32,
    /// Where in the clip's turn tick 0 is: `0..2^32` is `0..duration`.
    pub phase: u32,
    /// Added to the phase every tick, wrapping.
    pub step: u32,
    /// Seconds at phase 0.
    pub time_base: f32,
    /// Seconds per 2^-24 of a turn.
    pub time_scale: f32,
    /// Whole frames per second that the clip is shown at; 0 shows it continuously.
    pub frame_rate: f32,
}

impl Layer {
    /// A clip that loops at `speed` times its own pace, starting at `phase`.
    pub fn looping(model: &Model, clip: u32, phase: u32, speed: f64) -> Self {
        let duration = model.clips().get(clip as usize).map_or(0.0, |c| c.duration());
        let turns_per_tick = if duration > 0.0 { speed / (f64::from(duration) * TICKS_PER_SECOND) } else { 0.0 };
        // Through i64, so that clips can play backwards: the phase wraps either way.
        let step = (turns_per_tick.fract() * 2f64.powi(32)).round() as i64 as u32;
        Self { clip, phase, step, time_base: 0.0, time_scale: duration * 2f32.powi(-24), frame_rate: 0.0 }
    }

    /// A clip held at one time in seconds; samplers clamp it to the keys there are.
    pub fn held(clip: u32, time: f32) -> Self {
        Self { clip, phase: 0, step: 0, time_base: time, time_scale: 0.0, frame_rate: 0.0 }
    }
}

/// The layers of all instances in compressed-row form.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    offsets: Vec<u32>,
    clip: Vec<u32>,
    phase: Vec<u32>,
    step: Vec<u32>,
    time_base: Vec<f32>,
    time_scale: Vec<f32>,
    frame_rate: Vec<f32>,
}

impl Layers {
    /// An instance's layers.
    pub fn of(&self, instance: usize) -> Range<usize> {
        self.offsets[instance] as usize..self.offsets[instance + 1] as usize
    }

    /// A layer's clip, or [`REST`].
    pub fn clip(&self, layer: usize) -> u32 {
        self.clip[layer]
    }

    /// A layer's clip time in seconds at a tick.
    ///
    /// The phase's upper 24 bits are exact in f32, one of base and scale is zero, so the result is one correctly
    /// rounded multiplication: the same bits on every processor, fused multiply-add or not. Whole frames take two
    /// more, by the rate and by its inverse.
    pub fn time(&self, layer: usize, tick: u32) -> f32 {
        let phase = self.phase[layer].wrapping_add(self.step[layer].wrapping_mul(tick));
        let time = (phase >> 8) as f32 * self.time_scale[layer] + self.time_base[layer];
        match self.frame_rate[layer] {
            0.0 => time,
            rate => (time * rate).floor() * (1.0 / rate),
        }
    }
}

/// A model's instances: a range of the crowd's.
#[derive(Debug, Clone)]
pub struct Group {
    /// What they are instances of.
    pub model: Arc<Model>,
    /// Their indices in the crowd.
    pub instances: Range<u32>,
    /// What skinning writes for them.
    pub format: VertexFormat,
}

impl Group {
    /// Number of instances.
    pub fn len(&self) -> usize {
        self.instances.len()
    }
    /// Never: a group has at least one instance.
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }
    /// 32-bit words of one skinned instance.
    pub fn instance_words(&self) -> usize {
        self.model.mesh().vertex_count() * self.format.words()
    }
}

/// All instances of a scene. Instances of one model are neighbours.
#[derive(Debug, Clone, Default)]
pub struct Crowd {
    groups: Vec<Group>,
    layers: Layers,
    placements: Vec<Rows>,
    format: VertexFormat,
}

impl Crowd {
    /// No instance yet; positions and unit normals.
    pub fn new() -> Self {
        Self::with_format(VertexFormat::default())
    }

    /// No instance yet. Models without tangents fall back from `pnt` to `pn`.
    pub fn with_format(format: VertexFormat) -> Self {
        Self { layers: Layers { offsets: vec![0], ..Layers::default() }, format, ..Self::default() }
    }

    /// Appends a model's instances: for each its placement (model to world, used by `draw` only) and its layer.
    ///
    /// # Errors
    /// No instance, more than `u32::MAX` together, or a clip that the model lacks.
    pub fn push_group(
        &mut self,
        model: Arc<Model>,
        instances: impl IntoIterator<Item = (Rows, Layer)>,
    ) -> Result<(), CrowdError> {
        let first = self.instance_count() as u32;
        for (placement, layer) in instances {
            if layer.clip != REST && layer.clip as usize >= model.clips().len() {
                return Err(CrowdError(format!(
                    "clip {} of {:?}, which has {}",
                    layer.clip,
                    model.name(),
                    model.clips().len()
                )));
            }
            if self.placements.len() == u32::MAX as usize {
                return Err(CrowdError(format!("more than {} instances", u32::MAX)));
            }
            self.placements.push(placement);
            self.layers.clip.push(layer.clip);
            self.layers.phase.push(layer.phase);
            self.layers.step.push(layer.step);
            self.layers.time_base.push(layer.time_base);
            self.layers.time_scale.push(layer.time_scale);
            self.layers.frame_rate.push(layer.frame_rate);
            self.layers.offsets.push(self.layers.clip.len() as u32);
        }
        let end = self.placements.len() as u32;
        if end == first {
            return Err(CrowdError(format!("no instance of {:?}; expected at least one", model.name())));
        }
        let mut format = self.format;
        if model.mesh().tangents().is_none() {
            format.attributes = format.attributes.min(Attributes::Pn);
        }
        self.groups.push(Group { model, instances: first..end, format });
        Ok(())
    }

    /// Instances by model.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }
    /// Layers of all instances.
    pub fn layers(&self) -> &Layers {
        &self.layers
    }
    /// Model to world, one an instance.
    pub fn placements(&self) -> &[Rows] {
        &self.placements
    }
    /// Number of instances.
    pub fn instance_count(&self) -> usize {
        self.placements.len()
    }
    /// Skinned vertices of one frame.
    pub fn vertex_count(&self) -> u64 {
        self.groups.iter().map(|g| g.len() as u64 * g.model.mesh().vertex_count() as u64).sum()
    }
    /// Posed joints of one frame.
    pub fn joint_count(&self) -> u64 {
        self.groups.iter().map(|g| g.len() as u64 * g.model.skeleton().len() as u64).sum()
    }
    /// Palette entries of one frame.
    pub fn palette_entries(&self) -> u64 {
        self.groups.iter().map(|g| g.len() as u64 * g.model.palette_joints().len() as u64).sum()
    }
    /// What was asked of every group.
    pub fn format(&self) -> VertexFormat {
        self.format
    }
    /// The formats that occur among the groups, each once: at most two.
    pub fn formats(&self) -> Vec<VertexFormat> {
        let mut formats: Vec<VertexFormat> = self.groups.iter().map(|g| g.format).collect();
        formats.sort_by_key(|f| f.attributes);
        formats.dedup();
        formats
    }
    /// 32-bit words of one frame's skinned vertices: `[instance][vertex][word]`, group after group.
    pub fn output_words(&self) -> u64 {
        self.groups.iter().map(|g| g.len() as u64 * g.instance_words() as u64).sum()
    }
    /// The group that holds an instance.
    pub fn group_of(&self, instance: u32) -> usize {
        self.groups.partition_point(|g| g.instances.end <= instance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(layer: Layer) -> Layers {
        Layers {
            offsets: vec![0, 1],
            clip: vec![layer.clip],
            phase: vec![layer.phase],
            step: vec![layer.step],
            time_base: vec![layer.time_base],
            time_scale: vec![layer.time_scale],
            frame_rate: vec![layer.frame_rate],
        }
    }

    #[test]
    fn time_is_the_same_with_and_without_fused_multiply_add() {
        for tick in [0, 1, 59, 216_000, u32::MAX] {
            for (time_base, time_scale) in [(0.0, 1.2 * 2f32.powi(-24)), (0.7, 0.0)] {
                let l = layers(Layer {
                    clip: 0,
                    phase: 0x9e37_79b9,
                    step: 0x0012_3457,
                    time_base,
                    time_scale,
                    frame_rate: 0.0,
                });
                let turn = (l.phase[0].wrapping_add(l.step[0].wrapping_mul(tick)) >> 8) as f32;
                assert_eq!(l.time(0, tick).to_bits(), turn.mul_add(time_scale, time_base).to_bits());
                assert!(l.time(0, tick) < 1.2);
            }
        }
    }

    #[test]
    fn whole_frames_hold_until_the_next() {
        let held = |time, frame_rate| layers(Layer { frame_rate, ..Layer::held(0, time) }).time(0, 0);
        assert_eq!(held(0.079, 0.0), 0.079);
        assert_eq!(held(0.079, 25.0), 0.04);
        assert_eq!(held(0.081, 25.0), 0.08);
        assert_eq!(held(0.0, 25.0), 0.0);
    }
}
