//! Errors of compact clips and of crowds with reduced posing, against the animation as authored.

use super::parity::{Coverage, Parity};
use crate::crowd::Crowd;
use crate::model::affine_to_rows;
use crate::pose::Ends;
use crate::reference::ReferencePose;
use crate::scene::BuiltScene;
use rayon::prelude::*;

/// Ticks at which the error is measured: several within a second, and one after an hour, when phases have drifted
/// apart.
const TICKS: [u32; 6] = [1, 14, 27, 43, 58, 216_007];

/// Upper bound of the distance of a joint's end from its place in the plain crowd, over the skeleton's size: the sum of
/// the errors of compact clips, of shared poses and of poses that are not computed at every tick. `None` for the plain
/// crowd.
pub fn clip_error(scene: &BuiltScene) -> Option<f64> {
    let clips = scene.crowd.groups().iter().flat_map(|g| g.model.clips());
    let compact = clips
        .filter_map(|c| Some(c.keys().compact()?.error.distance))
        .reduce(f64::max);
    [compact, saving_error(&scene.crowd)]
        .into_iter()
        .flatten()
        .reduce(|a, b| a + b)
}

/// The same for a backend, including its stated error; `crowd` is the crowd's [`clip_error`].
pub fn of_backend(crowd: Option<f64>, parity: Option<&Parity>) -> Option<f64> {
    let own = parity.and_then(|p| p.approximation?.clip_error);
    [crowd, own].into_iter().flatten().reduce(|a, b| a + b)
}

/// The part of the error due to reduced posing, measured on at least 64 instances of each group; `None` if every
/// instance is posed individually at every tick.
pub fn saving_error(crowd: &Crowd) -> Option<f64> {
    if !crowd.is_reduced() {
        return None;
    }
    let ends: Vec<Ends> = crowd.groups().iter().map(|g| Ends::of(&g.model)).collect();
    let instances = Coverage::sampled(crowd, &TICKS, &[]).instances;
    let error = |instance: u32| {
        let ends = &ends[crowd.group_of(instance)];
        let at = |&tick: &u32| {
            let (shown, plain) = (
                ReferencePose::new(crowd, instance, tick),
                ReferencePose::unsaved(crowd, instance, tick),
            );
            let joints = shown.model.iter().zip(&plain.model).enumerate();
            let off = joints.map(|(joint, (shown, plain))| {
                let [shown, plain] = [shown, plain].map(|m| affine_to_rows(m).map(f64::from));
                ends.distance(joint, &std::array::from_fn(|i| shown[i] - plain[i]))
            });
            off.fold(0.0, f64::max)
        };
        TICKS.iter().map(at).fold(0.0, f64::max)
    };
    Some(
        instances
            .into_par_iter()
            .flat_map_iter(|range| range)
            .map(error)
            .reduce(|| 0.0, f64::max),
    )
}
