//! Clips in frames of 16-bit numbers at a uniform rate. Channels that never change are stored once.

use super::keys::Channel;
use crate::model::ModelError;
use glam::Vec4;

/// [`CompactTrack::dropped`] of rotations whose largest component changes: each key says which component it leaves out.
pub const ANY: u8 = 4;
/// Bound of the three stored components in that case, and the largest number that encodes it: 15 bits are left.
pub const ANY_RANGE: f32 = std::f32::consts::FRAC_1_SQRT_2;
const ANY_LARGEST: f32 = 32_767.0;
/// Numbers closer to zero count as zero: the squares of rounding errors would be denormal, and slow.
const TINY: f32 = 1e-9;

/// A channel of a joint that changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompactTrack {
    /// Joint of the skeleton.
    pub joint: u16,
    /// Driven channel.
    pub channel: Channel,
    /// Rotations: index of the component that is left out, positive and computed from the squares of the others; or
    /// [`ANY`] if the upper bits of a key's first two numbers hold the index.
    pub dropped: u8,
    /// Value of the number 0, per component.
    pub low: [f32; 3],
    /// Value of one step, per component.
    pub step: [f32; 3],
}

impl CompactTrack {
    /// Decodes three numbers.
    pub fn vector(&self, numbers: [u16; 3]) -> [f32; 3] {
        std::array::from_fn(|c| self.low[c] + f32::from(numbers[c]) * self.step[c])
    }
}

/// A channel of a joint that is constant, but not equal to the rest pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StillTrack {
    /// Joint of the skeleton.
    pub joint: u16,
    /// Driven channel.
    pub channel: Channel,
    /// [`Channel::width`] numbers.
    pub value: [f32; 4],
}

/// Largest error of a compact clip against the clip it was made from.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClipError {
    /// Largest distance at a joint's end over the skeleton's size.
    pub distance: f64,
    /// The joint that it was found at.
    pub joint: u16,
}

/// Samples of one channel of a joint, one value per frame. Vectors end in a zero; rotations are unit quaternions.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// Joint of the skeleton.
    pub joint: u16,
    /// Driven channel.
    pub channel: Channel,
    /// At least one.
    pub values: Vec<[f32; 4]>,
}

impl Samples {
    /// The value in the middle of all others, and the largest distance from it.
    pub fn middle(&self) -> ([f32; 4], f32) {
        // Take all rotations to one hemisphere.
        let aligned = |value: &[f32; 4]| {
            let away = self.channel == Channel::Rotation && Vec4::from(*value).dot(self.values[0].into()) < 0.0;
            if away { -Vec4::from(*value) } else { Vec4::from(*value) }
        };
        let bound = |pick: fn(Vec4, Vec4) -> Vec4| self.values.iter().map(aligned).reduce(pick).unwrap_or_default();
        let middle = (bound(Vec4::min) + bound(Vec4::max)) / 2.0;
        let middle = if self.channel == Channel::Rotation { middle.normalize_or(Vec4::W) } else { middle };
        let swing = self.values.iter().map(|value| aligned(value).distance(middle)).fold(0.0, f32::max);
        (middle.to_array(), swing)
    }
}

/// The keys of a compact clip: three numbers per track and frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Compact {
    /// Seconds at the first frame, which holds before that time.
    pub start: f32,
    /// Seconds from frame to frame; 0 for a single frame. The last frame holds after its time.
    pub interval: f32,
    /// Number of frames, at least one.
    pub frames: u32,
    /// Channels that change, by joint, then channel.
    pub tracks: Vec<CompactTrack>,
    /// Channels that do not.
    pub still: Vec<StillTrack>,
    /// `[frame][track][3]`.
    pub numbers: Vec<u16>,
    /// Error against the clip it was made from.
    pub error: ClipError,
}

impl Compact {
    /// Numbers of a frame.
    pub fn frame(&self, index: usize) -> &[[u16; 3]] {
        &self.numbers.as_chunks().0[index * self.tracks.len()..][..self.tracks.len()]
    }

    /// Bytes that the keys take in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.tracks[..]) + size_of_val(&self.still[..]) + size_of_val(&self.numbers[..])
    }

    /// Encodes channels of joints with the same number of values each. Constant channels equal to `at_rest` are not
    /// stored.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn encode(
        start: f32,
        interval: f32,
        channels: &[Samples],
        at_rest: impl Fn(u16, Channel) -> [f32; 4],
    ) -> Result<Self, ModelError> {
        let frames = channels.first().map_or(1, |samples| samples.values.len());
        let mut compact = Self {
            start,
            interval,
            frames: frames as u32,
            tracks: Vec::new(),
            still: Vec::new(),
            numbers: Vec::new(),
            error: ClipError::default(),
        };
        let mut columns = Vec::new();
        for Samples { joint, channel, values } in channels {
            if values.iter().flatten().any(|v| !v.is_finite()) {
                return Err(ModelError::new(format!("joint {joint}"), "its poses are not finite"));
            }
            if values.iter().all(|value| same(*channel, value, &values[0])) {
                if !same(*channel, &values[0], &at_rest(*joint, *channel)) {
                    compact.still.push(StillTrack { joint: *joint, channel: *channel, value: values[0] });
                }
                continue;
            }
            let (track, column) = match channel {
                Channel::Rotation => rotations(*joint, values),
                _ => ranged(*joint, *channel, 0, values.iter().map(|v| [v[0], v[1], v[2]]).collect()),
            };
            compact.tracks.push(track);
            columns.push(column);
        }
        compact.numbers = (0..frames).flat_map(|frame| columns.iter().flat_map(move |column| column[frame])).collect();
        Ok(compact)
    }
}

/// Returns whether two values of a channel differ by no more than they round.
fn same(channel: Channel, a: &[f32; 4], b: &[f32; 4]) -> bool {
    let dot: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let sign = if channel == Channel::Rotation && dot < 0.0 { -1.0 } else { 1.0 };
    a.iter().zip(b).all(|(a, b)| (a - sign * b).abs() <= 1e-6 * (1.0 + a.abs()))
}

/// Encodes three components over their range.
fn ranged(joint: u16, channel: Channel, dropped: u8, mut values: Vec<[f32; 3]>) -> (CompactTrack, Vec<[u16; 3]>) {
    values.iter_mut().flatten().for_each(|v| *v = without_tiny(*v));
    let bound = |c: usize, pick: fn(f32, f32) -> f32| values.iter().map(|v| v[c]).reduce(pick).unwrap_or(0.0);
    let low: [f32; 3] = std::array::from_fn(|c| bound(c, f32::min));
    let step: [f32; 3] = std::array::from_fn(|c| (bound(c, f32::max) - low[c]) / f32::from(u16::MAX));
    let number = |value: f32, c: usize| if step[c] > 0.0 { ((value - low[c]) / step[c]).round() as u16 } else { 0 };
    let numbers = values.iter().map(|value| std::array::from_fn(|c| number(value[c], c))).collect();
    (CompactTrack { joint, channel, dropped, low, step }, numbers)
}

/// Zero in place of a rounding error.
pub fn without_tiny(value: f32) -> f32 {
    if value.abs() < TINY { 0.0 } else { value }
}

/// Encodes rotations by three of their four components. A component that stays well away from zero throughout is left
/// out of all keys, and the others have 16 bits over their range; otherwise each key leaves out its largest.
fn rotations(joint: u16, values: &[[f32; 4]]) -> (CompactTrack, Vec<[u16; 3]>) {
    let least = |c: usize| values.iter().map(|q| q[c].abs()).fold(f32::INFINITY, f32::min);
    let dropped = (0..4).max_by(|&a, &b| least(a).total_cmp(&least(b))).unwrap_or(3);
    if least(dropped) >= 0.4 {
        return ranged(joint, Channel::Rotation, dropped as u8, values.iter().map(|q| without(q, dropped)).collect());
    }
    let step = 2.0 * ANY_RANGE / ANY_LARGEST;
    let track = CompactTrack { joint, channel: Channel::Rotation, dropped: ANY, low: [-ANY_RANGE; 3], step: [step; 3] };
    let key = |q: &[f32; 4]| {
        let largest = (0..4).max_by(|&a, &b| q[a].abs().total_cmp(&q[b].abs())).unwrap_or(3);
        let [a, b, c] = without(q, largest).map(|v| (((v + ANY_RANGE) / step).round() as u16).min(ANY_LARGEST as u16));
        [a | ((largest as u16 & 1) << 15), b | ((largest as u16 >> 1) << 15), c]
    };
    (track, values.iter().map(key).collect())
}

/// The other three components of a quaternion with its sign chosen so that `dropped` is positive.
pub fn without(q: &[f32; 4], dropped: usize) -> [f32; 3] {
    let sign = if q[dropped] < 0.0 { -1.0 } else { 1.0 };
    std::array::from_fn(|i| sign * q[if i < dropped { i } else { i + 1 }])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rotations about x, with rounding errors in y and z.
    #[test]
    fn what_rounding_leaves_of_zero_is_zero() {
        let frames = [0.1f32, 0.2, 0.3].map(|angle| [angle.sin(), 1e-20 * angle, -1e-21, angle.cos()]);
        let (track, numbers) = rotations(0, &frames);
        assert_eq!((track.low[1..].to_vec(), track.step[1..].to_vec()), (vec![0.0; 2], vec![0.0; 2]));
        assert!(track.low[0] > 0.09 && numbers.iter().all(|n| n[1..] == [0, 0]));
    }
}
