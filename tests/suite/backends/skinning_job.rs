//! The skinning job of the kernels crate, over buffers as engines lay them out.

use crate::backends::common::tube;
use proptest::prelude::*;
use skinbench::model::Rows;
use skinbench::simd::Isa;
use skinbench::skin::{JobError, SkinningInput, SkinningJob, SkinningOutput, Strided, skin};
use skinbench::vertex::{Attributes, Normals, VertexFormat};
use std::cell::Cell;

/// Items that are `stride` numbers apart. Nobody may read the NaN between them.
fn spread<const N: usize>(items: impl Iterator<Item = [f32; N]>, stride: usize) -> Vec<f32> {
    items
        .flat_map(|item| item.into_iter().chain(vec![f32::NAN; stride - N]))
        .collect()
}

proptest! {
    #[test]
    fn jobs_write_what_the_scalar_kernel_writes_and_nothing_between(
        rings in 1u32..40,
        strides in [3usize..6, 3usize..6, 3usize..6],
        gap in 0usize..4,
        interleaved: bool,
        attributes in prop::sample::select(vec![Attributes::P, Attributes::Pn, Attributes::Pnt]),
        normals in prop::sample::select(vec![Normals::Raw, Normals::Unit, Normals::Exact]),
    ) {
        let model = tube(20, rings, 16);
        let mesh = model.mesh();
        let palette: Vec<Rows> = (0..mesh.entries())
            .map(|j| std::array::from_fn(|c| f32::from(u8::from(c % 5 == 0)) + ((7 * j + 3 * c) % 19) as f32 / 100.0))
            .collect();
        let format = VertexFormat { attributes, normals, ..VertexFormat::default() };
        let mut want = vec![f32::NAN; mesh.vertex_count() * format.floats()];
        skin(mesh, &palette, format, &mut want);

        let positions = spread(mesh.positions().iter().copied(), strides[0]);
        let all_normals = spread(mesh.normals().iter().copied(), strides[1]);
        let tangents = spread(mesh.tangents().unwrap().iter().map(|[x, y, z, _]| [*x, *y, *z]), strides[2]);
        for (run, isa) in mesh.runs().iter().flat_map(|run| Isa::available().map(move |isa| (run, isa))) {
            let (first, vertices, influences) =
                (run.first_vertex as usize, run.vertex_count as usize, run.influences as usize);
            let job = SkinningJob::new(SkinningInput {
                vertices,
                influences,
                joints: Strided::new(&mesh.joints()[run.first_influence as usize..], influences),
                weights: Strided::new(&mesh.weights()[run.first_influence as usize..], influences),
                positions: Strided::new(&positions[first * strides[0]..], strides[0]),
                normals: Some(Strided::new(&all_normals[first * strides[1]..], strides[1])),
                tangents: Some(Strided::new(&tangents[first * strides[2]..], strides[2])),
            })
            .unwrap();

            let triples = format.floats() / 3;
            // One slice of whole vertices, or one after the other of each attribute.
            let (stride, next) = if interleaved { (3 * triples + gap, 3) } else { (3 + gap, vertices * (3 + gap)) };
            let mut out = vec![7.0; vertices * triples * (3 + gap)];
            let cells = Cell::from_mut(&mut out[..]).as_slice_of_cells();
            let place = |triple: usize| (triple < triples).then(|| Strided::new(&cells[triple * next..], stride));
            let output = SkinningOutput { positions: place(0).unwrap(), normals: place(1), tangents: place(2) };
            job.run(isa, &palette, normals, output).unwrap();

            for (vertex, want) in want.chunks_exact(format.floats()).skip(first).take(vertices).enumerate() {
                for triple in 0..triples {
                    let at = vertex * stride + triple * next;
                    for (got, want) in out[at..at + 3].iter_mut().zip(&want[3 * triple..]) {
                        let got = std::mem::replace(got, 7.0);
                        prop_assert!((got - want).abs() < 3e-6, "{isa}, {influences} influences: {got}, not {want}");
                    }
                }
            }
            prop_assert!(out.iter().all(|number| *number == 7.0), "{isa}: wrote between the vertices");
        }
    }
}

#[test]
fn faults_of_jobs_are_named_before_anything_is_written() {
    let (joints, weights, positions) = ([0u16, 2], [1.0f32, 1.0], [0.0f32; 7]);
    let input = SkinningInput {
        vertices: 2,
        influences: 1,
        joints: Strided::new(&joints, 1),
        weights: Strided::new(&weights, 1),
        positions: Strided::new(&positions, 4),
        normals: None,
        tangents: None,
    };
    let refused = |input| SkinningJob::new(input).unwrap_err().to_string();
    let short = "joints: 2 numbers are too few; 3 vertices that are 1 apart take 3";
    assert_eq!(
        refused(SkinningInput {
            vertices: 3,
            ..input
        }),
        short
    );
    let overlap =
        "joints: a stride of 1; each vertex has 2 numbers, and strides count elements, not bytes";
    assert_eq!(
        refused(SkinningInput {
            influences: 2,
            ..input
        }),
        overlap
    );
    // Every vertex would have the position of the first.
    let overlap = "positions: a stride of 0; each vertex has 3 numbers, and strides count elements, not bytes";
    assert_eq!(
        refused(SkinningInput {
            positions: Strided::new(&positions, 0),
            ..input
        }),
        overlap
    );
    assert_eq!(
        refused(SkinningInput {
            influences: 0,
            ..input
        }),
        "influences: 0; a vertex needs at least 1"
    );
    let short = "positions: 7 numbers are too few; 2 vertices that are 5 apart take 8";
    assert_eq!(
        refused(SkinningInput {
            positions: Strided::new(&positions, 5),
            ..input
        }),
        short
    );
    let endless = SkinningInput {
        tangents: Some(Strided::new(&positions, usize::MAX)),
        ..input
    };
    assert!(matches!(
        SkinningJob::new(endless),
        Err(JobError::TooShort {
            array: "tangents",
            ..
        })
    ));

    let job = SkinningJob::new(input).unwrap();
    let out = [const { Cell::new(7.0f32) }; 6];
    let places = SkinningOutput {
        positions: Strided::new(&out, 3),
        normals: None,
        tangents: None,
    };
    let run = |entries, places| {
        job.run(
            Isa::strongest(),
            &vec![[0.0; 12]; entries],
            Normals::Raw,
            places,
        )
    };
    let named = "palette: 2 matrices are too few; a vertex names matrix 2";
    assert_eq!(run(2, places).unwrap_err().to_string(), named);
    let overlapping = SkinningOutput {
        positions: Strided::new(&out, 2),
        ..places
    };
    assert_eq!(
        run(3, overlapping).unwrap_err().to_string(),
        "output positions: a stride of 2; each vertex has 3 numbers, and strides count elements, not bytes"
    );
    let missing = SkinningOutput {
        normals: Some(Strided::new(&out, 3)),
        ..places
    };
    assert_eq!(
        run(3, missing).unwrap_err().to_string(),
        "output normals: the job has none to skin"
    );
    let short = SkinningOutput {
        positions: Strided::new(&out[1..], 3),
        ..places
    };
    assert!(matches!(
        run(3, short),
        Err(JobError::TooShort {
            array: "output positions",
            given: 5,
            needed: 6,
            ..
        })
    ));
    assert!(out.iter().all(|number| number.get() == 7.0));
    run(3, places).unwrap();
    assert!(out.iter().all(|number| number.get() == 0.0));
    let none = SkinningJob::new(SkinningInput {
        vertices: 0,
        ..input
    })
    .unwrap();
    none.run(Isa::strongest(), &[], Normals::Raw, places)
        .unwrap();
}

/// A character as an engine keeps it: the job is checked when it is made, and needs nothing else to stay alive.
struct Character {
    job: SkinningJob<'static>,
    vertices: Vec<f32>,
}

#[test]
fn jobs_are_kept_beside_other_buffers() {
    let kept = {
        let (joints, weights, positions) =
            ([0u16, 1], [1.0f32, 1.0], [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let job = SkinningJob::new(SkinningInput {
            vertices: 2,
            influences: 1,
            joints: Strided::new(&joints, 1),
            weights: Strided::new(&weights, 1),
            positions: Strided::new(&positions, 3),
            normals: None,
            tangents: None,
        });
        job.unwrap().into_owned()
    };
    let mut character = Character {
        job: kept,
        vertices: vec![0.0; 6],
    };
    let out = Cell::from_mut(&mut character.vertices[..]).as_slice_of_cells();
    let places = SkinningOutput {
        positions: Strided::new(out, 3),
        normals: None,
        tangents: None,
    };
    let up = |y| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, 0.0];
    let run = character
        .job
        .run(Isa::strongest(), &[up(0.0), up(10.0)], Normals::Raw, places);
    run.unwrap();
    assert_eq!(character.vertices, [1.0, 2.0, 3.0, 4.0, 15.0, 6.0]);
}
