//! Palettes posed on the CPU, as `cpu-rayon` does it, and uploaded every frame.

use super::{Chunk, Commands, Gpu};
use crate::backend::{BackendError, FrameInput, ReadBack, Result, Stage, StageTimer, rows_of};
use crate::crowd::{BLOCK, Crowd};
use crate::model::Rows;
use crate::pose::CrowdPose;
use crate::simd::Isa;
use std::ops::Range;

/// A crowd's poses on the host and its palettes on the device, a buffer a chunk.
pub struct PosedPalettes {
    pose: CrowdPose<BLOCK>,
    rows: Vec<Rows>,
    buffers: Vec<wgpu::Buffer>,
    /// Each chunk's share of `rows`.
    shares: Vec<Range<usize>>,
}

impl PosedPalettes {
    /// Bytes on the host and on the device.
    pub fn bytes(crowd: &Crowd) -> (u64, u64) {
        let rows = crowd.palette_entries() * size_of::<Rows>() as u64;
        (CrowdPose::<BLOCK>::bytes(crowd) + rows, rows)
    }

    /// Buffers for a crowd.
    pub fn new(gpu: &Gpu, crowd: &Crowd, chunks: &[Chunk]) -> Self {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let mut end = 0;
        let shares = chunks.iter().map(|chunk| {
            let first = end;
            end += chunk.instances.len() * crowd.groups()[chunk.group].model.palette_joints().len();
            first..end
        });
        Self {
            pose: CrowdPose::new(crowd, Isa::strongest(), true),
            rows: vec![[0.0; 12]; crowd.palette_entries() as usize],
            shares: shares.collect(),
            buffers: chunks.iter().map(|c| gpu.buffer("palettes", c.palette_bytes(crowd), usage)).collect(),
        }
    }

    /// The palettes of each chunk, `[instance][entry][3 rows of 4]`.
    pub fn buffers(&self) -> &[wgpu::Buffer] {
        &self.buffers
    }

    /// Poses a frame and records the uploads.
    pub fn submit(&mut self, gpu: &Gpu, frame: &FrameInput, timer: &mut StageTimer, commands: &mut Commands) {
        let Self { pose, rows, buffers, shares } = self;
        timer.wall(Stage::Sample, || pose.sample(frame.crowd, frame.tick));
        if pose.blends() {
            timer.wall(Stage::Blend, || pose.blend(frame.crowd, frame.tick));
        }
        timer.wall(Stage::LocalToModel, || pose.local_to_model(frame.crowd));
        timer.wall(Stage::Palette, || pose.palette_rows(frame.crowd, rows));
        timer.wall(Stage::Upload, || {
            gpu.timed(commands, Stage::Upload, |commands| {
                for (buffer, share) in buffers.iter().zip(shares) {
                    gpu.upload(commands, buffer, bytemuck::cast_slice(&rows[share.clone()]));
                }
            });
        });
    }

    /// Appends poses or palettes of neighbouring instances.
    ///
    /// # Errors
    /// `what` is no pose stage.
    pub fn read_back(&self, crowd: &Crowd, what: Stage, instances: Range<u32>, out: &mut ReadBack) -> Result<()> {
        match what {
            Stage::Sample => self.pose.read_local(crowd, instances, &mut out.values),
            Stage::LocalToModel => self.pose.read_model(crowd, instances, &mut out.values),
            Stage::Palette => out.values.extend(rows_of(crowd, &self.rows, instances).as_flattened()),
            _ => return Err(BackendError::Unavailable(format!("{} has nothing to read back here", what.name()))),
        }
        Ok(())
    }
}
