//! A joint's local pose in f64.

use glam::{DQuat, DVec3};

/// A joint's local pose.
#[derive(Debug, Clone, Copy)]
pub(in crate::harness) struct LocalPose {
    pub rotation: DQuat,
    pub translation: DVec3,
    pub scale: DVec3,
}
