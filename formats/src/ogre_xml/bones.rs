//! Bones of a skeleton, and their bind poses.

use super::pose::Pose;
use super::xml::Element;
use crate::fault::{Fault, ensure};
use skinbench_kernels::model::{Joint, Transform};
use std::collections::HashMap;

/// Bones in the order of the file.
#[derive(Default)]
pub(super) struct Bones {
    /// The joint of each bone, at rest in its bind pose.
    pub(super) joints: Vec<Joint>,
    pub(super) binds: Vec<Pose>,
    by_name: HashMap<String, usize>,
    /// The index of each bone by its ID.
    pub(super) by_id: HashMap<u32, u16>,
}

impl Bones {
    /// Reads the bones of a skeleton and their hierarchy.
    pub(super) fn read(root: Element) -> Result<Self, Fault> {
        let mut bones = Self::default();
        for element in root.inside("bones") {
            bones.push(element)?;
        }
        for element in root.inside("bonehierarchy") {
            let child = bones.named(element, "bone")?;
            let parent = bones.named(element, "parent")?;
            let other = bones.joints[child].parent.replace(parent);
            ensure(other.is_none(), || {
                element.fault("a second parent for the bone; expected one")
            })?;
        }
        Ok(bones)
    }

    /// The bone whose name is in an attribute.
    pub(super) fn named(&self, element: Element, attribute: &str) -> Result<usize, Fault> {
        let name = element.required(attribute)?;
        let known = self.by_name.get(&*name).copied();
        known.ok_or_else(|| {
            element.fault(format!("{attribute}={name:?}; expected the name of a bone"))
        })
    }

    /// Adds the bone of an element.
    fn push(&mut self, element: Element) -> Result<(), Fault> {
        let id = element.integer("id")?;
        let name = element.required("name")?;
        let bind = Pose::read(element, ["position", "rotation", "scale"])?;
        // The store refuses more joints than u16 can count.
        ensure(
            self.by_id.insert(id, self.joints.len() as u16).is_none(),
            || {
                element.fault(format!(
                    "a second bone with id {id}; expected ids to be unique"
                ))
            },
        )?;
        ensure(
            self.by_name
                .insert(name.clone().into(), self.joints.len())
                .is_none(),
            || {
                element.fault(format!(
                    "a second bone named {name:?}; expected names to be unique"
                ))
            },
        )?;
        let Pose {
            translation,
            rotation,
            scale,
            ..
        } = bind;
        let rest = Transform {
            rotation: rotation.as_quat(),
            translation: translation.as_vec3(),
            scale: scale.as_vec3(),
        };
        self.joints.push(Joint::new(name, None, rest));
        self.binds.push(bind);
        Ok(())
    }
}
