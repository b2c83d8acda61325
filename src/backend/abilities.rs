//! What a backend declares about itself, from which follow refusals, lists and tables.

use crate::crowd::Crowd;
use crate::frame::{Ability, BackendError, Job, Lack, Result};

/// Abilities of a backend.
#[derive(Debug, Clone)]
pub struct Abilities {
    /// Place of the joints of a frame.
    pub joints: Joints,
    /// Cost of drawing the vertices of a frame once more.
    pub later_passes: LaterPasses,
    /// What the backend cannot do.
    pub lacks: Vec<Lack>,
}

/// Place of the joints of a frame, from which gameplay reads sockets and bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joints {
    /// In main memory, within the frame.
    Host,
    /// On the device: to be read back, or used there.
    Device,
    /// On the device, for instances in view only.
    DeviceInView,
    /// Nowhere: palettes are baked, and no frame computes a joint. Sockets and bounds can be computed from palettes.
    Nowhere,
}

/// Cost of drawing the vertices of a frame once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaterPasses {
    /// They read vertices that are already skinned.
    Free,
    /// Every pass skins again.
    SkinAgain,
    /// The output cannot be drawn.
    NotDrawn,
}

/// An ability that backends lack whose palettes hold rotations and even scales.
pub(super) const EVEN: Lack = Lack {
    ability: Ability::UnevenScale,
    reason: "does not support uneven scale",
};

/// What backends lack whose palettes hold rigid motions and a factor.
pub(super) const RIGID: [Lack; 3] = [
    EVEN,
    Lack {
        ability: Ability::VanishingScale,
        reason: "finds rotations by the squares of scales, which are at least 1e-36",
    },
    Lack {
        ability: Ability::MirroredScale,
        reason: "turns joints by quaternions, which cannot mirror",
    },
];

/// What backends lack that blend dual quaternions.
pub(super) const DUAL_QUATERNIONS: &[Lack] = &[
    RIGID[0],
    RIGID[1],
    RIGID[2],
    Lack {
        ability: Ability::Bounds,
        reason: "blends dual quaternions, which leave the boxes of their joints",
    },
];

impl Abilities {
    /// Returns whether the backend lacks an ability.
    pub fn lack(&self, ability: Ability) -> bool {
        self.lacks.iter().any(|lack| lack.ability == ability)
    }

    /// Checks that the backend can do what a crowd and a job ask for, on any machine.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] with the first thing that it cannot do.
    pub fn check(&self, crowd: &Crowd, job: &Job) -> Result<()> {
        match self.lacks.iter().find_map(|lack| lack.refusal(crowd, job)) {
            Some(refusal) => Err(BackendError::Unavailable(refusal)),
            None => Ok(()),
        }
    }
}
