//! Morph targets, by the definition in docs/animation.md: weights of an instance at a tick, and the vertices that they
//! make.

use super::blend::weight;
use crate::crowd::{Crowd, Fade, Layer, LayerKind, time};
use crate::model::{Interpolation, Mesh, Model, WeightKeys};
use glam::DVec3;

/// Weights of an instance's targets at a tick, from the given layers.
pub(super) fn weights(crowd: &Crowd, model: &Model, instance: u32, layers: &[Layer], tick: u32) -> Vec<f64> {
    let targets = model.mesh().targets().list();
    let expression = crowd.expression(instance);
    let mut weights: Vec<f64> = targets.iter().map(|target| f64::from(target.weight)).collect();
    let defaults = weights.clone();
    // An inertial fade changes weights as a crossfade does.
    let share = |layer: &Layer| weight(&Layer { fade: Fade::Cross, ..*layer }, tick);
    let merged: f64 = layers.iter().filter(|layer| layer.kind == LayerKind::Merge).map(share).sum();
    for (index, layer) in layers.iter().enumerate() {
        let clip = model.clips().get(layer.clip as usize);
        for track in clip.into_iter().flat_map(|clip| clip.weights()) {
            for target in track.targets.clone() {
                let own = sampled(track, target, time(layers, index, tick).into());
                let at = target as usize;
                weights[at] += share(layer)
                    * match layer.kind {
                        LayerKind::Merge if merged == 0.0 => 0.0,
                        LayerKind::Merge => (own - defaults[at]) / merged,
                        LayerKind::Override => own - weights[at],
                        LayerKind::Additive => own,
                    };
            }
        }
    }
    if expression.alone {
        weights.fill(0.0);
    }
    expression.pinned.iter().for_each(|pin| weights[pin.target as usize] = pin.weight.into());
    weights
}

/// The weight of one target of a track at a time, which is clamped to the keys.
fn sampled(track: &WeightKeys, target: u32, time: f64) -> f64 {
    let (count, at) = (track.targets.len(), (target - track.targets.start) as usize);
    let per_key = if track.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let number = |key: usize, part: usize| f64::from(track.values[(key * per_key + part) * count + at]);
    let value = |key: usize| number(key, per_key / 2);
    let times: Vec<f64> = track.times.iter().map(|&t| f64::from(t)).collect();
    let last = times.len() - 1;
    if time <= times[0] {
        return value(0);
    }
    if time >= times[last] {
        return value(last);
    }
    let k = (0..last).find(|&k| time < times[k + 1]).unwrap_or(last - 1);
    let span = times[k + 1] - times[k];
    let s = (time - times[k]) / span;
    match track.interpolation {
        Interpolation::Step => value(k),
        Interpolation::CubicSpline => {
            let (s2, s3) = (s * s, s * s * s);
            (2.0 * s3 - 3.0 * s2 + 1.0) * value(k)
                + span * (s3 - 2.0 * s2 + s) * number(k, 2)
                + (3.0 * s2 - 2.0 * s3) * value(k + 1)
                + span * (s3 - s2) * number(k + 1, 0)
        }
        Interpolation::Linear | Interpolation::Squad => (1.0 - s) * value(k) + s * value(k + 1),
    }
}

/// Sums of the targets' deltas for each vertex: position, normal, direction of the tangent. Empty for a mesh without
/// targets.
pub(super) fn offsets(mesh: &Mesh, weights: &[f64]) -> Vec<[DVec3; 3]> {
    let targets = mesh.targets();
    if targets.is_empty() {
        return Vec::new();
    }
    let mut offsets = vec![[DVec3::ZERO; 3]; mesh.vertex_count()];
    let vector = |v: [f32; 3]| DVec3::from(v.map(f64::from));
    for (target, vertex, delta) in targets.entries() {
        let tangent = targets.tangents().get(delta).copied().unwrap_or_default();
        let deltas = [targets.positions()[delta], targets.normals()[delta], tangent];
        offsets[vertex].iter_mut().zip(deltas).for_each(|(sum, delta)| *sum += weights[target] * vector(delta));
    }
    offsets
}
