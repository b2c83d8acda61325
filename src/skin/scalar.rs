//! One instance, one vertex at a time: the readable kernel.

use crate::model::{Mesh, Rows, Run};
use crate::vertex::{Attributes, Normals, VertexFormat};

/// Skins one instance.
///
/// `palette` holds the model's palette entries; `out` takes `[vertex][format.floats()]`. With tangents asked of a mesh
/// that has none, they are zero.
pub fn skin(mesh: &Mesh, palette: &[Rows], format: VertexFormat, out: &mut [f32]) {
    for run in mesh.runs() {
        match format.attributes {
            Attributes::P => by_influences::<3>(mesh, run, palette, format.normals, out),
            Attributes::Pn => by_influences::<6>(mesh, run, palette, format.normals, out),
            Attributes::Pnt => by_influences::<10>(mesh, run, palette, format.normals, out),
        }
    }
}

fn by_influences<const FLOATS: usize>(mesh: &Mesh, run: &Run, palette: &[Rows], normals: Normals, out: &mut [f32]) {
    match run.influences {
        1 => skin_run::<FLOATS, 1>(mesh, run, palette, normals, out),
        2 => skin_run::<FLOATS, 2>(mesh, run, palette, normals, out),
        3 => skin_run::<FLOATS, 3>(mesh, run, palette, normals, out),
        4 => skin_run::<FLOATS, 4>(mesh, run, palette, normals, out),
        8 => skin_run::<FLOATS, 8>(mesh, run, palette, normals, out),
        _ => skin_run::<FLOATS, 16>(mesh, run, palette, normals, out),
    }
}

fn skin_run<const FLOATS: usize, const INFLUENCES: usize>(
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
    let out = out[vertices.start * FLOATS..].as_chunks_mut::<FLOATS>().0;

    for (((vertex, joints), weights), out) in vertices.zip(joints).zip(weights).zip(out) {
        let mut m = [0.0; 12];
        for (&joint, &weight) in joints.iter().zip(weights) {
            let entry = &palette[usize::from(joint)];
            for (sum, value) in m.iter_mut().zip(entry) {
                *sum += weight * value;
            }
        }
        let p = mesh.positions()[vertex];
        out[0] = m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3];
        out[1] = m[4] * p[0] + m[5] * p[1] + m[6] * p[2] + m[7];
        out[2] = m[8] * p[0] + m[9] * p[1] + m[10] * p[2] + m[11];
        if FLOATS >= 6 {
            let n = mesh.normals()[vertex];
            let normal = if normals == Normals::Exact { rotate(&cofactors(&m), n) } else { rotate(&m, n) };
            out[3..6].copy_from_slice(&finished(normal, normals));
        }
        if FLOATS >= 10 {
            let t = mesh.tangents().map_or([0.0; 4], |t| t[vertex]);
            out[6..9].copy_from_slice(&finished(rotate(&m, [t[0], t[1], t[2]]), normals));
            out[9] = t[3];
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
