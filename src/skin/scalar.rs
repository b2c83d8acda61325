//! One instance, one vertex at a time: the readable kernel.

use crate::model::{Mesh, Rows, Run};
use crate::vertex::{Normals, VertexFormat, octahedral, pack};

/// Skins one instance.
///
/// `palette` holds the model's palette entries; `out` takes `[vertex][word]`. With tangents asked of a mesh that has
/// none, they are zero.
pub fn skin(mesh: &Mesh, palette: &[Rows], format: VertexFormat, out: &mut [f32]) {
    for run in mesh.runs() {
        match (format.floats(), format.words()) {
            (3, 3) => by_influences::<3, 3>(mesh, run, palette, format.normals, out),
            (6, 6) => by_influences::<6, 6>(mesh, run, palette, format.normals, out),
            (10, 10) => by_influences::<10, 10>(mesh, run, palette, format.normals, out),
            (3, _) => by_influences::<3, 2>(mesh, run, palette, format.normals, out),
            (6, _) => by_influences::<6, 3>(mesh, run, palette, format.normals, out),
            _ => by_influences::<10, 4>(mesh, run, palette, format.normals, out),
        }
    }
}

fn by_influences<const FLOATS: usize, const WORDS: usize>(
    mesh: &Mesh,
    run: &Run,
    palette: &[Rows],
    normals: Normals,
    out: &mut [f32],
) {
    match run.influences {
        1 => skin_run::<FLOATS, WORDS, 1>(mesh, run, palette, normals, out),
        2 => skin_run::<FLOATS, WORDS, 2>(mesh, run, palette, normals, out),
        3 => skin_run::<FLOATS, WORDS, 3>(mesh, run, palette, normals, out),
        4 => skin_run::<FLOATS, WORDS, 4>(mesh, run, palette, normals, out),
        8 => skin_run::<FLOATS, WORDS, 8>(mesh, run, palette, normals, out),
        _ => skin_run::<FLOATS, WORDS, 16>(mesh, run, palette, normals, out),
    }
}

fn skin_run<const FLOATS: usize, const WORDS: usize, const INFLUENCES: usize>(
    mesh: &Mesh,
    run: &Run,
    palette: &[Rows],
    normals: Normals,
    out: &mut [f32],
) {
    let vertices = run.first_vertex as usize..(run.first_vertex + run.vertex_count) as usize;
    let pairs = run.first_influence as usize..run.first_influence as usize + vertices.len() * INFLUENCES;
    let joints = mesh.joints()[pairs.clone()].as_chunks::<INFLUENCES>().0;
    let weights = mesh.weights()[pairs].as_chunks::<INFLUENCES>().0;
    let out = out[vertices.start * WORDS..].as_chunks_mut::<WORDS>().0;

    for (((vertex, joints), weights), out) in vertices.zip(joints).zip(weights).zip(out) {
        let mut m = [0.0; 12];
        for (&joint, &weight) in joints.iter().zip(weights) {
            let entry = &palette[usize::from(joint)];
            for (sum, value) in m.iter_mut().zip(entry) {
                *sum += weight * value;
            }
        }
        let mut numbers = [0.0; FLOATS];
        let p = mesh.positions()[vertex];
        let moved = rotate(&m, p);
        (numbers[0], numbers[1], numbers[2]) = (moved[0] + m[3], moved[1] + m[7], moved[2] + m[11]);
        if FLOATS >= 6 {
            let n = mesh.normals()[vertex];
            let normal = if normals == Normals::Exact { rotate(&cofactors(&m), n) } else { rotate(&m, n) };
            numbers[3..6].copy_from_slice(&finished(normal, normals));
        }
        if FLOATS >= 10 {
            let t = mesh.tangents().map_or([0.0; 4], |t| t[vertex]);
            numbers[6..9].copy_from_slice(&finished(rotate(&m, [t[0], t[1], t[2]]), normals));
            numbers[9] = t[3];
        }
        if WORDS == FLOATS {
            out.copy_from_slice(&numbers);
        } else {
            write_packed(mesh, &numbers, out);
        }
    }
}

/// The words of [`crate::vertex`]'s packed encoding.
pub(super) fn write_packed(mesh: &Mesh, numbers: &[f32], out: &mut [f32]) {
    let cube = mesh.cube();
    let [x, y, z] = std::array::from_fn(|c| (numbers[c] - cube.centre[c]) / cube.half);
    out[0] = f32::from_bits(pack(x, y));
    out[1] = f32::from_bits(pack(z, if numbers.len() >= 10 { numbers[9] } else { 0.0 }));
    for (word, first) in (2..out.len()).zip([3, 6]) {
        let [u, v] = octahedral([numbers[first], numbers[first + 1], numbers[first + 2]]);
        out[word] = f32::from_bits(pack(u, v));
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
    let cross = |a: usize, b: usize| {
        [
            m[a + 1] * m[b + 2] - m[a + 2] * m[b + 1],
            m[a + 2] * m[b] - m[a] * m[b + 2],
            m[a] * m[b + 1] - m[a + 1] * m[b],
        ]
    };
    let [x, y, z] = [cross(4, 8), cross(8, 0), cross(0, 4)];
    [x[0], x[1], x[2], 0.0, y[0], y[1], y[2], 0.0, z[0], z[1], z[2], 0.0]
}

/// Unit length unless raw. A normal of zero length (a joint scaled to nothing) stays zero instead of NaN.
fn finished(n: [f32; 3], normals: Normals) -> [f32; 3] {
    if normals == Normals::Raw {
        return n;
    }
    let length_squared = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    let scale = if length_squared > 0.0 { 1.0 / length_squared.sqrt() } else { 0.0 };
    n.map(|v| v * scale)
}
