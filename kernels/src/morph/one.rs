//! Morphs one instance. Neighbouring vertices of a target are neighbouring floats, which lie side by side in lanes.

use crate::model::{Mesh, Shape, TargetWeight};
use crate::simd::{self, Isa, Kernel, Simd};
use crate::vertex::Attributes;

/// Memory for the vertices of one instance.
#[derive(Debug, Clone)]
pub struct ShapeBuffer {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    tangents: Vec<[f32; 4]>,
}

impl ShapeBuffer {
    /// Allocates memory for meshes of up to so many vertices and tangents.
    pub fn new(vertices: usize, tangents: usize) -> Self {
        Self {
            positions: vec![[0.0; 3]; vertices],
            normals: vec![[0.0; 3]; vertices],
            tangents: vec![[0.0; 4]; tangents],
        }
    }
}

/// Adds the deltas of active targets to the vertices of a mesh. Streams that `attributes` does not name, and all of them
/// without an active target, stay the mesh's own. On a machine that lacks `isa`, the code for the baseline of its
/// architecture runs instead.
///
/// # Panics
/// `buffer` is too small for the mesh, or it lacks one of the targets.
pub fn morph<'a>(
    isa: Isa,
    mesh: &'a Mesh,
    active: &[TargetWeight],
    attributes: Attributes,
    buffer: &'a mut ShapeBuffer,
) -> Shape<'a> {
    let mut shape = mesh.shape();
    if active.is_empty() {
        return shape;
    }
    let targets = mesh.targets();
    let count = mesh.vertex_count();
    let positions = &mut buffer.positions[..count];
    positions.copy_from_slice(shape.positions);
    add(isa, mesh, active, targets.positions(), positions);
    shape.positions = positions;
    if attributes > Attributes::P {
        let normals = &mut buffer.normals[..count];
        normals.copy_from_slice(shape.normals);
        add(isa, mesh, active, targets.normals(), normals);
        shape.normals = normals;
    }
    if attributes > Attributes::Pn
        && let Some(base) = shape.tangents
    {
        let tangents = &mut buffer.tangents[..count];
        tangents.copy_from_slice(base);
        add_tangents(mesh, active, tangents);
        shape.tangents = Some(tangents);
    }
    shape
}

fn add(isa: Isa, mesh: &Mesh, active: &[TargetWeight], deltas: &[[f32; 3]], out: &mut [[f32; 3]]) {
    let kernel = AddKernel {
        mesh,
        active,
        deltas,
        out,
    };
    simd::run(isa, kernel);
}

/// Adds one stream of deltas to one stream of vertices.
struct AddKernel<'a> {
    mesh: &'a Mesh,
    active: &'a [TargetWeight],
    deltas: &'a [[f32; 3]],
    out: &'a mut [[f32; 3]],
}

impl Kernel for AddKernel<'_> {
    #[inline(always)] // to take on the caller's instruction set
    fn run<const W: usize, V: Simd<W>>(self) {
        let Self {
            mesh,
            active,
            deltas,
            out,
        } = self;
        for &TargetWeight { target, weight } in active {
            for span in mesh.targets().spans(target as usize) {
                let deltas = deltas[span.deltas()].as_flattened();
                let out = out[span.vertices()].as_flattened_mut();
                let (wide, rest) = out.as_chunks_mut::<W>();
                let (wide_deltas, rest_deltas) = deltas.as_chunks::<W>();
                for (out, delta) in wide.iter_mut().zip(wide_deltas) {
                    V::splat(weight)
                        .mul_add(V::load(delta), V::load(out))
                        .store(out);
                }
                for (out, delta) in rest.iter_mut().zip(rest_deltas) {
                    *out += weight * delta;
                }
            }
        }
    }
}

fn add_tangents(mesh: &Mesh, active: &[TargetWeight], out: &mut [[f32; 4]]) {
    let targets = mesh.targets();
    for &TargetWeight { target, weight } in active {
        for span in targets.spans(target as usize) {
            let deltas = &targets.tangents()[span.deltas()];
            for (out, delta) in out[span.vertices()].iter_mut().zip(deltas) {
                for (out, delta) in out.iter_mut().zip(delta) {
                    *out += weight * delta;
                }
            }
        }
    }
}
