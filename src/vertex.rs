//! What skinning writes for a vertex.

/// Which attributes are skinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub enum Attributes {
    /// Position: 3 floats.
    P,
    /// Position and normal: 6 floats.
    #[default]
    Pn,
    /// Position, normal, tangent with its handedness: 10 floats.
    Pnt,
}

impl Attributes {
    /// Name on the command line and in CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::P => "p",
            Self::Pn => "pn",
            Self::Pnt => "pnt",
        }
    }
}

/// What becomes of normals (and tangents) after the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Normals {
    /// `normalise(sum w * M3x3 * n)`.
    #[default]
    Unit,
    /// `sum w * M3x3 * n`: the pixel shader normalises.
    Raw,
    /// `normalise(cofactor(sum w * M3x3) * n)`: perpendicular under non-uniform scale too. Tangents as [`Normals::Unit`].
    Exact,
}

impl Normals {
    /// Name on the command line and in CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Raw => "raw",
            Self::Exact => "exact",
        }
    }
}

/// Layout and meaning of a skinned vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct VertexFormat {
    /// Which attributes.
    pub attributes: Attributes,
    /// How normals end.
    pub normals: Normals,
}

impl VertexFormat {
    /// Floats of a vertex: position x y z, normal x y z, tangent x y z w, as far as the attributes go.
    pub fn floats(self) -> usize {
        match self.attributes {
            Attributes::P => 3,
            Attributes::Pn => 6,
            Attributes::Pnt => 10,
        }
    }
}
