//! The points of a sweep: every combination of the axes, in an order with small crowds first.

use crate::scene::{Lod, Overrides};

/// Values to combine; an empty axis leaves the scene as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepAxes {
    /// Instances of all groups together.
    pub instances: Vec<u64>,
    /// Numbers of times that a frame draws the crowd.
    pub passes: Vec<u32>,
    /// Approximate vertex counts to bring each model to.
    pub vertices: Vec<u32>,
    /// Most influences that a vertex keeps.
    pub influences: Vec<u32>,
    /// Active morph targets of each instance.
    pub active_targets: Vec<u32>,
    /// Numbers of models in groups of people.
    pub models: Vec<u32>,
    /// Kinds of detail that are dropped with distance.
    pub lod: Vec<Lod>,
    /// Threads of parallel backends.
    pub threads: Vec<u32>,
}

/// Everything but the number of instances: the common part of a curve over instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Series {
    /// Threads of parallel backends; `None` for as many as the processor has.
    pub threads: Option<u32>,
    /// Approximate vertex count to bring each model to.
    pub vertices: Option<u32>,
    /// Most influences that a vertex keeps.
    pub influences: Option<u32>,
    /// Active morph targets of each instance.
    pub active_targets: Option<u32>,
    /// Number of models in groups of people.
    pub models: Option<u32>,
    /// Kinds of detail that are dropped with distance.
    pub lod: Option<Lod>,
    /// Number of times that a frame draws the crowd.
    pub passes: Option<u32>,
}

/// One crowd that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweepPoint {
    /// Everything but the number of instances.
    pub series: Series,
    /// Instances of all groups together.
    pub instances: Option<u64>,
}

impl SweepPoint {
    /// The corresponding changes to a scene, on top of `base`.
    pub fn overrides(&self, base: Overrides) -> Overrides {
        Overrides {
            instances: self.instances.or(base.instances),
            passes: self.series.passes.or(base.passes),
            vertices: self.series.vertices.or(base.vertices),
            influences: self.series.influences.or(base.influences),
            active_targets: self.series.active_targets.or(base.active_targets),
            models: self.series.models.or(base.models),
            lod: self.series.lod.or(base.lod),
            ..base
        }
    }
}

/// Part of a sweep: `number` of `of`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl Default for Shard {
    fn default() -> Self {
        Self { number: 1, of: 1 }
    }
}

impl std::str::FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = |part: &str| part.parse().ok().filter(|n| *n > 0);
        let numbers = text.split_once('/').and_then(|(number, of)| Some((parse(number)?, parse(of)?)));
        match numbers {
            Some((number, of)) if number <= of => Ok(Self { number, of }),
            _ => Err("expected a part and how many there are, such as 1/4"),
        }
    }
}

impl SweepAxes {
    /// The points of a part of the sweep. Threads change least often, instances most often and in rising order.
    pub fn points(&self, shard: Shard) -> Vec<SweepPoint> {
        let mut points = Vec::new();
        let mut at = 0;
        for &threads in &choices(&self.threads) {
            for &vertices in &choices(&self.vertices) {
                for &influences in &choices(&self.influences) {
                    for &active_targets in &choices(&self.active_targets) {
                        for &models in &choices(&self.models) {
                            for &lod in &choices(&self.lod) {
                                for &passes in &choices(&self.passes) {
                                    let series =
                                        Series { threads, vertices, influences, active_targets, models, lod, passes };
                                    for (size, &instances) in choices(&self.instances).iter().enumerate() {
                                        // Along the diagonals, so that large crowds are spread over the parts.
                                        if (at + size) % shard.of == shard.number - 1 {
                                            points.push(SweepPoint { series, instances });
                                        }
                                    }
                                    at += 1;
                                }
                            }
                            at += 1;
                        }
                    }
                }
            }
        }
        points
    }
}

/// The values in rising order without duplicates; a single `None`, the scene's own value, for an empty axis.
fn choices<T: Copy + Ord>(axis: &[T]) -> Vec<Option<T>> {
    let mut values: Vec<_> = axis.iter().copied().map(Some).collect();
    values.sort_unstable();
    values.dedup();
    if values.is_empty() { vec![None] } else { values }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes() -> SweepAxes {
        SweepAxes { instances: vec![100, 10, 10, 1_000], passes: vec![0, 2], ..SweepAxes::default() }
    }

    #[test]
    fn small_crowds_come_first_and_none_twice() {
        let points = axes().points(Shard::default());
        let found: Vec<_> = points.iter().map(|p| (p.series.passes.unwrap(), p.instances.unwrap())).collect();
        assert_eq!(found, [(0, 10), (0, 100), (0, 1_000), (2, 10), (2, 100), (2, 1_000)]);
        assert_eq!(SweepAxes::default().points(Shard::default()).len(), 1);
    }

    #[test]
    fn shards_are_a_partition_and_share_the_large_crowds() {
        let all = axes().points(Shard::default());
        for of in 1..5 {
            let parts: Vec<_> =
                (1..=of).map(|number| axes().points(format!("{number}/{of}").parse().unwrap())).collect();
            let mut joined: Vec<_> = parts.concat();
            joined.sort_by_key(|p| (p.series.passes, p.instances));
            assert_eq!(joined, all);
        }
        let large =
            |part: &str| axes().points(part.parse().unwrap()).iter().filter(|p| p.instances == Some(1_000)).count();
        assert_eq!((large("1/3"), large("3/3")), (1, 1));
        assert!(["0/2", "3/2", "1", "/", "1/0", "-1/2"].iter().all(|text| text.parse::<Shard>().is_err()));
    }
}
