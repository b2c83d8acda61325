//! Input of stage `palette` for one block.

use super::palette::{ModelToPalette, to_rows};
use super::strips_to_model::palette_of_one;
use super::{Affine, run_lanes};
use crate::blocks::Block;
use crate::crowd::{BLOCK, Crowd};
use crate::model::Rows;
use crate::simd::Isa;

/// A block of instances, and the input from which its palettes are computed.
pub(super) struct BlockSource<'a, const N: usize> {
    pub isa: Isa,
    pub crowd: &'a Crowd,
    pub block: &'a Block,
    pub palettes: Source<'a, N>,
}

/// Input from which palettes are computed.
pub(super) enum Source<'a, const N: usize> {
    /// The block's model poses, one item per joint.
    Posed(&'a [Affine<N>]),
    /// Model poses `[instance][joint]` of the block.
    OneByOne(&'a [Rows]),
}

impl<const N: usize> BlockSource<'_, N> {
    /// Writes the palettes in rows, `[instance][entry]`.
    pub fn to_rows(&self, out: &mut [Rows]) {
        let model = &self.crowd.groups()[self.block.group].model;
        match self.palettes {
            Source::Posed(poses) => to_rows(
                self.isa,
                model.palette_joints(),
                model.inverse_binds(),
                poses,
                out,
            ),
            Source::OneByOne(poses) => {
                let joints = model.palette_joints();
                let inverse_binds = model.inverse_binds();
                let palettes = out.chunks_exact_mut(joints.len().max(1));
                for (palette, pose) in palettes.zip(poses.chunks_exact(model.skeleton().len())) {
                    palette_of_one(self.isa, joints, inverse_binds, pose, palette);
                }
            }
        }
    }

    /// Writes the palettes in lanes, `[entry][12][N]`.
    pub fn to_lanes(&self, out: &mut [Affine<N>]) {
        let of_group = &self.crowd.groups()[self.block.group].model;
        let joints = of_group.palette_joints();
        let inverse_binds = of_group.inverse_binds();
        match self.palettes {
            Source::Posed(model) => {
                run_lanes::<N, _>(
                    self.isa,
                    ModelToPalette {
                        joints,
                        inverse_binds,
                        model,
                        palette: out,
                    },
                );
            }
            Source::OneByOne(poses) => {
                let mut palette = [[0.0; 12]; BLOCK];
                let entries = joints.chunks(BLOCK).zip(inverse_binds.chunks(BLOCK));
                for (out, (joints, inverse_binds)) in out.chunks_mut(BLOCK).zip(entries) {
                    for (lane, pose) in poses.chunks_exact(of_group.skeleton().len()).enumerate() {
                        palette_of_one(self.isa, joints, inverse_binds, pose, &mut palette);
                        to_lane(&palette, lane, out);
                    }
                }
            }
        }
    }
}

/// Copies an instance's palette to its lane.
fn to_lane<const N: usize>(palette: &[Rows], lane: usize, out: &mut [Affine<N>]) {
    for (columns, rows) in out.iter_mut().zip(palette) {
        for (column, number) in columns.iter_mut().zip(rows) {
            column[lane] = *number;
        }
    }
}
