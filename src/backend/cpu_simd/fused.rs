//! `cpu-simd:fused`: 16 instances side by side, a block posed and skinned while it is in the cache.

use super::super::{
    Arena, Backend, BackendError, BackendInfo, Context, Footprint, FrameInput, Job, ReadBack, Result, Skinned, Stage,
    StageTimer, Ticket, Traffic, traffic,
};
use crate::blocks::{Block, Blocks};
use crate::crowd::{BLOCK, Crowd, Group};
use crate::pose::{Affine, BlockSampler, Local, blend_layers, lane_of, local_to_model, palette_lanes};
use crate::simd::{Aligned, Isa};
use crate::skin::{Store, skin_lanes};
use std::ops::Range;

struct Fused {
    isa: Isa,
    state: Option<State>,
}

struct State {
    blocks: Blocks,
    sampler: BlockSampler,
    tick: u32,
    scratch: Scratch,
}

/// Poses and palette of the block at hand.
struct Scratch {
    slots: Aligned<Local<BLOCK>>,
    model: Aligned<Affine<BLOCK>>,
    palette: Aligned<Affine<BLOCK>>,
}

pub fn create(context: &Context) -> Result<Box<dyn Backend>> {
    Ok(Box::new(Fused { isa: context.isa, state: None }))
}

/// Most slots times joints, joints and palette entries of a block.
fn sizes(crowd: &Crowd, blocks: &Blocks) -> [usize; 3] {
    let group = |b: &Block| &crowd.groups()[b.group].model;
    let most = |count: &dyn Fn(&Block) -> usize| blocks.all().iter().map(count).max().unwrap_or(0);
    [
        most(&|b| b.slots * group(b).skeleton().len()),
        most(&|b| group(b).skeleton().len()),
        most(&|b| group(b).palette_joints().len()),
    ]
}

impl Scratch {
    /// Poses a block.
    fn pose(&mut self, isa: Isa, sampler: &BlockSampler, crowd: &Crowd, tick: u32, block: &Block, group: &Group) {
        let (model, layers) = (&group.model, crowd.layers());
        let joints = model.skeleton().len();
        let slots = &mut self.slots[..block.slots * joints];
        sampler.sample(block, group, layers, tick, slots);
        if !block.plain {
            blend_layers(isa, block, group, layers, tick, slots);
        }
        local_to_model(isa, model.skeleton(), &slots[..joints], &mut self.model[..joints]);
        let palette = &mut self.palette[..model.palette_joints().len()];
        palette_lanes(isa, model.palette_joints(), model.inverse_binds(), &self.model[..joints], palette);
    }
}

impl Backend for Fused {
    fn info(&self) -> BackendInfo {
        BackendInfo { name: "cpu-simd", variant: "fused", device: format!("{}, 1 thread", self.isa) }
    }

    fn footprint(&self, crowd: &Crowd, _: &Job) -> Result<Footprint> {
        if crowd.has_update_rates() {
            return Err(BackendError::Unavailable(
                "keeps no pose; needs one at every tick, without update rates".into(),
            ));
        }
        let [slots, joints, entries] = sizes(crowd, &Blocks::new(crowd, BLOCK, false));
        let affines = Aligned::<Affine<BLOCK>>::bytes;
        let poses = Aligned::<Local<BLOCK>>::bytes(slots) + affines(joints) + affines(entries);
        let host = poses + BlockSampler::bytes::<BLOCK>(crowd);
        Ok(Footprint { host, device: 0, host_output: true, device_output: false })
    }

    fn prepare(&mut self, crowd: &Crowd, _: &Job) -> Result<()> {
        let blocks = Blocks::new(crowd, BLOCK, false);
        let [slots, joints, entries] = sizes(crowd, &blocks);
        self.state = Some(State {
            blocks,
            sampler: BlockSampler::new::<BLOCK>(crowd, self.isa),
            tick: 0,
            scratch: Scratch {
                slots: Aligned::zeroed(slots),
                model: Aligned::zeroed(joints),
                palette: Aligned::zeroed(entries),
            },
        });
        Ok(())
    }

    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        traffic::fused(crowd, 1)
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        let isa = self.isa;
        let State { blocks, sampler, tick, scratch } = self.state.as_mut().ok_or_else(BackendError::unprepared)?;
        *tick = frame.tick;
        let mut out = &mut frame.arena.host[..];
        let store = Store::for_bytes(size_of_val(out) as u64);
        timer.wall(Stage::PoseSkin, || {
            for block in blocks.all() {
                let group = &frame.crowd.groups()[block.group];
                scratch.pose(isa, sampler, frame.crowd, *tick, block, group);
                let own;
                (own, out) = std::mem::take(&mut out).split_at_mut(block.instances.len() * group.instance_words());
                let palette = &scratch.palette[..group.model.palette_joints().len()];
                skin_lanes(isa, group.model.mesh(), palette, group.format, store, own);
            }
        });
        Ok(Ticket::default())
    }

    fn skinned(&self) -> Skinned {
        Skinned::Host
    }

    /// Poses are gone with their block: they are computed again, by the same code.
    fn read_back(
        &mut self,
        crowd: &Crowd,
        arena: &Arena,
        what: Stage,
        instances: Range<u32>,
        out: &mut ReadBack,
    ) -> Result<()> {
        let State { blocks, sampler, tick, scratch } = self.state.as_mut().ok_or_else(BackendError::unprepared)?;
        if what == Stage::Skin {
            out.values.extend(arena.host_vertices(crowd, instances));
            return Ok(());
        }
        for block in
            blocks.all().iter().filter(|b| b.instances.start < instances.end && instances.start < b.instances.end)
        {
            let group = &crowd.groups()[block.group];
            scratch.pose(self.isa, sampler, crowd, *tick, block, group);
            let (joints, entries) = (group.model.skeleton().len(), group.model.palette_joints().len());
            for lane in block.instances.clone().enumerate().filter(|(_, i)| instances.contains(i)).map(|(lane, _)| lane)
            {
                match what {
                    Stage::Sample => lane_of(&scratch.slots[..joints], lane, &mut out.values),
                    Stage::LocalToModel => lane_of(&scratch.model[..joints], lane, &mut out.values),
                    _ => lane_of(&scratch.palette[..entries], lane, &mut out.values),
                }
            }
        }
        Ok(())
    }

    fn release(&mut self) {
        self.state = None;
    }
}
