//! A model's clips as kernels read them: tracks by joint, keys in quads, times, angles and 16-bit numbers in words.

use crate::gpu::layout::{self, NONE};
use crate::model::compact::Compact;
use crate::model::{Channel, Clip, Interpolation, Model, RotationBlend, Track};

/// How a track goes from key to key (the constants in shaders/pose_sample.wgsl).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// No track: the joint rests.
    Absent,
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

impl Form {
    fn of(clip: &Clip, track: &Track, keys: usize) -> Self {
        let rotation = track.channel == Channel::Rotation;
        match (track.interpolation, clip.rotation_blend()) {
            _ if keys == 1 => Self::Constant,
            (Interpolation::Step, _) => Self::Step,
            (Interpolation::CubicSpline, _) => Self::Cubic,
            (Interpolation::Squad, _) => Self::Squad,
            (Interpolation::Linear, _) if !rotation => Self::Line,
            (Interpolation::Linear, RotationBlend::Slerp) => Self::Slerp,
            (Interpolation::Linear, RotationBlend::Nlerp) => Self::Nlerp,
            (Interpolation::Linear, RotationBlend::AuthoredPath) => Self::Authored,
        }
    }
}

/// All clips of a model.
#[derive(Debug, Default)]
pub struct ClipStore {
    /// One a clip.
    pub clips: Vec<layout::Clip>,
    /// `[clip][joint][channel]`.
    pub tracks: Vec<layout::Track>,
    /// Values of raw tracks: quaternions, or vectors and a zero.
    pub quads: Vec<[f32; 4]>,
    /// Everything else.
    pub words: Vec<u32>,
    /// A bit for each [`Form`] that occurs.
    pub forms: u32,
    /// Whether a track has key times other than its clip's.
    pub own_times: bool,
    /// Whether a clip is compact.
    pub compact: bool,
}

impl ClipStore {
    /// At most as many bytes as the store will hold.
    pub fn bytes(model: &Model) -> u64 {
        let tracks = 3 * model.skeleton().len() as u64 * size_of::<layout::Track>() as u64;
        let of = |clip: &Clip| {
            let compact = clip.compact().map_or(0, |c| c.tracks.len() + c.still.len());
            // A third more for vectors in quads, and what tracks and timelines have of their own.
            let keys = clip.bytes() as u64 * 4 / 3 + 32 * (compact + clip.timelines().len()) as u64;
            size_of::<layout::Clip>() as u64 + tracks + keys
        };
        model.clips().iter().map(of).sum()
    }

    /// The clips of a model.
    pub fn new(model: &Model) -> Self {
        let mut store = Self::default();
        for clip in model.clips() {
            store.push(clip, model.skeleton().len());
        }
        store
    }

    fn push(&mut self, clip: &Clip, joints: usize) {
        let first = self.tracks.len();
        let absent = layout::Track { form: Form::Absent as u32, timeline: NONE, value: 0, angle: 0 };
        self.tracks.resize(first + 3 * joints, absent);
        let mut own = layout::Clip {
            tracks: first as u32,
            timeline: NONE,
            frames: 0,
            row: 0,
            numbers: 0,
            start: 0.0,
            interval: 0.0,
            additive: clip.is_additive().into(),
        };
        match clip.compact() {
            Some(compact) => self.push_compact(compact, &mut own),
            None => self.push_raw(clip, &mut own),
        }
        self.clips.push(own);
    }

    fn set(&mut self, first: u32, joint: u16, channel: Channel, form: Form, track: layout::Track) {
        self.forms |= 1 << form as u32;
        self.own_times |= track.timeline != NONE;
        self.tracks[first as usize + 3 * usize::from(joint) + channel as usize] =
            layout::Track { form: form as u32, ..track };
    }

    fn push_raw(&mut self, clip: &Clip, own: &mut layout::Clip) {
        let timelines: Vec<u32> = clip
            .timelines()
            .iter()
            .map(|line| {
                let at = self.words.len() as u32;
                let times = &clip.times()[line.first as usize..][..line.count as usize];
                self.words.push(line.count);
                self.words.extend(times.iter().map(|t| t.to_bits()));
                at
            })
            .collect();
        let angles = self.words.len() as u32;
        self.words.extend(clip.angles().iter().map(|a| a.to_bits()));
        own.timeline = timelines.first().copied().unwrap_or(NONE);
        for track in clip.tracks() {
            let keys = clip.times_of(track).len();
            let form = Form::of(clip, track, keys);
            let width = track.channel.width();
            let values = &clip.values()[track.first_value as usize..];
            let values = &values[..keys * track.interpolation.values_per_key() * width];
            let mut value = self.quads.len() as u32;
            if form == Form::Constant {
                value += track.interpolation.value_of_key() as u32;
            }
            self.quads
                .extend(values.chunks_exact(width).map(|v| std::array::from_fn(|c| v.get(c).copied().unwrap_or(0.0))));
            // Which key holds is decided by comparison alone, so steps are sought where they are sampled.
            let shared = form != Form::Step && timelines[track.timeline as usize] == own.timeline;
            let timeline = if shared || form == Form::Constant { NONE } else { timelines[track.timeline as usize] };
            let angle = angles + track.first_angle;
            self.set(own.tracks, track.joint, track.channel, form, layout::Track { form: 0, timeline, value, angle });
        }
    }

    fn push_compact(&mut self, compact: &Compact, own: &mut layout::Clip) {
        self.compact = true;
        own.frames = compact.frames;
        own.row = 3 * compact.tracks.len() as u32;
        own.start = compact.start;
        own.interval = compact.interval;
        own.numbers = 2 * self.words.len() as u32;
        self.words.extend(
            compact
                .numbers
                .chunks(2)
                .map(|pair| u32::from(pair[0]) | u32::from(pair.get(1).copied().unwrap_or(0)) << 16),
        );
        for still in &compact.still {
            let value = self.quads.len() as u32;
            self.quads.push(still.value);
            let track = layout::Track { form: 0, timeline: NONE, value, angle: 0 };
            self.set(own.tracks, still.joint, still.channel, Form::Constant, track);
        }
        for (value, track) in (0..).zip(&compact.tracks) {
            let angle = self.words.len() as u32;
            self.words.extend(track.low.iter().chain(&track.step).map(|v| v.to_bits()));
            self.words.push(track.dropped.into());
            let packed = layout::Track { form: 0, timeline: NONE, value, angle };
            self.set(own.tracks, track.joint, track.channel, Form::Packed, packed);
        }
    }
}
