//! The stages for a single instance, in scalar code.

use super::lanes::Lanes;
use super::local_to_model::LocalToModel;
use super::side_by_side::{Affine, Local, run_lanes};
use crate::model::{Clip, Rows, Skeleton};
use crate::simd::Isa;

/// Samples a clip. Joints without a track keep the rest pose (no difference in an additive clip).
///
/// `time` is in seconds and is clamped to each track's keys. `local` holds one item per joint. Every `time` costs the
/// same: keys are found by bisection, once for all tracks that share key times.
///
/// # Panics
/// `local` is too short for a joint that the clip moves.
pub fn sample(skeleton: &Skeleton, clip: Option<&Clip>, time: f32, local: &mut [Local<1>]) {
    super::sample::sample(skeleton, clip, time, Lanes::Instance(0), local);
}

/// Turns local poses into model poses. `local` and `model` hold one item per joint, parents before children.
///
/// # Panics
/// `model` is shorter than `local`.
pub fn local_to_model(skeleton: &Skeleton, local: &[Local<1>], model: &mut [Affine<1>]) {
    run_lanes::<1, _>(
        Isa::Scalar,
        LocalToModel {
            skeleton,
            lanes: 1,
            local,
            model,
        },
    );
}

/// Multiplies model poses by inverse binds.
///
/// `joints`, `inverse_binds` and `palette` hold one item per palette entry (a model's skins concatenated), `model` one
/// per joint.
///
/// # Panics
/// `joints` names a joint that `model` lacks.
pub fn palette(joints: &[u16], inverse_binds: &[Rows], model: &[Affine<1>], palette: &mut [Rows]) {
    super::palette::to_rows(Isa::Scalar, joints, inverse_binds, model, palette);
}
