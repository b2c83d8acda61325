//! Palettes of poses that instances share, handed out to every instance.

use super::{Affine, PaletteOut};
use crate::blocks::{Block, Blocks};
use crate::crowd::Crowd;
use crate::model::Rows;
use arrayvec::ArrayVec;

/// Palettes `[pose][entry]` of a crowd's shared poses.
pub(super) struct SharedPalettes {
    rows: Vec<Rows>,
}

impl SharedPalettes {
    /// Bytes that [`SharedPalettes::new`] will allocate.
    pub fn bytes(crowd: &Crowd) -> u64 {
        crowd.poses().map_or(0, |_| crowd.posed().palette_entries() * size_of::<Rows>() as u64)
    }

    /// None if instances do not share poses.
    pub fn new(crowd: &Crowd) -> Option<Self> {
        crowd.poses()?;
        let rows = vec![[0.0; 12]; crowd.posed().palette_entries() as usize];
        Some(Self { rows })
    }

    /// Where the palettes of the poses go.
    pub fn rows_mut(&mut self) -> &mut [Rows] {
        &mut self.rows
    }

    /// Every instance's palette; `blocks` are of the instances.
    pub fn hand_out<const N: usize>(&self, blocks: &Blocks, crowd: &Crowd, palettes: PaletteOut<'_, N>) {
        match palettes {
            PaletteOut::Lanes(out) => self.lanes(blocks, crowd, out),
            PaletteOut::Rows(out) => self.rows::<N>(blocks, crowd, out),
        }
    }

    fn lanes<const N: usize>(&self, blocks: &Blocks, crowd: &Crowd, palette: &mut [Affine<N>]) {
        self.each::<_, N>(
            blocks,
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

    fn rows<const N: usize>(&self, blocks: &Blocks, crowd: &Crowd, palette: &mut [Rows]) {
        self.each::<_, N>(
            blocks,
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
    fn each<T: Send, const N: usize>(
        &self,
        blocks: &Blocks,
        crowd: &Crowd,
        out: &mut [T],
        first: impl Fn(&Block) -> usize + Sync,
        take: impl Fn(&[&[Rows]], &mut [T]) + Sync,
    ) {
        let Some(poses) = crowd.poses() else { return };
        blocks.each(crowd, out, first, |block, _, out| {
            let of = |instance: u32| {
                let pose = poses[instance as usize];
                crowd.posed().rows_of(&self.rows, pose..pose + 1)
            };
            let own: ArrayVec<&[Rows], N> = block.instances.clone().map(of).collect();
            take(&own, out);
        });
    }
}
