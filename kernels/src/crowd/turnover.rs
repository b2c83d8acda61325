//! Which instances are replaced at which tick, and by which others: functions of seed, tick and instance alone, so that
//! every backend and the reference find them without history.

use crate::model::Lists;
use fnv::FnvHashMap;
use std::hash::Hash;

/// Newcomers are ahead of their models by fewer ticks than this.
const AHEAD: u64 = 1 << 12;

/// The replacement of instances. They are divided into equally large shifts at random, one of which leaves in each tick.
/// The places of a shift pass to its newcomers in another order, so that any of its models may stand at each.
#[derive(Debug, Clone)]
pub struct Turnover {
    seed: u64,
    /// Number of shifts, which is also that of ticks between two replacements of an instance.
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
    /// A turnover of a share, above 0, of instances, for each of which `kinds` has what it must have in common with those
    /// that may take its place.
    pub(super) fn new<K: Eq + Hash>(
        kinds: impl ExactSizeIterator<Item = K>,
        share: f64,
        seed: u64,
    ) -> Self {
        let mut order: Vec<u32> = (0..kinds.len() as u32).collect();
        order.sort_by_key(|&instance| drawn(seed, instance, 0));
        let mut rank = vec![0; order.len()];
        (0..)
            .zip(&order)
            .for_each(|(place, &instance)| rank[instance as usize] = place);
        let mut known = FnvHashMap::default();
        let number = |key: K| {
            let next = known.len() as u32;
            *known.entry(key).or_insert(next)
        };
        let kind: Vec<u32> = kinds.map(number).collect();
        let kinds = Lists::gathered(
            known.len(),
            kind.iter().map(|kind| *kind as usize).zip(0..).collect(),
        );
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
        let lists = [&self.order, &self.rank, &self.kind]
            .map(|list| size_of_val(&list[..]))
            .iter()
            .sum::<usize>();
        lists + self.kinds.bytes()
    }

    /// The instances that are others at one tick than at another, each once.
    pub fn changed(&self, from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
        let ticks = from.min(to)..from.max(to);
        ticks
            .take(self.shifts as usize)
            .flat_map(|tick| self.of_shift(tick % self.shifts))
            .copied()
    }

    fn of_shift(&self, shift: u32) -> &[u32] {
        let begin = |shift: u32| {
            (u64::from(shift) * self.order.len() as u64 / u64::from(self.shifts)) as usize
        };
        &self.order[begin(shift)..begin(shift + 1)]
    }

    /// An instance's shift, and how often it has been replaced until a tick.
    fn shift(&self, instance: u32, tick: u32) -> (u32, u32) {
        let next = u64::from(self.rank[instance as usize]) + 1;
        let shift = (next * u64::from(self.shifts) - 1) / self.order.len() as u64;
        (
            shift as u32,
            ((u64::from(tick) + u64::from(self.shifts) - 1 - shift) / u64::from(self.shifts))
                as u32,
        )
    }

    /// The instance whose first place this one has at a tick.
    pub(super) fn place(&self, instance: u32, tick: u32) -> u32 {
        let (shift, times) = self.shift(instance, tick);
        let shift_mates = self.of_shift(shift);
        let own = self.rank[instance as usize] - self.rank[shift_mates[0] as usize];
        let moved = if times == 0 {
            0
        } else {
            drawn(self.seed, shift_mates[0], 2 * times)
        };
        shift_mates[((u64::from(own) + moved % shift_mates.len() as u64) % shift_mates.len() as u64)
            as usize]
    }

    /// The instance that this one is a copy of at a tick, and how many ticks it is ahead.
    pub(super) fn model(&self, instance: u32, tick: u32) -> (u32, u32) {
        let (_, times) = self.shift(instance, tick);
        if times == 0 {
            return (instance, 0);
        }
        let kind = self.kinds.of(self.kind[instance as usize] as usize);
        let drawn = drawn(self.seed, instance, 2 * times + 1);
        (
            kind[((drawn >> 32) % kind.len() as u64) as usize],
            (drawn % AHEAD) as u32,
        )
    }
}

/// A number drawn for an instance, by SplitMix64.
pub(super) fn drawn(seed: u64, instance: u32, purpose: u32) -> u64 {
    let step = |number: u64| {
        let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    };
    step(step(seed) ^ (u64::from(purpose) << 32 | u64::from(instance)))
}
