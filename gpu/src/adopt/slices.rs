//! A mesh in slices of the caller's.

use crate::Gpu;
use crate::device::{Named, fits, named, needs};
use crate::forms::morph::sparse;
use crate::shader::layout::{self, INLINE};
use bytemuck::Zeroable;
use skinbench_frame::{Purpose, Result};
use skinbench_kernels::vertex::{Attributes, VertexFormat};

/// Vertices of a mesh with up to four influences each. Skinned vertices are in the same order, so that indices, texture
/// coordinates and colours of the caller's stay valid.
#[derive(Debug, Clone, Copy, Default)]
pub struct MeshSlices<'a> {
    /// One per vertex.
    pub positions: &'a [[f32; 3]],
    /// One per vertex if the format has normals, else any number.
    pub normals: &'a [[f32; 3]],
    /// One per vertex if the format has tangents, else any number.
    pub tangents: &'a [[f32; 4]],
    /// The matrices that move each vertex, by their index among those of an instance. One of weight 0 need not exist.
    pub joints: &'a [[u16; 4]],
    /// The weight of each of these matrices, not negative. They need not be sorted, nor sum to 1.
    pub weights: &'a [[f32; 4]],
    /// Number of matrices of an instance.
    pub matrices: usize,
    /// Morph targets, if any.
    pub targets: &'a [TargetSlices<'a>],
}

/// What a morph target adds to each vertex, times its weight.
#[derive(Debug, Clone, Copy, Default)]
pub struct TargetSlices<'a> {
    /// One per vertex.
    pub positions: &'a [[f32; 3]],
    /// One per vertex, or none if normals stay.
    pub normals: &'a [[f32; 3]],
    /// One per vertex, or none if tangents stay.
    pub tangents: &'a [[f32; 3]],
}

impl MeshSlices<'_> {
    /// Checks that slices have one length, and that every vertex has weights and matrices that exist.
    pub(super) fn check(&self, format: VertexFormat) -> Result<()> {
        let count = self.positions.len();
        needs!(count > 0, "the mesh has no vertex; expected at least one");
        needs!(
            u32::try_from(count).is_ok() && u32::try_from(self.matrices).is_ok(),
            "the mesh has more than 2^32 vertices or matrices; expected fewer"
        );
        let asked = |has: bool, len: usize| if has { len } else { count };
        let has_normals = format.attributes != Attributes::P;
        let has_tangents = format.attributes == Attributes::Pnt;
        for (name, length) in [
            ("joints", self.joints.len()),
            ("weights", self.weights.len()),
            ("normals", asked(has_normals, self.normals.len())),
            ("tangents", asked(has_tangents, self.tangents.len())),
        ] {
            needs!(
                length == count,
                "{length} {name} for {count} positions; expected as many"
            );
        }
        for (number, target) in self.targets.iter().enumerate() {
            for (name, length) in [
                ("positions", target.positions.len()),
                (
                    "normals",
                    asked(!target.normals.is_empty(), target.normals.len()),
                ),
                (
                    "tangents",
                    asked(!target.tangents.is_empty(), target.tangents.len()),
                ),
            ] {
                needs!(
                    length == count,
                    "morph target {number} has {length} {name} for {count} vertices; expected as many"
                );
            }
        }
        for (vertex, (joints, weights)) in self.joints.iter().zip(self.weights).enumerate() {
            let sum: f32 = weights.iter().sum();
            let usable = weights.iter().all(|weight| *weight >= 0.0) && sum.is_normal();
            needs!(
                usable,
                "vertex {vertex} has the weights {weights:?}; expected none below 0, and one above"
            );
            for (joint, weight) in joints.iter().zip(weights) {
                needs!(
                    *weight == 0.0 || usize::from(*joint) < self.matrices,
                    "vertex {vertex} follows matrix {joint}; an instance has {}, from 0 on",
                    self.matrices
                );
            }
        }
        Ok(())
    }

    /// Uploads the vertices, their largest weights first, and the deltas of morph targets.
    pub(super) fn upload(&self, gpu: &Gpu, format: VertexFormat) -> Result<Vec<Named>> {
        let mut vertices = Vec::with_capacity(self.positions.len());
        for (vertex, &position) in self.positions.iter().enumerate() {
            let mut pairs: [(u16, f32); INLINE] =
                std::array::from_fn(|k| (self.joints[vertex][k], self.weights[vertex][k]));
            pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
            let sum: f32 = pairs.iter().map(|pair| pair.1).sum();
            // An unused matrix need not exist.
            let heaviest = pairs[0].0;
            vertices.push(layout::Vertex {
                position,
                normal: self.normals.get(vertex).copied().unwrap_or_default(),
                entries: pairs
                    .map(|(joint, weight)| u32::from(if weight > 0.0 { joint } else { heaviest })),
                weights: pairs.map(|pair| pair.1 / sum),
                ..Zeroable::zeroed()
            });
        }
        let tangents = if format.attributes == Attributes::Pnt {
            self.tangents
        } else {
            &[[0.0; 4]]
        };
        let streams: [(_, &[u8]); 3] = [
            ("vertices", bytemuck::cast_slice(&vertices)),
            ("influences", &[]),
            ("tangents", bytemuck::cast_slice(tangents)),
        ];
        let upload = |(name, bytes)| named(name, &gpu.storage(Purpose::Mesh, name, bytes));
        let mut inputs = streams.map(upload).to_vec();
        if !self.targets.is_empty() {
            let deltas = sparse(self.positions.len(), format, |vertex| {
                self.deltas_of(vertex)
            });
            let bytes = size_of_val(&deltas[..]) as u64;
            fits("morph targets need", bytes, "at once", gpu.binding_bytes())?;
            let deltas = gpu.storage(Purpose::Mesh, "morph_deltas", &deltas);
            inputs.push(named("morph_deltas", &deltas));
        }
        Ok(inputs)
    }

    /// The targets that move a vertex, and what they add to position, normal and tangent.
    fn deltas_of(&self, vertex: usize) -> impl Iterator<Item = (u32, [[f32; 3]; 3])> {
        let at = move |deltas: &[[f32; 3]]| deltas.get(vertex).copied().unwrap_or_default();
        let all = (0..).zip(self.targets).map(move |(number, target)| {
            let streams = [target.positions, target.normals, target.tangents];
            (number, streams.map(at))
        });
        all.filter(|(_, deltas)| *deltas != [[0.0; 3]; 3])
    }
}
