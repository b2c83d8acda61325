//! Importer of OgreXML: `.mesh.xml`, and the `.skeleton.xml` that it refers to.
//!
//! Right-handed, Y up. Keys are relative to the bind pose, and after its last key a track interpolates back to its
//! first, as in OGRE itself (articles about the format differ). Scales that differ from axis to axis follow OGRE's rule,
//! too.

mod animation;
mod bones;
mod known;
mod material;
mod mesh;
mod pose;
mod scale;
mod skeleton;
mod xml;

use crate::budget::Budget;
use crate::fault::{Fault, in_file};
use crate::read_file::{contains, read_text, stem};
use crate::request::Request;
use crate::textures::LeftOut;
use crate::unread::Unread;
use crate::{ImportError, beside};
pub use known::IGNORED;
use skinbench_kernels::model::{ModelParts, Repair};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use xml::{Element, Xml};

pub fn sniff(head: &[u8]) -> bool {
    contains(head, "<mesh>") || contains(head, "<mesh ")
}

/// Reads a mesh and its skeleton.
pub fn import(request: &Request) -> Result<ModelParts, ImportError> {
    let file = request.file;
    let mut unread = Unread::new(IGNORED);
    let text = read_text(file)?;
    let budget = Budget::new(text.len());
    let mesh = Xml::parse(&text, "mesh", &budget).map_err(in_file(file))?;
    let skeleton_file = linked(file, mesh.root())?;
    let text = read_text(&skeleton_file)?;
    budget.grant(text.len() as u64);
    let stem = stem(file);
    let name = stem.strip_suffix(".mesh").unwrap_or(&stem);
    let skeleton = Xml::parse(&text, "skeleton", &budget)
        .and_then(|xml| skeleton::read(xml.root(), name, &budget, &mut unread));
    let (mut parts, entry_of) = skeleton.map_err(in_file(&skeleton_file))?;
    mesh::read(mesh.root(), &entry_of, &budget, &mut parts).map_err(in_file(file))?;
    known::count_unread(mesh.root(), &mut unread);
    parts.repairs.extend(unread.describe());

    let units = material::units(file, name).unwrap_or_else(|problem| {
        let note = format!("left out the textures of all materials: {problem}");
        parts.repairs.push(Repair::new(note));
        HashMap::new()
    });
    let mut left_out = LeftOut::default();
    for material in &mut parts.materials {
        let unit = units.get(&material.name);
        material.texture = unit.and_then(|unit| left_out.keep(unit.texture(file)));
        if material.texture.is_some() {
            material.base_color = [1.0; 4];
        }
    }
    left_out.describe(&mut parts.repairs);
    Ok(parts)
}

/// Path of the XML form of the skeleton that a mesh refers to, in its folder.
fn linked(file: &Path, mesh: Element) -> Result<PathBuf, ImportError> {
    let name = link_name(mesh).map_err(in_file(file))?;
    beside::resolve(file, &name).map_err(|problem| ImportError::new(file, "skeletonlink", problem))
}

fn link_name(mesh: Element) -> Result<String, Fault> {
    let Some(link) = mesh.named("skeletonlink").next() else {
        bail!(mesh.place(), "no <skeletonlink>; expected one");
    };
    let name = link.required("name")?;
    Ok(if name.ends_with(".xml") {
        name.into_owned()
    } else {
        format!("{name}.xml")
    })
}
