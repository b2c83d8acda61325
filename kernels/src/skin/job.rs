//! A skinning job over the buffers of an engine: slices with strides instead of a [`crate::model::Mesh`], and nothing to
//! prepare. It skins one vertex at a time, as [`super::skin_columns`] does.

use super::columns::{columns, moved_normal, moved_tangent, transform};
use crate::model::Rows;
use crate::simd::{self, Isa, Kernel, Simd};
use crate::vertex::Normals;
use glam::Vec4;
use std::cell::Cell;

/// Numbers of vertices in a slice: those of vertex `v` begin at index `v * stride`.
///
/// Outputs are cells, so that several of them may share a slice of interleaved vertices.
#[derive(Debug)]
pub struct Strided<'a, T> {
    numbers: &'a [T],
    stride: usize,
}

// A derive would ask for numbers that can be copied, which cells are not.
impl<T> Copy for Strided<'_, T> {}
impl<T> Clone for Strided<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, T> Strided<'a, T> {
    /// Numbers of vertices that are `stride` numbers apart. The first vertex begins with the slice.
    pub fn new(numbers: &'a [T], stride: usize) -> Self {
        Self { numbers, stride }
    }

    /// Checks that each of so many vertices has `width` numbers.
    fn check(&self, array: &'static str, vertices: usize, width: usize) -> Result<(), JobError> {
        let needed = vertices.checked_sub(1).map_or(0, |last| {
            last.saturating_mul(self.stride).saturating_add(width)
        });
        let (given, stride) = (self.numbers.len(), self.stride);
        if given < needed {
            Err(JobError::TooShort {
                array,
                given,
                needed,
                vertices,
                stride,
            })
        } else {
            Ok(())
        }
    }

    /// The numbers of a vertex.
    ///
    /// # Safety
    /// [`Strided::check`] has succeeded for more vertices than `vertex`, and for `width`.
    #[inline(always)] // as all here that is called for each vertex: to take on the caller's instruction set
    unsafe fn of(&self, vertex: usize, width: usize) -> &'a [T] {
        let first = vertex * self.stride;
        // SAFETY: the caller's: the slice has at least `first + width` numbers.
        unsafe { self.numbers.get_unchecked(first..first + width) }
    }

    /// The three numbers of a vertex.
    ///
    /// # Safety
    /// As [`Strided::of`], for a width of 3.
    #[inline(always)]
    unsafe fn triple(&self, vertex: usize) -> &'a [T; 3] {
        // SAFETY: the caller's; an array has the layout of a slice of its length.
        unsafe { &*self.of(vertex, 3).as_ptr().cast() }
    }
}

/// Vertices before skinning, borrowed from the engine.
#[derive(Debug, Clone, Copy)]
pub struct SkinningInput<'a> {
    /// Number of vertices.
    pub vertices: usize,
    /// Number of influences of each vertex; 1, 2, 4 and 8 have code of their own. A mesh whose vertices differ is skinned
    /// fastest in several jobs.
    pub influences: usize,
    /// Matrices of a vertex: indices into the palette, one for each influence.
    pub joints: Strided<'a, u16>,
    /// Weights of a vertex, one for each influence. Their sum should be 1.
    pub weights: Strided<'a, f32>,
    /// Positions: x y z.
    pub positions: Strided<'a, f32>,
    /// Normals, if there are any: x y z.
    pub normals: Option<Strided<'a, f32>>,
    /// Tangents, if there are any: x y z. Their handedness does not change, so it is not read.
    pub tangents: Option<Strided<'a, f32>>,
}

/// Places for skinned vertices. What lies between them is left as it is.
#[derive(Debug, Clone, Copy)]
pub struct SkinningOutput<'a> {
    /// Positions: x y z.
    pub positions: Strided<'a, Cell<f32>>,
    /// Normals, if they are wanted: x y z.
    pub normals: Option<Strided<'a, Cell<f32>>>,
    /// Tangents, if they are wanted: x y z.
    pub tangents: Option<Strided<'a, Cell<f32>>>,
}

/// A fault of a [`SkinningJob`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// An array ends before its last vertex.
    #[error(
        "{array}: {given} numbers are too few; {vertices} vertices that are {stride} apart take {needed}"
    )]
    TooShort {
        /// Name of the array.
        array: &'static str,
        /// Length of the array.
        given: usize,
        /// Length that the vertices need.
        needed: usize,
        /// Number of vertices.
        vertices: usize,
        /// Stride of the array.
        stride: usize,
    },
    /// Vertices that no matrix moves.
    #[error("influences: 0; a vertex needs at least 1")]
    NoInfluences,
    /// An output whose input is missing.
    #[error("{array}: the job has none to skin")]
    NoInput {
        /// Name of the array.
        array: &'static str,
    },
    /// A palette without the matrices that vertices name.
    #[error("palette: {given} matrices are too few; a vertex names matrix {largest}")]
    Palette {
        /// Number of matrices.
        given: usize,
        /// Largest index that a vertex names.
        largest: u16,
    },
}

/// Vertices that have been checked, and can be skinned frame after frame.
#[derive(Debug, Clone, Copy)]
pub struct SkinningJob<'a> {
    input: SkinningInput<'a>,
    /// Largest palette index of any vertex; `None` without vertices.
    largest: Option<u16>,
}

impl<'a> SkinningJob<'a> {
    /// Checks every vertex; later frames need no check of their own.
    ///
    /// # Errors
    /// [`JobError::TooShort`] or [`JobError::NoInfluences`].
    pub fn new(input: SkinningInput<'a>) -> Result<Self, JobError> {
        let SkinningInput {
            vertices,
            influences,
            joints,
            weights,
            positions,
            normals,
            tangents,
        } = input;
        if influences == 0 {
            return Err(JobError::NoInfluences);
        }
        joints.check("joints", vertices, influences)?;
        weights.check("weights", vertices, influences)?;
        positions.check("positions", vertices, 3)?;
        normals.map_or(Ok(()), |normals| normals.check("normals", vertices, 3))?;
        tangents.map_or(Ok(()), |tangents| tangents.check("tangents", vertices, 3))?;
        let joints_of = |vertex| &joints.numbers[vertex * joints.stride..][..influences];
        let largest = (0..vertices).flat_map(joints_of).copied().max();
        Ok(Self { input, largest })
    }

    /// Skins all vertices. The baseline replaces an instruction set that the machine lacks.
    ///
    /// `palette` holds model poses times inverse binds. Normals and tangents are treated as `normals` says. Nothing is
    /// written if an error is returned.
    ///
    /// # Errors
    /// [`JobError::Palette`], [`JobError::NoInput`] or [`JobError::TooShort`].
    pub fn run(
        &self,
        isa: Isa,
        palette: &[Rows],
        normals: Normals,
        output: SkinningOutput,
    ) -> Result<(), JobError> {
        if let Some(largest) = self.largest
            && palette.len() <= usize::from(largest)
        {
            return Err(JobError::Palette {
                given: palette.len(),
                largest,
            });
        }
        output
            .positions
            .check("output positions", self.input.vertices, 3)?;
        let directions = [
            ("output normals", self.input.normals, output.normals),
            ("output tangents", self.input.tangents, output.tangents),
        ];
        for (array, input, output) in directions {
            match (input, output) {
                (None, Some(_)) => return Err(JobError::NoInput { array }),
                (Some(_), Some(output)) => output.check(array, self.input.vertices, 3)?,
                (_, None) => {}
            }
        }
        simd::run_128(
            isa,
            JobKernel {
                input: self.input,
                palette,
                form: normals,
                output,
            },
        );
        Ok(())
    }
}

/// A job whose arrays have been checked.
struct JobKernel<'a> {
    input: SkinningInput<'a>,
    palette: &'a [Rows],
    form: Normals,
    output: SkinningOutput<'a>,
}

impl Kernel for JobKernel<'_> {
    #[inline(always)]
    fn run<const W: usize, S: Simd<W>>(self) {
        match self.input.influences {
            1 => self.skin::<W, S>(1),
            2 => self.skin::<W, S>(2),
            4 => self.skin::<W, S>(4),
            8 => self.skin::<W, S>(8),
            influences => self.skin::<W, S>(influences),
        }
    }
}

impl JobKernel<'_> {
    /// Skins all vertices; a constant number of influences is unrolled.
    #[inline(always)]
    fn skin<const W: usize, S: Simd<W>>(&self, influences: usize) {
        let Self {
            input,
            palette,
            form,
            output,
        } = self;
        let normals = input.normals.zip(output.normals);
        let tangents = input.tangents.zip(output.tangents);
        for vertex in 0..input.vertices {
            // SAFETY: `SkinningJob::new` has checked the inputs for all vertices, and `SkinningJob::run` the outputs and
            // the length of the palette.
            unsafe {
                let (joints, weights) = (
                    input.joints.of(vertex, influences),
                    input.weights.of(vertex, influences),
                );
                let [x, y, z, t] = columns::<W, S>(palette, joints, weights);
                let m = [x, y, z];
                let position = transform::<W, S>(m, *input.positions.triple(vertex), t);
                store(position, output.positions.triple(vertex));
                if let Some((from, to)) = normals {
                    store(
                        moved_normal::<W, S>(m, *from.triple(vertex), *form),
                        to.triple(vertex),
                    );
                }
                if let Some((from, to)) = tangents {
                    store(
                        moved_tangent::<W, S>(m, *from.triple(vertex), *form),
                        to.triple(vertex),
                    );
                }
            }
        }
    }
}

#[inline(always)]
fn store(v: Vec4, [x, y, z]: &[Cell<f32>; 3]) {
    x.set(v.x);
    y.set(v.y);
    z.set(v.z);
}
