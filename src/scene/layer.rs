//! The layers of a group: their plan in a scene file, and the layers of each instance.

use super::find_clip::find_among;
use crate::asset::Place;
use crate::crowd::{
    Fade, LONGEST, Layer, LayerKind, Playback, REST, Schedule, TICKS_PER_SECOND, UNMASKED,
};
use crate::model::{Clip, Model, NO_PARENT};
use crate::wording;
use rand_core::Rng;
use rand_pcg::Pcg32;
use serde::Deserialize;
use std::collections::HashMap;

/// Longest time of a schedule, in seconds: more than a day.
pub(super) const LONGEST_SECONDS: f64 = 100_000.0;

/// Playback settings of a clip, from a group or a layer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Play {
    pub mode: PlaybackMode,
    /// Fraction of the clip's cycle over which starting phases are spread.
    pub phase_spread: f64,
    /// Position in the clip at the start, in seconds.
    pub offset: f64,
    /// Whole frames per second; 0 plays continuously.
    pub frames_per_second: f64,
}

/// Playback mode, as in scene files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PlaybackMode {
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
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LayerPlan {
    pub clip: String,
    pub kind: LayerKind,
    pub weight: f64,
    pub mask: Option<MaskPlan>,
    /// `None` means the pace of the layers in step.
    pub speed: Option<f64>,
    pub play: Play,
    pub fade: Fade,
    pub times: Option<Times>,
    pub clip_place: Place,
}

/// Times at which a layer is present, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Times {
    pub every: Option<f64>,
    /// `None` means that it never ends.
    pub lasts: Option<f64>,
    pub start: f64,
    pub stagger: f64,
    pub fade_in: f64,
    pub fade_out: f64,
}

/// Joints that a layer moves, by name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MaskPlan {
    pub joints: Vec<String>,
    pub subtree: Vec<String>,
    pub weights: Vec<(String, f64)>,
    pub place: Place,
}

impl MaskPlan {
    /// One weight per joint.
    pub fn resolve(&self, model: &Model) -> Result<Vec<f32>, String> {
        let skeleton = model.skeleton();
        let names: Vec<&str> = skeleton.names().iter().map(String::as_str).collect();
        let find = |wanted: &str| {
            names
                .iter()
                .position(|name| *name == wanted)
                .ok_or_else(|| wording::unknown("joint", wanted, &names))
        };
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
        match mask.iter().any(|&weight| weight > 0.0) {
            true => Ok(mask),
            false => Err("a mask of no joint; expected names in joints, subtree or weights".into()),
        }
    }
}

/// A model with the clips that layers derive from its own.
pub(super) struct Deriving {
    pub model: Model,
    /// Masks of layers so far, in the order in which the crowd has them.
    pub masks: u32,
    own: u32,
    derived: HashMap<(u32, bool, bool), u32>,
}

impl Deriving {
    pub fn new(model: Model) -> Self {
        Self {
            own: model.clips().len() as u32,
            model,
            masks: 0,
            derived: HashMap::new(),
        }
    }

    /// The model's own clips; derived ones follow them.
    pub fn own_clips(&self) -> &[Clip] {
        &self.model.clips()[..self.own as usize]
    }

    /// Index of the clip for a playback mode and a kind of layer: closed to a loop, or as differences from its first
    /// frame.
    pub fn clip(&mut self, clip: u32, mode: PlaybackMode, kind: LayerKind) -> Result<u32, String> {
        let (wrap, additive) = (mode == PlaybackMode::Wrap, kind == LayerKind::Additive);
        if clip == REST || !(wrap || additive) {
            return Ok(clip);
        }
        if let Some(known) = self.derived.get(&(clip, wrap, additive)) {
            return Ok(*known);
        }
        let said = |error: crate::model::ModelError| error.to_string();
        let mut made = self.model.clips()[clip as usize].clone();
        if wrap {
            made = made.closed().map_err(said)?;
        }
        if additive {
            made = made.additive().map_err(said)?;
        }
        let index = self.model.add_clip(made).map_err(said)?;
        self.derived.insert((clip, wrap, additive), index);
        Ok(index)
    }

    /// Index of a clip by name or number, or of the rest pose.
    pub fn find(&self, name: &str) -> Result<u32, String> {
        match find_among(self.model.name(), self.own_clips(), name) {
            Err(_) if name == "rest" => Ok(REST),
            found => found,
        }
    }
}

/// A layer with its clip and mask resolved.
#[derive(Debug, Clone)]
pub(super) struct ResolvedLayer {
    pub clip: u32,
    pub mask: u32,
}

/// The clips, layers and masks of a group's model that the names in a scene stand for.
pub(super) struct ResolvedClips {
    pub clips: Vec<u32>,
    pub layers: Vec<ResolvedLayer>,
    pub masks: Vec<Vec<f32>>,
}

/// Phase at tick 0: a random fraction of the cycle, plus the offset. A clip that plays once begins at its start, or at
/// its end if it plays backwards.
fn phase(model: &Model, clip: u32, play: &Play, draw: u32, speed: f64) -> u32 {
    let duration = model
        .clips()
        .get(clip as usize)
        .map_or(0.0, |c| f64::from(c.duration()));
    // A cycle of ping-pong goes forwards and backwards.
    let cycle = if play.mode == PlaybackMode::PingPong {
        2.0 * duration
    } else {
        duration
    };
    let ahead = if cycle > 0.0 {
        (play.offset / cycle).rem_euclid(1.0) * 2f64.powi(32)
    } else {
        0.0
    };
    let ahead = ahead as u64 as u32;
    match play.mode {
        PlaybackMode::Once if speed < 0.0 => u32::MAX - ahead,
        PlaybackMode::Once => ahead,
        _ => ((play.phase_spread * f64::from(draw)) as u32).wrapping_add(ahead),
    }
}

/// The layer of a clip with the settings of a group or a layer.
pub(super) fn playing(model: &Model, clip: u32, play: &Play, draw: u32, speed: f64) -> Layer {
    let phase = phase(model, clip, play, draw, speed);
    let layer = Layer::playing(model, clip, play.mode.playback(), phase, speed);
    Layer {
        frame_rate: play.frames_per_second as f32,
        ..layer
    }
}

/// One stream of random numbers per layer of a group, so that an additional layer does not affect the others.
pub(super) fn streams(seed: u64, group: usize, layers: usize) -> Vec<Pcg32> {
    (1..=layers as u64)
        .map(|layer| Pcg32::new(seed, (layer << 32) | group as u64))
        .collect()
}

impl LayerPlan {
    /// The layer of one instance whose own clip plays as `base`, at `pace` times the pace of its group.
    pub(super) fn of_instance(
        &self,
        model: &Model,
        found: &ResolvedLayer,
        base: &Layer,
        pace: f64,
        random: &mut Pcg32,
    ) -> Layer {
        // Always two draws, so that changing one key does not affect the others' values.
        let [phase, start] = [random.next_u32(), random.next_u32()];
        let speed = self.speed.unwrap_or(1.0);
        let mut layer = playing(model, found.clip, &self.play, phase, speed * pace);
        if self.speed.is_none() {
            (layer.phase, layer.step, layer.in_step) = (base.phase, base.step, 1);
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

impl Times {
    fn schedule(&self, draw: u32) -> Schedule {
        let period = self.every.map_or(0, |every| ticks(every).max(1));
        let spread = (self.stagger * f64::from(draw) / 2f64.powi(32) * f64::from(period)) as u32;
        let ahead = ticks(self.start.rem_euclid(self.every.unwrap_or(f64::INFINITY)));
        let offset = match period {
            0 => 0u32.wrapping_sub(ahead),
            _ => (spread + period - ahead % period) % period,
        };
        let length = self.lasts.map_or(LONGEST, |lasts| ticks(lasts).max(1));
        let length = if period == 0 {
            length
        } else {
            length.min(period)
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
pub(super) fn fall_in_step(model: &Model, layers: &mut [Layer], speed: f64) {
    if layers.iter().all(|l| l.in_step == 0) {
        return;
    }
    layers[0].in_step = 1;
    let duration = |l: &Layer| {
        model
            .clips()
            .get(l.clip as usize)
            .map_or(0.0, |c| f64::from(c.duration()))
    };
    // A masked layer neither follows nor determines the pace.
    let leads = |l: &Layer| l.in_step != 0 && l.mask == UNMASKED && l.kind != LayerKind::Additive;
    let shared = |layers: &mut dyn Iterator<Item = &Layer>| {
        let (mut mean, mut total) = (0.0, 0.0);
        for layer in layers.filter(|l| leads(l)) {
            let weight = f64::from(layer.weight);
            match layer.kind {
                LayerKind::Merge => {
                    total += weight;
                    mean += if total > 0.0 {
                        (duration(layer) - mean) * weight / total
                    } else {
                        0.0
                    };
                }
                _ => mean += weight * (duration(layer) - mean),
            }
        }
        if mean > 0.0 {
            speed / (mean * TICKS_PER_SECOND)
        } else {
            0.0
        }
    };
    let always = |l: &Layer| l.schedule.length == 0;
    let own = shared(&mut layers.iter().filter(|l| always(l)));
    let paces: Vec<u32> = (0..layers.len())
        .map(|index| {
            if always(&layers[index]) || !leads(&layers[index]) {
                return 0;
            }
            let with = layers
                .iter()
                .enumerate()
                .filter(|(i, l)| *i == index || always(l))
                .map(|(_, l)| l);
            let gain = shared(&mut with.into_iter()) - own;
            layers[index]
                .schedule
                .divisible((gain * 2f64.powi(32)) as i32)
        })
        .collect();
    let phase = layers[0].phase;
    for (layer, pace) in layers.iter_mut().zip(paces).filter(|(l, _)| l.in_step != 0) {
        layer.phase = phase;
        layer.step = (own.fract() * 2f64.powi(32)).round() as i64 as u32;
        layer.pace = pace;
    }
}
