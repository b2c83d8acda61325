//! Joints in parent-first order, structure-of-arrays.

use super::{Rows, rows_to_affine};
use crate::error::{DataError, first_too_large};
use fieldwork::Fieldwork;
use glam::{DAffine3, Quat, Vec3};

/// Parent of a joint without one.
pub const NO_PARENT: u16 = u16::MAX;
/// Most joints of a skeleton, and most palette entries of a model.
pub const MAX_JOINTS: usize = 65_535;

/// Rotation, translation and scale to the parent: `parent_point = translation + rotation * (scale * point)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform {
    /// Unit quaternion, x y z w.
    pub rotation: Quat,
    /// In the parent's axes.
    pub translation: Vec3,
    /// Along the joint's own axes.
    pub scale: Vec3,
}

impl Transform {
    /// The identity.
    pub const IDENTITY: Self = Self {
        rotation: Quat::IDENTITY,
        translation: Vec3::ZERO,
        scale: Vec3::ONE,
    };

    /// Rotation x y z w, translation x y z, scale x y z.
    pub fn components(&self) -> [f32; 10] {
        let [x, y, z, w] = self.rotation.to_array();
        let [tx, ty, tz] = self.translation.to_array();
        let [sx, sy, sz] = self.scale.to_array();
        [x, y, z, w, tx, ty, tz, sx, sy, sz]
    }
}

/// Transform of a joint relative to its parent at rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JointTransform {
    /// Rotation, translation and scale, which clips can change.
    Transform(Transform),
    /// A fixed affine matrix, stored as is because shear has no rotation-and-scale form; clips cannot change it.
    Matrix(Rows),
}

impl JointTransform {
    /// The transform to the parent, in f64.
    pub fn to_affine(&self) -> DAffine3 {
        match self {
            Self::Matrix(rows) => rows_to_affine(rows),
            Self::Transform(transform) => {
                let mut rotation = transform.rotation.as_dquat();
                if rotation.length_squared() > 0.0 {
                    rotation = rotation.normalize();
                }
                DAffine3::from_scale_rotation_translation(
                    transform.scale.as_dvec3(),
                    rotation,
                    transform.translation.as_dvec3(),
                )
            }
        }
    }
}

/// A joint as an importer found it: in any order, with its parent's index.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Name in the file; need not be unique.
    pub name: String,
    /// Index of the parent in the same list.
    pub parent: Option<usize>,
    /// Rest transform to the parent.
    pub rest: JointTransform,
}

impl Joint {
    /// A joint that clips can move.
    pub fn new(name: impl Into<String>, parent: Option<usize>, rest: Transform) -> Self {
        Self {
            name: name.into(),
            parent,
            rest: JointTransform::Transform(rest),
        }
    }
}

/// Joints and every ancestor that moves them, each after its parent.
#[derive(Debug, Clone, PartialEq, Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct Skeleton {
    /// Names, one per joint.
    names: Vec<String>,
    /// Parents, one per joint, [`NO_PARENT`] at roots; always less than the joint's own index.
    parents: Vec<u16>,
    /// Rest transforms, one per joint; the identity for joints in [`Skeleton::matrices`].
    rest: Vec<Transform>,
    /// Joints whose transform to the parent is a fixed matrix, by rising joint index.
    matrices: Vec<(u16, Rows)>,
}

impl Skeleton {
    /// Sorts joints parent first (depth first, siblings in file order).
    ///
    /// Returns the skeleton and, for each joint of the input, its new index.
    ///
    /// # Errors
    /// No joint, more than [`MAX_JOINTS`], a parent out of range, a cycle, a number that is not finite, or a
    /// rotation of zero length.
    pub fn new(joints: Vec<Joint>) -> Result<(Self, Vec<u16>), DataError> {
        let count = joints.len();
        if !(1..=MAX_JOINTS).contains(&count) {
            return Err(DataError::new(
                "skeleton",
                format!("{count} joints; expected 1 to {MAX_JOINTS}"),
            ));
        }
        let mut children = vec![Vec::new(); count];
        let mut stack = Vec::new();
        for (index, joint) in joints.iter().enumerate() {
            match joint.parent {
                None => stack.push(index),
                Some(parent) if parent < count => children[parent].push(index),
                Some(parent) => {
                    let problem =
                        format!("parent {parent} is out of range; there are {count} joints");
                    return Err(DataError::new(place(index, joint), problem));
                }
            }
        }
        stack.reverse();
        let mut order = Vec::with_capacity(count);
        let mut new_index = vec![NO_PARENT; count];
        while let Some(index) = stack.pop() {
            new_index[index] = order.len() as u16;
            order.push(index);
            stack.extend(children[index].iter().rev());
        }
        if let Some(index) = new_index.iter().position(|&n| n == NO_PARENT) {
            let problem = "its chain of parents is a cycle; expected one that ends at a root";
            return Err(DataError::new(place(index, &joints[index]), problem));
        }
        let mut skeleton = Self {
            names: Vec::with_capacity(count),
            parents: Vec::with_capacity(count),
            rest: Vec::with_capacity(count),
            matrices: Vec::new(),
        };
        for &index in &order {
            let joint = &joints[index];
            let rest = checked(joint.rest)
                .map_err(|problem| DataError::new(place(index, joint), problem))?;
            if let JointTransform::Matrix(rows) = joint.rest {
                skeleton.matrices.push((skeleton.names.len() as u16, rows));
            }
            skeleton.names.push(joint.name.clone());
            skeleton
                .parents
                .push(joint.parent.map_or(NO_PARENT, |p| new_index[p]));
            skeleton.rest.push(rest);
        }
        Ok((skeleton, new_index))
    }

    /// Number of joints.
    pub fn len(&self) -> usize {
        self.parents.len()
    }
    /// Always `false`: a skeleton has at least one joint.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// A joint's transform to its parent at rest, as [`Joint::rest`].
    ///
    /// # Panics
    /// There is no such joint.
    pub fn rest_of(&self, joint: usize) -> JointTransform {
        match self
            .matrices
            .binary_search_by_key(&joint, |matrix| usize::from(matrix.0))
        {
            Ok(at) => JointTransform::Matrix(self.matrices[at].1),
            Err(_) => JointTransform::Transform(self.rest[joint]),
        }
    }

    /// Joint to model space at rest, in f64.
    pub fn rest_model_pose(&self) -> Vec<DAffine3> {
        let mut pose: Vec<DAffine3> = Vec::with_capacity(self.len());
        for (joint, &parent) in self.parents.iter().enumerate() {
            let local = self.rest_of(joint).to_affine();
            pose.push(match parent {
                NO_PARENT => local,
                parent => pose[usize::from(parent)] * local,
            });
        }
        pose
    }
}

fn place(index: usize, joint: &Joint) -> String {
    format!("joint {index} {:?}", joint.name)
}

/// The transform with a unit quaternion; the identity for a matrix.
fn checked(rest: JointTransform) -> Result<Transform, String> {
    let transform = match rest {
        JointTransform::Transform(transform) => transform,
        JointTransform::Matrix(rows) => {
            return match first_too_large(&[rows]) {
                Some(found) => Err(format!("its matrix holds {found}")),
                None => Ok(Transform::IDENTITY),
            };
        }
    };
    if let Some(found) = first_too_large(&[transform.components()]) {
        return Err(format!("its rest transform holds {found}"));
    }
    let rotation = transform.rotation.as_dquat();
    if rotation.length() < 1e-6 {
        return Err("its rest rotation has zero length; expected a unit quaternion".into());
    }
    Ok(Transform {
        rotation: rotation.normalize().as_quat(),
        ..transform
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joint(name: &str, parent: Option<usize>) -> Joint {
        Joint {
            name: name.into(),
            parent,
            rest: JointTransform::Transform(Transform::IDENTITY),
        }
    }

    #[test]
    fn children_before_parents_are_sorted() {
        let (skeleton, new_index) = Skeleton::new(vec![
            joint("hand", Some(1)),
            joint("arm", Some(2)),
            joint("root", None),
            joint("leg", Some(2)),
        ])
        .unwrap();
        assert_eq!(skeleton.names(), ["root", "arm", "hand", "leg"]);
        assert_eq!(skeleton.parents(), [NO_PARENT, 0, 1, 0]);
        assert_eq!(new_index, [2, 1, 0, 3]);
    }

    #[test]
    fn a_cycle_names_a_joint_of_it() {
        let error = Skeleton::new(vec![
            joint("root", None),
            joint("a", Some(2)),
            joint("b", Some(1)),
        ])
        .unwrap_err();
        assert_eq!(error.place, "joint 1 \"a\"");
        assert!(error.problem.contains("cycle"), "{error}");
    }

    #[test]
    fn bad_joints_are_refused() {
        assert!(Skeleton::new(vec![]).is_err());
        assert!(
            Skeleton::new(vec![joint("a", Some(7))])
                .unwrap_err()
                .problem
                .contains("out of range")
        );
        let nan = Transform {
            translation: Vec3::NAN,
            ..Transform::IDENTITY
        };
        assert!(
            Skeleton::new(vec![Joint {
                name: "a".into(),
                parent: None,
                rest: JointTransform::Transform(nan)
            }])
            .is_err()
        );
        let zero = Transform {
            rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
            ..Transform::IDENTITY
        };
        assert!(
            Skeleton::new(vec![Joint {
                name: "a".into(),
                parent: None,
                rest: JointTransform::Transform(zero)
            }])
            .is_err()
        );
        assert!(Skeleton::new(vec![joint("a", None); MAX_JOINTS]).is_ok());
        assert!(Skeleton::new(vec![joint("a", None); MAX_JOINTS + 1]).is_err());
    }
}
