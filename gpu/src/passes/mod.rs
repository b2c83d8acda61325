//! Passes of a frame: each in a file of its own, which allocates its buffers and records its commands. [`plan()`] lists
//! those of a strategy. What a pass writes it [binds](crate::CrowdTable::bindings) for those after it, by the names of
//! variables in shaders/, which give its layout:
//!
//! | pass | stages | binds |
//! | --- | --- | --- |
//! | [`tick`] | | `now`, `layers`, `players` (`everyone`, if only those in view are posed) |
//! | [`update`] | `update` | |
//! | [`cull`] | `cull` | `players`, `chunk`, `posed` |
//! | [`bake`] | `sample` | `palettes`, `frame_pairs` |
//! | [`pose`] | `sample`, `blend`, `update` (of live crowds), `local_to_model`, `palette` | `palettes` |
//! | [`upload`] | pose stages of the host, `upload` | `palettes` |
//! | [`gameplay`] | `bounds`, `sockets` | |
//! | [`morph`] | `morph`, `upload` | `morph_deltas`, `morph_weights` |
//! | [`skin`] | `skin` | |

pub mod bake;
pub mod cull;
pub mod draw;
pub mod gameplay;
pub(crate) mod merged;
pub mod morph;
pub mod plan;
pub mod pose;
pub mod pose_kernels;
pub mod skin;
pub mod skin_kernels;
pub mod strategy;
pub mod tick;
pub(crate) mod trial;
pub mod update;
pub mod upload;
pub mod vertices;

use crate::Gpu;
use crate::crowd::table::Dispatch;
use crate::device::{BindGroup, Buffer, Command, ComputePipeline, Recorder, Resource};
use crate::kernel::Kernel;
pub use plan::{Plan, plan};
use skinbench_frame::{Bytes, Stage, StageTimer};
use skinbench_kernels::crowd::Crowd;
use std::any::Any;
pub use strategy::{Posing, Skinning, Strategy};

/// A part of a frame on the device.
pub trait Pass: Any + Send + Sync {
    /// Computes the host's part of a frame and records the device's.
    fn record(&mut self, frame: &mut Frame);

    /// Bytes of its buffers in main memory.
    fn host_memory(&self) -> Bytes {
        Bytes::default()
    }
}

/// A frame that is being recorded.
pub struct Frame<'a> {
    /// The device.
    pub gpu: &'a Gpu,
    /// The crowd.
    pub crowd: &'a Crowd,
    /// Simulation time.
    pub tick: u32,
    /// Destination of vertices, unless the backend keeps buffers of its own.
    pub outputs: Outputs<'a>,
    /// `true` if these hold the last frame's vertices of instances that do not move.
    pub kept: bool,
    /// Destination of commands.
    pub commands: &'a mut dyn Recorder,
    /// Clock of the host's part.
    pub timer: &'a mut StageTimer,
}

/// Where skinned vertices go.
#[derive(Clone, Copy)]
pub enum Outputs<'a> {
    /// To whole buffers, in turn.
    Buffers(&'a [Buffer]),
    /// To what a skinning pass bound.
    Bound(&'a [BindGroup]),
}

impl Frame<'_> {
    /// Runs some dispatches in a compute pass, which is timed as a stage.
    pub fn compute<'a>(&mut self, stage: Stage, calls: impl IntoIterator<Item = &'a Call>) {
        let label = stage.name();
        self.commands.run(Command::Compute { label });
        for call in calls {
            call.record(self.commands);
        }
        self.commands.run(Command::End);
    }
}

/// A dispatch of a kernel with its bindings.
pub struct Call {
    pipeline: ComputePipeline,
    group: BindGroup,
    dispatch: Dispatch,
}

impl Call {
    /// Binds a kernel's first group to the resources of its variables' names.
    pub fn new(
        gpu: &Gpu,
        kernel: &Kernel,
        resources: &[(&str, Resource)],
        dispatch: Dispatch,
    ) -> Self {
        Self {
            pipeline: kernel.pipeline.clone(),
            group: kernel.bind(gpu, 0, resources),
            dispatch,
        }
    }

    /// Records the dispatch in a compute pass.
    pub fn record(&self, commands: &mut dyn Recorder) {
        commands.dispatch(&self.pipeline, &self.group, self.dispatch.command());
    }
}
