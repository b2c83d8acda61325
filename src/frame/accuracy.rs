//! How a backend's vertices may differ from those of the plain reference.

/// How vertices follow several joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blending {
    /// A weighted sum of matrices.
    Linear,
    /// A weighted sum of dual quaternions (Kavan and others 2008): joints must not scale unevenly.
    DualQuaternion,
}

/// What a backend is off by to be faster, beyond rounding. It leaves vertices, but no poses, to be compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Approximation {
    /// What a vertex may be off by, over the diagonal of the model's bounds.
    pub position: f64,
    /// What normals and tangents may be off by, in radians.
    pub normal: f64,
    /// What joints' ends are off by at worst, over the skeleton's size.
    pub clip_error: f64,
}
