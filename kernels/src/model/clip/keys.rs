//! Keys of a track: channel, interpolation, times and values.

/// A part of a joint's transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// Unit quaternion x y z w.
    Rotation,
    /// Metres (or the file's unit), in the parent's axes.
    Translation,
    /// Along the joint's own axes.
    Scale,
}

impl Channel {
    /// Numbers in a value.
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
    /// Straight line; rotations as the clip's [`RotationBlend`] says.
    Linear,
    /// Hermite spline with an in- and an out-tangent a key, as glTF 2.0 appendix C has it.
    CubicSpline,
    /// Shoemake's spherical cubic between rotations, with a control point a key: [`super::Clip::smoothed`] makes them.
    Squad,
}

impl Interpolation {
    /// Values that a key has.
    pub fn values_per_key(self) -> usize {
        match self {
            Self::Step | Self::Linear => 1,
            Self::CubicSpline => 3,
            Self::Squad => 2,
        }
    }

    /// Index of the value among a key's values that the curve passes through.
    pub fn value_of_key(self) -> usize {
        usize::from(self == Self::CubicSpline)
    }

    /// Angles that an interval of a rotation track has in [`super::RawKeys::angles`].
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
    /// Spherical along the arc as authored (no flip), falling to [`RotationBlend::Nlerp`]'s formula where |cos| >= 0.95.
    AuthoredPath,
}

/// A track as an importer found it.
#[derive(Debug, Clone, PartialEq)]
pub struct Keys {
    /// Joint of the skeleton.
    pub joint: u16,
    /// Driven channel.
    pub channel: Channel,
    /// Between keys.
    pub interpolation: Interpolation,
    /// Seconds, rising.
    pub times: Vec<f32>,
    /// [`Channel::width`] numbers a value, [`Interpolation::values_per_key`] values a key: for cubic splines in-tangent,
    /// value, out-tangent, for squad value and control point.
    pub values: Vec<f32>,
}
