//! Skins one vertex at a time with its matrix in 128-bit registers: blends three rows, then transposes them to four
//! columns, so that a point takes three multiplications. It is the classic kernel of engines, and the yardstick for the
//! others.

use super::scalar::in_runs;
use super::words::{MOST_FLOATS, pack};
use crate::model::{Mesh, Rows, Shape, VertexRun};
use crate::simd::{self, Isa, Kernel, Simd};
use crate::vertex::{Normals, VANISHING, VertexFormat};
use glam::{Vec3A, Vec4, Vec4Swizzles};
use std::ops::Range;

/// Skins one instance. The arguments are as for [`super::skin_shape`]. On a machine that lacks `isa`, the code for the
/// baseline of its architecture runs instead.
///
/// # Panics
/// `palette` or `out` is too short, or `shape` has fewer vertices than the mesh.
pub fn skin_columns(
    isa: Isa,
    mesh: &Mesh,
    shape: Shape,
    palette: &[Rows],
    format: VertexFormat,
    out: &mut [f32],
) {
    // Checked once, so that vertices need no check of their joints.
    let palette = &palette[..mesh.entries()];
    let pack = |numbers: &[f32], out: &mut [f32]| match format.floats() {
        3 => simd::run_128(isa, PackKernel::<3, 2> { mesh, numbers, out }),
        6 => simd::run_128(isa, PackKernel::<6, 3> { mesh, numbers, out }),
        _ => simd::run_128(isa, PackKernel::<10, 4> { mesh, numbers, out }),
    };
    in_runs(mesh, format, out, pack, |run, vertices, out| {
        let part = Part {
            mesh,
            shape,
            run,
            vertices,
            palette,
            normals: format.normals,
            out,
        };
        match format.floats() {
            3 => part.skin::<3>(isa),
            6 => part.skin::<6>(isa),
            _ => part.skin::<10>(isa),
        }
    });
}

/// Floats of the widest vectors that [`simd::run_128`] gives.
const WIDEST: usize = 8;

/// Neighbouring vertices of one run. `palette` holds [`Mesh::entries`] matrices.
struct Part<'a> {
    mesh: &'a Mesh,
    shape: Shape<'a>,
    run: &'a VertexRun,
    vertices: Range<usize>,
    palette: &'a [Rows],
    normals: Normals,
    out: &'a mut [f32],
}

impl Part<'_> {
    fn skin<const FLOATS: usize>(self, isa: Isa) {
        match self.run.influences {
            1 => simd::run_128(isa, PartKernel::<FLOATS, 1>(self)),
            2 => simd::run_128(isa, PartKernel::<FLOATS, 2>(self)),
            3 => simd::run_128(isa, PartKernel::<FLOATS, 3>(self)),
            4 => simd::run_128(isa, PartKernel::<FLOATS, 4>(self)),
            8 => simd::run_128(isa, PartKernel::<FLOATS, 8>(self)),
            _ => simd::run_128(isa, PartKernel::<FLOATS, 16>(self)),
        }
    }
}

/// A part whose vertices have `FLOATS` numbers and `INFLUENCES` influences.
struct PartKernel<'a, const FLOATS: usize, const INFLUENCES: usize>(Part<'a>);

impl<const FLOATS: usize, const INFLUENCES: usize> Kernel for PartKernel<'_, FLOATS, INFLUENCES> {
    /// Chooses the body. Where there are normals, each treatment has its own, so that vertices do not ask for it.
    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, V: Simd<W>>(self) {
        match (FLOATS, self.0.normals) {
            (3, _) | (_, Normals::Raw) => self.each::<W, V>(Normals::Raw),
            (_, Normals::Unit) => self.each::<W, V>(Normals::Unit),
            (_, Normals::Exact) => self.each::<W, V>(Normals::Exact),
        }
    }
}

impl<const FLOATS: usize, const INFLUENCES: usize> PartKernel<'_, FLOATS, INFLUENCES> {
    #[inline(always)]
    fn each<const W: usize, V: Simd<W>>(self, normals: Normals) {
        let Part {
            mesh,
            shape,
            run,
            vertices,
            palette,
            out,
            ..
        } = self.0;
        assert_eq!(palette.len(), mesh.entries());
        let (joints, weights) = mesh.pairs::<INFLUENCES>(run, vertices.clone());
        let positions = &shape.positions[vertices.clone()];
        let mesh_normals = &shape.normals[vertices.clone()];
        let tangents = shape.tangents.map(|tangents| &tangents[vertices.clone()]);
        let count = vertices.len();
        let out = &mut out[..count * FLOATS];
        // Four floats are written for three, and the next write overwrites the fourth. None follows the last vertex, so
        // it is written to a place that is one float longer.
        let mut longer = [0.0; MOST_FLOATS + 1];
        let last = count.saturating_sub(1);
        for (range, to) in [
            (0..last, out.as_mut_ptr()),
            (last..count, longer.as_mut_ptr()),
        ] {
            let pairs = joints[range.clone()].iter().zip(&weights[range.clone()]);
            let points = positions[range.clone()]
                .iter()
                .zip(&mesh_normals[range.clone()]);
            for (index, ((joints, weights), (p, n))) in pairs.zip(points).enumerate() {
                // SAFETY: a mesh's joints are less than its entries, and the palette has as many.
                let [x, y, z, t] = unsafe { columns::<W, V>(palette, joints, weights) };
                let m = [x, y, z];
                let mut numbers = [transform::<W, V>(m, *p, t), Vec4::ZERO, Vec4::ZERO];
                if FLOATS >= 6 {
                    numbers[1] = moved_normal::<W, V>(m, *n, normals);
                }
                if FLOATS >= 10 {
                    let [a, b, c, handedness] =
                        tangents.map_or([0.0; 4], |t| t[range.start + index]);
                    numbers[2] = moved_tangent::<W, V>(m, [a, b, c], normals);
                    numbers[2].w = handedness;
                }
                for (at, v) in [0, 3, 6].into_iter().zip(numbers) {
                    if at < FLOATS {
                        // SAFETY: `to` has `FLOATS` floats for each vertex of the range, and at least one more.
                        unsafe {
                            to.add(index * FLOATS + at)
                                .cast::<[f32; 4]>()
                                .write_unaligned(v.to_array())
                        };
                    }
                }
            }
        }
        out[last * FLOATS..].copy_from_slice(&longer[..(count - last) * FLOATS]);
    }
}

/// Packs the numbers of neighbouring vertices, `W` vertices at a time.
struct PackKernel<'a, const FLOATS: usize, const WORDS: usize> {
    mesh: &'a Mesh,
    numbers: &'a [f32],
    out: &'a mut [f32],
}

impl<const FLOATS: usize, const WORDS: usize> Kernel for PackKernel<'_, FLOATS, WORDS> {
    #[inline(always)]
    fn run<const W: usize, V: Simd<W>>(self) {
        let Self { mesh, numbers, out } = self;
        let vertices = numbers.len() / FLOATS;
        let out = out.as_chunks_mut::<WORDS>().0;
        for (chunk, out) in out.chunks_mut(W).enumerate() {
            // [number][vertex], by transposes of squares: a square may reach into the next vertex.
            let mut all = [V::splat(0.0); MOST_FLOATS + WIDEST];
            for start in (0..FLOATS).step_by(W) {
                let mut square = [V::splat(0.0); W];
                for (row, vertex) in square.iter_mut().zip(chunk * W..vertices) {
                    let rest = &numbers[vertex * FLOATS + start..];
                    if let Some(whole) = rest.first_chunk() {
                        *row = V::load(whole);
                    } else {
                        let mut padded = [0.0; W];
                        padded[..rest.len()].copy_from_slice(rest);
                        *row = V::load(&padded);
                    }
                }
                V::transpose(&mut square);
                all[start..][..W].copy_from_slice(&square);
            }
            let packed = pack(mesh.cube(), all.first_chunk().unwrap(), FLOATS);
            let mut square = [V::splat(0.0); W];
            square[..WORDS].copy_from_slice(&packed[..WORDS]);
            V::transpose(&mut square);
            for (row, out) in square.iter().zip(out) {
                let mut vertex = [0.0; W];
                row.store(&mut vertex);
                out.copy_from_slice(&vertex[..WORDS]);
            }
        }
    }
}

/// `m * v + t`, by columns.
#[inline(always)]
pub(super) fn transform<const W: usize, V: Simd<W>>(
    [x, y, z]: [Vec4; 3],
    v: [f32; 3],
    t: Vec4,
) -> Vec4 {
    let sum = V::mul_add_128(z, Vec4::splat(v[2]), t);
    let sum = V::mul_add_128(y, Vec4::splat(v[1]), sum);
    V::mul_add_128(x, Vec4::splat(v[0]), sum)
}

/// A skinned normal, by columns.
#[inline(always)]
pub(super) fn moved_normal<const W: usize, V: Simd<W>>(
    m: [Vec4; 3],
    n: [f32; 3],
    normals: Normals,
) -> Vec4 {
    match normals {
        Normals::Raw => rotate::<W, V>(m, n),
        Normals::Unit => unit(rotate::<W, V>(m, n)),
        Normals::Exact => {
            let [x, y, z] = [
                Vec3A::from_vec4(m[0]),
                Vec3A::from_vec4(m[1]),
                Vec3A::from_vec4(m[2]),
            ];
            let n = y.cross(z) * n[0] + z.cross(x) * n[1] + x.cross(y) * n[2];
            unit(n.extend(0.0))
        }
    }
}

/// A skinned tangent, by columns.
#[inline(always)]
pub(super) fn moved_tangent<const W: usize, V: Simd<W>>(
    m: [Vec4; 3],
    t: [f32; 3],
    normals: Normals,
) -> Vec4 {
    let tangent = rotate::<W, V>(m, t);
    if normals == Normals::Raw {
        tangent
    } else {
        unit(tangent)
    }
}

/// `m * v`, by columns.
#[inline(always)]
fn rotate<const W: usize, V: Simd<W>>([x, y, z]: [Vec4; 3], v: [f32; 3]) -> Vec4 {
    let sum = V::mul_add_128(y, Vec4::splat(v[1]), z * Vec4::splat(v[2]));
    V::mul_add_128(x, Vec4::splat(v[0]), sum)
}

/// The blended matrix of a vertex, column by column; the w components are not used.
///
/// # Safety
/// Each joint is less than the length of the palette.
#[inline(always)]
unsafe fn columns<const W: usize, V: Simd<W>>(
    palette: &[Rows],
    joints: &[u16],
    weights: &[f32],
) -> [Vec4; 4] {
    let mut rows = None;
    for (&joint, &weight) in joints.iter().zip(weights) {
        // SAFETY: the caller's.
        let entry = unsafe { palette.get_unchecked(usize::from(joint)) };
        rows = Some(V::add_rows(weight, entry, rows));
    }
    transposed(rows)
}

/// The four columns of three rows, or of zeros; the w components are not used.
#[inline(always)]
pub(super) fn transposed(rows: Option<[Vec4; 3]>) -> [Vec4; 4] {
    let [x, y, z] = rows.unwrap_or([Vec4::ZERO; 3]);
    let columns = glam::Mat4::from_cols(x, y, z, z).transpose();
    [
        columns.x_axis,
        columns.y_axis,
        columns.z_axis,
        columns.w_axis,
    ]
}

/// Normalises; what is shorter than the root of [`VANISHING`] stays shorter than 1.
#[inline(always)]
fn unit(v: Vec4) -> Vec4 {
    let squares = v * v;
    // The sum of three in each of the first three components.
    let squared = squares + squares.yzxw() + squares.zxyw();
    let length = squared
        .max(Vec4::splat(VANISHING))
        .to_array()
        .map(f32::sqrt);
    v / Vec4::from_array(length)
}
