//! A builder of skeletons by hand.

use super::{Channel, Joint, Keys, Skeleton, Transform};
use crate::error::DataError;
use glam::{Quat, Vec3};
use std::collections::HashMap;

/// Builds a skeleton joint by joint, in any order, by names.
///
/// A joint is at its bind offset from its parent, in the parent's axes, with its bind orientation. Frames of an
/// animation add a translation to the offset and apply a further rotation.
///
/// An arm of three joints that bends at the second. The [crate's example](crate#example) skins a mesh with such a
/// skeleton.
///
/// ```
/// use glam::{Quat, Vec3};
/// use skinbench_kernels::error::DataError;
/// use skinbench_kernels::model::{Clip, Frame, RotationBlend, SkeletonBuilder};
/// use skinbench_kernels::pose;
/// use std::f32::consts::FRAC_PI_2;
///
/// let mut builder = SkeletonBuilder::new();
/// builder.joint("elbow", Some("shoulder"), Vec3::X);
/// builder.joint("hand", Some("elbow"), Vec3::X);
/// builder.joint("shoulder", None, Vec3::ZERO);
/// let arm = builder.build()?;
/// assert_eq!(arm.names(), ["shoulder", "elbow", "hand"]);
///
/// // Straight at 0 s, bent upwards at 1 s.
/// let bent = Frame { time: 1.0, rotation: Quat::from_rotation_z(FRAC_PI_2), ..Frame::REST };
/// let clip = Clip::new("bend", None, RotationBlend::Slerp, arm.keys("elbow", &[Frame::REST, bent])?)?;
///
/// let mut local_pose: Vec<pose::Local<1>> = vec![[[0.0]; 10]; 3];
/// let mut model_pose: Vec<pose::Affine<1>> = vec![[[0.0]; 12]; 3];
/// pose::one::sample(&arm, Some(&clip), 1.0, &mut local_pose);
/// pose::one::local_to_model(&arm, &local_pose, &mut model_pose);
///
/// // The hand, first 2 m along x, is now 1 m above the elbow: translations are in the fourth column.
/// let hand = model_pose[2];
/// let position = Vec3::new(hand[3][0], hand[7][0], hand[11][0]);
/// assert!(position.distance(Vec3::new(1.0, 1.0, 0.0)) < 1e-6);
/// # Ok::<(), DataError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SkeletonBuilder {
    joints: Vec<JointBuilder>,
}

/// A joint under construction.
#[derive(Debug, Clone)]
pub struct JointBuilder {
    name: String,
    parent: Option<String>,
    offset: Vec3,
    orientation: Quat,
}

impl JointBuilder {
    /// Sets the joint's rotation relative to its parent in the bind pose; identity by default.
    pub fn orientation(&mut self, orientation: Quat) -> &mut Self {
        self.orientation = orientation;
        self
    }

    fn refused(&self, index: usize, problem: String) -> DataError {
        DataError::new(format!("joint {index} {:?}", self.name), problem)
    }
}

/// Change of a joint's bind transform at one time of an animation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Seconds.
    pub time: f32,
    /// Added to the bind offset, in the parent's axes, metres.
    pub translation: Vec3,
    /// Rotation on top of the bind orientation.
    pub rotation: Quat,
}

impl Frame {
    /// The bind pose at 0 s.
    pub const REST: Self = Self {
        time: 0.0,
        translation: Vec3::ZERO,
        rotation: Quat::IDENTITY,
    };
}

impl SkeletonBuilder {
    /// A builder without joints.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a joint; its parent may follow later. `offset` is in the parent's axes, metres.
    pub fn joint(
        &mut self,
        name: impl Into<String>,
        parent: Option<&str>,
        offset: Vec3,
    ) -> &mut JointBuilder {
        let index = self.joints.len();
        self.joints.push(JointBuilder {
            name: name.into(),
            parent: parent.map(Into::into),
            offset,
            orientation: Quat::IDENTITY,
        });
        &mut self.joints[index]
    }

    /// The skeleton.
    ///
    /// # Errors
    /// A duplicate name, an unknown parent, no root or more than one, a cycle, or any error of [`Skeleton::new`].
    pub fn build(self) -> Result<Skeleton, DataError> {
        let mut by_name = HashMap::new();
        for (index, joint) in self.joints.iter().enumerate() {
            if let Some(other) = by_name.insert(joint.name.as_str(), index) {
                return Err(joint.refused(
                    index,
                    format!("joint {other} has the same name; expected names to be unique"),
                ));
            }
        }
        let mut root: Option<&JointBuilder> = None;
        let mut joints = Vec::with_capacity(self.joints.len());
        for (index, joint) in self.joints.iter().enumerate() {
            let mut parent_index = None;
            if let Some(parent) = &joint.parent {
                parent_index = by_name.get(parent.as_str()).copied();
                if parent_index.is_none() {
                    return Err(joint.refused(
                        index,
                        format!("its parent {parent:?} is not a joint; expected the name of one"),
                    ));
                }
            } else if let Some(first) = root.replace(joint) {
                return Err(joint.refused(
                    index,
                    format!("a second root beside {:?}; expected one", first.name),
                ));
            }
            let rest = Transform {
                rotation: joint.orientation,
                translation: joint.offset,
                scale: Vec3::ONE,
            };
            joints.push(Joint::new(&joint.name, parent_index, rest));
        }
        Ok(Skeleton::new(joints)?.0)
    }
}

impl Skeleton {
    /// A joint's frames as tracks of a clip: bind offset + translation, bind orientation * rotation.
    ///
    /// # Errors
    /// No joint of this name.
    pub fn keys(&self, name: &str, frames: &[Frame]) -> Result<Vec<Keys>, DataError> {
        let Some(joint) = self.names().iter().position(|n| n == name) else {
            return Err(DataError::new(
                format!("joint {name:?}"),
                "is not in the skeleton; expected the name of a joint",
            ));
        };
        let rest = self.rest()[joint];
        let mut times = Vec::with_capacity(frames.len());
        let mut translations = Vec::with_capacity(3 * frames.len());
        let mut rotations = Vec::with_capacity(4 * frames.len());
        for frame in frames {
            times.push(frame.time);
            translations.extend((rest.translation + frame.translation).to_array());
            rotations.extend((rest.rotation * frame.rotation).to_array());
        }
        let joint = joint as u16;
        Ok(vec![
            Keys::linear(joint, Channel::Translation, times.clone(), translations),
            Keys::linear(joint, Channel::Rotation, times, rotations),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(joints: &[(&str, Option<&str>)]) -> String {
        let mut builder = SkeletonBuilder::new();
        for (name, parent) in joints {
            builder.joint(*name, *parent, Vec3::ZERO);
        }
        builder.build().unwrap_err().to_string()
    }

    #[test]
    fn broken_hierarchies_are_refused() {
        assert_eq!(
            refused(&[("a", None), ("a", Some("a"))]),
            "joint 1 \"a\": joint 0 has the same name; expected names to be unique"
        );
        assert_eq!(
            refused(&[("a", None), ("b", None)]),
            "joint 1 \"b\": a second root beside \"a\"; expected one"
        );
        assert_eq!(
            refused(&[("a", Some("b"))]),
            "joint 0 \"a\": its parent \"b\" is not a joint; expected the name of one"
        );
        assert!(refused(&[("r", None), ("a", Some("b")), ("b", Some("a"))]).contains("is a cycle"));
        assert!(refused(&[("a", Some("a"))]).contains("is a cycle"));
        assert!(refused(&[]).contains("0 joints"));
    }

    #[test]
    fn frames_add_to_the_offset_and_turn_beyond_the_orientation() {
        let quarter = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
        let mut builder = SkeletonBuilder::new();
        builder
            .joint("tip", Some("root"), Vec3::X)
            .orientation(quarter);
        builder.joint("root", None, Vec3::Y);
        let built = builder.build().unwrap();
        let frame = Frame {
            time: 0.5,
            translation: Vec3::Z,
            rotation: quarter,
        };
        let keys = built.keys("tip", &[frame]).unwrap();
        assert_eq!((keys[0].joint, &keys[0].values), (1, &vec![1.0, 0.0, 1.0]));
        let half = Quat::from_slice(&keys[1].values);
        assert!(half.dot(Quat::from_rotation_z(std::f32::consts::PI)).abs() > 1.0 - 1e-6);
        assert!(built.keys("toe", &[]).is_err());
    }
}
