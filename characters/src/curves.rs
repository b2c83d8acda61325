//! Formulas and checks that the built-in models share; with libm, because the standard library's sine differs between
//! platforms.

use glam::{DQuat, DVec3};
use skinbench_kernels::error::{DataError, Result};
use std::ops::RangeInclusive;

/// A rotation by an angle in radians about a unit axis.
pub fn rotation(axis: DVec3, angle: f64) -> DQuat {
    let v = axis * libm::sin(angle * 0.5);
    DQuat::from_xyzw(v.x, v.y, v.z, libm::cos(angle * 0.5))
}

/// Rises smoothly from 0 at 0 to 1 at 1; constant beyond.
pub fn smooth_step(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Vectors as a model stores them.
pub fn floats(vectors: impl Iterator<Item = DVec3>) -> Vec<[f32; 3]> {
    vectors.map(|v| v.as_vec3().to_array()).collect()
}

/// Refuses a number of vertices that a model cannot have.
pub fn check_vertices(model: &str, vertices: u32, accepted: &RangeInclusive<u32>) -> Result<()> {
    if !accepted.contains(&vertices) {
        let [least, most] = [accepted.start(), accepted.end()];
        let problem = format!("{vertices} vertices; expected {least} to {most}");
        return Err(DataError::new(model, problem));
    }
    Ok(())
}
