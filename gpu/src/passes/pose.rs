//! Poses instances on the device: clips, hierarchy and layers are uploaded once, and a frame sends only its tick.
//!
//! The chunks of a batch share buffers and dispatches. Where there are several, a table says where each begins.

use crate::crowd::table::{ChunkPoses, CrowdTable, Dispatch, all_slots};
use crate::device::{Named, named};
use crate::forms::clips::{ClipStore, Needs};
use crate::forms::posed_models::PosedModels;
use crate::kernel::{Kernel, once_per_key};
use crate::passes::pose_kernels::{BATCH_OF_ONE, BATCH_OF_SEVERAL, KERNELS, PoseKernel};
use crate::passes::trial::fastest;
use crate::passes::update::{Record, Update};
use crate::passes::{Call, Frame, Pass};
use crate::shader::{Role, layout};
use crate::{Chunk, Gpu};
use bytemuck::Zeroable;
use skinbench_frame::{Purpose, Result, Stage};
use skinbench_kernels::crowd::{Crowd, Fade, Group};
use skinbench_kernels::model::Rows;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a joint's model pose: a matrix, or a rotation and a translation.
const MODEL_BYTES: u64 = 48;
const RIGID_BYTES: u64 = 32;
/// Bytes of a channel of a joint's local pose.
const QUAD_BYTES: u64 = 16;

/// The pass.
pub struct Pose {
    /// The fastest kernel from local to model poses on this device.
    pub(crate) walk: PoseKernel,
    /// `true` if any instance blends.
    blends: bool,
    batches: Vec<PosedBatch>,
    /// Replaces blended local poses by those that a live crowd gives.
    given: Option<Update>,
    /// `true` if all poses were computed at least once.
    posed: bool,
}

/// A batch before it has poses: the chunks that one dispatch takes, and what poses them.
struct NewBatch {
    chunks: Range<usize>,
    /// No joint of its models scales.
    is_rigid: bool,
    kernels: Arc<[Kernel]>,
    models: PosedModels,
}

/// The dispatches that pose a batch, one of each kernel.
struct PosedBatch {
    instances: u32,
    /// For all instances.
    calls: Vec<Call>,
    /// For the instances that do not keep their pose, if some of the batch do and none is replaced.
    moving: Option<Vec<Call>>,
}

/// Bytes of a crowd's poses on the device.
#[derive(Debug, Clone, Copy, Default)]
pub struct PoseBytes {
    /// Bytes of local poses that a frame writes: the channels that some clip moves.
    pub sampled: u64,
    /// Bytes of local poses that `local_to_model` reads.
    pub local: u64,
    /// Bytes of model poses.
    pub model: u64,
}

impl PoseBytes {
    /// Those of a crowd that the device poses; `None` for others.
    pub fn of(table: &CrowdTable) -> Option<Self> {
        let mut bytes = Self::default();
        for (numbers, poses) in table.numbers.iter().zip(&table.poses) {
            let posed = &numbers.posed;
            let channels = if poses.is_rigid { 2 } else { 3 };
            let joints = u64::from(posed.instances) * u64::from(posed.joints);
            bytes.sampled += u64::from(posed.slots) * poses.moving_channels * QUAD_BYTES;
            bytes.local += joints * channels * QUAD_BYTES;
            bytes.model += joints * model_bytes(poses.is_rigid);
        }
        (!table.poses.is_empty()).then_some(bytes)
    }
}

impl Pose {
    /// Uploads what the groups are posed by, and allocates poses and palettes.
    ///
    /// # Errors
    /// As [`Gpu::has`], or [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if the adapter cannot bind
    /// the clips of a model.
    pub(crate) fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        table: &mut CrowdTable,
        clips: &[ClipStore],
    ) -> Result<Self> {
        let batches = table.batches.clone();
        let mut needs = Vec::with_capacity(batches.len());
        let mut groups = Vec::with_capacity(batches.len());
        for batch in &batches {
            let chunks = &table.chunks[batch.clone()];
            needs.push((needs_of(crowd, chunks, clips), batch_role(chunks.len())));
            groups.push(chunks[0].group..chunks[chunks.len() - 1].group + 1);
        }
        let kernels = once_per_key(needs.iter().copied(), |&(needs, role)| {
            needs.kernels(gpu, role)
        });
        let models = once_per_key(groups, |groups| {
            PosedModels::new(gpu, crowd, groups.clone(), clips)
        });
        let mut pose = Self {
            walk: PoseKernel::WALKS[0],
            blends: blends(crowd),
            batches: Vec::with_capacity(batches.len()),
            given: if crowd.is_live() {
                Some(Update::new(gpu, Record::Channel)?)
            } else {
                None
            },
            posed: false,
        };
        for (index, (kernels, models)) in kernels.into_iter().zip(models).enumerate() {
            let batch = NewBatch {
                chunks: batches[index].clone(),
                is_rigid: needs[index].0.rigid,
                kernels: kernels?,
                models: models?,
            };
            pose.push(gpu, crowd, table, batch);
        }
        Ok(pose)
    }

    /// Finds the fastest kernel from local to model poses, whose time does not depend on the poses.
    ///
    /// # Errors
    /// [`BackendError::Device`](skinbench_frame::BackendError::Device) if the device was lost or refused a command.
    pub fn choose_walk(&mut self, gpu: &Arc<Gpu>) -> Result<()> {
        let Some(largest) = self.batches.iter().max_by_key(|batch| batch.instances) else {
            return Ok(());
        };
        let walks = PoseKernel::WALKS;
        let best = fastest(gpu, walks.len(), |walk, commands| {
            largest.calls[walks[walk] as usize].record(commands);
        })?;
        self.walk = walks[best];
        Ok(())
    }

    /// Short description of the chosen kernel for tables.
    pub fn label(&self) -> String {
        format!("poses by {}", self.walk.name().trim_start_matches("pose_"))
    }

    /// Allocates the poses of a batch and what its kernels keep from frame to frame, and binds them. Adds poses and palettes
    /// to the table.
    fn push(&mut self, gpu: &Gpu, crowd: &Crowd, table: &mut CrowdTable, batch: NewBatch) {
        let NewBatch {
            chunks,
            is_rigid,
            kernels,
            models,
        } = batch;
        let first_group = table.chunks[chunks.start].group;
        let mut placed = Vec::with_capacity(chunks.len());
        let mut rest = Vec::with_capacity(chunks.len());
        let mut next = layout::Places::zeroed();
        let mut end = layout::PosedChunk::zeroed();
        for index in chunks.clone() {
            let posed = table.numbers[index].posed;
            let model = &models.models[table.chunks[index].group - first_group];
            placed.push(layout::PlacedChunk {
                posed,
                places: layout::Places {
                    first_slot: next.first_slot,
                    first_local: next.first_local,
                    ..model.places
                },
            });
            rest.push(&model.rest);
            next.first_slot += posed.slots;
            next.first_local += 3 * posed.slots * posed.joints;
            end.first_instance = posed.first_instance + posed.instances;
            end.first_joint = posed.first_joint + posed.instances * posed.joints;
            end.first_entry = posed.first_entry + posed.instances * posed.entries;
        }
        // Channels that no clip moves keep the value written here.
        let count = next.first_local as usize;
        let locals = gpu.storage_of(Purpose::Scratch, "local poses", count, || {
            let mut locals = Vec::with_capacity(count);
            for (placed, rest) in placed.iter().zip(rest) {
                locals.extend(rest.repeat(placed.posed.slots as usize));
            }
            locals
        });
        if let Some(given) = &mut self.given {
            let mut first_channels = Vec::new();
            for layout::PlacedChunk { posed, places } in &placed {
                // All instances of a live group have as many slots.
                let apart = 3 * posed.joints * (posed.slots / posed.instances);
                let of_instance = |instance| places.first_local + instance * apart;
                first_channels.extend((0..posed.instances).map(of_instance));
            }
            let instances = table.instances(&chunks);
            given.push(gpu, crowd, instances, &locals, first_channels);
        }
        let model_bytes = u64::from(end.first_joint) * model_bytes(is_rigid);
        let model = gpu.scratch(Purpose::Scratch, "model poses", model_bytes);
        let palette_bytes = u64::from(end.first_entry) * size_of::<Rows>() as u64;
        let palettes = gpu.scratch(Purpose::Palettes, "palettes", palette_bytes);
        let mut resources = [&table.bindings[chunks.start][..], &models.buffers].concat();
        resources.extend(kept(gpu, crowd, end.first_instance, next.first_slot));
        resources.extend([
            named("locals", &locals),
            named("model", &model),
            named("palettes", &palettes),
        ]);
        let calls = if placed.len() > 1 {
            table_calls(gpu, &kernels, &resources, &placed)
        } else {
            chunk_calls(gpu, &kernels, &resources, &placed[0].posed, |rule| {
                table.dispatch(gpu, chunks.start, rule)
            })
        };
        self.batches.push(PosedBatch {
            instances: end.first_instance,
            calls,
            moving: moving(
                gpu,
                crowd,
                table,
                chunks.start,
                &placed,
                &kernels,
                resources,
            ),
        });
        for (index, placed) in chunks.zip(placed) {
            table.bindings[index].push(named("palettes", &palettes));
            table.poses.push(ChunkPoses {
                first_local: placed.places.first_local,
                is_rigid,
                moving_channels: models.models[table.chunks[index].group - first_group]
                    .moving_channels,
                locals: locals.clone(),
                model: model.clone(),
                palettes: palettes.clone(),
            });
        }
    }
}

/// The shaders that read the numbers of so many chunks.
fn batch_role(chunks: usize) -> Role {
    if chunks > 1 {
        BATCH_OF_SEVERAL
    } else {
        BATCH_OF_ONE
    }
}

impl Pass for Pose {
    fn record(&mut self, frame: &mut Frame) {
        let all = !std::mem::replace(&mut self.posed, true);
        let blend: &[PoseKernel] = if self.blends {
            &[PoseKernel::Blend]
        } else {
            &[]
        };
        let stages: [(Stage, &[PoseKernel]); 4] = [
            (Stage::Sample, &[PoseKernel::Schedule, PoseKernel::Sample]),
            (Stage::Blend, blend),
            (Stage::LocalToModel, &[self.walk]),
            (Stage::Palette, &[PoseKernel::Palette]),
        ];
        // A dispatch waits for all before it if it reads what one of them wrote in the same compute pass: with several
        // batches each kernel takes a pass of its own, in which none waits.
        let at_once = if self.batches.len() > 1 {
            1
        } else {
            KERNELS.len()
        };
        for (stage, kernels) in stages {
            for kernels in kernels.chunks(at_once) {
                let calls = kernels.iter().flat_map(|kernel| {
                    let batches = self.batches.iter();
                    batches.filter_map(move |batch| batch.calls(all).get(*kernel as usize))
                });
                frame.compute(stage, calls);
            }
            if let (Stage::Blend, Some(given)) = (stage, &mut self.given) {
                given.record(frame);
            }
        }
    }
}

impl PosedBatch {
    /// The dispatches for all instances, or for those that move.
    fn calls(&self, all: bool) -> &[Call] {
        match &self.moving {
            Some(moving) if !all => moving,
            _ => &self.calls,
        }
    }
}

/// Bytes of a joint's model pose.
fn model_bytes(rigid: bool) -> u64 {
    if rigid { RIGID_BYTES } else { MODEL_BYTES }
}

/// The features that the chunks of a batch need of the kernels.
fn needs_of(crowd: &Crowd, chunks: &[Chunk], clips: &[ClipStore]) -> Needs {
    let of_chunk = |chunk: &Chunk| Needs {
        inertia: fades(crowd, &crowd.groups()[chunk.group]),
        rates: crowd.has_update_rates(),
        ..clips[chunk.group].needs
    };
    let mut all = of_chunk(&chunks[0]);
    for chunk in &chunks[1..] {
        all.join(of_chunk(chunk));
    }
    all
}

/// Returns whether a layer of any instance of a group fades inertially.
fn fades(crowd: &Crowd, group: &Group) -> bool {
    group.instances.clone().any(|instance| {
        let mut layers = crowd.layers().of(instance as usize).iter();
        layers.any(|layer| layer.fade == Fade::Inertial)
    })
}

/// Buffers that pose kernels hand to each other, or keep from frame to frame.
fn kept(gpu: &Gpu, crowd: &Crowd, instances: u32, slots: u32) -> [Named; 3] {
    let instances = u64::from(instances);
    let slots = u64::from(slots);
    // An instance has an inertial fade for each pose that is computed.
    let mut fades = instances;
    let mut pairs = 0;
    if crowd.has_update_rates() {
        fades = 2 * instances;
        pairs = instances;
    }
    let sizes = [
        ("cursors", slots * layout::CURSOR_BYTES),
        ("momenta", fades * layout::MOMENTUM_BYTES),
        ("pose_pairs", pairs * layout::POSE_PAIR_BYTES),
    ];
    sizes.map(|(name, bytes)| named(name, &gpu.scratch(Purpose::Scratch, name, bytes)))
}

/// Dispatches for a chunk, whose numbers are among the resources.
fn chunk_calls(
    gpu: &Gpu,
    kernels: &[Kernel],
    resources: &[Named],
    numbers: &layout::PosedChunk,
    mut dispatch: impl FnMut(&layout::Dispatch) -> Dispatch,
) -> Vec<Call> {
    let mut calls = Vec::with_capacity(KERNELS.len());
    for (kernel, compiled) in KERNELS.iter().zip(kernels) {
        let dispatch = dispatch(&kernel.dispatch(gpu, numbers));
        calls.push(Call::new(gpu, compiled, resources, dispatch));
    }
    calls
}

/// Dispatches for several chunks at once, whose numbers are in a table.
fn table_calls(
    gpu: &Gpu,
    kernels: &[Kernel],
    resources: &[Named],
    placed: &[layout::PlacedChunk],
) -> Vec<Call> {
    let mut all = vec![layout::PlacedChunk::zeroed(); layout::MOST_CHUNKS];
    all[..placed.len()].copy_from_slice(placed);
    let contents = bytemuck::cast_slice(&all);
    let usage = wgpu::BufferUsages::UNIFORM;
    let table = gpu.buffer_with(Purpose::Scratch, "placed", contents, usage);
    let mut calls = Vec::with_capacity(KERNELS.len());
    for (kernel, compiled) in KERNELS.iter().zip(kernels) {
        let mut parts = Vec::new();
        for (chunk, placed) in (0..).zip(placed) {
            let numbers = &placed.posed;
            let rule = kernel.dispatch(gpu, numbers);
            let count = rule.count(numbers.instances, numbers.slots);
            parts.extend((0..count).map(|workgroup| layout::ChunkPart { chunk, workgroup }));
        }
        let workgroups = gpu.workgroups(parts.len() as u32);
        let parts = gpu.storage(Purpose::Scratch, "parts", &parts);
        let mut resources = resources.to_vec();
        resources.extend([named("placed", &table), named("parts", &parts)]);
        let dispatch = Dispatch::Fixed(workgroups);
        calls.push(Call::new(gpu, compiled, &resources, dispatch));
    }
    calls
}

/// Dispatches for the instances of a batch that do not keep their pose, which come first in each chunk; `None` if all are
/// posed in each frame.
fn moving(
    gpu: &Gpu,
    crowd: &Crowd,
    table: &CrowdTable,
    first_chunk: usize,
    placed: &[layout::PlacedChunk],
    kernels: &[Kernel],
    mut resources: Vec<Named>,
) -> Option<Vec<Call>> {
    if table.visible.is_some() || crowd.turnover().is_some() {
        return None;
    }
    let mut moving = placed.to_vec();
    let mut kept = 0;
    let mut count = 0;
    for (chunk, placed) in table.chunks[first_chunk..].iter().zip(&mut moving) {
        let moves = chunk.overlap(&crowd.groups()[chunk.group].moving());
        kept += chunk.instances.len() - moves.len();
        count += moves.len();
        placed.posed.instances = moves.len() as u32;
        placed.posed.slots = all_slots(crowd, moves);
    }
    if kept == 0 {
        return None;
    }
    if count == 0 {
        return Some(Vec::new());
    }
    if moving.len() > 1 {
        return Some(table_calls(gpu, kernels, &resources, &moving));
    }
    let posed = &moving[0].posed;
    let uniform = gpu.uniform(Purpose::Scratch, "moving", posed);
    resources.retain(|named| named.0 != "posed");
    resources.push(named("posed", &uniform));
    Some(chunk_calls(gpu, kernels, &resources, posed, |rule| {
        Dispatch::Fixed(gpu.workgroups_by(rule, posed.instances, posed.slots))
    }))
}

/// Returns whether any instance of a crowd plays more than one whole clip, or interpolates between two cached poses.
pub(crate) fn blends(crowd: &Crowd) -> bool {
    let plain =
        |instance: usize| matches!(crowd.layers().of(instance), [layer] if layer.is_plain());
    crowd.has_update_rates() || !(0..crowd.instance_count()).all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::chunk::Sharing;
    use crate::passes::Outputs;
    use crate::passes::tick::Tick;
    use skinbench_characters::walker;
    use skinbench_frame::StageTimer;
    use skinbench_kernels::crowd::{Layer, REST};
    use skinbench_kernels::model::IDENTITY_ROWS;
    use skinbench_kernels::vertex::VertexFormat;
    use std::sync::Arc;

    /// The compute passes in which so many groups are posed, each with the number of its dispatches.
    fn passes(models: usize) -> Vec<(String, usize)> {
        let gpu = Gpu::recording();
        let mut crowd = Crowd::with_format(VertexFormat::default());
        let model = Arc::new(walker(500).unwrap());
        for _ in 0..models {
            let instances = [(IDENTITY_ROWS, Layer::held(REST, 0.0)); 3];
            crowd.push_group(Arc::clone(&model), instances).unwrap();
        }
        let groups = crowd.groups().iter();
        let clips: Vec<ClipStore> = groups.map(|g| ClipStore::new(&g.model, true)).collect();
        let mut table = CrowdTable::new(&gpu, &crowd, &Sharing::Poses(&clips), None).unwrap();
        Tick::new(&gpu, &crowd, &mut table, "players");
        table.bind_numbers(&gpu, true);
        let mut pose = Pose::new(&gpu, &crowd, &mut table, &clips).unwrap();
        gpu.take_commands();
        pose.record(&mut Frame {
            gpu: &gpu,
            crowd: &crowd,
            tick: 0,
            outputs: Outputs::Buffers(&[]),
            kept: false,
            commands: &mut gpu.commands("frame"),
            timer: &mut StageTimer::default(),
        });
        let mut passes: Vec<(String, usize)> = Vec::new();
        for command in gpu.take_commands() {
            if command.value["do"] == "compute" {
                let label = command.value["label"].as_str().unwrap();
                let commands = command.value["commands"].as_array().unwrap();
                let dispatches = commands.iter().filter(|c| c["do"] == "dispatch");
                passes.push((label.to_owned(), dispatches.count()));
            }
        }
        passes
    }

    #[test]
    fn several_models_take_as_many_dispatches_as_one() {
        let one = passes(1);
        let expected = [("sample", 2), ("local_to_model", 1), ("palette", 1)];
        assert_eq!(one, expected.map(|(name, count)| (name.to_owned(), count)));
        assert_eq!(passes(layout::MOST_CHUNKS), one);
    }

    /// In one pass, the second kernel of `sample` would wait for the first once for each batch.
    #[test]
    fn kernels_of_several_batches_have_passes_of_their_own() {
        let names: Vec<String> = passes(layout::MOST_CHUNKS + 1)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["sample", "sample", "local_to_model", "palette"]);
    }
}
