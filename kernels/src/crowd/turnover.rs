//! Which instances are replaced at which tick, and by which others: functions of seed, tick and instance alone, so that
//! every backend and the reference find them without history.

use crate::model::Lists;
use fnv::FnvHashMap;
use std::hash::Hash;

/// A newcomer is ahead of the instance that it copies by fewer ticks than this.
const AHEAD: u64 = 1 << 12;

/// The replacement of instances. They are divided into equally large shifts at random, one of which leaves in each tick.
/// The places of a shift pass to its newcomers in another order, so that any of its 3D models may stand at each.
#[derive(Debug, Clone)]
pub struct Turnover {
    seed: u64,
    /// Number of shifts, and of ticks between two replacements of an instance.
    shifts: u32,
    /// All instances, shift after shift.
    order: Vec<u32>,
    /// Place of each instance in `order`.
    rank: Vec<u32>,
    /// Instances that differ only in what they play and when.
    kinds: Lists<u32>,
    /// Index of each instance's kind.
    kind: Vec<u32>,
}

impl Turnover {
    /// A turnover of a share of all instances, above 0. `kinds` has a key for each: instances with equal keys may take each
    /// other's place.
    pub(super) fn new<K: Eq + Hash>(
        kinds: impl ExactSizeIterator<Item = K>,
        share: f64,
        seed: u64,
    ) -> Self {
        let mut order: Vec<u32> = (0..kinds.len() as u32).collect();
        order.sort_by_key(|&instance| drawn(seed, instance, 0));
        let mut rank = vec![0; order.len()];
        for (place, &instance) in (0..).zip(&order) {
            rank[instance as usize] = place;
        }
        let mut known = FnvHashMap::default();
        let mut kind = Vec::with_capacity(order.len());
        let mut instances_of_kinds = Vec::with_capacity(order.len());
        for (instance, key) in (0..).zip(kinds) {
            let next = known.len() as u32;
            let index = *known.entry(key).or_insert(next);
            kind.push(index);
            instances_of_kinds.push((index as usize, instance));
        }
        let kinds = Lists::gathered(known.len(), instances_of_kinds);
        Self {
            seed,
            shifts: (1.0 / share).round().max(1.0) as u32,
            order,
            rank,
            kinds,
            kind,
        }
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> usize {
        let lists = self.order.len() + self.rank.len() + self.kind.len();
        lists * size_of::<u32>() + self.kinds.bytes()
    }

    /// The instances that are replaced between two ticks, each once.
    pub fn changed(&self, from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
        let ticks = from.min(to)..from.max(to);
        ticks
            .take(self.shifts as usize)
            .flat_map(|tick| self.of_shift(tick % self.shifts))
            .copied()
    }

    /// The instances of a shift.
    fn of_shift(&self, shift: u32) -> &[u32] {
        &self.order[self.shift_start(shift)..self.shift_start(shift + 1)]
    }

    fn shift_start(&self, shift: u32) -> usize {
        (u64::from(shift) * self.order.len() as u64 / u64::from(self.shifts)) as usize
    }

    /// An instance's shift.
    fn shift(&self, instance: u32) -> u32 {
        let next = u64::from(self.rank[instance as usize]) + 1;
        ((next * u64::from(self.shifts) - 1) / self.order.len() as u64) as u32
    }

    /// Counts the replacements of an instance up to a tick.
    fn replacements(&self, instance: u32, tick: u32) -> u32 {
        let before = self.shifts - 1 - self.shift(instance);
        ((u64::from(tick) + u64::from(before)) / u64::from(self.shifts)) as u32
    }

    /// The instance whose first place this one has at a tick.
    pub(super) fn place(&self, instance: u32, tick: u32) -> u32 {
        let replacements = self.replacements(instance, tick);
        if replacements == 0 {
            return instance;
        }
        let shift_mates = self.of_shift(self.shift(instance));
        let first = shift_mates[0];
        let place = u64::from(self.rank[instance as usize] - self.rank[first as usize]);
        let count = shift_mates.len() as u64;
        let moved = drawn(self.seed, first, 2 * replacements) % count;
        shift_mates[((place + moved) % count) as usize]
    }

    /// The instance that this one is a copy of at a tick, and how many ticks it is ahead.
    pub(super) fn original(&self, instance: u32, tick: u32) -> (u32, u32) {
        let replacements = self.replacements(instance, tick);
        if replacements == 0 {
            return (instance, 0);
        }
        let kind = self.kinds.of(self.kind[instance as usize] as usize);
        let drawn = drawn(self.seed, instance, 2 * replacements + 1);
        let original = kind[((drawn >> 32) % kind.len() as u64) as usize];
        (original, (drawn % AHEAD) as u32)
    }
}

/// A number drawn for an instance, by SplitMix64.
pub(super) fn drawn(seed: u64, instance: u32, purpose: u32) -> u64 {
    split_mix(split_mix(seed) ^ (u64::from(purpose) << 32 | u64::from(instance)))
}

fn split_mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}
