//! Strategies: how a backend poses and skins.

use crate::forms::mesh::MeshForm;
use crate::forms::morph::MorphForm;
use crate::forms::palettes::PaletteForm;
use crate::passes::draw::morph_form;
use crate::passes::skin::SkinKernel;

/// Choice of posing and skinning of a GPU backend.
#[derive(Debug, Clone, Copy)]
pub struct Strategy {
    /// Place and method of computing palettes.
    pub posing: Posing,
    /// Place and method of skinning vertices.
    pub skin: Skinning,
}

/// Place where palettes are computed, unless their form is baked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posing {
    /// On the CPU, as in `cpu-rayon`, with an upload every frame.
    Host,
    /// On the device.
    Device,
    /// On the device, for instances in view only.
    Visible,
}

/// Place and method of skinning vertices.
#[derive(Debug, Clone, Copy)]
pub enum Skinning {
    /// In the vertex shader, in every pass, from a mesh and palettes in these forms.
    Vertex(MeshForm, PaletteForm),
    /// Once, by the fastest of some compute kernels. All of them read palettes in one form. A kernel that skins all
    /// models in one dispatch is the only one, and its palettes are computed on the host.
    Compute(&'static [&'static SkinKernel]),
}

impl Strategy {
    /// Returns whether skinned vertices are in buffers of the backend instead of the output buffers.
    pub fn keeps_vertices(self) -> bool {
        self.skin.is_merged()
    }

    /// Returns whether palettes are computed on the host.
    pub fn poses_on_host(self) -> bool {
        self.posing == Posing::Host && !matches!(self.skin.palette(), PaletteForm::Baked(_))
    }
}

impl Skinning {
    /// Form of the palettes.
    pub fn palette(self) -> PaletteForm {
        match self {
            Self::Vertex(_, palette) => palette,
            Self::Compute(kernels) => kernels[0].palette,
        }
    }

    /// Form of the morph targets.
    pub fn morph(self) -> MorphForm {
        match self {
            Self::Vertex(_, palette) => morph_form(palette),
            Self::Compute(_) => MorphForm::Sparse,
        }
    }

    /// Returns whether a dispatch skins chunks of several models.
    pub fn is_merged(self) -> bool {
        matches!(self, Self::Compute([kernel, ..]) if kernel.is_merged())
    }
}
