//! Weights of the layers of a block's instances: the input of [`super::blend`].

use crate::crowd::{LayerKind, MAX_LAYERS};
use arrayvec::ArrayVec;

/// Weights of joints in a layer.
#[derive(Debug, Clone, Copy)]
pub enum Mask<'a, const N: usize> {
    /// All joints, fully.
    All,
    /// One weight per joint, the same for all lanes.
    Same(&'a [f32]),
    /// One weight per joint for each lane; `None` moves all joints fully.
    Lanes([Option<&'a [f32]>; N]),
}

/// Weights of a slot's poses in the lanes of a block. Lanes of weight 0 are not changed.
#[derive(Debug, Clone, Copy)]
pub struct SlotWeights<'a, const N: usize> {
    /// Index of the slot among the block's local poses.
    pub slot: usize,
    /// The layer's index, which determines the order.
    pub layer: usize,
    /// Operation that combines it with the pose beneath.
    pub kind: LayerKind,
    /// One weight per lane.
    pub weights: [f32; N],
    /// Weights per joint, as factors of `weights`.
    pub mask: Mask<'a, N>,
}

/// Shares in the order in which they are combined. Lanes may differ in kind, so a slot can have one share per kind.
pub type Shares<'a, const N: usize> = ArrayVec<SlotWeights<'a, N>, { 3 * MAX_LAYERS }>;

/// Lanes whose layer of one index is in an inertial fade.
#[derive(Debug, Clone)]
pub struct Momentum<'a, const N: usize> {
    /// The layer's index.
    pub layer: usize,
    /// -1 if the layer starts, 1 if it ends.
    pub coming: [f32; N],
    /// Remaining fraction of the offset at the fade's start; 0 in lanes without such a fade.
    pub offset: [f32; N],
    /// Factor for the change of that offset in the tick before the start.
    pub speed: [f32; N],
    /// The layers up to this one when the fade began, and one tick earlier.
    pub past: [Shares<'a, N>; 2],
}

/// Input of [`super::blend`] for a block.
#[derive(Debug, Clone, Default)]
pub struct Recipe<'a, const N: usize> {
    /// Weights of the layers at this tick.
    pub shares: Shares<'a, N>,
    /// Inertial fades under way, by layer.
    pub momenta: ArrayVec<Momentum<'a, N>, MAX_LAYERS>,
}

/// Weights of the offset and of its change per tick, `elapsed` of `length` ticks into an inertial fade.
///
/// They are the quintics that start at 1 with speed 0, and at 0 with speed 1, and end at 0 with speed and acceleration
/// 0.
pub fn quintics(elapsed: u32, length: u32) -> [f32; 2] {
    let s = elapsed as f32 / length as f32;
    let s3 = s * s * s;
    [
        1.0 - s3 * (10.0 - s * (15.0 - 6.0 * s)),
        length as f32 * (s - s3 * (6.0 - s * (8.0 - 3.0 * s))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quintics_start_and_end_as_hermite_says() {
        assert_eq!(quintics(0, 20), [1.0, 0.0]);
        let end = quintics(20, 20);
        assert!(end[0].abs() < 1e-6 && end[1].abs() < 1e-5, "{end:?}");
        // After one tick, the speed has contributed almost a whole tick's change, and the offset is almost unchanged.
        let [offset, speed] = quintics(1, 1_000);
        assert!((offset - 1.0).abs() < 1e-6 && (speed - 1.0).abs() < 1e-4);
    }
}
