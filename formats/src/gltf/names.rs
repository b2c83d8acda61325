//! Words and numbers of the specification, which the exporter writes and the importer looks for.

use skinbench_kernels::model::{Handedness, Interpolation, Wrap};

/// The type of accessors whose elements have so many numbers.
pub fn shape(width: usize) -> &'static str {
    ["SCALAR", "VEC2", "VEC3", "VEC4"]
        .get(width - 1)
        .unwrap_or(&"MAT4")
}

/// The interpolation of a sampler. The exporter writes squad as linear keys.
pub fn interpolation(interpolation: Interpolation) -> &'static str {
    match interpolation {
        Interpolation::Step => "STEP",
        Interpolation::Linear | Interpolation::Squad => "LINEAR",
        Interpolation::CubicSpline => "CUBICSPLINE",
    }
}

/// The wrapping mode of a texture's sampler.
pub fn wrap(wrap: Wrap) -> u32 {
    match wrap {
        Wrap::Repeat => 10497,
        Wrap::Mirror => 33648,
        Wrap::Clamp => 33071,
    }
}

/// The handedness in the notes about an asset.
pub fn handedness(handedness: Handedness) -> &'static str {
    match handedness {
        Handedness::Right => "right",
        Handedness::Left => "left",
    }
}
