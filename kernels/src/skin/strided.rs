//! Attributes of vertices in the buffers of an engine: inputs and outputs of a skinning job.

use super::job_error::JobError;
use bytemuck::{NoUninit, Pod};
use std::borrow::Cow;
use std::cell::Cell;

/// An attribute of vertices in a buffer: an element for each vertex, such as a position. Other attributes may lie between the
/// elements, which need no alignment.
#[derive(Debug, Clone)]
pub struct Strided<'a> {
    /// The first vertex begins with the first byte.
    bytes: Cow<'a, [u8]>,
    stride: usize,
}

impl<'a> Strided<'a> {
    /// Numbers of vertices that are `stride` bytes apart; those of the first begin `offset` bytes from the start of the
    /// buffer. A buffer may be of bytes, of numbers or of whole vertices, whose structure derives [`bytemuck::Pod`] or
    /// [`bytemuck::NoUninit`]: a normal behind a position in vertices of 32 bytes is at offset 12 with stride 32.
    pub fn new<T: NoUninit>(buffer: &'a [T], offset: usize, stride: usize) -> Self {
        let bytes: &[u8] = bytemuck::cast_slice(buffer);
        Self {
            bytes: Cow::Borrowed(bytes.get(offset..).unwrap_or_default()),
            stride,
        }
    }

    /// The attribute in memory of its own.
    pub(super) fn into_owned(self) -> Strided<'static> {
        Strided {
            bytes: Cow::Owned(self.bytes.into_owned()),
            stride: self.stride,
        }
    }

    /// Checks that each of so many vertices has `width` bytes of its own.
    pub(super) fn check(
        &self,
        array: &'static str,
        vertices: usize,
        width: usize,
    ) -> Result<(), JobError> {
        check(array, self.bytes.len(), self.stride, vertices, width)
    }

    /// The elements from a vertex on, borrowed.
    pub(super) fn from(&self, vertex: usize) -> View<'_, u8> {
        let first = vertex.saturating_mul(self.stride);
        View {
            bytes: self.bytes.get(first..).unwrap_or_default(),
            stride: self.stride,
        }
    }
}

/// An attribute of vertices to be written to a buffer. What lies between the elements is left as it is.
#[derive(Debug, Clone, Copy)]
pub struct StridedMut<'a>(View<'a, Cell<u8>>);

impl<'a> StridedMut<'a> {
    /// Places with an offset and a stride in bytes, as for [`Strided::new`]. Whole vertices derive [`bytemuck::Pod`].
    pub fn new<T: Pod>(buffer: &'a mut [T], offset: usize, stride: usize) -> Self {
        Self::of_cells(cells(buffer), offset, stride)
    }

    /// An attribute, as [`StridedMut::new`], in a buffer that others may share.
    pub fn of_cells(cells: &'a [Cell<u8>], offset: usize, stride: usize) -> Self {
        Self(View {
            bytes: cells.get(offset..).unwrap_or_default(),
            stride,
        })
    }

    /// Checks as [`Strided::check`].
    pub(super) fn check(
        &self,
        array: &'static str,
        vertices: usize,
        width: usize,
    ) -> Result<(), JobError> {
        check(array, self.0.bytes.len(), self.0.stride, vertices, width)
    }

    /// Writes the element of a vertex.
    ///
    /// # Safety
    /// [`StridedMut::check`] has succeeded for more vertices than `vertex`, and for three floats.
    #[inline(always)] // as all here that is called for each vertex: to take on the caller's instruction set
    pub(super) unsafe fn store(&self, vertex: usize, element: [f32; 3]) {
        // SAFETY: the caller's. Cells may be written through a shared reference, and this one is of one thread.
        unsafe {
            let bytes: *const [Cell<u8>; 12] = self.0.item(vertex);
            bytes.cast_mut().cast::<[f32; 3]>().write_unaligned(element);
        }
    }
}

/// A buffer in which several outputs may lie between each other.
pub(super) fn cells<T: Pod>(buffer: &mut [T]) -> &[Cell<u8>] {
    Cell::from_mut(bytemuck::cast_slice_mut(buffer)).as_slice_of_cells()
}

fn check(
    array: &'static str,
    given: usize,
    stride: usize,
    vertices: usize,
    width: usize,
) -> Result<(), JobError> {
    if vertices == 0 {
        return Ok(());
    }
    if stride < width {
        return Err(JobError::Stride {
            array,
            stride,
            width,
        });
    }
    let needed = (vertices - 1).saturating_mul(stride).saturating_add(width);
    if given < needed {
        return Err(JobError::TooShort {
            array,
            given,
            needed,
            vertices,
            stride,
        });
    }
    Ok(())
}

/// Bytes of vertices, as [`Strided`], for loops.
#[derive(Debug)]
pub(super) struct View<'a, B> {
    pub bytes: &'a [B],
    pub stride: usize,
}

// A derive would ask for bytes that can be copied, which cells are not.
impl<B> Copy for View<'_, B> {}
impl<B> Clone for View<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, B> View<'a, B> {
    /// The first `N` bytes of a vertex.
    ///
    /// # Safety
    /// [`Strided::check`] has succeeded for more vertices than `vertex`, and for a width of `N`.
    #[inline(always)]
    unsafe fn item<const N: usize>(&self, vertex: usize) -> &'a [B; N] {
        // SAFETY: the caller's: the bytes reach that far.
        unsafe { &*self.bytes.as_ptr().add(vertex * self.stride).cast() }
    }

    /// The first `count` components of `N` bytes each of a vertex.
    ///
    /// # Safety
    /// As [`View::item`], for a width of `count * N`.
    #[inline(always)]
    pub unsafe fn components<const N: usize>(&self, vertex: usize, count: usize) -> &'a [[B; N]] {
        // SAFETY: the caller's: the bytes reach that far.
        unsafe {
            let first = self.bytes.as_ptr().add(vertex * self.stride);
            std::slice::from_raw_parts(first.cast(), count)
        }
    }
}

impl View<'_, u8> {
    /// The first `N` floats of a vertex.
    ///
    /// # Safety
    /// As [`View::item`], for a width of `N` floats.
    #[inline(always)]
    pub unsafe fn floats<const N: usize>(&self, vertex: usize) -> [f32; N] {
        // SAFETY: the caller's: the bytes reach that far, and any bits are a float.
        unsafe {
            let first = self.bytes.as_ptr().add(vertex * self.stride);
            first.cast::<[f32; N]>().read_unaligned()
        }
    }
}
