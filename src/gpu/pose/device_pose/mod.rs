//! Posing on the device: clips, hierarchy and layers are uploaded once, and a frame sends only its tick.

mod batches;
mod clips;
mod kernels;

pub use kernels::{DISPATCHES, KERNELS, SKIN, STORAGE_BUFFERS};

use crate::bake::BakeFormat;
use crate::crowd::{Crowd, Group};
use crate::frame::{Approximation, BackendError, Bytes, FrameInput, Result, Stage, StageTimer};
use crate::frustum::{Eye, Frustum};
use crate::gpu::device::objects::Buffer;
use crate::gpu::pose::{BakedGroups, LOCAL_BYTES, PaletteSource, PoseBytes, Record, Updates, Visibility, now, slots};
use crate::gpu::shader::{Edit, layout};
use crate::gpu::skin::compute;
use crate::gpu::{Chunk, Commands, Gpu, PaletteForm, Palettes};
use crate::model::Rows;
use crate::pose::PoseData;
use batches::{FamilyPoses, PoseBatch, Statics};
use glam::{Mat3, Quat};
use kernels::{Kernels, Step};
use std::ops::Range;
use std::rc::Rc;

/// Number of instances whose local poses are read back at once.
const READ_AT_ONCE: u32 = 256;
/// Bytes of a channel of a joint's local pose.
const QUAD_BYTES: u64 = 16;

/// A crowd's poses and palettes on the device.
pub struct DevicePose {
    gpu: Rc<Gpu>,
    /// The fastest kernel from local to model poses on this device.
    walk: Step,
    now: Buffer,
    visibility: Option<Visibility>,
    /// Instances in view in the last frame, once they have been read: rising indices for each chunk.
    visible: Option<Vec<Vec<u32>>>,
    /// One per chunk.
    batches: Vec<PoseBatch>,
    /// One per chunk; the chunks of a family share one.
    palettes: Vec<Palettes>,
    /// Neighbouring chunks that share buffers.
    levels: usize,
    blends: bool,
    updates: Option<Updates>,
    /// `true` if all poses were computed at least once.
    posed: bool,
    /// The groups whose vertices are baked, if any are.
    baked: Option<BakedGroups>,
}

impl DevicePose {
    /// Uploads constant data and allocates poses and palettes. With a view, only instances in its frustum are posed, at
    /// the levels that the eye's distance asks for if the crowd has families. With `bakes`, groups whose vertices may be
    /// baked are.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`] if the crowd exceeds a limit of the adapter.
    pub fn new(
        gpu: &Rc<Gpu>,
        crowd: &Crowd,
        chunks: &[Chunk],
        (view, bakes): (Option<(&Frustum, &Eye)>, bool),
        edit: Option<&Edit>,
    ) -> Result<Self> {
        let bakes = bakes && !crowd.has_update_rates() && crowd.groups().iter().any(|group| group.baked);
        let bake = || BakedGroups::new(gpu, crowd, BakeFormat::Vertices, |group| group.baked, edit);
        let baked = bakes.then(bake).transpose()?;
        let (blends, levels) = (blends(crowd), levels(crowd, view.is_some()));
        let vertices = |group: usize| baked.as_ref().and_then(|baked| baked.entries(group));
        let statics = crowd.groups().iter().enumerate();
        let statics = statics.map(|(index, group)| Statics::new(gpu, crowd, group, !blends, vertices(index)));
        let mut statics: Vec<Statics> = statics.collect::<Result<_>>()?;
        statics.chunks_mut(levels).for_each(Statics::unite);
        let kernels = Kernels::new(gpu, edit);
        let pipelines = kernels.pipelines(gpu, statics.iter().map(|statics| statics.needs));
        let now = now(gpu);
        let mut visibility = view.map(|(frustum, eye)| Visibility::new(gpu, crowd, frustum, eye, edit));
        let (mut batches, mut palettes) = (Vec::with_capacity(chunks.len()), Vec::with_capacity(chunks.len()));
        let mut played = Vec::with_capacity(chunks.len());
        for family in chunks.chunks(levels) {
            let poses = FamilyPoses::new(gpu, crowd, family, &statics, visibility.as_mut());
            played.push((family[0].instances.clone(), poses.layers.clone()));
            for chunk in family {
                let visible = visibility.as_ref().map(|visibility| &visibility.visible.chunks[batches.len()]);
                let statics = &statics[chunk.group];
                let kernels = (&kernels, Rc::clone(&pipelines[chunk.group]));
                let view = (visible, baked.as_ref());
                let (batch, own) = PoseBatch::new(gpu, crowd, chunk, statics, kernels, (&now, &poses), view);
                batches.push(batch);
                palettes.push(own);
            }
        }
        if let Some(visibility) = &visibility {
            // Counts the instances in view once, so that the kernels below have work.
            let mut commands = gpu.commands("cull");
            visibility.record(gpu, &mut commands);
            commands.finish()?;
        }
        let played = played.iter().map(|(instances, layers)| (instances.clone(), layers));
        let updates = Updates::new(gpu, crowd, Record::Layer, played, edit);
        let posed = |batch: &&PoseBatch| batch.numbers.joints > 0;
        let largest = batches.iter().filter(posed).max_by_key(|batch| batch.instances.len());
        // The time of the kernels does not depend on the poses.
        let walk = compute::fastest(gpu, Step::WALKS.len(), |walk, pass| {
            largest.iter().for_each(|batch| batch.dispatch(gpu, pass, Step::WALKS[walk], true));
        })?;
        let (gpu, walk) = (Rc::clone(gpu), Step::WALKS[walk]);
        let (visible, posed) = (None, false);
        Ok(Self { gpu, walk, now, visibility, visible, batches, palettes, levels, blends, updates, posed, baked })
    }

    /// Records one stage for all batches, or for what changes of them from tick to tick.
    fn stage(&self, commands: &mut Commands, stage: Stage, steps: &[Step], anew: bool) {
        self.gpu.compute_pass(commands, stage, |pass| {
            for step in steps {
                self.batches.iter().for_each(|batch| batch.dispatch(&self.gpu, pass, *step, anew));
            }
        });
    }

    /// Instances in view in the last frame, chunk by chunk; `None` if the crowd is not culled.
    fn seen(&mut self) -> Result<Option<&[Vec<u32>]>> {
        if let (None, Some(visibility)) = (&self.visible, &self.visibility) {
            self.visible = Some(visibility.read(&self.gpu)?);
        }
        Ok(self.visible.as_deref())
    }

    /// Appends local poses of neighbouring places, without the fourth component of vectors.
    fn read_local(&self, crowd: &Crowd, index: usize, places: Range<u32>, out: &mut Vec<f32>) -> Result<()> {
        let batch = &self.batches[index];
        let joints = batch.numbers.joints as usize;
        let quads = 3 * joints;
        let listed = self.visible.as_ref().map(|visible| &visible[index]);
        let instance = |place: u32| batch.instances.start + listed.map_or(place, |listed| listed[place as usize]);
        let mut slot = (0..places.start).map(|place| slots(crowd, instance(place))).sum::<u32>();
        let mut read = Vec::new();
        for first in places.clone().step_by(READ_AT_ONCE as usize) {
            let some = first..places.end.min(first + READ_AT_ONCE);
            let counts = some.map(|place| slots(crowd, instance(place)) as usize);
            let floats = counts.clone().sum::<usize>() * quads * 4;
            read.clear();
            self.gpu.read_back(&batch.locals, u64::from(slot) * joints as u64 * LOCAL_BYTES / 4, floats, &mut read)?;
            let mut begin = 0;
            for count in counts {
                let (rotations, others) = read[begin..][..quads * 4].as_chunks::<4>().0.split_at(joints);
                let (translations, scales) = others.split_at(joints);
                for ((rotation, translation), scale) in rotations.iter().zip(translations).zip(scales) {
                    out.extend(rotation.iter().chain(&translation[..3]).chain(&scale[..3]));
                }
                begin += count * quads * 4;
                slot += count as u32;
            }
        }
        Ok(())
    }
}

impl PaletteSource for DevicePose {
    fn chunks(&self) -> &[Palettes] {
        &self.palettes
    }

    fn host_memory(&self) -> Bytes {
        self.updates.as_ref().map_or(Bytes::default(), Updates::host_memory)
    }

    fn label(&self) -> Option<String> {
        let baked = self.baked.as_ref().map_or(String::new(), |baked| format!(", {}", baked.label));
        Some(format!("poses by {}{baked}", self.walk.name()))
    }

    fn approximation(&self) -> Option<Approximation> {
        self.baked.as_ref().map(|baked| baked.approximation)
    }

    fn approximation_of(&self, group: &Group) -> Option<Approximation> {
        self.approximation().filter(|_| group.baked)
    }

    fn visibility(&self) -> Option<&Visibility> {
        self.visibility.as_ref()
    }

    fn poses(&self) -> Option<PoseBytes> {
        let sum = |bytes: &dyn Fn(&PoseBatch) -> u64| self.batches.iter().map(bytes).sum();
        Some(PoseBytes {
            sampled: sum(&|batch| u64::from(batch.numbers.slots) * batch.channels * QUAD_BYTES),
            local: sum(&|batch| {
                let channels = if batch.needs.rigid { 2 } else { 3 };
                u64::from(batch.numbers.instances * batch.numbers.joints) * channels * QUAD_BYTES
            }),
            model: sum(&|batch| batch.model.size),
        })
    }

    fn submit(&mut self, gpu: &Gpu, frame: &FrameInput, timer: &mut StageTimer, commands: &mut Commands) {
        self.visible = None;
        let anew = !std::mem::replace(&mut self.posed, true);
        if let Some(updates) = &mut self.updates {
            updates.submit(gpu, frame.crowd, frame.tick, timer, commands);
        }
        gpu.upload(commands, &self.now, bytemuck::bytes_of(&layout::Now::at(frame.tick)));
        if let Some(visibility) = &self.visibility {
            visibility.record(gpu, commands);
        }
        self.stage(commands, Stage::Sample, &[Step::Schedule, Step::Sample], anew);
        if self.blends {
            self.stage(commands, Stage::Blend, &[Step::Blend], anew);
        }
        self.stage(commands, Stage::LocalToModel, &[self.walk], anew);
        self.stage(commands, Stage::Palette, &[Step::Palette], anew);
    }

    fn visible(&mut self) -> Result<Option<Vec<u32>>> {
        let firsts: Vec<u32> = self.batches.iter().map(|batch| batch.instances.start).collect();
        let all = |seen: &[Vec<u32>]| {
            let all = seen.iter().zip(firsts).flat_map(|(s, first)| s.iter().map(move |i| first + i));
            let mut all: Vec<u32> = all.collect();
            // Chunks of a family alternate between its levels.
            all.sort_unstable();
            all
        };
        Ok(self.seen()?.map(all))
    }

    fn places(&mut self, index: usize, first: u32, instances: Range<u32>) -> Result<Range<u32>> {
        let (start, end) = (instances.start - first, instances.end - first);
        Ok(match self.seen()? {
            None => start..end,
            Some(seen) => {
                let place = |instance| seen[index].partition_point(|&other| other < instance) as u32;
                place(start)..place(end)
            }
        })
    }

    fn finer_instances(&mut self, index: usize) -> Result<Vec<usize>> {
        let first = index - index % self.levels;
        Ok(self.seen()?.map_or(Vec::new(), |seen| seen[first..index].iter().map(Vec::len).collect()))
    }

    fn look(&mut self, frustum: &Frustum, eye: &Eye) {
        self.visibility.iter_mut().for_each(|visibility| visibility.look(frustum, eye));
    }

    fn read_poses(&mut self, crowd: &Crowd, what: PoseData, instances: Range<u32>, out: &mut Vec<f32>) -> Result<()> {
        for chunk in 0..self.batches.len() {
            let own = &self.batches[chunk].instances;
            let part = own.start.max(instances.start)..own.end.min(instances.end);
            if part.is_empty() {
                continue;
            }
            let first = own.start;
            let places = self.places(chunk, first, part)?;
            let finer = self.finer_instances(chunk)?;
            // Numbers of finer levels, which come first in a buffer that levels share.
            let before = |each: &dyn Fn(&layout::Batch) -> u32| -> u64 {
                let levels = self.batches[chunk - finer.len()..].iter().zip(&finer);
                levels.map(|(batch, count)| *count as u64 * u64::from(each(&batch.numbers))).sum()
            };
            let PoseBatch { numbers, needs, model, .. } = &self.batches[chunk];
            let read = |buffer, each: &dyn Fn(&layout::Batch) -> u32, out: &mut Vec<f32>| {
                let (first, count) = (u64::from(places.start), places.len());
                let own = each(numbers);
                self.gpu.read_back(buffer, before(each) + first * u64::from(own), count * own as usize, out)
            };
            match what {
                PoseData::Palette => read(&self.palettes[chunk].buffer, &|batch| 12 * batch.entries, out)?,
                PoseData::Model if needs.rigid => {
                    let mut rigid = Vec::new();
                    read(model, &|batch| 8 * batch.joints, &mut rigid)?;
                    out.extend(rigid.as_chunks().0.iter().flat_map(rows));
                }
                PoseData::Model => read(model, &|batch| 12 * batch.joints, out)?,
                PoseData::Local => self.read_local(crowd, chunk, places, out)?,
            }
        }
        Ok(())
    }
}

/// Number of neighbouring chunks that share buffers: the levels of a family, if instances in view are chosen among them.
fn levels(crowd: &Crowd, culled: bool) -> usize {
    if culled { crowd.levels() } else { 1 }
}

/// Returns whether any instance of a crowd plays more than one whole clip, or interpolates between two cached poses.
fn blends(crowd: &Crowd) -> bool {
    let plain = |instance: usize| matches!(crowd.layers().of(instance), [layer] if layer.is_plain());
    crowd.has_update_rates() || !(0..crowd.instance_count()).all(plain)
}

/// Checks that the device can pose for a shader that reads palettes in this form.
///
/// # Errors
/// [`BackendError::Unavailable`] if it lacks a feature that the kernels need.
pub fn check(gpu: &Gpu, form: PaletteForm) -> Result<()> {
    gpu.has(wgpu::ShaderStages::COMPUTE, STORAGE_BUFFERS)?;
    match form {
        PaletteForm::Rows | PaletteForm::Workgroup | PaletteForm::Subgroup => Ok(()),
        _ => Err(BackendError::Unavailable("poses on the device are rows of 3x4 matrices".into())),
    }
}

/// Matrix rows from a rotation and a translation.
fn rows([a, b, c, d, x, y, z, _]: &[f32; 8]) -> Rows {
    let [i, j, k] = Mat3::from_quat(Quat::from_xyzw(*a, *b, *c, *d)).transpose().to_cols_array_2d();
    [i[0], i[1], i[2], *x, j[0], j[1], j[2], *y, k[0], k[1], k[2], *z]
}
