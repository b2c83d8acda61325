//! Importer of `.m3d`, the text format of Frank Luna's DirectX 12 book, chapter 23.
//!
//! Left-handed, Y up, row vectors. Vertices become one primitive; the subset table divides its triangles by material.

use crate::ignored::Ignored;
use crate::matrices;
use crate::request::Request;
use crate::tokenizer::{Scanner, Syntax};
use crate::tracks::Tracks;
use glam::DAffine3;
use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::{
    Clip, Handedness, Influences, Joint, Material, ModelParts, Notes, PrimitiveData, RotationBlend,
    Rows, Skeleton, SkinData, Subset, rows_to_affine,
};

/// Surfaces beyond their colour, the vertices of subsets, which their triangles name anyway, and the fourth weight, which
/// follows from the others.
pub const IGNORED: Ignored = &[
    "AlphaClip",
    "BlendWeights (the fourth)",
    "DiffuseMap",
    "Fresnel0",
    "MaterialTypeName",
    "NormalMap",
    "Roughness",
    "SubsetID",
    "VertexCount",
    "VertexStart",
];

const SYNTAX: Syntax = Syntax {
    marks: "{}",
    comments: false,
};

/// A fourth weight below this is a rounding error of 1 - (w0 + w1 + w2).
const WEIGHT_ROUNDING: f32 = 1e-6;

pub fn sniff(head: &[u8]) -> bool {
    crate::read_file::contains(head, "m3d-File-Header")
}

/// Reads a file.
pub fn import(request: &Request, notes: &mut Notes) -> Result<ModelParts> {
    Scanner::read(request.file, SYNTAX, notes, read)
}

fn read(file: &mut Scanner, name: String) -> Result<ModelParts> {
    title(file, "m3d-File-Header")?;
    let material_count: u16 = file.labelled("#Materials")?;
    let vertex_count: u32 = file.labelled("#Vertices")?;
    let triangle_count: u32 = file.labelled("#Triangles")?;
    let bone_count: u16 = file.labelled("#Bones")?;
    let clip_count: u32 = file.labelled("#AnimationClips")?;
    title(file, "Materials")?;
    let mut materials = Vec::new();
    for _ in 0..material_count {
        materials.push(material(file)?);
    }
    title(file, "SubsetTable")?;
    let table = file.offset();
    let mut subsets = Vec::new();
    for material in 0..material_count {
        subsets.push(subset(file, material, triangle_count)?);
    }
    check_overlap(&subsets).map_err(|problem| DataError::new(file.place(table), problem))?;
    title(file, "Vertices")?;
    let mut primitive = vertices(file, vertex_count, bone_count)?;
    primitive.subsets = subsets;
    title(file, "Triangles")?;
    for _ in 0..3 * u64::from(triangle_count) {
        let vertex = file.index("vertex", vertex_count as usize)?;
        primitive.indices.push(vertex);
    }
    title(file, "BoneOffsets")?;
    let mut inverse_binds = Vec::new();
    let mut binds = Vec::new();
    for bone in 0..bone_count {
        let rows = bone_offset(file, bone)?;
        inverse_binds.push(rows);
        binds.push(rows_to_affine(&rows).inverse());
    }
    title(file, "BoneHierarchy")?;
    let mut joints = Vec::new();
    for bone in 0..binds.len() {
        joints.push(joint(file, bone, &binds, &inverse_binds)?);
    }
    let (skeleton, joint_of) = Skeleton::new(joints)?;
    title(file, "AnimationClips")?;
    let mut clips = Vec::new();
    for _ in 0..clip_count {
        clips.push(clip(file, &joint_of)?);
    }
    let skin = SkinData {
        name: String::new(),
        joints: joint_of,
        inverse_binds,
    };
    let mut parts = ModelParts::new(name, skeleton, skin, vec![primitive]);
    parts.axes.handedness = Handedness::Left;
    parts.clips = clips;
    parts.materials = materials;
    Ok(parts)
}

/// Expects a title between asterisks.
fn title(file: &mut Scanner, title: &str) -> Result<()> {
    let expected = format!("a line of asterisks around {title}");
    let token = file.token(&expected)?;
    ensure!(
        token.text.starts_with('*') && token.text.trim_matches('*') == title,
        file.unexpected(token, &expected)
    );
    Ok(())
}

fn values<const N: usize>(file: &mut Scanner, label: &str) -> Result<[f32; N]> {
    file.expect(label)?;
    file.numbers(label)
}

fn material(file: &mut Scanner) -> Result<Material> {
    file.expect("Name:")?;
    let name = file.token("a material's name")?.text.into();
    let [r, g, b] = values(file, "Diffuse:")?;
    values::<3>(file, "Fresnel0:")?;
    values::<1>(file, "Roughness:")?;
    for label in [
        "AlphaClip:",
        "MaterialTypeName:",
        "DiffuseMap:",
        "NormalMap:",
    ] {
        file.expect(label)?;
        file.token(label)?;
    }
    Ok(Material {
        name,
        base_color: [r, g, b, 1.0],
        ..Material::default()
    })
}

fn subset(file: &mut Scanner, material: u16, triangles: u32) -> Result<Subset> {
    let start = file.offset();
    for label in ["SubsetID:", "VertexStart:", "VertexCount:"] {
        file.labelled::<u32>(label)?;
    }
    let first: u32 = file.labelled("FaceStart:")?;
    let count: u32 = file.labelled("FaceCount:")?;
    let end = first.saturating_add(count);
    ensure!(
        end <= triangles,
        file.place(start),
        "{count} faces from {first}; expected them among the file's {triangles} triangles"
    );
    // The header's count is not verified until the triangles have been read.
    Ok(Subset {
        material,
        indices: first.saturating_mul(3)..end.saturating_mul(3),
    })
}

/// Refuses subsets that share a triangle. Each subset could draw all triangles of the file once more.
fn check_overlap(subsets: &[Subset]) -> Result<(), String> {
    let mut order: Vec<usize> = (0..subsets.len())
        .filter(|&subset| !subsets[subset].indices.is_empty())
        .collect();
    order.sort_by_key(|&subset| subsets[subset].indices.start);
    for &[a, b] in order.array_windows() {
        let start = subsets[b].indices.start;
        if start < subsets[a].indices.end {
            return Err(format!(
                "subsets {a} and {b} both have face {}; expected each face in one subset",
                start / 3
            ));
        }
    }
    Ok(())
}

fn vertices(file: &mut Scanner, count: u32, bones: u16) -> Result<PrimitiveData> {
    let mut positions = Vec::new();
    let mut tangents = Vec::new();
    let mut normals = Vec::new();
    let mut uvs = Vec::new();
    let mut influences = Influences::default();
    for vertex in 0..count {
        positions.push(values(file, "Position:")?);
        tangents.push(values(file, "Tangent:")?);
        normals.push(values(file, "Normal:")?);
        uvs.push(values(file, "Tex-Coords:")?);
        file.expect("BlendWeights:")?;
        let mut weights = [0.0; 4];
        for weight in &mut weights {
            *weight = file.weight()?;
        }
        // The book's shader ignores the fourth weight and computes it.
        weights[3] = 1.0 - (weights[0] + weights[1] + weights[2]);
        if weights[3] < WEIGHT_ROUNDING {
            weights[3] = 0.0;
        }
        file.expect("BlendIndices:")?;
        let mut pairs = [(0, 0.0); 4];
        for (pair, weight) in pairs.iter_mut().zip(weights) {
            // Without a weight, an index may refer to any bone.
            let most = if weight > 0.0 {
                bones.into()
            } else {
                usize::MAX
            };
            let bone = file.index("bone", most)?;
            let known = if bone < bones.into() { bone } else { 0 };
            *pair = (known as u16, weight);
        }
        file.budget
            .charge_vertices(1, 4, || format!("vertex {vertex}"))?;
        influences.push(pairs);
    }
    // Without vertices, there are none of these streams either.
    Ok(PrimitiveData {
        positions,
        tangents: Some(tangents).filter(|_| count > 0),
        normals: Some(normals).filter(|_| count > 0),
        uvs: Some(uvs).filter(|_| count > 0),
        influences,
        dumped_vertices: count,
        ..PrimitiveData::default()
    })
}

/// Reads the inverse of a bone's bind pose, which must have an inverse itself.
fn bone_offset(file: &mut Scanner, bone: u16) -> Result<Rows> {
    let label = file.expect(&format!("BoneOffset{bone}"))?;
    let matrix = file.numbers("an offset matrix")?;
    let rows = matrices::rows(&matrix)
        .map_err(|problem| DataError::new(file.place(label.offset), problem))?;
    ensure!(
        rows_to_affine(&rows).inverse().is_finite(),
        file.place(label.offset),
        "an offset matrix without an inverse; expected an invertible one"
    );
    Ok(rows)
}

/// Bones at rest are in their bind pose: the file has no other rest pose.
fn joint(
    file: &mut Scanner,
    bone: usize,
    binds: &[DAffine3],
    inverse_binds: &[Rows],
) -> Result<Joint> {
    file.expect(&format!("ParentIndexOfBone{bone}:"))?;
    let start = file.offset();
    let parent = usize::try_from(file.integer::<i64>("a parent")?).ok();
    file.check_parent(start, parent, binds.len(), "bones")?;
    let mut to_parent = binds[bone];
    if let Some(parent) = parent {
        to_parent = rows_to_affine(&inverse_binds[parent]) * to_parent;
    }
    let rest = matrices::decompose(&to_parent);
    Ok(Joint::new(format!("Bone{bone}"), parent, rest))
}

fn clip(file: &mut Scanner, joint_of: &[u16]) -> Result<Clip> {
    file.expect("AnimationClip")?;
    let name = file.token("a clip's name")?;
    let mut keys = Vec::new();
    file.braced(|file| {
        for (bone, &joint) in joint_of.iter().enumerate() {
            file.expect(&format!("Bone{bone}"))?;
            let count: u32 = file.labelled("#Keyframes:")?;
            let tracks = file.braced(|file| bone_tracks(file, joint, count))?;
            keys.extend(tracks.into_keys());
        }
        Ok(())
    })?;
    Clip::new(name.text, None, RotationBlend::Slerp, keys)
        .map_err(|error| DataError::new(file.place(name.offset), error.to_string()))
}

/// Reads a bone's keys.
fn bone_tracks(file: &mut Scanner, joint: u16, count: u32) -> Result<Tracks> {
    let mut tracks = Tracks::new(joint);
    let mut previous = None;
    for _ in 0..count {
        file.expect("Time:")?;
        let time = file.time(previous)?;
        let translation = values(file, "Pos:")?;
        let scale = values(file, "Scale:")?;
        file.expect("Quat:")?;
        let rotation = file.quaternion("a rotation")?;
        tracks.push(time, Some(translation), Some(rotation), Some(scale));
        previous = Some(time);
    }
    Ok(tracks)
}
