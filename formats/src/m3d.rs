//! Importer of `.m3d`, the text format of Frank Luna's DirectX 12 book, chapter 23.
//!
//! Left-handed, Y up, row vectors. Vertices become one primitive; the subset table divides its triangles by material.

use crate::fault::{Fault, ensure};
use crate::read_file::read_file;
use crate::request::Request;
use crate::tokenizer::{Scanner, Syntax};
use crate::tracks::Tracks;
use crate::unread::Ignored;
use crate::{ImportError, matrices};
use glam::DAffine3;
use skinbench_kernels::model::{
    Axes, Clip, Handedness, Joint, Material, ModelParts, PrimitiveData, RotationBlend, Rows,
    Skeleton, SkinData, Subset, rows_to_affine,
};

/// Surfaces beyond their colour, the vertices of subsets, which their triangles name anyway, and the fourth weight, which
/// follows from the others.
pub(super) const IGNORED: Ignored = &[
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

/// First bytes of the binary and the text form of Model 3D, another format whose files end in `.m3d`.
const MODEL_3D: [&[u8]; 2] = [b"3DMO", b"3dmodel "];

const SYNTAX: Syntax = Syntax {
    marks: "{}",
    comments: false,
};

/// A fourth weight below this is a rounding error of 1 - (w0 + w1 + w2).
const WEIGHT_ROUNDING: f32 = 1e-6;

pub(super) fn sniff(head: &[u8]) -> bool {
    crate::read_file::contains(head, "m3d-File-Header")
}

/// Reads a file.
pub(super) fn import(request: &Request) -> Result<ModelParts, ImportError> {
    let file = request.file;
    let bytes = read_file(file)?;
    if MODEL_3D.iter().any(|start| bytes.starts_with(start)) {
        let expected = "expected the text format of Luna's DirectX 12 samples";
        let problem = format!("is Model 3D, another format with this ending; {expected}");
        return Err(ImportError::new(file, "", problem));
    }
    Scanner::read_bytes(file, bytes, SYNTAX, read)
}

fn read(file: &mut Scanner, name: String) -> Result<ModelParts, Fault> {
    title(file, "m3d-File-Header")?;
    let material_count: u16 = file.labelled("#Materials")?;
    let vertex_count: u32 = file.labelled("#Vertices")?;
    let triangle_count: u32 = file.labelled("#Triangles")?;
    let bone_count: u16 = file.labelled("#Bones")?;
    let clip_count: u32 = file.labelled("#AnimationClips")?;
    title(file, "Materials")?;
    let materials = (0..material_count)
        .map(|_| material(file))
        .collect::<Result<_, _>>()?;
    title(file, "SubsetTable")?;
    let table = file.offset();
    let mut subsets = Vec::new();
    for material in 0..material_count {
        subsets.push(subset(file, material, triangle_count)?);
    }
    if let Some(problem) = overlap(&subsets) {
        return Err(file.fault(table, problem));
    }
    title(file, "Vertices")?;
    let mut primitive = vertices(file, vertex_count, bone_count)?;
    primitive.subsets = subsets;
    title(file, "Triangles")?;
    for _ in 0..3 * u64::from(triangle_count) {
        primitive
            .indices
            .push(file.index("vertex", vertex_count as usize)?);
    }
    title(file, "BoneOffsets")?;
    let offsets: Vec<_> = (0..bone_count)
        .map(|bone| bone_offset(file, bone))
        .collect::<Result<_, _>>()?;
    title(file, "BoneHierarchy")?;
    let joints = (0..offsets.len())
        .map(|bone| joint(file, bone, &offsets))
        .collect::<Result<_, _>>()?;
    let (skeleton, joint_of) = Skeleton::new(joints)?;
    title(file, "AnimationClips")?;
    let clips = (0..clip_count)
        .map(|_| clip(file, &joint_of))
        .collect::<Result<_, _>>()?;
    let inverse_binds = offsets.iter().map(|(rows, _)| *rows).collect();
    let skin = SkinData {
        name: String::new(),
        joints: joint_of,
        inverse_binds,
    };
    Ok(ModelParts {
        axes: Axes {
            handedness: Handedness::Left,
            up: 1,
        },
        clips,
        materials,
        repairs: file
            .off_unit
            .describe("rotation keys")
            .into_iter()
            .collect(),
        ..ModelParts::new(name, skeleton, skin, vec![primitive])
    })
}

/// Expects a title between asterisks.
fn title(file: &mut Scanner, title: &str) -> Result<(), Fault> {
    let expected = format!("a line of asterisks around {title}");
    let token = file.token(&expected)?;
    let found = token.text.starts_with('*') && token.text.trim_matches('*') == title;
    ensure(found, || file.unexpected(token, &expected))
}

fn values<const N: usize>(file: &mut Scanner, label: &str) -> Result<[f32; N], Fault> {
    file.expect(label)?;
    file.numbers(label)
}

fn material(file: &mut Scanner) -> Result<Material, Fault> {
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

fn subset(file: &mut Scanner, material: u16, triangles: u32) -> Result<Subset, Fault> {
    let start = file.offset();
    for label in ["SubsetID:", "VertexStart:", "VertexCount:"] {
        file.labelled::<u32>(label)?;
    }
    let first: u32 = file.labelled("FaceStart:")?;
    let count: u32 = file.labelled("FaceCount:")?;
    let end = first.saturating_add(count);
    ensure(end <= triangles, || {
        let expected = format!("expected them among the file's {triangles} triangles");
        file.fault(start, format!("{count} faces from {first}; {expected}"))
    })?;
    // The header's count is not verified until the triangles have been read.
    Ok(Subset {
        material,
        indices: first.saturating_mul(3)..end.saturating_mul(3),
    })
}

/// Describes the first two subsets that share a triangle. Each subset could draw all triangles of the file once more.
fn overlap(subsets: &[Subset]) -> Option<String> {
    let mut order: Vec<usize> = (0..subsets.len())
        .filter(|&subset| !subsets[subset].indices.is_empty())
        .collect();
    order.sort_by_key(|&subset| subsets[subset].indices.start);
    let overlapping = |pair: &&[usize; 2]| {
        let [before, after] = pair.map(|subset| &subsets[subset].indices);
        after.start < before.end
    };
    let [a, b] = order.array_windows().find(overlapping)?;
    let face = subsets[*b].indices.start / 3;
    let expected = "expected each face in one subset";
    Some(format!(
        "subsets {a} and {b} both have face {face}; {expected}"
    ))
}

fn vertices(file: &mut Scanner, count: u32, bones: u16) -> Result<PrimitiveData, Fault> {
    let mut primitive = PrimitiveData {
        dumped_vertices: count,
        ..PrimitiveData::default()
    };
    for vertex in 0..count {
        primitive.positions.push(values(file, "Position:")?);
        primitive
            .tangents
            .get_or_insert_default()
            .push(values(file, "Tangent:")?);
        primitive
            .normals
            .get_or_insert_default()
            .push(values(file, "Normal:")?);
        primitive
            .uvs
            .get_or_insert_default()
            .push(values(file, "Tex-Coords:")?);
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
        primitive.influences.push(pairs);
    }
    Ok(primitive)
}

/// Reads an inverse bind and computes its inverse.
fn bone_offset(file: &mut Scanner, bone: u16) -> Result<(Rows, DAffine3), Fault> {
    let label = file.expect(&format!("BoneOffset{bone}"))?;
    let matrix = file.numbers("an offset matrix")?;
    let rows = matrices::rows(&matrix).map_err(|problem| file.fault(label.offset, problem))?;
    let bind = rows_to_affine(&rows).inverse();
    let problem = "an offset matrix without an inverse; expected an invertible one";
    ensure(bind.is_finite(), || file.fault(label.offset, problem))?;
    Ok((rows, bind))
}

/// Bones at rest are in their bind pose: the file has no other rest pose.
fn joint(file: &mut Scanner, bone: usize, offsets: &[(Rows, DAffine3)]) -> Result<Joint, Fault> {
    file.expect(&format!("ParentIndexOfBone{bone}:"))?;
    let start = file.offset();
    let parent = usize::try_from(file.integer::<i64>("a parent")?).ok();
    file.check_parent(start, parent, offsets.len(), "bones")?;
    let bind = offsets[bone].1;
    let to_parent = parent.map_or(bind, |parent| rows_to_affine(&offsets[parent].0) * bind);
    Ok(Joint::new(
        format!("Bone{bone}"),
        parent,
        matrices::decompose(&to_parent),
    ))
}

fn clip(file: &mut Scanner, joint_of: &[u16]) -> Result<Clip, Fault> {
    file.expect("AnimationClip")?;
    let name = file.token("a clip's name")?;
    let keys = file.braced(|file| {
        let mut keys = Vec::new();
        for (bone, &joint) in joint_of.iter().enumerate() {
            file.expect(&format!("Bone{bone}"))?;
            let count: u32 = file.labelled("#Keyframes:")?;
            keys.extend(
                file.braced(|file| bone_tracks(file, joint, count))?
                    .into_keys(),
            );
        }
        Ok(keys)
    })?;
    Clip::new(name.text, None, RotationBlend::Slerp, keys)
        .map_err(|error| file.fault(name.offset, error.to_string()))
}

/// Reads a bone's keys.
fn bone_tracks(file: &mut Scanner, joint: u16, count: u32) -> Result<Tracks, Fault> {
    let mut tracks = Tracks::new(joint);
    let mut previous = None;
    for _ in 0..count {
        file.expect("Time:")?;
        let time = file.time(previous)?;
        let (translation, scale) = (values(file, "Pos:")?, values(file, "Scale:")?);
        file.expect("Quat:")?;
        tracks.push(
            time,
            Some(translation),
            Some(file.quaternion("a rotation")?),
            Some(scale),
        );
        previous = Some(time);
    }
    Ok(tracks)
}
