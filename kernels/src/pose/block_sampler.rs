//! Stage `sample` of one block or of one instance, by the fastest method that its clips allow.

use super::Local;
use super::lanes::{Lanes, items};
use super::sample::sample;
use super::sample_lanes::{ClipRows, Plays, Stills, sample_lanes};
use super::sample_strips::sample_strips;
use crate::blocks::Block;
use crate::crowd::{BLOCK, Crowd, Group, Inertia, Layer, Layers, REST, time};
use crate::simd::Isa;
use arrayvec::ArrayVec;

/// Samples blocks of a crowd, slot by slot: whole blocks and whole strips of joints at once if their clips are stored
/// with joints side by side, otherwise joint by joint.
pub(super) struct BlockSampler {
    isa: Isa,
    rows: Vec<GroupRows>,
}

/// A group's clips with joints side by side, as far as they have that layout.
struct GroupRows {
    stills: Stills,
    rest: Option<ClipRows>,
    clips: Vec<Option<ClipRows>>,
}

impl BlockSampler {
    /// A sampler for the instances of a crowd; converts its clips.
    pub fn new(crowd: &Crowd, isa: Isa) -> Self {
        let groups = crowd.groups().iter();
        let rows = groups.map(|group| GroupRows::new(crowd, group)).collect();
        Self { isa, rows }
    }

    /// A sampler of single instances, joint by joint.
    pub fn scalar() -> Self {
        let isa = Isa::Scalar;
        let rows = Vec::new();
        Self { isa, rows }
    }

    /// Bytes of the converted clips.
    pub fn bytes(&self) -> u64 {
        let mut sum = 0;
        for group in &self.rows {
            sum += group.stills.bytes() + size_of_val(&group.clips[..]) as u64;
            let rows = group.clips.iter().flatten().chain(&group.rest);
            sum += rows.map(ClipRows::bytes).sum::<u64>();
        }
        sum
    }

    /// Samples the layers of a block's `N` instances into its slots, `[slot][joint or strip]`: those with any effect at
    /// the tick.
    pub fn sample<const N: usize, const L: usize>(
        &self,
        block: &Block,
        group: &Group,
        layers: &Layers,
        tick: u32,
        slots: &mut [Local<L>],
    ) {
        let lanes: ArrayVec<&[Layer], N> = block
            .instances
            .clone()
            .map(|i| layers.of(i as usize))
            .collect();
        for index in 0..block.layers {
            self.slot::<N, L>(block, group, index, slots, &lanes, |_, layers| {
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
                self.slot::<N, L>(
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

    /// Samples one slot: `play` returns the clip and time of an instance. Those that play nothing there hold an arbitrary
    /// pose.
    fn slot<const N: usize, const L: usize>(
        &self,
        block: &Block,
        group: &Group,
        slot: usize,
        slots: &mut [Local<L>],
        lanes: &[&[Layer]],
        play: impl Fn(usize, &[Layer]) -> Option<(u32, f32)>,
    ) {
        let skeleton = group.model.skeleton();
        let items = items::<N, L>(skeleton.len());
        let slot = &mut slots[slot * items..][..items];
        let plays: [Option<(u32, f32)>; N] =
            std::array::from_fn(|lane| play(lane, lanes.get(lane)?));
        // Rows exist for whole blocks only, so L is BLOCK.
        if let Some(rows) = self.rows.get(block.group)
            && let Some(plays) = rows.plays(&plays)
        {
            let local = bytemuck::cast_slice_mut(slot);
            if const { N == BLOCK } {
                sample_lanes(self.isa, &rows.stills, &plays, local);
            } else if let Some((clip, time)) = plays[0] {
                sample_strips(self.isa, &rows.stills, clip, time, local);
            }
            return;
        }
        for (lane, play) in plays.into_iter().enumerate() {
            let Some((clip, time)) = play else { continue };
            let clip = (clip != REST).then(|| &group.model.clips()[clip as usize]);
            let lanes = if const { N < L } {
                Lanes::Joints
            } else {
                Lanes::Instance(lane)
            };
            sample(skeleton, clip, time, lanes, slot);
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
    fn new(crowd: &Crowd, group: &Group) -> Self {
        let model = &group.model;
        let mut stills = Stills::default();
        let mut rows = |clip| ClipRows::new(model.skeleton(), clip, &mut stills);
        let rest = rests(crowd, group).then(|| rows(None)).flatten();
        let clips = model.clips().iter().map(|clip| rows(Some(clip))).collect();
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
