//! Poses instances on the device: clips, hierarchy and layers are uploaded once, and a frame sends only its tick.
//!
//! A [`Chunk`] is posed as a *batch*: the numbers that kernels read of it. The chunks of a *family* share the buffers of
//! their instances, and those of a *set* share dispatches: all those of a family, or one where the device counts instances.

use crate::crowd::table::{CrowdTable, Dispatch, Family, all_slots};
use crate::device::{Buffer, Named, Resource};
use crate::forms::clips::Needs;
use crate::forms::palettes::Palettes;
use crate::forms::posed_models::{PosedGroup, PosedModel, PosedModels};
use crate::kernel::{Kernel, once_per_key};
use crate::passes::pose_kernels::{KERNELS, ONE_BATCH, PoseKernel, SEVERAL_BATCHES};
use crate::passes::trial::fastest;
use crate::passes::{Call, Frame, Interface, Pass};
use crate::shader::{Role, layout};
use crate::{Chunk, Gpu};
use bytemuck::Zeroable;
use skinbench_frame::{Purpose, Result, Stage};
use skinbench_kernels::crowd::{Crowd, Fade, Group};
use skinbench_kernels::model::Rows;
use std::ops::Range;
use std::rc::Rc;

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
    /// One item per chunk; `None` for those of baked groups.
    pub batches: Vec<Option<PoseBatch>>,
    sets: Vec<PoseSet>,
    /// `true` if all poses were computed at least once.
    posed: bool,
}

/// A chunk's poses.
pub struct PoseBatch {
    /// Its numbers, as if all instances were in view.
    pub numbers: layout::Batch,
    /// Index of its first local pose among those of its set, each of which takes one place per channel.
    pub first_local: u32,
    /// `true` if a model pose is a rotation and a translation.
    pub is_rigid: bool,
    /// Local poses of its set, `[slot][channel][joint]`.
    pub locals: Buffer,
    /// Model poses of its family, `[instance][joint]`.
    pub model: Buffer,
    /// Palettes, likewise.
    pub palettes: Palettes,
    /// Number of channels of an instance's joints that some clip moves.
    moving_channels: u64,
}

/// The dispatches that pose neighbouring chunks: all those of a family, or one whose instances the device counts.
struct PoseSet {
    instances: u32,
    /// A dispatch of each kernel, for all instances.
    calls: Vec<Call>,
    /// As `calls`, for the instances that do not keep their pose, if some of the set do and none is replaced.
    moving: Option<Vec<Call>>,
}

/// Bytes of a crowd's poses on the device.
#[derive(Debug, Clone, Copy)]
pub struct PoseBytes {
    /// Bytes of local poses that a frame writes: the channels that some clip moves.
    pub sampled: u64,
    /// Bytes of local poses that `local_to_model` reads.
    pub local: u64,
    /// Bytes of model poses.
    pub model: u64,
}

/// The chunks of a set, of which those of baked groups are not posed, and what it shares with others.
struct Planned {
    chunks: Range<usize>,
    needs: Needs,
    room: Room,
}

/// A chunk of a set, with its numbers and its model.
struct PlacedChunk<'a> {
    index: usize,
    placed: layout::PlacedBatch,
    model: &'a PosedModel,
}

/// The chunks of a set, and the sizes of the buffers that they share.
struct PlacedChunks<'a> {
    chunks: Vec<PlacedChunk<'a>>,
    /// Instances and slots of all chunks of the set, baked ones included: players count them, too.
    instances: u32,
    slots: u32,
    /// Channels of local poses.
    channels: u32,
}

impl Pose {
    /// Uploads what the groups are posed by, except those that are baked, and allocates poses and palettes.
    ///
    /// # Errors
    /// As [`Gpu::has`], or [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if the adapter cannot bind
    /// the clips of a model.
    pub(crate) fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        table: &mut CrowdTable,
        posed: &[PosedGroup],
    ) -> Result<Self> {
        let mut planned = Vec::new();
        for (index, family) in table.families.iter().enumerate() {
            let Some(needs) = needs_of(crowd, table.family(index), posed) else {
                continue;
            };
            let room = Room::new(gpu, table, family, posed, needs.rigid);
            let at_once = if table.visible.is_some() {
                1
            } else {
                family.chunks.len()
            };
            for first in family.chunks.clone().step_by(at_once) {
                let chunks = first..first + at_once;
                let mut groups = table.chunks[chunks.clone()].iter().map(|chunk| chunk.group);
                if groups.any(|group| posed[group].clips().is_some()) {
                    planned.push(Planned {
                        chunks,
                        needs,
                        room: room.clone(),
                    });
                }
            }
        }
        let kinds = planned.iter().map(|set| (set.needs, set.shaders()));
        let kernels = once_per_key(kinds, |&(needs, batch)| needs.kernels(gpu, batch));
        let groups = planned.iter().map(|set| {
            let last = &table.chunks[set.chunks.end - 1];
            table.chunks[set.chunks.start].group..last.group + 1
        });
        let models = once_per_key(groups, |groups| {
            PosedModels::new(gpu, crowd, groups.clone(), posed)
        });
        let mut pose = Self {
            walk: PoseKernel::WALKS[0],
            blends: blends(crowd),
            batches: Vec::new(),
            sets: Vec::with_capacity(planned.len()),
            posed: false,
        };
        pose.batches.resize_with(table.chunks.len(), || None);
        for ((set, kernels), models) in planned.iter().zip(kernels).zip(models) {
            pose.push(gpu, crowd, table, set, &kernels?, &models?);
        }
        Ok(pose)
    }

    /// Finds the fastest kernel from local to model poses, whose time does not depend on the poses.
    ///
    /// # Errors
    /// [`BackendError::Device`](skinbench_frame::BackendError::Device) if the device was lost or refused a command.
    pub fn choose_walk(&mut self, gpu: &Rc<Gpu>) -> Result<()> {
        let Some(largest) = self.sets.iter().max_by_key(|set| set.instances) else {
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

    /// Bytes of the poses.
    pub fn bytes(&self) -> PoseBytes {
        let mut bytes = PoseBytes {
            sampled: 0,
            local: 0,
            model: 0,
        };
        for batch in self.batches.iter().flatten() {
            let numbers = &batch.numbers;
            let channels = if batch.is_rigid { 2 } else { 3 };
            let joints = u64::from(numbers.instances) * u64::from(numbers.joints);
            bytes.sampled += u64::from(numbers.slots) * batch.moving_channels * QUAD_BYTES;
            bytes.local += joints * channels * QUAD_BYTES;
            bytes.model += joints * model_bytes(batch.is_rigid);
        }
        bytes
    }

    /// Allocates a set's local poses and what its kernels keep from frame to frame, and binds both. Adds the palettes to the
    /// table.
    fn push(
        &mut self,
        gpu: &Gpu,
        crowd: &Crowd,
        table: &mut CrowdTable,
        set: &Planned,
        kernels: &[Kernel],
        models: &PosedModels,
    ) {
        let placed = PlacedChunks::new(table, set, models);
        let locals = placed.locals(gpu);
        let mut resources = [&table.bindings[set.chunks.start][..], &models.buffers].concat();
        resources.extend(kept(gpu, crowd, &placed));
        resources.extend([
            ("locals", Resource::from(&locals)),
            ("model", (&set.room.model).into()),
        ]);
        resources.extend(set.room.palettes.inputs());
        let batches: Vec<_> = placed.chunks.iter().map(|chunk| chunk.placed).collect();
        let calls = if set.is_shared() {
            table_calls(gpu, kernels, &resources, &batches)
        } else {
            chunk_calls(gpu, kernels, &resources, &batches[0].batch, |rule| {
                table.dispatch(gpu, set.chunks.start, rule)
            })
        };
        self.sets.push(PoseSet {
            instances: placed.instances,
            calls,
            moving: moving(gpu, crowd, table, set, &placed, kernels, &resources),
        });
        for chunk in placed.chunks {
            table.bindings[chunk.index].extend(set.room.palettes.inputs());
            self.batches[chunk.index] = Some(PoseBatch {
                numbers: chunk.placed.batch,
                first_local: chunk.placed.places.first_local,
                is_rigid: set.needs.rigid,
                locals: locals.clone(),
                model: set.room.model.clone(),
                palettes: set.room.palettes.clone(),
                moving_channels: chunk.model.moving_channels,
            });
        }
    }
}

impl Planned {
    /// Returns whether several chunks share buffers, so that a table says where each begins.
    fn is_shared(&self) -> bool {
        self.chunks.len() > 1
    }

    /// The shaders that read its numbers.
    fn shaders(&self) -> Role {
        if self.is_shared() {
            SEVERAL_BATCHES
        } else {
            ONE_BATCH
        }
    }
}

impl<'a> PlacedChunks<'a> {
    fn new(table: &CrowdTable, set: &Planned, models: &'a PosedModels) -> Self {
        let mut placed = Self {
            chunks: Vec::with_capacity(set.chunks.len()),
            instances: 0,
            slots: 0,
            channels: 0,
        };
        let first_group = table.chunks[set.chunks.start].group;
        for index in set.chunks.clone() {
            let batch = table.batches[index];
            if let Some(model) = &models.models[table.chunks[index].group - first_group] {
                let places = layout::Places {
                    first_slot: placed.slots,
                    first_local: placed.channels,
                    ..model.places
                };
                placed.chunks.push(PlacedChunk {
                    index,
                    placed: layout::PlacedBatch { batch, places },
                    model,
                });
                placed.channels += 3 * batch.slots * batch.joints;
            }
            placed.instances += batch.instances;
            placed.slots += batch.slots;
        }
        placed
    }

    /// Allocates local poses. Channels that no clip moves keep the value written here. For this reason each level of a
    /// family has local poses of its own, with room for all instances.
    fn locals(&self, gpu: &Gpu) -> Buffer {
        let count = self.channels as usize;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        gpu.buffer_of(Purpose::Scratch, "local poses", count, usage, || {
            let mut locals = Vec::with_capacity(count);
            for chunk in &self.chunks {
                let slots = chunk.placed.batch.slots as usize;
                locals.extend(chunk.model.rest.repeat(slots));
            }
            locals
        })
    }
}

impl Pass for Pose {
    fn interface(&self) -> Interface {
        Interface {
            stages: &[
                Stage::Sample,
                Stage::Blend,
                Stage::LocalToModel,
                Stage::Palette,
            ],
            inputs: &["batch", "layers", "now", "players"],
            outputs: &["palettes", "shown"],
        }
    }

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
        // sets each kernel takes a pass of its own, in which none waits.
        let at_once = if self.sets.len() > 1 {
            1
        } else {
            KERNELS.len()
        };
        for (stage, kernels) in stages {
            for kernels in kernels.chunks(at_once) {
                let calls = kernels.iter().flat_map(|kernel| {
                    let sets = self.sets.iter();
                    sets.filter_map(move |set| set.calls(all).get(*kernel as usize))
                });
                frame.compute(stage, calls);
            }
        }
    }
}

impl PoseSet {
    /// The dispatches for all instances, or for those that move.
    fn calls(&self, all: bool) -> &[Call] {
        match &self.moving {
            Some(moving) if !all => moving,
            _ => &self.calls,
        }
    }
}

/// Poses and palettes of the instances of a family.
#[derive(Clone)]
struct Room {
    model: Buffer,
    palettes: Palettes,
}

impl Room {
    fn new(
        gpu: &Gpu,
        table: &CrowdTable,
        family: &Family,
        posed: &[PosedGroup],
        rigid: bool,
    ) -> Self {
        let mut joints = 0;
        let mut entries = 0;
        for index in family.chunks.clone() {
            if posed[table.chunks[index].group].clips().is_none() {
                continue;
            }
            let batch = &table.batches[index];
            let own_joints = u64::from(batch.instances) * u64::from(batch.joints);
            let own_entries = u64::from(batch.instances) * u64::from(batch.entries);
            if table.visible.is_some() {
                // All levels together take no more than the one with the most joints would take for all instances.
                joints = own_joints.max(joints);
                entries = own_entries.max(entries);
            } else {
                joints += own_joints;
                entries += own_entries;
            }
        }
        let bytes = joints * model_bytes(rigid);
        Self {
            model: gpu.scratch(Purpose::Scratch, "model poses", bytes),
            palettes: Palettes::on_device(gpu, entries * size_of::<Rows>() as u64),
        }
    }
}

/// Bytes of a joint's model pose.
fn model_bytes(rigid: bool) -> u64 {
    if rigid { RIGID_BYTES } else { MODEL_BYTES }
}

/// The features that a family needs of the kernels; `None` if all of its groups are baked.
fn needs_of(crowd: &Crowd, family: &[Chunk], posed: &[PosedGroup]) -> Option<Needs> {
    let mut all: Option<Needs> = None;
    for chunk in family {
        let Some(clips) = posed[chunk.group].clips() else {
            continue;
        };
        let needs = Needs {
            inertia: fades(crowd, &crowd.groups()[chunk.group]),
            rates: crowd.has_update_rates(),
            ..clips.needs
        };
        match &mut all {
            Some(all) => all.join(needs),
            None => all = Some(needs),
        }
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
fn kept(gpu: &Gpu, crowd: &Crowd, placed: &PlacedChunks) -> [Named; 3] {
    let instances = u64::from(placed.instances);
    let slots = u64::from(placed.slots);
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
    sizes.map(|(name, bytes)| (name, gpu.scratch(Purpose::Scratch, name, bytes).into()))
}

/// Dispatches for a chunk, whose numbers are among the resources.
fn chunk_calls(
    gpu: &Gpu,
    kernels: &[Kernel],
    resources: &[Named],
    numbers: &layout::Batch,
    dispatch: impl Fn(&layout::Dispatch) -> Dispatch,
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
    placed: &[layout::PlacedBatch],
) -> Vec<Call> {
    let mut all = vec![layout::PlacedBatch::zeroed(); layout::MOST_BATCHES];
    all[..placed.len()].copy_from_slice(placed);
    let contents = bytemuck::cast_slice(&all);
    let usage = wgpu::BufferUsages::UNIFORM;
    let batches = gpu.buffer_with(Purpose::Scratch, "batches", contents, usage);
    let mut calls = Vec::with_capacity(KERNELS.len());
    for (kernel, compiled) in KERNELS.iter().zip(kernels) {
        let mut parts = Vec::new();
        for (batch, placed) in (0..).zip(placed) {
            let numbers = &placed.batch;
            let rule = kernel.dispatch(gpu, numbers);
            let count = rule.count(numbers.instances, numbers.slots);
            parts.extend((0..count).map(|workgroup| layout::BatchPart { batch, workgroup }));
        }
        let workgroups = gpu.workgroups(parts.len() as u32);
        let parts = gpu.storage(Purpose::Scratch, "parts", &parts);
        let mut resources = resources.to_vec();
        resources.extend([
            ("batches", (&batches).into()),
            ("parts", Resource::from(&parts)),
        ]);
        let dispatch = Dispatch::Fixed(workgroups);
        calls.push(Call::new(gpu, compiled, &resources, dispatch));
    }
    calls
}

/// Dispatches for the instances of a set that do not keep their pose, which come first in each chunk; `None` if all are
/// posed in each frame.
fn moving(
    gpu: &Gpu,
    crowd: &Crowd,
    table: &CrowdTable,
    set: &Planned,
    placed: &PlacedChunks,
    kernels: &[Kernel],
    resources: &[Named],
) -> Option<Vec<Call>> {
    if table.visible.is_some() || crowd.turnover().is_some() {
        return None;
    }
    let mut batches = Vec::with_capacity(placed.chunks.len());
    let mut all = 0;
    let mut count = 0;
    for posed in &placed.chunks {
        let chunk = &table.chunks[posed.index];
        let moves = chunk.overlap(&crowd.groups()[chunk.group].moving());
        all += chunk.instances.len();
        count += moves.len();
        let mut moving = posed.placed;
        moving.batch.instances = moves.len() as u32;
        moving.batch.slots = all_slots(crowd, moves);
        batches.push(moving);
    }
    if count == all {
        return None;
    }
    if count == 0 {
        return Some(Vec::new());
    }
    if set.is_shared() {
        return Some(table_calls(gpu, kernels, resources, &batches));
    }
    let batch = &batches[0].batch;
    let uniform = gpu.uniform(Purpose::Scratch, "moving batch", batch);
    // It is found before the numbers of the whole chunk.
    let resources = [&[("batch", uniform.into())], resources].concat();
    Some(chunk_calls(gpu, kernels, &resources, batch, |rule| {
        Dispatch::Fixed(rule.workgroups(gpu, batch.instances, batch.slots))
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
    use crate::forms::clips::ClipStore;
    use skinbench_characters::walker;
    use skinbench_frame::StageTimer;
    use skinbench_kernels::crowd::{Layer, REST};
    use skinbench_kernels::model::IDENTITY_ROWS;
    use skinbench_kernels::vertex::VertexFormat;
    use std::sync::Arc;

    /// The compute passes in which so many groups are posed, each with the number of its dispatches. Every second group is
    /// baked, or none.
    fn passes(models: usize, baked: bool) -> Vec<(String, usize)> {
        let gpu = Gpu::recording();
        let mut crowd = Crowd::with_format(VertexFormat::default());
        let model = Arc::new(walker(500).unwrap());
        for _ in 0..models {
            let instances = [(IDENTITY_ROWS, Layer::held(REST, 0.0)); 3];
            crowd.push_group(Arc::clone(&model), instances).unwrap();
        }
        let mut posed = Vec::new();
        for (index, group) in crowd.groups().iter().enumerate() {
            posed.push(if baked && index % 2 == 0 {
                PosedGroup::Baked { entries: 3 }
            } else {
                PosedGroup::Sampled(ClipStore::new(&group.model, true))
            });
        }
        let mut table = CrowdTable::posed_on_device(&gpu, &crowd, &posed, false).unwrap();
        let mut pose = Pose::new(&gpu, &crowd, &mut table, &posed).unwrap();
        gpu.take_commands();
        pose.record(&mut Frame {
            gpu: &gpu,
            crowd: &crowd,
            tick: 0,
            outputs: &[],
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
        let one = passes(1, false);
        let expected = [("sample", 2), ("local_to_model", 1), ("palette", 1)];
        assert_eq!(one, expected.map(|(name, count)| (name.to_owned(), count)));
        assert_eq!(passes(layout::MOST_BATCHES, false), one);
        assert_eq!(passes(5, true), one);
    }

    /// In one pass, the second kernel of `sample` would wait for the first once for each set.
    #[test]
    fn kernels_of_several_sets_have_passes_of_their_own() {
        let names: Vec<String> = passes(layout::MOST_BATCHES + 1, false)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["sample", "sample", "local_to_model", "palette"]);
    }
}
