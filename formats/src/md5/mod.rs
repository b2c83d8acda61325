//! Importer of MD5 version 10: `.md5mesh` and `.md5anim`, the text formats of id Software's Doom 3.
//!
//! Right-handed, Z up. A mesh has no positions: each weight has an offset in its joint's space, and the bind pose gives
//! the positions of vertices. There are no normals either.

mod clip;
mod grammar;

use crate::fault::{Fault, ensure};
use crate::request::Request;
use crate::tokenizer::{Scanner, Token};
use crate::unread::Ignored;
use crate::{ImportError, matrices};
use glam::{DAffine3, DVec3};
use grammar::{ListedJoint, SYNTAX, preamble, tuple, unit_quaternion};
use skinbench_kernels::model::{
    Axes, Handedness, Joint, Material, ModelParts, PrimitiveData, Repair, Skeleton, SkinData,
    Subset, affine_to_rows,
};
use std::fs;
use std::path::{Path, PathBuf};

/// The file's generator, and boxes around the frames of clips. Boxes are computed here instead of read.
pub(super) const IGNORED: Ignored = &["bounds", "commandline"];

/// Largest distance in one coordinate between the bind positions of a vertex by its weights that is not reported.
const APART: f64 = 1e-3;

pub(super) fn sniff(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"MD5Version")
        && crate::read_file::contains(head, "numMeshes")
}

/// Reads a model and its clips. If none are given, these are the `.md5anim` of the same name beside the model, then
/// every other one of the folder whose joints have the names of the model's.
pub(super) fn import(request: &Request) -> Result<ModelParts, ImportError> {
    let Request { file, clips, .. } = *request;
    let (mut parts, joints) = Scanner::read(file, SYNTAX, read)?;
    let joint_of = parts.skins[0].joints.clone();
    let own = file.with_extension("md5anim");
    let found = if clips.is_empty() {
        clips_beside(file, &own)
    } else {
        clips.to_vec()
    };
    for path in found {
        match clip::import(&path, &joints, &joint_of) {
            Ok(clip) => parts.clips.push(clip),
            // A folder may hold several characters.
            Err(error) if clips.is_empty() && path != own => {
                parts.repairs.push(Repair::new(format!("left out {error}")));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(parts)
}

/// Clip files of a model's folder, with the model's own first.
fn clips_beside(file: &Path, own: &Path) -> Vec<PathBuf> {
    let folder = file
        .parent()
        .filter(|f| !f.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| file.with_file_name(entry.file_name()))
        .filter(|path| {
            path.extension()
                .is_some_and(|e| e.eq_ignore_ascii_case("md5anim"))
                && path.is_file()
        })
        .collect();
    found.sort_by_key(|path| (path != own, path.clone()));
    found
}

struct VertexLine {
    offset: usize,
    uv: [f32; 2],
    first_weight: u32,
    weights: u32,
}

struct Weight {
    joint: u16,
    bias: f32,
    /// In the joint's space.
    position: DVec3,
}

fn read(file: &mut Scanner, name: String) -> Result<(ModelParts, Vec<ListedJoint>), Fault> {
    preamble(file)?;
    let joints: u16 = file.labelled("numJoints")?;
    let meshes: u16 = file.labelled("numMeshes")?;
    file.expect("joints")?;
    let (listed, poses): (Vec<ListedJoint>, Vec<DAffine3>) =
        file.braced(|file| (0..joints).map(|_| joint(file, joints)).collect())?;
    let mut apart = Vec::new();
    let (materials, primitives) = (0..meshes)
        .map(|material| {
            file.expect("mesh")?;
            file.braced(|file| mesh(file, material, &poses, &mut apart))
        })
        .collect::<Result<_, Fault>>()?;
    let rest = |(joint, pose): (&ListedJoint, &DAffine3)| {
        let to_parent = joint
            .parent
            .map_or(*pose, |parent| poses[parent].inverse() * *pose);
        Joint::new(&joint.name, joint.parent, matrices::decompose(&to_parent))
    };
    let (skeleton, joint_of) = Skeleton::new(listed.iter().zip(&poses).map(rest).collect())?;
    let inverse_binds = poses
        .iter()
        .map(|pose| affine_to_rows(&pose.inverse()))
        .collect();
    let skin = SkinData {
        name: String::new(),
        joints: joint_of,
        inverse_binds,
    };
    let mut parts = ModelParts {
        axes: Axes {
            handedness: Handedness::Right,
            up: 2,
        },
        materials,
        ..ModelParts::new(name, skeleton, skin, primitives)
    };
    if let Some(worst) = apart.iter().copied().reduce(f64::max) {
        let count = apart.len();
        let message = format!(
            "placed {count} vertices at the mean of their weights' positions, which are up to {worst} apart at bind"
        );
        parts.repairs.push(Repair::new(message));
    }
    Ok((parts, listed))
}

/// Reads one of `count` joints and its bind pose.
fn joint(file: &mut Scanner, count: u16) -> Result<(ListedJoint, DAffine3), Fault> {
    let start = file.offset();
    let joint = ListedJoint::read(file)?;
    file.check_parent(start, joint.parent, count.into(), "joints")?;
    let translation = DVec3::from(tuple(file, "a position")?.map(f64::from));
    let rotation = unit_quaternion(tuple(file, "an orientation")?);
    Ok((
        joint,
        DAffine3::from_rotation_translation(rotation, translation),
    ))
}

/// Reads a mesh. `apart` gets the distance between the bind positions of each vertex whose weights give different ones:
/// no product of one position with joint matrices can express them.
fn mesh(
    file: &mut Scanner,
    material: u16,
    poses: &[DAffine3],
    apart: &mut Vec<f64>,
) -> Result<(Material, PrimitiveData), Fault> {
    let name = if file.accept("shader") {
        file.string("a shader")?
    } else {
        ""
    }
    .to_owned();
    let vertices = list(file, "numverts", "vert", |file, token| {
        let (offset, uv) = (token.offset, tuple(file, "a uv")?);
        let first_weight = file.integer("the first weight")?;
        Ok(VertexLine {
            offset,
            uv,
            first_weight,
            weights: file.integer("a number of weights")?,
        })
    })?;
    let triangles = list(file, "numtris", "tri", |file, _| {
        let mut triangle = [0; 3];
        for corner in &mut triangle {
            *corner = file.index("vertex", vertices.len())?;
        }
        // The format's front faces are clockwise.
        triangle.swap(1, 2);
        Ok(triangle)
    })?;
    let weights = list(file, "numweights", "weight", |file, _| {
        let (joint, bias) = (file.index("joint", poses.len())? as u16, file.weight()?);
        Ok(Weight {
            joint,
            bias,
            position: DVec3::from(tuple(file, "a position")?.map(f64::from)),
        })
    })?;

    let mut primitive = PrimitiveData {
        uvs: Some(vertices.iter().map(|v| v.uv).collect()),
        indices: triangles.into_flattened(),
        dumped_vertices: vertices.len() as u32,
        ..Default::default()
    };
    primitive.subsets = vec![Subset {
        material,
        indices: 0..primitive.indices.len() as u32,
    }];
    for vertex in &vertices {
        let end = vertex.first_weight.saturating_add(vertex.weights) as usize;
        let Some(own) = weights.get(vertex.first_weight as usize..end) else {
            let VertexLine {
                offset,
                first_weight,
                weights: count,
                ..
            } = vertex;
            let expected = format!("expected them among the mesh's {}", weights.len());
            return Err(file.fault(
                *offset,
                format!("{count} weights from {first_weight}; {expected}"),
            ));
        };
        // Vertices may share weights, so that few bytes can request many influences.
        file.budget
            .charge_vertices(1, own.len(), || "weights".into())?;
        let sum: f64 = own.iter().map(|w| f64::from(w.bias)).sum();
        ensure(sum > 0.0, || {
            let problem =
                "the vertex has no weight above 0; expected at least one, which gives its position";
            file.fault(vertex.offset, problem)
        })?;
        let placed = |w: &Weight| poses[usize::from(w.joint)].transform_point3(w.position);
        let position = own
            .iter()
            .map(|w| f64::from(w.bias) / sum * placed(w))
            .sum::<DVec3>();
        let held = own.iter().filter(|w| w.bias > 0.0);
        let distance = held
            .map(|w| (placed(w) - position).length())
            .fold(0.0, f64::max);
        if distance > APART * position.abs().max_element().max(1.0) {
            apart.push(distance);
        }
        primitive.positions.push(position.as_vec3().to_array());
        primitive
            .influences
            .push(own.iter().map(|w| (w.joint, w.bias)));
    }
    Ok((
        Material {
            name,
            ..Material::default()
        },
        primitive,
    ))
}

/// Reads `numthings N`, then N times `thing INDEX` and the values that `read` takes.
fn list<T>(
    file: &mut Scanner,
    label: &str,
    each: &str,
    mut read: impl FnMut(&mut Scanner, Token) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let count: u32 = file.labelled(label)?;
    let item = |index| {
        let token = file.expect(each)?;
        file.exactly(index, "the index")?;
        read(file, token)
    };
    (0..count).map(item).collect()
}
