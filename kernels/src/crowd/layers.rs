//! Layers of clips that an instance plays, and the integer time that all backends share.

use super::schedule::{Presence, Schedule, TICKS_PER_SECOND};
use crate::model::{Clip, Model};
use bytemuck::NoUninit;
use std::ops::RangeInclusive;

/// [`Layer::clip`] of the rest pose.
pub const REST: u32 = u32::MAX;
/// [`Layer::mask`] of a layer that moves every joint.
pub const UNMASKED: u32 = u32::MAX;
/// Most layers of an instance.
pub const MAX_LAYERS: usize = 8;
/// Merge layers whose weights at a joint add up to less, 2^-60, count as none: f32 numbers have no squares of rotations
/// with such weights.
pub const LEAST_SHARE: f32 = 8.673_617_4e-19;
/// Merge weights are relative: those of an instance whose largest is outside this range are divided by it.
const USUAL_WEIGHTS: RangeInclusive<f32> = 1e-6..=1e6;

/// Operation that combines a layer with the layers before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, NoUninit)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "lowercase")
)]
#[repr(u8)]
pub enum LayerKind {
    /// Averaged with the other merge layers by weight. Merge layers come first. A joint that none of them moves has its
    /// rest pose.
    Merge,
    /// Replaces the pose beneath, in proportion to its weight.
    Override,
    /// Adds its difference from the first frame of its clip; needs a clip of [`crate::model::Clip::additive`].
    Additive,
}

/// Playback mode of a clip: the order in which its cycles follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, NoUninit)]
#[repr(u8)]
pub enum Playback {
    /// From the end straight back to the start.
    Loop,
    /// Forwards, then backwards. The phase covers both.
    PingPong,
    /// A single cycle from the schedule's start, then the last pose.
    Once,
}

impl Playback {
    /// [`Layer::time_scale`] of a clip of so many seconds. The last phase of a single cycle is its end, at which its last key
    /// stands; that of a loop is just before the start.
    pub(super) fn time_scale(self, duration: f32) -> f32 {
        let scale = duration * 2f32.powi(-24);
        if self == Self::Once && duration > 0.0 {
            scale.next_up()
        } else {
            scale
        }
    }
}

/// Kind of transition at the start and end of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, NoUninit)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "lowercase")
)]
#[repr(u8)]
pub enum Fade {
    /// The weight changes gradually.
    Cross,
    /// The new pose shows at once, plus the difference of the old pose and of its speed at that moment, which decays to
    /// zero.
    Inertial,
}

/// One clip playing on an instance: 60 bytes of numbers that can be sent to a device as they are.
#[derive(Debug, Clone, Copy, PartialEq, NoUninit)]
#[repr(C)]
pub struct Layer {
    /// Index into the model's clips, or [`REST`].
    pub clip: u32,
    /// Phase at tick 0: `0..2^32` stands for one cycle, `0..duration`.
    pub phase: u32,
    /// Added to the phase every tick, wrapping.
    pub step: u32,
    /// Seconds at phase 0.
    pub time_base: f32,
    /// Seconds per 2^-24 of a cycle.
    pub time_scale: f32,
    /// Whole frames per second that the clip is shown at; 0 shows it continuously.
    pub frame_rate: f32,
    /// Operation that combines it with the layers before it.
    pub kind: LayerKind,
    /// Playback mode.
    pub playback: Playback,
    /// Kind of transition at its start and end; merge layers always fade by weight.
    pub fade: Fade,
    /// 1 if the layer shares its phase with all other layers of the instance that have a 1 here. These have one phase
    /// and one step, and are advanced by the sum of their paces.
    pub in_step: u8,
    /// Weight: 0 or more for merge layers, relative to the others; 0 to 1 for the other kinds.
    pub weight: f32,
    /// Index into the group's masks, or [`UNMASKED`].
    pub mask: u32,
    /// Ticks at which the layer is present.
    pub schedule: Schedule,
    /// Added to the step of all layers in step while this one is fully present; from [`Schedule::divisible`].
    pub pace: u32,
}

impl Layer {
    /// A clip that loops at `speed` times its authored pace, starting at `phase`: a merge layer of weight 1. Expects a speed
    /// of at most [`FASTEST`](super::FASTEST) either way.
    pub fn looping(model: &Model, clip: u32, phase: u32, speed: f64) -> Self {
        Self::playing(model, clip, Playback::Loop, phase, speed)
    }

    /// As [`Layer::looping`], with another playback mode. Ping-pong starts backwards at phases of 2^31 and more.
    pub fn playing(model: &Model, clip: u32, playback: Playback, phase: u32, speed: f64) -> Self {
        let clips = model.clips();
        let duration = clips.get(clip as usize).map_or(0.0, Clip::duration);
        let turns = if duration > 0.0 {
            speed / (f64::from(duration) * TICKS_PER_SECOND)
        } else {
            0.0
        };
        // Half a cycle per tick is more than any clip needs, and keeps the sign.
        let most = 0.5 - 2f64.powi(-32);
        let cycles = match playback {
            Playback::Loop => turns,
            Playback::PingPong => 0.5 * turns,
            Playback::Once => turns.clamp(-most, most),
        };
        Self {
            phase,
            // Through i64, so that clips can play backwards: the phase wraps either way.
            step: (cycles.fract() * 2f64.powi(32)).round() as i64 as u32,
            time_scale: playback.time_scale(duration),
            playback,
            ..Self::held(clip, 0.0)
        }
    }

    /// A clip held at one time in seconds; samplers clamp it to the range of the keys.
    pub fn held(clip: u32, time: f32) -> Self {
        Self {
            clip,
            phase: 0,
            step: 0,
            time_base: time,
            time_scale: 0.0,
            frame_rate: 0.0,
            kind: LayerKind::Merge,
            playback: Playback::Loop,
            fade: Fade::Cross,
            in_step: 0,
            weight: 1.0,
            mask: UNMASKED,
            schedule: Schedule::ALWAYS,
            pace: 0,
        }
    }

    /// Returns whether it is always the whole pose, so that it needs no blending if it is the only layer.
    pub fn is_plain(&self) -> bool {
        self.kind == LayerKind::Merge
            && self.weight > 0.0
            && self.mask == UNMASKED
            && self.schedule.length == 0
    }

    /// Its weight at a tick, before masks. Crossfades ease in and out: 3s² - 2s³ of the elapsed fraction of the fade.
    pub fn weight_at(&self, tick: u32) -> f32 {
        let schedule = &self.schedule;
        match (schedule.at(tick), self.fade) {
            (Presence::Absent, _) | (Presence::Out(_), Fade::Inertial) => 0.0,
            (Presence::Full, _) | (Presence::In(_), Fade::Inertial) => self.weight,
            (Presence::In(ticks), Fade::Cross) => self.weight * eased(ticks, schedule.fade_in),
            (Presence::Out(ticks), Fade::Cross) => {
                self.weight * (1.0 - eased(ticks, schedule.fade_out))
            }
        }
    }

    /// Its weight at a tick if it fades by weight.
    pub fn crossfaded_weight(self, tick: u32) -> f32 {
        let crossfading = Self {
            fade: Fade::Cross,
            ..self
        };
        crossfading.weight_at(tick)
    }
}

/// An instance's layers with merge weights whose squares f32 numbers can hold.
pub(super) fn with_usual_weights(layers: &[Layer]) -> impl Iterator<Item = Layer> {
    let merged = layers.iter().filter(|layer| layer.kind == LayerKind::Merge);
    let largest = merged.fold(0.0, |most: f32, layer| most.max(layer.weight));
    let divisor = if USUAL_WEIGHTS.contains(&largest) {
        1.0
    } else {
        largest
    };
    layers.iter().map(move |layer| {
        let mut layer = *layer;
        if layer.kind == LayerKind::Merge {
            layer.weight /= divisor;
        }
        layer
    })
}

/// Weight of a layer that has faded in for some of the ticks of its fade.
fn eased(ticks: u32, fade: u32) -> f32 {
    let s = ticks as f32 / fade as f32;
    s * s * (3.0 - 2.0 * s)
}

impl AsRef<[Layer]> for Layer {
    fn as_ref(&self) -> &[Layer] {
        std::slice::from_ref(self)
    }
}

/// The time in seconds that one of an instance's layers shows at a tick.
pub fn time(layers: &[Layer], index: usize, tick: u32) -> f32 {
    time_at(layers, index, tick, layers[index].schedule.clock(tick))
}

/// As [`time`], with the ticks since the layer's start given, because an inertial fade needs the tick before the start.
///
/// The phase's upper 24 bits are exact in f32 and either base or scale is zero, so the result is one correctly rounded
/// multiplication: the same bits on every processor, with or without fused multiply-add. Whole frames take two more
/// multiplications, by the rate and by its inverse.
pub fn time_at(layers: &[Layer], index: usize, tick: u32, clock: u32) -> f32 {
    let layer = &layers[index];
    let time = (phase(layers, layer, tick, clock) >> 8) as f32 * layer.time_scale + layer.time_base;
    match layer.frame_rate {
        0.0 => time,
        rate => (time * rate).floor() * (1.0 / rate),
    }
}

fn phase(layers: &[Layer], layer: &Layer, tick: u32, clock: u32) -> u32 {
    if layer.playback == Playback::Once {
        return once(layer.phase, layer.step as i32, clock as i32);
    }
    let mut phase = layer.phase.wrapping_add(layer.step.wrapping_mul(tick));
    if layer.in_step != 0 {
        for other in layers.iter().filter(|l| l.in_step != 0 && l.pace != 0) {
            phase = phase.wrapping_add(other.schedule.gained(other.pace, tick));
        }
    }
    match layer.playback {
        // The second half runs backwards: fold it down, then stretch both halves over the whole range.
        Playback::PingPong if phase >= 1 << 31 => !phase << 1,
        Playback::PingPong => phase << 1,
        Playback::Loop | Playback::Once => phase,
    }
}

/// The phase of a single cycle, which stops at its ends.
fn once(start: u32, step: i32, clock: i32) -> u32 {
    let clock = clock.max(0) as u32;
    let mut end = u32::MAX;
    let mut room = u32::MAX - start;
    if step < 0 {
        end = 0;
        room = start;
    }
    match room.checked_div(step.unsigned_abs()) {
        Some(most) if clock > most => end,
        _ => start.wrapping_add((step as u32).wrapping_mul(clock)),
    }
}

/// An inertial fade under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inertia {
    /// Index of the layer that fades.
    pub layer: usize,
    /// Ticks since the fade began.
    pub elapsed: u32,
    /// Ticks that it takes.
    pub length: u32,
    /// `true` if the layer starts, rather than ends.
    pub coming: bool,
}

impl Inertia {
    /// The fade that an instance is in at a tick, if any. At most one layer of an instance fades inertially.
    pub fn of(layers: &[Layer], tick: u32) -> Option<Self> {
        let layer = layers.iter().position(|l| l.fade == Fade::Inertial)?;
        let schedule = &layers[layer].schedule;
        match schedule.at(tick) {
            Presence::In(elapsed) => Some(Self {
                layer,
                elapsed,
                length: schedule.fade_in,
                coming: true,
            }),
            Presence::Out(elapsed) => Some(Self {
                layer,
                elapsed,
                length: schedule.fade_out,
                coming: false,
            }),
            Presence::Absent | Presence::Full => None,
        }
    }

    /// The time that a layer showed `back` ticks before the fade began. Only layers up to the fading one matter.
    pub fn time(&self, layers: &[Layer], index: usize, tick: u32, back: u32) -> f32 {
        let ago = self.elapsed.wrapping_add(back);
        let then = tick.wrapping_sub(ago);
        if index != self.layer {
            return time(layers, index, then);
        }
        let clock = layers[index].schedule.clock(tick).wrapping_sub(ago);
        time_at(layers, index, then, clock)
    }

    /// The weight that a layer had then; the fading layer counts in full.
    pub fn weight(&self, layers: &[Layer], index: usize, tick: u32, back: u32) -> f32 {
        let layer = &layers[index];
        if index == self.layer {
            return layer.weight;
        }
        layer.weight_at(tick.wrapping_sub(self.elapsed.wrapping_add(back)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_the_same_with_and_without_fused_multiply_add() {
        for tick in [0, 1, 59, 216_000, u32::MAX] {
            for (time_base, time_scale) in [(0.0, 1.2 * 2f32.powi(-24)), (0.7, 0.0)] {
                let layer = Layer {
                    phase: 0x9e37_79b9,
                    step: 0x0012_3457,
                    time_base,
                    time_scale,
                    ..Layer::held(0, 0.0)
                };
                let phase = (layer.phase.wrapping_add(layer.step.wrapping_mul(tick)) >> 8) as f32;
                assert_eq!(
                    time(&[layer], 0, tick).to_bits(),
                    phase.mul_add(time_scale, time_base).to_bits()
                );
                assert!(time(&[layer], 0, tick) < 1.2);
            }
        }
    }

    #[test]
    fn whole_frames_hold_until_the_next() {
        let held = |at, frame_rate| {
            time(
                &[Layer {
                    frame_rate,
                    ..Layer::held(0, at)
                }],
                0,
                0,
            )
        };
        assert_eq!(held(0.079, 0.0), 0.079);
        assert_eq!(held(0.079, 25.0), 0.04);
        assert_eq!(held(0.081, 25.0), 0.08);
        assert_eq!(held(0.0, 25.0), 0.0);
    }

    #[test]
    fn ping_pong_goes_there_and_back() {
        let layer = Layer {
            playback: Playback::PingPong,
            step: 1 << 29,
            time_scale: 2f32.powi(-24),
            ..Layer::held(0, 0.0)
        };
        let times: Vec<f32> = (0..9).map(|tick| time(&[layer], 0, tick)).collect();
        let mirrored = 1.0 - 2f32.powi(-24);
        assert_eq!(times[..4], [0.0, 0.25, 0.5, 0.75]);
        assert_eq!(
            times[4..],
            [
                mirrored,
                mirrored - 0.25,
                mirrored - 0.5,
                mirrored - 0.75,
                0.0
            ]
        );
    }

    /// So that the last key counts, even if the one before holds up to it.
    #[test]
    fn a_single_cycle_ends_at_the_last_key() {
        let mut durations = vec![1e-3, 0.1, 1.0, 1.2, 2.0, 99_999.99, 100_000.0];
        durations.extend((1..1000).map(|frames| frames as f32 / 30.0));
        for duration in durations {
            let layer = Layer {
                phase: u32::MAX,
                playback: Playback::Once,
                time_scale: Playback::Once.time_scale(duration),
                ..Layer::held(0, 0.0)
            };
            let end = time(&[layer], 0, 0);
            assert!(
                (duration..=duration.next_up()).contains(&end),
                "{end} of {duration}"
            );
        }
    }

    #[test]
    fn once_stops_at_its_ends() {
        let schedule = Schedule {
            period: 100,
            offset: 0,
            length: 90,
            fade_in: 0,
            fade_out: 0,
        };
        let layer = Layer {
            playback: Playback::Once,
            step: 1 << 30,
            time_scale: 2f32.powi(-24),
            schedule,
            ..Layer::held(0, 0.0)
        };
        let end = 1.0 - 2f32.powi(-24);
        let times = |layer: Layer| [100, 101, 103, 104, 189].map(|tick| time(&[layer], 0, tick));
        assert_eq!(times(layer), [0.0, 0.25, 0.75, end, end]);
        let back = Layer {
            step: 0u32.wrapping_sub(1 << 30),
            phase: 3 << 30,
            ..layer
        };
        assert_eq!(times(back), [0.75, 0.5, 0.0, 0.0, 0.0]);
        assert_eq!(time_at(&[layer], 0, 99, u32::MAX), 0.0, "before the start");
    }
}
