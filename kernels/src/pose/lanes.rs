//! What the lanes of a local pose hold: instances, or joints of one instance.

use super::Local;
use super::joint_strip::STRIP;
use crate::simd::Simd;

/// What the lanes of a [`Local`] hold.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lanes {
    /// Instances; the one in this lane is meant.
    Instance(usize),
    /// [`STRIP`] neighbouring joints of one instance.
    Joints,
}

/// Items of a local pose of `N` instances in `L` lanes: strips of joints if there is a single instance for several
/// lanes, otherwise joints.
pub(super) fn items<const N: usize, const L: usize>(joints: usize) -> usize {
    if const { N < L } {
        joints.div_ceil(STRIP)
    } else {
        joints
    }
}

/// Writes neighbouring numbers of a joint.
pub(super) fn write<const L: usize>(
    local: &mut [Local<L>],
    joint: usize,
    lanes: Lanes,
    row: usize,
    values: &[f32],
) {
    let (item, lane) = match lanes {
        Lanes::Instance(lane) => (joint, lane),
        Lanes::Joints => (joint / STRIP, joint % STRIP),
    };
    let out = &mut local[item];
    for (offset, value) in values.iter().enumerate() {
        out[row + offset][lane] = *value;
    }
}

/// Repeats the last joint in the lanes beyond it, so that blending finds rotations there that it can normalise: results
/// that are not numbers would stay in memory that other blocks use.
pub(super) fn repeat_last<const L: usize>(joints: usize, local: &mut [Local<L>]) {
    let last = (joints - 1) % STRIP;
    if let Some(strip) = local.last_mut() {
        for row in strip {
            let number = row[last];
            row[last..].fill(number);
        }
    }
}

/// Loads the numbers of instances for the lanes `W * chunk..`: a single instance's number for all lanes.
#[inline(always)] // to take on the caller's instruction set
pub(super) fn load_instances<const N: usize, const W: usize, V: Simd<W>>(
    numbers: &[f32; N],
    chunk: usize,
) -> V {
    if const { N == 1 } {
        V::splat(numbers[0])
    } else {
        V::load_chunk(numbers, chunk)
    }
}
