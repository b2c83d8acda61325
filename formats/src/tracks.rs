//! Tracks of a joint from keys that set several channels at once.

use skinbench_kernels::model::{Channel, Keys};

/// A joint's tracks. A key without a value for a channel does not count for that channel, and a channel without keys
/// keeps the rest pose.
pub(super) struct Tracks([Keys; 3]);

impl Tracks {
    pub(super) fn new(joint: u16) -> Self {
        let channels = [Channel::Translation, Channel::Rotation, Channel::Scale];
        Self(channels.map(|channel| Keys::linear(joint, channel, Vec::new(), Vec::new())))
    }

    /// Adds a key.
    pub(super) fn push(
        &mut self,
        time: f32,
        translation: Option<[f32; 3]>,
        rotation: Option<[f32; 4]>,
        scale: Option<[f32; 3]>,
    ) {
        let [translation, scale] =
            [&translation, &scale].map(|vector| vector.as_slice().as_flattened());
        for (keys, numbers) in
            self.0
                .iter_mut()
                .zip([translation, rotation.as_slice().as_flattened(), scale])
        {
            if !numbers.is_empty() {
                keys.times.push(time);
                keys.values.extend_from_slice(numbers);
            }
        }
    }

    /// The tracks that have keys.
    pub(super) fn into_keys(self) -> impl Iterator<Item = Keys> {
        self.0.into_iter().filter(|keys| !keys.times.is_empty())
    }
}
