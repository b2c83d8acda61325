//! Posing on the device: clips, hierarchy and layers are uploaded once, and a frame sends only its tick. Groups whose
//! palettes or vertices are baked are not posed: a frame finds the baked frames that they show.

mod batches;
mod clips;
mod kernels;

pub use kernels::{DISPATCHES, KERNELS, PoseKernel, SKIN};

use crate::crowd::Crowd;
use crate::frame::{BackendError, Bytes, FrameInput, Purpose, Result, Stage, StageTimer};
use crate::frustum::{Eye, Frustum};
use crate::gpu::device::{Buffer, Command, Recorder};
use crate::gpu::pose::visibility::Visibility;
use crate::gpu::pose::{BakedGroups, PaletteSource, PoseBytes, Poser, Record, Updates};
use crate::gpu::shader::{layout, made_once};
use crate::gpu::skin::chunks::{LOCAL_BYTES, slots};
use crate::gpu::skin::compute;
use crate::gpu::{Chunk, Commands, Gpu};
use crate::model::Rows;
use crate::pose::PoseData;
use batches::{FamilyPoses, PoseBatch, Statics};
use bytemuck::Zeroable;
use glam::{Mat3, Quat};
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

/// Number of instances whose local poses are read back at once.
const READ_AT_ONCE: u32 = 256;
/// Bytes of a channel of a joint's local pose.
const QUAD_BYTES: u64 = 16;

/// A crowd's poses and palettes on the device.
pub struct DevicePose {
    gpu: Rc<Gpu>,
    /// The fastest kernel from local to model poses on this device; `None` if all groups are baked.
    walk: Option<PoseKernel>,
    now: Buffer,
    visibility: Option<Visibility>,
    /// Instances in view in the last frame, once they have been read: rising indices for each chunk.
    visible: OnceCell<Vec<Vec<u32>>>,
    /// One per chunk.
    batches: Vec<PoseBatch>,
    /// Neighbouring chunks that share buffers.
    levels: usize,
    blends: bool,
    updates: Option<Updates>,
    /// `true` if all poses were computed at least once.
    posed: bool,
}

impl DevicePose {
    /// Uploads constant data and allocates poses and palettes. With a view, only instances in its frustum are posed, at
    /// the levels that the eye's distance asks for if the crowd has families. Baked groups are not posed.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if the adapter lacks a feature, or [`BackendError::TooLarge`] if the crowd exceeds
    /// one of its limits.
    pub fn source(
        gpu: &Rc<Gpu>,
        crowd: &Crowd,
        chunks: &[Chunk],
        (view, mut baked): (Option<(&Frustum, &Eye)>, Option<BakedGroups>),
    ) -> Result<PaletteSource> {
        let blends = blends(crowd);
        // Neighbouring chunks that share buffers: those of a family, if instances in view are chosen among its levels.
        let levels = if view.is_some() { crowd.levels() } else { 1 };
        let mut groups = baked
            .as_mut()
            .map_or(Vec::new(), |baked| std::mem::take(&mut baked.groups));
        groups.resize_with(crowd.groups().len(), || None);
        let statics = crowd.groups().iter().zip(groups);
        let statics = statics.map(|(group, baked)| Statics::new(gpu, crowd, group, !blends, baked));
        let mut statics: Vec<Statics> = statics.collect::<Result<_>>()?;
        statics.chunks_mut(levels).for_each(Statics::unite);
        let kernels = made_once(statics.iter().map(|own| own.needs), |needs| {
            needs.map(|needs| needs.kernels(gpu))
        });
        for (own, kernels) in statics.iter_mut().zip(kernels) {
            if let Some(kernels) = kernels {
                own.kernels = kernels?;
            }
        }
        let statics: Vec<Rc<Statics>> = statics.into_iter().map(Rc::new).collect();
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let now = gpu.buffer(
            Purpose::Scratch,
            "now",
            size_of::<layout::Now>() as u64,
            usage,
        );
        let visibility = view.map(|(frustum, eye)| Visibility::new(gpu, crowd, frustum, eye));
        let mut visibility = visibility.transpose()?;
        let mut batches = Vec::with_capacity(chunks.len());
        for family in chunks.chunks(levels) {
            let poses = Rc::new(FamilyPoses::new(
                gpu,
                crowd,
                family,
                &statics,
                visibility.as_mut(),
            ));
            for chunk in family {
                let visible = visibility
                    .as_ref()
                    .map(|visibility| &visibility.visible.chunks[batches.len()]);
                let shared = (Rc::clone(&statics[chunk.group]), Rc::clone(&poses));
                batches.push(PoseBatch::new(gpu, crowd, chunk, shared, &now, visible));
            }
        }
        if let Some(visibility) = &visibility {
            // Counts the instances in view once, so that the kernels below have work.
            let mut commands = gpu.commands("cull");
            visibility.record(gpu, &mut commands);
            commands.finish()?;
        }
        let played = batches
            .iter()
            .step_by(levels)
            .map(|batch| (batch.chunk.instances.clone(), &batch.family.layers));
        let updates = Updates::new(gpu, crowd, Record::Layer, played)?;
        let posed = |batch: &&PoseBatch| batch.numbers.joints > 0;
        // The time of the kernels does not depend on the poses.
        let fastest = |largest: &PoseBatch| {
            let dispatch = |walk: usize, pass: &mut Commands| {
                largest.dispatch(gpu, pass, PoseKernel::WALKS[walk], true);
            };
            Ok(PoseKernel::WALKS[compute::fastest(gpu, PoseKernel::WALKS.len(), dispatch)?])
        };
        let largest = batches
            .iter()
            .filter(posed)
            .max_by_key(|batch| batch.numbers.instances);
        let walk = largest.map(fastest).transpose()?;
        let described =
            walk.map(|walk| format!("poses by {}", walk.name().trim_start_matches("pose_")));
        let labels = described
            .into_iter()
            .chain(baked.as_ref().map(|baked| baked.label.clone()));
        Ok(PaletteSource {
            chunks: batches.iter().map(|batch| batch.palettes.clone()).collect(),
            label: labels.reduce(|posed, baked| format!("{posed}, {baked}")),
            host_memory: updates
                .as_ref()
                .map_or(Bytes::default(), Updates::host_memory),
            poses: Some(pose_bytes(&batches)),
            approximation: baked.as_ref().map(|baked| baked.approximation),
            exact_unless_baked: walk.is_some(),
            in_view: visibility
                .as_ref()
                .map(|visibility| Rc::new(visibility.visible.clone())),
            poser: Box::new(Self {
                gpu: Rc::clone(gpu),
                walk,
                now,
                visibility,
                visible: OnceCell::new(),
                batches,
                levels,
                blends,
                updates,
                posed: false,
            }),
        })
    }

    /// Records one stage for all batches, or for what changes of them from tick to tick.
    fn stage(&self, commands: &mut Commands, stage: Stage, kernels: &[PoseKernel], anew: bool) {
        let label = stage.name();
        commands.run(Command::Compute { label });
        for kernel in kernels {
            for batch in &self.batches {
                batch.dispatch(&self.gpu, commands, *kernel, anew);
            }
        }
        commands.run(Command::End);
    }

    /// Instances in view in the last frame, chunk by chunk; `None` if the crowd is not culled.
    fn seen(&self) -> Result<Option<&[Vec<u32>]>> {
        if let (None, Some(visibility)) = (self.visible.get(), &self.visibility) {
            let read = visibility.read(&self.gpu)?;
            self.visible.get_or_init(|| read);
        }
        Ok(self.visible.get().map(Vec::as_slice))
    }

    /// Appends local poses of neighbouring places, without the fourth component of vectors.
    fn read_local(
        &self,
        crowd: &Crowd,
        index: usize,
        places: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let batch = &self.batches[index];
        let Some(locals) = &batch.locals else {
            return Ok(());
        };
        let joints = batch.numbers.joints as usize;
        let quads = 3 * joints;
        let listed = self.visible.get().map(|visible| &visible[index]);
        let instance = |place: u32| {
            batch.chunk.instances.start + listed.map_or(place, |listed| listed[place as usize])
        };
        let mut slot = (0..places.start)
            .map(|place| slots(crowd, instance(place)))
            .sum::<u32>();
        let mut read = Vec::new();
        for first in places.clone().step_by(READ_AT_ONCE as usize) {
            let some = first..places.end.min(first + READ_AT_ONCE);
            let counts = some.map(|place| slots(crowd, instance(place)) as usize);
            let floats = counts.clone().sum::<usize>() * quads * 4;
            read.clear();
            self.gpu.read_back(
                locals,
                u64::from(slot) * joints as u64 * LOCAL_BYTES / 4,
                floats,
                &mut read,
            )?;
            let mut begin = 0;
            for count in counts {
                let (rotations, others) = read[begin..][..quads * 4]
                    .as_chunks::<4>()
                    .0
                    .split_at(joints);
                let (translations, scales) = others.split_at(joints);
                for ((rotation, translation), scale) in
                    rotations.iter().zip(translations).zip(scales)
                {
                    out.extend(rotation.iter().chain(&translation[..3]).chain(&scale[..3]));
                }
                begin += count * quads * 4;
                slot += count as u32;
            }
        }
        Ok(())
    }
}

impl Poser for DevicePose {
    fn submit(
        &mut self,
        gpu: &Gpu,
        frame: &FrameInput,
        timer: &mut StageTimer,
        commands: &mut Commands,
    ) {
        self.visible.take();
        let anew = !std::mem::replace(&mut self.posed, true);
        if let Some(updates) = &mut self.updates {
            updates.submit(gpu, frame.crowd, frame.tick, timer, commands);
        }
        commands.upload(
            &self.now,
            bytemuck::bytes_of(&layout::Now {
                tick: frame.tick,
                ..Zeroable::zeroed()
            }),
        );
        if let Some(visibility) = &self.visibility {
            visibility.record(gpu, commands);
        }
        self.stage(
            commands,
            Stage::Sample,
            &[PoseKernel::Schedule, PoseKernel::Sample],
            anew,
        );
        let Some(walk) = self.walk else { return };
        if self.blends {
            self.stage(commands, Stage::Blend, &[PoseKernel::Blend], anew);
        }
        self.stage(commands, Stage::LocalToModel, &[walk], anew);
        self.stage(commands, Stage::Palette, &[PoseKernel::Palette], anew);
    }

    fn visible(&self) -> Result<Option<Vec<u32>>> {
        let Some(seen) = self.seen()? else {
            return Ok(None);
        };
        let firsts = self.batches.iter().map(|batch| batch.chunk.instances.start);
        let all = seen
            .iter()
            .zip(firsts)
            .flat_map(|(seen, first)| seen.iter().map(move |instance| first + instance));
        let mut all: Vec<u32> = all.collect();
        // Chunks of a family alternate between its levels.
        all.sort_unstable();
        Ok(Some(all))
    }

    fn places(
        &self,
        index: usize,
        first: u32,
        instances: Range<u32>,
    ) -> Result<(Vec<usize>, Range<u32>)> {
        let (start, end) = (instances.start - first, instances.end - first);
        let finest = index - index % self.levels;
        let Some(seen) = self.seen()? else {
            return Ok((Vec::new(), start..end));
        };
        let place = |instance| seen[index].partition_point(|&other| other < instance) as u32;
        Ok((
            seen[finest..index].iter().map(Vec::len).collect(),
            place(start)..place(end),
        ))
    }

    fn move_camera(&mut self, frustum: &Frustum, eye: &Eye) {
        self.visibility
            .iter_mut()
            .for_each(|visibility| visibility.move_camera(frustum, eye));
    }

    fn read_poses(
        &self,
        crowd: &Crowd,
        what: PoseData,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        if self.walk.is_none() {
            return Err(BackendError::Unavailable(
                "has no poses to read back: palettes are baked".into(),
            ));
        }
        for (index, batch) in self.batches.iter().enumerate() {
            let part = batch.chunk.part(&instances);
            if part.is_empty() {
                continue;
            }
            let (finer, places) = self.places(index, batch.chunk.instances.start, part)?;
            let read = |buffer, floats: fn(&layout::Batch) -> u32, out: &mut Vec<f32>| {
                // Those of finer levels come first in a buffer that levels share.
                let levels = self.batches[index - finer.len()..].iter().zip(&finer);
                let before: u64 = levels
                    .map(|(batch, &count)| count as u64 * u64::from(floats(&batch.numbers)))
                    .sum();
                let own = floats(&batch.numbers);
                let first = before + u64::from(places.start) * u64::from(own);
                self.gpu
                    .read_back(buffer, first, places.len() * own as usize, out)
            };
            match what {
                PoseData::Palette => read(&batch.palettes.buffer, |batch| 12 * batch.entries, out)?,
                PoseData::Model if batch.is_rigid() => {
                    let mut motions = Vec::new();
                    read(&batch.family.model, |batch| 8 * batch.joints, &mut motions)?;
                    out.extend(motions.as_chunks().0.iter().flat_map(rows));
                }
                PoseData::Model => read(&batch.family.model, |batch| 12 * batch.joints, out)?,
                PoseData::Local => self.read_local(crowd, index, places, out)?,
            }
        }
        Ok(())
    }
}

/// Bytes of the poses of some batches.
fn pose_bytes(batches: &[PoseBatch]) -> PoseBytes {
    let sum = |bytes: &dyn Fn(&PoseBatch) -> u64| batches.iter().map(bytes).sum();
    PoseBytes {
        sampled: sum(&|batch| u64::from(batch.numbers.slots) * batch.statics.moving * QUAD_BYTES),
        local: sum(&|batch| {
            let channels = if batch.is_rigid() { 2 } else { 3 };
            u64::from(batch.numbers.instances * batch.numbers.joints) * channels * QUAD_BYTES
        }),
        model: sum(&|batch| batch.family.model.size),
    }
}

/// Returns whether any instance of a crowd plays more than one whole clip, or interpolates between two cached poses.
fn blends(crowd: &Crowd) -> bool {
    let plain =
        |instance: usize| matches!(crowd.layers().of(instance), [layer] if layer.is_plain());
    crowd.has_update_rates() || !(0..crowd.instance_count()).all(plain)
}

/// Matrix rows from a rotation and a translation.
fn rows([a, b, c, d, x, y, z, _]: &[f32; 8]) -> Rows {
    let [i, j, k] = Mat3::from_quat(Quat::from_xyzw(*a, *b, *c, *d))
        .transpose()
        .to_cols_array_2d();
    [
        i[0], i[1], i[2], *x, j[0], j[1], j[2], *y, k[0], k[1], k[2], *z,
    ]
}
