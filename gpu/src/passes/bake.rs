//! Finds, for each layer of an instance, the two baked frames between which it is interpolated and its
//! share of the pose.

use crate::crowd::table::CrowdTable;
use crate::device::named;
use crate::forms::baked::{BakedGroups, width};
use crate::kernel::{Constants, Kernel};
use crate::passes::pose_kernels::BATCH_OF_ONE;
use crate::passes::{Call, Frame, Pass};
use crate::shader::{WORKGROUP, layout, wgsl};
use crate::{Chunk, Gpu};
use skinbench_frame::{Purpose, Result, Stage};
use skinbench_kernels::crowd::Crowd;

/// The complete shader of the kernel.
pub fn shader() -> String {
    wgsl::shader("pose_baked.wgsl", &[BATCH_OF_ONE])
}

/// Values of the kernel's overrides for groups whose instances show so many frames at most.
pub fn constants(width: u32) -> Constants {
    vec![("LAYERS", width.into())]
}

/// The pass.
pub struct Bake {
    calls: Vec<Call>,
}

impl Bake {
    /// Makes room for the frames that instances show, and binds both.
    ///
    /// # Errors
    /// As [`Gpu::has`].
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        table: &mut CrowdTable,
        baked: &BakedGroups,
    ) -> Result<Self> {
        let mut calls = Vec::new();
        for index in 0..table.chunks.len() {
            let Chunk { group, instances } = table.chunks[index].clone();
            let frames = &baked.groups[group];
            let width = width(crowd, &crowd.groups()[group]);
            let kernel = Kernel::new(gpu, "pose_baked", shader(), &constants(width), true)?;
            let bytes = instances.len() as u64 * u64::from(width) * layout::FRAME_PAIR_BYTES;
            let pairs = gpu.scratch(Purpose::Scratch, "frame pairs", bytes);
            let rule = layout::Dispatch::by_instance(WORKGROUP);
            let dispatch = table.dispatch(gpu, index, &rule);
            let bindings = &mut table.bindings[index];
            bindings.extend([
                named("palettes", &frames.frames),
                named("frame_pairs", &pairs),
            ]);
            let resources = [&bindings[..], std::slice::from_ref(&frames.clips)].concat();
            calls.push(Call::new(gpu, &kernel, &resources, dispatch));
        }
        Ok(Self { calls })
    }
}

impl Pass for Bake {
    fn record(&mut self, frame: &mut Frame) {
        frame.compute(Stage::Sample, &self.calls);
    }
}
