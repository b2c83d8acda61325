//! Skins: lists of joints with their inverse bind matrices.

use super::affine::Rows;
use std::ops::Range;

/// A mesh's own list of joints with their inverse binds: a range of the model's palette entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skin {
    /// Name in the file, possibly empty.
    pub name: String,
    /// This skin's entries of [`palette_joints`](super::Model::palette_joints) and
    /// [`inverse_binds`](super::Model::inverse_binds).
    pub entries: Range<u32>,
}

/// A skin as an importer found it.
#[derive(Debug, Clone, PartialEq)]
pub struct SkinData {
    /// Name in the file, possibly empty.
    pub name: String,
    /// Joints of the skeleton, in the order in which vertices refer to them.
    pub joints: Vec<u16>,
    /// Maps mesh space to joint space at bind, one for each of `joints`.
    pub inverse_binds: Vec<Rows>,
}
