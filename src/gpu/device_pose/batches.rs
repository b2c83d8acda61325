//! Batches: a crowd's chunks as the posing kernels see them, with buffers and bindings.

use super::clips::ClipStore;
use super::kernels::{Kernels, Needs, PoseBindings, dispatches};
use crate::crowd::{Crowd, Fade, Group, UpdateRate};
use crate::frame::{Bytes, Purpose};
use crate::gpu::counts::{filled_bytes, items_bytes, room_bytes};
use crate::gpu::layout::{self, NONE};
use crate::gpu::slots::{LOCAL_BYTES, slots};
use crate::gpu::visibility::Visibility;
use crate::gpu::{Chunk, Gpu};
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

/// Bytes of a chunk's buffers, without palettes; `rigid` is that of the group's [`Needs`]. With `culled`, the batch and
/// the players are those in view, which [`visibility`](crate::gpu::visibility) holds.
pub fn chunk_bytes(crowd: &Crowd, chunk: &Chunk, rigid: bool, culled: bool) -> Bytes {
    let joints = crowd.groups()[chunk.group].model.skeleton().len();
    let instances = chunk.instances.len();
    let count = instances as u64;
    let slots: usize = chunk.instances.clone().map(|instance| slots(crowd, instance) as usize).sum();
    let layers: usize = chunk.instances.clone().map(|i| crowd.layers().of(i as usize).len()).sum();
    let model_bytes = if rigid { RIGID_BYTES } else { MODEL_BYTES };
    let players = if culled { 0 } else { items_bytes::<layout::Player>(instances) };
    let batch = if culled { 0 } else { items_bytes::<layout::Batch>(1) };
    let poses = room_bytes(slots as u64 * size_of::<layout::Cursor>() as u64)
        + room_bytes(momenta(crowd, count) * size_of::<layout::Momentum>() as u64)
        + room_bytes(pose_pairs(crowd, count) * size_of::<layout::PosePair>() as u64)
        + filled_bytes(slots * joints * LOCAL_BYTES as usize)
        + room_bytes(count * joints as u64 * model_bytes);
    Bytes::of(Purpose::Clips, players + items_bytes::<layout::Layer>(layers))
        + Bytes::of(Purpose::Scratch, batch + poses)
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
    /// Model poses, `[instance][joint]`.
    pub model: wgpu::Buffer,
}

impl PoseBatch {
    /// Uploads a chunk's layers and allocates its poses. With `visibility`, only instances in view are posed.
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        chunk: &Chunk,
        statics: &Statics,
        kernels: &Kernels,
        (now, palettes): (&wgpu::Buffer, &wgpu::Buffer),
        visibility: Option<&mut Visibility>,
    ) -> Self {
        let model = &crowd.groups()[chunk.group].model;
        let (joints, entries) = (model.skeleton().len() as u32, model.palette_joints().len() as u32);
        let instances = chunk.instances.len() as u32;
        let (players, layers) = listed(crowd, chunk.instances.clone());
        let slots = chunk.instances.clone().map(|instance| slots(crowd, instance)).sum();
        let numbers = layout::Batch { instances, joints, entries, slots, levels: statics.levels, ..Default::default() };
        let (uniform, players, workgroups) = match visibility {
            None => (
                gpu.uniform(Purpose::Scratch, "batch", bytemuck::bytes_of(&numbers)),
                gpu.storage(Purpose::Clips, "players", bytemuck::cast_slice(&players)),
                None,
            ),
            Some(visibility) => {
                let visible = visibility.push(gpu, crowd, chunk, &numbers, &players, &dispatches(gpu, &numbers));
                (visible.batch.clone(), visible.players.clone(), Some(visible.workgroups.clone()))
            }
        };
        let room = |label, count: u32, bytes: u64| {
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
            gpu.buffer(Purpose::Scratch, label, u64::from(count) * bytes, usage)
        };
        let layers = gpu.storage(Purpose::Clips, "layers", bytemuck::cast_slice(&layers));
        let cursors = room("cursors", slots, size_of::<layout::Cursor>() as u64);
        let count = u64::from(instances);
        let momenta = room("momenta", momenta(crowd, count) as u32, size_of::<layout::Momentum>() as u64);
        let pairs = room("pose pairs", pose_pairs(crowd, count) as u32, size_of::<layout::PosePair>() as u64);
        // Channels that no clip moves keep the value written here.
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let rest = statics.rest.repeat(slots as usize);
        let locals = gpu.filled(Purpose::Scratch, "local poses", bytemuck::cast_slice(&rest), usage);
        let model_bytes = if statics.needs.rigid { RIGID_BYTES } else { MODEL_BYTES };
        let model_poses = room("model poses", instances * joints, model_bytes);
        let buffers = [
            ("batch", &uniform),
            ("now", now),
            ("layers", &layers),
            ("players", &players),
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
            ("model", &model_poses),
            ("entry_joints", &statics.entry_joints),
            ("palettes", palettes),
            ("inverse_binds", &statics.inverse_binds),
            ("pose_pairs", &pairs),
        ];
        let bindings = kernels.bind(gpu, statics.needs, numbers, &buffers, workgroups);
        Self { instances: chunk.instances.clone(), moving: statics.moving, bindings, locals, model: model_poses }
    }
}
