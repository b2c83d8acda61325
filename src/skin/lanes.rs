//! A block of instances at once, one in each lane: the mesh is read once a block, the palette without gathers.

#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Baseline, Simd};
use crate::isa::Isa;
use crate::model::{Mesh, Run};
use crate::pose::Affine;
use crate::vertex::{Attributes, Normals, VertexFormat};

/// Vertices gathered before they are written out, so that writes are whole cache lines.
const TILE: usize = 16;
/// Most rows of a tile, in the narrowest vectors: 16 vertices of 10 floats, 4 at a time.
const MAX_ROWS: usize = 40;

/// Skins a block of up to `N` instances.
///
/// `palette` holds the model's palette entries in lanes; `out` takes `[instance][vertex][format.floats()]` for as many
/// instances as it has room for. With tangents asked of a mesh that has none, they are zero. An instruction set that
/// the machine lacks falls back to the baseline.
pub fn skin_lanes<const N: usize>(isa: Isa, mesh: &Mesh, palette: &[Affine<N>], format: VertexFormat, out: &mut [f32]) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_available() => {
            // SAFETY: the features were detected.
            unsafe { skin_avx512(mesh, palette, format, out) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if isa.is_available() => {
            // SAFETY: the features were detected.
            unsafe { skin_avx2(mesh, palette, format, out) }
        }
        _ => skin_runs::<N, 4, Baseline>(mesh, palette, format, out),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn skin_avx512<const N: usize>(mesh: &Mesh, palette: &[Affine<N>], format: VertexFormat, out: &mut [f32]) {
    skin_runs::<N, 16, Avx512>(mesh, palette, format, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn skin_avx2<const N: usize>(mesh: &Mesh, palette: &[Affine<N>], format: VertexFormat, out: &mut [f32]) {
    skin_runs::<N, 8, Avx2>(mesh, palette, format, out);
}

#[inline(always)] // to take on the caller's instruction set
fn skin_runs<const N: usize, const W: usize, S: Simd<W>>(
    mesh: &Mesh,
    palette: &[Affine<N>],
    format: VertexFormat,
    out: &mut [f32],
) {
    for run in mesh.runs() {
        match format.attributes {
            Attributes::P => by_influences::<N, W, S, 3>(mesh, run, palette, format.normals, out),
            Attributes::Pn => by_influences::<N, W, S, 6>(mesh, run, palette, format.normals, out),
            Attributes::Pnt => by_influences::<N, W, S, 10>(mesh, run, palette, format.normals, out),
        }
    }
}

#[inline(always)] // as skin_runs
fn by_influences<const N: usize, const W: usize, S: Simd<W>, const FLOATS: usize>(
    mesh: &Mesh,
    run: &Run,
    palette: &[Affine<N>],
    normals: Normals,
    out: &mut [f32],
) {
    match run.influences {
        1 => skin_run::<N, W, S, FLOATS, 1>(mesh, run, palette, normals, out),
        2 => skin_run::<N, W, S, FLOATS, 2>(mesh, run, palette, normals, out),
        3 => skin_run::<N, W, S, FLOATS, 3>(mesh, run, palette, normals, out),
        4 => skin_run::<N, W, S, FLOATS, 4>(mesh, run, palette, normals, out),
        8 => skin_run::<N, W, S, FLOATS, 8>(mesh, run, palette, normals, out),
        _ => skin_run::<N, W, S, FLOATS, 16>(mesh, run, palette, normals, out),
    }
}

#[inline(always)] // as skin_runs
fn skin_run<const N: usize, const W: usize, S: Simd<W>, const FLOATS: usize, const INFLUENCES: usize>(
    mesh: &Mesh,
    run: &Run,
    palette: &[Affine<N>],
    normals: Normals,
    out: &mut [f32],
) {
    let vertices = run.first_vertex as usize..(run.first_vertex + run.vertex_count) as usize;
    let pairs = run.first_influence as usize..run.first_influence as usize + vertices.len() * INFLUENCES;
    let joints = mesh.joints()[pairs.clone()].as_chunks::<INFLUENCES>().0;
    let weights = mesh.weights()[pairs].as_chunks::<INFLUENCES>().0;
    let instance_floats = mesh.vertex_count() * FLOATS;

    let mut tile = [[[0.0f32; N]; FLOATS]; TILE];
    let mut columns = [[[0.0; W]; MAX_ROWS]; W];
    for first in (0..vertices.len()).step_by(TILE) {
        let count = TILE.min(vertices.len() - first);
        for (slot, v) in tile[..count].iter_mut().zip(first..) {
            let vertex = vertices.start + v;
            let entries: [&Affine<N>; INFLUENCES] = joints[v].map(|j| &palette[usize::from(j)]);
            for lane in (0..N).step_by(W) {
                let m = blend::<N, W, S, INFLUENCES>(&entries, &weights[v], lane);
                put(slot, 0, lane, transform::<W, S>(&m, mesh.positions()[vertex], 1.0));
                if FLOATS >= 6 {
                    let n = mesh.normals()[vertex];
                    let normal = if normals == Normals::Exact {
                        transform::<W, S>(&cofactors(&m), n, 0.0)
                    } else {
                        transform::<W, S>(&m, n, 0.0)
                    };
                    put(slot, 3, lane, finished::<W, S>(normal, normals));
                }
                if FLOATS >= 10 {
                    let t = mesh.tangents().map_or([0.0; 4], |t| t[vertex]);
                    let tangent = transform::<W, S>(&m, [t[0], t[1], t[2]], 0.0);
                    put(slot, 6, lane, finished::<W, S>(tangent, normals));
                    slot[9] = [t[3]; N];
                }
            }
        }
        scatter::<N, W, S, FLOATS>(&tile, instance_floats, vertices.start + first, count, &mut columns, out);
    }
}

/// Writes a tile's vertices, lane by lane, to where their instances' outputs are.
#[inline(always)] // as skin_runs
fn scatter<const N: usize, const W: usize, S: Simd<W>, const FLOATS: usize>(
    tile: &[[[f32; N]; FLOATS]; TILE],
    instance_floats: usize,
    first_vertex: usize,
    count: usize,
    columns: &mut [[[f32; W]; MAX_ROWS]; W],
    out: &mut [f32],
) {
    let rows = tile.as_flattened();
    let mut square = [[0.0; W]; W];
    for (lane, instances) in (0..N).step_by(W).zip(out.chunks_mut(W * instance_floats)) {
        for (index, rows) in rows.chunks_exact(W).enumerate() {
            for (to, from) in square.iter_mut().zip(rows) {
                to.copy_from_slice(&from[lane..lane + W]);
            }
            for (column, values) in columns.iter_mut().zip(S::transpose(square)) {
                column[index] = values;
            }
        }
        for (instance, column) in instances.chunks_exact_mut(instance_floats).zip(&*columns) {
            let floats = count * FLOATS;
            instance[first_vertex * FLOATS..][..floats].copy_from_slice(&column.as_flattened()[..floats]);
        }
    }
}

#[inline(always)] // as skin_runs
fn put<const N: usize, const W: usize, const FLOATS: usize>(
    slot: &mut [[f32; N]; FLOATS],
    first: usize,
    lane: usize,
    v: [[f32; W]; 3],
) {
    for (row, v) in v.iter().enumerate() {
        slot[first + row][lane..lane + W].copy_from_slice(v);
    }
}

/// The blended matrix in `W` lanes.
#[inline(always)] // as skin_runs
fn blend<const N: usize, const W: usize, S: Simd<W>, const INFLUENCES: usize>(
    entries: &[&Affine<N>; INFLUENCES],
    weights: &[f32; INFLUENCES],
    lane: usize,
) -> Affine<W> {
    let mut m = [[0.0; W]; 12];
    for (entry, &weight) in entries.iter().zip(weights) {
        for (sum, row) in m.iter_mut().zip(*entry) {
            let row = &row[lane..lane + W];
            for i in 0..W {
                sum[i] = S::multiply_add(weight, row[i], sum[i]);
            }
        }
    }
    m
}

#[inline(always)] // as skin_runs
fn transform<const W: usize, S: Simd<W>>(m: &Affine<W>, v: [f32; 3], w: f32) -> [[f32; W]; 3] {
    let mut out = [[0.0; W]; 3];
    for (row, out) in out.iter_mut().enumerate() {
        let [x, y, z, t] = [&m[4 * row], &m[4 * row + 1], &m[4 * row + 2], &m[4 * row + 3]];
        for i in 0..W {
            out[i] = S::multiply_add(x[i], v[0], S::multiply_add(y[i], v[1], S::multiply_add(z[i], v[2], t[i] * w)));
        }
    }
    out
}

/// Cofactors of the 3x3 part: each row is the cross product of the other two.
#[inline(always)] // as skin_runs
fn cofactors<const W: usize>(m: &Affine<W>) -> Affine<W> {
    let mut out = [[0.0; W]; 12];
    for (row, a, b) in [(0, 4, 8), (4, 8, 0), (8, 0, 4)] {
        for i in 0..W {
            out[row][i] = m[a + 1][i] * m[b + 2][i] - m[a + 2][i] * m[b + 1][i];
            out[row + 1][i] = m[a + 2][i] * m[b][i] - m[a][i] * m[b + 2][i];
            out[row + 2][i] = m[a][i] * m[b + 1][i] - m[a + 1][i] * m[b][i];
        }
    }
    out
}

/// Unit length unless raw; zero stays zero.
#[inline(always)] // as skin_runs
fn finished<const W: usize, S: Simd<W>>(mut n: [[f32; W]; 3], normals: Normals) -> [[f32; W]; 3] {
    if normals == Normals::Raw {
        return n;
    }
    let mut scale = [0.0; W];
    for i in 0..W {
        let length_squared = S::multiply_add(n[0][i], n[0][i], S::multiply_add(n[1][i], n[1][i], n[2][i] * n[2][i]));
        scale[i] = if length_squared > 0.0 { 1.0 / length_squared.sqrt() } else { 0.0 };
    }
    for c in &mut n {
        for i in 0..W {
            c[i] *= scale[i];
        }
    }
    n
}
