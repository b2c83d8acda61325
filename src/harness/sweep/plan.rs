//! The points of a run: every combination of the axes, in an order with small crowds first.

use crate::scene::Settings;

/// Values to combine; an empty axis leaves the scene as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SweepAxes {
    /// Threads of parallel backends.
    pub threads: Vec<u32>,
    /// For each setting that varies its values, each in settings of its own. The last ones change most often; those are
    /// instances if they vary, in rising order.
    pub settings: Vec<Vec<Settings>>,
}

/// One crowd that is to be measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SweepPoint {
    /// Threads of parallel backends; `None` for as many as the processor has.
    pub threads: Option<u32>,
    /// Settings that replace those of the scene.
    pub settings: Settings,
}

impl SweepPoint {
    /// The same point with so many instances of all groups together; `None` for those of the scene.
    pub fn with_instances(&self, instances: Option<u64>) -> Self {
        Self {
            settings: Settings {
                instances,
                ..self.settings.clone()
            },
            ..*self
        }
    }

    /// Everything but the number of instances: the common part of a curve over instances.
    pub fn series(&self) -> Self {
        self.with_instances(None)
    }
}

/// One of several parts of a run, by its number from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    count: usize,
}

impl Default for Shard {
    fn default() -> Self {
        Self {
            number: 1,
            count: 1,
        }
    }
}

impl std::str::FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers: Result<Vec<usize>, _> = text.split('/').map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[number, count]) if (1..=count).contains(&number) => Ok(Self { number, count }),
            _ => Err("expected a part and how many there are, such as 1/4"),
        }
    }
}

/// The points that differ from each other where `draws` says that frames of a point draw: where nothing is drawn,
/// numbers of passes make no difference, and the first of them is kept, as 0.
pub fn distinct(points: Vec<SweepPoint>, draws: impl Fn(&SweepPoint) -> bool) -> Vec<SweepPoint> {
    let mut distinct: Vec<SweepPoint> = Vec::with_capacity(points.len());
    for mut point in points {
        if point.settings.passes.is_some() && !draws(&point) {
            point.settings.passes = Some(0);
        }
        if !distinct.contains(&point) {
            distinct.push(point);
        }
    }
    distinct
}

impl SweepAxes {
    /// The points of a part of the run. Threads change least often, instances most often and in rising order.
    pub fn points(&self, shard: Shard) -> Vec<SweepPoint> {
        let mut threads: Vec<_> = self.threads.iter().copied().map(Some).collect();
        threads.sort_unstable();
        threads.dedup();
        threads.resize(threads.len().max(1), None);
        let mut points = Vec::new();
        for threads in threads {
            points.push(SweepPoint {
                threads,
                ..SweepPoint::default()
            });
        }
        for axis in self.settings.iter().filter(|axis| !axis.is_empty()) {
            let mut combined = Vec::with_capacity(points.len() * axis.len());
            for point in &points {
                for value in axis {
                    combined.push(SweepPoint {
                        settings: point.settings.clone().with(value.clone()),
                        ..*point
                    });
                }
            }
            points = combined;
        }
        let sizes = match self.settings.last() {
            Some(axis) if axis.iter().any(|value| value.instances.is_some()) => axis.len(),
            _ => 1,
        };
        let mut part = Vec::new();
        for (at, point) in points.into_iter().enumerate() {
            // Along the diagonals, so that large crowds are spread over the parts.
            if (at / sizes + at % sizes) % shard.count == shard.number - 1 {
                part.push(point);
            }
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes() -> SweepAxes {
        let passes = [0, 2].map(|passes| Settings {
            passes: Some(passes),
            ..Settings::default()
        });
        let sizes = [10, 100, 1_000].map(|count| Settings {
            instances: Some(count),
            ..Settings::default()
        });
        SweepAxes {
            settings: vec![passes.into(), sizes.into()],
            ..SweepAxes::default()
        }
    }

    #[test]
    fn small_crowds_come_first_and_threads_last() {
        let place = |p: &SweepPoint| (p.settings.passes.unwrap(), p.settings.instances.unwrap());
        let found: Vec<_> = axes().points(Shard::default()).iter().map(place).collect();
        assert_eq!(
            found,
            [(0, 10), (0, 100), (0, 1_000), (2, 10), (2, 100), (2, 1_000)]
        );
        assert_eq!(
            SweepAxes::default().points(Shard::default()),
            [SweepPoint::default()]
        );
        let threads = SweepAxes {
            threads: vec![2, 1, 2],
            ..axes()
        }
        .points(Shard::default());
        let expected: Vec<_> = [1, 2].iter().flat_map(|count| [Some(*count); 6]).collect();
        assert_eq!(
            threads
                .iter()
                .map(|point| point.threads)
                .collect::<Vec<_>>(),
            expected,
            "each once, in order"
        );
    }

    #[test]
    fn passes_make_no_difference_where_nothing_is_drawn() {
        let points = axes().points(Shard::default());
        assert_eq!(distinct(points.clone(), |_| true), points);
        let undrawn = distinct(points.clone(), |_| false);
        assert_eq!(undrawn, points[..3], "those with 0 passes");
    }

    #[test]
    fn shards_are_a_partition_and_share_the_large_crowds() {
        let all = axes().points(Shard::default());
        for of in 1..5 {
            let parts: Vec<_> = (1..=of)
                .map(|number| axes().points(format!("{number}/{of}").parse().unwrap()))
                .collect();
            let mut joined: Vec<_> = parts.concat();
            joined.sort_by_key(|p| (p.settings.passes, p.settings.instances));
            assert_eq!(joined, all);
        }
        let large = |part: &str| {
            axes()
                .points(part.parse().unwrap())
                .iter()
                .filter(|p| p.settings.instances == Some(1_000))
                .count()
        };
        assert_eq!((large("1/3"), large("3/3")), (1, 1));
        assert!(
            ["0/2", "3/2", "1", "/", "1/0", "-1/2"]
                .iter()
                .all(|text| text.parse::<Shard>().is_err())
        );
    }
}
