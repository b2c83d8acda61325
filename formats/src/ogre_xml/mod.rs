//! Importer of OgreXML: `.mesh.xml`, and the `.skeleton.xml` that it refers to.
//!
//! Right-handed, Y up. Keys are relative to the bind pose, and after its last key a track interpolates back to its
//! first, as in OGRE itself (articles about the format differ). Scales that differ from axis to axis follow OGRE's rule,
//! too.

mod animation;
mod bones;
mod material;
mod mesh;
mod pose;
mod scale;
mod skeleton;
mod xml;

use crate::beside;
use crate::budget::Budget;
use crate::ignored::Ignored;
use crate::read_file::{contains, read_text, stem};
use crate::request::Request;
use crate::textures::or_left_out;
use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::{ModelParts, Notes};
use std::collections::HashMap;
use std::path::Path;
use xml::Xml;

/// Colours, further texture coordinates, bases for bump maps, which the reader of vertices leaves out; what follows from
/// other parts; and properties of materials. Attributes have an `@` before their names.
pub const IGNORED: Ignored = &[
    "animationlink@scale",
    "mesh/boundsinfo",
    "mesh/submeshnames",
    "skeleton@blendmode",
    "submesh/textures",
    "submesh@use32bitindexes",
    "texcoord@w",
    "vertex/binormal",
    "vertex/colour_diffuse",
    "vertex/colour_specular",
    "vertex/tangent",
    "vertex/texcoord",
    "vertexbuffer@*",
];

pub fn sniff(head: &[u8]) -> bool {
    contains(head, "<mesh>") || contains(head, "<mesh ")
}

/// Reads a mesh and its skeleton.
pub fn import(request: &Request, notes: &mut Notes) -> Result<ModelParts> {
    let file = request.file;
    let text = read_text(file)?;
    let budget = Budget::new(text.len());
    let mesh = Xml::parse(&text, "mesh", &budget)?;
    let Some(link) = mesh.root().first("skeletonlink") else {
        bail!(mesh.root().at(), "no <skeletonlink>; expected one");
    };
    let mut link = link.required("name")?.into_owned();
    if !link.ends_with(".xml") {
        link += ".xml";
    }
    let skeleton_file =
        beside::resolve(file, &link).map_err(|problem| DataError::new("skeletonlink", problem))?;
    let stem = stem(file);
    let name = stem.strip_suffix(".mesh").unwrap_or(&stem);
    let skeleton = skeleton(&skeleton_file, name, &budget, notes);
    let (mut parts, entry_of) = skeleton.map_err(|error| error.in_file(&skeleton_file))?;
    mesh::read(mesh.root(), &entry_of, &budget, &mut parts, notes)?;
    mesh.note_unread(IGNORED, notes);

    let units = material::units(file, name).unwrap_or_else(|problem| {
        notes.add_name("left out the textures of all materials", problem);
        HashMap::new()
    });
    for material in &mut parts.materials {
        let unit = units.get(&material.name);
        material.texture = unit.and_then(|unit| or_left_out(unit.texture(file), notes));
        if material.texture.is_some() {
            material.base_color = [1.0; 4];
        }
    }
    Ok(parts)
}

/// Reads a skeleton, as [`skeleton::read`] returns it.
fn skeleton(
    file: &Path,
    name: &str,
    budget: &Budget,
    notes: &mut Notes,
) -> Result<(ModelParts, HashMap<u32, u16>)> {
    let text = read_text(file)?;
    budget.grant(text.len() as u64);
    let xml = Xml::parse(&text, "skeleton", budget)?;
    let read = skeleton::read(xml.root(), name, budget, notes)?;
    xml.note_unread(IGNORED, notes);
    Ok(read)
}
