//! Sampling of compact clips, by the definition in docs/animation.md.

use super::local_pose::{LocalPose, sphere};
use crate::model::Channel;
use crate::model::compact::{ANY, ANY_RANGE, Compact, CompactTrack};
use glam::{DQuat, DVec3, DVec4, Vec3};

pub(super) fn sample(compact: &Compact, time: f64, local: &mut [LocalPose]) {
    for still in &compact.still {
        set(&mut local[usize::from(still.joint)], still.channel, DVec4::from_array(still.value.map(f64::from)));
    }
    let last = (compact.frames - 1) as usize;
    let since = time - f64::from(compact.start);
    let place = if last == 0 { 0.0 } else { (since / f64::from(compact.interval)).clamp(0.0, last as f64) };
    let before = (place.floor() as usize).min(last);
    let after = (before + 1).min(last);
    let width = 3 * compact.tracks.len();
    for (index, track) in compact.tracks.iter().enumerate() {
        let key = |frame: usize| {
            let at = frame * width + 3 * index;
            decoded(track, &compact.numbers[at..at + 3])
        };
        let (a, b) = (key(before), key(after));
        let fraction = place - before as f64;
        let value = match track.channel {
            Channel::Rotation => sphere(a, if a.dot(b) < 0.0 { -b } else { b }, fraction),
            _ => a.lerp(b, fraction),
        };
        set(&mut local[usize::from(track.joint)], track.channel, value);
    }
}

fn set(joint: &mut LocalPose, channel: Channel, value: DVec4) {
    match channel {
        Channel::Rotation => joint.rotation = DQuat::from_vec4(value.normalize()),
        Channel::Translation => joint.translation = value.truncate(),
        Channel::Scale => joint.scale = value.truncate(),
    }
}

fn decoded(track: &CompactTrack, numbers: &[u16]) -> DVec4 {
    let (low, step) = (Vec3::from(track.low).as_dvec3(), Vec3::from(track.step).as_dvec3());
    let [a, b, c] = [0, 1, 2].map(|i| numbers[i]);
    let vector = |a: u16, b: u16, c: u16| low + step * DVec3::new(a.into(), b.into(), c.into());
    if track.channel != Channel::Rotation {
        return vector(a, b, c).extend(0.0);
    }
    let (dropped, v) = if track.dropped == ANY {
        let v = vector(a % 32_768, b % 32_768, c % 32_768);
        debug_assert!(v.abs().max_element() <= 1.001 * f64::from(ANY_RANGE));
        (a / 32_768 + 2 * (b / 32_768), v)
    } else {
        (track.dropped.into(), vector(a, b, c))
    };
    let w = (1.0 - v.length_squared()).max(0.0).sqrt();
    match dropped {
        0 => DVec4::new(w, v.x, v.y, v.z),
        1 => DVec4::new(v.x, w, v.y, v.z),
        2 => DVec4::new(v.x, v.y, w, v.z),
        _ => DVec4::new(v.x, v.y, v.z, w),
    }
}
