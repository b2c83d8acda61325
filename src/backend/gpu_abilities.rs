//! Abilities of GPU backends, which follow from how they pose and skin.

use super::abilities::{Abilities, DUAL_QUATERNIONS, EVEN, Joints, LaterPasses, RIGID};
use crate::bake::{BakeFormat, MOST_LAYERS};
use crate::frame::{Ability, Lack};
use crate::gpu::{PaletteForm, Posing, Skinning, Strategy, UNIFORM_ENTRIES};

const NO_MORPH_TARGETS: Lack = Lack {
    ability: Ability::MorphTargets,
    reason: "has no morph targets",
};

/// What vertex shaders lack.
const VERTEX: &[Lack] = &[
    Lack {
        ability: Ability::PackedOutput,
        reason: "writes plain floats",
    },
    Lack {
        ability: Ability::Motion,
        reason: "stores no vertices, which motion vectors compare",
    },
];

/// What palettes in half precision lack. The largest 16-bit float is 65,504.
const HALF: &[Lack] = &[
    EVEN,
    NO_MORPH_TARGETS,
    Lack {
        ability: Ability::ScaleBeyond(65_504),
        reason: "keeps rotation and scale in 16-bit floats",
    },
];

/// What palettes in uniform blocks lack.
const UNIFORM: &[Lack] = &[Lack {
    ability: Ability::EntriesBeyond(UNIFORM_ENTRIES),
    reason: "keeps a palette in a uniform block",
}];

/// What averages of whole baked palettes lack: those that are refused have no bound of their distance.
const BAKED: &[Lack] = &[
    NO_MORPH_TARGETS,
    Lack {
        ability: Ability::UpdateRates,
        reason: "shows baked clips at every tick",
    },
    Lack {
        ability: Ability::LayersBeyond(MOST_LAYERS),
        reason: "blends up to four baked clips",
    },
    Lack {
        ability: Ability::Masks,
        reason: WHOLE_PALETTES,
    },
    Lack {
        ability: Ability::AdditiveLayers,
        reason: WHOLE_PALETTES,
    },
    Lack {
        ability: Ability::InertialFades,
        reason: WHOLE_PALETTES,
    },
];

const WHOLE_PALETTES: &str = "blends whole palettes";

/// An ability that baked vertices lack in addition to [`BAKED`].
const NO_PALETTES: Lack = Lack {
    ability: Ability::Gameplay,
    reason: "bakes vertices and keeps no palettes",
};

/// What backends lack that pose instances in view only.
const VISIBLE: &[Lack] = &[
    NO_MORPH_TARGETS,
    Lack {
        ability: Ability::Motion,
        reason: "keeps other instances than in the last frame",
    },
    Lack {
        ability: Ability::UpdateRates,
        reason: "keeps no poses of instances out of view",
    },
    Lack {
        ability: Ability::Turnover,
        reason: "knows instances by their first places",
    },
    Lack {
        ability: Ability::Gameplay,
        reason: "poses only instances in view",
    },
];

/// The abilities of the backend of a strategy.
pub fn abilities(strategy: Strategy) -> Abilities {
    let palette = strategy.skin.palette();
    let joints = match (strategy.posing, palette) {
        (_, PaletteForm::Baked(_)) => Joints::Nowhere,
        (Posing::Host, _) => Joints::Host,
        (Posing::Device, _) => Joints::Device,
        (Posing::Visible, _) => Joints::DeviceInView,
    };
    let (later_passes, of_skin) = match strategy.skin {
        Skinning::Vertex(..) => (LaterPasses::SkinAgain, VERTEX),
        Skinning::Compute(kernels) => (LaterPasses::Free, kernels[0].lacks),
    };
    let of_palette = match palette {
        PaletteForm::Baked(_) => BAKED,
        PaletteForm::Half => HALF,
        PaletteForm::Uniform => UNIFORM,
        PaletteForm::DualQuaternions => DUAL_QUATERNIONS,
        PaletteForm::Rows
        | PaletteForm::Workgroup
        | PaletteForm::Columns
        | PaletteForm::Texture => &[],
    };
    let rigid: &[Lack] = if palette == PaletteForm::Baked(BakeFormat::Motions) {
        &RIGID
    } else {
        &[]
    };
    let baked = (palette == PaletteForm::Baked(BakeFormat::Vertices)).then_some(NO_PALETTES);
    let of_posing = if strategy.posing == Posing::Visible {
        VISIBLE
    } else {
        &[]
    };
    let lacks = of_skin
        .iter()
        .chain(rigid)
        .chain(of_palette)
        .chain(&baked)
        .chain(of_posing)
        .copied()
        .collect();
    Abilities {
        joints,
        later_passes,
        lacks,
    }
}
