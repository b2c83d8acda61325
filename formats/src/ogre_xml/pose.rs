//! Transforms of bones and of keys.

use super::xml::Element;
use glam::{DQuat, DVec3};
use skinbench_kernels::error::Result;

/// The transform of a bone, with parts of the identity where the file gives none.
#[derive(Clone, Copy, PartialEq)]
pub struct Pose {
    pub translation: DVec3,
    pub rotation: DQuat,
    pub scale: DVec3,
    /// Which of the three the file gives.
    pub given: [bool; 3],
}

impl Pose {
    /// Reads the elements with the names of translation, rotation and scale.
    pub fn read(element: Element, names: [&'static str; 3]) -> Result<Self> {
        let [translation, rotation, scale] = names.map(|name| element.first(name));
        Ok(Self {
            given: [translation.is_some(), rotation.is_some(), scale.is_some()],
            translation: translation.map_or(Ok(DVec3::ZERO), vector)?,
            rotation: rotation.map_or(Ok(DQuat::IDENTITY), self::rotation)?,
            scale: scale.map_or(Ok(DVec3::ONE), self::scale)?,
        })
    }

    /// The pose between this one, at `t` = 0, and another, at 1: linear, and normalised for rotations.
    pub fn towards(&self, other: &Self, t: f64) -> Self {
        let mut nearer = other.rotation;
        if self.rotation.dot(nearer) < 0.0 {
            nearer = -nearer;
        }
        Self {
            translation: self.translation.lerp(other.translation, t),
            rotation: (self.rotation * (1.0 - t) + nearer * t).normalize(),
            scale: self.scale.lerp(other.scale, t),
            given: self.given_with(other),
        }
    }

    /// This pose relative to another, by OGRE's formulae (`NodeAnimationTrack::_applyBaseKeyFrame`): translation minus
    /// that of the base, the inverse rotation of the base times the rotation, and scale over that of the base.
    pub fn relative_to(&self, base: &Self) -> Self {
        Self {
            translation: self.translation - base.translation,
            rotation: base.rotation.inverse() * self.rotation,
            scale: self.scale / base.scale,
            given: self.given_with(base),
        }
    }

    fn given_with(&self, other: &Self) -> [bool; 3] {
        std::array::from_fn(|channel| self.given[channel] || other.given[channel])
    }
}

/// Reads an angle in radians and the axis inside the element.
fn rotation(element: Element) -> Result<DQuat> {
    let angle = element.number("angle")?;
    let axis = element.first("axis").map_or(Ok(DVec3::ZERO), vector)?;
    match axis.try_normalize() {
        Some(axis) => Ok(DQuat::from_axis_angle(axis, angle.into())),
        None if angle == 0.0 => Ok(DQuat::IDENTITY),
        None => bail!(
            element.at(),
            "an axis of zero length; expected one to rotate about"
        ),
    }
}

/// Reads a scale per axis, or one factor for all.
fn scale(element: Element) -> Result<DVec3> {
    match element.text("factor")? {
        Some(_) => Ok(DVec3::splat(element.number("factor")?.into())),
        None => vector(element),
    }
}

fn vector(element: Element) -> Result<DVec3> {
    Ok(DVec3::from(element.vector()?.map(f64::from)))
}
