//! Importer of OgreXML: `.mesh.xml`, and the `.skeleton.xml` that it refers to.
//!
//! Right-handed, Y up. Keys are relative to the bind pose, and after its last key a track interpolates back to its
//! first, as in OGRE itself (articles about the format differ).

mod material;
mod mesh;
mod skeleton;
mod xml;

use crate::budget::Budget;
use crate::fault::in_file;
use crate::textures::LeftOut;
use crate::{ImportError, beside};
use skinbench_kernels::model::{Material, ModelParts, Repair, SkinData};
use std::fs;
use std::path::{Path, PathBuf};
use xml::Xml;

pub(super) fn sniff(head: &[u8]) -> bool {
    crate::read_file::contains(head, "<mesh>") || crate::read_file::contains(head, "<mesh ")
}

/// Reads a mesh and its skeleton.
pub(super) fn import(file: &Path) -> Result<ModelParts, ImportError> {
    let mut xml = Xml::open(file)?;
    let mesh = mesh::read(&mut xml).map_err(in_file(file))?;
    let skeleton_file = linked(file, &mesh.skeleton)?;
    let skeleton = skeleton::read(&mut Xml::open(&skeleton_file)?).map_err(in_file(&skeleton_file))?;

    let size = |file: &Path| fs::metadata(file).map_or(0, |m| m.len());
    let budget = Budget::new(usize::try_from(size(file)).unwrap_or(usize::MAX));
    budget.grant(size(&skeleton_file));
    let entry_of = |bone| skeleton.index_of.get(&bone).copied();
    let geometries = mesh.geometries.into_iter();
    let primitives = geometries.map(|geometry| geometry.into_primitive(&xml, &budget, entry_of));
    let primitives = primitives.collect::<Result<_, _>>().map_err(in_file(file))?;

    let skin = SkinData::at_rest(&skeleton.joints, skeleton.joint_of);
    let skin = skin.map_err(in_file(&skeleton_file))?;
    let stem = crate::read_file::stem(file);
    let name = stem.strip_suffix(".mesh").unwrap_or(&stem);
    let (materials, repairs) = textured(mesh.materials, skeleton.repairs, file, name);
    let parts = ModelParts::new(name, skeleton.joints, skin, primitives);
    Ok(ModelParts { clips: skeleton.clips, materials, repairs, ..parts })
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
    repairs.extend(left_out.describe());
    (materials, repairs)
}

/// Path of the XML form of the skeleton that a mesh refers to, in its folder.
fn linked(file: &Path, link: &str) -> Result<PathBuf, ImportError> {
    let name = if link.ends_with(".xml") { link.to_owned() } else { format!("{link}.xml") };
    beside::resolve(file.parent().unwrap_or(Path::new("")), &name)
        .map_err(|problem| ImportError::new(file, "skeletonlink", problem))
}
