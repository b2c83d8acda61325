//! Skins: lists of joints with their inverse bind matrices.

use super::affine::{Rows, affine_to_rows};
use super::skeleton::Skeleton;
use crate::error::{DataError, ensure, first_too_large};
use std::ops::Range;

/// A mesh's own list of joints with their inverse binds: a range of the model's palette entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skin {
    /// Name in the file, possibly empty.
    pub name: String,
    /// This skin's entries of [`palette_joints`](super::Model::palette_joints) and
    /// [`inverse_binds`](super::Model::inverse_binds).
    pub entries: Range<u32>,
}

/// A skin as an importer found it.
#[derive(Debug, Clone, PartialEq)]
pub struct SkinData {
    /// Name in the file, possibly empty.
    pub name: String,
    /// Joints of the skeleton, in the order in which vertices refer to them.
    pub joints: Vec<u16>,
    /// Maps mesh space to joint space at bind, one for each of `joints`.
    pub inverse_binds: Vec<Rows>,
}

impl SkinData {
    /// Describes the first fault for a skeleton of `count` joints.
    pub(super) fn check(&self, count: usize) -> Result<(), String> {
        let joints = self.joints.len();
        let binds = self.inverse_binds.len();
        ensure!(
            joints > 0 && joints == binds,
            "{joints} joints and {binds} inverse binds; expected the same number of each, at least one"
        );
        for joint in &self.joints {
            ensure!(
                usize::from(*joint) < count,
                "joint {joint} is out of range; the skeleton has {count}"
            );
        }
        match first_too_large(&self.inverse_binds) {
            Some(found) => Err(format!("inverse bind {} holds {found}", found.item)),
            None => Ok(()),
        }
    }

    /// A skin of these joints for a mesh that was modelled around the rest pose.
    ///
    /// # Errors
    /// A joint whose pose has no inverse, because a scale is 0.
    ///
    /// # Panics
    /// A joint that the skeleton lacks.
    pub fn at_rest(skeleton: &Skeleton, joints: Vec<u16>) -> Result<Self, DataError> {
        let pose = skeleton.rest_model_pose();
        let mut inverse_binds = Vec::with_capacity(joints.len());
        for &joint in &joints {
            let inverse = pose[usize::from(joint)].inverse();
            if !inverse.is_finite() {
                return Err(DataError::new(
                    format!("joint {joint} {:?}", skeleton.names()[usize::from(joint)]),
                    "its scale has no inverse; expected one that is not 0",
                ));
            }
            inverse_binds.push(affine_to_rows(&inverse));
        }
        Ok(Self {
            name: String::new(),
            joints,
            inverse_binds,
        })
    }
}
