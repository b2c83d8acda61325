//! Allowed differences between a backend's vertices and those of the plain reference.

/// Stated error of a backend that approximates, beyond rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Approximation {
    /// Largest error of poses that are compared with the reference: of a quaternion's numbers, of a scale, and of a
    /// distance over the diagonal of the model's bounds.
    pub pose: f64,
    /// Largest distance of a vertex, over the diagonal of the model's bounds.
    pub position: f64,
    /// Largest angle of normals and tangents, in radians.
    pub normal: f64,
    /// Largest distance of a joint's end, over the skeleton's size; `None` if poses are exact, which are then compared
    /// with the reference as well as vertices are.
    pub clip_error: Option<f64>,
}
