//! Clips in frames of small numbers at a uniform rate: each component of a channel has as many bits as its error needs.
//! Channels that never change are stored once.

use super::keys::Channel;
use crate::error::{DataError, first_too_large};
use glam::Vec4;
use std::sync::Arc;

/// Neighbouring joints whose numbers lie together in a frame, because kernels decode them together.
pub const STRIP: usize = 16;
/// [`CompactTrack::dropped`] of rotations whose largest component changes: each key says which component it leaves out.
pub const ANY: u8 = 4;
/// Bits of a component at most; one less if each key says which one it leaves out.
const MOST_BITS: u8 = 16;
/// Bits of a key of [`ANY`] rotations that say which component it leaves out.
const CHOICE_BITS: u8 = 2;
/// Bytes after the last frame, so that this many can be read from any byte of a frame.
pub(crate) const SPARE: usize = 16;
/// Numbers closer to zero count as zero: the squares of rounding errors would be denormal, and slow.
const TINY: f32 = 1e-9;

/// A channel of a joint that changes: 20 bytes. Ranges are in fixed point, because a range rounded outwards costs no
/// accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactTrack {
    /// Joint of the skeleton.
    pub joint: u16,
    /// Driven channel.
    pub channel: Channel,
    /// Rotations: index of the component that is left out, positive and computed from the squares of the others; or
    /// [`ANY`] if two bits after a key's numbers hold the index.
    pub dropped: u8,
    /// Binary exponent of the unit of `low` and `extent`, which is `2^(exponent - 15)`.
    pub exponent: i8,
    /// Bits of a number, per component: 0 for a component that is constant.
    pub bits: [u8; 3],
    /// Value of the number 0, per component, in units. A constant component adds its extent in units of 2^-16.
    pub low: [i16; 3],
    /// Difference between the values of the largest number and of 0, per component, in units.
    pub extent: [u16; 3],
}

/// First bits, in a frame, of a key's three numbers and of the component that it leaves out.
pub type KeyPlace = [usize; 4];

/// One key of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactKey {
    /// One number per component; component `c` is `low[c] + numbers[c] * step[c]`.
    pub numbers: [u16; 3],
    /// Rotations: index of the component that is left out.
    pub dropped: u8,
}

/// Values that a track's numbers stand for, per component: `low + number * step`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decoder {
    /// Value of the number 0.
    pub low: [f32; 3],
    /// Value of one step; 0 for a constant component.
    pub step: [f32; 3],
}

impl Decoder {
    /// Decodes three numbers.
    #[inline]
    pub fn vector(&self, numbers: [u16; 3]) -> [f32; 3] {
        std::array::from_fn(|c| self.low[c] + f32::from(numbers[c]) * self.step[c])
    }
}

impl CompactTrack {
    /// The values of its numbers.
    #[inline]
    pub fn decoder(&self) -> Decoder {
        let unit = f32::from_bits(((i32::from(self.exponent) - 15 + 127) as u32) << 23);
        let extent = self.extent.map(|extent| f32::from(extent) * unit);
        let [fraction, inverse] =
            [0, 1].map(|table| self.bits.map(|bits| OF_BITS[usize::from(bits & 31)][table]));
        Decoder {
            low: std::array::from_fn(|c| f32::from(self.low[c]) * unit + extent[c] * fraction[c]),
            step: std::array::from_fn(|c| extent[c] * inverse[c]),
        }
    }

    /// Value of the largest number, per component.
    pub fn high(&self) -> [f32; 3] {
        self.decoder().vector(self.bits.map(largest))
    }

    /// Bits of a key's three numbers, and of the component that it leaves out.
    #[inline]
    pub fn widths(&self) -> [u8; 4] {
        let [x, y, z] = self.bits;
        let choice = if self.dropped == ANY { CHOICE_BITS } else { 0 };
        [x, y, z, choice]
    }

    /// Index of the joint's strip.
    pub fn strip(&self) -> usize {
        usize::from(self.joint) / STRIP
    }
}

/// The largest number of so many bits.
#[inline]
fn largest(bits: u8) -> u16 {
    ((1u32 << bits) - 1) as u16
}

/// For a number of bits: the part of a range that is added to `low`, and the part that is a step.
const OF_BITS: [[f32; 2]; 32] = {
    let mut parts = [[0.0; 2]; 32];
    parts[0] = [1.0 / 65_536.0, 0.0];
    let mut bits = 1;
    while bits <= MOST_BITS as usize {
        parts[bits] = [0.0, 1.0 / ((1u32 << bits) - 1) as f32];
        bits += 1;
    }
    parts
};

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
    /// Largest error that rounding may add to a component, as far as its bits allow.
    pub precision: f32,
}

impl Samples {
    /// The value in the middle of all others, and the largest distance from it.
    pub fn middle(&self) -> ([f32; 4], f32) {
        let first = Vec4::from(self.values[0]);
        let mut low = first;
        let mut high = first;
        let mut values = Vec::with_capacity(self.values.len());
        for value in &self.values {
            let mut value = Vec4::from(*value);
            // Take all rotations to one hemisphere.
            if self.channel == Channel::Rotation && value.dot(first) < 0.0 {
                value = -value;
            }
            low = low.min(value);
            high = high.max(value);
            values.push(value);
        }
        let mut middle = (low + high) / 2.0;
        if self.channel == Channel::Rotation {
            middle = middle.normalize_or(Vec4::W);
        }
        let mut swing = 0.0f32;
        for value in values {
            swing = swing.max(value.distance(middle));
        }
        (middle.to_array(), swing)
    }
}

/// The keys of a compact clip.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compact {
    /// Seconds at the first frame, which holds before that time.
    pub start: f32,
    /// Seconds from frame to frame; 0 for a single frame. The last frame holds after its time.
    pub interval: f32,
    /// Number of frames, at least one.
    pub frames: u32,
    /// Channels that change, by strip, then channel, then joint.
    pub tracks: Vec<CompactTrack>,
    /// Channels that do not.
    pub still: Vec<StillTrack>,
    /// Bytes of a frame.
    pub row: usize,
    /// `[frame][row]`, then a few spare bytes. Poses of a crowd share them.
    ///
    /// A frame has bits without gaps, lowest first. The tracks of a strip and channel lie together: the first numbers of
    /// all their keys, then all second and all third numbers, then the components that keys leave out.
    pub numbers: Arc<[u8]>,
    /// Error against the clip it was made from.
    pub error: ClipError,
}

impl Compact {
    /// The tracks that lie together in a frame: those of a strip and channel.
    pub fn strips(&self) -> impl Iterator<Item = &[CompactTrack]> {
        self.tracks
            .chunk_by(|a, b| a.strip() == b.strip() && a.channel == b.channel)
    }

    /// All tracks, each with the place of its keys.
    pub fn places(&self) -> impl Iterator<Item = (&CompactTrack, KeyPlace)> {
        let mut end = 0;
        self.strips().flat_map(move |tracks| {
            let mut next = [0; 4];
            for (column, first) in next.iter_mut().enumerate() {
                *first = end;
                for track in tracks {
                    end += usize::from(track.widths()[column]);
                }
            }
            tracks.iter().map(move |track| {
                let place = next;
                for (next, width) in next.iter_mut().zip(track.widths()) {
                    *next += usize::from(width);
                }
                (track, place)
            })
        })
    }

    /// The keys of a frame, each with its track.
    ///
    /// # Panics
    /// If there is no such frame.
    pub fn frame(&self, index: usize) -> impl Iterator<Item = (&CompactTrack, CompactKey)> {
        let row = &self.numbers[index * self.row..];
        self.places()
            .map(move |(track, place)| (track, Self::key(row, place, track)))
    }

    /// The key of a track at a place of a frame that begins with `row`.
    #[inline]
    pub(crate) fn key(row: &[u8], place: KeyPlace, track: &CompactTrack) -> CompactKey {
        let [x, y, z] = track.bits;
        CompactKey {
            numbers: [
                bits_at(row, place[0], x),
                bits_at(row, place[1], y),
                bits_at(row, place[2], z),
            ],
            dropped: if track.dropped == ANY {
                bits_at(row, place[3], CHOICE_BITS) as u8
            } else {
                track.dropped
            },
        }
    }

    /// The tracks and frames in the order that devices read and scenes hash.
    pub fn by_joint(&self) -> FramesByJoint {
        let mut places: Vec<_> = self.places().collect();
        places.sort_by_key(|(track, _)| (track.joint, track.channel));
        let row = row_bits(&self.tracks).div_ceil(32) * size_of::<u32>();
        let frames = self.frames as usize;
        let mut numbers = zeroed_frames(frames, row, size_of::<u64>());
        for frame in 0..frames {
            let from = &self.numbers[frame * self.row..];
            let mut bit = 8 * frame * row;
            for (track, place) in &places {
                for (place, width) in place.iter().zip(track.widths()) {
                    put_bits(&mut numbers, bit, bits_at(from, *place, width));
                    bit += usize::from(width);
                }
            }
        }
        FramesByJoint {
            tracks: places.into_iter().map(|(track, _)| *track).collect(),
            row,
            numbers,
        }
    }

    /// Bytes that the keys take in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.tracks[..])
            + size_of_val(&self.still[..])
            + size_of_val(&self.numbers[..])
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
    ) -> Result<Self, DataError> {
        let frames = channels.first().map_or(1, |samples| samples.values.len());
        let mut compact = Self {
            start,
            interval,
            frames: frames as u32,
            ..Self::default()
        };
        let mut moving = Vec::new();
        for samples in channels {
            let Samples {
                joint,
                channel,
                values,
                ..
            } = samples;
            if let Some(found) = first_too_large(values) {
                let place = format!("joint {joint}");
                return Err(DataError::new(place, format!("a pose with {found}")));
            }
            if values.iter().all(|value| same(*channel, value, &values[0])) {
                if !same(*channel, &values[0], &at_rest(*joint, *channel)) {
                    compact.still.push(StillTrack {
                        joint: *joint,
                        channel: *channel,
                        value: values[0],
                    });
                }
                continue;
            }
            moving.push(match channel {
                Channel::Rotation => rotations(samples),
                _ => ranged(
                    samples,
                    0,
                    values.iter().map(|v| [v[0], v[1], v[2]]).collect(),
                ),
            });
        }
        moving.sort_by_key(|(track, _)| (track.strip(), track.channel, track.joint));
        compact.tracks = moving.iter().map(|(track, _)| *track).collect();
        compact.row = row_bits(&compact.tracks).div_ceil(8);
        let mut numbers = zeroed_frames(frames, compact.row, SPARE);
        for ((track, place), (_, keys)) in compact.places().zip(&moving) {
            for (frame, key) in keys.iter().enumerate() {
                let [x, y, z] = key.numbers;
                let choice = if track.dropped == ANY { key.dropped } else { 0 };
                for (place, number) in place.iter().zip([x, y, z, choice.into()]) {
                    put_bits(&mut numbers, 8 * frame * compact.row + place, number);
                }
            }
        }
        compact.numbers = numbers.into();
        Ok(compact)
    }
}

/// Frames of a compact clip, their keys by joint, then channel: each key's numbers before the component that it leaves
/// out.
pub struct FramesByJoint {
    /// By joint, then channel.
    pub tracks: Vec<CompactTrack>,
    /// Bytes of a frame: whole words of 32 bits.
    pub row: usize,
    /// `[frame][row]`, then eight zeros.
    pub numbers: Vec<u8>,
}

/// Bits of a frame of these tracks.
fn row_bits(tracks: &[CompactTrack]) -> usize {
    tracks
        .iter()
        .flat_map(CompactTrack::widths)
        .map(usize::from)
        .sum()
}

/// Room for frames of `row` bytes and for `spare` more; nothing if frames are empty.
fn zeroed_frames(frames: usize, row: usize, spare: usize) -> Vec<u8> {
    vec![0; if row > 0 { frames * row + spare } else { 0 }]
}

/// `width` bits from a place on, at most 16.
#[inline]
fn bits_at(bytes: &[u8], place: usize, width: u8) -> u16 {
    let four = bytes[place / 8..]
        .first_chunk()
        .copied()
        .unwrap_or_default();
    (u32::from_le_bytes(four) >> (place % 8)) as u16 & largest(width)
}

/// Sets bits that are zero, from a place on, to those of a number.
fn put_bits(bytes: &mut [u8], place: usize, number: u16) {
    let bits = u32::from(number) << (place % 8);
    for (byte, bits) in bytes[place / 8..].iter_mut().zip(bits.to_le_bytes()) {
        *byte |= bits;
    }
}

/// Returns whether two values of a channel differ by no more than they round.
fn same(channel: Channel, a: &[f32; 4], b: &[f32; 4]) -> bool {
    let dot: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let sign = if channel == Channel::Rotation && dot < 0.0 {
        -1.0
    } else {
        1.0
    };
    a.iter()
        .zip(b)
        .all(|(a, b)| (a - sign * b).abs() <= 1e-6 * (1.0 + a.abs()))
}

/// Encodes three components of each sample over their range; `dropped` is that of the track.
fn ranged(
    samples: &Samples,
    dropped: u8,
    mut values: Vec<[f32; 3]>,
) -> (CompactTrack, Vec<CompactKey>) {
    let Samples {
        joint,
        channel,
        precision,
        ..
    } = *samples;
    let mut ranges = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
    for value in &mut values {
        for (v, [low, high]) in value.iter_mut().zip(&mut ranges) {
            *v = without_tiny(*v);
            *low = low.min(f64::from(*v));
            *high = high.max(f64::from(*v));
        }
    }
    let most = ranges
        .as_flattened()
        .iter()
        .fold(2f64.powi(-100), |most, v| most.max(v.abs()));
    // Both ends of a range, rounded outwards, are to fit 16 bits.
    let exponent = (most * 32_768.0 / 32_766.0).log2().ceil();
    let unit = (exponent - 15.0).exp2();
    let mut track = CompactTrack {
        joint,
        channel,
        dropped,
        exponent: exponent as i8,
        bits: [0; 3],
        low: [0; 3],
        extent: [0; 3],
    };
    let precision = f64::from(precision);
    // One bit less for any component, so that a vector's lane has room for a bit of the choice beside each number.
    let most_bits = if dropped == ANY {
        MOST_BITS - 1
    } else {
        MOST_BITS
    };
    for (c, [low, high]) in ranges.into_iter().enumerate() {
        if (high - low) / 2.0 <= precision {
            let fixed = ((low + high) / 2.0 / unit * 65_536.0).round() as i64;
            (track.low[c], track.extent[c]) = ((fixed >> 16) as i16, fixed as u16);
            continue;
        }
        let first = (low / unit).floor();
        let extent = (high / unit).ceil() - first;
        (track.low[c], track.extent[c]) = (first as i16, extent as u16);
        let mut bits = 1;
        while bits < most_bits && extent * unit / f64::from(largest(bits)) / 2.0 > precision {
            bits += 1;
        }
        track.bits[c] = bits;
    }
    let Decoder { low, step } = track.decoder();
    let mut keys = Vec::with_capacity(values.len());
    for value in values {
        let mut numbers = [0; 3];
        for (c, number) in numbers.iter_mut().enumerate() {
            if track.bits[c] > 0 {
                let highest = largest(track.bits[c]);
                *number = ((value[c] - low[c]) / step[c])
                    .round()
                    .clamp(0.0, highest.into()) as u16;
            }
        }
        keys.push(CompactKey { numbers, dropped });
    }
    (track, keys)
}

/// Zero in place of a rounding error.
pub fn without_tiny(value: f32) -> f32 {
    if value.abs() < TINY { 0.0 } else { value }
}

/// Encodes rotations by three of their four components. A component that stays well away from zero throughout is left
/// out of all keys; otherwise each key leaves out its largest.
fn rotations(samples: &Samples) -> (CompactTrack, Vec<CompactKey>) {
    let values = &samples.values;
    let mut least = [f32::INFINITY; 4];
    for q in values {
        for (least, v) in least.iter_mut().zip(q) {
            *least = least.min(v.abs());
        }
    }
    let dropped = largest_component(&least);
    if least[dropped] >= 0.4 {
        return ranged(
            samples,
            dropped as u8,
            values.iter().map(|q| without(q, dropped)).collect(),
        );
    }
    let others = values.iter().map(|q| without(q, largest_component(q)));
    let (track, mut keys) = ranged(samples, ANY, others.collect());
    for (key, q) in keys.iter_mut().zip(values) {
        key.dropped = largest_component(q) as u8;
    }
    (track, keys)
}

/// Index of the component of a quaternion that is largest without its sign.
pub fn largest_component(q: &[f32; 4]) -> usize {
    let mut largest = 0;
    for c in 1..4 {
        if q[c].abs() >= q[largest].abs() {
            largest = c;
        }
    }
    largest
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
        let frames =
            [0.1f32, 0.2, 0.3].map(|angle| [angle.sin(), 1e-20 * angle, -1e-21, angle.cos()]);
        let samples = Samples {
            joint: 0,
            channel: Channel::Rotation,
            values: frames.to_vec(),
            precision: 0.0,
        };
        let (track, keys) = rotations(&samples);
        let low = track.decoder().low;
        assert_eq!((track.bits, low[1..].to_vec()), ([16, 0, 0], vec![0.0; 2]));
        assert!(low[0] > 0.09 && keys.iter().all(|key| key.numbers[1..] == [0, 0]));
    }

    /// Channels of all kinds of widths, at places that begin within bytes.
    #[test]
    fn keys_are_read_as_they_were_written() {
        let wave = |joint: u16, frame: u16| (f32::from(joint * 7 + frame * 11) * 0.37).sin();
        let vectors = |joint: u16| {
            (0..9)
                .map(|f| [3.0 * wave(joint, f), 5.0, 1e-3 * wave(joint, f + 1), 0.0])
                .collect()
        };
        let turns = |joint: u16| {
            (0..9)
                .map(|f| {
                    Vec4::new(wave(joint, f), 0.3, wave(joint, f + 2), 0.1)
                        .normalize()
                        .to_array()
                })
                .collect()
        };
        let samples = (0..12u16).map(|joint| {
            let channel = if joint % 3 == 0 {
                Channel::Translation
            } else {
                Channel::Rotation
            };
            let values: Vec<[f32; 4]> = if joint % 3 == 0 {
                vectors(joint)
            } else {
                turns(joint)
            };
            Samples {
                joint,
                channel,
                values,
                precision: 0.3 * 0.25f32.powi(joint.into()),
            }
        });
        let mut samples: Vec<Samples> = samples.collect();
        let compact = Compact::encode(0.0, 0.1, &samples, |_, _| [0.0; 4]).unwrap();
        assert_eq!(compact.tracks.len(), 12);
        assert!(compact.tracks.iter().any(|track| track.dropped == ANY));
        // The order of tracks: these joints are of one strip.
        samples.sort_by_key(|samples| (samples.channel, samples.joint));
        for frame in 0..9 {
            for ((track, key), samples) in compact.frame(frame).zip(&samples) {
                let value = &samples.values[frame];
                let kept = match track.channel {
                    Channel::Rotation => without(value, key.dropped.into()),
                    _ => [value[0], value[1], value[2]],
                };
                for (c, (made, value)) in track
                    .decoder()
                    .vector(key.numbers)
                    .into_iter()
                    .zip(kept)
                    .enumerate()
                {
                    let allowed = samples.precision.max(5e-5) + 1e-6;
                    assert!(
                        (made - value).abs() <= allowed,
                        "{track:?}, frame {frame}, {c}: {made} for {value}"
                    );
                }
            }
        }
        let by_joint = compact.by_joint();
        let widths = |joint: usize| by_joint.tracks[joint].bits.iter().sum::<u8>();
        assert!(
            widths(1) < widths(4) && widths(4) < widths(7),
            "{:?}",
            by_joint.tracks
        );
        for frame in 0..9 {
            let mut keys: Vec<_> = compact.frame(frame).collect();
            keys.sort_by_key(|(track, _)| track.joint);
            let mut next = 8 * frame * by_joint.row;
            for (track, key) in keys {
                let mut place = [0; 4];
                for (place, width) in place.iter_mut().zip(track.widths()) {
                    *place = next;
                    next += usize::from(width);
                }
                assert_eq!(Compact::key(&by_joint.numbers, place, track), key);
            }
        }
    }
}
