//! Importer of three.js' legacy JSON: model formats 3 and 4, also inside an Object-v4 document, and the variant of the
//! WebGL tutorial's exporter that writes every bone of every frame.
//!
//! Right-handed, Y up.

mod animation;
mod document;
mod faces;

use crate::budget::Budget;
use crate::fault::{Fault, OffUnit, in_file};
use crate::request::Request;
use crate::textures::LeftOut;
use crate::unread::Unread;
use crate::{ImportError, seams, textures};
use animation::ClipReader;
pub use document::IGNORED;
use document::{Geometry, Object};
use glam::{Quat, Vec3};
use skinbench_kernels::model::{
    Influences, Joint, Material, ModelParts, Repair, Skeleton, SkinData, Texture, Transform, Wrap,
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
    head.trim_ascii_start().starts_with(b"{")
        && lists
            .iter()
            .any(|list| crate::read_file::contains(head, list))
}

/// Reads a file.
pub fn import(request: &Request) -> Result<ModelParts, ImportError> {
    let file = request.file;
    let bytes = crate::read_file::read_file(file)?;
    read(file, &bytes).map_err(in_file(file))
}

fn read(file: &Path, bytes: &[u8]) -> Result<ModelParts, Fault> {
    let budget = Budget::new(bytes.len());
    let mut needed = 0;
    for byte in bytes {
        needed += match byte {
            b'{' => BYTES_PER_OBJECT,
            b'[' => BYTES_PER_LIST,
            _ => 0,
        };
    }
    budget.charge(needed, || "JSON".into())?;
    let mut unread = Unread::new(IGNORED);
    let document: Geometry = crate::read_file::from_json(bytes, |path| {
        unread.add(path.strip_prefix("geometries[].data.").unwrap_or(path));
    })?;
    let mut repairs: Vec<Repair> = unread.describe().into_iter().collect();
    let Skinned { path, geometry } = skinned(&document, &mut repairs)?;
    if document.object.as_ref().is_some_and(Object::moves) {
        repairs.push(Repair::new(
            "left out the transforms of the objects of the scene",
        ));
    }
    let parts = convert(geometry, &document, file, &budget, &mut repairs);
    let parts = parts.map_err(|fault| Fault {
        place: path + &fault.place,
        ..fault
    })?;
    Ok(ModelParts { repairs, ..parts })
}

/// A geometry, and its JSON path.
struct Skinned<'a> {
    path: String,
    geometry: &'a Geometry,
}

/// The document itself, or the first geometry in it that has bones.
fn skinned<'a>(document: &'a Geometry, repairs: &mut Vec<Repair>) -> Result<Skinned<'a>, Fault> {
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
    if others > 0 {
        let message = format!("left out {others} more geometries with bones");
        repairs.push(Repair::new(message));
    }
    let problem = "none; expected at least one, here or in geometries[].data";
    found.ok_or_else(|| Fault::new("bones", problem))
}

/// Converts a geometry of a document in a file; adds what it repairs to the notes, instead of the parts.
fn convert(
    geometry: &Geometry,
    document: &Geometry,
    file: &Path,
    budget: &Budget,
    repairs: &mut Vec<Repair>,
) -> Result<ModelParts, Fault> {
    let (skeleton, joint_of) = skeleton(geometry, repairs)?;
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
    let corners = 3 * triangles.len();
    if bare > 0 && bare < corners {
        let message = format!("left out the normals, which {bare} of {corners} corners lack");
        repairs.push(Repair::new(message));
    }
    // In an Object-v4 document the materials may be outside the geometry, or absent.
    let found = if geometry.materials.is_empty() {
        &document.materials
    } else {
        &geometry.materials
    };
    let mut left_out = LeftOut::default();
    let mut materials = Vec::new();
    for found in found {
        materials.push(material(found, file, &mut left_out));
    }
    left_out.describe(repairs);
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
        off_unit: OffUnit::default(),
    };
    let clips = reader.clips(geometry, budget)?;
    repairs.extend(reader.off_unit.describe("rotation keys"));
    let skin = SkinData::at_rest(&skeleton, joint_of).map_err(|error| error.within("bones"))?;
    let name = crate::read_file::stem(file);
    Ok(ModelParts {
        clips,
        materials,
        ..ModelParts::new(name, skeleton, skin, vec![primitive])
    })
}

fn material(material: &document::Material, file: &Path, left_out: &mut LeftOut) -> Material {
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
        let image = left_out.keep(textures::beside(file, image));
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
fn skeleton(geometry: &Geometry, repairs: &mut Vec<Repair>) -> Result<(Skeleton, Vec<u16>), Fault> {
    let count = geometry.bones.len();
    let mut off_unit = OffUnit::default();
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
        off_unit
            .check(&bone.rotq)
            .map_err(|problem| Fault::new(format!("bones[{index}].rotq"), problem))?;
        let rest = Transform {
            rotation: Quat::from_array(bone.rotq),
            translation: Vec3::from_array(bone.pos),
            scale: Vec3::from_array(bone.scl.unwrap_or([1.0; 3])),
        };
        joints.push(Joint::new(&bone.name, parent, rest));
    }
    repairs.extend(off_unit.describe("rotations of bones"));
    Skeleton::new(joints).map_err(|error| error.within("bones"))
}

fn check_numbers(geometry: &Geometry) -> Result<(), Fault> {
    check_list("vertices", &geometry.vertices, 3)?;
    check_list("normals", &geometry.normals, 3)?;
    for layer in &geometry.uvs {
        check_list("uvs", layer, 2)?;
    }
    Ok(())
}

/// Checks a list of vectors.
fn check_list(name: &str, values: &[f32], width: usize) -> Result<(), Fault> {
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

fn positions(geometry: &Geometry) -> Result<Vec<[f32; 3]>, Fault> {
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

fn influences(geometry: &Geometry) -> Result<Influences, Fault> {
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
