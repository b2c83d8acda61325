//! A clip that an instance of a live crowd plays, and the layers that show it at a time in seconds. They are layers as of
//! any crowd, seen at tick 0.

use super::layers::{Fade, Layer, LayerKind, Playback, REST};
use super::schedule::{LONGEST, Schedule};

/// Ticks in which inertial fades are counted, per second: so many that frames of any length come near to one, and so few
/// that poses one tick apart, whose difference counts many times, differ by much more than f32 rounding.
const PER_SECOND: f64 = 960.0;
/// Longest fade in seconds.
pub const LONGEST_FADE: f64 = 3_600.0;
/// Latest time of a live crowd in seconds, three centuries: f64 numbers still tell times 2 microseconds apart.
pub const LATEST: f64 = 1e10;
/// Highest speed of a clip, in seconds of the clip per second.
pub const FASTEST: f64 = 1_000.0;

/// What an instance starts to play on a layer, and how the layer changes over to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Play {
    /// Index into the model's clips. [`REST`] fades to the rest pose on merge layers, and to the pose beneath on others.
    pub clip: u32,
    /// Order of its cycles.
    pub playback: Playback,
    /// Seconds in the clip at which it starts, at most 1e10 either way.
    pub start: f64,
    /// Seconds of the clip per second of the crowd's time, at most [`FASTEST`]; negative plays backwards.
    pub speed: f64,
    /// Kind of transition. An inertial one needs [`LiveGroup::inertial`](super::LiveGroup::inertial) and the first layer.
    pub fade: Fade,
    /// Seconds that the transition takes; 0 for none.
    pub fade_seconds: f64,
}

impl Play {
    /// A clip that loops from its start, at once.
    pub const fn looping(clip: u32) -> Self {
        Self {
            clip,
            playback: Playback::Loop,
            start: 0.0,
            speed: 1.0,
            fade: Fade::Cross,
            fade_seconds: 0.0,
        }
    }

    /// A clip that plays once from its start and keeps its last pose, at once.
    pub const fn once(clip: u32) -> Self {
        Self {
            playback: Playback::Once,
            ..Self::looping(clip)
        }
    }

    /// The same with a transition of so many seconds.
    #[must_use]
    pub const fn with_fade(self, fade: Fade, seconds: f64) -> Self {
        Self {
            fade,
            fade_seconds: seconds,
            ..self
        }
    }
}

/// A clip under way on an instance. Times are in seconds of the crowd, phases in cycles since the start of the clip.
#[derive(Debug, Clone, Copy)]
pub(super) struct Playing {
    /// Index of the layer.
    pub layer: usize,
    pub play: Play,
    /// Seconds of a clip; 0 if there is no cycle.
    duration: f32,
    /// When the speed was last set, and the phase then: later phases are computed from these, so that no error adds up.
    origin: f64,
    phase: f64,
    /// When it began, and the phase then.
    pub began: f64,
    first_phase: f64,
}

impl Playing {
    pub fn new(layer: usize, play: Play, duration: f32, now: f64) -> Self {
        let mut playing = Self {
            layer,
            play,
            duration,
            origin: now,
            phase: 0.0,
            began: now,
            first_phase: 0.0,
        };
        playing.first_phase = playing.cycles(play.start);
        playing.phase = playing.first_phase;
        playing
    }

    /// Cycles in so many seconds of the clip.
    fn cycles(&self, seconds: f64) -> f64 {
        match (self.duration, self.play.playback) {
            (0.0, _) => 0.0,
            (duration, Playback::PingPong) => 0.5 * seconds / f64::from(duration),
            (duration, _) => seconds / f64::from(duration),
        }
    }

    fn phase_at(&self, time: f64) -> f64 {
        self.phase + self.cycles((time - self.origin) * self.play.speed)
    }

    /// Changes the speed from a time on. A clip that has ended plays on from its end.
    pub fn set_speed(&mut self, speed: f64, now: f64) {
        self.phase = self.phase_at(now);
        if self.play.playback == Playback::Once {
            self.phase = self.phase.clamp(0.0, 1.0);
        }
        self.origin = now;
        self.play.speed = speed;
    }

    /// Fraction of the transition that is over, 0 to 1.
    pub fn elapsed(&self, time: f64) -> f64 {
        if self.play.fade_seconds == 0.0 {
            return 1.0;
        }
        ((time - self.began) / self.play.fade_seconds).clamp(0.0, 1.0)
    }

    /// Returns whether the transition is an inertial one.
    pub fn fades_inertially(&self) -> bool {
        self.play.fade == Fade::Inertial && self.play.fade_seconds > 0.0
    }

    /// Returns whether the transition is an inertial one under way.
    pub fn is_inertial(&self, time: f64) -> bool {
        self.fades_inertially() && time >= self.began && self.elapsed(time) < 1.0
    }

    /// Weight over what the layer played before: eased as crossfades of all layers are.
    pub fn faded_in(&self, time: f64) -> f64 {
        if self.is_inertial(time) {
            return 1.0;
        }
        let s = self.elapsed(time);
        s * s * (3.0 - 2.0 * s)
    }

    /// The layer that shows it, without an inertial fade.
    pub fn layer_at(&self, time: f64, kind: LayerKind, weight: f64) -> Layer {
        Layer {
            phase: self.integer_phase(self.phase_at(time)),
            weight: weight as f32,
            kind,
            ..self.still()
        }
    }

    /// The layer that shows it in its inertial fade: where it was when the fade began follows from its mean speed.
    pub fn inertial_layer_at(&self, time: f64) -> Layer {
        let elapsed = ticks(time - self.began);
        let mut step = self.cycles(self.play.speed / PER_SECOND);
        if elapsed > 0 {
            step = (self.phase_at(time) - self.first_phase) / f64::from(elapsed);
        }
        let step = integer_step(step);
        let first = self.integer_phase(self.first_phase);
        Layer {
            phase: match self.play.playback {
                Playback::Once => first,
                Playback::Loop | Playback::PingPong => {
                    first.wrapping_add(step.wrapping_mul(elapsed))
                }
            },
            step,
            kind: LayerKind::Override,
            schedule: Schedule {
                offset: elapsed,
                fade_in: ticks(self.play.fade_seconds).max(elapsed + 1),
                length: LONGEST,
                ..Schedule::ALWAYS
            },
            ..self.still()
        }
    }

    /// The layer that plays it on beneath a newer clip that fades inertially, as when the fade began and one tick before.
    pub fn layer_before(&self, fade: &Self, time: f64, weight: f64) -> Layer {
        let elapsed = ticks(time - fade.began);
        let phase = self.phase_at(fade.began);
        let step = self.cycles(self.play.speed / PER_SECOND);
        let advance = integer_step(step);
        Layer {
            phase: match self.play.playback {
                // Its clock begins with the tick before.
                Playback::Once => self.integer_phase(phase - step),
                Playback::Loop | Playback::PingPong => self
                    .integer_phase(phase)
                    .wrapping_add(advance.wrapping_mul(elapsed)),
            },
            step: advance,
            weight: weight as f32,
            schedule: Schedule {
                offset: elapsed + 1,
                length: LONGEST,
                ..Schedule::ALWAYS
            },
            ..self.still()
        }
    }

    /// A merge layer that holds the clip at phase 0.
    fn still(&self) -> Layer {
        Layer {
            playback: self.play.playback,
            time_scale: self.play.playback.time_scale(self.duration),
            schedule: Schedule {
                length: LONGEST,
                ..Schedule::ALWAYS
            },
            ..Layer::held(self.play.clip, 0.0)
        }
    }

    fn integer_phase(&self, cycles: f64) -> u32 {
        let fraction = match self.play.playback {
            Playback::Once => cycles.clamp(0.0, 1.0),
            Playback::Loop | Playback::PingPong => cycles - cycles.floor(),
        };
        // A whole cycle becomes the last phase.
        (fraction * 2f64.powi(32)) as u32
    }
}

/// A layer that shows nothing, neither now nor when an inertial fade began.
pub(super) fn absent(kind: LayerKind) -> Layer {
    Layer {
        kind,
        schedule: Schedule {
            offset: LONGEST,
            length: 1,
            ..Schedule::ALWAYS
        },
        ..Layer::held(REST, 0.0)
    }
}

/// Ticks of an inertial fade in so many seconds.
fn ticks(seconds: f64) -> u32 {
    (seconds * PER_SECOND).round() as u32
}

/// Cycles per tick as an integer that wraps.
fn integer_step(cycles: f64) -> u32 {
    ((cycles - cycles.round()) * 2f64.powi(32)).round() as i64 as u32
}
