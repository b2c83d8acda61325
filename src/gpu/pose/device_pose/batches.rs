//! Batches: a crowd's chunks as the posing kernels see them, with buffers and bindings.

use super::clips::{ClipStore, Needs};
use super::kernels::{PoseKernel, dispatches};
use crate::crowd::{Crowd, Fade, Group, UpdateRate};
use crate::frame::{Purpose, Result};
use crate::gpu::device::{BindGroup, Buffer, Command, Named, Recorder, Resource, fits};
use crate::gpu::pose::{BakedGroup, Visibility, VisibleChunk};
use crate::gpu::shader::Kernel;
use crate::gpu::shader::layout::{self, NONE};
use crate::gpu::skin::chunks::slots;
use crate::gpu::{Chunk, Gpu, Palettes};
use crate::model::{NO_PARENT, Rows, Skeleton};
use std::ops::Range;
use std::rc::Rc;

/// Bytes of a joint's model pose: a matrix, or a rotation and a translation.
const MODEL_BYTES: u64 = 48;
const RIGID_BYTES: u64 = 32;

/// Kernels and buffers on the device that a group's batches share.
#[derive(Default)]
pub struct Statics {
    /// Features that the group needs of the kernels; `None` if it is baked, and therefore not posed.
    pub needs: Option<Needs>,
    /// Number of channels of an instance's joints that some clip moves.
    pub moving: u64,
    levels: u32,
    /// Palette entries of an instance; those, or vertices, of a frame if it is baked.
    entries: u32,
    /// Local poses at rest, `[channel][joint]`.
    rest: Vec<[f32; 4]>,
    /// By the names of the kernels' variables.
    buffers: Vec<Named>,
    /// The kernels that pose the group, or the one that finds the baked frames that it shows.
    pub kernels: Rc<[Kernel]>,
    baked: Option<BakedGroup>,
}

impl Statics {
    /// Uploads the buffers that a group's batches share, unless it is baked. `plain` means that no instance of the crowd
    /// blends.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`](crate::frame::BackendError::TooLarge) if the adapter cannot bind one of them.
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        group: &Group,
        plain: bool,
        baked: Option<BakedGroup>,
    ) -> Result<Self> {
        if let Some(BakedGroup {
            kernel,
            clips,
            entries,
            ..
        }) = &baked
        {
            let (kernels, buffers, entries) = (Rc::clone(kernel), vec![clips.clone()], *entries);
            return Ok(Self {
                kernels,
                buffers,
                entries,
                baked,
                ..Self::default()
            });
        }
        let layers = |instance: u32| crowd.layers().of(instance as usize);
        let inertia = group
            .instances
            .clone()
            .any(|i| layers(i).iter().any(|l| l.fade == Fade::Inertial));
        let (model, skeleton) = (&group.model, group.model.skeleton());
        let (levels, order) = levels(skeleton);
        let store = ClipStore::new(model, plain);
        let matrices: Vec<Rows> = skeleton.matrices().iter().map(|(_, rows)| *rows).collect();
        let entry_joints: Vec<u32> = model.palette_joints().iter().map(|&j| j.into()).collect();
        let joints = joints(skeleton);
        let contents: [(&str, &[u8]); 10] = [
            ("clips", bytemuck::cast_slice(&store.clips)),
            ("tracks", bytemuck::cast_slice(&store.tracks)),
            ("words", bytemuck::cast_slice(&store.words)),
            ("quads", bytemuck::cast_slice(&store.quads)),
            ("joints", bytemuck::cast_slice(&joints)),
            ("masks", bytemuck::cast_slice(group.masks())),
            ("levels", bytemuck::cast_slice(&order)),
            ("matrices", bytemuck::cast_slice(&matrices)),
            ("entry_joints", bytemuck::cast_slice(&entry_joints)),
            ("inverse_binds", bytemuck::cast_slice(model.inverse_binds())),
        ];
        // A limit that is only simulated stops those who plan.
        if gpu.only_counts() {
            let largest = contents
                .iter()
                .map(|(_, bytes)| bytes.len() as u64)
                .max()
                .unwrap_or(0);
            let what = format_args!("clips of {:?} need", model.name());
            fits(what, largest, "in one binding", gpu.binding_bytes())?;
        }
        Ok(Self {
            needs: Some(Needs {
                inertia,
                rates: crowd.has_update_rates(),
                ..store.needs
            }),
            levels,
            entries: entry_joints.len() as u32,
            moving: store.moving,
            rest: (0..3)
                .flat_map(|channel| store.rest().iter().skip(channel).step_by(3))
                .copied()
                .collect(),
            buffers: contents
                .map(|(name, bytes)| (name, gpu.storage(Purpose::Clips, name, bytes).into()))
                .into(),
            kernels: Rc::default(),
            baked: None,
        })
    }

    /// Gives the groups of a family one form of model poses, which share a buffer.
    pub fn unite(family: &mut [Self]) {
        let rigid = family
            .iter()
            .flat_map(|statics| &statics.needs)
            .all(|needs| needs.rigid);
        family
            .iter_mut()
            .flat_map(|statics| &mut statics.needs)
            .for_each(|needs| needs.rigid = rigid);
    }
}

fn joints(skeleton: &Skeleton) -> Vec<layout::Joint> {
    let mut matrices = (0..).zip(skeleton.matrices()).peekable();
    let joint = |(index, rest): (usize, &crate::model::Transform)| layout::Joint {
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

/// The number of levels; then the offset of each level and the end of the last one; then the joints, roots first.
fn levels(skeleton: &Skeleton) -> (u32, Vec<u32>) {
    let mut depth = vec![0u32; skeleton.len()];
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        depth[joint] = if parent == NO_PARENT {
            0
        } else {
            depth[usize::from(parent)] + 1
        };
    }
    let levels = depth.iter().max().map_or(0, |deepest| deepest + 1);
    let mut order: Vec<u32> = (0..skeleton.len() as u32).collect();
    order.sort_by_key(|&joint| depth[joint as usize]);
    let first = levels + 1;
    let begin =
        |level| first + order.partition_point(|&joint| depth[joint as usize] < level) as u32;
    let levelled = (0..=levels)
        .map(begin)
        .chain(order.iter().copied())
        .collect();
    (levels, levelled)
}

/// Parts that the batches of a family share, or that a single batch has: instances that play layers, and room for their
/// poses.
pub struct FamilyPoses {
    /// Layers of the instances.
    pub layers: Buffer,
    players: Buffer,
    /// Model poses, `[instance][joint]`, level after level.
    pub model: Buffer,
    /// Palettes, likewise.
    palettes: Palettes,
}

impl FamilyPoses {
    /// Uploads the layers of a chunk's instances, or of those of a family's chunks, and allocates poses. With
    /// `visibility`, only instances in view are posed.
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        family: &[Chunk],
        statics: &[Rc<Statics>],
        visibility: Option<&mut Visibility>,
    ) -> Self {
        let finest = &family[0];
        let (players, layers) = listed(crowd, finest.instances.clone());
        let instances = finest.instances.len() as u64;
        let players = match visibility {
            None => gpu.storage(Purpose::Clips, "players", &players),
            Some(visibility) => {
                let batches: Vec<_> = family
                    .iter()
                    .map(|c| numbers(crowd, c, &statics[c.group]))
                    .collect();
                let dispatches: Vec<_> = batches
                    .iter()
                    .flat_map(|batch| dispatches(gpu, batch))
                    .collect();
                visibility.push(gpu, crowd, family, &batches, &players, &dispatches)
            }
        };
        let posed = family
            .iter()
            .filter_map(|chunk| Some((chunk.group, statics[chunk.group].needs?)));
        // All levels together take no more than the one with the most joints would take for all instances.
        let of_model = |(group, needs): (usize, Needs)| {
            let each = if needs.rigid {
                RIGID_BYTES
            } else {
                MODEL_BYTES
            };
            crowd.groups()[group].model.skeleton().len() as u64 * each
        };
        let bytes = posed.clone().map(of_model).max().unwrap_or(0);
        let entries = posed
            .map(|(group, _)| statics[group].entries)
            .max()
            .unwrap_or(0);
        Self {
            layers: gpu.storage(Purpose::Clips, "layers", &layers),
            players,
            model: gpu.scratch(Purpose::Scratch, "model poses", instances * bytes),
            palettes: Palettes::on_device(
                gpu,
                instances * u64::from(entries) * size_of::<Rows>() as u64,
            ),
        }
    }
}

/// Players and layers of some instances in the kernels' layout. Layers and slots are relative to those of the first
/// instance.
fn listed(crowd: &Crowd, instances: Range<u32>) -> (Vec<layout::Player>, Vec<layout::Layer>) {
    let mut players = Vec::with_capacity(instances.len());
    let mut layers: Vec<layout::Layer> = Vec::new();
    let mut first_slot = 0;
    for instance in instances {
        let own = crowd.layers().of(instance as usize);
        let UpdateRate { every, offset } = crowd.update_rate(instance);
        players.push(layout::Player {
            first_layer: layers.len() as u32,
            layers: own.len() as u32,
            first_slot,
            inertial: own
                .iter()
                .position(|l| l.fade == Fade::Inertial)
                .map_or(NONE, |layer| layer as u32),
            every,
            offset,
        });
        layers.extend(own.iter().map(layout::Layer::from));
        first_slot += slots(crowd, instance);
    }
    (players, layers)
}

/// A chunk on the device.
pub struct PoseBatch {
    /// The chunk, with the instances out of view.
    pub chunk: Chunk,
    /// Data shared with the other batches of its group.
    pub statics: Rc<Statics>,
    /// Data shared with the other batches of its family.
    pub family: Rc<FamilyPoses>,
    /// Its numbers.
    pub numbers: layout::Batch,
    /// Bindings of each kernel.
    groups: Vec<BindGroup>,
    /// Numbers and bindings for the instances that do not keep their pose, if some of the chunk do and none is
    /// replaced.
    moving: Option<(layout::Batch, Vec<BindGroup>)>,
    /// Workgroups of each kernel, if the device computes them, and the index there of the first kernel's.
    workgroups: Option<(Buffer, usize)>,
    /// Local poses, `[slot][channel][joint]`, unless the group is baked.
    pub locals: Option<Buffer>,
    /// Palettes, of all levels if the chunk is one of a family, or baked frames.
    pub palettes: Palettes,
}

impl PoseBatch {
    /// Allocates a chunk's local poses, or the list of baked frames that it shows, and binds the buffers of the kernels.
    /// With `visible`, only instances in view are posed.
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        chunk: &Chunk,
        (statics, family): (Rc<Statics>, Rc<FamilyPoses>),
        now: &Buffer,
        visible: Option<&VisibleChunk>,
    ) -> Self {
        let numbers = numbers(crowd, chunk, &statics);
        let uniform = match visible {
            Some(visible) => visible.batch(),
            None => gpu.uniform(Purpose::Scratch, "batch", &numbers).into(),
        };
        let of_family = [
            ("now", now),
            ("layers", &family.layers),
            ("players", &family.players),
        ];
        let mut inputs = of_family
            .map(|(name, buffer)| (name, buffer.into()))
            .to_vec();
        inputs.extend_from_slice(&statics.buffers);
        let count = u64::from(numbers.instances);
        let (palettes, locals) = match &statics.baked {
            Some(baked) => (baked.palettes(gpu, numbers.instances), None),
            None => {
                // Channels that no clip moves keep the value written here. For this reason each level of a family has
                // local poses of its own, with room for all instances.
                let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
                let (rest, slots) = (&statics.rest, numbers.slots as usize);
                let poses = || rest.repeat(slots);
                let locals = gpu.buffer_of(
                    Purpose::Scratch,
                    "local poses",
                    rest.len() * slots,
                    usage,
                    poses,
                );
                // An instance has an inertial fade for each pose that is computed.
                let (fades, pairs) = if crowd.has_update_rates() {
                    (2 * count, count)
                } else {
                    (count, 0)
                };
                let room = |label, bytes| gpu.scratch(Purpose::Scratch, label, bytes);
                let own = [
                    (
                        "cursors",
                        &room("cursors", u64::from(numbers.slots) * layout::CURSOR_BYTES),
                    ),
                    ("momenta", &room("momenta", fades * layout::MOMENTUM_BYTES)),
                    ("locals", &locals),
                    ("model", &family.model),
                    (
                        "pose_pairs",
                        &room("pose pairs", pairs * layout::POSE_PAIR_BYTES),
                    ),
                ];
                inputs.extend(own.map(|(name, buffer)| (name, Resource::from(buffer))));
                (family.palettes.clone(), Some(locals))
            }
        };
        inputs.extend(palettes.inputs());
        let bound = |batch: Resource| -> Vec<BindGroup> {
            let resources = [&inputs[..], &[("batch", batch)]].concat();
            statics
                .kernels
                .iter()
                .map(|kernel| kernel.bind(gpu, 0, &resources))
                .collect()
        };
        let groups = bound(uniform);
        let moves = chunk.part(&crowd.groups()[chunk.group].moving());
        let keeps = moves.end < chunk.instances.end && crowd.turnover().is_none();
        let moving = (keeps && visible.is_none() && statics.baked.is_none()).then(|| {
            let moving = Chunk {
                instances: moves.start..moves.end.max(moves.start),
                ..*chunk
            };
            let numbers = self::numbers(crowd, &moving, &statics);
            let batch = gpu.uniform(Purpose::Scratch, "moving batch", &numbers);
            (numbers, bound(batch.into()))
        });
        let (chunk, workgroups) = (chunk.clone(), visible.map(VisibleChunk::workgroups));
        Self {
            chunk,
            statics,
            family,
            numbers,
            groups,
            moving,
            workgroups,
            locals,
            palettes,
        }
    }

    /// Returns whether a model pose is a rotation and a translation.
    pub fn is_rigid(&self) -> bool {
        self.statics.needs.is_some_and(|needs| needs.rigid)
    }

    /// Dispatches a kernel for all instances if `anew` is set, otherwise for those that move. A chunk may lack the
    /// kernel: a baked one has another in the place of the first, with as many threads.
    pub fn dispatch(&self, gpu: &Gpu, pass: &mut dyn Recorder, kernel: PoseKernel, anew: bool) {
        let all = (&self.numbers, &self.groups);
        let (numbers, groups) = self
            .moving
            .as_ref()
            .filter(|_| !anew)
            .map_or(all, |(numbers, own)| (numbers, own));
        let index = kernel as usize;
        let Some(group) = groups.get(index).filter(|_| numbers.instances > 0) else {
            return;
        };
        pass.run(Command::Kernel {
            pipeline: &self.statics.kernels[index].pipeline,
        });
        pass.run(Command::Bind {
            index: 0,
            group,
            offsets: &[],
        });
        let rule = kernel.dispatch(gpu, numbers);
        let counted = self
            .workgroups
            .as_ref()
            .map(|(counts, first)| (counts, first + index));
        gpu.dispatch_by(pass, &rule, counted, [numbers.instances, numbers.slots]);
    }
}

/// The numbers of a chunk as if all instances were in view.
fn numbers(crowd: &Crowd, chunk: &Chunk, statics: &Statics) -> layout::Batch {
    let (instances, entries) = (chunk.instances.len() as u32, statics.entries);
    if statics.needs.is_none() {
        return layout::Batch {
            instances,
            entries,
            ..Default::default()
        };
    }
    layout::Batch {
        instances,
        joints: crowd.groups()[chunk.group].model.skeleton().len() as u32,
        entries,
        slots: chunk
            .instances
            .clone()
            .map(|instance| slots(crowd, instance))
            .sum(),
        levels: statics.levels,
        ..Default::default()
    }
}
