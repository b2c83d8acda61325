//! Stage `sample` of one block, by the quickest way that its clips allow.

use super::sample_lanes::{JointRows, Plays, RestRows, rest_rows, sample_lanes};
use super::{Local, sample};
use crate::blocks::Block;
use crate::crowd::{BLOCK, Crowd, Group, Inertia, Layer, Layers, REST, time};
use crate::simd::Isa;

/// Samples blocks of a crowd: those whose instances all play one clip with shared key times with joints side by side,
/// others instance by instance.
pub struct BlockSampler {
    isa: Isa,
    rows: Vec<GroupRows>,
}

/// A group's clips with joints side by side, where they can be laid out so.
struct GroupRows {
    rest: Vec<RestRows>,
    clips: Vec<Option<JointRows>>,
}

impl BlockSampler {
    /// For blocks of `N` instances of a crowd; lays its clips out.
    pub fn new<const N: usize>(crowd: &Crowd, isa: Isa) -> Self {
        let group_rows = |g: &Group| GroupRows {
            rest: rest_rows(g.model.skeleton()),
            clips: g.model.clips().iter().map(|c| JointRows::new(g.model.skeleton(), c)).collect(),
        };
        // Vectors are for whole blocks.
        let rows = if N == BLOCK { crowd.groups().iter().map(group_rows).collect() } else { Vec::new() };
        Self { isa, rows }
    }

    /// Bytes that [`BlockSampler::new`] will allocate.
    pub fn bytes<const N: usize>(crowd: &Crowd) -> u64 {
        if N != BLOCK {
            return 0;
        }
        crowd
            .groups()
            .iter()
            .flat_map(|g| g.model.clips().iter().map(|c| JointRows::bytes(g.model.skeleton(), c)))
            .sum()
    }

    /// Samples the layers of a block's instances into its slots, `[slot][joint]`: those that count for something then.
    pub fn sample<const N: usize>(
        &self,
        block: &Block,
        group: &Group,
        layers: &Layers,
        tick: u32,
        slots: &mut [Local<N>],
    ) {
        if let Some((rest, plays)) = self.rows.get(block.group).and_then(|rows| rows.plays(block, layers, tick)) {
            return sample_lanes(self.isa, rest, &plays, slots);
        }
        for (lane, instance) in block.instances.clone().enumerate() {
            sample_layers(block, group, layers.of(instance as usize), tick, lane, slots);
        }
    }
}

impl GroupRows {
    /// What the lanes of a block play, if all of it lies in rows; lanes beyond the block's end repeat its first.
    fn plays(&self, block: &Block, layers: &Layers, tick: u32) -> Option<(&[RestRows], Plays<'_>)> {
        if !block.plain {
            return None;
        }
        let play = |instance: u32| {
            let layers = layers.of(instance as usize);
            let clip = self.clips.get(layers.first()?.clip as usize)?.as_ref()?;
            Some((clip, time(layers, 0, tick)))
        };
        let mut plays = [play(block.instances.start)?; BLOCK];
        for (lane, instance) in plays.iter_mut().zip(block.instances.clone()) {
            *lane = play(instance)?;
        }
        Some((&self.rest, plays))
    }
}

/// Samples the layers of one instance into a lane of a block's slots, `[slot][joint]`.
fn sample_layers<const N: usize>(
    block: &Block,
    group: &Group,
    layers: &[Layer],
    tick: u32,
    lane: usize,
    slots: &mut [Local<N>],
) {
    let skeleton = group.model.skeleton();
    let mut into = |slot: usize, clip: u32, time: f32| {
        let clip = (clip != REST).then(|| &group.model.clips()[clip as usize]);
        sample(skeleton, clip, time, lane, &mut slots[slot * skeleton.len()..][..skeleton.len()]);
    };
    for (index, layer) in layers.iter().enumerate() {
        if layer.weight_at(tick) != 0.0 {
            into(index, layer.clip, time(layers, index, tick));
        }
    }
    let Some(inertia) = Inertia::of(layers, tick) else { return };
    for back in [0, 1] {
        for (index, layer) in layers.iter().enumerate().take(inertia.layer + 1) {
            if inertia.weight(layers, index, tick, back) != 0.0 {
                into(block.past_slot(index, back), layer.clip, inertia.time(layers, index, tick, back));
            }
        }
    }
}
