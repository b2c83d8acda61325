//! Division of a crowd into chunks, each of which fits one binding and takes one dispatch or instanced draw, and into
//! spans of chunks that share bindings.

use crate::device::fits;
use crate::forms::posed_models::PosedGroup;
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

/// Divides a crowd into chunks of at most `limit` bytes per binding and `instances` instances. Those of a family follow
/// each other: all levels of some of its instances, then all levels of the next.
///
/// # Errors
/// [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if a single instance is larger than a binding.
pub fn chunks(crowd: &Crowd, limit: u64, instances: u64) -> Result<Vec<Chunk>> {
    let mut chunks = Vec::new();
    let largest = |group: &Group| {
        vertex_bytes(group)
            .max(palette_bytes(group))
            .max(pose_bytes(crowd, group))
            .max(weight_bytes(group))
    };
    for (family, groups) in crowd.groups().chunks(crowd.levels()).enumerate() {
        let largest = groups.iter().map(largest).max().unwrap_or(1);
        one_fits(&groups[0], largest, limit)?;
        let at_once = (limit / largest).min(instances).min(u64::from(u32::MAX)) as u32;
        for first in (0..groups[0].len() as u32).step_by(at_once as usize) {
            for (level, group) in groups.iter().enumerate() {
                let start = group.instances.start + first;
                let instances = start..group.instances.end.min(start.saturating_add(at_once));
                chunks.push(Chunk {
                    group: family * crowd.levels() + level,
                    instances,
                });
            }
        }
    }
    Ok(chunks)
}

/// Divides a crowd into spans: neighbouring chunks, of any groups with one vertex format, whose vertices together fit one
/// binding of `limit` bytes, and their palettes and meshes likewise. A span has at most one chunk of each group.
///
/// A vertex of a span has its place by counting those before it, so all of them must take equally many bytes.
///
/// # Errors
/// [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if a single instance is larger than a binding.
pub fn spans(crowd: &Crowd, limit: u64) -> Result<Vec<Vec<Chunk>>> {
    let (mut spans, mut span) = (Vec::new(), Vec::new());
    let [mut vertices, mut palettes, mut meshes] = [0; 3];
    for (index, group) in crowd.groups().iter().enumerate() {
        let (vertex_bytes, palette_bytes) = (vertex_bytes(group), palette_bytes(group));
        one_fits(group, vertex_bytes.max(palette_bytes), limit)?;
        let mut rest = group.instances.clone();
        while !rest.is_empty() {
            let fit = ((limit - vertices) / vertex_bytes).min((limit - palettes) / palette_bytes);
            // A mesh that exceeds the limit by itself is bound as it is, as by every backend.
            let full = meshes > 0 && meshes + mesh_bytes(group) > limit;
            let other_format = span
                .last()
                .is_some_and(|before: &Chunk| crowd.groups()[before.group].format != group.format);
            if fit == 0 || full || other_format {
                spans.push(std::mem::take(&mut span));
                [vertices, palettes, meshes] = [0; 3];
                continue;
            }
            let count = fit.min(rest.len() as u64);
            let instances = rest.start..rest.start + count as u32;
            rest.start = instances.end;
            vertices += count * vertex_bytes;
            palettes += count * palette_bytes;
            meshes += mesh_bytes(group);
            span.push(Chunk {
                group: index,
                instances,
            });
        }
    }
    spans.push(span);
    Ok(spans)
}

/// Divides chunks into families: neighbouring chunks whose poses, palettes, layers and clips together fit one binding of
/// `limit` bytes each.
pub(crate) fn families(
    crowd: &Crowd,
    chunks: &[Chunk],
    posed: &[PosedGroup],
    limit: u64,
) -> Vec<Range<usize>> {
    let mut families: Vec<Range<usize>> = Vec::new();
    let mut poses = 0;
    let mut clips = 0;
    for (index, chunk) in chunks.iter().enumerate() {
        let group = &crowd.groups()[chunk.group];
        let each = palette_bytes(group).max(pose_bytes(crowd, group));
        let more_poses = chunk.instances.len() as u64 * each;
        let more_clips = posed[chunk.group]
            .clips()
            .map_or(0, |clips| clips.lists.largest());
        let fits = poses + more_poses <= limit && clips + more_clips <= limit;
        match families.last_mut() {
            Some(last) if fits && last.len() < layout::MOST_BATCHES => {
                last.end += 1;
                poses += more_poses;
                clips += more_clips;
            }
            _ => {
                families.push(index..index + 1);
                poses = more_poses;
                clips = more_clips;
            }
        }
    }
    families
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
    use crate::forms::clips::ClipStore;
    use glam::Vec3;
    use skinbench_characters::walker;
    use skinbench_kernels::crowd::{Layer, REST};
    use skinbench_kernels::model::{
        IDENTITY_ROWS, Influences, Model, ModelParts, PrimitiveData, SkeletonBuilder, SkinData,
    };
    use std::sync::Arc;

    #[test]
    fn spans_hold_the_crowd_in_order_within_the_limit() {
        let mut crowd = Crowd::new();
        for (model, count) in [
            (walker(500).unwrap(), 30),
            (walker(700).unwrap(), 70),
            (walker(1_000).unwrap(), 1),
        ] {
            let instances = (0..count).map(|_| (IDENTITY_ROWS, Layer::held(0, 0.0)));
            crowd.push_group(Arc::new(model), instances).unwrap();
        }
        let group = |chunk: &Chunk| &crowd.groups()[chunk.group];
        let all = spans(&crowd, 1 << 30).unwrap();
        assert_eq!(
            all.iter().map(Vec::len).collect::<Vec<_>>(),
            [3],
            "one span of all models"
        );
        for limit in [100_000, 200_000] {
            let spans = spans(&crowd, limit).unwrap();
            let sizes: Vec<_> = spans.iter().map(Vec::len).collect();
            assert!(
                spans.len() > 3 && sizes.iter().any(|&chunks| chunks > 1),
                "limit {limit}: {sizes:?}"
            );
            let mut next = 0;
            for span in &spans {
                assert!(
                    span.windows(2).all(|pair| pair[0].group < pair[1].group),
                    "a group twice in a span"
                );
                for chunk in span {
                    assert!(chunk.instances.start == next && !chunk.instances.is_empty());
                    next = chunk.instances.end;
                    assert!(
                        group(chunk).instances.start <= chunk.instances.start
                            && next <= group(chunk).instances.end
                    );
                }
                let sum = |bytes: fn(&Group) -> u64| -> u64 {
                    span.iter()
                        .map(|chunk| chunk.instances.len() as u64 * bytes(group(chunk)))
                        .sum()
                };
                assert!(sum(vertex_bytes) <= limit && sum(palette_bytes) <= limit);
                let meshes: u64 = span.iter().map(|chunk| mesh_bytes(group(chunk))).sum();
                assert!(
                    meshes <= limit || span.len() == 1,
                    "{meshes} bytes of meshes"
                );
            }
            assert_eq!(next as usize, crowd.instance_count());
        }
        let error = spans(&crowd, 10_000).unwrap_err().to_string();
        assert!(
            error.ends_with("bytes in one binding; the device allows 10000"),
            "{error}"
        );
    }

    /// Of models with one joint, layers take more than poses.
    #[test]
    fn families_fit_bindings() {
        let mut builder = SkeletonBuilder::new();
        builder.joint("only", None, Vec3::ZERO);
        let skeleton = builder.build().unwrap().skeleton;
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
        let mut posed = Vec::new();
        for index in 0..9 {
            let instances = (0..7).map(|_| (IDENTITY_ROWS, [Layer::held(REST, 0.0); 4]));
            crowd.push_group(Arc::clone(&model), instances).unwrap();
            posed.push(if index == 4 {
                PosedGroup::Baked { entries: 1 }
            } else {
                PosedGroup::Sampled(ClipStore::new(&model, true))
            });
        }
        let chunks = chunks(&crowd, 1 << 30, 1 << 20).unwrap();
        let all = families(&crowd, &chunks, &posed, 1 << 30);
        let whole = 0..9;
        assert_eq!(all, [whole]);
        // 28 layers of 64 bytes for each group; three groups fit.
        let limit = 3 * 28 * 64 + 1_000;
        let some = families(&crowd, &chunks, &posed, limit);
        assert_eq!(some[0].start, 0);
        assert!(some.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(some.last().unwrap().end, 9);
        for family in &some {
            let changes = (family.len() * 28 * (64 + 4) + 4) as u64;
            assert!(changes <= limit && family.len() > 1, "{family:?}");
        }
        // The clips of one model are as many bytes as fit.
        let clips = posed[0].clips().unwrap().lists.largest();
        assert!(families(&crowd, &chunks, &posed, clips).len() >= 8);
    }
}
