//! Palettes of poses that instances share, copied to every instance.

use super::Affine;
use crate::blocks::{Block, Blocks};
use crate::crowd::{BLOCK, Crowd};
use crate::model::Rows;

/// Palettes `[pose][entry]` of a crowd's shared poses.
pub(super) struct SharedPalettes {
    pub rows: Vec<Rows>,
}

impl SharedPalettes {
    /// Bytes that [`SharedPalettes::new`] will allocate.
    pub fn bytes(crowd: &Crowd) -> u64 {
        crowd.poses().map_or(0, |_| crowd.posed().palette_entries() * size_of::<Rows>() as u64)
    }

    /// `None` if instances do not share poses.
    pub fn new(crowd: &Crowd) -> Option<Self> {
        crowd.poses()?;
        let rows = vec![[0.0; 12]; crowd.posed().palette_entries() as usize];
        Some(Self { rows })
    }

    /// Copies every instance's palette to lanes; `blocks` are those of the instances.
    pub fn to_lanes(&self, blocks: &Blocks, crowd: &Crowd, out: &mut [Affine<BLOCK>]) {
        blocks.each(crowd, out, |b| b.first_entry, |block, _, out| self.block_to_lanes(crowd, block, out));
    }

    /// Copies the palettes of one block of instances to lanes.
    pub fn block_to_lanes(&self, crowd: &Crowd, block: &Block, out: &mut [Affine<BLOCK>]) {
        for (lane, instance) in block.instances.clone().enumerate() {
            for (columns, rows) in out.iter_mut().zip(self.of(crowd, instance)) {
                for (column, number) in columns.iter_mut().zip(rows) {
                    column[lane] = *number;
                }
            }
        }
    }

    /// Copies every instance's palette to rows; `blocks` are those of the instances.
    pub fn to_rows(&self, blocks: &Blocks, crowd: &Crowd, out: &mut [Rows]) {
        blocks.each(
            crowd,
            out,
            |b| b.first_row,
            |block, _, mut out| {
                for pose in block.instances.clone().map(|instance| self.of(crowd, instance)) {
                    let own;
                    (own, out) = out.split_at_mut(pose.len());
                    own.copy_from_slice(pose);
                }
            },
        );
    }

    /// The palette of the pose that an instance shows.
    fn of(&self, crowd: &Crowd, instance: u32) -> &[Rows] {
        let pose = crowd.poses().map_or(instance, |poses| poses[instance as usize]);
        crowd.posed().rows_of(&self.rows, pose..pose + 1)
    }
}
