//! A backend for tests that does as another one does, but for submitting frames.

use super::{Abilities, Backend, FrameData, Prepared, Skinned, Ticket};
use crate::crowd::Crowd;
use crate::frame::{Footprint, FrameInput, Job, OutputBuffers, Result, StageTimer, Traffic};
use std::ops::Range;

/// Submits a frame to the other backend, or does something else.
pub type Submit = fn(&mut dyn Prepared, &mut FrameInput, &mut StageTimer) -> Result<Ticket>;

/// A backend whose frames a function submits.
pub struct Altered {
    pub backend: Box<dyn Backend>,
    pub submit: Submit,
}

struct PreparedAltered {
    prepared: Box<dyn Prepared>,
    submit: Submit,
}

impl Backend for Altered {
    fn abilities(&self) -> Abilities {
        self.backend.abilities()
    }

    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        self.backend.footprint(crowd, job)
    }

    fn prepare(&self, crowd: &Crowd, job: &Job) -> Result<Box<dyn Prepared>> {
        Ok(Box::new(PreparedAltered {
            prepared: self.backend.prepare(crowd, job)?,
            submit: self.submit,
        }))
    }
}

impl Prepared for PreparedAltered {
    fn device(&self) -> String {
        self.prepared.device()
    }

    fn footprint(&self, crowd: &Crowd) -> Footprint {
        self.prepared.footprint(crowd)
    }

    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        self.prepared.traffic(crowd)
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        (self.submit)(&mut *self.prepared, frame, timer)
    }

    fn skinned(&self) -> Skinned {
        self.prepared.skinned()
    }

    fn read(
        &mut self,
        crowd: &Crowd,
        output: &OutputBuffers,
        what: FrameData,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        self.prepared.read(crowd, output, what, instances, out)
    }
}
