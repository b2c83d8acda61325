//! Tracks of a joint from keys that set several channels at once.

use skinbench_kernels::model::{Channel, Keys};

/// A joint's tracks. A key without a value for a channel does not count for that channel, and a channel without keys
/// keeps the rest pose.
pub struct Tracks([Keys; 3]);

impl Tracks {
    pub fn new(joint: u16) -> Self {
        let channels = [Channel::Translation, Channel::Rotation, Channel::Scale];
        Self(channels.map(|channel| Keys::linear(joint, channel, Vec::new(), Vec::new())))
    }

    /// Adds a key.
    pub fn push(
        &mut self,
        time: f32,
        translation: Option<[f32; 3]>,
        rotation: Option<[f32; 4]>,
        scale: Option<[f32; 3]>,
    ) {
        let values = [
            translation.as_slice().as_flattened(),
            rotation.as_slice().as_flattened(),
            scale.as_slice().as_flattened(),
        ];
        for (keys, values) in self.0.iter_mut().zip(values) {
            if !values.is_empty() {
                keys.times.push(time);
                keys.values.extend(values);
            }
        }
    }

    /// The tracks that have keys.
    pub fn into_keys(self) -> Vec<Keys> {
        let mut keys = Vec::from(self.0);
        keys.retain(|keys| !keys.times.is_empty());
        keys
    }
}
