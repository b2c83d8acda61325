//! The model poses of one block, and stage `palette`, which turns them into palettes.

use super::one;
use super::palette::{ModelToPalette, to_rows};
use super::side_by_side::{Affine, run_lanes};
use super::strips_to_model::palette_of_one;
use crate::blocks::Block;
use crate::crowd::BLOCK;
use crate::model::{Model, Rows};
use crate::simd::{Aligned, Isa};
use crate::threads::of_thread;
use std::sync::Mutex;

/// How a block's instances are posed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Side by side, one in each lane.
    Lanes,
    /// One by one, with [`STRIP`](super::joint_strip::STRIP) joints side by side.
    Strips,
    /// One by one, joint after joint.
    Scalar,
}

/// A block with its model poses. Its palettes are computed when they are asked for.
pub struct BlockPoses<'a> {
    /// The instances.
    pub block: &'a Block,
    pub(super) form: Form,
    pub(super) isa: Isa,
    pub(super) model: &'a Model,
    /// In lanes, or `[instance][joint]` in the same memory.
    pub(super) poses: &'a [Affine<BLOCK>],
    /// Memory of each thread for a block's palettes.
    pub(super) memory: &'a [Mutex<Aligned<Affine<BLOCK>>>],
}

impl BlockPoses<'_> {
    /// Returns whether instances are posed side by side, so that palettes in lanes cost less than those in rows.
    pub fn are_lanes(&self) -> bool {
        self.form == Form::Lanes
    }

    /// Writes the palettes in rows, `[instance][entry]`.
    ///
    /// # Panics
    /// `out` is too short.
    pub fn to_rows(&self, out: &mut [Rows]) {
        let joints = self.model.palette_joints();
        let inverse_binds = self.model.inverse_binds();
        if self.are_lanes() {
            return to_rows(self.isa, joints, inverse_binds, self.poses, out);
        }
        let palettes = out.chunks_exact_mut(joints.len().max(1));
        for (palette, pose) in palettes.zip(self.instances()) {
            self.palette_of(joints, inverse_binds, pose, palette);
        }
    }

    /// Writes the palettes in lanes, `[entry][12][BLOCK]`.
    ///
    /// # Panics
    /// `out` is too short.
    pub fn to_lanes(&self, out: &mut [Affine<BLOCK>]) {
        let joints = self.model.palette_joints();
        let inverse_binds = self.model.inverse_binds();
        if self.are_lanes() {
            let kernel = ModelToPalette {
                joints,
                inverse_binds,
                model: self.poses,
                palette: out,
            };
            return run_lanes::<BLOCK, _>(self.isa, kernel);
        }
        let mut palette = [[0.0; 12]; BLOCK];
        let entries = joints.chunks(BLOCK).zip(inverse_binds.chunks(BLOCK));
        for (out, (joints, inverse_binds)) in out.chunks_mut(BLOCK).zip(entries) {
            for (lane, pose) in self.instances().enumerate() {
                self.palette_of(joints, inverse_binds, pose, &mut palette);
                for (columns, rows) in out.iter_mut().zip(&palette) {
                    for (column, number) in columns.iter_mut().zip(rows) {
                        column[lane] = *number;
                    }
                }
            }
        }
    }

    /// Calls `take` with the palettes in rows, in memory of the thread.
    pub fn in_rows(&self, take: impl FnOnce(&[Rows])) {
        let mut memory = of_thread(self.memory);
        let rows: &mut [Rows] = bytemuck::cast_slice_mut(&mut memory);
        let rows = &mut rows[..self.block.instances.len() * self.block.entries];
        self.to_rows(rows);
        take(rows);
    }

    /// Calls `take` with the palettes in lanes, in memory of the thread.
    pub fn in_lanes(&self, take: impl FnOnce(&[Affine<BLOCK>])) {
        let mut memory = of_thread(self.memory);
        let lanes = &mut memory[..self.block.entries];
        self.to_lanes(lanes);
        take(lanes);
    }

    /// The model poses of instances that are posed one by one.
    pub(super) fn instances(&self) -> impl Iterator<Item = &[Rows]> {
        let poses: &[Rows] = bytemuck::cast_slice(self.poses);
        poses
            .chunks_exact(self.block.joints)
            .take(self.block.instances.len())
    }

    /// The palette of one instance.
    fn palette_of(&self, joints: &[u16], binds: &[Rows], pose: &[Rows], palette: &mut [Rows]) {
        if self.form == Form::Scalar {
            one::palette(joints, binds, bytemuck::cast_slice(pose), palette);
        } else {
            palette_of_one(self.isa, joints, binds, pose, palette);
        }
    }
}
