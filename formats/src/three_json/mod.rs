//! Importer of three.js' legacy JSON: model formats 3 and 4, also inside an Object-v4 document, and the variant of the
//! WebGL tutorial's exporter that writes every bone of every frame.
//!
//! Right-handed, Y up.

mod animation;
mod document;
mod faces;

use crate::budget::Budget;
use crate::fault::{Fault, OffUnit, ensure, in_file};
use crate::request::Request;
use crate::textures::LeftOut;
use crate::unread::Unread;
use crate::{ImportError, seams, textures};
use animation::ClipReader;
pub(super) use document::IGNORED;
use document::{Bone, Geometry, Object};
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
pub(super) fn sniff(head: &[u8]) -> bool {
    const LISTS: [&str; 6] = [
        "vertices",
        "faces",
        "bones",
        "skinIndices",
        "formatVersion",
        "geometries",
    ];
    head.trim_ascii_start().starts_with(b"{")
        && LISTS
            .iter()
            .any(|name| crate::read_file::contains(head, &format!("\"{name}\"")))
}

/// Reads a file.
pub(super) fn import(request: &Request) -> Result<ModelParts, ImportError> {
    let file = request.file;
    let bytes = crate::read_file::read_file(file)?;
    read(file, &bytes).map_err(in_file(file))
}

fn read(file: &Path, bytes: &[u8]) -> Result<ModelParts, Fault> {
    let (name, folder) = (
        crate::read_file::stem(file),
        file.parent().unwrap_or(Path::new("")),
    );
    let budget = Budget::new(bytes.len());
    let count = |byte: u8| bytes.iter().filter(|&&b| b == byte).count() as u64;
    let needed = count(b'{')
        .saturating_mul(BYTES_PER_OBJECT)
        .saturating_add(count(b'[').saturating_mul(BYTES_PER_LIST));
    budget.charge(needed, || "JSON".into())?;
    let mut unread = Unread::new(IGNORED);
    let document: Geometry = crate::read_file::from_json(bytes, |path| {
        unread.add(path.strip_prefix("geometries[].data.").unwrap_or(path));
    })?;
    let mut repairs: Vec<Repair> = unread.describe().into_iter().collect();
    let (path, geometry) = skinned(&document, &mut repairs)?;
    let inside = |fault: Fault| Fault {
        place: path.clone() + &fault.place,
        ..fault
    };
    if document.object.as_ref().is_some_and(Object::moves) {
        repairs.push(Repair::new(
            "left out the transforms of the objects of the scene",
        ));
    }
    let (skeleton, joint_of) = skeleton(geometry, &mut repairs).map_err(inside)?;
    let influences = influences(geometry).map_err(inside)?;
    check_numbers(geometry).map_err(inside)?;
    let positions = positions(geometry).map_err(inside)?;
    budget.charge_vertices(positions.len(), influences.pairs().len(), || {
        format!("{path}vertices")
    })?;

    let triangles = faces::triangles(geometry).map_err(inside)?;
    let corners = || triangles.iter().flat_map(|(_, corners)| corners);
    let bare = corners().filter(|c| c.normal.is_none()).count();
    if bare > 0 && bare < 3 * triangles.len() {
        let message = format!(
            "left out the normals, which {bare} of {} corners lack",
            3 * triangles.len()
        );
        repairs.push(Repair::new(message));
    }
    let most = triangles
        .iter()
        .map(|(material, _)| *material)
        .max()
        .unwrap_or(0);
    // In an Object-v4 document the materials may be outside the geometry, or absent.
    let materials = if geometry.materials.is_empty() {
        &document.materials
    } else {
        &geometry.materials
    };
    let mut left_out = LeftOut::default();
    let mut materials: Vec<Material> = materials
        .iter()
        .map(|found| material(found, folder, &mut left_out))
        .collect();
    repairs.extend(left_out.describe());
    if materials.is_empty() {
        materials = vec![Material::default(); usize::from(most) + 1];
    } else if usize::from(most) >= materials.len() {
        let problem = format!(
            "a face has material {most}; expected one of the {} there are",
            materials.len()
        );
        return Err(Fault::new(format!("{path}faces"), problem));
    }
    let primitive = seams::join(positions, influences, triangles, &budget)?;

    let mut reader = ClipReader {
        joint_of: &joint_of,
        off_unit: OffUnit::default(),
    };
    let clips = reader.clips(geometry, &budget).map_err(inside)?;
    repairs.extend(reader.off_unit.describe("rotation keys"));
    let skin =
        SkinData::at_rest(&skeleton, joint_of).map_err(|error| inside(error.within("bones")))?;
    let parts = ModelParts::new(name, skeleton, skin, vec![primitive]);
    Ok(ModelParts {
        clips,
        materials,
        repairs,
        ..parts
    })
}

/// The document itself, or the first geometry in it that has bones; and its JSON path.
fn skinned<'a>(
    document: &'a Geometry,
    repairs: &mut Vec<Repair>,
) -> Result<(String, &'a Geometry), Fault> {
    if !document.bones.is_empty() {
        return Ok((String::new(), document));
    }
    let inner = document
        .geometries
        .iter()
        .enumerate()
        .filter_map(|(i, wrapped)| Some((i, wrapped.data.as_ref()?)));
    let mut with_bones = inner.filter(|(_, data)| !data.bones.is_empty());
    let Some((index, data)) = with_bones.next() else {
        return Err(Fault::new(
            "bones",
            "none; expected at least one, here or in geometries[].data",
        ));
    };
    let others = with_bones.count();
    if others > 0 {
        let message = format!("left out {others} more geometries with bones");
        repairs.push(Repair::new(message));
    }
    Ok((format!("geometries[{index}].data."), data))
}

fn material(material: &document::Material, folder: &Path, left_out: &mut LeftOut) -> Material {
    let name = if material.dbg_name.is_empty() {
        &material.name
    } else {
        &material.dbg_name
    };
    let packed = |color: u32| [16, 8, 0].map(|shift| ((color >> shift) & 0xff) as f32 / 255.0);
    let [default_r, default_g, default_b, _] = Material::default().base_color;
    let [r, g, b] = material
        .color_diffuse
        .or(material.color.map(packed))
        .unwrap_or([default_r, default_g, default_b]);
    let base_color = [r, g, b, material.opacity.unwrap_or(1.0)];
    let texture = texture(material, folder).and_then(|texture| left_out.keep(texture));
    Material {
        name: name.clone(),
        base_color,
        texture,
        ..Material::default()
    }
}

/// The texture of a material, whose coordinates count from the lower edge of the image.
fn texture(material: &document::Material, folder: &Path) -> Option<Result<Texture, String>> {
    let name = material.map_diffuse.as_ref()?;
    let wrap = |axis: usize| match material.map_diffuse_wrap.get(axis).map(String::as_str) {
        Some("repeat") => Wrap::Repeat,
        Some("mirror") => Wrap::Mirror,
        // The format's own default.
        _ => Wrap::Clamp,
    };
    let texture = |image| Texture {
        image,
        wrap: [wrap(0), wrap(1)],
        transform: Texture::FROM_BELOW,
    };
    Some(textures::beside(folder, name).map(texture))
}

/// The skeleton, and the joint of each bone.
fn skeleton(geometry: &Geometry, repairs: &mut Vec<Repair>) -> Result<(Skeleton, Vec<u16>), Fault> {
    let mut off_unit = OffUnit::default();
    let mut joints = Vec::with_capacity(geometry.bones.len());
    for (
        index,
        Bone {
            parent,
            name,
            pos,
            rotq,
            scl,
        },
    ) in geometry.bones.iter().enumerate()
    {
        let fault =
            |field: &str, problem: String| Fault::new(format!("bones[{index}].{field}"), problem);
        // Roots have -1, null or nothing.
        let parent = parent.and_then(|p| usize::try_from(p).ok());
        if let Some(parent) = parent.filter(|&p| p >= geometry.bones.len()) {
            let problem = format!(
                "{parent} is out of range; there are {} bones",
                geometry.bones.len()
            );
            return Err(fault("parent", problem));
        }
        off_unit
            .check(rotq)
            .map_err(|problem| fault("rotq", problem.into()))?;
        let rest = Transform {
            rotation: Quat::from_array(*rotq),
            translation: Vec3::from_array(*pos),
            scale: scl.map_or(Vec3::ONE, Vec3::from_array),
        };
        joints.push(Joint::new(name, parent, rest));
    }
    repairs.extend(off_unit.describe("rotations of bones"));
    Skeleton::new(joints).map_err(|error| error.within("bones"))
}

fn check_numbers(geometry: &Geometry) -> Result<(), Fault> {
    let lists = [
        ("vertices", &geometry.vertices, 3),
        ("normals", &geometry.normals, 3),
    ];
    let uvs = geometry.uvs.iter().map(|layer| ("uvs", layer, 2));
    for (name, numbers, width) in lists.into_iter().chain(uvs) {
        ensure(numbers.len().is_multiple_of(width), || {
            Fault::new(
                name,
                format!("{} numbers; expected a multiple of {width}", numbers.len()),
            )
        })?;
        // JSON has no infinity, but a JSON number can exceed the range of f32.
        if let Some(at) = numbers.iter().position(|v| !v.is_finite()) {
            return Err(Fault::new(
                format!("{name}[{at}]"),
                "is too large; expected a finite number",
            ));
        }
    }
    Ok(())
}

fn positions(geometry: &Geometry) -> Result<Vec<[f32; 3]>, Fault> {
    let scale = geometry.scale.unwrap_or(1.0);
    let factor = scale.recip();
    ensure(scale.is_finite() && factor.is_finite(), || {
        Fault::new("scale", format!("{scale}; expected a number that is not 0"))
    })?;
    let positions = geometry.vertices.as_chunks::<3>().0;
    Ok(positions.iter().map(|p| p.map(|v| v * factor)).collect())
}

fn influences(geometry: &Geometry) -> Result<Influences, Fault> {
    let each = geometry.influences_per_vertex.unwrap_or(INFLUENCES) as usize;
    let vertices = geometry.vertices.len() / 3;
    let expected = vertices
        .checked_mul(each)
        .filter(|_| each > 0)
        .ok_or_else(|| {
            Fault::new(
                "influencesPerVertex",
                format!("{each}; expected the number of influences per vertex"),
            )
        })?;
    for (name, length) in [
        ("skinWeights", geometry.skin_weights.len()),
        ("skinIndices", geometry.skin_indices.len()),
    ] {
        ensure(length == expected, || {
            let problem = format!(
                "{length} numbers; expected {expected}, {each} for each of {vertices} vertices"
            );
            Fault::new(name, problem)
        })?;
    }
    let mut pairs = Vec::with_capacity(expected);
    for (at, (&weight, &bone)) in geometry
        .skin_weights
        .iter()
        .zip(&geometry.skin_indices)
        .enumerate()
    {
        ensure(weight.is_finite() && weight >= 0.0, || {
            Fault::new(
                format!("skinWeights[{at}]"),
                format!("{weight}; expected a weight of 0 or more"),
            )
        })?;
        // Padding refers to any bone, mostly -1, which is none.
        let known = usize::try_from(bone)
            .ok()
            .filter(|&bone| bone < geometry.bones.len());
        ensure(weight == 0.0 || known.is_some(), || {
            let problem = format!(
                "bone {bone} is out of range; there are {}",
                geometry.bones.len()
            );
            Fault::new(format!("skinIndices[{at}]"), problem)
        })?;
        pairs.push(known.map(|bone| (bone as u16, weight)));
    }
    let own = |pairs: &[Option<(u16, f32)>]| -> Vec<(u16, f32)> {
        pairs.iter().copied().flatten().collect()
    };
    Ok(pairs.chunks(each).map(own).collect())
}
