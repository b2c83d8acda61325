//! The stages for a block of [`BLOCK`] instances, one in each lane.
//!
//! An instruction set that the machine lacks falls back to the one that the target always has.

use super::lanes::Lanes;
use super::local_to_model::LocalToModel;
use super::palette::ModelToPalette;
use super::side_by_side::{Affine, Local, run_lanes};
use crate::crowd::BLOCK;
use crate::model::{Clip, Rows, Skeleton};
use crate::simd::Isa;

/// Samples a clip for the instance in `lane`; otherwise as [`super::one::sample`].
///
/// # Panics
/// `lane` is not less than [`BLOCK`], or `local` is too short for a joint that the clip moves.
pub fn sample(
    skeleton: &Skeleton,
    clip: Option<&Clip>,
    time: f32,
    lane: usize,
    local: &mut [Local<BLOCK>],
) {
    super::sample::sample(skeleton, clip, time, Lanes::Instance(lane), local);
}

/// Turns local poses into model poses. `local` and `model` hold one item per joint, parents before children.
///
/// # Panics
/// `model` is shorter than `local`.
pub fn local_to_model(
    isa: Isa,
    skeleton: &Skeleton,
    local: &[Local<BLOCK>],
    model: &mut [Affine<BLOCK>],
) {
    run_lanes::<BLOCK, _>(
        isa,
        LocalToModel {
            skeleton,
            lanes: BLOCK,
            local,
            model,
        },
    );
}

/// Multiplies model poses by inverse binds, for kernels that read instances in lanes.
///
/// `joints`, `inverse_binds` and `palette` hold one item per palette entry (a model's skins concatenated), `model` one
/// per joint.
///
/// # Panics
/// `joints` names a joint that `model` lacks.
pub fn palette(
    isa: Isa,
    joints: &[u16],
    inverse_binds: &[Rows],
    model: &[Affine<BLOCK>],
    palette: &mut [Affine<BLOCK>],
) {
    run_lanes::<BLOCK, _>(
        isa,
        ModelToPalette {
            joints,
            inverse_binds,
            model,
            palette,
        },
    );
}

/// As [`palette`], for kernels that read one instance at a time: `palette` takes `[instance][entry]` for as many
/// instances as it has room for, at most [`BLOCK`].
///
/// # Panics
/// As [`palette`], or `palette` has room for more than [`BLOCK`] instances.
pub fn palette_rows(
    isa: Isa,
    joints: &[u16],
    inverse_binds: &[Rows],
    model: &[Affine<BLOCK>],
    palette: &mut [Rows],
) {
    super::palette::to_rows(isa, joints, inverse_binds, model, palette);
}
