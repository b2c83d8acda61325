//! The layers of a group: their plan in a scene file, and the layers of each instance.

use super::find_clip::find_clip;
use crate::asset::Place;
use crate::crowd::{
    Fade, LONGEST, Layer, LayerKind, Playback, REST, Schedule, TICKS_PER_SECOND, UNMASKED,
};
use crate::error::DataError;
use crate::model::{Clip, LATEST_KEY, Model, NO_PARENT, RotationBlend};
use crate::wording;
use rand_core::Rng;
use rand_pcg::Pcg32;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Longest time of a schedule, in seconds: more than a day, and as long as clips may be.
pub const LONGEST_SECONDS: f64 = LATEST_KEY as f64;

/// Playback settings of a clip, from a group or a layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Play {
    pub mode: PlaybackMode,
    /// Fraction of the clip's cycle over which starting phases are spread.
    pub phase_spread: f64,
    /// Position in the clip at the start, in seconds.
    pub offset: f64,
    /// Whole frames per second; 0 plays continuously.
    pub frames_per_second: f64,
}

/// Playback mode, as in scene files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaybackMode {
    #[default]
    Loop,
    Wrap,
    PingPong,
    Once,
}

impl PlaybackMode {
    fn playback(self) -> Playback {
        match self {
            Self::Loop | Self::Wrap => Playback::Loop,
            Self::PingPong => Playback::PingPong,
            Self::Once => Playback::Once,
        }
    }
}

/// Plan of a layer over a group's own clip.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerPlan {
    /// Found in the model by [`ResolvedLayer::clip`].
    #[serde(skip)]
    pub clip: String,
    pub kind: LayerKind,
    pub weight: f64,
    pub mask: Option<MaskPlan>,
    /// `None` means the pace of the layers in step.
    pub speed: Option<f64>,
    pub play: Play,
    pub fade: Fade,
    pub times: Option<LayerTimes>,
    #[serde(skip)]
    pub clip_place: Option<Place>,
}

/// Times at which a layer is present, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LayerTimes {
    pub every: Option<f64>,
    /// `None` means that it never ends.
    pub lasts: Option<f64>,
    pub start: f64,
    pub stagger: f64,
    pub fade_in: f64,
    pub fade_out: f64,
}

/// Joints that a layer moves, by name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MaskPlan {
    pub joints: Vec<String>,
    pub subtree: Vec<String>,
    pub weights: Vec<(String, f64)>,
    #[serde(skip)]
    pub place: Option<Place>,
}

impl MaskPlan {
    /// One weight per joint.
    pub fn resolve(&self, model: &Model) -> Result<Vec<f32>, String> {
        let skeleton = model.skeleton();
        let find = |name: &str| wording::position("joint", name, skeleton.names());
        let mut mask = vec![0.0; skeleton.len()];
        for name in &self.subtree {
            let root = find(name)?;
            // Parents come first, so one pass reaches all descendants.
            let mut below = vec![false; skeleton.len()];
            for (joint, &parent) in skeleton.parents().iter().enumerate() {
                below[joint] = joint == root || (parent != NO_PARENT && below[usize::from(parent)]);
                if below[joint] {
                    mask[joint] = 1.0;
                }
            }
        }
        for name in &self.joints {
            mask[find(name)?] = 1.0;
        }
        for (name, weight) in &self.weights {
            mask[find(name)?] = *weight as f32;
        }
        if mask.iter().any(|&weight| weight > 0.0) {
            Ok(mask)
        } else {
            Err("a mask of no joint; expected names in joints, subtree or weights".into())
        }
    }
}

/// A clip that is derived from another.
#[derive(PartialEq, Eq, Hash)]
struct Derived {
    clip: u32,
    /// `true` if it is closed to a loop.
    wrap: bool,
    /// `true` if it holds differences from the first frame.
    additive: bool,
}

/// A model with the clips that layers derive from its own.
pub struct Deriving {
    pub model: Model,
    /// Masks of layers so far, in the order in which the crowd has them.
    pub masks: u32,
    /// Number of clips that were loaded; derived ones follow them.
    loaded: usize,
    derived: HashMap<Derived, u32>,
}

impl Deriving {
    pub fn new(model: Model) -> Self {
        Self {
            loaded: model.clips().len(),
            model,
            masks: 0,
            derived: HashMap::new(),
        }
    }

    /// The clips that were loaded.
    pub fn loaded_clips(&self) -> &[Clip] {
        &self.model.clips()[..self.loaded]
    }

    /// Index of the clip for a playback mode and a kind of layer: closed to a loop, or as differences from its first
    /// frame.
    pub fn clip(&mut self, clip: u32, mode: PlaybackMode, kind: LayerKind) -> Result<u32, String> {
        let key = Derived {
            clip,
            wrap: mode == PlaybackMode::Wrap && clip != REST,
            additive: kind == LayerKind::Additive,
        };
        if !(key.wrap || key.additive) {
            return Ok(clip);
        }
        if let Some(known) = self.derived.get(&key) {
            return Ok(*known);
        }
        let index = self.derive(&key).map_err(|error| error.to_string())?;
        self.derived.insert(key, index);
        Ok(index)
    }

    fn derive(&mut self, key: &Derived) -> Result<u32, DataError> {
        let mut clip = match key.clip {
            // No track differs from the rest pose.
            REST => Clip::new("rest", None, RotationBlend::Slerp, Vec::new())?,
            clip => self.model.clips()[clip as usize].clone(),
        };
        if key.wrap {
            clip = clip.closed()?;
        }
        if key.additive {
            clip = clip.additive()?;
        }
        self.model.add_clip(clip)
    }

    /// Index of a clip by name or number, or of the rest pose.
    pub fn find(&self, name: &str) -> Result<u32, String> {
        match find_clip(self.model.name(), self.loaded_clips(), name) {
            Err(_) if name == "rest" => Ok(REST),
            found => found,
        }
    }
}

/// A layer with its clip and mask resolved.
#[derive(Debug, Clone, Serialize)]
pub struct ResolvedLayer {
    pub clip: u32,
    pub mask: u32,
}

/// The clips, layers and masks of a group's model that the names in a scene stand for.
#[derive(Serialize)]
pub struct ResolvedClips {
    pub clips: Vec<u32>,
    pub layers: Vec<ResolvedLayer>,
    /// Follow from the plans of masks.
    #[serde(skip)]
    pub masks: Vec<Vec<f32>>,
}

/// Duration of a clip in seconds; 0 of the rest pose.
fn duration(model: &Model, clip: u32) -> f64 {
    let clip = model.clips().get(clip as usize);
    clip.map_or(0.0, |clip| f64::from(clip.duration()))
}

/// Phase at tick 0: a random fraction of the cycle, plus the offset. A clip that plays once begins at its start, or at
/// its end if it plays backwards, and an offset takes it no further than its other end.
fn phase(model: &Model, clip: u32, play: &Play, draw: u32, speed: f64) -> u32 {
    let duration = duration(model, clip);
    // A cycle of ping-pong goes forwards and backwards.
    let cycle = if play.mode == PlaybackMode::PingPong {
        2.0 * duration
    } else {
        duration
    };
    let cycles = if cycle > 0.0 {
        play.offset / cycle
    } else {
        0.0
    };
    let fraction = match play.mode {
        PlaybackMode::Once => cycles.clamp(0.0, 1.0),
        _ => cycles.rem_euclid(1.0),
    };
    // A whole cycle becomes the last phase.
    let ahead = (fraction * 2f64.powi(32)) as u32;
    match play.mode {
        PlaybackMode::Once if speed < 0.0 => u32::MAX - ahead,
        PlaybackMode::Once => ahead,
        _ => ((play.phase_spread * f64::from(draw)) as u32).wrapping_add(ahead),
    }
}

/// The layer of a clip with the settings of a group or a layer.
pub fn playing(model: &Model, clip: u32, play: &Play, draw: u32, speed: f64) -> Layer {
    let phase = phase(model, clip, play, draw, speed);
    let layer = Layer::playing(model, clip, play.mode.playback(), phase, speed);
    Layer {
        frame_rate: play.frames_per_second as f32,
        ..layer
    }
}

/// One stream of random numbers per layer of a group, so that an additional layer does not affect the others.
pub fn streams(seed: u64, group: usize, layers: usize) -> Vec<Pcg32> {
    (1..=layers as u64)
        .map(|layer| Pcg32::new(seed, (layer << 32) | group as u64))
        .collect()
}

impl LayerPlan {
    /// A clip that shows instead of the layers beneath at some times, on a joint and all below it, or on all joints.
    #[cfg(feature = "view")]
    pub fn over(clip: &str, joint: Option<&str>, times: LayerTimes) -> Self {
        Self {
            clip: clip.to_owned(),
            kind: LayerKind::Override,
            weight: 1.0,
            mask: joint.map(|joint| MaskPlan {
                joints: Vec::new(),
                subtree: vec![joint.to_owned()],
                weights: Vec::new(),
                place: None,
            }),
            speed: Some(1.0),
            play: Play {
                mode: PlaybackMode::Loop,
                phase_spread: 1.0,
                offset: 0.0,
                frames_per_second: 0.0,
            },
            fade: Fade::Cross,
            times: Some(times),
            clip_place: None,
        }
    }

    /// The layer of one instance whose own clip plays as `base`, at `pace` times the pace of its group.
    pub fn of_instance(
        &self,
        model: &Model,
        found: &ResolvedLayer,
        base: &Layer,
        pace: f64,
        random: &mut Pcg32,
    ) -> Layer {
        // Always two draws, so that changing one key does not affect the others' values.
        let phase = random.next_u32();
        let start = random.next_u32();
        let speed = self.speed.unwrap_or(1.0);
        let mut layer = playing(model, found.clip, &self.play, phase, speed * pace);
        if self.speed.is_none() {
            layer.phase = base.phase;
            layer.step = base.step;
            layer.in_step = 1;
        }
        Layer {
            kind: self.kind,
            weight: self.weight as f32,
            mask: if self.mask.is_some() {
                found.mask
            } else {
                UNMASKED
            },
            fade: self.fade,
            schedule: self
                .times
                .map_or(Schedule::ALWAYS, |times| times.schedule(start)),
            ..layer
        }
    }
}

/// Converts seconds to whole ticks.
fn ticks(seconds: f64) -> u32 {
    (seconds * TICKS_PER_SECOND).round() as u32
}

impl LayerTimes {
    fn schedule(&self, draw: u32) -> Schedule {
        let period = self.every.map_or(0, |every| ticks(every).max(1));
        let spread = (self.stagger * f64::from(draw) / 2f64.powi(32) * f64::from(period)) as u32;
        let ahead = ticks(self.start.rem_euclid(self.every.unwrap_or(f64::INFINITY)));
        let offset = match period {
            0 => 0u32.wrapping_sub(ahead),
            _ => (spread + period - ahead % period) % period,
        };
        let length = self.lasts.map_or(LONGEST, |lasts| ticks(lasts).max(1));
        let length = match period {
            0 => length,
            _ => length.min(period),
        };
        // Rounded separately, two fades may be a tick longer than the whole.
        let fade_in = ticks(self.fade_in).min(length);
        Schedule {
            period,
            offset,
            length,
            fade_in,
            fade_out: ticks(self.fade_out).min(length - fade_in),
        }
    }
}

/// Sets a common phase and pace of all layers in step: those of the mean of their durations, weighted like their poses.
/// Layers that fade change it while they are present.
pub fn fall_in_step(model: &Model, layers: &mut [Layer], speed: f64) {
    if layers.iter().all(|l| l.in_step == 0) {
        return;
    }
    layers[0].in_step = 1;
    let step = common_step(model, layers.iter().filter(|l| is_always(l)), speed);
    let mut paces = vec![0; layers.len()];
    for (index, layer) in layers.iter().enumerate() {
        if leads(layer) && !is_always(layer) {
            let present = (0..layers.len())
                .filter(|&other| other == index || is_always(&layers[other]))
                .map(|other| &layers[other]);
            let gain = common_step(model, present, speed) - step;
            paces[index] = layer.schedule.divisible((gain * 2f64.powi(32)) as i32);
        }
    }
    let phase = layers[0].phase;
    for (layer, pace) in layers.iter_mut().zip(paces) {
        if layer.in_step != 0 {
            layer.phase = phase;
            layer.step = (step.fract() * 2f64.powi(32)).round() as i64 as u32;
            layer.pace = pace;
        }
    }
}

/// Returns whether a layer is present at all times.
fn is_always(layer: &Layer) -> bool {
    layer.schedule.length == 0
}

/// Returns whether a layer determines the common pace; a masked one neither determines nor follows it.
fn leads(layer: &Layer) -> bool {
    layer.in_step != 0 && layer.mask == UNMASKED && layer.kind != LayerKind::Additive
}

/// Cycles per tick of layers in step, at the mean of the durations of those that lead.
fn common_step<'a>(model: &Model, layers: impl Iterator<Item = &'a Layer>, speed: f64) -> f64 {
    let mut mean = 0.0;
    let mut total = 0.0;
    for layer in layers.filter(|l| leads(l)) {
        let weight = f64::from(layer.weight);
        let ahead = duration(model, layer.clip) - mean;
        if layer.kind != LayerKind::Merge {
            mean += weight * ahead;
            continue;
        }
        total += weight;
        if total > 0.0 {
            mean += ahead * weight / total;
        }
    }
    if mean > 0.0 {
        speed / (mean * TICKS_PER_SECOND)
    } else {
        0.0
    }
}
