//! Division of a crowd into chunks, each of which fits one binding, and of these into batches, each of which takes one
//! dispatch.

use crate::device::fits;
use crate::forms::clips::ClipStore;
use crate::shader::layout::{self, INLINE};
use skinbench_frame::Result;
use skinbench_kernels::crowd::{Crowd, Fade, Group, UpdateRate};
use std::ops::Range;

/// Neighbouring instances of one group whose vertices, poses and palettes each fit one binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Index of the crowd's group.
    pub group: usize,
    /// The instances.
    pub instances: Range<u32>,
}

impl Chunk {
    /// Bytes of the chunk's skinned vertices.
    pub fn output_bytes(&self, crowd: &Crowd) -> u64 {
        self.instances.len() as u64 * vertex_bytes(&crowd.groups()[self.group])
    }

    /// The chunk's instances that are among `instances`; an empty range if there are none.
    pub fn overlap(&self, instances: &Range<u32>) -> Range<u32> {
        self.instances.start.max(instances.start)..self.instances.end.min(instances.end)
    }
}

fn vertex_bytes(group: &Group) -> u64 {
    (group.instance_words() * size_of::<f32>()) as u64
}

/// Bytes of an instance's palette in the largest form in a storage buffer: 4x4 matrices.
fn palette_bytes(group: &Group) -> u64 {
    (group.model.palette_joints().len() * size_of::<[f32; 16]>()) as u64
}

/// Bytes of a joint's local pose on the device: rotation, translation and scale with four numbers each.
pub const LOCAL_BYTES: u64 = 48;

/// Bytes of a change of a layer, with its place and its share of the number of changes.
const CHANGE_BYTES: u64 = (size_of::<layout::Layer>() + 2 * size_of::<u32>()) as u64;

/// Number of slots (sampled poses) of an instance: one per layer, and two more for each layer up to the one that fades
/// inertially. An instance that is not posed at every tick has twice these and one more, which comes first and holds
/// the pose that it shows.
pub fn slots(crowd: &Crowd, instance: u32) -> u32 {
    let layers = crowd.layers().of(instance as usize);
    let inertial = layers.iter().position(|l| l.fade == Fade::Inertial);
    let once = (layers.len() + inertial.map_or(0, |layer| 2 * (layer + 1))) as u32;
    if crowd.update_rate(instance) == UpdateRate::PLAIN {
        once
    } else {
        1 + 2 * once
    }
}

/// Bytes of the local poses of the instance of a group with the most slots, or of changes of its layers if these take more.
fn pose_bytes(crowd: &Crowd, group: &Group) -> u64 {
    let mut most = 0;
    for instance in group.instances.clone() {
        most = most.max(slots(crowd, instance));
    }
    let joints = group.model.skeleton().len() as u64;
    u64::from(most) * CHANGE_BYTES.max(joints * LOCAL_BYTES)
}

/// Bytes of an instance's morph weights in the largest form: a list of all targets.
fn weight_bytes(group: &Group) -> u64 {
    ((group.model.mesh().targets().len() + 2) * size_of::<[f32; 2]>()) as u64
}

/// Bytes of a model's vertices, or of their influences after the fourth, in the largest form.
fn mesh_bytes(group: &Group) -> u64 {
    let mesh = group.model.mesh();
    let more =
        (mesh.max_influences() as usize).saturating_sub(INLINE) * size_of::<layout::Influence>();
    (mesh.vertex_count() * size_of::<layout::Vertex>().max(more)) as u64
}

/// Divides a crowd into chunks of at most `limit` bytes per binding and `instances` instances.
///
/// # Errors
/// [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if a single instance is larger than a binding.
pub fn chunks(crowd: &Crowd, limit: u64, instances: u64) -> Result<Vec<Chunk>> {
    let mut chunks = Vec::new();
    for (index, group) in crowd.groups().iter().enumerate() {
        let largest = vertex_bytes(group)
            .max(palette_bytes(group))
            .max(pose_bytes(crowd, group))
            .max(weight_bytes(group));
        one_fits(group, largest, limit)?;
        let at_once = (limit / largest).min(instances).min(u64::from(u32::MAX)) as u32;
        for start in group.instances.clone().step_by(at_once as usize) {
            chunks.push(Chunk {
                group: index,
                instances: start..group.instances.end.min(start.saturating_add(at_once)),
            });
        }
    }
    Ok(chunks)
}

/// What the chunks of a batch share.
pub(crate) enum Sharing<'a> {
    /// Nothing: each chunk is a batch by itself.
    Nothing,
    /// Skinned vertices, palettes and meshes. A vertex has its place by counting those before it, so all of them must take
    /// equally many bytes.
    Vertices,
    /// Poses, palettes, layers and clips, which are those of each group, or none if all are baked.
    Poses(&'a [ClipStore]),
}

impl Sharing<'_> {
    /// Returns whether neighbouring chunks share anything.
    fn joins(&self, one: &Group, other: &Group) -> bool {
        match self {
            Self::Nothing => false,
            Self::Vertices => one.format == other.format,
            Self::Poses(_) => true,
        }
    }

    /// Bytes that a chunk takes of each shared binding.
    fn bytes(&self, crowd: &Crowd, chunk: &Chunk) -> [u64; 3] {
        let group = &crowd.groups()[chunk.group];
        let count = chunk.instances.len() as u64;
        let palettes = count * palette_bytes(group);
        match self {
            Self::Nothing => [0; 3],
            Self::Vertices => [palettes, count * vertex_bytes(group), mesh_bytes(group)],
            Self::Poses(clips) => {
                let clips = clips.get(chunk.group);
                let clip_bytes = clips.map_or(0, |clips| clips.lists.largest());
                [palettes, count * pose_bytes(crowd, group), clip_bytes]
            }
        }
    }
}

/// Divides chunks into batches: neighbours that take at most `limit` bytes of each binding that they share, unless a
/// single one takes more.
pub(crate) fn batches(
    crowd: &Crowd,
    chunks: &[Chunk],
    sharing: &Sharing,
    limit: u64,
) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut taken = [0; 3];
    let group = |index: usize| &crowd.groups()[chunks[index].group];
    for (index, chunk) in chunks.iter().enumerate() {
        let own = sharing.bytes(crowd, chunk);
        let all: [u64; 3] = std::array::from_fn(|binding| taken[binding] + own[binding]);
        match batches.last_mut() {
            Some(last)
                if last.len() < layout::MOST_CHUNKS
                    && all.iter().all(|bytes| *bytes <= limit)
                    && sharing.joins(group(last.start), group(index)) =>
            {
                last.end += 1;
                taken = all;
            }
            _ => {
                batches.push(index..index + 1);
                taken = own;
            }
        }
    }
    batches
}

fn one_fits(group: &Group, bytes: u64, limit: u64) -> Result<()> {
    fits(
        format_args!("one instance of {:?} needs", group.model.name()),
        bytes,
        "in one binding",
        limit,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use skinbench_characters::walker;
    use skinbench_kernels::crowd::{Layer, REST};
    use skinbench_kernels::model::{
        IDENTITY_ROWS, Influences, Model, ModelParts, PrimitiveData, SkeletonBuilder, SkinData,
    };
    use std::sync::Arc;

    #[test]
    fn batches_that_share_vertices_hold_the_crowd_in_order_within_the_limit() {
        let mut crowd = Crowd::new();
        for (model, count) in [
            (walker(500).unwrap(), 30),
            (walker(700).unwrap(), 70),
            (walker(1_000).unwrap(), 1),
        ] {
            let instances = (0..count).map(|_| (IDENTITY_ROWS, Layer::held(0, 0.0)));
            crowd.push_group(Arc::new(model), instances).unwrap();
        }
        let divided = |limit: u64| {
            let chunks = chunks(&crowd, limit, 1 << 20).unwrap();
            let batches = batches(&crowd, &chunks, &Sharing::Vertices, limit);
            (chunks, batches)
        };
        let (_, all) = divided(1 << 30);
        assert_eq!(all.len(), 1, "one batch of all models");
        for limit in [200_000, 400_000] {
            let (chunks, batches) = divided(limit);
            let sizes: Vec<_> = batches.iter().map(Range::len).collect();
            assert!(
                batches.len() > 3 && sizes.iter().any(|&chunks| chunks > 1),
                "limit {limit}: {sizes:?}"
            );
            let mut next_chunk = 0;
            let mut next_instance = 0;
            for batch in &batches {
                assert_eq!(batch.start, next_chunk);
                next_chunk = batch.end;
                let mut taken = [0; 3];
                for chunk in &chunks[batch.clone()] {
                    let group = &crowd.groups()[chunk.group].instances;
                    assert_eq!(chunk.instances.start, next_instance);
                    next_instance = chunk.instances.end;
                    assert!(group.start <= chunk.instances.start && next_instance <= group.end);
                    assert!(!chunk.instances.is_empty());
                    for (sum, bytes) in taken.iter_mut().zip(Sharing::Vertices.bytes(&crowd, chunk))
                    {
                        *sum += bytes;
                    }
                }
                // A mesh that exceeds the limit by itself is bound as it is, as by every backend.
                let [palettes, vertices, meshes] = taken;
                assert!(palettes <= limit && vertices <= limit);
                assert!(meshes <= limit || batch.len() == 1, "{meshes} bytes");
            }
            assert_eq!(next_chunk, chunks.len());
            assert_eq!(next_instance as usize, crowd.instance_count());
        }
        let error = chunks(&crowd, 10_000, 1 << 20).unwrap_err().to_string();
        assert!(
            error.ends_with("bytes in one binding; the device allows 10000"),
            "{error}"
        );
    }

    /// Of models with one joint, layers take more than poses.
    #[test]
    fn batches_that_share_poses_fit_bindings() {
        let mut builder = SkeletonBuilder::new();
        builder.joint("only", None, Vec3::ZERO);
        let skeleton = builder.build().unwrap();
        let mut influences = Influences::default();
        for _ in 0..3 {
            influences.push([(0, 1.0)]);
        }
        let triangle = PrimitiveData {
            positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            influences,
            indices: vec![0, 1, 2],
            ..Default::default()
        };
        let skin = SkinData::at_rest(&skeleton, vec![0]).unwrap();
        let model = Model::new(ModelParts::new("dot", skeleton, skin, vec![triangle])).unwrap();
        let model = Arc::new(model);
        let mut crowd = Crowd::new();
        let mut clips = Vec::new();
        for _ in 0..9 {
            let instances = (0..7).map(|_| (IDENTITY_ROWS, [Layer::held(REST, 0.0); 4]));
            crowd.push_group(Arc::clone(&model), instances).unwrap();
            clips.push(ClipStore::new(&model, true));
        }
        let chunks = chunks(&crowd, 1 << 30, 1 << 20).unwrap();
        let divided = |limit| batches(&crowd, &chunks, &Sharing::Poses(&clips), limit);
        let whole = 0..9;
        assert_eq!(divided(1 << 30), [whole]);
        let alone = batches(&crowd, &chunks, &Sharing::Nothing, 1 << 30);
        assert_eq!(alone.len(), 9);
        // 28 layers of 64 bytes for each group; three groups fit.
        let limit = 3 * 28 * 64 + 1_000;
        let some = divided(limit);
        assert_eq!(some[0].start, 0);
        assert!(some.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(some.last().unwrap().end, 9);
        for batch in &some {
            let changes = (batch.len() * 28 * (64 + 4) + 4) as u64;
            assert!(changes <= limit && batch.len() > 1, "{batch:?}");
        }
        // The clips of one model are as many bytes as fit.
        assert!(divided(clips[0].lists.largest()).len() >= 8);
    }
}
