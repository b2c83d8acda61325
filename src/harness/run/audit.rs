//! Audits: of some measured frames, the vertices of a few instances are compared with the reference.
//!
//! A backend cannot tell an audited frame from others: it is read back only after it was timed, and nothing is filled
//! with NaN before it.

use crate::crowd::Crowd;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use std::ops::Range;

/// One frame of so many is audited, on average. The last one always is.
const FRAMES: u32 = 32;
/// Instances that an audit compares, at least: among all, and again among those that are shown if some are left out.
const INSTANCES: usize = 3;

/// Chooses what is audited.
pub(super) struct Auditor(Pcg32);

/// The beginning of a block of frames, or all of it.
pub(super) struct Cut {
    pub frames: Range<u32>,
    /// `true` if the last of the frames is audited.
    pub is_audited: bool,
}

impl Auditor {
    pub fn new(seed: u64) -> Self {
        Self(Pcg32::seed_from_u64(seed))
    }

    /// The frames of a block up to the first one that is audited, if there is one.
    pub fn cut(&mut self, frames: Range<u32>) -> Cut {
        match frames.clone().find(|_| self.below(FRAMES) == 0) {
            Some(audited) => Cut {
                frames: frames.start..audited + 1,
                is_audited: true,
            },
            None => Cut {
                frames,
                is_audited: false,
            },
        }
    }

    /// Instances to compare, of a crowd of which `visible` are shown.
    pub fn instances(&mut self, crowd: &Crowd, visible: Option<&[u32]>) -> Vec<u32> {
        let all = crowd.instance_count() as u32;
        let mut chosen: Vec<u32> = (0..INSTANCES).map(|_| self.below(all)).collect();
        if let Some(visible) = visible.filter(|visible| !visible.is_empty()) {
            chosen
                .extend((0..INSTANCES).map(|_| visible[self.below(visible.len() as u32) as usize]));
        }
        chosen
    }

    /// A number below `end`.
    fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(end)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_frame_may_be_audited_and_a_block_ends_with_it() {
        let mut auditor = Auditor::new(3);
        let mut audited = [0; 10];
        for _ in 0..10_000 {
            let mut start = 0;
            while start < 10 {
                let Cut { frames, is_audited } = auditor.cut(start..10);
                assert!(frames.start == start && frames.end > start);
                assert!(is_audited || frames.end == 10);
                audited[frames.end as usize - 1] += u32::from(is_audited);
                start = frames.end;
            }
        }
        let expected = 10_000 / FRAMES;
        assert!(
            audited
                .iter()
                .all(|count| count.abs_diff(expected) < expected / 3),
            "{audited:?}"
        );
    }
}
