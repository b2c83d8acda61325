//! Importer of three.js' legacy JSON: model formats 3 and 4, also inside an Object-v4 document, and the variant of the
//! WebGL tutorial's exporter that writes every bone of every frame.
//!
//! Right-handed, Y up.

mod animation;
mod document;
mod faces;

use crate::budget::Budget;
use crate::check::check_rotation;
use crate::ignored::note_unread;
use crate::read_file::{contains, from_json, read_file, stem};
use crate::request::Request;
use crate::seams;
use crate::textures::{self, or_left_out};
use animation::ClipReader;
pub use document::IGNORED;
use document::{Geometry, Object};
use glam::{Quat, Vec3};
use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::{
    Influences, Joint, Material, ModelParts, Notes, Skeleton, SkinData, Texture, Transform, Wrap,
};
use std::path::Path;

/// Influences per vertex of files that do not state the number.
const INFLUENCES: u32 = 2;

/// Memory for the structures built from an object and from a list of the JSON.
const BYTES_PER_OBJECT: u64 = 256;
const BYTES_PER_LIST: u64 = 72;

/// Returns whether it is JSON with a list of this format near its beginning.
pub fn sniff(head: &[u8]) -> bool {
    let lists = [
        "\"vertices\"",
        "\"faces\"",
        "\"bones\"",
        "\"skinIndices\"",
        "\"formatVersion\"",
        "\"geometries\"",
    ];
    head.trim_ascii_start().starts_with(b"{") && lists.iter().any(|list| contains(head, list))
}

/// Reads a file.
pub fn import(request: &Request, notes: &mut Notes) -> Result<ModelParts> {
    let file = request.file;
    let bytes = read_file(file)?;
    let budget = Budget::new(bytes.len());
    let mut needed = 0;
    for byte in &bytes {
        needed += match byte {
            b'{' => BYTES_PER_OBJECT,
            b'[' => BYTES_PER_LIST,
            _ => 0,
        };
    }
    budget.charge(needed, || "JSON".into())?;
    let document: Geometry = from_json(&bytes, |path| {
        let path = path.strip_prefix("geometries[].data.").unwrap_or(path);
        note_unread(IGNORED, path, notes);
    })?;
    let Skinned { path, geometry } = skinned(&document, notes)?;
    if document.object.as_ref().is_some_and(Object::moves) {
        notes.add("left out the transforms of the objects of the scene", 1);
    }
    convert(geometry, &document, file, &budget, notes).map_err(|error| DataError {
        place: path + &error.place,
        ..error
    })
}

/// A geometry, and its JSON path.
struct Skinned<'a> {
    path: String,
    geometry: &'a Geometry,
}

/// The document itself, or the first geometry in it that has bones.
fn skinned<'a>(document: &'a Geometry, notes: &mut Notes) -> Result<Skinned<'a>> {
    if !document.bones.is_empty() {
        return Ok(Skinned {
            path: String::new(),
            geometry: document,
        });
    }
    let mut found = None;
    let mut others = 0;
    for (index, wrapped) in document.geometries.iter().enumerate() {
        match &wrapped.data {
            Some(geometry) if geometry.bones.is_empty() => {}
            Some(_) if found.is_some() => others += 1,
            Some(geometry) => {
                let path = format!("geometries[{index}].data.");
                found = Some(Skinned { path, geometry });
            }
            None => {}
        }
    }
    notes.add("left out # more geometries with bones", others);
    let problem = "none; expected at least one, here or in geometries[].data";
    found.ok_or_else(|| DataError::new("bones", problem))
}

/// Converts a geometry of a document in a file.
fn convert(
    geometry: &Geometry,
    document: &Geometry,
    file: &Path,
    budget: &Budget,
    notes: &mut Notes,
) -> Result<ModelParts> {
    let (skeleton, joint_of) = skeleton(geometry, notes)?;
    let influences = influences(geometry)?;
    check_numbers(geometry)?;
    let positions = positions(geometry)?;
    budget.charge_vertices(positions.len(), influences.pairs().len(), || {
        "vertices".into()
    })?;

    let triangles = faces::triangles(geometry)?;
    let mut bare = 0;
    let mut most = 0;
    for (material, corners) in &triangles {
        bare += corners.iter().filter(|c| c.normal.is_none()).count();
        most = most.max(usize::from(*material));
    }
    if bare < 3 * triangles.len() {
        notes.add("left out the normals, which # corners lack", bare);
    }
    // In an Object-v4 document the materials may be outside the geometry, or absent.
    let found = if geometry.materials.is_empty() {
        &document.materials
    } else {
        &geometry.materials
    };
    let mut materials = Vec::new();
    for found in found {
        materials.push(material(found, file, notes));
    }
    if materials.is_empty() {
        materials.resize(most + 1, Material::default());
    }
    ensure!(
        most < materials.len(),
        "faces",
        "a face has material {most}; expected one of the {} there are",
        materials.len()
    );
    let primitive = seams::join(positions, influences, triangles, budget)?;

    let mut reader = ClipReader {
        joint_of: &joint_of,
        notes,
    };
    let clips = reader.clips(geometry, budget)?;
    let skin = SkinData::at_rest(&skeleton, joint_of).map_err(|error| error.within("bones"))?;
    Ok(ModelParts {
        clips,
        materials,
        ..ModelParts::new(stem(file), skeleton, skin, vec![primitive])
    })
}

fn material(material: &document::Material, file: &Path, notes: &mut Notes) -> Material {
    let name = if material.dbg_name.is_empty() {
        &material.name
    } else {
        &material.dbg_name
    };
    let mut converted = Material {
        name: name.clone(),
        ..Material::default()
    };
    let packed = material
        .color
        .map(|color| [16, 8, 0].map(|shift| ((color >> shift) & 0xff) as f32 / 255.0));
    if let Some(color) = material.color_diffuse.or(packed) {
        converted.base_color[..3].copy_from_slice(&color);
    }
    converted.base_color[3] = material.opacity.unwrap_or(1.0);
    if let Some(image) = &material.map_diffuse {
        let image = or_left_out(textures::beside(file, image), notes);
        converted.texture = image.map(|image| Texture {
            image,
            wrap: [0, 1].map(|axis| wrap(material.map_diffuse_wrap.get(axis))),
            // Coordinates count from the lower edge of the image.
            transform: Texture::FROM_BELOW,
        });
    }
    converted
}

fn wrap(mode: Option<&String>) -> Wrap {
    match mode.map(String::as_str) {
        Some("repeat") => Wrap::Repeat,
        Some("mirror") => Wrap::Mirror,
        // The format's own default.
        _ => Wrap::Clamp,
    }
}

/// The skeleton, and the joint of each bone.
fn skeleton(geometry: &Geometry, notes: &mut Notes) -> Result<(Skeleton, Vec<u16>)> {
    let count = geometry.bones.len();
    let mut joints = Vec::new();
    for (index, bone) in geometry.bones.iter().enumerate() {
        // Roots have -1, null or nothing.
        let parent = bone.parent.and_then(|parent| usize::try_from(parent).ok());
        if let Some(parent) = parent.filter(|parent| *parent >= count) {
            bail!(
                format!("bones[{index}].parent"),
                "{parent} is out of range; there are {count} bones"
            );
        }
        check_rotation(&bone.rotq, notes)
            .map_err(|problem| DataError::new(format!("bones[{index}].rotq"), problem))?;
        let rest = Transform {
            rotation: Quat::from_array(bone.rotq),
            translation: Vec3::from_array(bone.pos),
            scale: Vec3::from_array(bone.scl.unwrap_or([1.0; 3])),
        };
        joints.push(Joint::new(&bone.name, parent, rest));
    }
    Skeleton::new(joints).map_err(|error| error.within("bones"))
}

fn check_numbers(geometry: &Geometry) -> Result<()> {
    check_list("vertices", &geometry.vertices, 3)?;
    check_list("normals", &geometry.normals, 3)?;
    for layer in &geometry.uvs {
        check_list("uvs", layer, 2)?;
    }
    Ok(())
}

/// Checks a list of vectors.
fn check_list(name: &str, values: &[f32], width: usize) -> Result<()> {
    ensure!(
        values.len().is_multiple_of(width),
        name,
        "{} numbers; expected a multiple of {width}",
        values.len()
    );
    // JSON has no infinity, but a JSON number can exceed the range of f32.
    if let Some(at) = values.iter().position(|v| !v.is_finite()) {
        bail!(
            format!("{name}[{at}]"),
            "is too large; expected a finite number"
        );
    }
    Ok(())
}

fn positions(geometry: &Geometry) -> Result<Vec<[f32; 3]>> {
    let scale = geometry.scale.unwrap_or(1.0);
    let factor = scale.recip();
    ensure!(
        scale.is_finite() && factor.is_finite(),
        "scale",
        "{scale}; expected a number that is not 0"
    );
    let positions = geometry.vertices.as_chunks::<3>().0;
    Ok(positions.iter().map(|p| p.map(|v| v * factor)).collect())
}

fn influences(geometry: &Geometry) -> Result<Influences> {
    let each = geometry.influences_per_vertex.unwrap_or(INFLUENCES) as usize;
    let vertices = geometry.vertices.len() / 3;
    let Some(expected) = vertices.checked_mul(each).filter(|_| each > 0) else {
        bail!(
            "influencesPerVertex",
            "{each}; expected the number of influences per vertex"
        );
    };
    for (name, length) in [
        ("skinWeights", geometry.skin_weights.len()),
        ("skinIndices", geometry.skin_indices.len()),
    ] {
        ensure!(
            length == expected,
            name,
            "{length} numbers; expected {expected}, {each} for each of {vertices} vertices"
        );
    }
    let mut influences = Influences::default();
    for vertex in 0..vertices {
        let mut pairs = Vec::with_capacity(each);
        for at in vertex * each..(vertex + 1) * each {
            let weight = geometry.skin_weights[at];
            let bone = geometry.skin_indices[at];
            ensure!(
                weight.is_finite() && weight >= 0.0,
                format!("skinWeights[{at}]"),
                "{weight}; expected a weight of 0 or more"
            );
            let count = geometry.bones.len();
            let known = usize::try_from(bone).ok().filter(|bone| *bone < count);
            // Padding refers to any bone, mostly -1, which is none.
            ensure!(
                weight == 0.0 || known.is_some(),
                format!("skinIndices[{at}]"),
                "bone {bone} is out of range; there are {count}"
            );
            pairs.extend(known.map(|bone| (bone as u16, weight)));
        }
        influences.push(pairs);
    }
    Ok(influences)
}
