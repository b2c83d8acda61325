//! Weights of a block's layers at a tick, lane by lane: converts integer schedules to the weights that blending reads.

use super::Local;
use super::blend::{Merge, blend};
use super::shares::{Mask, Momentum, Recipe, Shares, SlotWeights, quintics};
use crate::blocks::Block;
use crate::crowd::{Group, Inertia, Layer, LayerKind, Layers, UNMASKED, UpdateRate};
use crate::simd::Isa;
use arrayvec::ArrayVec;

/// Blends the poses of the layers of a block's `N` instances at a tick, `[slot][joint or strip]`, into the first slot.
pub(super) fn blend_layers<const N: usize, const L: usize>(
    isa: Isa,
    block: &Block,
    group: &Group,
    layers: &Layers,
    tick: u32,
    slots: &mut [Local<L>],
) {
    // Filled in place: moving its 140 kB would take longer than blending.
    let mut recipe = Recipe::<N>::default();
    recipe.add_layers(block, group, layers, tick);
    blend(isa, group.model.skeleton().rest(), &recipe, slots);
}

/// The merge of a block's layers, if it is the same at every tick; `None` if there is nothing to merge, if any instance
/// has fades, masks, or other than merge layers, or if not every tick has poses of its own.
pub(super) fn steady_merge<const N: usize>(
    block: &Block,
    group: &Group,
    layers: &Layers,
) -> Option<Merge<N>> {
    let steady = block
        .instances
        .clone()
        .all(|instance| layers.of(instance as usize).iter().all(Layer::is_plain));
    if block.plain || !steady || block.rate != UpdateRate::PLAIN {
        return None;
    }
    let mut recipe = Recipe::default();
    recipe.add_layers(block, group, layers, 0);
    Merge::of(&recipe)
}

/// Interpolates between the poses of two slots, `[slot][joint or strip]`, at a fraction, into the first slot.
pub(super) fn blend_between<const N: usize, const L: usize>(
    isa: Isa,
    group: &Group,
    [start, end]: [usize; 2],
    fraction: f32,
    slots: &mut [Local<L>],
) {
    let mut recipe = Recipe::<N>::default();
    for (slot, weight) in [(start, 1.0 - fraction), (end, fraction)] {
        recipe.shares.push(SlotWeights {
            slot,
            layer: 0,
            kind: LayerKind::Merge,
            weights: [weight; N],
            mask: Mask::All,
        });
    }
    blend(isa, group.model.skeleton().rest(), &recipe, slots);
}

impl<'a, const N: usize> Recipe<'a, N> {
    fn add_layers(&mut self, block: &Block, group: &'a Group, layers: &Layers, tick: u32) {
        let lanes: ArrayVec<&[Layer], N> = block
            .instances
            .clone()
            .map(|i| layers.of(i as usize))
            .collect();
        add_shares(
            &mut self.shares,
            group,
            &lanes,
            block.layers,
            |layer| layer,
            |_, layers, index| layers[index].weight_at(tick),
        );
        let inertias: ArrayVec<Option<Inertia>, N> =
            lanes.iter().map(|lane| Inertia::of(lane, tick)).collect();
        for layer in 0..block.layers {
            let of = |lane: usize| inertias[lane].filter(|inertia| inertia.layer == layer);
            if (0..lanes.len()).all(|lane| of(lane).is_none()) {
                continue;
            }
            self.momenta.push(Momentum {
                layer,
                coming: [1.0; N],
                offset: [0.0; N],
                speed: [0.0; N],
                past: [Shares::new(), Shares::new()],
            });
            let Some(momentum) = self.momenta.last_mut() else {
                continue;
            };
            for (past, back) in momentum.past.iter_mut().zip(0..) {
                add_shares(
                    past,
                    group,
                    &lanes,
                    layer + 1,
                    |index| block.past_slot(index, back),
                    |lane, layers, index| {
                        of(lane).map_or(0.0, |inertia| inertia.weight(layers, index, tick, back))
                    },
                );
            }
            for (lane, inertia) in (0..lanes.len()).filter_map(|lane| Some((lane, of(lane)?))) {
                momentum.coming[lane] = if inertia.coming { -1.0 } else { 1.0 };
                [momentum.offset[lane], momentum.speed[lane]] =
                    quintics(inertia.elapsed, inertia.length);
            }
        }
    }
}

/// Adds the shares of layers `0..layers`, except those with weight 0 in every lane.
fn add_shares<'a, const N: usize>(
    shares: &mut Shares<'a, N>,
    group: &'a Group,
    lanes: &[&[Layer]],
    layers: usize,
    slot: impl Fn(usize) -> usize,
    weight: impl Fn(usize, &[Layer], usize) -> f32,
) {
    for index in 0..layers {
        for kind in [LayerKind::Merge, LayerKind::Override, LayerKind::Additive] {
            let mut weights = [0.0; N];
            let mut masks = [UNMASKED; N];
            let mut first = None;
            for (lane, layer) in lanes
                .iter()
                .enumerate()
                .filter_map(|(lane, layers)| Some((lane, layers.get(index)?)))
            {
                if layer.kind == kind {
                    weights[lane] = weight(lane, lanes[lane], index);
                    masks[lane] = layer.mask;
                    first = first.or(Some(layer.mask));
                }
            }
            let Some(first) = first.filter(|_| weights != [0.0; N]) else {
                continue;
            };
            let known = |mask: u32| (mask != UNMASKED).then(|| group.mask(mask));
            let mask = match known(first) {
                _ if (0..N).any(|lane| weights[lane] != 0.0 && masks[lane] != first) => {
                    Mask::Lanes(masks.map(known))
                }
                Some(mask) => Mask::Same(mask),
                None => Mask::All,
            };
            shares.push(SlotWeights {
                slot: slot(index),
                layer: index,
                kind,
                weights,
                mask,
            });
        }
    }
}
