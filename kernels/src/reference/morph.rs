//! Morph targets, by the definition in docs/animation.md: weights of an instance at a tick, and the vertices that they
//! make.

use super::blend::weight;
use crate::crowd::{Crowd, Fade, Layer, LayerKind, time};
use crate::model::{Mesh, Model};
use glam::{DVec3, Vec3};

/// Weights of an instance's targets at a tick, from the given layers.
pub fn weights(
    crowd: &Crowd,
    model: &Model,
    instance: u32,
    layers: &[Layer],
    tick: u32,
) -> Vec<f64> {
    let targets = model.mesh().targets().list();
    let defaults: Vec<f64> = targets.iter().map(|target| target.weight.into()).collect();
    let mut weights = defaults.clone();
    let merges = layers.iter().filter(|l| l.kind == LayerKind::Merge);
    let merged: f64 = merges.map(|layer| crossfaded_weight(layer, tick)).sum();
    for (index, layer) in layers.iter().enumerate() {
        let Some(clip) = model.clips().get(layer.clip as usize) else {
            continue;
        };
        let share = crossfaded_weight(layer, tick);
        let time = f64::from(time(layers, index, tick));
        for track in clip.weights() {
            for (place, target) in track.targets.clone().enumerate() {
                let value = track.exact(place, time);
                let at = target as usize;
                weights[at] += share
                    * match layer.kind {
                        LayerKind::Merge if merged == 0.0 => 0.0,
                        LayerKind::Merge => (value - defaults[at]) / merged,
                        LayerKind::Override => value - weights[at],
                        LayerKind::Additive => value,
                    };
            }
        }
    }
    let expression = crowd.expression(instance);
    if expression.alone {
        weights.fill(0.0);
    }
    for pin in expression.pinned {
        weights[pin.target as usize] = pin.weight.into();
    }
    weights
}

/// The weight of a layer; an inertial fade changes weights of targets as a crossfade does.
fn crossfaded_weight(layer: &Layer, tick: u32) -> f64 {
    let crossfading = Layer {
        fade: Fade::Cross,
        ..*layer
    };
    weight(&crossfading, tick)
}

/// Sums of the targets' deltas for each vertex: position, normal, direction of the tangent. Empty for a mesh without
/// targets.
pub fn offsets(mesh: &Mesh, weights: &[f64]) -> Vec<[DVec3; 3]> {
    let targets = mesh.targets();
    if targets.is_empty() {
        return Vec::new();
    }
    let mut offsets = vec![[DVec3::ZERO; 3]; mesh.vertex_count()];
    for (target, vertex, delta) in targets.entries() {
        for (sum, delta) in offsets[vertex].iter_mut().zip(targets.deltas(delta)) {
            *sum += weights[target] * Vec3::from(delta).as_dvec3();
        }
    }
    offsets
}
