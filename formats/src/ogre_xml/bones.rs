//! Bones of a skeleton, and their bind poses.

use super::pose::Pose;
use super::xml::Element;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{Joint, Transform};
use std::collections::HashMap;

/// Bones in the order of the file.
#[derive(Default)]
pub struct Bones {
    /// The joint of each bone, at rest in its bind pose.
    pub joints: Vec<Joint>,
    pub binds: Vec<Pose>,
    by_name: HashMap<String, usize>,
    /// The index of each bone by its ID.
    pub by_id: HashMap<u32, u16>,
}

impl Bones {
    /// Reads the bones of a skeleton and their hierarchy.
    pub fn read(root: Element) -> Result<Self> {
        let mut bones = Self::default();
        for element in root.items("bones", "bone") {
            bones.push(element)?;
        }
        for element in root.items("bonehierarchy", "boneparent") {
            let child = bones.named(element, "bone")?;
            let parent = bones.named(element, "parent")?;
            let other = bones.joints[child].parent.replace(parent);
            ensure!(
                other.is_none(),
                element.at(),
                "a second parent for the bone; expected one"
            );
        }
        Ok(bones)
    }

    /// The bone whose name is in an attribute.
    pub fn named(&self, element: Element, attribute: &str) -> Result<usize> {
        let name = element.required(attribute)?;
        match self.by_name.get(&*name) {
            Some(bone) => Ok(*bone),
            None => bail!(
                element.at(),
                "{attribute}={name:?}; expected the name of a bone"
            ),
        }
    }

    fn push(&mut self, element: Element) -> Result<()> {
        let id = element.integer("id")?;
        let name = element.required("name")?;
        let bind = Pose::read(element, ["position", "rotation", "scale"])?;
        let index = self.joints.len();
        // The store refuses more joints than u16 can count.
        let other = self.by_id.insert(id, index as u16);
        ensure!(
            other.is_none(),
            element.at(),
            "a second bone with id {id}; expected ids to be unique"
        );
        let other = self.by_name.insert(name.clone().into(), index);
        ensure!(
            other.is_none(),
            element.at(),
            "a second bone named {name:?}; expected names to be unique"
        );
        let rest = Transform {
            rotation: bind.rotation.as_quat(),
            translation: bind.translation.as_vec3(),
            scale: bind.scale.as_vec3(),
        };
        self.joints.push(Joint::new(name, None, rest));
        self.binds.push(bind);
        Ok(())
    }
}
