//! Weights of an instance's morph targets at a tick.

use crate::crowd::{Crowd, Expression, Fade, Layer, LayerKind, time};
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
        out.iter_mut()
            .zip(targets)
            .for_each(|(weight, target)| *weight = target.weight);
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
    match crowd.turnover() {
        // Most crowds keep their layers, which need no copy.
        None => weights(
            model,
            crowd.layers().of(instance as usize),
            expression,
            tick,
            out,
        ),
        Some(_) => weights(
            model,
            &crowd.layers_at(instance, tick),
            expression,
            tick,
            out,
        ),
    }
}

fn add_layers(model: &Model, layers: &[Layer], tick: u32, out: &mut [f32]) {
    let targets = model.mesh().targets().list();
    let share = |layer: &Layer| {
        Layer {
            fade: Fade::Cross,
            ..*layer
        }
        .weight_at(tick)
    };
    let merges = |layer: &&Layer| layer.kind == LayerKind::Merge;
    let total: f32 = layers.iter().filter(merges).map(share).sum();
    for (index, layer) in layers.iter().enumerate() {
        let Some(clip) = model
            .clips()
            .get(layer.clip as usize)
            .filter(|clip| !clip.weights().is_empty())
        else {
            continue;
        };
        let share = share(layer);
        if share == 0.0 {
            continue;
        }
        let time = time(layers, index, tick);
        for track in clip.weights() {
            match layer.kind {
                LayerKind::Merge if share == total => {
                    track.sample(time, |target, weight| out[target] = weight)
                }
                LayerKind::Merge => track.sample(time, |target, weight| {
                    out[target] += (weight - targets[target].weight) * (share / total);
                }),
                LayerKind::Override => {
                    track.sample(time, |target, weight| {
                        out[target] += (weight - out[target]) * share
                    });
                }
                LayerKind::Additive => {
                    track.sample(time, |target, weight| out[target] += weight * share)
                }
            }
        }
    }
}
