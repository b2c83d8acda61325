//! The built-in character: a person of 67 joints, made by formula, the same bytes on every platform.
//!
//! `rig` places the joints, `body` is the signed distance field around them, `surface` meshes it, `cloth` colours the
//! mesh, `weights` bind it to the joints, and `clips` move them. All of it is f64 without the standard library's
//! trigonometry, whose last digits differ between platforms; only finished numbers are rounded to f32.

mod body;
mod clips;
mod cloth;
mod rig;
mod surface;
#[cfg(test)]
mod tests;
mod weights;

pub use clips::{RUN_SPEED, WALK_SPEED};

use crate::model::{Axes, Influences, Model, ModelError, ModelParts, PrimitiveData, SkinData, Subset, affine_to_rows};
use body::Body;
use cloth::Cloth;
use glam::DVec3;
use rayon::prelude::*;
use rig::Rig;
use std::f64::consts::TAU;
use std::ops::RangeInclusive;
use surface::{Surface, surface};
use weights::Weights;

/// Numbers of vertices that [`walker`] can be asked for.
pub const VERTICES: RangeInclusive<u32> = 500..=200_000;

/// Height in metres.
const HEIGHT: f64 = 1.75;

/// A person, 1.75 m tall, facing +Z with the feet on the ground y = 0, with about `vertices` vertices (within 10 %)
/// in one closed skin, 67 joints, and the clips `idle`, `walk`, `run` and `wave`.
///
/// # Errors
/// A number of vertices outside [`VERTICES`].
pub fn walker(vertices: u32) -> Result<Model, ModelError> {
    if !VERTICES.contains(&vertices) {
        return Err(ModelError::new(
            "walker",
            format!("{vertices} vertices; expected {} to {}", VERTICES.start(), VERTICES.end()),
        ));
    }
    let rig = Rig::new();
    let (surface, body) = surface(&rig.landmarks, vertices);
    let skeleton = rig.skeleton()?;
    let inverse_binds = skeleton.rest_model_pose().iter().map(|pose| affine_to_rows(&pose.inverse())).collect();
    let joints = (0..skeleton.len() as u16).collect();
    Model::new(ModelParts {
        name: "walker".into(),
        axes: Axes::Y_UP,
        clips: clips::clips(&rig)?,
        skeleton,
        skins: vec![SkinData { name: "walker".into(), joints, inverse_binds }],
        primitives: vec![primitive(&rig, &surface, &body)],
        materials: Cloth::ALL.iter().map(|cloth| cloth.material()).collect(),
        repairs: Vec::new(),
    })
}

fn primitive(rig: &Rig, surface: &Surface, body: &Body) -> PrimitiveData {
    let weights = Weights::new(rig, body.finger_join);
    let held: Vec<_> = surface.positions.par_iter().map(|&p| weights.of(p, body)).collect();
    let mut influences = Influences::new();
    for pairs in held {
        influences.push(pairs.map(|(joint, weight)| (joint as u16, weight as f32)));
    }

    let mut triangles: Vec<(Cloth, [u32; 3])> = surface
        .triangles
        .iter()
        .map(|&triangle| {
            let sum: DVec3 = triangle.iter().map(|&vertex| surface.positions[vertex as usize]).sum();
            (Cloth::at(sum / 3.0, &rig.landmarks, body), triangle)
        })
        .collect();
    // Stable, so that neighbours stay neighbours.
    triangles.sort_by_key(|&(cloth, _)| cloth);
    let subsets = Cloth::ALL.iter().enumerate().map(|(material, &cloth)| {
        let end_of = |up_to: Cloth| 3 * triangles.partition_point(|&(c, _)| c <= up_to) as u32;
        let count = 3 * triangles.iter().filter(|&&(c, _)| c == cloth).count() as u32;
        Subset { material: material as u16, indices: end_of(cloth) - count..end_of(cloth) }
    });

    PrimitiveData {
        skin: 0,
        subsets: subsets.filter(|subset| !subset.indices.is_empty()).collect(),
        indices: triangles.iter().flat_map(|&(_, triangle)| triangle).collect(),
        normals: Some(surface.normals.iter().map(rounded).collect()),
        tangents: Some(surface.normals.iter().map(tangent).collect()),
        uvs: Some(surface.positions.iter().map(uv).collect()),
        dumped_vertices: surface.positions.len() as u32,
        positions: surface.positions.iter().map(rounded).collect(),
        influences,
    }
}

fn rounded(v: &DVec3) -> [f32; 3] {
    v.to_array().map(|c| c as f32)
}

/// Round the body's axis once and up from the ground; the seam is down the back, unsplit.
fn uv(p: &DVec3) -> [f32; 2] {
    [(0.5 + libm::atan2(p.x, p.z) / TAU) as f32, (p.y / HEIGHT) as f32]
}

/// Level, with the bitangent `normal x tangent` upwards as [`uv`]'s second coordinate.
fn tangent(normal: &DVec3) -> [f32; 4] {
    let level = DVec3::Y.cross(*normal);
    let t = if level.length_squared() > 1e-12 { level.normalize() } else { DVec3::X };
    [t.x as f32, t.y as f32, t.z as f32, 1.0]
}
