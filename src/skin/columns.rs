//! One vertex at a time, its matrix in 128-bit registers: three rows are blended, then turned into four columns, so
//! that a point is four multiplications. The classic kernel of engines, and the yardstick of the others.

use super::scalar::write_packed;
use crate::model::{Mesh, Rows, Run};
use crate::simd::{self, Isa, Kernel, Simd};
use crate::vertex::{Normals, VertexFormat};
use glam::{Vec3A, Vec4};

/// Skins one instance: arguments as [`super::skin`]'s.
pub fn skin_columns(isa: Isa, mesh: &Mesh, palette: &[Rows], format: VertexFormat, out: &mut [f32]) {
    simd::run(isa, Columns { mesh, palette, format, out });
}

struct Columns<'a> {
    mesh: &'a Mesh,
    palette: &'a [Rows],
    format: VertexFormat,
    out: &'a mut [f32],
}

impl Kernel for Columns<'_> {
    type Out = ();

    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        let Self { mesh, palette, format, out } = self;
        for run in mesh.runs() {
            let out = &mut out[run.first_vertex as usize * format.words()..];
            match format.floats() {
                3 => by_influences::<W, S, 3>(mesh, run, palette, format, out),
                6 => by_influences::<W, S, 6>(mesh, run, palette, format, out),
                _ => by_influences::<W, S, 10>(mesh, run, palette, format, out),
            }
        }
    }
}

#[inline(always)]
fn by_influences<const W: usize, S: Simd<W>, const FLOATS: usize>(
    mesh: &Mesh,
    run: &Run,
    palette: &[Rows],
    format: VertexFormat,
    out: &mut [f32],
) {
    match run.influences {
        1 => skin_run::<W, S, FLOATS, 1>(mesh, run, palette, format, out),
        2 => skin_run::<W, S, FLOATS, 2>(mesh, run, palette, format, out),
        3 => skin_run::<W, S, FLOATS, 3>(mesh, run, palette, format, out),
        4 => skin_run::<W, S, FLOATS, 4>(mesh, run, palette, format, out),
        8 => skin_run::<W, S, FLOATS, 8>(mesh, run, palette, format, out),
        _ => skin_run::<W, S, FLOATS, 16>(mesh, run, palette, format, out),
    }
}

#[inline(always)]
fn skin_run<const W: usize, S: Simd<W>, const FLOATS: usize, const INFLUENCES: usize>(
    mesh: &Mesh,
    run: &Run,
    palette: &[Rows],
    format: VertexFormat,
    out: &mut [f32],
) {
    let vertices = run.first_vertex as usize..(run.first_vertex + run.vertex_count) as usize;
    let pairs = run.first_influence as usize..run.first_influence as usize + vertices.len() * INFLUENCES;
    let joints = mesh.joints()[pairs.clone()].as_chunks::<INFLUENCES>().0;
    let weights = mesh.weights()[pairs].as_chunks::<INFLUENCES>().0;
    let words = format.words();
    for (index, ((vertex, joints), weights)) in vertices.clone().zip(joints).zip(weights).enumerate() {
        let [x, y, z, t] = columns::<W, S, INFLUENCES>(palette, joints, weights);
        let m = [x, y, z];
        let position = transform::<W, S>(m, mesh.positions()[vertex], t);
        let (mut normal, mut tangent) = (Vec4::ZERO, Vec4::ZERO);
        if FLOATS >= 6 {
            let n = mesh.normals()[vertex];
            normal = match format.normals {
                Normals::Raw => transform::<W, S>(m, n, Vec4::ZERO),
                Normals::Unit => unit(transform::<W, S>(m, n, Vec4::ZERO)),
                Normals::Exact => {
                    let [x, y, z] = [x, y, z].map(Vec3A::from_vec4);
                    let n = y.cross(z) * n[0] + z.cross(x) * n[1] + x.cross(y) * n[2];
                    unit(n.extend(0.0))
                }
            };
        }
        if FLOATS >= 10 {
            let t = mesh.tangents().map_or([0.0; 4], |t| t[vertex]);
            tangent = transform::<W, S>(m, [t[0], t[1], t[2]], Vec4::ZERO);
            tangent = if format.normals == Normals::Raw { tangent } else { unit(tangent) };
            tangent.w = t[3];
        }
        let at = index * words;
        if words < FLOATS {
            let mut numbers = [0.0; FLOATS];
            numbers[..3].copy_from_slice(&position.to_array()[..3]);
            if FLOATS >= 6 {
                numbers[3..6].copy_from_slice(&normal.to_array()[..3]);
            }
            if FLOATS >= 10 {
                numbers[6..].copy_from_slice(&tangent.to_array());
            }
            write_packed(mesh, &numbers, &mut out[at..at + words]);
            continue;
        }
        // Four floats where three are meant: the next write mends the fourth, so only the run's last vertex is cut.
        let (position, normal, out) = (position.to_array(), normal.to_array(), &mut out[at..]);
        match FLOATS {
            3 => match out.first_chunk_mut::<4>() {
                Some(to) if index + 1 < vertices.len() => *to = position,
                _ => out[..3].copy_from_slice(&position[..3]),
            },
            6 => match out.first_chunk_mut::<7>() {
                Some(to) if index + 1 < vertices.len() => {
                    to[..4].copy_from_slice(&position);
                    to[3..].copy_from_slice(&normal);
                }
                _ => {
                    out[..3].copy_from_slice(&position[..3]);
                    out[3..6].copy_from_slice(&normal[..3]);
                }
            },
            _ => {
                if let Some(to) = out.first_chunk_mut::<10>() {
                    to[..4].copy_from_slice(&position);
                    to[3..7].copy_from_slice(&normal);
                    to[6..].copy_from_slice(&tangent.to_array());
                }
            }
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

/// The blended matrix of a vertex, column by column; w is not used.
#[inline(always)]
fn columns<const W: usize, S: Simd<W>, const INFLUENCES: usize>(
    palette: &[Rows],
    joints: &[u16; INFLUENCES],
    weights: &[f32; INFLUENCES],
) -> [Vec4; 4] {
    let mut m = [Vec4::ZERO; 3];
    for (k, (&joint, &weight)) in joints.iter().zip(weights).enumerate() {
        let (rows, weight) = (palette[usize::from(joint)].as_chunks::<4>().0, Vec4::splat(weight));
        for (sum, row) in m.iter_mut().zip(rows) {
            let row = Vec4::from_array(*row);
            *sum = if k == 0 { weight * row } else { S::mul_add_128(weight, row, *sum) };
        }
    }
    let columns = glam::Mat4::from_cols(m[0], m[1], m[2], Vec4::ZERO).transpose();
    [columns.x_axis, columns.y_axis, columns.z_axis, columns.w_axis]
}

/// Unit length; zero stays zero.
#[inline(always)]
fn unit(v: Vec4) -> Vec4 {
    let squared = v.x * v.x + v.y * v.y + v.z * v.z;
    v * (1.0 / squared.max(f32::MIN_POSITIVE).sqrt())
}
