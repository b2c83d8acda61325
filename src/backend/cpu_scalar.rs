//! `cpu-scalar`: one thread, one instance and one vertex at a time.

use super::{
    Arena, Backend, BackendError, BackendInfo, Context, Footprint, FrameInput, Job, ReadBack, Result, Skinned, Stage,
    StageTimer, Ticket, rows_of,
};
use crate::crowd::Crowd;
use crate::model::Rows;
use crate::pose::CrowdPose;
use crate::skin::skin;
use std::ops::Range;

struct CpuScalar {
    state: Option<State>,
}

struct State {
    pose: CrowdPose<1>,
    palette: Vec<Rows>,
}

pub(super) fn create(_: &Context) -> Result<Box<dyn Backend>> {
    Ok(Box::new(CpuScalar { state: None }))
}

impl Backend for CpuScalar {
    fn info(&self) -> BackendInfo {
        BackendInfo { name: "cpu-scalar", variant: "", device: "scalar, 1 thread".into() }
    }

    fn footprint(&self, crowd: &Crowd, _: &Job) -> Result<Footprint> {
        let palette = crowd.palette_entries() * size_of::<Rows>() as u64;
        Ok(Footprint {
            host: CrowdPose::<1>::bytes(crowd) + palette,
            device: 0,
            host_output: true,
            device_output: false,
        })
    }

    fn prepare(&mut self, crowd: &Crowd, _: &Job) -> Result<()> {
        self.state = Some(State {
            pose: CrowdPose::new(crowd, false),
            palette: vec![[0.0; 12]; crowd.palette_entries() as usize],
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
        timer.wall(Stage::Palette, || pose.palette_rows(frame.crowd, palette));
        let host = &mut frame.arena.host[..];
        timer.wall(Stage::Skin, || {
            pose.blocks().each(
                frame.crowd,
                host,
                |b| b.first_word,
                |block, group, out| {
                    skin(group.model.mesh(), &palette[block.first_row..], group.format, out);
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
            Stage::Palette => out.values.extend(rows_of(crowd, palette, instances).as_flattened()),
            _ => out.values.extend(arena.host_vertices(crowd, instances)),
        }
        Ok(())
    }

    fn release(&mut self) {
        self.state = None;
    }
}
