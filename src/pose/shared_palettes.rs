//! Palettes of poses that instances share, handed out to every instance.

use super::Affine;
use crate::blocks::{Block, Blocks};
use crate::crowd::Crowd;
use crate::model::Rows;
use arrayvec::ArrayVec;

/// Palettes `[pose][entry]` of a crowd's shared poses, and its instances in blocks of `N`.
pub(super) struct SharedPalettes<const N: usize> {
    blocks: Blocks,
    rows: Vec<Rows>,
}

impl<const N: usize> SharedPalettes<N> {
    /// Bytes that [`SharedPalettes::new`] will allocate.
    pub fn bytes(crowd: &Crowd) -> u64 {
        crowd.poses().map_or(0, |_| crowd.posed().palette_entries() * size_of::<Rows>() as u64)
    }

    /// None if instances do not share poses.
    pub fn new(crowd: &Crowd, parallel: bool) -> Option<Self> {
        crowd.poses()?;
        let rows = vec![[0.0; 12]; crowd.posed().palette_entries() as usize];
        Some(Self { blocks: Blocks::new(crowd, N, parallel), rows })
    }

    /// Where the palettes of the poses go.
    pub fn rows_mut(&mut self) -> &mut [Rows] {
        &mut self.rows
    }

    /// Every instance's palette, `[block][entry][12][N]`.
    pub fn lanes(&self, crowd: &Crowd, palette: &mut [Affine<N>]) {
        self.hand_out(
            crowd,
            palette,
            |b| b.first_entry,
            |poses, palette| {
                for (entry, columns) in palette.iter_mut().enumerate() {
                    for (lane, pose) in poses.iter().enumerate() {
                        for (column, number) in columns.iter_mut().zip(pose[entry]) {
                            column[lane] = number;
                        }
                    }
                }
            },
        );
    }

    /// Every instance's palette, `[instance][entry]`.
    pub fn rows(&self, crowd: &Crowd, palette: &mut [Rows]) {
        self.hand_out(
            crowd,
            palette,
            |b| b.first_row,
            |poses, mut palette| {
                for pose in poses {
                    let own;
                    (own, palette) = palette.split_at_mut(pose.len());
                    own.copy_from_slice(pose);
                }
            },
        );
    }

    /// Calls `take(palettes of its instances, its share of out)` for every block of instances.
    fn hand_out<T: Send>(
        &self,
        crowd: &Crowd,
        out: &mut [T],
        first: impl Fn(&Block) -> usize + Sync,
        take: impl Fn(&[&[Rows]], &mut [T]) + Sync,
    ) {
        let Some(poses) = crowd.poses() else { return };
        self.blocks.each(crowd, out, first, |block, _, out| {
            let of = |instance: u32| {
                let pose = poses[instance as usize];
                crowd.posed().rows_of(&self.rows, pose..pose + 1)
            };
            let own: ArrayVec<&[Rows], N> = block.instances.clone().map(of).collect();
            take(&own, out);
        });
    }
}
