//! `cpu-scalar`: one thread, one instance and one vertex at a time.

use super::cpu::{BlockJob, Cpu, Layout, Skinner};
use super::{Backend, Context};
use crate::crowd::Crowd;
use crate::frame::Result;
use crate::pose::Width;
use crate::simd::Isa;
use crate::skin::skin;
use crate::threads::Threads;

struct Scalar;

pub(crate) fn create(_: &Context) -> Result<Box<dyn Backend>> {
    let context = Context { isa: Isa::Scalar, ..Context::default() };
    Ok(Cpu::<Scalar>::create("cpu-scalar", &context, Threads::One))
}

impl Skinner for Scalar {
    const LAYOUT: Layout = Layout::Rows;
    const WIDTH: Width = Width::One;

    fn new(_: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self)
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        skin(job.group.model.mesh(), job.rows, job.group.format, out);
    }
}
