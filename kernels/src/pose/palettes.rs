//! Palettes of a crowd in any layout that posing writes.

use super::Affine;
use crate::blocks::{Block, Blocks};
use crate::crowd::BLOCK;
use crate::model::Rows;
use std::ops::Range;

/// Most instances of a sparse block: the lanes of the others would cost more than skinning instances one by one.
const SPARSE: usize = 10;

/// Returns whether a block has so few instances that kernels for one instance suit it better.
pub fn is_sparse(block: &Block) -> bool {
    block.instances.len() <= SPARSE
}

/// Palettes of a crowd, to read from.
#[derive(Debug, Clone, Copy)]
pub enum Palettes<'a> {
    /// `[instance][entry]` of the crowd.
    Rows(&'a [Rows]),
    /// `[block][entry]`, 16 instances side by side.
    Lanes(&'a [Affine<BLOCK>]),
    /// As `Lanes`, but `[instance][entry]` in the share of a block that [is sparse](is_sparse).
    Mixed(&'a [Affine<BLOCK>]),
}

/// The palettes of one block.
#[derive(Debug, Clone, Copy)]
pub enum BlockPalettes<'a> {
    /// `[instance][entry]`.
    Rows(&'a [Rows]),
    /// `[entry]`, 16 instances side by side.
    Lanes(&'a [Affine<BLOCK>]),
}

impl<'a> Palettes<'a> {
    /// The palettes of one of the blocks that made them.
    ///
    /// # Panics
    /// There are fewer palettes than the crowd has.
    pub fn of(self, block: &Block) -> BlockPalettes<'a> {
        let entries = block.entries;
        let count = block.instances.len() * entries;
        match self {
            Self::Rows(rows) => BlockPalettes::Rows(&rows[block.first_row..][..count]),
            Self::Mixed(lanes) if is_sparse(block) => BlockPalettes::Rows(
                &bytemuck::cast_slice(&lanes[block.first_entry..][..entries])[..count],
            ),
            Self::Lanes(lanes) | Self::Mixed(lanes) => {
                BlockPalettes::Lanes(&lanes[block.first_entry..][..entries])
            }
        }
    }

    /// Appends the palettes of neighbouring instances, `[instance][entry][12]`; `blocks` are those that made them.
    ///
    /// # Panics
    /// There are fewer palettes than the crowd has.
    pub fn read(self, blocks: &Blocks, instances: Range<u32>, out: &mut Vec<f32>) {
        for instance in instances {
            let block = blocks.of(instance);
            let entries = block.entries;
            let own = self.of(block);
            let lane = (instance - block.instances.start) as usize;
            out.extend((0..entries).flat_map(|entry| own.entry(entries, lane, entry)));
        }
    }
}

impl BlockPalettes<'_> {
    /// One of the `entries` of the instance in a lane.
    ///
    /// # Panics
    /// There is no such lane or entry.
    pub fn entry(self, entries: usize, lane: usize, entry: usize) -> Rows {
        match self {
            Self::Rows(rows) => rows[lane * entries + entry],
            Self::Lanes(lanes) => lanes[entry].map(|row| row[lane]),
        }
    }
}
