//! Sampling of a clip's keys at a time: of raw ones by their definition, of compact ones as docs/animation.md has it.

use crate::model::compact::{ANY, Compact, CompactTrack};
use crate::model::{Channel, Clip, ClipKeys, sphere};
use glam::{DQuat, DVec3, DVec4};

/// A joint's local pose.
#[derive(Debug, Clone, Copy)]
pub struct LocalPose {
    /// Of length 1.
    pub rotation: DQuat,
    /// From the parent, in units of the model.
    pub translation: DVec3,
    /// Along the joint's axes.
    pub scale: DVec3,
}

impl LocalPose {
    /// No difference, as clips of differences have it.
    pub const NONE: Self = Self {
        rotation: DQuat::IDENTITY,
        translation: DVec3::ZERO,
        scale: DVec3::ONE,
    };

    /// Interpolates to another pose, along the shorter arc.
    pub fn lerp(self, other: Self, fraction: f64) -> Self {
        let rotation = DVec4::from(self.rotation);
        Self {
            rotation: DQuat::from_vec4(
                rotation
                    .lerp(towards(rotation, other.rotation.into()), fraction)
                    .normalize(),
            ),
            translation: self.translation.lerp(other.translation, fraction),
            scale: self.scale.lerp(other.scale, fraction),
        }
    }

    fn set(&mut self, channel: Channel, value: DVec4) {
        match channel {
            Channel::Rotation => self.rotation = DQuat::from_vec4(value.normalize()),
            Channel::Translation => self.translation = value.truncate(),
            Channel::Scale => self.scale = value.truncate(),
        }
    }
}

/// `q` or `-q` (the same rotation), whichever is in the hemisphere of `other`.
pub fn towards(other: DVec4, q: DVec4) -> DVec4 {
    if other.dot(q) < 0.0 { -q } else { q }
}

/// Overwrites the channels of a pose that a clip moves.
pub fn sample(clip: &Clip, time: f64, local: &mut [LocalPose]) {
    match clip.keys() {
        ClipKeys::Raw(raw) => {
            for track in raw.tracks() {
                local[usize::from(track.joint)]
                    .set(track.channel, raw.exact(track, clip.rotation_blend(), time));
            }
        }
        ClipKeys::Compact(compact) => sample_compact(compact, time, local),
    }
}

fn sample_compact(compact: &Compact, time: f64, local: &mut [LocalPose]) {
    for still in &compact.still {
        local[usize::from(still.joint)]
            .set(still.channel, DVec4::from_array(still.value.map(f64::from)));
    }
    let last = (compact.frames - 1) as usize;
    let since = time - f64::from(compact.start);
    let place = if last == 0 {
        0.0
    } else {
        (since / f64::from(compact.interval)).clamp(0.0, last as f64)
    };
    let before = (place.floor() as usize).min(last);
    let after = (before + 1).min(last);
    let fraction = place - before as f64;
    let mut bits_before = Bits::of_frame(compact, before);
    let mut bits_after = Bits::of_frame(compact, after);
    for tracks in compact.strips() {
        let keys_before = keys(tracks, &mut bits_before);
        let keys_after = keys(tracks, &mut bits_after);
        for ((track, before), after) in tracks.iter().zip(keys_before).zip(keys_after) {
            let a = decoded(track, before);
            let b = decoded(track, after);
            let value = match track.channel {
                Channel::Rotation => sphere(a, towards(a, b), fraction),
                _ => a.lerp(b, fraction),
            };
            local[usize::from(track.joint)].set(track.channel, value);
        }
    }
}

/// The bits of a frame, the lowest bit of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    /// Bits that have been read.
    read: usize,
}

impl<'a> Bits<'a> {
    fn of_frame(compact: &'a Compact, frame: usize) -> Self {
        Self {
            bytes: &compact.numbers[frame * compact.row..],
            read: 0,
        }
    }

    /// The next number of `count` bits, the lowest first.
    fn next(&mut self, count: u8) -> u32 {
        let mut number = 0;
        for digit in 0..count {
            let bit = self.bytes[self.read / 8] >> (self.read % 8) & 1;
            number |= u32::from(bit) << digit;
            self.read += 1;
        }
        number
    }
}

/// The numbers of neighbouring tracks' keys, and the components that the keys leave out, which are next in the bits of a
/// frame: the first numbers of all tracks come first.
fn keys(tracks: &[CompactTrack], bits: &mut Bits) -> Vec<[u32; 4]> {
    let mut keys = vec![[0; 4]; tracks.len()];
    for column in 0..4 {
        for (key, track) in keys.iter_mut().zip(tracks) {
            let choice = if track.dropped == ANY { 2 } else { 0 };
            let widths = [track.bits[0], track.bits[1], track.bits[2], choice];
            key[column] = bits.next(widths[column]);
        }
    }
    keys
}

/// The value of a track's key.
fn decoded(track: &CompactTrack, key: [u32; 4]) -> DVec4 {
    let unit = 2f64.powi(i32::from(track.exponent) - 15);
    let mut v = DVec3::ZERO;
    for c in 0..3 {
        let extent = f64::from(track.extent[c]);
        let most = f64::from((1u32 << track.bits[c]) - 1);
        let number = f64::from(key[c]);
        let above = if most == 0.0 {
            extent / 65_536.0
        } else {
            extent * number / most
        };
        v[c] = unit * (f64::from(track.low[c]) + above);
    }
    if track.channel != Channel::Rotation {
        return v.extend(0.0);
    }
    let dropped = if track.dropped == ANY {
        key[3]
    } else {
        track.dropped.into()
    };
    let w = (1.0 - v.length_squared()).max(0.0).sqrt();
    match dropped {
        0 => DVec4::new(w, v.x, v.y, v.z),
        1 => DVec4::new(v.x, w, v.y, v.z),
        2 => DVec4::new(v.x, v.y, w, v.z),
        _ => DVec4::new(v.x, v.y, v.z, w),
    }
}
