//! Comparison of two sets of results, row by row.
//!
//! All intervals hold simultaneously with 95 %: among a hundred comparisons of a binary with itself, at most five show
//! any row as changed. METHODOLOGY.md explains the intervals.

use super::{CONFIDENCE, RESOLUTION};
use super::{Machine, Measurement, MeasurementKey, Recorded};
use crate::frame::{Clock, Stage};
use crate::harness::run::Status;
use crate::harness::uncertainty::{FEWEST_FRAMES, Level, Ratio};
use std::collections::{BTreeMap, BTreeSet};
use strum::IntoStaticStr;

/// Spread of a run's segments above which a warning is given.
const DRIFT: f64 = 0.03;
/// Median absolute deviation of a normal distribution over its standard deviation.
const MAD: f64 = 0.674_489_750_196_081_7;
/// Rows of one backend per degree of freedom of a spread that is estimated from a table's rows.
const ROWS_FOR_FREEDOM: usize = 3;
const MOST_FREEDOM: f64 = 8.0;
/// Fraction of the rows that must have changed in the same direction before the machine is suspected.
const COMMON: f64 = 0.8;

/// Verdict on a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Verdict {
    /// Takes less time with certainty.
    Faster,
    /// Takes more time with certainty.
    Slower,
    /// The interval contains 1.
    #[strum(to_string = "same within noise")]
    Same,
}

/// One stage of one backend at one point, in both sets.
#[derive(Debug, Clone, PartialEq)]
pub struct StageComparison {
    /// Readable name of the row.
    pub name: String,
    /// Medians in the base and in the new set, in nanoseconds.
    pub medians: [Option<f64>; 2],
    /// New over base, with the bounds of the interval, or the reason why there is no interval.
    pub ratio: Result<(f64, f64, f64), String>,
}

impl StageComparison {
    /// The verdict, which follows from the interval.
    ///
    /// # Errors
    /// The reason why there is no interval.
    pub fn verdict(&self) -> Result<Verdict, &str> {
        let (_, low, high) = *self.ratio.as_ref().map_err(String::as_str)?;
        Ok(match (low > 1.0, high < 1.0) {
            (true, _) => Verdict::Slower,
            (_, true) => Verdict::Faster,
            _ => Verdict::Same,
        })
    }
}

/// A comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The largest change first, then rows that cannot be compared.
    pub rows: Vec<StageComparison>,
    /// Names of rows that the base measured and that failed in the new results.
    pub failed: Vec<String>,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
}

/// Key for matching rows: ignores the scene's options, and the number of threads unless both sets have several.
fn matched(measurement: &Measurement, by_threads: bool) -> MeasurementKey {
    let mut key = measurement.key();
    key.point.scene_hash.clear();
    if !by_threads {
        key.point.threads = 0;
    }
    key
}

fn name(key: &MeasurementKey) -> String {
    let MeasurementKey {
        point,
        backend,
        stage,
        clock,
    } = key;
    let threads = if point.threads > 0 {
        format!(", {} threads", point.threads)
    } else {
        String::new()
    };
    let clock = if *clock == Clock::Wall {
        String::new()
    } else {
        format!(" ({})", clock.name())
    };
    let stage = stage.name();
    format!(
        "{} x {}, passes {}{threads}: {backend} {stage}{clock}",
        point.scene, point.instances, point.passes
    )
}

/// A row that both sets have.
struct Measured {
    /// Base and new, from all runs of each.
    levels: [Level; 2],
    /// New over base, from all runs of each side.
    ratio: Ratio,
    /// The same from pairs of runs, if base and new alternated.
    paired: Option<Ratio>,
}

/// The runs of a row in the base, and in the new results.
type Sides<'a> = [Vec<&'a Measurement>; 2];

/// Names of the sides.
const SIDES: [&str; 2] = ["the base", "the new results"];

/// Compares the measurements that both sets have.
pub fn compare(base: &Recorded, new: &Recorded) -> Comparison {
    let threads = |set: &Recorded| {
        set.measurements
            .iter()
            .map(|m| m.row.threads)
            .collect::<BTreeSet<_>>()
    };
    let (base_threads, new_threads) = (threads(base), threads(new));
    // A machine with another thread count is compared nevertheless, with a warning; a sweep over threads is matched by
    // them.
    let by_threads = base_threads.len() > 1 || new_threads.len() > 1;
    let mut all: BTreeMap<MeasurementKey, Sides> = BTreeMap::new();
    for (side, set) in [base, new].into_iter().enumerate() {
        for measurement in &set.measurements {
            all.entry(matched(measurement, by_threads)).or_default()[side].push(measurement);
        }
    }
    let failed = all
        .iter()
        .filter(|(_, sides)| failed(sides))
        .map(|(key, _)| name(key))
        .collect();
    let pairs: Vec<_> = all
        .iter()
        .map(|(key, sides)| (key, sides, measured(sides)))
        .collect();
    let both = || {
        pairs
            .iter()
            .filter_map(|(key, _, row)| Some((key, row.as_ref().ok()?)))
    };
    let compared = both().count();
    let noise = between_runs(both().map(|(_, row)| row.ratio));
    let in_turns = both().all(|(_, row)| row.paired.is_some());
    let frames = both().filter(|(key, _)| (key.stage, key.clock) == (Stage::Frame, Clock::Wall));
    let drift = frames
        .flat_map(|(_, row)| row.levels)
        .map(|level| level.drift)
        .fold(0.0, f64::max);
    let mut rows: Vec<StageComparison> = pairs
        .into_iter()
        .map(|(key, sides, row)| {
            let medians = match &row {
                Ok(measured) => measured.levels.map(|level| Some(level.median())),
                Err(_) => sides.each_ref().map(|side| newest_median(side)),
            };
            let ratio = row.map(|measured| interval(&measured, noise, compared - 1));
            StageComparison {
                name: name(key),
                medians,
                ratio,
            }
        })
        .collect();
    rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let mut warnings: Vec<String> = machines(base, new).into_iter().collect();
    warnings.extend((0..SIDES.len()).filter_map(|side| pooled(&all, side)));
    if !by_threads && base_threads != new_threads {
        warnings.push("the numbers of threads differ".into());
    }
    warnings.extend(in_common(&rows));
    if !in_turns {
        if drift > DRIFT {
            warnings.push(format!(
                "frames drifted by {:.0} % within a run: close other programs",
                drift * 1e2
            ));
        }
        warnings.push(
            "not measured by turns: to see small changes, or changes of most rows, measure base and new by turns, three \
             times each or more, and name the folders above the runs"
                .into(),
        );
    }
    Comparison {
        rows,
        failed,
        warnings,
    }
}

/// Sort key: the size of a row's change. Rows that cannot be compared come last.
fn size(row: &StageComparison) -> f64 {
    let told_apart = f64::from(u8::from(matches!(
        row.verdict(),
        Ok(Verdict::Faster | Verdict::Slower)
    )));
    row.ratio
        .as_ref()
        .map_or(-1.0, |(ratio, ..)| 1e3 * told_apart + ratio.ln().abs())
}

/// Spread between runs of identical code, estimated from a table in which most rows did not change: the spread of the
/// ratios' logarithms around 0, and its degrees of freedom. Single runs do not show it.
fn between_runs(ratios: impl Iterator<Item = Ratio>) -> (f64, f64) {
    let mut logs: Vec<f64> = ratios.map(|ratio| ratio.log.abs()).collect();
    logs.sort_unstable_by(f64::total_cmp);
    let spread = logs.get(logs.len() / 2).map_or(0.0, |middle| middle / MAD);
    (
        spread,
        ((logs.len() / ROWS_FOR_FREEDOM) as f64).clamp(1.0, MOST_FREEDOM),
    )
}

/// The ratio of a row with the bounds of its interval.
fn interval(measured: &Measured, (spread, freedom): (f64, f64), others: usize) -> (f64, f64, f64) {
    let ratio = measured
        .paired
        .unwrap_or_else(|| measured.ratio.with_noise(spread, freedom));
    let (low, high) = ratio.interval(CONFIDENCE, others);
    (ratio.value(), low, high)
}

fn newest_median(side: &[&Measurement]) -> Option<f64> {
    side.iter()
        .max_by(|a, b| a.row.utc.cmp(&b.row.utc))?
        .row
        .median_ns
        .map(|ns| ns as f64)
}

/// A row in both sets, or the reason why it cannot be compared.
fn measured(sides: &Sides) -> Result<Measured, String> {
    if let Some((_, which)) = sides.iter().zip(SIDES).find(|(side, _)| side.is_empty()) {
        return Err(format!("not in {which}"));
    }
    let hashes: BTreeSet<&str> = sides
        .iter()
        .flatten()
        .map(|m| m.row.scene_hash.as_str())
        .collect();
    if hashes.len() > 1 {
        return Err("the scene is another one (its hash differs)".into());
    }
    let (base, new) = (usable(&sides[0], SIDES[0])?, usable(&sides[1], SIDES[1])?);
    let level = |side: &[&Measurement], which: &str| {
        let runs: Vec<Vec<u64>> = side
            .iter()
            .map(|m| m.samples.iter().map(|&(_, ns)| ns).collect())
            .collect();
        Level::of(runs.iter().map(|run| &run[..]))
            .ok_or_else(|| format!("fewer than {FEWEST_FRAMES} frames in {which}"))
    };
    let (old, young) = (level(&base, SIDES[0])?, level(&new, SIDES[1])?);
    Ok(Measured {
        levels: [old, young],
        ratio: young.over(&old),
        paired: paired(&base, &new),
    })
}

/// Returns whether a row was measured in the base and failed in all new results.
fn failed([base, new]: &Sides) -> bool {
    let fails = |m: &&Measurement| {
        matches!(
            m.row.status,
            Status::ParityFailed | Status::TooLarge | Status::Error
        )
    };
    base.iter().any(|m| m.is_ok()) && !new.is_empty() && new.iter().all(fails)
}

/// The runs that measured a row, in their order, or the reason why it cannot be compared.
fn usable<'a>(side: &[&'a Measurement], which: &str) -> Result<Vec<&'a Measurement>, String> {
    let mut ok: Vec<&Measurement> = side.iter().copied().filter(|m| m.is_ok()).collect();
    ok.sort_by(|a, b| (&a.row.utc, &a.row.run_id).cmp(&(&b.row.utc, &b.row.run_id)));
    let Some(newest) = ok.last() else {
        let status = side.last().map_or("missing", |m| m.row.status.name());
        return Err(format!("{status} in {which}"));
    };
    if newest.row.median_ns.is_some_and(|ns| ns < RESOLUTION) {
        return Err("shorter than the clock can tell apart".into());
    }
    ok.retain(|m| !m.samples.is_empty());
    if ok.is_empty() {
        return Err(format!("no samples in {which}"));
    }
    ok.retain(|m| m.row.unsteady != Some(true));
    if ok.is_empty() {
        return Err(format!("the device's clock was unsteady in {which}"));
    }
    Ok(ok)
}

/// The ratio from pairs of runs, if both sides have equally many and each pair was measured before the next.
fn paired(base: &[&Measurement], new: &[&Measurement]) -> Option<Ratio> {
    let pairs: Vec<_> = base
        .iter()
        .zip(new)
        .map(|(base, new)| (&base.row, &new.row))
        .collect();
    let by_turns = pairs
        .windows(2)
        .all(|w| std::cmp::max(&w[0].0.utc, &w[0].1.utc) < std::cmp::min(&w[1].0.utc, &w[1].1.utc));
    let logs = pairs
        .iter()
        .map(|(base, new)| Some((new.median_ns? as f64 / base.median_ns?.max(1) as f64).ln()));
    let logs: Vec<f64> = logs.collect::<Option<_>>()?;
    if base.len() == new.len() && by_turns {
        Ratio::of_pairs(&logs)
    } else {
        None
    }
}

/// A warning if the machines differ.
fn machines(base: &Recorded, new: &Recorded) -> Option<String> {
    let (old, new) = (base.machines(), new.machines());
    let list = |machines: &[Machine]| {
        machines
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" and ")
    };
    let differ = old.iter().collect::<BTreeSet<_>>() != new.iter().collect::<BTreeSet<_>>();
    differ.then(|| format!("the machines differ: {} against {}", list(&old), list(&new)))
}

/// A warning if a row of one side comes from several machines, whose differences would count as those between runs.
fn pooled(rows: &BTreeMap<MeasurementKey, Sides>, side: usize) -> Option<String> {
    let of_row = |sides: &Sides| {
        sides[side]
            .iter()
            .map(|m| m.machine())
            .collect::<BTreeSet<_>>()
    };
    let machines = rows
        .values()
        .map(of_row)
        .find(|machines| machines.len() > 1)?;
    let list = machines
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" and ");
    Some(format!(
        "runs of several machines in one row of {}: {list}; compare them separately",
        SIDES[side]
    ))
}

/// A warning if almost all rows changed in the same direction, which is more often due to the machine than to the code.
fn in_common(rows: &[StageComparison]) -> Option<String> {
    let logs: Vec<f64> = rows
        .iter()
        .filter_map(|row| row.ratio.as_ref().ok())
        .map(|(ratio, ..)| ratio.ln())
        .collect();
    let up = logs.iter().filter(|log| **log > 0.02).count() as f64;
    let down = logs.iter().filter(|log| **log < -0.02).count() as f64;
    let count = logs.len() as f64;
    if count < 6.0 || up.max(down) < COMMON * count {
        return None;
    }
    let way = if up > down { "longer" } else { "shorter" };
    let what = "unless the change touches everything, the machine ran at another speed";
    Some(format!(
        "nearly all rows took {way}: {what}; measure both again, by turns"
    ))
}

impl Comparison {
    /// Number of rows with an interval.
    pub fn compared(&self) -> usize {
        self.rows.iter().filter(|row| row.ratio.is_ok()).count()
    }

    /// Rows that are certainly slower by more than `limit` (0.05 is 5 %): their whole interval is beyond it.
    pub fn beyond(&self, limit: f64) -> Vec<&StageComparison> {
        self.rows
            .iter()
            .filter(|row| {
                row.ratio
                    .as_ref()
                    .is_ok_and(|(_, low, _)| *low > 1.0 + limit)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn several_machines_in_one_row_are_warned_of() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sweep");
        let one = Recorded::read(&[fixture]).unwrap();
        let mut two = one.clone();
        for mut measurement in one.measurements.iter().cloned() {
            measurement.row.cpu = Some("Other CPU".into());
            measurement.row.run_id += "-other";
            two.measurements.push(measurement);
        }
        let warned = |base: &Recorded, new: &Recorded| {
            let warnings = compare(base, new).warnings;
            warnings
                .into_iter()
                .filter(|warning| warning.contains("of several machines in one row"))
                .collect::<Vec<_>>()
        };
        assert_eq!(warned(&one, &one), [""; 0]);
        let mixed = warned(&two, &one);
        assert!(
            mixed.len() == 1 && mixed[0].contains("of the base") && mixed[0].contains("Other CPU"),
            "{mixed:?}"
        );
        assert_eq!(warned(&two, &two).len(), 2);
    }
}
