//! A joint's local pose in f64, and the arc between rotations.

use glam::{DQuat, DVec3, DVec4};

/// A joint's local pose.
#[derive(Debug, Clone, Copy)]
pub(in crate::harness) struct LocalPose {
    pub rotation: DQuat,
    pub translation: DVec3,
    pub scale: DVec3,
}

/// Interpolates along the great circle from one unit quaternion to another, without changing signs.
pub(super) fn sphere(a: DVec4, b: DVec4, t: f64) -> DVec4 {
    let angle = 2.0 * (a - b).length().atan2((a + b).length());
    let share = |part: f64| if angle < 1e-9 { part } else { (part * angle).sin() / angle.sin() };
    (a * share(1.0 - t) + b * share(t)).normalize()
}
