//! Memory for the local poses that the device samples.

use crate::crowd::{Crowd, Fade, Group, UpdateRate};

/// Bytes of a joint's local pose on the device: rotation, translation and scale with four numbers each.
pub const LOCAL_BYTES: u64 = 48;

/// Number of slots (sampled poses) of an instance: one per layer, and two more for each layer up to the one that fades
/// inertially. An instance that is not posed at every tick has twice these and one more, which comes first and holds
/// the pose that it shows.
pub fn slots(crowd: &Crowd, instance: u32) -> u32 {
    let layers = crowd.layers().of(instance as usize);
    let inertial = layers.iter().position(|l| l.fade == Fade::Inertial);
    let once = (layers.len() + inertial.map_or(0, |layer| 2 * (layer + 1))) as u32;
    if crowd.update_rate(instance) == UpdateRate::PLAIN { once } else { 1 + 2 * once }
}

/// Bytes of the local poses of the instance of a group with the most slots.
pub fn pose_bytes(crowd: &Crowd, group: &Group) -> u64 {
    let most = group.instances.clone().map(|instance| slots(crowd, instance)).max().unwrap_or(0);
    u64::from(most) * group.model.skeleton().len() as u64 * LOCAL_BYTES
}
