//! What a block's layers count for at a tick, lane by lane: from integer schedules to the weights that blending takes.

use super::blend::{Mask, Momentum, Recipe, Share, Shares, quintics};
use crate::blocks::Block;
use crate::crowd::{Group, Inertia, Layer, LayerKind, Layers, UNMASKED};
use arrayvec::ArrayVec;

impl<'a, const N: usize> Recipe<'a, N> {
    /// The recipe of a block at a tick.
    pub fn new(block: &Block, group: &'a Group, layers: &Layers, tick: u32) -> Self {
        let lanes: ArrayVec<&[Layer], N> = block.instances.clone().map(|i| layers.of(i as usize)).collect();
        let now = |_: usize, lane: &[Layer], index: usize| lane[index].weight_at(tick);
        let mut recipe =
            Self { shares: shares(group, &lanes, block.layers, |layer| layer, now), momenta: ArrayVec::new() };
        let inertias: ArrayVec<Option<Inertia>, N> = lanes.iter().map(|lane| Inertia::of(lane, tick)).collect();
        for layer in 0..block.layers {
            let of = |lane: usize| inertias[lane].filter(|inertia| inertia.layer == layer);
            if (0..lanes.len()).all(|lane| of(lane).is_none()) {
                continue;
            }
            let mut momentum = Momentum {
                layer,
                coming: [1.0; N],
                offset: [0.0; N],
                speed: [0.0; N],
                past: [0, 1].map(|back| {
                    let then = |lane: usize, layers: &[Layer], index: usize| {
                        of(lane).map_or(0.0, |inertia| inertia.weight(layers, index, tick, back))
                    };
                    shares(group, &lanes, layer + 1, |index| block.past_slot(index, back), then)
                }),
            };
            for (lane, inertia) in (0..lanes.len()).filter_map(|lane| Some((lane, of(lane)?))) {
                momentum.coming[lane] = if inertia.coming { -1.0 } else { 1.0 };
                [momentum.offset[lane], momentum.speed[lane]] = quintics(inertia.elapsed, inertia.length);
            }
            recipe.momenta.push(momentum);
        }
        recipe
    }

    /// The recipe that takes a block from one slot's pose to another's.
    pub fn between([start, end]: [usize; 2], part: f32) -> Self {
        let share =
            |slot, weight| Share { slot, layer: 0, kind: LayerKind::Merge, weights: [weight; N], mask: Mask::All };
        Self { shares: [share(start, 1.0 - part), share(end, part)].into_iter().collect(), momenta: ArrayVec::new() }
    }
}

/// The shares of layers `0..layers`; those that count for nothing in any lane are left out.
fn shares<'a, const N: usize>(
    group: &'a Group,
    lanes: &[&[Layer]],
    layers: usize,
    slot: impl Fn(usize) -> usize,
    weight: impl Fn(usize, &[Layer], usize) -> f32,
) -> Shares<'a, N> {
    let mut shares = Shares::new();
    for index in 0..layers {
        for kind in [LayerKind::Merge, LayerKind::Override, LayerKind::Additive] {
            let mut weights = [0.0; N];
            let mut masks = [UNMASKED; N];
            let mut first = None;
            for (lane, layer) in lanes.iter().enumerate().filter_map(|(lane, layers)| Some((lane, layers.get(index)?)))
            {
                if layer.kind == kind {
                    weights[lane] = weight(lane, lanes[lane], index);
                    masks[lane] = layer.mask;
                    first = first.or(Some(layer.mask));
                }
            }
            let Some(first) = first.filter(|_| weights != [0.0; N]) else { continue };
            let known = |mask: u32| (mask != UNMASKED).then(|| group.mask(mask));
            let mask = match known(first) {
                _ if (0..N).any(|lane| weights[lane] != 0.0 && masks[lane] != first) => Mask::Lanes(masks.map(known)),
                Some(mask) => Mask::Same(mask),
                None => Mask::All,
            };
            shares.push(Share { slot: slot(index), layer: index, kind, weights, mask });
        }
    }
    shares
}
