//! Skins one vertex at a time with its matrix in 128-bit registers: blends three rows, then transposes them to four
//! columns, so that a point takes three multiplications. It is the classic kernel of engines, and the yardstick for the
//! others.

use super::scalar::in_runs;
use super::words::{MOST_FLOATS, pack};
use crate::model::{Mesh, Rows, Shape, VertexRun};
use crate::simd::{self, Isa, Kernel, Simd};
use crate::vertex::{Normals, VertexFormat};
use glam::{Vec3A, Vec4};
use std::ops::Range;

/// Skins one instance. The arguments are as for [`super::skin`]. The baseline replaces an instruction set that the
/// machine lacks.
///
/// # Panics
/// `palette` or `out` is too short.
pub fn skin_columns(isa: Isa, mesh: &Mesh, palette: &[Rows], format: VertexFormat, out: &mut [f32]) {
    skin_columns_shape(isa, mesh, mesh.shape(), palette, format, out);
}

/// As [`skin_columns`], with the morphed vertices of `shape`.
///
/// # Panics
/// As [`skin_columns`], or `shape` has fewer vertices than the mesh.
pub fn skin_columns_shape(
    isa: Isa,
    mesh: &Mesh,
    shape: Shape,
    palette: &[Rows],
    format: VertexFormat,
    out: &mut [f32],
) {
    simd::run_128(isa, ColumnsKernel { mesh, shape, palette, format, out });
}

/// Floats of the widest vectors that [`simd::run_128`] gives.
const WIDEST: usize = 8;

struct ColumnsKernel<'a> {
    mesh: &'a Mesh,
    shape: Shape<'a>,
    palette: &'a [Rows],
    format: VertexFormat,
    out: &'a mut [f32],
}

impl Kernel for ColumnsKernel<'_> {
    type Out = ();

    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        let Self { mesh, shape, palette, format, out } = self;
        // Checked once, so that vertices need no check of their joints.
        let palette = &palette[..mesh.entries()];
        in_runs(
            mesh,
            format,
            out,
            #[inline(always)]
            |numbers, out| match format.floats() {
                3 => write_packed::<W, S, 3, 2>(mesh, numbers, out),
                6 => write_packed::<W, S, 6, 3>(mesh, numbers, out),
                _ => write_packed::<W, S, 10, 4>(mesh, numbers, out),
            },
            #[inline(always)]
            |run, vertices, out| match format.floats() {
                3 => by_influences::<W, S, 3>(mesh, shape, run, vertices, palette, format.normals, out),
                6 => by_influences::<W, S, 6>(mesh, shape, run, vertices, palette, format.normals, out),
                _ => by_influences::<W, S, 10>(mesh, shape, run, vertices, palette, format.normals, out),
            },
        );
    }
}

#[inline(always)]
fn by_influences<const W: usize, S: Simd<W>, const FLOATS: usize>(
    mesh: &Mesh,
    shape: Shape,
    run: &VertexRun,
    vertices: Range<usize>,
    palette: &[Rows],
    normals: Normals,
    out: &mut [f32],
) {
    match run.influences {
        1 => skin_run::<W, S, FLOATS, 1>(mesh, shape, run, vertices, palette, normals, out),
        2 => skin_run::<W, S, FLOATS, 2>(mesh, shape, run, vertices, palette, normals, out),
        3 => skin_run::<W, S, FLOATS, 3>(mesh, shape, run, vertices, palette, normals, out),
        4 => skin_run::<W, S, FLOATS, 4>(mesh, shape, run, vertices, palette, normals, out),
        8 => skin_run::<W, S, FLOATS, 8>(mesh, shape, run, vertices, palette, normals, out),
        _ => skin_run::<W, S, FLOATS, 16>(mesh, shape, run, vertices, palette, normals, out),
    }
}

/// Skins neighbouring vertices of one run. `palette` must hold [`Mesh::entries`] matrices.
#[inline(always)]
fn skin_run<const W: usize, S: Simd<W>, const FLOATS: usize, const INFLUENCES: usize>(
    mesh: &Mesh,
    shape: Shape,
    run: &VertexRun,
    vertices: Range<usize>,
    palette: &[Rows],
    normals: Normals,
    out: &mut [f32],
) {
    assert_eq!(palette.len(), mesh.entries());
    let (joints, weights) = mesh.pairs::<INFLUENCES>(run, vertices.clone());
    let sources = shape.positions[vertices.clone()].iter().zip(&shape.normals[vertices.clone()]);
    let tangents = shape.tangents.map(|tangents| &tangents[vertices.clone()]);
    let all = joints.iter().zip(weights).zip(sources).enumerate();
    for (index, ((joints, weights), (p, n))) in all {
        let [x, y, z, t] = columns::<W, S, INFLUENCES>(palette, joints, weights);
        let m = [x, y, z];
        let position = transform::<W, S>(m, *p, t).to_array();
        // Writes four floats for three: the next write overwrites the fourth, so only the last vertex needs a shorter
        // write.
        let out = &mut out[index * FLOATS..];
        match out.first_chunk_mut::<4>() {
            Some(to) => *to = position,
            None => out[..3].copy_from_slice(&position[..3]),
        }
        if FLOATS >= 6 {
            let normal = match normals {
                Normals::Raw => rotate::<W, S>(m, *n),
                Normals::Unit => unit(rotate::<W, S>(m, *n)),
                Normals::Exact => {
                    let [x, y, z] = [Vec3A::from_vec4(x), Vec3A::from_vec4(y), Vec3A::from_vec4(z)];
                    let n = y.cross(z) * n[0] + z.cross(x) * n[1] + x.cross(y) * n[2];
                    unit(n.extend(0.0))
                }
            };
            let normal = normal.to_array();
            match out[3..].first_chunk_mut::<4>() {
                Some(to) => *to = normal,
                None => out[3..6].copy_from_slice(&normal[..3]),
            }
        }
        if FLOATS >= 10 {
            let [a, b, c, handedness] = tangents.map_or([0.0; 4], |t| t[index]);
            let tangent = rotate::<W, S>(m, [a, b, c]);
            let mut tangent = if normals == Normals::Raw { tangent } else { unit(tangent) };
            tangent.w = handedness;
            out[6..10].copy_from_slice(&tangent.to_array());
        }
    }
}

/// Packs the numbers of neighbouring vertices, `W` vertices at a time.
#[inline(always)]
fn write_packed<const W: usize, S: Simd<W>, const FLOATS: usize, const WORDS: usize>(
    mesh: &Mesh,
    numbers: &[f32],
    out: &mut [f32],
) {
    let (vertices, out) = (numbers.len() / FLOATS, out.as_chunks_mut::<WORDS>().0);
    for (group, out) in out.chunks_mut(W).enumerate() {
        // [number][vertex], by transposes of squares: a square may reach into the next vertex.
        let mut all = [S::splat(0.0); MOST_FLOATS + WIDEST];
        for start in (0..FLOATS).step_by(W) {
            let mut square = [S::splat(0.0); W];
            for (row, vertex) in square.iter_mut().zip(group * W..vertices) {
                let rest = &numbers[vertex * FLOATS + start..];
                if let Some(whole) = rest.first_chunk() {
                    *row = S::load(whole);
                } else {
                    let mut padded = [0.0; W];
                    padded[..rest.len()].copy_from_slice(rest);
                    *row = S::load(&padded);
                }
            }
            S::transpose(&mut square);
            all[start..][..W].copy_from_slice(&square);
        }
        let packed = pack::<W, S>(mesh.cube(), all.first_chunk().unwrap(), FLOATS);
        let mut square = [S::splat(0.0); W];
        square[..WORDS].copy_from_slice(&packed[..WORDS]);
        S::transpose(&mut square);
        for (row, out) in square.iter().zip(out) {
            let mut vertex = [0.0; W];
            S::store(*row, &mut vertex);
            out.copy_from_slice(&vertex[..WORDS]);
        }
    }
}

/// `m * v + t`, by columns.
#[inline(always)]
fn transform<const W: usize, S: Simd<W>>([x, y, z]: [Vec4; 3], v: [f32; 3], t: Vec4) -> Vec4 {
    let sum = S::mul_add_128(z, Vec4::splat(v[2]), t);
    let sum = S::mul_add_128(y, Vec4::splat(v[1]), sum);
    S::mul_add_128(x, Vec4::splat(v[0]), sum)
}

/// `m * v`, by columns.
#[inline(always)]
fn rotate<const W: usize, S: Simd<W>>([x, y, z]: [Vec4; 3], v: [f32; 3]) -> Vec4 {
    let sum = S::mul_add_128(y, Vec4::splat(v[1]), z * Vec4::splat(v[2]));
    S::mul_add_128(x, Vec4::splat(v[0]), sum)
}

/// The blended matrix of a vertex, column by column; the w components are not used.
#[inline(always)]
fn columns<const W: usize, S: Simd<W>, const INFLUENCES: usize>(
    palette: &[Rows],
    joints: &[u16; INFLUENCES],
    weights: &[f32; INFLUENCES],
) -> [Vec4; 4] {
    let mut m = [Vec4::ZERO; 3];
    for (k, (&joint, &weight)) in joints.iter().zip(weights).enumerate() {
        // SAFETY: a mesh's joints are less than its entries, and the palette has as many (see `skin_run`).
        let rows = unsafe { palette.get_unchecked(usize::from(joint)) }.as_chunks::<4>().0;
        let weight = Vec4::splat(weight);
        for (sum, row) in m.iter_mut().zip(rows) {
            let row = Vec4::from_array(*row);
            *sum = if k == 0 { weight * row } else { S::mul_add_128(weight, row, *sum) };
        }
    }
    let columns = glam::Mat4::from_cols(m[0], m[1], m[2], m[2]).transpose();
    [columns.x_axis, columns.y_axis, columns.z_axis, columns.w_axis]
}

/// Normalises; a zero vector stays zero.
#[inline(always)]
fn unit(v: Vec4) -> Vec4 {
    let squared = v.x * v.x + v.y * v.y + v.z * v.z;
    v * (1.0 / squared.max(f32::MIN_POSITIVE).sqrt())
}
