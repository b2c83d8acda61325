//! Sampling of a clip's keys at a time.

use super::compact;
use super::local_pose::LocalPose;
use crate::model::{Channel, Clip, ClipKeys};
use glam::DQuat;

/// Overwrites the channels of a pose that a clip moves.
pub(super) fn sample(clip: &Clip, time: f64, local: &mut [LocalPose]) {
    let raw = match clip.keys() {
        ClipKeys::Raw(raw) => raw,
        ClipKeys::Compact(compact) => return compact::sample(compact, time, local),
    };
    for track in raw.tracks() {
        let joint = &mut local[usize::from(track.joint)];
        let value = raw.exact(track, clip.rotation_blend(), time);
        match track.channel {
            Channel::Rotation => joint.rotation = DQuat::from_vec4(value),
            Channel::Translation => joint.translation = value.truncate(),
            Channel::Scale => joint.scale = value.truncate(),
        }
    }
}
