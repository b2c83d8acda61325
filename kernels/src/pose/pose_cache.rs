//! Poses that a block caches when it is not posed at every tick.

use crate::blocks::Block;
use crate::crowd::Between;
use arrayvec::ArrayVec;

/// Ticks of the two poses that a block caches.
pub(super) type CachedTicks = [Option<u32>; 2];

/// The tick and slot of each of the two poses around a tick that are not cached yet; `cached` has their ticks then. In a
/// running crowd one of them is due every few ticks; after a seek both are.
pub(super) fn due(
    cached: &mut CachedTicks,
    block: &Block,
    between: Between,
) -> ArrayVec<(u32, usize), 2> {
    let places = [between.place, 1 - between.place];
    let ticks = [between.start, between.end];
    let mut due = ArrayVec::new();
    for (index, slot) in block.cached_slots(between).into_iter().enumerate() {
        let tick = ticks[index];
        if cached[places[index]].replace(tick) != Some(tick) {
            due.push((tick, slot));
        }
    }
    due
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Blocks;
    use crate::crowd::{Crowd, Layer};
    use crate::fixture_tests;
    use crate::model::IDENTITY_ROWS;
    use std::sync::Arc;

    #[test]
    fn a_running_crowd_needs_one_pose_a_turn_and_a_seek_two() {
        let model = Arc::new(fixture_tests::chain());
        let mut crowd = Crowd::new();
        crowd
            .push_group(Arc::clone(&model), [(IDENTITY_ROWS, Layer::held(0, 0.0))])
            .unwrap();
        let blocks = Blocks::new(&crowd.with_update_rates(|_| 4).unwrap(), false);
        let block = &blocks.all()[0];
        let mut cached = [None; 2];
        let mut due = |tick| due(&mut cached, block, block.rate.between(tick).unwrap()).to_vec();
        let [a, b] = [1, 2];
        assert_eq!(due(0), [(0, a), (4, b)]);
        assert_eq!([due(1), due(2), due(3)], [const { Vec::new() }; 3]);
        assert_eq!(due(4), [(8, a)]);
        assert_eq!(due(1_001), [(1_000, a), (1_004, b)]);
        assert_eq!(due(998), [(996, b)]);
    }
}
