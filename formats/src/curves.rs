//! Formulas that the built-in models share; with libm, because the standard library's sine differs between platforms.

use glam::{DQuat, DVec3};

/// A rotation by an angle in radians about a unit axis.
pub(super) fn rotation(axis: DVec3, angle: f64) -> DQuat {
    let (sin, cos) = libm::sincos(angle * 0.5);
    let v = axis * sin;
    DQuat::from_xyzw(v.x, v.y, v.z, cos)
}

/// Rises smoothly from 0 at 0 to 1 at 1; constant beyond.
pub(super) fn smooth_step(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
