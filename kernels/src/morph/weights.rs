//! Weights of an instance's morph targets at a tick.

use crate::crowd::{Crowd, Expression, Layer, LayerKind, time};
use crate::model::Model;

/// Computes the weights of an instance's targets at a tick; `out` takes one number per target.
///
/// A target has the weight of its clip's track, otherwise its default. Merge layers are averaged by weight; one without
/// a track counts with the default. Override and additive layers act on the targets of their tracks alone. Masks name
/// joints and do not affect weights, and an inertial fade changes weights as a crossfade does. Weights are neither
/// clamped nor normalised.
///
/// # Panics
/// `out` is too short.
pub fn weights(
    model: &Model,
    layers: &[Layer],
    expression: Expression,
    tick: u32,
    out: &mut [f32],
) {
    let targets = model.mesh().targets().list();
    let out = &mut out[..targets.len()];
    if expression.alone {
        out.fill(0.0);
    } else {
        for (weight, target) in out.iter_mut().zip(targets) {
            *weight = target.weight;
        }
        add_layers(model, layers, tick, out);
    }
    for pin in expression.pinned {
        out[pin.target as usize] = pin.weight;
    }
}

/// As [`weights`], of an instance of a crowd; `model` is that of its group.
///
/// # Panics
/// As [`weights`].
pub fn weights_of(crowd: &Crowd, model: &Model, instance: u32, tick: u32, out: &mut [f32]) {
    let expression = crowd.expression(instance);
    if crowd.turnover().is_some() {
        let layers = crowd.layers_at(instance, tick);
        weights(model, &layers, expression, tick, out);
    } else {
        // Most crowds keep their layers, which need no copy.
        let layers = crowd.layers().of(instance as usize);
        weights(model, layers, expression, tick, out);
    }
}

fn add_layers(model: &Model, layers: &[Layer], tick: u32, out: &mut [f32]) {
    let targets = model.mesh().targets().list();
    let merges = layers.iter().filter(|l| l.kind == LayerKind::Merge);
    let total: f32 = merges.map(|l| l.crossfaded_weight(tick)).sum();
    for (index, layer) in layers.iter().enumerate() {
        let Some(clip) = model.clips().get(layer.clip as usize) else {
            continue;
        };
        let share = layer.crossfaded_weight(tick);
        if clip.weights().is_empty() || share == 0.0 {
            continue;
        }
        let time = time(layers, index, tick);
        for track in clip.weights() {
            track.sample(time, |target, weight| {
                let out = &mut out[target];
                match layer.kind {
                    LayerKind::Merge if share == total => *out = weight,
                    LayerKind::Merge => {
                        *out += (weight - targets[target].weight) * (share / total);
                    }
                    LayerKind::Override => *out += (weight - *out) * share,
                    LayerKind::Additive => *out += weight * share,
                }
            });
        }
    }
}
