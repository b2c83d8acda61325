//! The request that an importer answers: a file, its clips, and the vertices to keep.

use std::path::{Path, PathBuf};

/// Files to read, and what to read of them.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The model.
    pub file: &'a Path,
    /// Clips in files of their own.
    pub clips: &'a [PathBuf],
    /// Vertices to read.
    pub vertices: Vertices,
}

/// The vertices of a file that a model has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Vertices {
    /// Those that triangles use, each once; all of a primitive without triangles.
    #[default]
    Drawn,
    /// All, in the primitives and in the order of the file, for comparisons with other programs.
    All,
}
