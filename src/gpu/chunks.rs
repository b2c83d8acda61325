//! Division of a crowd into chunks, each of which fits one binding and takes one dispatch or instanced draw.

use super::slots::pose_bytes;
use crate::crowd::{Crowd, Group};
use crate::frame::{BackendError, Result};
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
}

fn vertex_bytes(group: &Group) -> u64 {
    (group.instance_words() * size_of::<f32>()) as u64
}

/// Bytes of an instance's palette in the largest form in a storage buffer: 4x4 matrices.
fn palette_bytes(group: &Group) -> u64 {
    (group.model.palette_joints().len() * size_of::<[f32; 16]>()) as u64
}

/// Bytes of an instance's morph weights in the largest form: a list of all targets.
fn weight_bytes(group: &Group) -> u64 {
    ((group.model.mesh().targets().len() + 2) * size_of::<[f32; 2]>()) as u64
}

/// Divides a crowd into chunks of at most `limit` bytes per binding and `instances` instances. Those of a family follow
/// each other: all levels of some of its instances, then all levels of the next.
///
/// # Errors
/// [`BackendError::TooLarge`] if a single instance is larger than a binding.
pub fn chunks(crowd: &Crowd, limit: u64, instances: u64) -> Result<Vec<Chunk>> {
    let mut chunks = Vec::new();
    let largest = |group: &Group| {
        vertex_bytes(group).max(palette_bytes(group)).max(pose_bytes(crowd, group)).max(weight_bytes(group))
    };
    for (family, groups) in crowd.groups().chunks(crowd.levels()).enumerate() {
        let largest = groups.iter().map(largest).max().unwrap_or(1);
        let at_once = (limit / largest).min(instances).min(u64::from(u32::MAX)) as u32;
        if at_once == 0 {
            return Err(BackendError::TooLarge(format!(
                "one instance of {:?} needs {largest} bytes in one binding; the adapter allows {limit}",
                groups[0].model.name()
            )));
        }
        for first in (0..groups[0].len() as u32).step_by(at_once as usize) {
            for (level, group) in groups.iter().enumerate() {
                let start = group.instances.start + first;
                let instances = start..group.instances.end.min(start.saturating_add(at_once));
                chunks.push(Chunk { group: family * crowd.levels() + level, instances });
            }
        }
    }
    Ok(chunks)
}
