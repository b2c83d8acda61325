//! The vertices of two models in all poses, and which of them are the same.

use super::plan::Pose;
use glam::{DVec3, Vec2};
use skinbench_kernels::crowd::{Crowd, Expression, Layer};
use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::{IDENTITY_ROWS, Model, TargetWeight};
use skinbench_kernels::reference::{Blending, ReferencePose, shown};
use skinbench_kernels::vertex::Normals;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Difference of UVs within which vertices may be the same.
const SAME_UV: f32 = 1e-3;
/// Cosine of the widest angle between normals of vertices that may be the same.
const SAME_SIDE: f64 = 0.97;

/// The vertices of a model in some poses.
pub struct Shown {
    /// `[vertex][pose]`.
    pub positions: Vec<Vec<DVec3>>,
    /// At rest; `None` if the file has none.
    normals: Option<Vec<DVec3>>,
    /// `None` if the file has none.
    uvs: Option<Vec<[f32; 2]>>,
    pub diagonal: f64,
}

impl Shown {
    pub fn new(model: &Arc<Model>, poses: &[Pose]) -> Result<Self> {
        let problem = |error: &dyn fmt::Display| DataError::new(model.name(), error.to_string());
        let held = poses
            .iter()
            .map(|pose| (IDENTITY_ROWS, [Layer::held(pose.clip, pose.time)]));
        let mut crowd = Crowd::new();
        crowd
            .push_group(Arc::clone(model), held)
            .map_err(|error| problem(&error))?;
        if poses.iter().any(|pose| pose.target.is_some()) {
            let mut pinned = Vec::new();
            for pose in poses {
                let weight = |target| TargetWeight {
                    target,
                    weight: 1.0,
                };
                pinned.push(pose.target.map(weight));
            }
            let expressions = pinned.iter().map(|pinned| Expression {
                pinned: pinned.as_slice(),
                alone: pinned.is_some(),
            });
            crowd = crowd
                .with_expressions(expressions)
                .map_err(|error| problem(&error))?;
        }
        let count = model.mesh().vertex_count();
        let mut positions = vec![Vec::with_capacity(poses.len()); count];
        let mut normals = Vec::new();
        for instance in 0..poses.len() as u32 {
            let pose = ReferencePose::new(&crowd, instance, 0);
            for (vertex, positions) in positions.iter_mut().enumerate() {
                let skinned = pose.skin(model, vertex, Normals::Unit, Blending::Linear);
                positions.push(skinned.position);
                if instance == 0 {
                    normals.push(skinned.normal);
                }
            }
        }
        let has_normals = model.mesh().primitives().iter().all(|p| p.has_normals);
        Ok(Self {
            positions,
            normals: has_normals.then_some(normals),
            uvs: model.mesh().uvs().map(<[_]>::to_vec),
            diagonal: shown(&crowd, &crowd.groups()[0]).diagonal,
        })
    }

    /// Vertices by the cell that they are in at rest.
    fn cells(&self, edge: f64) -> HashMap<[i64; 3], Vec<usize>> {
        let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
        for (vertex, positions) in self.positions.iter().enumerate() {
            cells
                .entry(cell(positions[0], edge))
                .or_default()
                .push(vertex);
        }
        cells
    }

    /// Vertices of another model that may be the same as each of these: near at rest, looking to the same side and, if told
    /// so and both have them, with the same UVs.
    pub fn candidates(&self, other: &Self, near: f64, with_uvs: bool) -> Vec<Vec<usize>> {
        let cells = other.cells(near);
        let mut candidates = Vec::new();
        for (vertex, positions) in self.positions.iter().enumerate() {
            let mut found = Vec::new();
            let [x, y, z] = cell(positions[0], near);
            for index in 0..27 {
                let cell = [x + index % 3 - 1, y + index / 3 % 3 - 1, z + index / 9 - 1];
                for &candidate in cells.get(&cell).into_iter().flatten() {
                    let at = other.positions[candidate][0];
                    if positions[0].distance(at) <= near
                        && self.faces_as(vertex, other, candidate)
                        && (!with_uvs || self.has_uv_of(vertex, other, candidate))
                    {
                        found.push(candidate);
                    }
                }
            }
            candidates.push(found);
        }
        candidates
    }

    /// Returns whether two vertices look to the same side at rest, as far as is known.
    fn faces_as(&self, vertex: usize, other: &Self, other_vertex: usize) -> bool {
        match (&self.normals, &other.normals) {
            (Some(a), Some(b)) => {
                let [a, b] = [a[vertex], b[other_vertex]];
                a == DVec3::ZERO || b == DVec3::ZERO || a.dot(b) >= SAME_SIDE
            }
            _ => true,
        }
    }

    /// Returns whether two vertices have the same UVs, as far as is known.
    fn has_uv_of(&self, vertex: usize, other: &Self, other_vertex: usize) -> bool {
        match (&self.uvs, &other.uvs) {
            (Some(a), Some(b)) => {
                let [a, b] = [a[vertex], b[other_vertex]].map(Vec2::from);
                a.abs_diff_eq(b, SAME_UV)
            }
            _ => true,
        }
    }

    /// Of candidates, the vertex of another model that stays nearest to one of these.
    pub fn nearest(&self, vertex: usize, other: &Self, candidates: &[usize]) -> Option<usize> {
        let largest = |candidate: usize| {
            let pairs = self.positions[vertex]
                .iter()
                .zip(&other.positions[candidate]);
            pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
        };
        let candidates = candidates.iter().copied();
        candidates.min_by(|&a, &b| largest(a).total_cmp(&largest(b)))
    }
}

fn cell(position: DVec3, edge: f64) -> [i64; 3] {
    (position / edge).floor().to_array().map(|c| c as i64)
}
