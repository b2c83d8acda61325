//! Faults of skinning jobs.

use std::fmt;

/// Most influences of a vertex.
pub(super) const MOST_INFLUENCES: usize = 256;

/// A fault of a [`SkinningJob`](super::SkinningJob) or of [`Clusters`](super::Clusters).
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// A buffer ends before its last vertex.
    #[error(
        "{array}: {given} bytes are too few; {vertices} vertices that are {stride} bytes apart take {needed}"
    )]
    TooShort {
        /// Name of the array.
        array: &'static str,
        /// Bytes of the buffer after the offset.
        given: usize,
        /// Bytes that the vertices need.
        needed: usize,
        /// Number of vertices.
        vertices: usize,
        /// Stride of the array in bytes.
        stride: usize,
    },
    /// Vertices that overlap.
    #[error("{array}: a stride of {stride} bytes; expected at least the {width} of a vertex")]
    Stride {
        /// Name of the array.
        array: &'static str,
        /// Stride of the array in bytes.
        stride: usize,
        /// Bytes of a vertex.
        width: usize,
    },
    /// Vertices that no matrix moves, or more influences than there may be.
    #[error("influences: {given}; expected 1 to {MOST_INFLUENCES}")]
    Influences {
        /// Influences of a vertex.
        given: usize,
    },
    /// An output whose input is missing.
    #[error("{array}: the input has none; expected no such output")]
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
    /// A range of vertices that the job does not have.
    #[error("vertices {first}..{end}: expected a range within 0..{vertices}")]
    Range {
        /// First vertex of the range.
        first: usize,
        /// Vertex after the last one.
        end: usize,
        /// Vertices of the job.
        vertices: usize,
    },
}

/// As the message: a `main` that returns the error prints it so.
impl fmt::Debug for JobError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
