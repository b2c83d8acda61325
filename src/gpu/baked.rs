//! Palettes baked frame by frame when a crowd is prepared. A frame only computes, for each layer of an instance, the two
//! baked frames between which it is interpolated and its share of the pose; skinning averages the palettes of layers.

use super::binding::{GroupLayout, pipeline_layout};
use super::counts::{filled_bytes, items_bytes, room_bytes};
use super::device_pose::listed;
use super::layout::WORKGROUP;
use super::palette_source::PaletteSource;
use super::shader::{Constants, Edit, compute_pipeline, module};
use super::{Chunk, Commands, Gpu, Palettes, layout, wgsl};
use crate::bake::{BakeError, BakeFormat, Baker, DIRECTION, POSITION, Rate};
use crate::crowd::{Crowd, Fade, Group, Layer, LayerKind, REST, UNMASKED};
use crate::frame::{Approximation, BackendError, Bytes, FrameInput, Purpose, Result, Stage, StageTimer};
use crate::model::Clip;
use crate::pose::PoseData;
use bytesize::ByteSize;
use rayon::prelude::*;
use std::ops::Range;

/// Storage buffers of the kernel.
pub const STORAGE_BUFFERS: u32 = 4;
/// Most layers of an instance.
pub const MOST_LAYERS: usize = 4;
/// Stated error of normals and tangents, in radians. Blending joints that rotate against each other shortens the sum,
/// so the errors of the summands count twice if the sum has half the length.
const NORMAL: f64 = 2.0 * DIRECTION;

/// The complete shader of the kernel.
pub fn shader() -> String {
    wgsl::shader("pose_baked.wgsl", &[])
}

/// A group's clips at their rates; the rest pose comes last. `None` for a clip that no instance plays.
struct Plan<'a> {
    baker: Baker<'a>,
    rates: Vec<Option<Rate>>,
    /// Error of averaging palettes instead of local poses.
    blend: BakeError,
    entries: usize,
    quads: usize,
}

impl<'a> Plan<'a> {
    /// # Errors
    /// [`BackendError::Unavailable`] if no rate keeps the error of a clip, or [`BackendError::TooLarge`] if the frames
    /// of a clip exceed one binding.
    fn new(gpu: &Gpu, crowd: &Crowd, group: &'a Group, format: BakeFormat) -> Result<Self> {
        let model = &*group.model;
        let (clips, entries) = (model.clips(), model.palette_joints().len());
        let mut played = vec![false; clips.len() + 1];
        for instance in group.instances.clone() {
            for layer in crowd.layers().of(instance as usize) {
                played[if layer.clip == REST { clips.len() } else { layer.clip as usize }] = true;
            }
        }
        // The rest pose shows where no layer merges.
        played[clips.len()] |= width(crowd, group) > 1;
        let limit = gpu.binding_bytes();
        let most = limit / (entries * format.quads() * size_of::<[f32; 4]>()) as u64;
        let baker = Baker::new(model, format);
        let rate = |(clip, played): (usize, bool)| {
            if !played {
                return Ok(None);
            }
            let rate = baker.rate(clips.get(clip), most as usize);
            rate.map(Some).ok_or_else(|| {
                let name = clips.get(clip).map_or("", Clip::name);
                BackendError::Unavailable(format!(
                    "no baking rate keeps clip {name:?} of {:?} within {POSITION:.0e} of its size",
                    model.name()
                ))
            })
        };
        let rates = played.into_par_iter().enumerate().map(rate).collect::<Result<_>>()?;
        let plan = Self { blend: BakeError::default(), baker, rates, entries, quads: format.quads() };
        match plan.bytes() > limit {
            true => Err(BackendError::TooLarge(format!(
                "baked clips of {:?} need {} bytes in one binding; the adapter allows {limit}",
                model.name(),
                plan.bytes()
            ))),
            false => Ok(plan),
        }
    }

    /// Bytes of all frames.
    fn bytes(&self) -> u64 {
        let frames: usize = self.rates.iter().flatten().map(|rate| rate.frames).sum();
        (frames * self.entries * self.quads * size_of::<[f32; 4]>()) as u64
    }

    fn error(&self) -> BakeError {
        self.rates.iter().flatten().map(|rate| rate.error).fold(BakeError::default(), BakeError::max)
    }

    /// The clips in the kernel's layout, and all frames, `[clip][frame][entry][quad]`.
    fn baked(&self, clips: &[Clip]) -> (Vec<layout::BakedClip>, Vec<[f32; 4]>) {
        let (mut table, mut frames) = (Vec::with_capacity(self.rates.len()), Vec::new());
        for (clip, rate) in self.rates.iter().enumerate() {
            let first = (frames.len() / self.quads) as u32;
            let (count, interval) = rate.map_or((1, 0.0), |rate| (rate.frames as u32, rate.interval));
            table.push(layout::BakedClip { first, frames: count, interval, padding: 0 });
            if let Some(rate) = rate {
                frames.extend(self.baker.frames(clips.get(clip), *rate));
            }
        }
        (table, frames)
    }
}

fn plans<'a>(gpu: &Gpu, crowd: &'a Crowd, format: BakeFormat) -> Result<Vec<Plan<'a>>> {
    crowd.groups().iter().map(|group| Plan::new(gpu, crowd, group, format)).collect()
}

/// Items of [`layout::Shown`] of each instance of a group: its layers, and the rest pose if no layer may be there.
pub fn width(crowd: &Crowd, group: &Group) -> u32 {
    let of_instance = |instance: u32| {
        let layers = crowd.layers().of(instance as usize);
        layers.len() + usize::from(!layers.first().is_some_and(Layer::is_plain))
    };
    group.instances.clone().map(of_instance).max().unwrap_or(1) as u32
}

/// Bytes on the device.
///
/// # Errors
/// [`BackendError::Unavailable`] if the adapter lacks a feature or no rate keeps the error of a clip; or
/// [`BackendError::TooLarge`] if the frames of a clip exceed one binding.
pub fn bytes(gpu: &Gpu, crowd: &Crowd, chunks: &[Chunk], format: BakeFormat) -> Result<Bytes> {
    gpu.has(wgpu::ShaderStages::COMPUTE, STORAGE_BUFFERS)?;
    let clips = |g: &Group| items_bytes::<layout::BakedClip>(g.model.clips().len() + 1);
    let of_chunk = |chunk: &Chunk| {
        let instances = chunk.instances.len();
        let width = width(crowd, &crowd.groups()[chunk.group]) as usize;
        let shown = room_bytes((instances * width * size_of::<layout::Shown>()) as u64);
        let layers = chunk.instances.clone().map(|i| crowd.layers().of(i as usize).len()).sum();
        let played = items_bytes::<layout::Player>(instances) + items_bytes::<layout::Layer>(layers);
        Bytes::of(Purpose::Scratch, shown + items_bytes::<layout::Batch>(1)) + Bytes::of(Purpose::Clips, played)
    };
    let frames: u64 = plans(gpu, crowd, format)?.iter().map(|plan| filled_bytes(plan.bytes() as usize)).sum();
    let clips: u64 = crowd.groups().iter().map(clips).sum();
    let now = Bytes::of(Purpose::Scratch, room_bytes(size_of::<layout::Now>() as u64));
    Ok(Bytes::of(Purpose::Clips, frames + clips) + now + chunks.iter().map(of_chunk).sum())
}

/// Checks that a crowd's poses can be baked.
///
/// # Errors
/// The crowd has update rates; or an instance has more than [`MOST_LAYERS`] layers, a mask, an additive layer or an
/// inertial fade, whose distance from averaged palettes has no bound.
pub fn check(crowd: &Crowd) -> Result<()> {
    let refused = |message: &str| Err(BackendError::Unavailable(message.into()));
    if crowd.has_update_rates() {
        return refused("shows baked clips at every tick; needs a crowd without update rates");
    }
    if (0..crowd.instance_count()).any(|instance| crowd.layers().of(instance).len() > MOST_LAYERS) {
        return refused("blends up to four baked clips; needs instances with no more layers");
    }
    let any = |has: fn(&Layer) -> bool| crowd.layers().all().iter().any(has);
    if any(|layer| layer.mask != UNMASKED) {
        return refused("blends whole palettes; needs a crowd without masks");
    }
    if any(|layer| layer.kind == LayerKind::Additive) {
        return refused("blends whole palettes; needs a crowd without additive layers");
    }
    if any(|layer| layer.fade == Fade::Inertial) {
        return refused("blends whole palettes; needs a crowd whose layers fade by weight, not inertially");
    }
    Ok(())
}

/// A crowd's baked palettes on the device.
pub struct BakedPalettes {
    now: wgpu::Buffer,
    /// Number of instances, kernel and bindings of each chunk.
    chunks: Vec<(u32, wgpu::ComputePipeline, wgpu::BindGroup)>,
    palettes: Vec<Palettes>,
    approximation: Approximation,
    label: String,
}

impl BakedPalettes {
    /// Bakes the clips that a crowd plays; `edit` changes the kernel's source.
    ///
    /// # Errors
    /// As [`bytes`].
    pub fn new(gpu: &Gpu, crowd: &Crowd, chunks: &[Chunk], format: BakeFormat, edit: Option<&Edit>) -> Result<Self> {
        let mut plans = plans(gpu, crowd, format)?;
        for (plan, group) in plans.iter_mut().zip(crowd.groups()) {
            plan.blend = plan.baker.blend_error(crowd, group);
        }
        let widths: Vec<u32> = crowd.groups().iter().map(|group| width(crowd, group)).collect();
        let (layout, pipelines) = pipelines(gpu, &widths, edit);
        let now = gpu.buffer(
            Purpose::Scratch,
            "now",
            size_of::<layout::Now>() as u64,
            wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        );
        let statics: Vec<_> = crowd
            .groups()
            .iter()
            .zip(&plans)
            .map(|(group, plan)| {
                let (clips, frames) = plan.baked(group.model.clips());
                let clips = gpu.storage(Purpose::Clips, "baked clips", bytemuck::cast_slice(&clips));
                (clips, gpu.storage(Purpose::Clips, "baked frames", bytemuck::cast_slice(&frames)))
            })
            .collect();
        let mut palettes = Vec::with_capacity(chunks.len());
        let bound = chunks.iter().map(|chunk| {
            let instances = chunk.instances.len() as u32;
            let (players, layers) = listed(crowd, chunk.instances.clone());
            let (clips, frames) = &statics[chunk.group];
            let entries = plans[chunk.group].entries as u32;
            let slots = instances * widths[chunk.group];
            let shown = gpu.buffer(
                Purpose::Scratch,
                "shown frames",
                u64::from(slots) * size_of::<layout::Shown>() as u64,
                wgpu::BufferUsages::STORAGE,
            );
            palettes.push(Palettes::baked(frames, &shown));
            let batch = layout::Batch { instances, entries, ..Default::default() };
            let batch = gpu.uniform(Purpose::Scratch, "batch", bytemuck::bytes_of(&batch));
            let players = gpu.storage(Purpose::Clips, "players", bytemuck::cast_slice(&players));
            let layers = gpu.storage(Purpose::Clips, "layers", bytemuck::cast_slice(&layers));
            let buffers = [
                ("batch", &batch),
                ("now", &now),
                ("layers", &layers),
                ("players", &players),
                ("clips", clips),
                ("shown", &shown),
            ];
            (instances, pipelines[chunk.group].clone(), layout.bind_buffers(gpu, "pose_baked", &buffers))
        });
        let chunks = bound.collect();
        let error = plans.iter().map(Plan::error).fold(BakeError::default(), BakeError::max);
        let blend = plans.iter().map(|plan| plan.blend).fold(BakeError::default(), BakeError::max);
        let bytes: u64 = plans.iter().map(Plan::bytes).sum();
        let label = format!(
            "{} of baked frames, vertices off by at most {:.1e} and joints' ends by {:.1e} of the size",
            ByteSize(bytes).display().si(),
            error.position + blend.position,
            error.ends + blend.ends
        );
        let approximation = Approximation {
            position: POSITION + blend.position,
            // As for NORMAL.
            normal: NORMAL + 2.0 * blend.direction,
            clip_error: Some(error.ends + blend.ends),
        };
        Ok(Self { now, chunks, palettes, approximation, label })
    }
}

/// Values of the kernel's overrides for groups of this [`width`].
pub fn constants(width: u32) -> Constants {
    vec![("LAYERS", width.into())]
}

/// The kernel for each group, by its [`width`].
fn pipelines(gpu: &Gpu, widths: &[u32], edit: Option<&Edit>) -> (GroupLayout, Vec<wgpu::ComputePipeline>) {
    let wgsl = shader();
    let layout = GroupLayout::new(gpu, "pose_baked", &wgsl, 0, wgpu::ShaderStages::COMPUTE, None);
    let wgsl = if let Some(edit) = edit { edit(wgsl) } else { wgsl };
    let module = module(gpu, "pose_baked", wgsl, edit.is_none());
    let pipeline_layout = pipeline_layout(gpu, "pose_baked", &[&layout]);
    let mut made: Vec<(u32, wgpu::ComputePipeline)> = Vec::new();
    let of_width = |&width: &u32| match made.iter().find(|(known, _)| *known == width) {
        Some((_, pipeline)) => pipeline.clone(),
        None => {
            let pipeline = compute_pipeline(gpu, "pose_baked", &pipeline_layout, &module, &constants(width));
            made.push((width, pipeline.clone()));
            pipeline
        }
    };
    let pipelines = widths.iter().map(of_width).collect();
    (layout, pipelines)
}

impl PaletteSource for BakedPalettes {
    fn chunks(&self) -> &[Palettes] {
        &self.palettes
    }

    fn label(&self) -> Option<String> {
        Some(self.label.clone())
    }

    fn approximation(&self) -> Option<Approximation> {
        Some(self.approximation)
    }

    fn submit(&mut self, gpu: &Gpu, frame: &FrameInput, _: &mut StageTimer, commands: &mut Commands) {
        gpu.upload(commands, &self.now, bytemuck::bytes_of(&layout::Now::at(frame.tick)));
        gpu.compute_pass(commands, Stage::Sample, |pass| {
            for (instances, pipeline, group) in &self.chunks {
                pass.set_pipeline(pipeline);
                let (x, y) = gpu.folded(instances.div_ceil(WORKGROUP));
                gpu.add_dispatch();
                pass.set_bind_group(0, group, &[]);
                pass.dispatch_workgroups(x, y, 1);
            }
        });
    }

    fn read_poses(&mut self, _: &Crowd, _: PoseData, _: Range<u32>, _: &mut Vec<f32>) -> Result<()> {
        Err(BackendError::Unavailable("has no poses to read back: palettes are baked".into()))
    }
}
