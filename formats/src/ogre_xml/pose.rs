//! Transforms of bones and of keys.

use super::xml::Element;
use crate::fault::Fault;
use glam::{DQuat, DVec3, Vec3};

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
    /// Reads the children with the names of translation, rotation and scale.
    pub fn read(element: Element, names: [&'static str; 3]) -> Result<Self, Fault> {
        let [translation, rotation, scale] = names.map(|name| element.named(name).last());
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
            given: std::array::from_fn(|i| self.given[i] || other.given[i]),
        }
    }
}

fn vector(element: Element) -> Result<DVec3, Fault> {
    Ok(Vec3::from_array(element.vector()?).as_dvec3())
}

/// Reads a scale per axis, or one factor for all.
fn scale(element: Element) -> Result<DVec3, Fault> {
    match element.text("factor")? {
        Some(_) => Ok(DVec3::splat(element.number("factor")?.into())),
        None => vector(element),
    }
}

/// Reads an angle in radians and the axis inside the element.
fn rotation(element: Element) -> Result<DQuat, Fault> {
    let angle = f64::from(element.number("angle")?);
    let axis = element.named("axis").last();
    let axis = axis.map_or(Ok(DVec3::ZERO), vector)?;
    match axis.try_normalize() {
        Some(axis) => Ok(DQuat::from_axis_angle(axis, angle)),
        None if angle == 0.0 => Ok(DQuat::IDENTITY),
        None => bail!(
            element.place(),
            "an axis of zero length; expected one to rotate about"
        ),
    }
}
