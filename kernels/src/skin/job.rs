//! A skinning job over the buffers of an engine: slices with strides instead of a [`crate::model::Mesh`], and nothing to
//! prepare. It skins one vertex at a time, as [`super::skin_columns`] does.

use super::columns::{moved_normal, moved_tangent, transform, transposed};
use super::job_error::{JobError, MOST_INFLUENCES};
use super::strided::{Strided, StridedMut, View, cells};
use crate::model::Rows;
use crate::simd::{self, Isa, Kernel, Simd};
use crate::vertex::Normals;
use bytemuck::Pod;
use glam::{Vec4, Vec4Swizzles};
use std::ops::Range;

/// Vertices before skinning, in buffers of the engine.
#[derive(Debug, Clone)]
pub struct SkinningInput<'a> {
    /// Number of vertices.
    pub vertices: usize,
    /// Number of influences of each vertex, 1 to 256; 1, 2, 4 and 8 have code of their own. A mesh whose vertices differ is
    /// skinned fastest in several jobs.
    pub influences: usize,
    /// Matrices of a vertex: indices into the palette, one for each influence. Those without weight are checked, too.
    pub joints: Joints<'a>,
    /// Weights of a vertex, one for each influence. Their sum should be 1.
    pub weights: Weights<'a>,
    /// Positions: x y z, `f32`.
    pub positions: Strided<'a>,
    /// Normals, if there are any: x y z, `f32`.
    pub normals: Option<Strided<'a>>,
    /// Tangents, if there are any: x y z, `f32`. [`Clusters`](super::Clusters) read a fourth component, their handedness,
    /// which jobs leave alone because it does not change.
    pub tangents: Option<Strided<'a>>,
}

/// Indices of palette entries.
#[derive(Debug, Clone)]
pub enum Joints<'a> {
    /// One byte each.
    U8(Strided<'a>),
    /// Two bytes each.
    U16(Strided<'a>),
}

/// Weights of influences.
#[derive(Debug, Clone)]
pub enum Weights<'a> {
    /// Floats. Jobs convert other weights and joints of one byte in each frame.
    F32(Strided<'a>),
    /// Normalised bytes: 255 is 1.
    U8(Strided<'a>),
    /// Normalised integers of two bytes: 65,535 is 1.
    U16(Strided<'a>),
}

/// Matrices that move vertices: model poses times inverse binds. A job never reads one that no vertex names; weights of 0
/// do not hide a NaN.
#[derive(Debug, Clone, Copy)]
pub enum Palette<'a> {
    /// Three rows of four floats each.
    Rows(&'a [Rows]),
    /// Four columns of four floats each, as graphics interfaces have them. The fourth float of a column is not read.
    Columns(&'a [[f32; 16]]),
}

/// Attributes of skinned vertices to be written. What lies between their elements is left as it is.
#[derive(Debug, Clone, Copy)]
pub struct SkinningOutput<'a> {
    /// Positions: x y z, `f32`.
    pub positions: StridedMut<'a>,
    /// Normals, if they are wanted: x y z, `f32`.
    pub normals: Option<StridedMut<'a>>,
    /// Tangents, if they are wanted: x y z, `f32`.
    pub tangents: Option<StridedMut<'a>>,
}

impl<'a> SkinningOutput<'a> {
    /// Places in one buffer, as for [`StridedMut::new`], for vertices that are `stride` bytes apart, each at its offset in
    /// bytes. If places overlap, the later attribute stays.
    pub fn interleaved<T: Pod>(
        buffer: &'a mut [T],
        stride: usize,
        positions: usize,
        normals: Option<usize>,
        tangents: Option<usize>,
    ) -> Self {
        let cells = cells(buffer);
        let attribute = |offset| StridedMut::of_cells(cells, offset, stride);
        Self {
            positions: attribute(positions),
            normals: normals.map(attribute),
            tangents: tangents.map(attribute),
        }
    }
}

impl Joints<'_> {
    fn check(&self, vertices: usize, influences: usize) -> Result<(), JobError> {
        match self {
            Self::U8(numbers) => numbers.check("joints", vertices, influences),
            Self::U16(numbers) => numbers.check("joints", vertices, 2 * influences),
        }
    }

    fn into_owned(self) -> Joints<'static> {
        match self {
            Self::U8(numbers) => Joints::U8(numbers.into_owned()),
            Self::U16(numbers) => Joints::U16(numbers.into_owned()),
        }
    }

    /// Writes the joints of vertices from `first` on, as many as `out` takes.
    ///
    /// # Safety
    /// [`Joints::check`] has succeeded for all of these vertices.
    #[inline(always)] // as all below: to take on the caller's instruction set
    unsafe fn decode(&self, first: usize, influences: usize, out: &mut [u16]) {
        // SAFETY: the caller's.
        unsafe {
            match self {
                Self::U8(numbers) => {
                    convert(numbers.from(first), influences, out, |[n]: &[u8; 1]| {
                        (*n).into()
                    })
                }
                Self::U16(numbers) => convert(numbers.from(first), influences, out, |n| {
                    u16::from_ne_bytes(*n)
                }),
            }
        }
    }
}

impl Weights<'_> {
    fn check(&self, vertices: usize, influences: usize) -> Result<(), JobError> {
        match self {
            Self::F32(numbers) => numbers.check("weights", vertices, 4 * influences),
            Self::U8(numbers) => numbers.check("weights", vertices, influences),
            Self::U16(numbers) => numbers.check("weights", vertices, 2 * influences),
        }
    }

    fn into_owned(self) -> Weights<'static> {
        match self {
            Self::F32(numbers) => Weights::F32(numbers.into_owned()),
            Self::U8(numbers) => Weights::U8(numbers.into_owned()),
            Self::U16(numbers) => Weights::U16(numbers.into_owned()),
        }
    }

    /// Writes the weights of vertices from `first` on, as many as `out` takes.
    ///
    /// # Safety
    /// [`Weights::check`] has succeeded for all of these vertices.
    #[inline(always)]
    unsafe fn decode(&self, first: usize, influences: usize, out: &mut [f32]) {
        // SAFETY: the caller's.
        unsafe {
            match self {
                Self::F32(numbers) => convert(numbers.from(first), influences, out, |n| {
                    f32::from_ne_bytes(*n)
                }),
                Self::U8(numbers) => {
                    convert(numbers.from(first), influences, out, |[n]: &[u8; 1]| {
                        f32::from(*n) * (1.0 / 255.0)
                    })
                }
                Self::U16(numbers) => convert(numbers.from(first), influences, out, |n| {
                    f32::from(u16::from_ne_bytes(*n)) * (1.0 / 65_535.0)
                }),
            }
        }
    }
}

/// Converts `influences` components of each vertex of a view.
///
/// # Safety
/// The view has a vertex for each `influences` items of `out`, and each has as many components of `N` bytes.
#[inline(always)]
unsafe fn convert<const N: usize, T>(
    numbers: View<u8>,
    influences: usize,
    out: &mut [T],
    convert: impl Fn(&[u8; N]) -> T,
) {
    // Components of a constant number are converted in vectors; so are all vertices at once that have no gaps between them.
    let is_list = numbers.stride == N * influences && !out.is_empty();
    let width = if is_list { out.len() } else { influences };
    for (vertex, out) in out.chunks_exact_mut(width).enumerate() {
        // SAFETY: the caller's.
        let numbers = unsafe { numbers.components(vertex, width) };
        let four = <&[[u8; N]; 4]>::try_from(numbers);
        if let (Ok(out), Ok(numbers)) = (<&mut [T; 4]>::try_from(&mut *out), four) {
            for (out, number) in out.iter_mut().zip(numbers) {
                *out = convert(number);
            }
        } else {
            for (out, number) in out.iter_mut().zip(numbers) {
                *out = convert(number);
            }
        }
    }
}

impl<'a> SkinningInput<'a> {
    /// Checks that all buffers reach as far as the vertices do. Tangents have `tangent` numbers.
    pub(super) fn check(&self, tangent: usize) -> Result<(), JobError> {
        let Self {
            vertices,
            influences,
            ..
        } = *self;
        if !(1..=MOST_INFLUENCES).contains(&influences) {
            return Err(JobError::Influences { given: influences });
        }
        self.joints.check(vertices, influences)?;
        self.weights.check(vertices, influences)?;
        self.positions.check("positions", vertices, 12)?;
        if let Some(normals) = &self.normals {
            normals.check("normals", vertices, 12)?;
        }
        if let Some(tangents) = &self.tangents {
            tangents.check("tangents", vertices, 4 * tangent)?;
        }
        Ok(())
    }

    /// Joints and weights of all vertices, of checked input.
    pub(super) fn pairs(&self) -> (Vec<u16>, Vec<f32>) {
        let count = self.vertices * self.influences;
        let mut joints = vec![0; count];
        let mut weights = vec![0.0; count];
        // SAFETY: both were checked for as many vertices.
        unsafe {
            self.joints.decode(0, self.influences, &mut joints);
            self.weights.decode(0, self.influences, &mut weights);
        }
        (joints, weights)
    }

    /// The first `N` numbers of each vertex, of checked input; zeros for numbers that it lacks.
    pub(super) fn floats<const N: usize>(&self, numbers: Option<&Strided>) -> Vec<[f32; N]> {
        let mut floats = vec![[0.0; N]; self.vertices];
        if let Some(numbers) = numbers {
            let view = numbers.from(0);
            for (vertex, floats) in floats.iter_mut().enumerate() {
                // SAFETY: the numbers were checked for as many vertices.
                *floats = unsafe { view.floats(vertex) };
            }
        }
        floats
    }

    fn into_owned(self) -> SkinningInput<'static> {
        SkinningInput {
            vertices: self.vertices,
            influences: self.influences,
            joints: self.joints.into_owned(),
            weights: self.weights.into_owned(),
            positions: self.positions.into_owned(),
            normals: self.normals.map(Strided::into_owned),
            tangents: self.tangents.map(Strided::into_owned),
        }
    }
}

/// Vertices that have been checked, and can be skinned frame after frame.
///
/// A job borrows its input. To keep it in a structure beside other buffers, turn it into a job that
/// [owns](SkinningJob::into_owned) it.
#[derive(Debug, Clone)]
pub struct SkinningJob<'a> {
    input: SkinningInput<'a>,
    /// Largest palette index of any vertex; `None` without vertices.
    largest: Option<u16>,
}

impl<'a> SkinningJob<'a> {
    /// Checks every vertex; later frames need no check of their own.
    ///
    /// # Errors
    /// [`JobError::TooShort`], [`JobError::Stride`] or [`JobError::Influences`].
    pub fn new(input: SkinningInput<'a>) -> Result<Self, JobError> {
        input.check(3)?;
        let largest = input.pairs().0.into_iter().max();
        Ok(Self { input, largest })
    }

    /// The job with a copy of its input, which borrows nothing and needs no other check.
    pub fn into_owned(self) -> SkinningJob<'static> {
        SkinningJob {
            input: self.input.into_owned(),
            largest: self.largest,
        }
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.input.vertices
    }

    /// Skins a range of vertices; the output begins with the first of them. So threads can share a mesh: each takes a range
    /// and its part of the output. On a machine that lacks `isa`, the code for the baseline of its architecture runs
    /// instead.
    ///
    /// Normals and tangents are treated as `normals` says. Nothing is written if an error is returned.
    ///
    /// # Errors
    /// [`JobError::Range`], [`JobError::Palette`], [`JobError::NoInput`], [`JobError::Stride`] or
    /// [`JobError::TooShort`].
    pub fn run(
        &self,
        isa: Isa,
        palette: Palette,
        normals: Normals,
        vertices: Range<usize>,
        output: SkinningOutput,
    ) -> Result<(), JobError> {
        let input = &self.input;
        let Range { start, end } = vertices;
        if start > end || end > input.vertices {
            return Err(JobError::Range {
                first: start,
                end,
                vertices: input.vertices,
            });
        }
        let given = match palette {
            Palette::Rows(rows) => rows.len(),
            Palette::Columns(columns) => columns.len(),
        };
        if let Some(largest) = self.largest
            && given <= usize::from(largest)
        {
            return Err(JobError::Palette { given, largest });
        }
        let count = end - start;
        output.positions.check("output positions", count, 12)?;
        let directions = [
            ("output normals", &input.normals, output.normals),
            ("output tangents", &input.tangents, output.tangents),
        ];
        for (array, source, output) in directions {
            match (source, output) {
                (None, Some(_)) => return Err(JobError::NoInput { array }),
                (Some(_), Some(output)) => output.check(array, count, 12)?,
                (_, None) => {}
            }
        }
        match palette {
            Palette::Rows(palette) => simd::run_128(
                isa,
                JobKernel {
                    input,
                    palette,
                    normals,
                    first: start,
                    count,
                    output,
                },
            ),
            Palette::Columns(palette) => simd::run_128(
                isa,
                JobKernel {
                    input,
                    palette,
                    normals,
                    first: start,
                    count,
                    output,
                },
            ),
        }
        Ok(())
    }
}

/// Vertices of a job whose buffers and palette have been checked.
struct JobKernel<'a, P> {
    input: &'a SkinningInput<'a>,
    palette: P,
    normals: Normals,
    /// First vertex, and number of vertices.
    first: usize,
    count: usize,
    output: SkinningOutput<'a>,
}

/// Most joints and weights that are converted together.
const BATCH: usize = 512;

impl<P: Matrices> Kernel for JobKernel<'_, P> {
    #[inline(always)]
    fn run<const W: usize, V: Simd<W>>(self) {
        let influences = self.input.influences;
        let mut joints = [0u16; BATCH];
        let mut weights = [0f32; BATCH];
        let mut done = 0;
        while done < self.count {
            let first = self.first + done;
            let mut batch = Batch {
                done,
                count: self.count - done,
                joints: View {
                    bytes: &[],
                    stride: 2 * influences,
                },
                weights: View {
                    bytes: &[],
                    stride: 4 * influences,
                },
            };
            if let (Joints::U16(joints), Weights::F32(weights)) =
                (&self.input.joints, &self.input.weights)
            {
                batch.joints = joints.from(first);
                batch.weights = weights.from(first);
            } else {
                batch.count = batch.count.min(BATCH / influences);
                let numbers = batch.count * influences;
                // SAFETY: `SkinningJob::new` has checked both for all vertices.
                unsafe {
                    let (joints, weights) = (&mut joints[..numbers], &mut weights[..numbers]);
                    self.input.joints.decode(first, influences, joints);
                    self.input.weights.decode(first, influences, weights);
                }
                batch.joints.bytes = bytemuck::cast_slice(&joints);
                batch.weights.bytes = bytemuck::cast_slice(&weights);
            }
            done += batch.count;
            // With the usual number of influences, vertices do not ask for the treatment of normals.
            match (influences, self.normals) {
                (4, Normals::Raw) => self.skin::<W, V>(&batch, 4, Normals::Raw),
                (4, Normals::Unit) => self.skin::<W, V>(&batch, 4, Normals::Unit),
                (4, Normals::Exact) => self.skin::<W, V>(&batch, 4, Normals::Exact),
                (1, normals) => self.skin::<W, V>(&batch, 1, normals),
                (2, normals) => self.skin::<W, V>(&batch, 2, normals),
                (8, normals) => self.skin::<W, V>(&batch, 8, normals),
                (_, normals) => self.skin::<W, V>(&batch, influences, normals),
            }
        }
    }
}

/// Neighbouring vertices, whose joints are `u16` and whose weights are `f32`.
struct Batch<'a> {
    /// Vertices of the kernel before these.
    done: usize,
    count: usize,
    joints: View<'a, u8>,
    weights: View<'a, u8>,
}

impl<P: Matrices> JobKernel<'_, P> {
    /// Skins the vertices of a batch; a constant number of influences is unrolled.
    #[inline(always)]
    fn skin<const W: usize, V: Simd<W>>(&self, batch: &Batch, influences: usize, form: Normals) {
        let Self { input, output, .. } = self;
        let first = self.first + batch.done;
        let positions = input.positions.from(first);
        let normals = input.normals.as_ref().map(|normals| normals.from(first));
        let normals = normals.zip(output.normals);
        let tangents = input.tangents.as_ref().map(|tangents| tangents.from(first));
        let tangents = tangents.zip(output.tangents);
        for vertex in 0..batch.count {
            let place = batch.done + vertex;
            // SAFETY: `SkinningJob::new` has checked the inputs for all vertices, and `SkinningJob::run` the outputs and
            // the length of the palette.
            unsafe {
                let joints = batch.joints.components(vertex, influences);
                let weights = batch.weights.components(vertex, influences);
                let [x, y, z, t] = self.palette.blended::<W, V>(joints, weights);
                let m = [x, y, z];
                let position = transform::<W, V>(m, positions.floats(vertex), t);
                output.positions.store(place, position.xyz().to_array());
                if let Some((from, to)) = normals {
                    let normal = moved_normal::<W, V>(m, from.floats(vertex), form);
                    to.store(place, normal.xyz().to_array());
                }
                if let Some((from, to)) = tangents {
                    let tangent = moved_tangent::<W, V>(m, from.floats(vertex), form);
                    to.store(place, tangent.xyz().to_array());
                }
            }
        }
    }
}

/// A palette from which the matrix of a vertex is blended.
trait Matrices: Copy {
    /// The weighted sum of entries, column by column; the w components are not used. Numbers are in the processor's order of
    /// bytes.
    ///
    /// # Safety
    /// Each joint is less than the length of the palette.
    unsafe fn blended<const W: usize, V: Simd<W>>(
        self,
        joints: &[[u8; 2]],
        weights: &[[u8; 4]],
    ) -> [Vec4; 4];
}

impl Matrices for &[Rows] {
    #[inline(always)]
    unsafe fn blended<const W: usize, V: Simd<W>>(
        self,
        joints: &[[u8; 2]],
        weights: &[[u8; 4]],
    ) -> [Vec4; 4] {
        let mut rows = None;
        for (joint, weight) in joints.iter().zip(weights) {
            // SAFETY: the caller's.
            let entry = unsafe { self.get_unchecked(usize::from(u16::from_ne_bytes(*joint))) };
            rows = Some(V::add_rows(f32::from_ne_bytes(*weight), entry, rows));
        }
        transposed(rows)
    }
}

impl Matrices for &[[f32; 16]] {
    #[inline(always)]
    unsafe fn blended<const W: usize, V: Simd<W>>(
        self,
        joints: &[[u8; 2]],
        weights: &[[u8; 4]],
    ) -> [Vec4; 4] {
        let mut sums = [Vec4::ZERO; 4];
        for (joint, weight) in joints.iter().zip(weights) {
            // SAFETY: the caller's.
            let entry = unsafe { self.get_unchecked(usize::from(u16::from_ne_bytes(*joint))) };
            let weight = Vec4::splat(f32::from_ne_bytes(*weight));
            for (sum, column) in sums.iter_mut().zip(entry.as_chunks::<4>().0) {
                *sum = V::mul_add_128(weight, Vec4::from_array(*column), *sum);
            }
        }
        sums
    }
}
