//! Importer of MD5 version 10: `.md5mesh` and `.md5anim`, the text formats of id Software's Doom 3.
//!
//! Right-handed, Z up. A mesh has no positions: each weight has an offset in its joint's space, and the bind pose gives
//! the positions of vertices. There are no normals either.

mod clip;
mod grammar;

use crate::ignored::Ignored;
use crate::request::Request;
use crate::tokenizer::{Scanner, Token};
use crate::{beside, matrices};
use glam::{DAffine3, DVec3};
use grammar::{ListedJoint, SYNTAX, preamble, tuple, unit_quaternion};
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{
    Joint, Material, ModelParts, Notes, PrimitiveData, Skeleton, SkinData, affine_to_rows,
};
use std::fs;
use std::path::{Path, PathBuf};

/// The file's generator, and boxes around the frames of clips. Boxes are computed here instead of read.
pub const IGNORED: Ignored = &["bounds", "commandline"];

/// Largest distance between the bind positions of a vertex by its weights that is not noted, relative to its largest
/// coordinate.
const ROUNDING: f64 = 1e-3;
/// Kind of note about vertices whose weights have larger distances.
const APART: &str =
    "placed # vertices at the mean of their weights' positions, which are up to @ apart at bind";

pub fn sniff(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"MD5Version")
        && crate::read_file::contains(head, "numMeshes")
}

/// Reads a model and its clips. If none are given, these are the `.md5anim` of the same name beside the model, then
/// every other one of the folder whose joints have the names of the model's.
pub fn import(request: &Request, notes: &mut Notes) -> Result<ModelParts> {
    let Request { file, clips, .. } = *request;
    let (mut parts, joints) = Scanner::read(file, SYNTAX, notes, read)?;
    let joint_of = parts.skins[0].joints.clone();
    let same_name = file.with_extension("md5anim");
    let found = if clips.is_empty() {
        clips_beside(file, &same_name)
    } else {
        clips.to_vec()
    };
    for path in found {
        match clip::import(&path, &joints, &joint_of, notes) {
            Ok(clip) => parts.clips.push(clip),
            // A folder may hold several characters.
            Err(error) if clips.is_empty() && path != same_name => {
                notes.add_name("left out clips", error.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(parts)
}

/// Clip files of a model's folder, that of the same name first.
fn clips_beside(file: &Path, same_name: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(beside::folder(file)).into_iter();
    let mut found = Vec::new();
    for entry in entries.flatten().flatten() {
        let path = file.with_file_name(entry.file_name());
        let extension = path.extension().unwrap_or_default();
        if extension.eq_ignore_ascii_case("md5anim") && path.is_file() {
            found.push(path);
        }
    }
    found.sort_by_key(|path| (path != same_name, path.clone()));
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

impl Weight {
    /// Its position at bind.
    fn placed(&self, poses: &[DAffine3]) -> DVec3 {
        poses[usize::from(self.joint)].transform_point3(self.position)
    }
}

fn read(file: &mut Scanner, name: String) -> Result<(ModelParts, Vec<ListedJoint>)> {
    preamble(file)?;
    let joints: u16 = file.labelled("numJoints")?;
    let meshes: u16 = file.labelled("numMeshes")?;
    file.expect("joints")?;
    let mut listed = Vec::new();
    let mut poses = Vec::new();
    file.braced(|file| {
        for _ in 0..joints {
            let start = file.offset();
            let joint = ListedJoint::read(file)?;
            file.check_parent(start, joint.parent, joints.into(), "joints")?;
            let translation = DVec3::from(tuple(file, "a position")?.map(f64::from));
            let rotation = unit_quaternion(tuple(file, "an orientation")?);
            listed.push(joint);
            poses.push(DAffine3::from_rotation_translation(rotation, translation));
        }
        Ok(())
    })?;
    let mut materials = Vec::new();
    let mut primitives = Vec::new();
    for material in 0..meshes {
        file.expect("mesh")?;
        file.braced(|file| {
            let mut name = "";
            if file.accept("shader") {
                name = file.string("a shader")?;
            }
            materials.push(Material {
                name: name.into(),
                ..Material::default()
            });
            primitives.push(mesh(file, material, &poses)?);
            Ok(())
        })?;
    }
    let mut joints = Vec::new();
    for (joint, pose) in listed.iter().zip(&poses) {
        let above = joint.parent.map(|parent| poses[parent].inverse());
        let to_parent = above.map_or(*pose, |above| above * *pose);
        let rest = matrices::decompose(&to_parent);
        joints.push(Joint::new(&joint.name, joint.parent, rest));
    }
    let (skeleton, joint_of) = Skeleton::new(joints)?;
    let inverse_binds = poses.iter().map(|pose| affine_to_rows(&pose.inverse()));
    let skin = SkinData {
        name: String::new(),
        joints: joint_of,
        inverse_binds: inverse_binds.collect(),
    };
    let mut parts = ModelParts::new(name, skeleton, skin, primitives);
    parts.axes.up = 2;
    parts.materials = materials;
    Ok((parts, listed))
}

/// Reads a mesh. Vertices whose weights give different positions at bind are noted: no product of one position with joint
/// matrices can express them.
fn mesh(file: &mut Scanner, material: u16, poses: &[DAffine3]) -> Result<PrimitiveData> {
    let vertices = list(file, "numverts", "vert", |file, token| {
        Ok(VertexLine {
            offset: token.offset,
            uv: tuple(file, "a uv")?,
            first_weight: file.integer("the first weight")?,
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
        Ok(Weight {
            joint: file.index("joint", poses.len())? as u16,
            bias: file.weight()?,
            position: DVec3::from(tuple(file, "a position")?.map(f64::from)),
        })
    })?;

    let mut primitive = PrimitiveData {
        uvs: Some(vertices.iter().map(|v| v.uv).collect()),
        dumped_vertices: vertices.len() as u32,
        ..Default::default()
    };
    primitive.add_subset(material, triangles.into_flattened());
    for vertex in &vertices {
        let first = vertex.first_weight;
        let end = first.saturating_add(vertex.weights) as usize;
        let Some(weights) = weights.get(first as usize..end) else {
            bail!(
                file.place(vertex.offset),
                "{} weights from {first}; expected them among the mesh's {}",
                vertex.weights,
                weights.len()
            );
        };
        // Vertices may share weights, so that few bytes can request many influences.
        file.budget
            .charge_vertices(1, weights.len(), || "weights".into())?;
        let sum: f64 = weights.iter().map(|w| f64::from(w.bias)).sum();
        ensure!(
            sum > 0.0,
            file.place(vertex.offset),
            "the vertex has no weight above 0; expected at least one, which gives its position"
        );
        let mut position = DVec3::ZERO;
        for weight in weights {
            position += f64::from(weight.bias) / sum * weight.placed(poses);
        }
        let mut distance = 0.0f64;
        for weight in weights {
            if weight.bias > 0.0 {
                distance = distance.max((weight.placed(poses) - position).length());
            }
        }
        if distance > ROUNDING * position.abs().max_element().max(1.0) {
            file.notes
                .add_number(APART, distance as f32, distance as f32);
        }
        primitive.positions.push(position.as_vec3().to_array());
        let pairs = weights.iter().map(|w| (w.joint, w.bias));
        primitive.influences.push(pairs);
    }
    Ok(primitive)
}

/// Reads `numthings N`, then N times `thing INDEX` and the values that `read` takes.
fn list<T>(
    file: &mut Scanner,
    label: &str,
    each: &str,
    mut read: impl FnMut(&mut Scanner, Token) -> Result<T>,
) -> Result<Vec<T>> {
    let count: u32 = file.labelled(label)?;
    let mut items = Vec::new();
    for index in 0..count {
        let token = file.expect(each)?;
        file.exactly(index, "the index")?;
        items.push(read(file, token)?);
    }
    Ok(items)
}
