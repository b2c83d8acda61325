//! A skinning job over the buffers of an engine: slices with strides instead of a [`crate::model::Mesh`], and nothing to
//! prepare. It skins one vertex at a time, as [`super::skin_columns`] does.

use super::columns::{columns, moved_normal, moved_tangent, transform};
use crate::model::Rows;
use crate::simd::{self, Isa, Kernel, Simd};
use crate::vertex::Normals;
use glam::Vec4;
use std::borrow::Cow;
use std::cell::Cell;

/// Numbers of vertices in a slice: those of vertex `v` begin at index `v * stride`. A stride counts elements of the slice,
/// not bytes.
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
    /// Numbers of vertices that are so many elements of the slice apart, not bytes: 8 for a position, a normal and
    /// texture coordinates in one slice of `f32`. The first vertex begins with the slice.
    pub fn new(numbers: &'a [T], stride_in_elements: usize) -> Self {
        Self {
            numbers,
            stride: stride_in_elements,
        }
    }

    /// Checks that each of so many vertices has `width` numbers of its own.
    fn check(&self, array: &'static str, vertices: usize, width: usize) -> Result<(), JobError> {
        if self.stride < width {
            let stride = self.stride;
            return Err(JobError::Stride {
                array,
                stride,
                width,
            });
        }
        let needed = vertices.checked_sub(1).map_or(0, |last| {
            last.saturating_mul(self.stride).saturating_add(width)
        });
        let given = self.numbers.len();
        let stride = self.stride;
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

/// Numbers that a job borrows or owns.
#[derive(Debug, Clone)]
struct Numbers<'a, T: Clone> {
    numbers: Cow<'a, [T]>,
    stride: usize,
}

impl<'a, T: Clone> Numbers<'a, T> {
    fn borrowed(strided: Strided<'a, T>) -> Self {
        Self {
            numbers: Cow::Borrowed(strided.numbers),
            stride: strided.stride,
        }
    }

    fn into_owned(self) -> Numbers<'static, T> {
        Numbers {
            numbers: Cow::Owned(self.numbers.into_owned()),
            stride: self.stride,
        }
    }

    fn strided(&self) -> Strided<'_, T> {
        Strided::new(&self.numbers, self.stride)
    }
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
    /// Vertices that overlap.
    #[error(
        "{array}: a stride of {stride}; each vertex has {width} numbers, and strides count elements, not bytes"
    )]
    Stride {
        /// Name of the array.
        array: &'static str,
        /// Stride of the array.
        stride: usize,
        /// Numbers of a vertex.
        width: usize,
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
///
/// A job borrows its input. To keep it in a structure beside other buffers, turn it into a job that
/// [owns](SkinningJob::into_owned) it.
#[derive(Debug, Clone)]
pub struct SkinningJob<'a> {
    vertices: usize,
    influences: usize,
    joints: Numbers<'a, u16>,
    weights: Numbers<'a, f32>,
    positions: Numbers<'a, f32>,
    normals: Option<Numbers<'a, f32>>,
    tangents: Option<Numbers<'a, f32>>,
    /// Largest palette index of any vertex; `None` without vertices.
    largest: Option<u16>,
}

impl<'a> SkinningJob<'a> {
    /// Checks every vertex; later frames need no check of their own.
    ///
    /// # Errors
    /// [`JobError::TooShort`], [`JobError::Stride`] or [`JobError::NoInfluences`].
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
        Ok(Self {
            vertices,
            influences,
            joints: Numbers::borrowed(joints),
            weights: Numbers::borrowed(weights),
            positions: Numbers::borrowed(positions),
            normals: normals.map(Numbers::borrowed),
            tangents: tangents.map(Numbers::borrowed),
            largest,
        })
    }

    /// The job with a copy of its input, which borrows nothing and needs no other check.
    pub fn into_owned(self) -> SkinningJob<'static> {
        SkinningJob {
            vertices: self.vertices,
            influences: self.influences,
            joints: self.joints.into_owned(),
            weights: self.weights.into_owned(),
            positions: self.positions.into_owned(),
            normals: self.normals.map(Numbers::into_owned),
            tangents: self.tangents.map(Numbers::into_owned),
            largest: self.largest,
        }
    }

    /// The input.
    fn input(&self) -> SkinningInput<'_> {
        SkinningInput {
            vertices: self.vertices,
            influences: self.influences,
            joints: self.joints.strided(),
            weights: self.weights.strided(),
            positions: self.positions.strided(),
            normals: self.normals.as_ref().map(Numbers::strided),
            tangents: self.tangents.as_ref().map(Numbers::strided),
        }
    }

    /// Skins all vertices. On a machine that lacks `isa`, the code for the baseline of its architecture runs instead.
    ///
    /// `palette` holds model poses times inverse binds. Normals and tangents are treated as `normals` says. Nothing is
    /// written if an error is returned.
    ///
    /// # Errors
    /// [`JobError::Palette`], [`JobError::NoInput`], [`JobError::Stride`] or [`JobError::TooShort`].
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
        let input = self.input();
        output
            .positions
            .check("output positions", input.vertices, 3)?;
        let directions = [
            ("output normals", input.normals, output.normals),
            ("output tangents", input.tangents, output.tangents),
        ];
        for (array, source, output) in directions {
            match (source, output) {
                (None, Some(_)) => return Err(JobError::NoInput { array }),
                (Some(_), Some(output)) => output.check(array, input.vertices, 3)?,
                (_, None) => {}
            }
        }
        simd::run_128(
            isa,
            JobKernel {
                input,
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
                let joints = input.joints.of(vertex, influences);
                let weights = input.weights.of(vertex, influences);
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
