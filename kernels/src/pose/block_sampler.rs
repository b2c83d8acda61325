//! Stage `sample` of one block, by the fastest method that its clips allow.

use super::Local;
use super::sample::sample;
use super::sample_lanes::{ClipRows, Plays, Stills, sample_lanes};
use crate::blocks::Block;
use crate::crowd::{BLOCK, Crowd, Group, Inertia, Layer, Layers, REST, time};
use crate::simd::Isa;
use arrayvec::ArrayVec;

/// Samples blocks of a crowd, slot by slot: whole blocks at once if their clips are stored with joints side by side,
/// otherwise instance by instance.
pub(super) struct BlockSampler<const N: usize> {
    isa: Isa,
    rows: Vec<GroupRows>,
}

/// A group's clips with joints side by side, as far as they have that layout.
struct GroupRows {
    stills: Stills,
    rest: Option<ClipRows>,
    clips: Vec<Option<ClipRows>>,
}

impl<const N: usize> BlockSampler<N> {
    /// A sampler for blocks of `N` instances of a crowd; converts its clips.
    pub fn new(crowd: &Crowd, isa: Isa) -> Self {
        // Vectors are used for whole blocks only.
        let rows = if N == BLOCK {
            crowd
                .groups()
                .iter()
                .map(|group| GroupRows::new(crowd, group))
                .collect()
        } else {
            Vec::new()
        };
        Self { isa, rows }
    }

    /// Bytes that [`BlockSampler::new`] will allocate.
    pub fn bytes(crowd: &Crowd) -> u64 {
        if N != BLOCK {
            return 0;
        }
        crowd
            .groups()
            .iter()
            .map(|group| GroupRows::bytes(crowd, group))
            .sum()
    }

    /// Samples the layers of a block's instances into its slots, `[slot][joint]`: those with any effect at the tick.
    pub fn sample(
        &self,
        block: &Block,
        group: &Group,
        layers: &Layers,
        tick: u32,
        slots: &mut [Local<N>],
    ) {
        let lanes: ArrayVec<&[Layer], N> = block
            .instances
            .clone()
            .map(|i| layers.of(i as usize))
            .collect();
        for index in 0..block.layers {
            self.slot(block, group, index, slots, &lanes, |_, layers| {
                let layer = layers
                    .get(index)
                    .filter(|layer| layer.weight_at(tick) != 0.0)?;
                Some((layer.clip, time(layers, index, tick)))
            });
        }
        if block.plain {
            return;
        }
        let inertias: ArrayVec<Option<Inertia>, N> = lanes
            .iter()
            .map(|layers| Inertia::of(layers, tick))
            .collect();
        let faded = inertias
            .iter()
            .flatten()
            .map(|inertia| inertia.layer + 1)
            .max()
            .unwrap_or(0);
        for index in 0..faded {
            for back in [0, 1] {
                self.slot(
                    block,
                    group,
                    block.past_slot(index, back),
                    slots,
                    &lanes,
                    |lane, layers| {
                        let inertia = inertias[lane]
                            .as_ref()
                            .filter(|inertia| index <= inertia.layer)?;
                        let counts = inertia.weight(layers, index, tick, back) != 0.0;
                        counts
                            .then(|| (layers[index].clip, inertia.time(layers, index, tick, back)))
                    },
                );
            }
        }
    }

    /// Samples one slot: `play` returns the clip and time of a lane. Lanes that play nothing there hold an arbitrary
    /// pose.
    fn slot(
        &self,
        block: &Block,
        group: &Group,
        slot: usize,
        slots: &mut [Local<N>],
        lanes: &[&[Layer]],
        play: impl Fn(usize, &[Layer]) -> Option<(u32, f32)>,
    ) {
        let skeleton = group.model.skeleton();
        let slot = &mut slots[slot * skeleton.len()..][..skeleton.len()];
        let plays: [Option<(u32, f32)>; N] =
            std::array::from_fn(|lane| play(lane, lanes.get(lane)?));
        let rows = self.rows.get(block.group);
        if let Some((stills, plays)) =
            rows.and_then(|rows| Some((&rows.stills, rows.plays(&plays)?)))
        {
            // Rows exist for whole blocks only, so N is BLOCK.
            return sample_lanes(self.isa, stills, &plays, bytemuck::cast_slice_mut(slot));
        }
        for (lane, (clip, time)) in (0..N)
            .zip(plays)
            .filter_map(|(lane, play)| Some((lane, play?)))
        {
            let clip = (clip != REST).then(|| &group.model.clips()[clip as usize]);
            sample(skeleton, clip, time, lane, slot);
        }
    }
}

/// Returns whether any layer of a group's instances is the rest pose.
fn rests(crowd: &Crowd, group: &Group) -> bool {
    let mut instances = group.instances.clone();
    let layers = crowd.layers();
    instances.any(|instance| layers.of(instance as usize).iter().any(|l| l.clip == REST))
}

impl GroupRows {
    fn bytes(crowd: &Crowd, group: &Group) -> u64 {
        let (model, mut stills) = (&group.model, Stills::default());
        let rest = rests(crowd, group).then_some(None);
        let clips = rest.into_iter().chain(model.clips().iter().map(Some));
        let rows: u64 = clips
            .map(|clip| ClipRows::bytes(model.skeleton(), clip, &mut stills))
            .sum();
        rows + (model.clips().len() * size_of::<Option<ClipRows>>()) as u64 + stills.bytes()
    }

    fn new(crowd: &Crowd, group: &Group) -> Self {
        let (model, mut stills) = (&group.model, Stills::default());
        let rest = if rests(crowd, group) {
            ClipRows::new(model.skeleton(), None, &mut stills)
        } else {
            None
        };
        let clips = model
            .clips()
            .iter()
            .map(|c| ClipRows::new(model.skeleton(), Some(c), &mut stills))
            .collect();
        Self {
            stills,
            rest,
            clips,
        }
    }

    /// The clips and times of all lanes, or `None` if any of the clips is not stored in rows.
    fn plays(&self, plays: &[Option<(u32, f32)>]) -> Option<Plays<'_>> {
        let mut all = [None; BLOCK];
        for (own, play) in all.iter_mut().zip(plays) {
            let Some((clip, time)) = *play else { continue };
            let rows = if clip == REST {
                &self.rest
            } else {
                self.clips.get(clip as usize)?
            };
            *own = Some((rows.as_ref()?, time));
        }
        Some(all)
    }
}
