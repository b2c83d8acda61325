//! The skinning job and the clusters of the kernels crate, over buffers as engines lay them out.

use glam::{DMat3, DVec3};
use skinbench_kernels::simd::Isa;
use skinbench_kernels::skin::{
    Clusters, JobError, Joints, Palette, SkinningInput, SkinningJob, SkinningOutput, Store,
    Strided, StridedMut, Weights, skin_clusters,
};
use skinbench_kernels::vertex::{Attributes, Normals, VertexFormat};

const VERTICES: usize = 300;
const ENTRIES: usize = 23;

#[derive(Debug, Clone, Copy)]
enum WeightForm {
    F32,
    U8,
    U16,
}

/// The forms of an engine's buffers.
#[derive(Debug, Clone, Copy)]
struct Form {
    influences: usize,
    wide_joints: bool,
    weights: WeightForm,
    /// `true` if joints and weights have no gaps, `false` if all lies in one buffer of whole vertices.
    apart: bool,
}

impl Form {
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for influences in [1, 2, 3, 4, 8, 11] {
            for weights in [WeightForm::F32, WeightForm::U8, WeightForm::U16] {
                for bits in 0..4 {
                    all.push(Self {
                        influences,
                        wide_joints: bits & 1 != 0,
                        weights,
                        apart: bits & 2 != 0,
                    });
                }
            }
        }
        all
    }
}

/// A number from -1 to 1.
fn number(seed: usize) -> f32 {
    let mixed = (seed as u32).wrapping_mul(2_654_435_761).rotate_left(13) ^ 0x9e37_79b9;
    (mixed.wrapping_mul(1_597_334_677) >> 8) as f32 / (1 << 23) as f32 - 1.0
}

/// An engine's vertices, and what they mean.
struct Engine {
    form: Form,
    /// Whole vertices that begin at odd addresses; position 0, normal 12, tangent 24, joints 40, weights behind them.
    vertices: Vec<u8>,
    stride: usize,
    joint_bytes: Vec<u8>,
    weight_bytes: Vec<u8>,
    /// `[vertex][influence]`.
    pairs: Vec<Vec<(usize, f64)>>,
    /// Position, normal and tangent with its handedness.
    points: Vec<[f32; 10]>,
}

impl Engine {
    fn new(form: Form) -> Self {
        let mut engine = Self {
            form,
            vertices: vec![0xff],
            stride: 0,
            joint_bytes: Vec::new(),
            weight_bytes: Vec::new(),
            pairs: Vec::new(),
            points: Vec::new(),
        };
        for vertex in 0..VERTICES {
            let mut point: [f32; 10] = std::array::from_fn(|axis| number(10 * vertex + axis));
            point[9] = if vertex % 2 == 0 { 1.0 } else { -1.0 };
            let (mut joints, mut weights, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
            for influence in 0..form.influences {
                let joint = (7 * vertex + 5 * influence) % ENTRIES;
                // Neighbours share some joints, and some influences have no weight.
                let joint = if influence < 2 {
                    vertex / 40 + influence
                } else {
                    joint
                };
                let exact = match (influence + vertex) % 3 {
                    2 if influence > 0 => 0.0,
                    _ => number(vertex + 31 * influence).abs().max(0.2) / form.influences as f32,
                };
                let weight = match form.weights {
                    WeightForm::F32 => {
                        weights.extend(exact.to_ne_bytes());
                        f64::from(exact)
                    }
                    WeightForm::U8 => {
                        let steps = (exact * 255.0) as u8;
                        weights.push(steps);
                        f64::from(steps) / 255.0
                    }
                    WeightForm::U16 => {
                        let steps = (exact * 65_535.0) as u16;
                        weights.extend(steps.to_ne_bytes());
                        f64::from(steps) / 65_535.0
                    }
                };
                if form.wide_joints {
                    joints.extend((joint as u16).to_ne_bytes());
                } else {
                    joints.push(joint as u8);
                }
                pairs.push((joint, weight));
            }
            engine
                .vertices
                .extend(point.iter().flat_map(|number| number.to_ne_bytes()));
            engine.vertices.extend(&joints);
            engine.vertices.extend(&weights);
            // A gap that nobody may read, and odd addresses.
            engine.vertices.extend([0xff; 5]);
            engine.stride = 45 + joints.len() + weights.len();
            engine.joint_bytes.extend(joints);
            engine.weight_bytes.extend(weights);
            engine.pairs.push(pairs);
            engine.points.push(point);
        }
        engine
    }

    fn input(&self) -> SkinningInput<'_> {
        let at = |offset| Strided::new(&self.vertices, 1 + offset, self.stride);
        let joint_width = self.joint_bytes.len() / VERTICES;
        let (mut joints, mut weights) = (at(40), at(40 + joint_width));
        if self.form.apart {
            joints = Strided::new(&self.joint_bytes, 0, joint_width);
            weights = Strided::new(&self.weight_bytes, 0, self.weight_bytes.len() / VERTICES);
        }
        SkinningInput {
            vertices: VERTICES,
            influences: self.form.influences,
            joints: if self.form.wide_joints {
                Joints::U16(joints)
            } else {
                Joints::U8(joints)
            },
            weights: match self.form.weights {
                WeightForm::F32 => Weights::F32(weights),
                WeightForm::U8 => Weights::U8(weights),
                WeightForm::U16 => Weights::U16(weights),
            },
            positions: at(0),
            normals: Some(at(12)),
            tangents: Some(at(24)),
        }
    }

    /// A vertex by a loop in f64: position, normal, tangent.
    fn skinned(&self, vertex: usize, palette: &[[f32; 12]], normals: Normals) -> [DVec3; 3] {
        let [position, normal, tangent] = [0, 3, 6].map(|first| {
            let [x, y, z] = [0, 1, 2].map(|axis| f64::from(self.points[vertex][first + axis]));
            DVec3::new(x, y, z)
        });
        let (mut blended, mut translation) = (DMat3::ZERO, DVec3::ZERO);
        for &(joint, weight) in &self.pairs[vertex] {
            let m = palette[joint].map(|number| weight * f64::from(number));
            blended +=
                DMat3::from_cols_array(&[m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10]]);
            translation += DVec3::new(m[3], m[7], m[11]);
        }
        let [x, y, z] = [blended.x_axis, blended.y_axis, blended.z_axis];
        let cofactors = DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
        let [normal, tangent] = match normals {
            Normals::Raw => [blended * normal, blended * tangent],
            Normals::Unit => [blended * normal, blended * tangent].map(DVec3::normalize),
            Normals::Exact => [cofactors * normal, blended * tangent].map(DVec3::normalize),
        };
        [blended * position + translation, normal, tangent]
    }
}

/// Matrices near the identity, as rows and as columns.
fn palettes() -> (Vec<[f32; 12]>, Vec<[f32; 16]>) {
    let mut rows = Vec::new();
    let mut columns = Vec::new();
    for entry in 0..ENTRIES {
        let row: [f32; 12] = std::array::from_fn(|c| {
            f32::from(u8::from(c % 5 == 0)) + 0.2 * number(9_000 + 12 * entry + c)
        });
        let mut column = [f32::NAN; 16];
        for (c, number) in row.iter().enumerate() {
            column[c % 4 * 4 + c / 4] = *number;
        }
        rows.push(row);
        columns.push(column);
    }
    (rows, columns)
}

fn assert_near(got: &[f32], want: DVec3, place: impl std::fmt::Display) {
    for (got, want) in got.iter().zip(want.to_array()) {
        // Exact normals divide by cofactors that weights below 1 make small.
        let difference = (f64::from(*got) - want).abs();
        assert!(difference < 2e-5, "{place}: {got}, not {want}");
    }
}

#[test]
fn jobs_of_every_form_agree_with_a_loop_in_f64_and_write_nothing_between() {
    let (rows, columns) = palettes();
    for form in Form::all() {
        let engine = Engine::new(form);
        let job = SkinningJob::new(engine.input()).unwrap();
        for isa in Isa::available() {
            for (index, palette) in [Palette::Rows(&rows), Palette::Columns(&columns)]
                .into_iter()
                .enumerate()
            {
                let normals = Normals::ALL[(form.influences + index) % 3];
                // Two ranges that meet nowhere in particular, each with its part of the output.
                let mut out = vec![7.0f32; 10 * VERTICES];
                let (first, second) = out.split_at_mut(10 * 137);
                for (range, part) in [(0..137, first), (137..VERTICES, second)] {
                    let places = SkinningOutput::interleaved(part, 40, 0, Some(16), Some(28));
                    job.run(isa, palette, normals, range, places).unwrap();
                }
                for (vertex, out) in out.as_chunks::<10>().0.iter().enumerate() {
                    let [position, normal, tangent] = engine.skinned(vertex, &rows, normals);
                    let place = format!("{form:?}, {isa}, palette {index}, vertex {vertex}");
                    assert_near(&out[..3], position, &place);
                    assert_eq!(out[3], 7.0, "{place}: written between");
                    assert_near(&out[4..7], normal, &place);
                    assert_near(&out[7..], tangent, &place);
                }
            }
        }
    }
}

#[test]
fn clusters_of_slices_write_in_the_order_of_the_slices() {
    let (rows, _) = palettes();
    for form in Form::all() {
        let engine = Engine::new(form);
        for isa in Isa::available() {
            for store in [Store::Cached, Store::Streamed] {
                let clusters = Clusters::from_slices(isa, &engine.input(), store).unwrap();
                assert_eq!(clusters.vertices(), VERTICES);
                assert!(clusters.entries() <= ENTRIES);
                let normals = Normals::ALL[form.influences % 3];
                let format = VertexFormat {
                    attributes: Attributes::Pnt,
                    normals,
                    ..VertexFormat::default()
                };
                let mut out = vec![f32::NAN; 10 * VERTICES];
                skin_clusters(&clusters, &[&rows], format, &mut out).unwrap();
                for (vertex, out) in out.as_chunks::<10>().0.iter().enumerate() {
                    let [position, normal, tangent] = engine.skinned(vertex, &rows, normals);
                    let place = format!("{form:?}, {isa}, {store:?}, vertex {vertex}");
                    assert_near(&out[..3], position, &place);
                    assert_near(&out[3..6], normal, &place);
                    assert_near(&out[6..9], tangent, &place);
                    assert_eq!(out[9], engine.points[vertex][9], "{place}");
                }
            }
        }
    }
}

/// Two vertices with a joint and a weight each.
fn two<'a>(joints: &'a [u16], weights: &'a [f32], positions: &'a [f32]) -> SkinningInput<'a> {
    SkinningInput {
        vertices: 2,
        influences: 1,
        joints: Joints::U16(Strided::new(joints, 0, 2)),
        weights: Weights::F32(Strided::new(weights, 0, 4)),
        positions: Strided::new(positions, 0, 12),
        normals: None,
        tangents: None,
    }
}

#[test]
fn faults_of_jobs_are_named_before_anything_is_written() {
    let (joints, weights, positions) = ([0u16, 2], [1.0f32, 1.0], [0.0f32; 7]);
    let input = || two(&joints, &weights, &positions);
    let faults = [
        (
            SkinningInput {
                vertices: 3,
                ..input()
            },
            "joints: 4 bytes are too few; 3 vertices that are 2 bytes apart take 6",
        ),
        (
            SkinningInput {
                influences: 2,
                ..input()
            },
            "joints: a stride of 2 bytes; expected at least the 4 of a vertex",
        ),
        (
            SkinningInput {
                weights: Weights::F32(Strided::new(&weights, 6, 4)),
                ..input()
            },
            "weights: 2 bytes are too few; 2 vertices that are 4 bytes apart take 8",
        ),
        // Every vertex would have the position of the first.
        (
            SkinningInput {
                positions: Strided::new(&positions, 0, 0),
                ..input()
            },
            "positions: a stride of 0 bytes; expected at least the 12 of a vertex",
        ),
        (
            SkinningInput {
                positions: Strided::new(&positions, 0, 17),
                ..input()
            },
            "positions: 28 bytes are too few; 2 vertices that are 17 bytes apart take 29",
        ),
        (
            SkinningInput {
                positions: Strided::new(&positions, 29, 12),
                ..input()
            },
            "positions: 0 bytes are too few; 2 vertices that are 12 bytes apart take 24",
        ),
        (
            SkinningInput {
                influences: 0,
                ..input()
            },
            "influences: 0; expected 1 to 256",
        ),
        (
            SkinningInput {
                influences: 257,
                ..input()
            },
            "influences: 257; expected 1 to 256",
        ),
    ];
    for (input, message) in faults {
        assert_eq!(
            SkinningJob::new(input.clone()).unwrap_err().to_string(),
            message
        );
        let clusters = Clusters::from_slices(Isa::Baseline, &input, Store::Cached);
        assert_eq!(clusters.unwrap_err().to_string(), message);
    }
    let endless = SkinningInput {
        tangents: Some(Strided::new(&positions, 0, usize::MAX)),
        ..input()
    };
    let error = SkinningJob::new(endless).unwrap_err();
    assert!(
        matches!(
            error,
            JobError::TooShort {
                array: "tangents",
                ..
            }
        ),
        "{error}"
    );

    let job = SkinningJob::new(input()).unwrap();
    let mut out = [7.0f32; 6];
    let mut run = |entries, range, stride, normals| {
        let places = SkinningOutput::interleaved(&mut out, stride, 0, normals, None);
        let palette = vec![[0.0; 12]; entries];
        let done = job.run(
            Isa::strongest(),
            Palette::Rows(&palette),
            Normals::Raw,
            range,
            places,
        );
        assert!(
            done.is_ok() || out == [7.0; 6],
            "written before the fault was found"
        );
        done.map_err(|error| error.to_string())
    };
    let refused = |message: &str| Err(message.to_owned());
    assert_eq!(
        run(2, 0..2, 12, None),
        refused("palette: 2 matrices are too few; a vertex names matrix 2")
    );
    assert_eq!(
        run(3, 0..2, 8, None),
        refused("output positions: a stride of 8 bytes; expected at least the 12 of a vertex")
    );
    assert_eq!(
        run(3, 0..2, 12, Some(0)),
        refused("output normals: the input has none; expected no such output")
    );
    assert_eq!(
        run(3, 0..2, 13, None),
        refused(
            "output positions: 24 bytes are too few; 2 vertices that are 13 bytes apart take 25"
        )
    );
    let reversed = std::ops::Range { start: 2, end: 1 };
    for range in [1..3, reversed, usize::MAX - 1..usize::MAX] {
        let message = format!("vertices {range:?}: expected a range within 0..2");
        assert_eq!(run(3, range, 12, None), Err(message));
    }
    run(3, 2..2, 12, None).unwrap();
    run(3, 0..2, 12, None).unwrap();
    assert_eq!(out, [0.0; 6]);
}

/// A translation along y.
fn up(y: f32) -> [f32; 12] {
    [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, 0.0]
}

#[test]
fn instances_of_clusters_have_palettes_of_their_own() {
    let input = two(&[0, 1], &[1.0, 1.0], &[0.0; 6]);
    let format = VertexFormat {
        attributes: Attributes::P,
        ..VertexFormat::default()
    };
    for isa in Isa::available() {
        for store in [Store::Cached, Store::Streamed] {
            let clusters = Clusters::from_slices(isa, &input, store).unwrap();
            let mut out = [7.0f32; 15];
            let mut run = |palettes: &[&[[f32; 12]]], length| {
                skin_clusters(&clusters, palettes, format, &mut out[..length])
                    .map_err(|error| error.to_string())
            };
            let long = [up(1.0), up(2.0), up(3.0)];
            let short = [up(4.0), up(5.0)];
            let refused = |message: &str| Err(message.to_owned());
            assert_eq!(
                run(&[&long, &short[..1]], 15),
                refused("palette: 1 matrices are too few; a vertex names matrix 1")
            );
            assert_eq!(
                run(&[&long, &short], 11),
                refused("output: 44 bytes are too few; 4 vertices that are 12 bytes apart take 48")
            );
            run(&[], 0).unwrap();
            assert_eq!(out, [7.0; 15]);
            let mut run = |palettes: &[&[[f32; 12]]]| {
                skin_clusters(&clusters, palettes, format, &mut out).unwrap();
            };
            run(&[&long, &short]);
            let heights = [1, 4, 7, 10].map(|place| out[place]);
            assert_eq!(heights, [1.0, 2.0, 4.0, 5.0]);
            assert_eq!(out[12..], [7.0; 3]);
        }
    }
}

#[test]
fn no_vertices_are_nothing_to_do() {
    for data in [&[][..], &[7.0f32; 6]] {
        let input = SkinningInput {
            vertices: 0,
            influences: 4,
            joints: Joints::U8(Strided::new(data, 0, 0)),
            weights: Weights::U8(Strided::new(data, 0, 0)),
            positions: Strided::new(data, 0, 0),
            normals: None,
            tangents: None,
        };
        for isa in Isa::available() {
            for store in [Store::Cached, Store::Streamed] {
                let clusters = Clusters::from_slices(isa, &input, store).unwrap();
                let mut out = [7.0f32; 6];
                let format = VertexFormat::default();
                skin_clusters(&clusters, &[&[up(1.0)]], format, &mut out).unwrap();
                assert_eq!(out, [7.0; 6]);
            }
        }
        let job = SkinningJob::new(input).unwrap();
        let places = SkinningOutput::interleaved::<f32>(&mut [], 0, 0, None, None);
        job.run(
            Isa::strongest(),
            Palette::Rows(&[]),
            Normals::Raw,
            0..0,
            places,
        )
        .unwrap();
    }
}

/// A character as an engine keeps it: the job is checked when it is made, and needs nothing else to stay alive.
struct Character {
    job: SkinningJob<'static>,
    vertices: Vec<f32>,
}

#[test]
fn jobs_are_kept_beside_other_buffers_and_shared_among_threads() {
    let kept = {
        let positions = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
        let job = SkinningJob::new(two(&[0, 1], &[1.0, 1.0], &positions));
        job.unwrap().into_owned()
    };
    let mut character = Character {
        job: kept,
        vertices: vec![0.0; 6],
    };
    let palette = [up(0.0), up(10.0)];
    std::thread::scope(|scope| {
        for (vertex, out) in character.vertices.chunks_mut(3).enumerate() {
            let job = &character.job;
            scope.spawn(move || {
                let positions = StridedMut::new(out, 0, 12);
                let places = SkinningOutput {
                    positions,
                    normals: None,
                    tangents: None,
                };
                let palette = Palette::Rows(&palette);
                job.run(
                    Isa::strongest(),
                    palette,
                    Normals::Raw,
                    vertex..vertex + 1,
                    places,
                )
                .unwrap();
            });
        }
    });
    assert_eq!(character.vertices, [1.0, 2.0, 3.0, 4.0, 15.0, 6.0]);
}
