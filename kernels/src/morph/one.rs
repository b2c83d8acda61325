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
        let vectors = || vec![[0.0; 3]; vertices];
        Self {
            positions: vectors(),
            normals: vectors(),
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
    let own = mesh.shape();
    if active.is_empty() {
        return own;
    }
    let (targets, count) = (mesh.targets(), mesh.vertex_count());
    let ShapeBuffer {
        positions,
        normals,
        tangents,
    } = buffer;
    let positions = &mut positions[..count];
    positions.copy_from_slice(own.positions);
    let add = |deltas, out| {
        simd::run(
            isa,
            AddKernel {
                mesh,
                active,
                deltas,
                out,
            },
        )
    };
    add(targets.positions(), positions);
    let normals = if attributes > Attributes::P {
        let normals = &mut normals[..count];
        normals.copy_from_slice(own.normals);
        add(targets.normals(), normals);
        normals
    } else {
        own.normals
    };
    let tangents = match own.tangents {
        Some(base) if attributes > Attributes::Pn => {
            let tangents = &mut tangents[..count];
            tangents.copy_from_slice(base);
            add_tangents(mesh, active, tangents);
            Some(&*tangents)
        }
        base => base,
    };
    Shape {
        positions,
        normals,
        tangents,
    }
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
    fn run<const W: usize, S: Simd<W>>(self) {
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
                    S::store(
                        S::mul_add(S::splat(weight), S::load(delta), S::load(out)),
                        out,
                    );
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
            for (out, delta) in out[span.vertices()]
                .iter_mut()
                .zip(&targets.tangents()[span.deltas()])
            {
                out.iter_mut()
                    .zip(delta)
                    .for_each(|(out, delta)| *out += weight * delta);
            }
        }
    }
}
