//! Poses instances on the device: clips, hierarchy and layers are uploaded once, and a frame sends only its tick.

use crate::crowd::table::{CrowdTable, Dispatch, batch, depths};
use crate::device::{Buffer, Named, Resource, fits};
use crate::forms::clips::{ClipStore, Needs};
use crate::forms::palettes::Palettes;
use crate::kernel::{Kernel, once_per_key};
use crate::passes::pose_kernels::{KERNELS, PoseKernel};
use crate::passes::trial::fastest;
use crate::passes::{Call, Frame, Interface, Pass};
use crate::shader::layout::{self, NONE};
use crate::{Chunk, Gpu};
use skinbench_frame::{Purpose, Result, Stage};
use skinbench_kernels::crowd::{Crowd, Fade, Group};
use skinbench_kernels::model::{NO_PARENT, Rows, Skeleton, Transform};
use std::rc::Rc;

/// Bytes of a joint's model pose: a matrix, or a rotation and a translation.
const MODEL_BYTES: u64 = 48;
const RIGID_BYTES: u64 = 32;
/// Bytes of a channel of a joint's local pose.
const QUAD_BYTES: u64 = 16;

/// The pass.
pub struct Pose {
    /// The fastest kernel from local to model poses on this device.
    walk: PoseKernel,
    /// `true` if any instance blends.
    blends: bool,
    /// One item per chunk; `None` for those of baked groups.
    pub batches: Vec<Option<PoseBatch>>,
    /// `true` if all poses were computed at least once.
    posed: bool,
}

/// A chunk's poses and the dispatches that compute them.
pub struct PoseBatch {
    /// Its numbers, as if all instances were in view.
    pub numbers: layout::Batch,
    /// `true` if a model pose is a rotation and a translation.
    pub is_rigid: bool,
    /// Local poses, `[slot][channel][joint]`.
    pub locals: Buffer,
    /// Model poses of its family, `[instance][joint]`, level after level.
    pub model: Buffer,
    /// Palettes, likewise.
    pub palettes: Palettes,
    /// Number of channels of an instance's joints that some clip moves.
    moving_channels: u64,
    /// A dispatch of each kernel, for all instances.
    calls: Vec<Call>,
    /// As `calls`, for the instances that do not keep their pose, if some of the chunk do and none is replaced.
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

/// Kernels and buffers that the chunks of a group share.
struct PosedGroup {
    needs: Needs,
    moving_channels: u64,
    /// Local poses at rest, `[channel][joint]`.
    rest: Vec<[f32; 4]>,
    /// By the names of the kernels' variables.
    buffers: Vec<Named>,
}

impl Pose {
    /// Uploads what the groups are posed by, except those that are `baked`, and allocates poses and palettes.
    ///
    /// # Errors
    /// As [`Gpu::has`], or [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if the adapter cannot bind
    /// the clips of a model.
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        table: &mut CrowdTable,
        baked: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        let blends = blends(crowd);
        let mut groups = Vec::with_capacity(crowd.groups().len());
        for (index, group) in crowd.groups().iter().enumerate() {
            groups.push(if baked(index) {
                None
            } else {
                Some(PosedGroup::new(gpu, crowd, group, !blends)?)
            });
        }
        groups.chunks_mut(table.levels).for_each(unite);
        let needs = groups.iter().map(|group| group.as_ref().map(|g| g.needs));
        let kernels = once_per_key(needs, |needs| {
            needs.map(|needs| needs.kernels(gpu)).transpose()
        });
        let kernels = kernels.into_iter().collect::<Result<Vec<_>>>()?;
        let mut batches = Vec::with_capacity(table.chunks.len());
        for family in 0..table.families.len() {
            let room = Room::new(gpu, table.family(family), crowd, &groups);
            for index in (family * table.levels..).take(table.levels) {
                let group = table.chunks[index].group;
                batches.push(match (&groups[group], &kernels[group]) {
                    (Some(posed), Some(kernels)) => Some(PoseBatch::new(
                        gpu, crowd, table, index, &room, posed, kernels,
                    )),
                    _ => None,
                });
            }
        }
        Ok(Self {
            walk: PoseKernel::WALKS[0],
            blends,
            batches,
            posed: false,
        })
    }

    /// Finds the fastest kernel from local to model poses, whose time does not depend on the poses.
    ///
    /// # Errors
    /// [`BackendError::Device`](skinbench_frame::BackendError::Device) if the device was lost or refused a command.
    pub fn choose_walk(&mut self, gpu: &Rc<Gpu>) -> Result<()> {
        let batches = self.batches.iter().flatten();
        let Some(largest) = batches.max_by_key(|batch| batch.numbers.instances) else {
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
            let joints = u64::from(numbers.instances * numbers.joints);
            bytes.sampled += u64::from(numbers.slots) * batch.moving_channels * QUAD_BYTES;
            bytes.local += joints * channels * QUAD_BYTES;
            bytes.model += batch.model.size;
        }
        bytes
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
        // models each kernel takes a pass of its own, in which none waits.
        let several = self.batches.iter().flatten().nth(1).is_some();
        let at_once = if several { 1 } else { KERNELS.len() };
        for (stage, kernels) in stages {
            for kernels in kernels.chunks(at_once) {
                let batches = || self.batches.iter().flatten();
                let calls = kernels.iter().flat_map(|kernel| {
                    batches().filter_map(move |batch| batch.calls(all).get(*kernel as usize))
                });
                frame.compute(stage, calls);
            }
        }
    }
}

impl PosedGroup {
    /// Uploads what a group is posed by. `plain` means that no instance of the crowd blends.
    fn new(gpu: &Gpu, crowd: &Crowd, group: &Group, plain: bool) -> Result<Self> {
        let mut instances = group.instances.clone();
        let inertia = instances.any(|instance| {
            let mut layers = crowd.layers().of(instance as usize).iter();
            layers.any(|layer| layer.fade == Fade::Inertial)
        });
        let model = &group.model;
        let skeleton = model.skeleton();
        let store = ClipStore::new(model, plain);
        let matrices: Vec<Rows> = skeleton.matrices().iter().map(|(_, rows)| *rows).collect();
        let entry_joints: Vec<u32> = model.palette_joints().iter().map(|&j| j.into()).collect();
        let joints = joints(skeleton);
        let levels = levels(skeleton);
        let contents: [(&str, &[u8]); 10] = [
            ("clips", bytemuck::cast_slice(&store.clips)),
            ("tracks", bytemuck::cast_slice(&store.tracks)),
            ("words", bytemuck::cast_slice(&store.words)),
            ("quads", bytemuck::cast_slice(&store.quads)),
            ("joints", bytemuck::cast_slice(&joints)),
            ("masks", bytemuck::cast_slice(group.masks())),
            ("levels", bytemuck::cast_slice(&levels)),
            ("matrices", bytemuck::cast_slice(&matrices)),
            ("entry_joints", bytemuck::cast_slice(&entry_joints)),
            ("inverse_binds", bytemuck::cast_slice(model.inverse_binds())),
        ];
        let largest = contents.iter().map(|(_, bytes)| bytes.len()).max();
        // A limit that is only simulated stops those who plan.
        if gpu.only_counts() {
            let what = format_args!("clips of {:?} need", model.name());
            let bytes = largest.unwrap_or(0) as u64;
            fits(what, bytes, "in one binding", gpu.binding_bytes())?;
        }
        let mut rest = Vec::new();
        for channel in 0..3 {
            rest.extend(store.rest().iter().skip(channel).step_by(3));
        }
        let buffers =
            contents.map(|(name, bytes)| (name, gpu.storage(Purpose::Clips, name, bytes).into()));
        Ok(Self {
            needs: Needs {
                inertia,
                rates: crowd.has_update_rates(),
                ..store.needs
            },
            moving_channels: store.moving,
            rest,
            buffers: buffers.into(),
        })
    }
}

/// Poses and palettes of the instances of a family, which its levels share.
struct Room {
    model: Buffer,
    palettes: Palettes,
}

impl Room {
    /// All levels together take no more than the one with the most joints would take for all instances.
    fn new(gpu: &Gpu, family: &[Chunk], crowd: &Crowd, groups: &[Option<PosedGroup>]) -> Self {
        let mut bytes = 0;
        let mut entries = 0;
        for chunk in family {
            let Some(posed) = &groups[chunk.group] else {
                continue;
            };
            let model = &crowd.groups()[chunk.group].model;
            let each = if posed.needs.rigid {
                RIGID_BYTES
            } else {
                MODEL_BYTES
            };
            bytes = bytes.max(model.skeleton().len() as u64 * each);
            entries = entries.max(model.palette_joints().len());
        }
        let instances = family[0].instances.len() as u64;
        let palettes = instances * (entries * size_of::<Rows>()) as u64;
        Self {
            model: gpu.scratch(Purpose::Scratch, "model poses", instances * bytes),
            palettes: Palettes::on_device(gpu, palettes),
        }
    }
}

impl PoseBatch {
    /// Allocates a chunk's local poses and binds the buffers of the kernels. Adds the palettes to the table.
    fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        table: &mut CrowdTable,
        index: usize,
        room: &Room,
        group: &PosedGroup,
        kernels: &[Kernel],
    ) -> Self {
        let numbers = table.batches[index];
        // Channels that no clip moves keep the value written here. For this reason each level of a family has local
        // poses of its own, with room for all instances.
        let slots = numbers.slots as usize;
        let locals = gpu.buffer_of(
            Purpose::Scratch,
            "local poses",
            group.rest.len() * slots,
            wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            || group.rest.repeat(slots),
        );
        let count = u64::from(numbers.instances);
        // An instance has an inertial fade for each pose that is computed.
        let mut fades = count;
        let mut pairs = 0;
        if crowd.has_update_rates() {
            fades = 2 * count;
            pairs = count;
        }
        let scratch =
            |label, bytes| -> Resource { gpu.scratch(Purpose::Scratch, label, bytes).into() };
        let cursors = u64::from(numbers.slots) * layout::CURSOR_BYTES;
        table.bindings[index].extend(room.palettes.inputs());
        let mut resources = table.bindings[index].clone();
        resources.extend_from_slice(&group.buffers);
        resources.extend([
            ("cursors", scratch("cursors", cursors)),
            (
                "momenta",
                scratch("momenta", fades * layout::MOMENTUM_BYTES),
            ),
            ("locals", (&locals).into()),
            ("model", (&room.model).into()),
            (
                "pose_pairs",
                scratch("pose pairs", pairs * layout::POSE_PAIR_BYTES),
            ),
        ]);
        let mut calls = Vec::with_capacity(KERNELS.len());
        for (kernel, compiled) in KERNELS.iter().zip(kernels) {
            let dispatch = table.dispatch(gpu, index, &kernel.dispatch(gpu, &numbers));
            calls.push(Call::new(gpu, compiled, &resources, dispatch));
        }
        let chunk = &table.chunks[index];
        let moves = chunk.overlap(&crowd.groups()[chunk.group].moving());
        let keeps = moves.end < chunk.instances.end && crowd.turnover().is_none();
        let moving = (keeps && table.visible.is_none()).then(|| {
            if moves.is_empty() {
                return Vec::new();
            }
            let moving = Chunk {
                instances: moves,
                ..*chunk
            };
            moving_calls(gpu, &batch(crowd, &moving, None), &resources, kernels)
        });
        Self {
            numbers,
            is_rigid: group.needs.rigid,
            locals,
            model: room.model.clone(),
            palettes: room.palettes.clone(),
            moving_channels: group.moving_channels,
            calls,
            moving,
        }
    }

    /// The dispatches for all instances, or for those that move.
    fn calls(&self, all: bool) -> &[Call] {
        match &self.moving {
            Some(moving) if !all => moving,
            _ => &self.calls,
        }
    }
}

/// Dispatches for the first instances of a chunk, whose numbers are in a uniform of their own.
fn moving_calls(
    gpu: &Gpu,
    numbers: &layout::Batch,
    resources: &[Named],
    kernels: &[Kernel],
) -> Vec<Call> {
    let uniform = gpu.uniform(Purpose::Scratch, "moving batch", numbers);
    // It is found before the numbers of the whole chunk.
    let resources = [&[("batch", uniform.into())], resources].concat();
    let mut calls = Vec::with_capacity(KERNELS.len());
    for (kernel, compiled) in KERNELS.iter().zip(kernels) {
        let rule = kernel.dispatch(gpu, numbers);
        let workgroups = rule.workgroups(gpu, numbers.instances, numbers.slots);
        calls.push(Call::new(
            gpu,
            compiled,
            &resources,
            Dispatch::Fixed(workgroups),
        ));
    }
    calls
}

/// Groups that share buffers of model poses need these in one form: that of the group which needs the most.
fn unite(levels: &mut [Option<PosedGroup>]) {
    let is_rigid = levels.iter().flatten().all(|group| group.needs.rigid);
    for group in levels.iter_mut().flatten() {
        group.needs.rigid = is_rigid;
    }
}

/// Returns whether any instance of a crowd plays more than one whole clip, or interpolates between two cached poses.
fn blends(crowd: &Crowd) -> bool {
    let plain =
        |instance: usize| matches!(crowd.layers().of(instance), [layer] if layer.is_plain());
    crowd.has_update_rates() || !(0..crowd.instance_count()).all(plain)
}

/// The skeleton in the kernels' layout.
fn joints(skeleton: &Skeleton) -> Vec<layout::Joint> {
    let mut matrices = (0..).zip(skeleton.matrices()).peekable();
    let joint = |(index, rest): (usize, &Transform)| layout::Joint {
        rotation: rest.rotation.to_array(),
        translation: rest.translation.to_array(),
        parent: match skeleton.parents()[index] {
            NO_PARENT => NONE,
            parent => parent.into(),
        },
        scale: rest.scale.to_array(),
        matrix: matrices
            .next_if(|(_, (joint, _))| usize::from(*joint) == index)
            .map_or(NONE, |(matrix, _)| matrix),
    };
    skeleton.rest().iter().enumerate().map(joint).collect()
}

/// The offset of each level of the hierarchy and the end of the last one; then the joints, roots first.
fn levels(skeleton: &Skeleton) -> Vec<u32> {
    let depths = depths(skeleton);
    let levels = depths.iter().max().map_or(0, |deepest| deepest + 1);
    let mut order: Vec<u32> = (0..skeleton.len() as u32).collect();
    order.sort_by_key(|&joint| depths[joint as usize]);
    let mut levelled = Vec::with_capacity(order.len() + levels as usize + 1);
    for level in 0..=levels {
        let before = order.partition_point(|&joint| depths[joint as usize] < level);
        levelled.push(levels + 1 + before as u32);
    }
    levelled.extend(order);
    levelled
}

#[cfg(test)]
mod tests {
    use super::*;
    use skinbench_formats::walker::walker;
    use skinbench_frame::StageTimer;
    use skinbench_kernels::crowd::{Layer, REST};
    use skinbench_kernels::model::IDENTITY_ROWS;
    use skinbench_kernels::vertex::VertexFormat;
    use std::sync::Arc;

    /// Names of the compute passes in which so many models are posed.
    fn passes(models: u32) -> Vec<String> {
        let gpu = Gpu::recording();
        let mut crowd = Crowd::with_format(VertexFormat::default());
        for index in 0..models {
            let model = Arc::new(walker(500 + 100 * index).unwrap());
            let instances = [(IDENTITY_ROWS, Layer::held(REST, 0.0)); 3];
            crowd.push_group(model, instances).unwrap();
        }
        let entries = vec![None; models as usize];
        let mut table = CrowdTable::posed_on_device(&gpu, &crowd, &entries, false).unwrap();
        let mut pose = Pose::new(&gpu, &crowd, &mut table, |_| false).unwrap();
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
        let mut names = Vec::new();
        for command in gpu.take_commands() {
            if command.value["do"] == "compute" {
                names.push(command.value["label"].as_str().unwrap().to_owned());
            }
        }
        names
    }

    /// In one pass, the second kernel of `sample` would wait for the first once for each model.
    #[test]
    fn kernels_of_several_models_have_passes_of_their_own() {
        assert_eq!(passes(1), ["sample", "local_to_model", "palette"]);
        assert_eq!(passes(2), ["sample", "sample", "local_to_model", "palette"]);
    }
}
