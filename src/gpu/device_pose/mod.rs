//! Palettes posed on the device: clips, hierarchy and layers live there, and a frame sends its tick.

mod batches;
mod clips;
mod kernels;

pub(super) use batches::{listed, storage, uniform};
pub use clips::Form;
pub use kernels::{KERNELS, STORAGE_BUFFERS};

use super::palettes::{PaletteSource, Palettes};
use super::skinning::Edit;
use super::{Chunk, Commands, Gpu, PaletteForm, compute, layout};
use crate::backend::{BackendError, FrameInput, ReadBack, Result, Stage, StageTimer};
use crate::crowd::{Crowd, Fade};
use crate::model::Rows;
use batches::{Batch, LOCAL_BYTES, Statics, part_bytes, parts, static_bytes};
use glam::{Mat3, Quat};
use kernels::{Kernels, Step};
use std::ops::Range;
use std::rc::Rc;

/// Instances whose poses are read back at once.
const READ_AT_ONCE: u32 = 256;

/// A crowd's poses and palettes on the device.
pub struct DevicePose {
    gpu: Rc<Gpu>,
    kernels: Kernels,
    /// The fastest way from local to model poses here.
    walk: Step,
    now: wgpu::Buffer,
    batches: Vec<Batch>,
    chunks: Vec<Chunk>,
    palettes: Vec<Palettes>,
    blends: bool,
}

impl DevicePose {
    /// Bytes on the device.
    ///
    /// # Errors
    /// What the adapter cannot hold.
    pub fn bytes(gpu: &Gpu, crowd: &Crowd, chunks: &[Chunk]) -> Result<u64> {
        let limit = gpu.binding_bytes();
        let statics = crowd.groups().iter().map(|group| {
            let bytes = static_bytes(group);
            match bytes > limit {
                true => Err(BackendError::TooLarge(format!(
                    "clips of {:?} need {bytes} bytes in one binding; the adapter allows {limit}",
                    group.model.name()
                ))),
                false => Ok(bytes),
            }
        });
        let poses: u64 = parts(crowd, chunks, limit)?.iter().map(|part| part_bytes(crowd, part)).sum();
        let palettes = crowd.palette_entries() * size_of::<Rows>() as u64;
        Ok(statics.sum::<Result<u64>>()? + poses + palettes + size_of::<layout::Now>() as u64)
    }

    /// Uploads what does not change, and makes room for poses and palettes.
    ///
    /// # Errors
    /// What the adapter cannot hold.
    pub fn new(gpu: &Rc<Gpu>, crowd: &Crowd, chunks: &[Chunk], edit: Option<&Edit>) -> Result<Self> {
        let layers = |instance: u32| crowd.layers().of(instance as usize);
        let blends = crowd.groups().iter().flat_map(|g| g.instances.clone()).any(|instance| {
            let layers = layers(instance);
            layers.len() != 1 || !layers[0].is_plain()
        });
        let statics: Vec<Statics> = crowd
            .groups()
            .iter()
            .map(|group| {
                let inertial = |instance| layers(instance).iter().any(|l| l.fade == Fade::Inertial);
                Statics::new(gpu, group, group.instances.clone().any(inertial), !blends)
            })
            .collect();
        let needs: Vec<_> = statics.iter().map(Statics::needs).collect();
        let kernels = Kernels::new(gpu, &needs, edit);
        let now = gpu.buffer(
            "now",
            size_of::<layout::Now>() as u64,
            wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        );
        let palettes: Vec<_> = chunks
            .iter()
            .map(|chunk| {
                let entries = crowd.groups()[chunk.group].model.palette_joints().len();
                Palettes::on_device(gpu, (chunk.instances.len() * entries * size_of::<Rows>()) as u64)
            })
            .collect();
        let batches = parts(crowd, chunks, gpu.binding_bytes())?.into_iter().map(|part| {
            let (statics, target) = (&statics[part.group], (&chunks[part.chunk], palettes[part.chunk].buffer()));
            Batch::new(gpu, crowd, part, statics, &kernels, &now, target)
        });
        let batches: Vec<Batch> = batches.collect();
        let largest = batches.iter().max_by_key(|batch| batch.part.instances.len());
        // How long a walk takes does not depend on what is posed.
        let walk = compute::fastest(gpu, Step::WALKS.len(), |walk, pass| {
            largest.iter().for_each(|batch| kernels.dispatch(gpu, pass, Step::WALKS[walk], batch));
        })?;
        let (gpu, chunks, walk) = (Rc::clone(gpu), chunks.to_vec(), Step::WALKS[walk]);
        Ok(Self { gpu, kernels, walk, now, batches, chunks, palettes, blends })
    }

    /// Records one stage for all batches.
    fn stage(&self, commands: &mut Commands, stage: Stage, steps: &[Step]) {
        self.gpu.compute_pass(commands, stage, |pass| {
            for step in steps {
                for batch in &self.batches {
                    self.kernels.dispatch(&self.gpu, pass, *step, batch);
                }
            }
        });
    }

    /// Appends `floats` of `numbers` of each joint of an instance's pose, the fourth of some quads left out.
    fn read(&self, batch: &Batch, stage: Stage, instances: Range<u32>, out: &mut Vec<f32>) -> Result<()> {
        let joints = batch.numbers.joints as usize;
        let quads = 3 * joints;
        let place = |instance: u32| (instance - batch.part.instances.start) as usize;
        let mut read = Vec::new();
        for first in instances.clone().step_by(READ_AT_ONCE as usize) {
            let some = first..instances.end.min(first + READ_AT_ONCE);
            read.clear();
            if stage == Stage::LocalToModel {
                let rigid = batch.needs.rigid;
                let floats = if rigid { 8 * joints } else { 12 * joints };
                let target = if rigid { &mut read } else { &mut *out };
                self.gpu.read_back(&batch.model, (place(first) * floats) as u64, some.len() * floats, target)?;
                out.extend(read.as_chunks().0.iter().flat_map(rows));
                continue;
            }
            let slot = |instance: u32| batch.first_slots[place(instance)] as usize;
            let begin = slot(first);
            let count = (slot(some.end - 1) + 1 - begin) * quads * 4;
            self.gpu.read_back(&batch.locals, begin as u64 * joints as u64 * LOCAL_BYTES / 4, count, &mut read)?;
            for instance in some {
                let local = &read[(slot(instance) - begin) * quads * 4..][..quads * 4];
                let (rotations, others) = local.as_chunks::<4>().0.split_at(joints);
                let (translations, scales) = others.split_at(joints);
                for ((rotation, translation), scale) in rotations.iter().zip(translations).zip(scales) {
                    out.extend(rotation.iter().chain(&translation[..3]).chain(&scale[..3]));
                }
            }
        }
        Ok(())
    }
}

impl PaletteSource for DevicePose {
    fn chunks(&self) -> &[Palettes] {
        &self.palettes
    }

    fn way(&self) -> Option<String> {
        Some(format!("poses by {}", self.walk.name()))
    }

    fn submit(&mut self, gpu: &Gpu, frame: &FrameInput, _: &mut StageTimer, commands: &mut Commands) {
        gpu.upload(commands, &self.now, bytemuck::bytes_of(&layout::Now::at(frame.tick)));
        self.stage(commands, Stage::Sample, &[Step::Schedule, Step::Sample]);
        if self.blends {
            self.stage(commands, Stage::Blend, &[Step::Blend]);
        }
        self.stage(commands, Stage::LocalToModel, &[self.walk]);
        self.stage(commands, Stage::Palette, &[Step::Palette]);
    }

    fn read_back(&self, crowd: &Crowd, what: Stage, instances: Range<u32>, out: &mut ReadBack) -> Result<()> {
        let within = |own: &Range<u32>| own.start.max(instances.start)..own.end.min(instances.end);
        if what == Stage::Palette {
            for (chunk, palettes) in self.chunks.iter().zip(&self.palettes) {
                let part = within(&chunk.instances);
                if !part.is_empty() {
                    let floats = crowd.groups()[chunk.group].model.palette_joints().len() * size_of::<Rows>() / 4;
                    let first = (part.start - chunk.instances.start) as usize * floats;
                    let count = part.len() * floats;
                    self.gpu.read_back(palettes.buffer(), first as u64, count, &mut out.values)?;
                }
            }
            return Ok(());
        }
        for batch in &self.batches {
            let part = within(&batch.part.instances);
            if !part.is_empty() {
                self.read(batch, what, part, &mut out.values)?;
            }
        }
        Ok(())
    }
}

/// Whether the device can pose a crowd for a shader that reads palettes in this form.
///
/// # Errors
/// It lacks what the kernels need, or the crowd is not posed at every tick.
pub fn check(gpu: &Gpu, crowd: &Crowd, form: PaletteForm) -> Result<()> {
    gpu.has(wgpu::ShaderStages::COMPUTE, STORAGE_BUFFERS)?;
    if crowd.has_update_rates() {
        let message = "poses all on the device at every tick; needs a crowd without update rates";
        return Err(BackendError::Unavailable(message.into()));
    }
    match form {
        PaletteForm::Rows | PaletteForm::Workgroup => Ok(()),
        _ => Err(BackendError::Unavailable("poses on the device are rows of 3x4 matrices".into())),
    }
}

/// A matrix' rows from a rotation and a translation.
fn rows([a, b, c, d, x, y, z, _]: &[f32; 8]) -> Rows {
    let [i, j, k] = Mat3::from_quat(Quat::from_xyzw(*a, *b, *c, *d)).transpose().to_cols_array_2d();
    [i[0], i[1], i[2], *x, j[0], j[1], j[2], *y, k[0], k[1], k[2], *z]
}
