//! Morph targets: `p' = p + sum w_i d_i` for positions, normals and tangents, before joints move the vertex.
//!
//! [`weights()`] computes the weights of an instance at a tick; those that are not 0 are its *active* targets. Vertices
//! are morphed by [`morph`] for one instance, and by [`morph_lanes`] for a block of instances side by side. Only active
//! targets are read. A morphed normal is not normalised: skinning does that.

mod lanes;
mod one;
mod scratch;
mod weights;

pub use lanes::{MorphedLanes, lane_rows, morph_lanes};
pub use one::{ShapeBuffer, morph};
pub use scratch::MorphScratch;
pub use weights::{weights, weights_of};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::BLOCK;
    use crate::fixture_tests;
    use crate::model::{Model, Target, TargetDeltas, TargetWeight};
    use crate::simd::Isa;
    use crate::vertex::Attributes;

    /// Numbers that look random, from -1 to 1.
    fn noise(seed: u32) -> impl FnMut() -> f32 {
        let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
        move || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as i32 as f32 / 2f32.powi(31)
        }
    }

    /// A strip of 60 vertices with tangents, and targets that move some of them.
    fn model(seed: u32, targets: usize) -> Model {
        let mut parts = fixture_tests::chain().into_parts();
        let mut random = noise(seed);
        parts.targets = vec![Target::default(); targets];
        let primitive = &mut parts.primitives[0];
        let mut vector = || [random(), random(), random()];
        primitive.positions = (0..60).map(|_| vector()).collect();
        primitive.normals = Some((0..60).map(|_| vector()).collect());
        primitive.tangents = Some(
            (0..60)
                .map(|_| vector())
                .map(|[x, y, z]| [x, y, z, 1.0])
                .collect(),
        );
        primitive.influences = crate::model::Influences::default();
        (0..60).for_each(|v: u16| {
            primitive
                .influences
                .push([(v % 64, 0.5), (v / 2, 0.25 * f32::from(v % 3))])
        });
        for target in 0..targets as u32 {
            let mut deltas = TargetDeltas {
                target,
                ..TargetDeltas::default()
            };
            for vertex in 0..60 {
                // Spans of many lengths, and vertices that nothing moves.
                if (vertex * (target + 3) / 7) % 3 == 0 && vertex % 11 != 5 {
                    deltas.push(vertex, [vector(), vector(), vector()]);
                }
            }
            primitive.targets.push(deltas);
        }
        Model::new(parts).unwrap()
    }

    /// The definition, in f64: position, normal and tangent of each vertex.
    fn expected(model: &Model, weights: &[f32]) -> Vec<[f64; 9]> {
        let mesh = model.mesh();
        let targets = mesh.targets();
        let tangents = mesh.tangents().unwrap();
        let unmoved = |v: usize| {
            let [px, py, pz] = mesh.positions()[v];
            let [nx, ny, nz] = mesh.normals()[v];
            let [tx, ty, tz, _] = tangents[v];
            [px, py, pz, nx, ny, nz, tx, ty, tz].map(f64::from)
        };
        let mut vertices: Vec<[f64; 9]> = (0..mesh.vertex_count()).map(unmoved).collect();
        for (target, vertex, delta) in targets.entries() {
            let deltas = targets.deltas(delta);
            for (sum, delta) in vertices[vertex].iter_mut().zip(deltas.as_flattened()) {
                *sum += f64::from(weights[target]) * f64::from(*delta);
            }
        }
        vertices
    }

    #[test]
    fn instances_and_blocks_morph_as_defined_on_every_instruction_set() {
        for (seed, targets) in [(1, 1), (2, 5), (3, 23)] {
            let model = model(seed, targets);
            let mesh = model.mesh();
            let mut random = noise(seed + 100);
            // Some weights are 0, some beyond 1.
            let mut weight = || if random() < -0.3 { 0.0 } else { 2.0 * random() };
            let lanes: Vec<Vec<f32>> = (0..BLOCK)
                .map(|_| (0..targets).map(|_| weight()).collect())
                .collect();
            let rows: Vec<[f32; BLOCK]> = (0..targets)
                .map(|t| std::array::from_fn(|lane| lanes[lane][t]))
                .collect();
            for (isa, attributes) in Isa::available()
                .flat_map(|isa| [Attributes::P, Attributes::Pn, Attributes::Pnt].map(|a| (isa, a)))
            {
                let count = 3 * (attributes as usize - Attributes::P as usize + 1);
                let mut memory = vec![[f32::NAN; BLOCK]; lane_rows(mesh, attributes)];
                let block = morph_lanes(isa, mesh, &rows, attributes, &mut memory);
                for (lane, weights) in lanes.iter().enumerate() {
                    let all = (0..)
                        .zip(weights)
                        .map(|(target, &weight)| TargetWeight { target, weight });
                    let active: Vec<_> = all.filter(|active| active.weight != 0.0).collect();
                    let mut buffer = ShapeBuffer::new(mesh.vertex_count(), mesh.vertex_count());
                    let shape = morph(isa, mesh, &active, attributes, &mut buffer);
                    for (vertex, want) in expected(&model, weights).iter().enumerate() {
                        let (p, n) = (shape.positions[vertex], shape.normals[vertex]);
                        let t = shape.tangents.unwrap()[vertex];
                        let got = [p[0], p[1], p[2], n[0], n[1], n[2], t[0], t[1], t[2]];
                        for row in 0..count {
                            let off = |got: f32| (f64::from(got) - want[row]).abs();
                            assert!(
                                off(got[row]) < 2e-5,
                                "{isa}, vertex {vertex}, row {row}: {}",
                                off(got[row])
                            );
                            match block.vertex(vertex) {
                                Some(rows) => {
                                    assert!(off(rows[row][lane]) < 2e-5, "{isa}, lane {lane}")
                                }
                                None => assert_eq!(
                                    mesh.targets().slots()[vertex],
                                    crate::model::UNMOVED
                                ),
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_is_copied_without_an_active_target() {
        let model = model(7, 3);
        let mut buffer = ShapeBuffer::new(0, 0);
        let shape = morph(Isa::Scalar, model.mesh(), &[], Attributes::Pnt, &mut buffer);
        assert!(std::ptr::eq(shape.positions, model.mesh().positions()));
    }
}
