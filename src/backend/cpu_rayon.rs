//! `cpu-rayon`: blocks of 16 instances in lanes, on all threads.

use super::{
    Arena, Backend, BackendError, BackendInfo, Context, Footprint, FrameInput, Job, ReadBack, Result, Skinned, Stage,
    StageTimer, Ticket,
};
use crate::blocks::Block;
use crate::crowd::{BLOCK, Crowd};
use crate::pose::{Affine, CrowdPose, read_lanes};
use crate::simd::{Aligned, Isa};
use crate::skin::{Store, skin_lanes};
use std::ops::Range;

struct CpuRayon {
    state: Option<State>,
}

struct State {
    pose: CrowdPose<BLOCK>,
    palette: Aligned<Affine<BLOCK>>,
}

pub(super) fn create(_: &Context) -> Result<Box<dyn Backend>> {
    Ok(Box::new(CpuRayon { state: None }))
}

impl Backend for CpuRayon {
    fn info(&self) -> BackendInfo {
        BackendInfo {
            name: "cpu-rayon",
            variant: "",
            device: format!("16 lanes, {} threads", rayon::current_num_threads()),
        }
    }

    fn footprint(&self, crowd: &Crowd, _: &Job) -> Result<Footprint> {
        let palette = CrowdPose::<BLOCK>::block_entries(crowd) * size_of::<Affine<BLOCK>>() as u64;
        Ok(Footprint {
            host: CrowdPose::<BLOCK>::bytes(crowd) + palette,
            device: 0,
            host_output: true,
            device_output: false,
        })
    }

    fn prepare(&mut self, crowd: &Crowd, _: &Job) -> Result<()> {
        self.state = Some(State {
            pose: CrowdPose::new(crowd, true),
            palette: Aligned::zeroed(CrowdPose::<BLOCK>::block_entries(crowd) as usize),
        });
        Ok(())
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        let State { pose, palette } = self.state.as_mut().ok_or_else(BackendError::unprepared)?;
        timer.wall(Stage::Sample, || pose.sample(frame.crowd, frame.tick));
        if pose.blends() {
            timer.wall(Stage::Blend, || pose.blend(frame.crowd, frame.tick));
        }
        timer.wall(Stage::LocalToModel, || pose.local_to_model(frame.crowd));
        timer.wall(Stage::Palette, || pose.palette_lanes(frame.crowd, palette));
        let host = &mut frame.arena.host[..];
        let store = Store::for_bytes(4 * host.len() as u64);
        timer.wall(Stage::Skin, || {
            pose.blocks().each(
                frame.crowd,
                host,
                |b| b.first_word,
                |block, group, out| {
                    skin_lanes(
                        Isa::strongest(),
                        group.model.mesh(),
                        &palette[block.first_entry..],
                        group.format,
                        store,
                        out,
                    );
                },
            );
        });
        Ok(Ticket::default())
    }

    fn wait(&mut self, ticket: Ticket) -> Result<()> {
        ticket.finish()
    }

    fn skinned(&self) -> Skinned {
        Skinned::Host
    }

    fn read_back(
        &mut self,
        crowd: &Crowd,
        arena: &Arena,
        what: Stage,
        instances: Range<u32>,
        out: &mut ReadBack,
    ) -> Result<()> {
        let State { pose, palette } = self.state.as_mut().ok_or_else(BackendError::unprepared)?;
        match what {
            Stage::Sample => pose.read_local(crowd, instances, &mut out.values),
            Stage::LocalToModel => pose.read_model(crowd, instances, &mut out.values),
            Stage::Palette => {
                let entries =
                    |b: &Block| b.first_entry..b.first_entry + crowd.groups()[b.group].model.palette_joints().len();
                read_lanes(pose.blocks(), palette, entries, instances, &mut out.values);
            }
            _ => out.values.extend(arena.host_vertices(crowd, instances)),
        }
        Ok(())
    }

    fn release(&mut self) {
        self.state = None;
    }
}
