//! Ticks of the poses that a block caches when it is not posed at every tick.

use crate::blocks::{Block, Blocks};
use crate::crowd::{Between, UpdateRate};
use std::sync::atomic::{AtomicU64, Ordering};

/// Stands for a pose that has not been computed yet.
const NEVER: u64 = u64::MAX;

/// The ticks of the two cached poses of each block. In a running crowd one of them is due every few ticks; after a seek
/// both are.
pub(super) struct PoseCache {
    // Empty if all blocks are posed at every tick. Only the thread that poses a block accesses its ticks.
    ticks: Vec<[AtomicU64; 2]>,
}

/// Number of blocks whose ticks are kept: all, if any of them is not posed at every tick.
fn cached(blocks: &Blocks) -> usize {
    let any = blocks.all().iter().any(|b| b.rate != UpdateRate::PLAIN);
    if any { blocks.all().len() } else { 0 }
}

impl PoseCache {
    pub fn new(blocks: &Blocks) -> Self {
        Self { ticks: (0..cached(blocks)).map(|_| [NEVER; 2].map(AtomicU64::new)).collect() }
    }

    /// Bytes that [`PoseCache::new`] will allocate.
    pub fn bytes(blocks: &Blocks) -> u64 {
        (cached(blocks) * size_of::<[AtomicU64; 2]>()) as u64
    }

    /// Calls `pose(tick, slot)` for each of the two poses that is not cached yet.
    pub fn update(&self, block: &Block, between: Between, mut pose: impl FnMut(u32, usize)) {
        let places = [between.place, 1 - between.place];
        let ticks = [between.start, between.end];
        for ((place, tick), slot) in places.into_iter().zip(ticks).zip(block.cached_slots(between)) {
            if self.ticks[block.index][place].swap(tick.into(), Ordering::Relaxed) != u64::from(tick) {
                pose(tick, slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::{Crowd, Layer};
    use crate::fixture;
    use crate::model::IDENTITY_ROWS;
    use std::sync::Arc;

    #[test]
    fn a_running_crowd_needs_one_pose_a_turn_and_a_seek_two() {
        let model = Arc::new(fixture::chain());
        let mut crowd = Crowd::new();
        crowd.push_group(Arc::clone(&model), [(IDENTITY_ROWS, Layer::held(0, 0.0))]).unwrap();
        let blocks = Blocks::new(&crowd.with_update_rates(|_| 4).unwrap(), 16, false);
        let (cache, block) = (PoseCache::new(&blocks), &blocks.all()[0]);
        let due = |tick| {
            let mut posed = Vec::new();
            cache.update(block, block.rate.between(tick).unwrap(), |tick, slot| posed.push((tick, slot)));
            posed
        };
        let [a, b] = [1, 2];
        assert_eq!(due(0), [(0, a), (4, b)]);
        assert_eq!([due(1), due(2), due(3)], [const { Vec::new() }; 3]);
        assert_eq!(due(4), [(8, a)]);
        assert_eq!(due(1_001), [(1_000, a), (1_004, b)]);
        assert_eq!(due(998), [(996, b)]);
    }
}
