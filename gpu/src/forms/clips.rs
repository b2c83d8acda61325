//! A model's clips in the kernels' layout: tracks by joint, keys in quads; times, angles and compact keys in words.

use crate::shader::layout::{self, Form, NONE};
use glam::Quat;
use skinbench_kernels::model::compact::Compact;
use skinbench_kernels::model::{
    Channel, Clip, ClipKeys, Interpolation, Model, RawKeys, RotationBlend, Track, Transform,
};

/// The form of a track with this many keys.
fn form(blend: RotationBlend, track: &Track, keys: usize) -> Form {
    let rotation = track.channel == Channel::Rotation;
    match (track.interpolation, blend) {
        _ if keys == 1 => Form::Constant,
        (Interpolation::Step, _) => Form::Step,
        (Interpolation::CubicSpline, _) => Form::Cubic,
        (Interpolation::Squad, _) => Form::Squad,
        (Interpolation::Linear, _) if !rotation => Form::Line,
        (Interpolation::Linear, RotationBlend::Slerp) => Form::Slerp,
        (Interpolation::Linear, RotationBlend::Nlerp) => Form::Nlerp,
        (Interpolation::Linear, RotationBlend::AuthoredPath) => Form::Authored,
    }
}

/// Features that a group needs of the kernels. Groups with equal needs share pipelines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// One bit per [`Form`] that occurs, for each channel.
    pub forms: [u32; 3],
    /// `true` if a track has key times other than its clip's.
    pub own_times: bool,
    /// `true` if a clip is compact.
    pub compact: bool,
    /// `true` if joints only rotate and translate: a model pose is then a rotation and a translation.
    pub rigid: bool,
    /// `true` if any joint has a fixed matrix.
    pub matrices: bool,
    /// `true` if a layer of any instance fades inertially.
    pub inertia: bool,
    /// `true` if any instance is not posed at every tick.
    pub rates: bool,
}

impl Needs {
    /// Adds what other groups need, so that one kernel poses them all.
    pub fn join(&mut self, other: Self) {
        for (forms, more) in self.forms.iter_mut().zip(other.forms) {
            *forms |= more;
        }
        self.own_times |= other.own_times;
        self.compact |= other.compact;
        // Poses that share a buffer have one form.
        self.rigid &= other.rigid;
        self.matrices |= other.matrices;
        self.inertia |= other.inertia;
        self.rates |= other.rates;
    }
}

/// Lists of the clips of models, in the kernels' layout. Indices count from the beginning of each list.
#[derive(Debug, Default)]
pub struct ClipLists {
    /// One item per clip.
    pub clips: Vec<layout::Clip>,
    /// `[clip][joint][channel]`.
    pub tracks: Vec<layout::Track>,
    /// Of each model three channels of the identity, then the channels of all joints at rest, then values of raw tracks:
    /// quaternions, or vectors followed by a zero.
    pub quads: Vec<[f32; 4]>,
    /// Times, angles and compact keys.
    pub words: Vec<u32>,
}

/// All clips of a model.
#[derive(Debug, Default)]
pub struct ClipStore {
    /// The clips.
    pub lists: ClipLists,
    /// Number of channels of all joints that are not still.
    pub moving: u64,
    /// Features that the clips need of the kernels. Inertial fades and update rates, which crowds add, are off.
    pub needs: Needs,
}

impl ClipLists {
    /// Bytes of the largest list.
    pub fn largest(&self) -> u64 {
        let bytes = [
            size_of_val(&self.clips[..]),
            size_of_val(&self.tracks[..]),
            size_of_val(&self.quads[..]),
            size_of_val(&self.words[..]),
        ];
        bytes.into_iter().max().unwrap_or(0) as u64
    }

    /// Appends the lists of another model.
    pub fn append(&mut self, other: &Self) {
        let tracks = self.tracks.len() as u32;
        let quads = self.quads.len() as u32;
        let words = self.words.len() as u32;
        for clip in &other.clips {
            self.clips.push(layout::Clip {
                tracks: tracks + clip.tracks,
                timeline: moved(clip.timeline, words),
                numbers: words + clip.numbers,
                ..*clip
            });
        }
        for track in &other.tracks {
            let mut value = track.value() as u32;
            // A packed track counts from the beginning of its frame.
            if track.form() != Form::Packed as u32 {
                value += quads;
            }
            self.tracks.push(layout::Track {
                angle: words + track.angle,
                timeline: moved(track.timeline, words),
                ..track.with_value(value)
            });
        }
        self.quads.extend_from_slice(&other.quads);
        self.words.extend_from_slice(&other.words);
    }
}

impl ClipStore {
    /// Converts the clips of a model, followed by the rest pose. `plain` means that sampled poses reach the hierarchy
    /// without blending.
    pub fn new(model: &Model, plain: bool) -> Self {
        let rest = model.skeleton().rest();
        let mut store = Self::default();
        for pose in std::iter::once(&Transform::IDENTITY).chain(rest) {
            store.lists.quads.push(pose.rotation.to_array());
            for vector in [pose.translation, pose.scale] {
                store.lists.quads.push(vector.extend(0.0).to_array());
            }
        }
        for clip in model.clips() {
            store.push(clip, rest.len());
        }
        let first = store.lists.tracks.len() as u32;
        store.lists.clips.push(Self::constants(first));
        store
            .lists
            .tracks
            .extend((3..).take(3 * rest.len()).map(Self::constant));
        if plain {
            store.still(3 * rest.len());
        }
        store.needs.matrices = !model.skeleton().matrices().is_empty();
        store.summarise();
        store
    }

    /// Local poses at rest, `[joint][channel]`.
    pub fn rest(&self) -> &[[f32; 4]] {
        let channels = self.lists.tracks.len() / self.lists.clips.len();
        &self.lists.quads[3..][..channels]
    }

    /// A clip without keys.
    fn constants(tracks: u32) -> layout::Clip {
        layout::Clip {
            tracks,
            timeline: NONE,
            frames: 0,
            row: 0,
            numbers: 0,
            start: 0.0,
            interval: 0.0,
        }
    }

    fn constant(value: u32) -> layout::Track {
        layout::Track::new(Form::Constant, value, 0, NONE)
    }

    /// Marks the channels that have the same constant value in all clips.
    fn still(&mut self, channels: usize) {
        for channel in 0..channels {
            let Some(first) = self.constant_bits(channel) else {
                continue;
            };
            let mut in_clips = (channel..self.lists.tracks.len()).step_by(channels);
            if in_clips.all(|track| self.constant_bits(track) == Some(first)) {
                for track in (channel..self.lists.tracks.len()).step_by(channels) {
                    self.lists.tracks[track] = layout::Track::new(Form::Still, 0, 0, NONE);
                }
            }
        }
    }

    /// The bits of a track's value; `None` if it has several.
    fn constant_bits(&self, track: usize) -> Option<[u32; 4]> {
        let track = &self.lists.tracks[track];
        let is_constant = track.form() == Form::Constant as u32;
        is_constant.then(|| self.lists.quads[track.value()].map(f32::to_bits))
    }

    fn summarise(&mut self) {
        for (channel, track) in [0, 1, 2].into_iter().cycle().zip(&self.lists.tracks) {
            self.needs.forms[channel] |= 1 << track.form();
            self.needs.own_times |= track.timeline != NONE;
        }
        let still = Form::Still as u32;
        let first_clip = &self.lists.tracks[..self.rest().len()];
        self.moving = first_clip.iter().filter(|t| t.form() != still).count() as u64;
        let one = [1.0, 1.0, 1.0, 0.0];
        let mut scaled = self.rest().iter().skip(2).step_by(3).any(|s| *s != one);
        for track in self.lists.tracks.iter().skip(2).step_by(3) {
            let is_one =
                track.form() == Form::Constant as u32 && self.lists.quads[track.value()] == one;
            scaled |= track.form() != still && !is_one;
        }
        self.needs.rigid = !scaled && !self.needs.matrices;
    }

    fn push(&mut self, clip: &Clip, joints: usize) {
        let first = self.lists.tracks.len();
        for channel in 0..3 * joints as u32 {
            let absent = if clip.is_additive() {
                channel % 3
            } else {
                3 + channel
            };
            self.lists.tracks.push(Self::constant(absent));
        }
        let mut own = Self::constants(first as u32);
        match clip.keys() {
            ClipKeys::Raw(raw) => self.push_raw(raw, clip.rotation_blend(), &mut own),
            ClipKeys::Compact(compact) => self.push_compact(compact, &mut own),
        }
        self.lists.clips.push(own);
    }

    fn set(&mut self, first: u32, joint: u16, channel: Channel, track: layout::Track) {
        self.lists.tracks[first as usize + 3 * usize::from(joint) + channel as usize] = track;
    }

    fn push_raw(&mut self, raw: &RawKeys, blend: RotationBlend, own: &mut layout::Clip) {
        let timelines: Vec<u32> = raw
            .timelines()
            .iter()
            .map(|times| {
                let at = self.lists.words.len() as u32;
                self.lists.words.push(times.len() as u32);
                self.lists.words.extend(times.iter().map(|t| t.to_bits()));
                at
            })
            .collect();
        let angles = self.lists.words.len() as u32;
        self.lists
            .words
            .extend(raw.angles().iter().map(|a| a.to_bits()));
        own.timeline = timelines.first().copied().unwrap_or(NONE);
        for track in raw.tracks() {
            let keys = raw.times_of(track).len();
            let form = form(blend, track, keys);
            let width = track.channel.width();
            let values = raw.values_of(track);
            let mut value = self.lists.quads.len() as u32;
            if form == Form::Constant {
                value += track.interpolation.value_of_key() as u32;
            }
            let quads = values
                .chunks_exact(width)
                .map(|v| std::array::from_fn(|c| v.get(c).copied().unwrap_or(0.0)));
            if form == Form::Constant && track.channel == Channel::Rotation {
                self.lists.quads.extend(quads.map(unit));
            } else {
                self.lists.quads.extend(quads);
            }
            // Comparison alone decides which key holds, so step keys are searched when they are sampled.
            let shared = form != Form::Step && timelines[track.timeline as usize] == own.timeline;
            let timeline = if shared || form == Form::Constant {
                NONE
            } else {
                timelines[track.timeline as usize]
            };
            let angle = angles + track.first_angle;
            self.set(
                own.tracks,
                track.joint,
                track.channel,
                layout::Track::new(form, value, angle, timeline),
            );
        }
    }

    fn push_compact(&mut self, compact: &Compact, own: &mut layout::Clip) {
        self.needs.compact = true;
        own.frames = compact.frames;
        let frames = compact.by_joint();
        own.row = (frames.row / size_of::<u32>()) as u32;
        own.start = compact.start;
        own.interval = compact.interval;
        own.numbers = self.lists.words.len() as u32;
        let numbers = &frames.numbers[..compact.frames as usize * frames.row];
        self.lists.words.extend(
            numbers
                .as_chunks()
                .0
                .iter()
                .map(|bytes| u32::from_le_bytes(*bytes)),
        );
        for still in &compact.still {
            let value = self.lists.quads.len() as u32;
            self.lists
                .quads
                .push(if still.channel == Channel::Rotation {
                    unit(still.value)
                } else {
                    still.value
                });
            self.set(
                own.tracks,
                still.joint,
                still.channel,
                Self::constant(value),
            );
        }
        let mut place = 0;
        for track in &frames.tracks {
            let angle = self.lists.words.len() as u32;
            let decoder = track.decoder();
            self.lists
                .words
                .extend(decoder.low.iter().chain(&decoder.step).map(|v| v.to_bits()));
            let [x, y, z] = track.bits.map(u32::from);
            self.lists
                .words
                .push(u32::from(track.dropped) | x << 4 | y << 9 | z << 14);
            let packed = layout::Track::new(Form::Packed, place, angle, NONE);
            self.set(own.tracks, track.joint, track.channel, packed);
            place += track.widths().map(u32::from).iter().sum::<u32>();
        }
    }
}

/// An index of a list that is appended to one of `before` items.
fn moved(index: u32, before: u32) -> u32 {
    if index == NONE { NONE } else { before + index }
}

/// Normalises a rotation.
fn unit(rotation: [f32; 4]) -> [f32; 4] {
    Quat::from_array(rotation).normalize().to_array()
}

#[cfg(test)]
mod tests {
    use super::*;
    use skinbench_characters::walker;

    /// The walker's clips rotate 65 joints and move the pelvis; none has a scale.
    #[test]
    fn only_what_moves_is_sampled() {
        let model = walker(500).unwrap();
        let joints = model.skeleton().len();
        let store = ClipStore::new(&model, true);
        let still = 1 << Form::Still as u32;
        assert_eq!(store.moving, 66);
        assert_eq!(store.needs.forms[Channel::Scale as usize], still);
        assert!(store.needs.rigid);
        let blended = ClipStore::new(&model, false);
        assert_eq!(blended.moving, 3 * joints as u64);
        assert!(blended.needs.forms.iter().all(|forms| forms & still == 0) && blended.needs.rigid);
        assert_eq!(blended.rest().len(), 3 * joints);
        let rest = model.skeleton().rest()[joints - 1].translation;
        assert_eq!(blended.rest()[3 * joints - 2][..3], rest.to_array());
    }
}
