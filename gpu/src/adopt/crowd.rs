//! A crowd that the device poses and skins.

use crate::adopt::host::{InPass, Vertices, bound, check_kernel, created, in_own_pass};
use crate::device::needs;
use crate::passes::skin::{Skin, SkinKernel};
use crate::passes::{Frame, Outputs, Plan, Posing, Skinning, Strategy, plan};
use crate::{Chunk, Gpu};
use skinbench_frame::{Job, Result, StageTimer};
use skinbench_kernels::crowd::Crowd;
use std::sync::Arc;

/// A crowd that the device poses and skins.
pub struct AdoptedCrowd {
    gpu: Arc<Gpu>,
    pub(super) plan: Plan,
    /// Bytes of the vertices of each chunk.
    output_bytes: Vec<u64>,
}

impl AdoptedCrowd {
    /// Uploads models and clips, and allocates poses and palettes. Of several kernels it takes the fastest, which it
    /// finds by submissions to the queue.
    ///
    /// # Errors
    /// As [`AdoptedMesh::new`](crate::AdoptedMesh::new) and [`plan()`].
    pub fn new(
        gpu: &Arc<Gpu>,
        crowd: &Crowd,
        kernels: &'static [&'static SkinKernel],
    ) -> Result<Self> {
        needs!(
            !kernels.is_empty(),
            "no kernel is named; expected at least one, such as CANDIDATES"
        );
        needs!(
            crowd.instance_count() > 0,
            "the crowd has no instance; expected at least one"
        );
        for kernel in kernels {
            check_kernel(kernel, crowd)?;
            let name = kernel.name;
            needs!(
                kernel.palette.is_rows(),
                "the kernel {name} does not read rows of 3x4 matrices"
            );
        }
        let strategy = Strategy {
            posing: Posing::Device,
            skin: Skinning::Compute(kernels),
        };
        let plan = created(gpu, || plan(gpu, crowd, strategy, &Job::default()))?;
        let chunks = plan.table.chunks.iter();
        Ok(Self {
            gpu: Arc::clone(gpu),
            output_bytes: chunks.map(|chunk| chunk.output_bytes(crowd)).collect(),
            plan,
        })
    }

    /// The chunks that the crowd is divided into: neighbouring instances of one model.
    pub fn chunks(&self) -> &[Chunk] {
        &self.plan.table.chunks
    }

    /// Bytes of the vertices of each chunk, `[instance][vertex][word]`. Each has a slice of its own.
    pub fn output_bytes(&self) -> &[u64] {
        &self.output_bytes
    }

    /// Binds a slice for the vertices of each chunk. Frames may take turns with several sets of slices.
    ///
    /// # Errors
    /// As [`AdoptedMesh::bind`](crate::AdoptedMesh::bind), or there are not as many slices as chunks.
    pub fn bind(&self, vertices: &[wgpu::BufferSlice]) -> Result<Vertices> {
        let chunks = self.output_bytes.len();
        let found = vertices.len();
        needs!(
            vertices.len() == chunks,
            "{found} slices of vertices; expected one for each of {chunks} chunks"
        );
        let mut outputs = Vec::with_capacity(chunks);
        for (&slice, &bytes) in vertices.iter().zip(&self.output_bytes) {
            outputs.push(bound(&self.gpu, "vertices", slice, bytes)?);
        }
        let skin = self.plan.find::<Skin>();
        let groups = created(&self.gpu, || {
            Ok(skin.map(|skin| skin.bind(&self.gpu, &outputs)))
        })?;
        Ok(Vertices(groups.unwrap_or_default()))
    }

    /// Records the posing of a tick and the skinning into vertices that this crowd bound, in a compute pass of the caller's. It
    /// creates nothing. Once for each submission: the tick reaches the device before all commands of the next one. `crowd` is
    /// the one that it was created with; that of a [`LiveCrowd`](skinbench_kernels::crowd::LiveCrowd) is posed at its own
    /// time, whatever the tick.
    pub fn record_in(
        &mut self,
        crowd: &Crowd,
        tick: u32,
        vertices: &Vertices,
        pass: &mut wgpu::ComputePass,
    ) {
        let Some((_, queue)) = self.gpu.device() else {
            return;
        };
        self.plan.record(&mut Frame {
            gpu: &self.gpu,
            crowd,
            tick: crowd.tick_shown(tick),
            outputs: Outputs::Bound(&vertices.0),
            kept: false,
            commands: &mut InPass { queue, pass },
            timer: &mut StageTimer::default(),
        });
    }

    /// As [`AdoptedCrowd::record_in`], in a compute pass of its own.
    pub fn record(
        &mut self,
        crowd: &Crowd,
        tick: u32,
        vertices: &Vertices,
        encoder: &mut wgpu::CommandEncoder,
    ) {
        in_own_pass(encoder, |pass| self.record_in(crowd, tick, vertices, pass));
    }
}
