//! Morph targets, by the definition in docs/animation.md: weights of an instance at a tick, and the vertices that they
//! make.

use super::blend::weight;
use crate::crowd::{Crowd, Fade, Layer, LayerKind, time};
use crate::model::{Mesh, Model};
use glam::DVec3;

/// Weights of an instance's targets at a tick, from the given layers.
pub(super) fn weights(
    crowd: &Crowd,
    model: &Model,
    instance: u32,
    layers: &[Layer],
    tick: u32,
) -> Vec<f64> {
    let targets = model.mesh().targets().list();
    let expression = crowd.expression(instance);
    let mut weights: Vec<f64> = targets
        .iter()
        .map(|target| f64::from(target.weight))
        .collect();
    let defaults = weights.clone();
    // An inertial fade changes weights as a crossfade does.
    let share = |layer: &Layer| {
        weight(
            &Layer {
                fade: Fade::Cross,
                ..*layer
            },
            tick,
        )
    };
    let merged: f64 = layers
        .iter()
        .filter(|layer| layer.kind == LayerKind::Merge)
        .map(share)
        .sum();
    for (index, layer) in layers.iter().enumerate() {
        let clip = model.clips().get(layer.clip as usize);
        for track in clip.into_iter().flat_map(|clip| clip.weights()) {
            for (place, target) in track.targets.clone().enumerate() {
                let own = track.exact(place, time(layers, index, tick).into());
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
    expression
        .pinned
        .iter()
        .for_each(|pin| weights[pin.target as usize] = pin.weight.into());
    weights
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
        let deltas = [
            targets.positions()[delta],
            targets.normals()[delta],
            tangent,
        ];
        offsets[vertex]
            .iter_mut()
            .zip(deltas)
            .for_each(|(sum, delta)| *sum += weights[target] * vector(delta));
    }
    offsets
}
