//! Skins one instance, one vertex at a time: the most readable kernel.

use super::words::MOST_FLOATS;
use crate::model::{Mesh, Rows, Shape, VertexRun};
use crate::vertex::{Normals, VANISHING, VertexFormat, octahedral, pack};
use std::ops::Range;

/// Vertices that are packed together.
const BATCH: usize = 64;

/// Skins one instance.
///
/// `palette` holds [`Mesh::entries`] matrices. `out` takes `[vertex][word]`: [`Mesh::vertex_count`] vertices of
/// [`VertexFormat::words`] words, packed ones as the bits of floats. If the format has tangents and the mesh has none,
/// tangents are zero.
///
/// # Panics
/// `palette` or `out` is too short.
pub fn skin(mesh: &Mesh, palette: &[Rows], format: VertexFormat, out: &mut [f32]) {
    skin_shape(mesh, mesh.shape(), palette, format, out);
}

/// As [`skin`], with the morphed vertices of `shape`.
///
/// # Panics
/// As [`skin`], or `shape` has fewer vertices than the mesh.
pub fn skin_shape(
    mesh: &Mesh,
    shape: Shape,
    palette: &[Rows],
    format: VertexFormat,
    out: &mut [f32],
) {
    in_runs(
        mesh,
        format,
        out,
        |numbers, out| write_packed(mesh, format, numbers, out),
        |run, vertices, out| match run.influences {
            1 => skin_run::<1>(mesh, shape, run, vertices, palette, format, out),
            2 => skin_run::<2>(mesh, shape, run, vertices, palette, format, out),
            3 => skin_run::<3>(mesh, shape, run, vertices, palette, format, out),
            4 => skin_run::<4>(mesh, shape, run, vertices, palette, format, out),
            8 => skin_run::<8>(mesh, shape, run, vertices, palette, format, out),
            _ => skin_run::<16>(mesh, shape, run, vertices, palette, format, out),
        },
    );
}

/// Calls `skin(run, vertices, floats)` for neighbouring vertices of each run. `skin` writes their numbers as plain
/// floats: into `out`, or into a buffer from which `pack(numbers, words)` packs them.
pub(super) fn in_runs(
    mesh: &Mesh,
    format: VertexFormat,
    out: &mut [f32],
    pack: impl Fn(&[f32], &mut [f32]),
    mut skin: impl FnMut(&VertexRun, Range<usize>, &mut [f32]),
) {
    let floats = format.floats();
    let words = format.words();
    let is_packed = words < floats;
    let mut numbers = [0.0; BATCH * MOST_FLOATS];
    for run in mesh.runs() {
        let end = (run.first_vertex + run.vertex_count) as usize;
        let mut first = run.first_vertex as usize;
        while first < end {
            let vertices = first..if is_packed {
                end.min(first + BATCH)
            } else {
                end
            };
            first = vertices.end;
            let count = vertices.len();
            let out = &mut out[vertices.start * words..vertices.end * words];
            let plain = if is_packed {
                &mut numbers[..count * floats]
            } else {
                &mut *out
            };
            skin(run, vertices, plain);
            if is_packed {
                pack(&numbers[..count * floats], out);
            }
        }
    }
}

fn skin_run<const INFLUENCES: usize>(
    mesh: &Mesh,
    shape: Shape,
    run: &VertexRun,
    vertices: Range<usize>,
    palette: &[Rows],
    format: VertexFormat,
    out: &mut [f32],
) {
    let floats = format.floats();
    let normals = format.normals;
    let (joints, weights) = mesh.pairs::<INFLUENCES>(run, vertices.clone());
    let sources = shape.positions[vertices.clone()]
        .iter()
        .zip(&shape.normals[vertices.clone()])
        .zip(vertices);
    let pairs = joints.iter().zip(weights);
    for (((joints, weights), ((p, n), vertex)), out) in
        pairs.zip(sources).zip(out.chunks_exact_mut(floats))
    {
        let mut m = [0.0; 12];
        for (&joint, &weight) in joints.iter().zip(weights) {
            let entry = &palette[usize::from(joint)];
            for (sum, value) in m.iter_mut().zip(entry) {
                *sum += weight * value;
            }
        }
        let [x, y, z] = rotate(&m, *p);
        out[..3].copy_from_slice(&[x + m[3], y + m[7], z + m[11]]);
        if floats >= 6 {
            let normal = if normals == Normals::Exact {
                rotate(&cofactors(&m), *n)
            } else {
                rotate(&m, *n)
            };
            out[3..6].copy_from_slice(&finished(normal, normals));
        }
        if floats >= 10 {
            let [x, y, z, handedness] = shape.tangents.map_or([0.0; 4], |t| t[vertex]);
            out[6..9].copy_from_slice(&finished(rotate(&m, [x, y, z]), normals));
            out[9] = handedness;
        }
    }
}

/// Writes the words of [`crate::vertex`]'s packed encoding.
fn write_packed(mesh: &Mesh, format: VertexFormat, numbers: &[f32], out: &mut [f32]) {
    let cube = mesh.cube();
    for (numbers, out) in numbers
        .chunks_exact(format.floats())
        .zip(out.chunks_exact_mut(format.words()))
    {
        let [x, y, z] = std::array::from_fn(|c| (numbers[c] - cube.centre[c]) / cube.half);
        out[0] = f32::from_bits(pack(x, y));
        out[1] = f32::from_bits(pack(z, if numbers.len() >= 10 { numbers[9] } else { 0.0 }));
        for (word, first) in (2..out.len()).zip([3, 6]) {
            let [u, v] = octahedral([numbers[first], numbers[first + 1], numbers[first + 2]]);
            out[word] = f32::from_bits(pack(u, v));
        }
    }
}

fn rotate(m: &Rows, v: [f32; 3]) -> [f32; 3] {
    [
        m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
        m[4] * v[0] + m[5] * v[1] + m[6] * v[2],
        m[8] * v[0] + m[9] * v[1] + m[10] * v[2],
    ]
}

/// Cofactors of the 3x3 part: each row is the cross product of the other two.
fn cofactors(m: &Rows) -> Rows {
    let x = cross(m, 4, 8);
    let y = cross(m, 8, 0);
    let z = cross(m, 0, 4);
    [
        x[0], x[1], x[2], 0.0, y[0], y[1], y[2], 0.0, z[0], z[1], z[2], 0.0,
    ]
}

/// Cross product of the rows that begin at `a` and `b`.
fn cross(m: &Rows, a: usize, b: usize) -> [f32; 3] {
    [
        m[a + 1] * m[b + 2] - m[a + 2] * m[b + 1],
        m[a + 2] * m[b] - m[a] * m[b + 2],
        m[a] * m[b + 1] - m[a + 1] * m[b],
    ]
}

/// Normalises unless raw. What is shorter than the root of [`VANISHING`] stays shorter than 1.
fn finished(n: [f32; 3], normals: Normals) -> [f32; 3] {
    if normals == Normals::Raw {
        return n;
    }
    let length_squared = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    let scale = 1.0 / length_squared.max(VANISHING).sqrt();
    n.map(|v| v * scale)
}
