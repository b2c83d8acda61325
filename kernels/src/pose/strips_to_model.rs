//! Stages `local_to_model` and `palette` for one instance: local poses become matrices 16 joints at once, and matrices are
//! multiplied one after the other, four numbers of a row at once.

use super::Local;
use super::joint_strip::STRIP;
use super::local_to_model::affine;
use crate::model::{NO_PARENT, Rows, Skeleton};
use crate::simd::{self, Isa, Kernel, Simd};
use glam::Vec4;

/// A joint and its parent.
struct LevelJoint {
    joint: u16,
    parent: u16,
}

/// The joints of a skeleton that have a parent, level by level down the hierarchy: neighbours in the list seldom depend on
/// each other, so a processor multiplies several matrices at a time.
pub(super) struct JointLevels(Vec<LevelJoint>);

impl JointLevels {
    /// The levels of a skeleton.
    pub fn new(skeleton: &Skeleton) -> Self {
        let mut depths = Vec::with_capacity(skeleton.len());
        let mut bones = Vec::with_capacity(skeleton.len());
        for (joint, &parent) in skeleton.parents().iter().enumerate() {
            if parent == NO_PARENT {
                depths.push(0);
                continue;
            }
            depths.push(depths[usize::from(parent)] + 1);
            let joint = joint as u16;
            bones.push(LevelJoint { joint, parent });
        }
        bones.sort_by_key(|bone| depths[usize::from(bone.joint)]);
        Self(bones)
    }

    /// Bytes of the levels of a skeleton.
    pub fn bytes(skeleton: &Skeleton) -> u64 {
        (skeleton.len() * size_of::<LevelJoint>()) as u64
    }
}

/// Turns the local pose of one instance, 16 joints in the lanes of each item, into its model pose, one matrix per joint.
pub(super) fn strips_to_model(
    isa: Isa,
    skeleton: &Skeleton,
    levels: &JointLevels,
    local: &[Local<STRIP>],
    model: &mut [Rows],
) {
    simd::run_128(
        isa,
        StripsToModel {
            skeleton,
            levels,
            local,
            model,
        },
    );
}

struct StripsToModel<'a> {
    skeleton: &'a Skeleton,
    levels: &'a JointLevels,
    local: &'a [Local<STRIP>],
    model: &'a mut [Rows],
}

impl Kernel for StripsToModel<'_> {
    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, V: Simd<W>>(self) {
        let model = self.model;
        for (chunk, model) in model.chunks_mut(W).enumerate() {
            let strip = &self.local[chunk * W / STRIP];
            let numbers = affine::<STRIP, W, V>(strip, chunk * W % STRIP / W);
            for (row, numbers) in numbers.as_chunks::<4>().0.iter().enumerate() {
                for (matrix, four) in model.iter_mut().zip(V::columns(*numbers)) {
                    matrix.as_chunks_mut().0[row] = four.to_array();
                }
            }
        }
        for (joint, matrix) in self.skeleton.matrices() {
            model[usize::from(*joint)] = *matrix;
        }
        for LevelJoint { joint, parent } in &self.levels.0 {
            let own = vectors(&model[usize::from(*joint)]);
            let matrix = V::product_128(&model[usize::from(*parent)], &own);
            write(&matrix, &mut model[usize::from(*joint)]);
        }
    }
}

/// Multiplies the model pose of one instance by inverse binds. `joints`, `inverse_binds` and `palette` hold one item per
/// palette entry.
pub(super) fn palette_of_one(
    isa: Isa,
    joints: &[u16],
    inverse_binds: &[Rows],
    model: &[Rows],
    palette: &mut [Rows],
) {
    simd::run_128(
        isa,
        PaletteOfOne {
            joints,
            inverse_binds,
            model,
            palette,
        },
    );
}

struct PaletteOfOne<'a> {
    joints: &'a [u16],
    inverse_binds: &'a [Rows],
    model: &'a [Rows],
    palette: &'a mut [Rows],
}

impl Kernel for PaletteOfOne<'_> {
    #[inline(always)]
    fn run<const W: usize, V: Simd<W>>(self) {
        let inputs = self.joints.iter().zip(self.inverse_binds);
        for (out, (joint, inverse_bind)) in self.palette.iter_mut().zip(inputs) {
            let model = &self.model[usize::from(*joint)];
            write(&V::product_128(model, &vectors(inverse_bind)), out);
        }
    }
}

/// The three rows of a matrix.
#[inline(always)]
fn vectors(matrix: &Rows) -> [Vec4; 3] {
    let mut rows = [Vec4::ZERO; 3];
    for (row, four) in rows.iter_mut().zip(matrix.as_chunks::<4>().0) {
        *row = Vec4::from_array(*four);
    }
    rows
}

#[inline(always)]
fn write(matrix: &[Vec4; 3], out: &mut Rows) {
    for (out, row) in out.as_chunks_mut::<4>().0.iter_mut().zip(matrix) {
        *out = row.to_array();
    }
}
