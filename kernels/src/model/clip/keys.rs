//! Keys of a track: channel, interpolation, times and values.

/// A part of a joint's transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// Unit quaternion x y z w.
    Rotation,
    /// Metres (or the unit of the file), in the parent's axes.
    Translation,
    /// Along the joint's own axes.
    Scale,
}

impl Channel {
    /// Numbers per value.
    pub fn width(self) -> usize {
        match self {
            Self::Rotation => 4,
            Self::Translation | Self::Scale => 3,
        }
    }
}

/// The curve between two keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The earlier key holds.
    Step,
    /// Linear; for rotations the clip's [`RotationBlend`].
    Linear,
    /// Hermite spline with an in-tangent and an out-tangent per key, as in glTF 2.0 appendix C.
    CubicSpline,
    /// Shoemake's spherical cubic between rotations, with one control point per key; made by [`super::Clip::smoothed`].
    Squad,
}

impl Interpolation {
    /// Values per key.
    pub fn values_per_key(self) -> usize {
        match self {
            Self::Step | Self::Linear => 1,
            Self::CubicSpline => 3,
            Self::Squad => 2,
        }
    }

    /// Index among a key's values of the one that the curve passes through.
    pub fn value_of_key(self) -> usize {
        usize::from(self == Self::CubicSpline)
    }

    /// Angles per interval of a rotation track in [`super::RawKeys::angles`].
    pub fn angles_per_interval(self) -> usize {
        match self {
            Self::Step | Self::CubicSpline => 0,
            Self::Linear => 1,
            Self::Squad => 2,
        }
    }
}

/// The path of a rotation between two linear keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RotationBlend {
    /// Spherical, along the shorter arc.
    Slerp,
    /// Component-wise along the shorter arc, then normalised.
    Nlerp,
    /// Spherical along the arc as authored (no flip); [`RotationBlend::Nlerp`]'s formula if |cos| >= 0.95.
    AuthoredPath,
}

/// A track as an importer found it.
#[derive(Debug, Clone, PartialEq)]
pub struct Keys {
    /// Joint of the skeleton.
    pub joint: u16,
    /// Driven channel.
    pub channel: Channel,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
    /// Seconds, rising.
    pub times: Vec<f32>,
    /// [`Channel::width`] numbers per value, [`Interpolation::values_per_key`] values per key: in-tangent, value and
    /// out-tangent for cubic splines, value and control point for squad.
    pub values: Vec<f32>,
}
