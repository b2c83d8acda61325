//! A joint's local pose in f64.

use glam::{DQuat, DVec3};

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
