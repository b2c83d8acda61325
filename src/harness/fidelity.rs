//! Errors of compact clips and of crowds that are not posed at every tick, against the animation as authored.

use super::parity::{Coverage, Parity};
use crate::crowd::Crowd;
use crate::model::affine_to_rows;
use crate::pose::ErrorPoints;
use crate::reference::ReferencePose;
use crate::scene::BuiltScene;
use rayon::prelude::*;
use std::ops::Add;

/// Ticks at which the error is measured: several within a second, and one after an hour, when phases have drifted
/// apart.
const TICKS: [u32; 6] = [1, 14, 27, 43, 58, 216_007];

/// Upper bound of the distance of a joint's end from its place in the plain crowd, over the skeleton's size: the sum of
/// the errors of compact clips and of poses that are not computed at every tick. `None` for the plain
/// crowd.
pub fn clip_error(scene: &BuiltScene) -> Option<f64> {
    let clips = scene.crowd.groups().iter().flat_map(|g| g.model.clips());
    let compact = clips
        .filter_map(|clip| Some(clip.keys().compact()?.error.distance))
        .reduce(f64::max);
    sum(compact, saving_error(&scene.crowd))
}

/// The same for a backend, including its stated error; `crowd` is the crowd's [`clip_error`].
pub fn of_backend(crowd: Option<f64>, parity: Option<&Parity>) -> Option<f64> {
    sum(crowd, parity.and_then(|p| p.approximation?.clip_error))
}

/// The sum of the errors that there are.
fn sum(first: Option<f64>, second: Option<f64>) -> Option<f64> {
    [first, second].into_iter().flatten().reduce(Add::add)
}

/// The part of the error due to update rates, measured on at least 64 instances of each group; `None` if every
/// instance is posed individually at every tick.
pub fn saving_error(crowd: &Crowd) -> Option<f64> {
    if !crowd.has_update_rates() {
        return None;
    }
    let points: Vec<ErrorPoints> = crowd
        .groups()
        .iter()
        .map(|g| ErrorPoints::of(&g.model))
        .collect();
    let instances = Coverage::sampled(crowd, &TICKS, &[]).instances;
    let error = instances
        .into_par_iter()
        .flat_map_iter(|range| range)
        .map(|instance| instance_error(crowd, &points[crowd.group_of(instance)], instance))
        .reduce(|| 0.0, f64::max);
    Some(error)
}

/// The error of an instance that is due to its update rate.
fn instance_error(crowd: &Crowd, points: &ErrorPoints, instance: u32) -> f64 {
    let mut error = 0.0f64;
    for tick in TICKS {
        let shown = ReferencePose::new(crowd, instance, tick).model;
        let plain = ReferencePose::unsaved(crowd, instance, tick).model;
        for (joint, (shown, plain)) in shown.iter().zip(&plain).enumerate() {
            let [shown, plain] = [shown, plain].map(|m| affine_to_rows(m).map(f64::from));
            let off = std::array::from_fn(|i| shown[i] - plain[i]);
            error = error.max(points.distance(joint, &off));
        }
    }
    error
}
