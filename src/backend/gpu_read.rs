//! Reads poses and vertices of GPU backends back.

use super::gpu::PreparedGpu;
use crate::crowd::Crowd;
use crate::frame::{OutputBuffers, Result};
use crate::gpu::Capture;
use crate::gpu::crowd::chunk::{LOCAL_BYTES, slots};
use crate::gpu::crowd::table::VisibleChunk;
use crate::gpu::passes::skin::Skin;
use crate::model::Rows;
use crate::pose::PoseData;
use glam::{Mat3, Quat};
use std::ops::Range;

/// Number of instances whose local poses are read back at once.
const READ_AT_ONCE: u32 = 256;
/// Floats of a channel of a joint's local pose.
const QUAD: usize = 4;

impl PreparedGpu {
    /// Allocates what reading vertices back needs, if it is not there.
    pub fn prepare_read(&mut self, crowd: &Crowd) -> Result<()> {
        let Some(source) = self.plan.source.as_ref().filter(|_| self.capture.is_none()) else {
            return Ok(());
        };
        let (capture, bytes) = self.gpu.counted(|| Capture::new(&self.gpu, crowd, source));
        self.memory += bytes;
        self.capture = Some(capture?);
        Ok(())
    }

    /// Instances in view in the last frame, chunk by chunk; `None` if the crowd is not culled.
    pub fn in_view(&self) -> Result<Option<&[Vec<u32>]>> {
        let table = &self.plan.table;
        if let (None, Some(visible)) = (self.in_view.get(), &table.visible) {
            let mut all = Vec::with_capacity(table.chunks.len());
            for (chunk, visible) in table.chunks.iter().zip(&visible.chunks) {
                let mut count = Vec::new();
                let first = VisibleChunk::COUNT_OFFSET / 4;
                self.gpu.read_back(&visible.numbers, first, 1, &mut count)?;
                let mut indices = Vec::new();
                self.gpu
                    .read_back(&visible.indices, 0, chunk.instances.len(), &mut indices)?;
                // A broken kernel may count more than there are.
                indices.truncate(count[0].to_bits() as usize);
                all.push(indices.iter().map(|bits| bits.to_bits()).collect());
            }
            self.in_view.get_or_init(|| all);
        }
        Ok(self.in_view.get().map(Vec::as_slice))
    }

    /// The places of some instances in the buffers of their chunk, counting only those that the frame posed.
    fn places(&self, index: usize, instances: Range<u32>) -> Result<Range<u32>> {
        let first = self.plan.table.chunks[index].instances.start;
        let range = instances.start - first..instances.end - first;
        let Some(in_view) = self.in_view()? else {
            return Ok(range);
        };
        let [start, end] = [range.start, range.end]
            .map(|instance| in_view[index].partition_point(|&other| other < instance) as u32);
        Ok(start..end)
    }

    /// Appends poses or palettes of neighbouring instances that the device posed.
    pub fn read_device_poses(
        &self,
        crowd: &Crowd,
        what: PoseData,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let table = &self.plan.table;
        for (index, chunk) in table.chunks.iter().enumerate() {
            let wanted = chunk.overlap(&instances);
            if wanted.is_empty() {
                continue;
            }
            let places = self.places(index, wanted)?;
            if what == PoseData::Local {
                self.read_local(crowd, index, places, out)?;
                continue;
            }
            let poses = &table.poses[index];
            let numbers = &table.numbers[index].posed;
            let (first, each) = match what {
                PoseData::Palette => (numbers.first_entry, numbers.entries),
                _ => (numbers.first_joint, numbers.joints),
            };
            let floats = if what == PoseData::Model && poses.is_rigid {
                8
            } else {
                12
            };
            let first = floats * (u64::from(first) + u64::from(places.start) * u64::from(each));
            let count = places.len() * floats as usize * each as usize;
            if what == PoseData::Palette {
                self.gpu.read_back(&poses.palettes, first, count, out)?;
            } else if poses.is_rigid {
                let mut motions = Vec::new();
                self.gpu
                    .read_back(&poses.model, first, count, &mut motions)?;
                out.extend(motions.as_chunks().0.iter().flat_map(rows));
            } else {
                self.gpu.read_back(&poses.model, first, count, out)?;
            }
        }
        Ok(())
    }

    /// Appends local poses of neighbouring places, without the fourth component of vectors.
    fn read_local(
        &self,
        crowd: &Crowd,
        index: usize,
        places: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let table = &self.plan.table;
        let chunk = &table.chunks[index];
        let poses = &table.poses[index];
        let joints = table.numbers[index].posed.joints as usize;
        let floats = 3 * joints * QUAD;
        let in_view = self.in_view.get().map(|in_view| &in_view[index]);
        let slots_at = |place: u32| {
            let instance = in_view.map_or(place, |in_view| in_view[place as usize]);
            slots(crowd, chunk.instances.start + instance) as usize
        };
        let mut slot: usize = (0..places.start).map(slots_at).sum();
        let mut read = Vec::new();
        for first in places.clone().step_by(READ_AT_ONCE as usize) {
            let some = first..places.end.min(first + READ_AT_ONCE);
            let counts: Vec<usize> = some.map(slots_at).collect();
            let all = counts.iter().sum::<usize>();
            let first = u64::from(poses.first_local) * QUAD as u64;
            let begin = first + (slot * joints) as u64 * LOCAL_BYTES / 4;
            read.clear();
            self.gpu
                .read_back(&poses.locals, begin, all * floats, &mut read)?;
            let mut rest = &read[..];
            for count in counts {
                let quads = rest[..floats].as_chunks::<QUAD>().0;
                for joint in 0..joints {
                    out.extend(quads[joint]);
                    out.extend(&quads[joints + joint][..3]);
                    out.extend(&quads[2 * joints + joint][..3]);
                }
                rest = &rest[count * floats..];
            }
            slot += all;
        }
        Ok(())
    }

    /// Appends vertices that a compute shader skinned.
    pub fn read_skinned(
        &mut self,
        crowd: &Crowd,
        output_buffers: &OutputBuffers,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        for index in 0..self.plan.table.chunks.len() {
            let wanted = self.plan.table.chunks[index].overlap(&instances);
            if wanted.is_empty() {
                continue;
            }
            let places = self.places(index, wanted)?;
            let table = &self.plan.table;
            let group = &crowd.groups()[table.chunks[index].group];
            let vertices = group.model.mesh().vertex_count();
            let words = group.instance_words();
            let first_vertex = table.numbers[index].chunk.first_vertex as usize;
            let first = first_vertex * group.format.words() + places.start as usize * words;
            let output = if self.strategy.keeps_vertices() {
                table.batches.partition_point(|batch| batch.end <= index)
            } else {
                index
            };
            let Some(skin) = self.plan.find_mut::<Skin>() else {
                return Ok(());
            };
            let form = skin.kernel().output;
            let buffer = skin.vertices(&self.gpu, output, &output_buffers.device)?;
            let read = out.len();
            let count = places.len() * words;
            self.gpu.read_back(&buffer, first as u64, count, out)?;
            if let Some(form) = form {
                for instance in out[read..].chunks_exact_mut(words) {
                    form.sort(instance, vertices);
                }
            }
        }
        Ok(())
    }

    /// Appends vertices that draws skin.
    pub fn read_captured(
        &self,
        crowd: &Crowd,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let (Some(capture), Some(source)) = (&self.capture, &self.plan.source) else {
            return Ok(());
        };
        for (index, batch) in source.batches.iter().enumerate() {
            let chunk = &batch.chunks[0];
            let wanted = chunk.overlap(&instances);
            if !wanted.is_empty() {
                let places = self.places(index, wanted)?;
                capture.read(&self.gpu, crowd, chunk, &batch.group, places, out)?;
            }
        }
        Ok(())
    }
}

/// Matrix rows from a rotation and a translation.
fn rows([a, b, c, d, x, y, z, _]: &[f32; 8]) -> Rows {
    let rotation = Mat3::from_quat(Quat::from_xyzw(*a, *b, *c, *d)).transpose();
    let [i, j, k] = rotation.to_cols_array_2d();
    [
        i[0], i[1], i[2], *x, j[0], j[1], j[2], *y, k[0], k[1], k[2], *z,
    ]
}
