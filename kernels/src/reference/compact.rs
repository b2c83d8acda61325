//! Sampling of compact clips, by the definition in docs/animation.md.

use super::local_pose::LocalPose;
use crate::model::compact::{ANY, Compact, CompactTrack};
use crate::model::{Channel, sphere};
use glam::{DQuat, DVec3, DVec4};

pub(super) fn sample(compact: &Compact, time: f64, local: &mut [LocalPose]) {
    for still in &compact.still {
        set(&mut local[usize::from(still.joint)], still.channel, DVec4::from_array(still.value.map(f64::from)));
    }
    let last = (compact.frames - 1) as usize;
    let since = time - f64::from(compact.start);
    let place = if last == 0 { 0.0 } else { (since / f64::from(compact.interval)).clamp(0.0, last as f64) };
    let before = (place.floor() as usize).min(last);
    let after = (before + 1).min(last);
    let mut first_bit = 0;
    for track in &compact.tracks {
        let key = |frame: usize| decoded(track, Bits { of: &compact.numbers[frame * compact.row..], next: first_bit });
        let (a, b) = (key(before), key(after));
        let fraction = place - before as f64;
        let value = match track.channel {
            Channel::Rotation => sphere(a, if a.dot(b) < 0.0 { -b } else { b }, fraction),
            _ => a.lerp(b, fraction),
        };
        set(&mut local[usize::from(track.joint)], track.channel, value);
        first_bit += track.bits.iter().map(|bits| usize::from(*bits)).sum::<usize>();
        first_bit += if track.dropped == ANY { 2 } else { 0 };
    }
}

/// Numbers as bits, lowest first.
struct Bits<'a> {
    of: &'a [u8],
    next: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: u8) -> u32 {
        (0..count).fold(0, |number, digit| {
            let bit = self.of[self.next / 8] >> (self.next % 8) & 1;
            self.next += 1;
            number | u32::from(bit) << digit
        })
    }
}

fn set(joint: &mut LocalPose, channel: Channel, value: DVec4) {
    match channel {
        Channel::Rotation => joint.rotation = DQuat::from_vec4(value.normalize()),
        Channel::Translation => joint.translation = value.truncate(),
        Channel::Scale => joint.scale = value.truncate(),
    }
}

fn decoded(track: &CompactTrack, mut bits: Bits) -> DVec4 {
    let unit = 2f64.powi(i32::from(track.exponent) - 15);
    let v = DVec3::from_array([0, 1, 2].map(|c| {
        let (low, extent) = (f64::from(track.low[c]), f64::from(track.extent[c]));
        let most = f64::from((1u32 << track.bits[c]) - 1);
        let number = f64::from(bits.take(track.bits[c]));
        unit * (low + if most == 0.0 { extent / 65_536.0 } else { extent * number / most })
    }));
    if track.channel != Channel::Rotation {
        return v.extend(0.0);
    }
    let dropped = if track.dropped == ANY { bits.take(2) } else { track.dropped.into() };
    let w = (1.0 - v.length_squared()).max(0.0).sqrt();
    match dropped {
        0 => DVec4::new(w, v.x, v.y, v.z),
        1 => DVec4::new(v.x, w, v.y, v.z),
        2 => DVec4::new(v.x, v.y, w, v.z),
        _ => DVec4::new(v.x, v.y, v.z, w),
    }
}
