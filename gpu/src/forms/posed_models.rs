//! Clips, hierarchies, masks and bindings of all models that the device poses together.

use crate::Gpu;
use crate::device::{Named, fits, named};
use crate::forms::clips::{ClipLists, ClipStore};
use crate::shader::layout::{self, NONE};
use bytemuck::Zeroable;
use skinbench_frame::{Purpose, Result};
use skinbench_kernels::crowd::{Crowd, Group};
use skinbench_kernels::model::{NO_PARENT, Rows, Skeleton};
use std::ops::Range;

/// Models on the device.
#[derive(Clone)]
pub struct PosedModels {
    /// Buffers by the names of the kernels' variables.
    pub buffers: Vec<Named>,
    /// One item per group.
    pub models: Vec<PosedModel>,
}

/// A model of [`PosedModels`].
#[derive(Clone)]
pub struct PosedModel {
    /// Where it begins in the buffers.
    pub places: layout::Places,
    /// Number of channels of all joints that some clip moves.
    pub moving_channels: u64,
    /// Local poses at rest, `[channel][joint]`.
    pub rest: Vec<[f32; 4]>,
}

/// Lists that the kernels read, model after model.
#[derive(Default)]
struct Lists {
    clips: ClipLists,
    joints: Vec<layout::Joint>,
    masks: Vec<f32>,
    levels: Vec<u32>,
    matrices: Vec<Rows>,
    entry_joints: Vec<u32>,
    inverse_binds: Vec<Rows>,
}

impl PosedModels {
    /// Uploads the models of neighbouring groups, of which `clips` has those of each group of the crowd.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if the adapter cannot bind the clips of a model.
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        groups: Range<usize>,
        clips: &[ClipStore],
    ) -> Result<Self> {
        let mut lists = Lists::default();
        let mut models = Vec::with_capacity(groups.len());
        for index in groups.clone() {
            models.push(lists.push(&crowd.groups()[index], &clips[index]));
        }
        let contents = lists.contents();
        // Those who plan keep to a lower limit that is simulated; a device binds as much as it can.
        let most = if gpu.only_counts() {
            gpu.binding_bytes()
        } else {
            gpu.adapter.limits.max_storage_buffer_binding_size
        };
        let largest = contents.iter().map(|(_, bytes)| bytes.len()).max();
        let name = crowd.groups()[groups.start].model.name();
        let what = format_args!("clips of {name:?} need");
        fits(what, largest.unwrap_or(0) as u64, "in one binding", most)?;
        let buffers =
            contents.map(|(name, bytes)| named(name, &gpu.storage(Purpose::Clips, name, bytes)));
        Ok(Self {
            buffers: buffers.into(),
            models,
        })
    }
}

impl Lists {
    /// Appends a group's model, and returns its place.
    fn push(&mut self, group: &Group, clips: &ClipStore) -> PosedModel {
        let model = &group.model;
        let places = layout::Places {
            first_clip: self.clips.clips.len() as u32,
            first_rest: self.joints.len() as u32,
            first_mask: self.masks.len() as u32,
            first_level: self.levels.len() as u32,
            first_bind: self.entry_joints.len() as u32,
            ..Zeroable::zeroed()
        };
        self.clips.append(&clips.lists);
        self.push_joints(model.skeleton());
        self.push_levels(model.skeleton());
        self.masks.extend_from_slice(group.masks());
        let entry_joints = model.palette_joints().iter();
        self.entry_joints
            .extend(entry_joints.map(|&joint| u32::from(joint)));
        self.inverse_binds.extend_from_slice(model.inverse_binds());
        let mut rest = Vec::with_capacity(clips.rest().len());
        for channel in 0..3 {
            rest.extend(clips.rest().iter().skip(channel).step_by(3));
        }
        PosedModel {
            places,
            moving_channels: clips.moving,
            rest,
        }
    }

    /// Appends joints at rest, and their fixed matrices.
    fn push_joints(&mut self, skeleton: &Skeleton) {
        let mut matrices = skeleton.matrices().iter().peekable();
        for (index, rest) in skeleton.rest().iter().enumerate() {
            let mut matrix = NONE;
            if let Some((_, rows)) = matrices.next_if(|(joint, _)| usize::from(*joint) == index) {
                matrix = self.matrices.len() as u32;
                self.matrices.push(*rows);
            }
            let parent = match skeleton.parents()[index] {
                NO_PARENT => NONE,
                parent => parent.into(),
            };
            self.joints.push(layout::Joint {
                rotation: rest.rotation.to_array(),
                translation: rest.translation.to_array(),
                parent,
                scale: rest.scale.to_array(),
                matrix,
            });
        }
    }

    /// Appends for each level of the hierarchy the index of its first joint in this list, and the end of the last one;
    /// then the joints, roots first.
    fn push_levels(&mut self, skeleton: &Skeleton) {
        let depths = depths(skeleton);
        let levels = level_count(&depths);
        let mut order: Vec<u32> = (0..skeleton.len() as u32).collect();
        order.sort_by_key(|&joint| depths[joint as usize]);
        let first = self.levels.len() as u32 + levels + 1;
        for level in 0..=levels {
            let before = order.partition_point(|&joint| depths[joint as usize] < level);
            self.levels.push(first + before as u32);
        }
        self.levels.extend(order);
    }

    /// The lists, by the names of the kernels' variables.
    fn contents(&self) -> [(&'static str, &[u8]); 10] {
        [
            ("clips", bytemuck::cast_slice(&self.clips.clips)),
            ("tracks", bytemuck::cast_slice(&self.clips.tracks)),
            ("words", bytemuck::cast_slice(&self.clips.words)),
            ("quads", bytemuck::cast_slice(&self.clips.quads)),
            ("joints", bytemuck::cast_slice(&self.joints)),
            ("masks", bytemuck::cast_slice(&self.masks)),
            ("levels", bytemuck::cast_slice(&self.levels)),
            ("matrices", bytemuck::cast_slice(&self.matrices)),
            ("entry_joints", bytemuck::cast_slice(&self.entry_joints)),
            ("inverse_binds", bytemuck::cast_slice(&self.inverse_binds)),
        ]
    }
}

/// The number of joints above each joint.
pub fn depths(skeleton: &Skeleton) -> Vec<u32> {
    let mut depths = vec![0u32; skeleton.len()];
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        if parent != NO_PARENT {
            depths[joint] = depths[usize::from(parent)] + 1;
        }
    }
    depths
}

/// The number of levels of a hierarchy whose joints have these depths.
pub fn level_count(depths: &[u32]) -> u32 {
    depths.iter().max().map_or(0, |deepest| deepest + 1)
}
