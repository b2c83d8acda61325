//! Importer of OgreXML: `.mesh.xml`, and the `.skeleton.xml` that it refers to.
//!
//! Right-handed, Y up. Keys are relative to the bind pose, and after its last key a track interpolates back to its
//! first, as in OGRE itself (articles about the format differ).

mod material;
mod mesh;
mod skeleton;
mod xml;

use super::budget::Budget;
use super::fault::Fault;
use super::textures::LeftOut;
use super::{ImportError, beside, matrices};
use crate::model::{Axes, Material, Model, ModelParts, Repair, SkinData, affine_to_rows};
use std::fs;
use std::path::{Path, PathBuf};
use xml::Xml;

pub(super) fn sniff(head: &[u8]) -> bool {
    super::read_file::contains(head, "<mesh>") || super::read_file::contains(head, "<mesh ")
}

/// Reads a mesh and its skeleton.
pub(super) fn import(file: &Path) -> Result<Model, ImportError> {
    let mut xml = Xml::open(file)?;
    let in_mesh = |fault: Fault| fault.in_file(file);
    let mesh = mesh::read(&mut xml).map_err(in_mesh)?;
    let skeleton_file = linked(file, &mesh.skeleton)?;
    let skeleton = skeleton::read(&mut Xml::open(&skeleton_file)?).map_err(|fault| fault.in_file(&skeleton_file))?;

    let size = |file: &Path| fs::metadata(file).map_or(0, |m| m.len());
    let budget = Budget::new(usize::try_from(size(file)).unwrap_or(usize::MAX));
    budget.grant(size(&skeleton_file));
    let entry_of = |bone| skeleton.index_of.get(&bone).copied();
    let geometries = mesh.geometries.into_iter();
    let primitives = geometries.map(|geometry| geometry.into_primitive(&xml, &budget, entry_of));
    let primitives = primitives.collect::<Result<_, _>>().map_err(in_mesh)?;

    let pose = skeleton.joints.rest_model_pose();
    let inverse = |&joint: &u16| matrices::inverse(&pose[usize::from(joint)]).map(|m| affine_to_rows(&m));
    let inverse_binds = skeleton.joint_of.iter().map(inverse).collect::<Option<_>>().ok_or_else(|| {
        ImportError::new(&skeleton_file, "bones", "a scale without an inverse; expected scales that are not 0")
    })?;
    let stem = super::read_file::stem(file);
    let name = stem.strip_suffix(".mesh").unwrap_or(&stem);
    let (materials, repairs) = textured(mesh.materials, skeleton.repairs, file, name);
    let parts = ModelParts {
        name: name.into(),
        axes: Axes::Y_UP,
        skeleton: skeleton.joints,
        skins: vec![SkinData { name: String::new(), joints: skeleton.joint_of, inverse_binds }],
        clips: skeleton.clips,
        primitives,
        targets: Vec::new(),
        materials,
        repairs,
    };
    Model::new(parts).map_err(|error| ImportError::from_model(file, error))
}

/// The materials with the textures that the script beside the mesh names.
fn textured(
    mut materials: Vec<Material>,
    mut repairs: Vec<Repair>,
    file: &Path,
    name: &str,
) -> (Vec<Material>, Vec<Repair>) {
    let units = material::units(file, name);
    let mut left_out = LeftOut::default();
    for material in &mut materials {
        let unit = units.get(&material.name);
        material.texture = unit.and_then(|unit| left_out.keep(unit.texture(file)));
        if material.texture.is_some() {
            material.base_color = [1.0; 4];
        }
    }
    left_out.describe(&mut repairs);
    (materials, repairs)
}

/// Path of the XML form of the skeleton that a mesh refers to, in its folder.
fn linked(file: &Path, link: &str) -> Result<PathBuf, ImportError> {
    let name = if link.ends_with(".xml") { link.to_owned() } else { format!("{link}.xml") };
    beside::resolve(file.parent().unwrap_or(Path::new("")), &name)
        .map_err(|problem| ImportError::new(file, "skeletonlink", problem))
}
