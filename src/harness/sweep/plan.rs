//! The points of a sweep: every combination of the axes, in an order with small crowds first.

use crate::scene::Settings;

/// Values to combine; an empty axis leaves the scene as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SweepAxes {
    /// Instances of all groups together.
    pub instances: Vec<u64>,
    /// Threads of parallel backends.
    pub threads: Vec<u32>,
    /// For each other setting that varies its values, each in settings of its own. The last ones change most often.
    pub settings: Vec<Vec<Settings>>,
}

/// Everything but the number of instances: the common part of a curve over instances.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Threads of parallel backends; `None` for as many as the processor has.
    pub threads: Option<u32>,
    /// The other settings.
    pub settings: Settings,
}

/// One crowd that is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepPoint {
    /// Everything but the number of instances.
    pub series: Series,
    /// Instances of all groups together.
    pub instances: Option<u64>,
}

impl SweepPoint {
    /// The settings of its crowd.
    pub fn settings(&self) -> Settings {
        Settings { instances: self.instances, ..self.series.settings.clone() }
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
        let mut series: Vec<Series> = choices(&self.threads)
            .into_iter()
            .map(|threads| Series { threads, settings: Settings::default() })
            .collect();
        for axis in self.settings.iter().filter(|axis| !axis.is_empty()) {
            let combined = |known: &Series| {
                let with = |value: &Settings| known.settings.clone().with(value.clone());
                axis.iter().map(|value| Series { settings: with(value), ..known.clone() }).collect::<Vec<_>>()
            };
            series = series.iter().flat_map(combined).collect();
        }
        let mut points = Vec::new();
        for (at, series) in series.iter().enumerate() {
            for (size, instances) in choices(&self.instances).into_iter().enumerate() {
                // Along the diagonals, so that large crowds are spread over the parts.
                if (at + size) % shard.of == shard.number - 1 {
                    points.push(SweepPoint { series: series.clone(), instances });
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
        let passes = [0, 2].map(|passes| Settings { passes: Some(passes), ..Settings::default() });
        SweepAxes { instances: vec![100, 10, 10, 1_000], settings: vec![passes.into()], ..SweepAxes::default() }
    }

    #[test]
    fn small_crowds_come_first_and_none_twice() {
        let points = axes().points(Shard::default());
        let found: Vec<_> = points.iter().map(|p| (p.series.settings.passes.unwrap(), p.instances.unwrap())).collect();
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
            joined.sort_by_key(|p| (p.series.settings.passes, p.instances));
            assert_eq!(joined, all);
        }
        let large =
            |part: &str| axes().points(part.parse().unwrap()).iter().filter(|p| p.instances == Some(1_000)).count();
        assert_eq!((large("1/3"), large("3/3")), (1, 1));
        assert!(["0/2", "3/2", "1", "/", "1/0", "-1/2"].iter().all(|text| text.parse::<Shard>().is_err()));
    }
}
