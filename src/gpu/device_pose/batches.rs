//! Batches: a crowd's chunks as the posing kernels see them, with buffers and bindings.

use super::clips::ClipStore;
use super::kernels::{Kernels, Needs, PoseBindings, dispatches};
use crate::crowd::{Crowd, Fade, Group, UpdateRate};
use crate::frame::{Bytes, Purpose};
use crate::gpu::counts::{filled_bytes, items_bytes, room_bytes};
use crate::gpu::layout::{self, NONE};
use crate::gpu::slots::{LOCAL_BYTES, slots};
use crate::gpu::visibility::{Visibility, VisibleChunk};
use crate::gpu::{Chunk, Gpu, Palettes};
use crate::model::{NO_PARENT, Rows, Skeleton};
use std::ops::Range;

/// Bytes of a joint's model pose: a matrix, or a rotation and a translation.
const MODEL_BYTES: u64 = 48;
const RIGID_BYTES: u64 = 32;

/// Number of inertial fades of this many instances: one per pose that is computed.
fn momenta(crowd: &Crowd, instances: u64) -> u64 {
    if crowd.has_update_rates() { 2 * instances } else { instances }
}

/// Number of pose pairs of this many instances.
fn pose_pairs(crowd: &Crowd, instances: u64) -> u64 {
    if crowd.has_update_rates() { instances } else { 0 }
}

/// Bytes of the buffers of a chunk, or of the chunks of a family; `rigid` is that of the groups' [`Needs`]. With
/// `culled`, the batch and the players are those in view, which [`visibility`](crate::gpu::visibility) holds.
pub fn family_bytes(crowd: &Crowd, family: &[Chunk], rigid: bool, culled: bool) -> Bytes {
    let finest = &family[0];
    let instances = finest.instances.len();
    let count = instances as u64;
    let slots: usize = finest.instances.clone().map(|instance| slots(crowd, instance) as usize).sum();
    let layers: usize = finest.instances.clone().map(|i| crowd.layers().of(i as usize).len()).sum();
    let players = if culled { 0 } else { items_bytes::<layout::Player>(instances) };
    let batch = if culled { 0 } else { items_bytes::<layout::Batch>(1) };
    let of_level = |chunk: &Chunk| {
        let joints = crowd.groups()[chunk.group].model.skeleton().len();
        room_bytes(slots as u64 * size_of::<layout::Cursor>() as u64)
            + room_bytes(momenta(crowd, count) * size_of::<layout::Momentum>() as u64)
            + room_bytes(pose_pairs(crowd, count) * size_of::<layout::PosePair>() as u64)
            + filled_bytes(slots * joints * LOCAL_BYTES as usize)
    };
    let poses: u64 = family.iter().map(of_level).sum();
    let model = room_bytes(count * most_joints(crowd, family) * model_bytes(rigid));
    let palettes = room_bytes(count * most_entries(crowd, family) * size_of::<Rows>() as u64);
    Bytes::of(Purpose::Clips, players + items_bytes::<layout::Layer>(layers))
        + Bytes::of(Purpose::Scratch, batch + poses + model)
        + Bytes::of(Purpose::Palettes, palettes)
}

fn model_bytes(rigid: bool) -> u64 {
    if rigid { RIGID_BYTES } else { MODEL_BYTES }
}

/// Joints of the level that has the most: model poses of all levels together take no more than these per instance.
fn most_joints(crowd: &Crowd, family: &[Chunk]) -> u64 {
    let joints = family.iter().map(|chunk| crowd.groups()[chunk.group].model.skeleton().len());
    joints.max().unwrap_or(0) as u64
}

/// Palette entries of the level that has the most.
fn most_entries(crowd: &Crowd, family: &[Chunk]) -> u64 {
    let entries = family.iter().map(|chunk| crowd.groups()[chunk.group].model.palette_joints().len());
    entries.max().unwrap_or(0) as u64
}

/// Contents of the buffers that a group's batches share.
struct Contents<'a> {
    store: ClipStore,
    levels: u32,
    order: Vec<u32>,
    joints: Vec<layout::Joint>,
    masks: &'a [f32],
    matrices: Vec<Rows>,
    entry_joints: Vec<u32>,
    inverse_binds: &'a [Rows],
}

impl<'a> Contents<'a> {
    /// Converts a group's model. `plain` means that no instance of the crowd blends.
    fn new(group: &'a Group, plain: bool) -> Self {
        let (model, skeleton) = (&group.model, group.model.skeleton());
        let (levels, order) = levels(skeleton);
        Self {
            store: ClipStore::new(model, plain),
            levels,
            order,
            joints: joints(skeleton),
            masks: group.masks(),
            matrices: skeleton.matrices().iter().map(|(_, rows)| *rows).collect(),
            entry_joints: model.palette_joints().iter().map(|&j| j.into()).collect(),
            inverse_binds: model.inverse_binds(),
        }
    }

    /// Name and bytes of each buffer.
    fn buffers(&self) -> [(&'static str, &[u8]); 10] {
        [
            ("clips", bytemuck::cast_slice(&self.store.clips)),
            ("tracks", bytemuck::cast_slice(&self.store.tracks)),
            ("words", bytemuck::cast_slice(&self.store.words)),
            ("quads", bytemuck::cast_slice(&self.store.quads)),
            ("joints", bytemuck::cast_slice(&self.joints)),
            ("masks", bytemuck::cast_slice(self.masks)),
            ("levels", bytemuck::cast_slice(&self.order)),
            ("matrices", bytemuck::cast_slice(&self.matrices)),
            ("palette joints", bytemuck::cast_slice(&self.entry_joints)),
            ("inverse binds", bytemuck::cast_slice(self.inverse_binds)),
        ]
    }
}

/// Buffers on the device that a group's batches share.
pub struct Statics {
    needs: Needs,
    levels: u32,
    moving: u64,
    /// Local poses at rest, `[channel][joint]`.
    rest: Vec<[f32; 4]>,
    clips: wgpu::Buffer,
    tracks: wgpu::Buffer,
    words: wgpu::Buffer,
    quads: wgpu::Buffer,
    joints: wgpu::Buffer,
    masks: wgpu::Buffer,
    order: wgpu::Buffer,
    matrices: wgpu::Buffer,
    entry_joints: wgpu::Buffer,
    inverse_binds: wgpu::Buffer,
}

/// Sizes of a group's shared buffers.
pub struct StaticSizes {
    /// Bytes of all buffers.
    pub total: u64,
    /// Bytes of the largest buffer.
    pub largest: u64,
    /// As in [`Needs`].
    pub rigid: bool,
}

impl StaticSizes {
    /// The sizes of the buffers that [`Statics::new`] creates.
    pub fn of(group: &Group, plain: bool) -> Self {
        let contents = Contents::new(group, plain);
        let sizes = contents.buffers().map(|(_, bytes)| filled_bytes(bytes.len()));
        let needs = Needs::new(&contents.store, false, false, !contents.matrices.is_empty());
        Self { total: sizes.iter().sum(), largest: sizes.into_iter().max().unwrap_or(0), rigid: needs.rigid }
    }
}

impl Statics {
    /// Uploads the buffers that a group's batches share. `plain` means that no instance of the crowd blends.
    pub fn new(gpu: &Gpu, crowd: &Crowd, group: &Group, plain: bool) -> Self {
        let layers = |instance: u32| crowd.layers().of(instance as usize);
        let inertia = group.instances.clone().any(|i| layers(i).iter().any(|l| l.fade == Fade::Inertial));
        let contents = Contents::new(group, plain);
        let [clips, tracks, words, quads, joints, masks, order, matrices, entry_joints, inverse_binds] =
            contents.buffers().map(|(label, bytes)| gpu.storage(Purpose::Clips, label, bytes));
        let store = &contents.store;
        Self {
            needs: Needs::new(store, inertia, crowd.has_update_rates(), !contents.matrices.is_empty()),
            levels: contents.levels,
            moving: store.moving,
            rest: (0..3).flat_map(|channel| store.rest().iter().skip(channel).step_by(3)).copied().collect(),
            clips,
            tracks,
            words,
            quads,
            joints,
            masks,
            order,
            matrices,
            entry_joints,
            inverse_binds,
        }
    }

    /// The features that the group needs of the kernels.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// Gives the groups of a family one form of model poses, which share a buffer.
    pub fn unite(family: &mut [Self]) {
        let rigid = family.iter().all(|statics| statics.needs.rigid);
        family.iter_mut().for_each(|statics| statics.needs.rigid = rigid);
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
        matrix: matrices.next_if(|(_, (joint, _))| usize::from(*joint) == index).map_or(NONE, |(matrix, _)| matrix),
    };
    skeleton.rest().iter().enumerate().map(joint).collect()
}

/// The number of levels; then the offset of each level and the end of the last one; then the joints, roots first.
fn levels(skeleton: &Skeleton) -> (u32, Vec<u32>) {
    let mut depth = vec![0u32; skeleton.len()];
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        depth[joint] = if parent == NO_PARENT { 0 } else { depth[usize::from(parent)] + 1 };
    }
    let levels = depth.iter().max().map_or(0, |deepest| deepest + 1);
    let mut order: Vec<u32> = (0..skeleton.len() as u32).collect();
    order.sort_by_key(|&joint| depth[joint as usize]);
    let first = levels + 1;
    let begin = |level| first + order.partition_point(|&joint| depth[joint as usize] < level) as u32;
    let levelled = (0..=levels).map(begin).chain(order.iter().copied()).collect();
    (levels, levelled)
}

/// Players and layers of some instances in the kernels' layout. Layers and slots are relative to those of the first
/// instance.
pub fn listed(crowd: &Crowd, instances: Range<u32>) -> (Vec<layout::Player>, Vec<layout::Layer>) {
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
            inertial: own.iter().position(|l| l.fade == Fade::Inertial).map_or(NONE, |layer| layer as u32),
            every,
            offset,
        });
        layers.extend(own.iter().map(layout::Layer::from));
        first_slot += slots(crowd, instance);
    }
    (players, layers)
}

/// Parts that the batches of a family share, or that a single batch has: instances that play layers, and room for their
/// poses.
pub struct FamilyPoses {
    layers: wgpu::Buffer,
    players: wgpu::Buffer,
    /// Model poses, `[instance][joint]`, level after level.
    model: wgpu::Buffer,
    palettes: Palettes,
}

impl FamilyPoses {
    /// Uploads the layers of a chunk's instances, or of those of a family's chunks, and allocates poses. With
    /// `visibility`, only instances in view are posed.
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        family: &[Chunk],
        statics: &[Statics],
        visibility: Option<&mut Visibility>,
    ) -> Self {
        let finest = &family[0];
        let (players, layers) = listed(crowd, finest.instances.clone());
        let instances = finest.instances.len() as u64;
        let players = match visibility {
            None => gpu.storage(Purpose::Clips, "players", bytemuck::cast_slice(&players)),
            Some(visibility) => {
                let batches: Vec<_> = family.iter().map(|c| numbers(crowd, c, &statics[c.group])).collect();
                let dispatches: Vec<_> = batches.iter().flat_map(|batch| dispatches(gpu, batch)).collect();
                visibility.push(gpu, crowd, family, &batches, &players, &dispatches)
            }
        };
        let model_bytes = instances * most_joints(crowd, family) * model_bytes(statics[finest.group].needs.rigid);
        let palettes = instances * most_entries(crowd, family) * size_of::<Rows>() as u64;
        Self {
            layers: gpu.storage(Purpose::Clips, "layers", bytemuck::cast_slice(&layers)),
            players,
            model: gpu.room(Purpose::Scratch, "model poses", model_bytes),
            palettes: Palettes::on_device(gpu, palettes),
        }
    }

    /// The palettes of all levels.
    pub fn palettes(&self) -> &Palettes {
        &self.palettes
    }
}

/// A chunk on the device.
pub struct PoseBatch {
    /// The instances, including those out of view.
    pub instances: Range<u32>,
    /// Number of channels of a slot's joints that some clip moves.
    pub moving: u64,
    /// Bindings for the kernels.
    pub bindings: PoseBindings,
    /// Local poses, `[slot][channel][joint]`.
    pub locals: wgpu::Buffer,
    /// Model poses, `[instance][joint]`; of all levels if the chunk is one of a family.
    pub model: wgpu::Buffer,
}

impl PoseBatch {
    /// Allocates a chunk's local poses and binds the buffers of the kernels. With `visible`, only instances in view are
    /// posed.
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        chunk: &Chunk,
        statics: &Statics,
        kernels: &Kernels,
        (now, family): (&wgpu::Buffer, &FamilyPoses),
        visible: Option<&VisibleChunk>,
    ) -> Self {
        let numbers = numbers(crowd, chunk, statics);
        let own = visible.is_none().then(|| gpu.uniform(Purpose::Scratch, "batch", bytemuck::bytes_of(&numbers)));
        let batch = own.as_ref().map(wgpu::Buffer::as_entire_binding).or(visible.map(VisibleChunk::batch));
        let count = u64::from(numbers.instances);
        let room = |label, bytes| gpu.room(Purpose::Scratch, label, bytes);
        let cursors = room("cursors", u64::from(numbers.slots) * size_of::<layout::Cursor>() as u64);
        let momenta = room("momenta", momenta(crowd, count) * size_of::<layout::Momentum>() as u64);
        let pairs = room("pose pairs", pose_pairs(crowd, count) * size_of::<layout::PosePair>() as u64);
        // Channels that no clip moves keep the value written here. For this reason each level of a family has local
        // poses of its own, with room for all instances.
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let rest = statics.rest.repeat(numbers.slots as usize);
        let locals = gpu.filled(Purpose::Scratch, "local poses", bytemuck::cast_slice(&rest), usage);
        let buffers = [
            ("now", now),
            ("layers", &family.layers),
            ("players", &family.players),
            ("clips", &statics.clips),
            ("tracks", &statics.tracks),
            ("words", &statics.words),
            ("quads", &statics.quads),
            ("joints", &statics.joints),
            ("cursors", &cursors),
            ("momenta", &momenta),
            ("masks", &statics.masks),
            ("locals", &locals),
            ("levels", &statics.order),
            ("matrices", &statics.matrices),
            ("model", &family.model),
            ("entry_joints", &statics.entry_joints),
            ("palettes", family.palettes.buffer()),
            ("inverse_binds", &statics.inverse_binds),
            ("pose_pairs", &pairs),
        ];
        let buffers = buffers.map(|(name, buffer)| (name, buffer.as_entire_binding()));
        let resources: Vec<_> = batch.map(|batch| ("batch", batch)).into_iter().chain(buffers).collect();
        let workgroups = visible.map(VisibleChunk::workgroups);
        let bindings = kernels.bind(gpu, statics.needs, numbers, &resources, workgroups);
        let (instances, model) = (chunk.instances.clone(), family.model.clone());
        Self { instances, moving: statics.moving, bindings, locals, model }
    }
}

/// The numbers of a chunk as if all instances were in view.
fn numbers(crowd: &Crowd, chunk: &Chunk, statics: &Statics) -> layout::Batch {
    let model = &crowd.groups()[chunk.group].model;
    layout::Batch {
        instances: chunk.instances.len() as u32,
        joints: model.skeleton().len() as u32,
        entries: model.palette_joints().len() as u32,
        slots: chunk.instances.clone().map(|instance| slots(crowd, instance)).sum(),
        levels: statics.levels,
        ..Default::default()
    }
}
