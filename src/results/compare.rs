//! Comparison of two sets of results: frames first, and stages within them.
//!
//! Among a hundred comparisons of a binary with itself, at most five show any row as changed, wherever measuring stops.
//! METHODOLOGY.md explains the method.

use super::{CONFIDENCE, RESOLUTION};
use super::{Machine, Measurement, MeasurementKey, Point, Recorded};
use crate::frame::{Clock, Stage};
use crate::harness::run::Status;
use crate::harness::uncertainty::{FEWEST_FRAMES, LOOKS, Level, Ratio, Rounds};
use std::collections::{BTreeMap, BTreeSet};
use strum::IntoStaticStr;

/// Spread of a run's segments above which a warning is given.
const DRIFT: f64 = 0.03;
/// Median absolute deviation of a normal distribution over its standard deviation.
const MAD: f64 = 0.674_489_750_196_081_7;
/// Fraction of the rows that must have changed in the same direction before the machine is suspected.
const COMMON: f64 = 0.8;
/// Part of the probability of a false alarm that frames have among them. Stages have the rest; those of a frame that
/// changed have its part, too.
const FRAMES: f64 = 0.8;
/// Least spread of the times of one program's runs that were not measured by turns, as a fraction of the time, and the
/// degrees of freedom of the difference. No single run shows it; METHODOLOGY.md says where it was measured.
const PROCESSES: f64 = 0.03;
const PROCESSES_FREEDOM: f64 = 8.0;
/// Number of frames whose ratios show how much runs differ.
const SEVERAL: usize = 6;

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

/// New over base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The ratio of the times.
    pub ratio: f64,
    /// Bounds of its interval.
    pub low: f64,
    /// As `low`.
    pub high: f64,
}

impl Change {
    /// The change of a row whose verdict is a false alarm with a probability of `error`.
    fn new(measured: &Measured, error: f64) -> Self {
        let error = at_one_look(error, measured);
        let (low, high) = measured.ratio.interval(1.0 - error);
        Self {
            ratio: measured.ratio.value(),
            low,
            high,
        }
    }

    /// Returns whether more rounds would not answer better; see [`Comparison::is_decided`].
    fn is_decided(&self, limit: Option<f64>, detect: f64) -> bool {
        if let Some(limit) = limit {
            return self.low > 1.0 + limit || self.high < 1.0 + limit;
        }
        let is_small = self.high < 1.0 + detect && self.low > 1.0 / (1.0 + detect);
        self.verdict() != Verdict::Same || is_small
    }

    /// The verdict, which follows from the interval.
    pub fn verdict(&self) -> Verdict {
        if self.low > 1.0 {
            Verdict::Slower
        } else if self.high < 1.0 {
            Verdict::Faster
        } else {
            Verdict::Same
        }
    }
}

/// One stage of one backend at one point, in both sets.
#[derive(Debug, Clone, PartialEq)]
pub struct StageComparison {
    /// The scene and how it was run.
    pub point: String,
    /// The backend.
    pub backend: String,
    /// The stage, and its clock if that is not the wall clock.
    pub stage: String,
    /// `true` for a whole frame, and for a stage of a backend without one; `false` for a stage within a frame.
    pub is_frame: bool,
    /// Medians in the base and in the new set, in nanoseconds.
    pub medians: [Option<f64>; 2],
    /// The change, or the reason why the row cannot be compared.
    pub change: Result<Change, String>,
    /// Lower bound of the interval that a stage has if its frame did not change.
    alone: f64,
    /// Number that rows of the same backend at the same point share.
    backend_at_point: usize,
}

impl StageComparison {
    /// The name of the row.
    pub fn name(&self) -> String {
        format!("{}: {} {}", self.point, self.backend, self.stage)
    }

    /// The backend, and the stage if it is not the whole frame.
    pub fn subject(&self) -> String {
        if self.stage == Stage::Frame.name() {
            self.backend.clone()
        } else {
            format!("{} {}", self.backend, self.stage)
        }
    }

    /// The verdict; `None` if the row cannot be compared.
    pub fn verdict(&self) -> Option<Verdict> {
        self.change.as_ref().ok().map(Change::verdict)
    }

    /// Returns whether the row is certainly slower or faster.
    pub fn has_changed(&self) -> bool {
        matches!(self.verdict(), Some(Verdict::Faster | Verdict::Slower))
    }

    /// The size of the change, for sorting: certain changes before others, before rows that cannot be compared.
    fn size(&self) -> f64 {
        let certain = f64::from(u8::from(self.has_changed()));
        self.change
            .as_ref()
            .map_or(-1.0, |change| 1e3 * certain + change.ratio.ln().abs())
    }

    /// Returns whether rows are of the same backend at the same point.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.backend_at_point == other.backend_at_point
    }
}

/// The smallest changes of frames that a comparison could show: of those, four in five are found.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// Rounds in which both sides ran by turns; `None` if they did not.
    pub rounds: Option<usize>,
    /// That of the frame with the smallest, as a fraction.
    pub best: f64,
    /// That of the frame with the largest.
    pub worst: f64,
    /// Number of rounds, in all, after which every frame would show the change that was asked for; `None` if so many
    /// are never measured, or if the sides did not run by turns.
    pub needed: Option<usize>,
}

/// A comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The rows of each backend at each point together, its frame first; backends with the largest change first, and
    /// those that cannot be compared last.
    pub rows: Vec<StageComparison>,
    /// What it could show; `None` if nothing can be compared.
    pub sensitivity: Option<Sensitivity>,
    /// Names of rows that the base measured and that failed in the new results.
    pub failed: Vec<String>,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
}

/// Key for matching rows: ignores the scene's options, and the number of threads unless both sets have several.
fn matched(measurement: &Measurement, by_threads: bool) -> MeasurementKey {
    let mut key = measurement.key();
    key.point.scene_hash = None;
    if !by_threads {
        key.point.threads = None;
    }
    key
}

/// A row that is in one of the sets at least.
struct Row {
    /// As it is shown, without a change.
    shown: StageComparison,
    is_whole_frame: bool,
    /// What both sets say; `None` if the row cannot be compared.
    measured: Option<Measured>,
}

impl Row {
    fn new(key: &MeasurementKey, sides: &Sides, point: String, backend_at_point: usize) -> Self {
        let stage = key.stage.name();
        let mut shown = StageComparison {
            point,
            backend: key.backend.clone(),
            stage: match key.clock {
                Clock::Wall => stage.into(),
                clock => format!("{stage} ({})", clock.name()),
            },
            is_frame: false,
            medians: [newest_median(&sides[0]), newest_median(&sides[1])],
            change: Err(String::new()),
            alone: 0.0,
            backend_at_point,
        };
        let measured = measured(sides);
        match &measured {
            Ok(measured) => shown.medians = measured.medians.map(Some),
            Err(why) => shown.change = Err(why.clone()),
        }
        Self {
            shown,
            is_whole_frame: key.stage == Stage::Frame && key.clock == Clock::Wall,
            measured: measured.ok(),
        }
    }

    fn is_beside(&self, other: &Self) -> bool {
        self.shown.is_beside(&other.shown)
    }
}

/// A point in words, with its threads if both sets have several.
fn point_in_words(point: &Point, with_threads: bool) -> String {
    let mut words = format!(
        "{} x {}, passes {}",
        point.scene, point.instances, point.passes
    );
    if with_threads {
        words += &format!(", {} threads", point.threads);
    }
    let options = point.options.to_string();
    if !options.is_empty() {
        words += &format!(", {options}");
    }
    words
}

/// What both sets say of a row.
struct Measured {
    /// Median in the base and in the new set, in nanoseconds, over all runs of each.
    medians: [f64; 2],
    /// New over base.
    ratio: Ratio,
    /// The rounds of which it is the ratio, if base and new ran by turns.
    rounds: Option<Rounds>,
    /// The largest spread of a run's segments.
    drift: f64,
}

/// The runs of a row in the base, and in the new results.
type Sides<'a> = [Vec<&'a Measurement>; 2];

/// Names of the sides.
const SIDES: [&str; 2] = ["the base", "the new results"];

/// Compares the measurements that both sets have. `detect` is the change, as a fraction, that every frame should show.
pub fn compare(base: &Recorded, new: &Recorded, detect: f64) -> Comparison {
    let base_threads = threads(base);
    let new_threads = threads(new);
    // A machine with another thread count is compared nevertheless, with a warning; a sweep over threads is matched by
    // them.
    let by_threads = base_threads.len() > 1 || new_threads.len() > 1;
    let mut all: BTreeMap<MeasurementKey, Sides> = BTreeMap::new();
    for (side, set) in [base, new].into_iter().enumerate() {
        for measurement in &set.measurements {
            all.entry(matched(measurement, by_threads)).or_default()[side].push(measurement);
        }
    }
    let mut rows = Vec::new();
    let mut failed_rows = Vec::new();
    let mut backends_at_points = BTreeSet::new();
    for (key, sides) in &all {
        let Some(first) = sides.iter().flatten().next() else {
            continue;
        };
        backends_at_points.insert((&key.point, &key.backend));
        let point = point_in_words(&first.row.point(), by_threads);
        let row = Row::new(key, sides, point, backends_at_points.len());
        if failed(sides) {
            failed_rows.push(row.shown.name());
        }
        rows.push(row);
    }
    add_noise(&mut rows);
    let errors = Errors::new(&rows);
    let sensitivity = sensitivity(&rows, &errors, detect);
    let frames_drifted = drifted(&rows);
    let compared = rows.chunk_by(Row::is_beside);
    let rows = sorted(
        compared
            .map(|rows| compared_at_point(rows, &errors))
            .collect(),
    );

    let mut warnings: Vec<String> = machines(base, new).into_iter().collect();
    warnings.extend((0..SIDES.len()).filter_map(|side| pooled(&all, side)));
    if !by_threads && base_threads != new_threads {
        warnings.push("the numbers of threads differ".into());
    }
    if sensitivity.as_ref().is_some_and(|s| s.rounds.is_none()) {
        warnings.extend(in_common(&rows));
        warnings.extend(frames_drifted);
        warnings.push(format!(
            "not measured by turns: assumes that runs differ by {:.0} %; try --run",
            1e2 * PROCESSES
        ));
    }
    Comparison {
        rows,
        sensitivity,
        failed: failed_rows,
        warnings,
    }
}

fn threads(set: &Recorded) -> BTreeSet<usize> {
    set.measurements.iter().map(|m| m.row.threads).collect()
}

/// Probabilities of a false alarm: of one frame, and of one stage whose frame did not change.
struct Errors {
    frame: f64,
    stage: f64,
}

impl Errors {
    fn new(rows: &[Row]) -> Self {
        let mut frames = 0;
        let mut stages = 0;
        for rows in rows.chunk_by(Row::is_beside) {
            let comparable = Comparable::of(rows);
            frames += comparable.frames.len();
            stages += comparable.stages.len();
        }
        let frames_share = if stages == 0 { 1.0 } else { FRAMES };
        let error = 1.0 - CONFIDENCE;
        Self {
            frame: error * frames_share / frames.max(1) as f64,
            stage: error * (1.0 - frames_share) / stages.max(1) as f64,
        }
    }
}

/// The part of a probability that one look at a row has.
fn at_one_look(error: f64, measured: &Measured) -> f64 {
    match measured.rounds {
        Some(_) => error / LOOKS.len() as f64,
        None => error,
    }
}

/// The rows of a backend at a point that can be compared.
struct Comparable<'a> {
    /// The whole frame; the stages, if there is none that can be compared.
    frames: Vec<&'a Measured>,
    stages: Vec<&'a Measured>,
}

impl<'a> Comparable<'a> {
    fn of(rows: &'a [Row]) -> Self {
        let whole = whole_frame(rows);
        let mut comparable = Self {
            frames: Vec::new(),
            stages: Vec::new(),
        };
        for (at, row) in rows.iter().enumerate() {
            let Some(measured) = &row.measured else {
                continue;
            };
            if whole.is_none_or(|whole| whole == at) {
                comparable.frames.push(measured);
            } else {
                comparable.stages.push(measured);
            }
        }
        comparable
    }
}

/// The place of the whole frame among the rows of a backend at a point, if it can be compared.
fn whole_frame(rows: &[Row]) -> Option<usize> {
    rows.iter()
        .position(|row| row.is_whole_frame && row.measured.is_some())
}

/// The rows of a backend at a point: its frame, then its stages. A frame that changed passes its probability of a false
/// alarm on to them.
fn compared_at_point(rows: &[Row], errors: &Errors) -> Vec<StageComparison> {
    let whole = whole_frame(rows);
    let stages = Comparable::of(rows).stages.len().max(1);
    let mut passed_on = 0.0;
    let mut shown = Vec::new();
    if let Some(at) = whole
        && let Some(measured) = &rows[at].measured
    {
        let change = Change::new(measured, errors.frame);
        if change.verdict() != Verdict::Same {
            passed_on = errors.frame / stages as f64;
        }
        shown.push(StageComparison {
            is_frame: true,
            change: Ok(change),
            alone: change.low,
            ..rows[at].shown.clone()
        });
    }
    let error = if whole.is_some() {
        errors.stage
    } else {
        errors.frame
    };
    for (at, row) in rows.iter().enumerate() {
        if whole == Some(at) {
            continue;
        }
        let mut stage = row.shown.clone();
        stage.is_frame = whole.is_none();
        if let Some(measured) = &row.measured {
            stage.alone = Change::new(measured, error).low;
            stage.change = Ok(Change::new(measured, error + passed_on));
        }
        shown.push(stage);
    }
    shown
}

/// The rows of all backends: points with the largest changes first, and so the backends of each.
fn sorted(mut backends: Vec<Vec<StageComparison>>) -> Vec<StageComparison> {
    let mut largest_at: BTreeMap<String, f64> = BTreeMap::new();
    for rows in &backends {
        let largest = largest_at.entry(rows[0].point.clone()).or_insert(-1.0);
        *largest = largest.max(largest_size(rows));
    }
    // Stable, so that equal ones keep the order of their keys.
    backends.sort_by(|a, b| {
        let [point_a, point_b] = [&a[0].point, &b[0].point];
        largest_at[point_b]
            .total_cmp(&largest_at[point_a])
            .then_with(|| point_a.cmp(point_b))
            .then_with(|| largest_size(b).total_cmp(&largest_size(a)))
    });
    backends.concat()
}

fn largest_size(rows: &[StageComparison]) -> f64 {
    rows.iter().map(StageComparison::size).fold(-1.0, f64::max)
}

/// Adds the difference between runs of one program to rows that were not measured by turns. Where most of several
/// frames did not change, the spread of their ratios around 1 shows it: single runs do not.
fn add_noise(rows: &mut [Row]) {
    let mut logs: Vec<f64> = rows
        .chunk_by(Row::is_beside)
        .flat_map(|rows| Comparable::of(rows).frames)
        .map(|measured| measured.ratio.log.abs())
        .collect();
    logs.sort_unstable_by(f64::total_cmp);
    let shown = if logs.len() < SEVERAL {
        0.0
    } else {
        logs[logs.len() / 2] / MAD
    };
    let noise = shown.max(PROCESSES * std::f64::consts::SQRT_2);
    for measured in rows.iter_mut().filter_map(|row| row.measured.as_mut()) {
        if measured.rounds.is_none() {
            measured.ratio = measured.ratio.with_noise(noise, PROCESSES_FREEDOM);
        }
    }
}

/// The smallest changes of frames that could have been shown.
fn sensitivity(rows: &[Row], errors: &Errors, detect: f64) -> Option<Sensitivity> {
    let frames: Vec<&Measured> = rows
        .chunk_by(Row::is_beside)
        .flat_map(|rows| Comparable::of(rows).frames)
        .collect();
    let mut changes = Vec::new();
    for measured in &frames {
        let confidence = 1.0 - at_one_look(errors.frame, measured);
        changes.push(measured.ratio.smallest_change(confidence));
    }
    changes.sort_by(f64::total_cmp);
    let rounds: Option<Vec<Rounds>> = frames.iter().map(|measured| measured.rounds).collect();
    let confidence = 1.0 - errors.frame / LOOKS.len() as f64;
    Some(Sensitivity {
        best: *changes.first()?,
        worst: *changes.last()?,
        needed: rounds
            .as_ref()
            .and_then(|rounds| needed_rounds(rounds, detect, confidence)),
        rounds: rounds.and_then(|rounds| rounds.iter().map(|frame| frame.count).min()),
    })
}

/// Number of rounds after which every frame would show a change; `None` if so many are never measured.
fn needed_rounds(frames: &[Rounds], detect: f64, confidence: f64) -> Option<usize> {
    let mut most = None;
    for frame in frames {
        most = most.max(Some(frame.needed(detect, confidence)?));
    }
    most
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
    for (side, which) in sides.iter().zip(SIDES) {
        if side.is_empty() {
            return Err(format!("not in {which}"));
        }
    }
    let hashes: BTreeSet<&str> = sides
        .iter()
        .flatten()
        .map(|m| m.row.scene_hash.as_str())
        .collect();
    if hashes.len() > 1 {
        return Err("the scene is another one (its hash differs)".into());
    }
    let base = usable(&sides[0], SIDES[0])?;
    let new = usable(&sides[1], SIDES[1])?;
    if let Some(rounds) = rounds(&base, &new) {
        return Ok(Measured {
            medians: [middle(&base), middle(&new)],
            ratio: rounds.ratio(),
            rounds: Some(rounds),
            drift: 0.0,
        });
    }
    let old = level(&base, SIDES[0])?;
    let young = level(&new, SIDES[1])?;
    Ok(Measured {
        medians: [old.median(), young.median()],
        ratio: young.over(&old),
        rounds: None,
        drift: old.drift.max(young.drift),
    })
}

/// Returns whether a row was measured in the base and failed in all new results.
fn failed([base, new]: &Sides) -> bool {
    let was_measured = base.iter().any(|m| m.is_ok());
    was_measured
        && !new.is_empty()
        && new.iter().all(|m| {
            matches!(
                m.row.status,
                Status::ParityFailed | Status::TooLarge | Status::Error
            )
        })
}

/// The runs that measured a row, in their order, or the reason why it cannot be compared. Runs that began in the same
/// second keep the order of their files.
fn usable<'a>(side: &[&'a Measurement], which: &str) -> Result<Vec<&'a Measurement>, String> {
    let mut ok: Vec<&Measurement> = side.iter().copied().filter(|m| m.is_ok()).collect();
    ok.sort_by(|a, b| a.row.utc.cmp(&b.row.utc));
    let Some(newest) = ok.last() else {
        let status = side.last().map_or("missing", |m| m.row.status.name());
        return Err(format!("{status} in {which}"));
    };
    if newest.row.median_ns.is_some_and(|ns| ns < RESOLUTION) {
        return Err("shorter than the clock can tell apart".into());
    }
    if ok.iter().all(|m| is_unsteady(m)) {
        return Err(format!("the device's clock was unsteady in {which}"));
    }
    Ok(ok)
}

/// Returns whether the device's clock moved while a row was measured, so that its times say nothing.
fn is_unsteady(measurement: &Measurement) -> bool {
    measurement.row.unsteady == Some(true)
}

/// The median of a row over the runs of a side, in nanoseconds: the geometric mean of theirs.
fn middle(side: &[&Measurement]) -> f64 {
    let logs: Vec<f64> = side.iter().filter_map(|m| log_of(m)).collect();
    (logs.iter().sum::<f64>() / logs.len() as f64).exp()
}

/// The natural logarithm of a run's median in nanoseconds.
fn log_of(measurement: &Measurement) -> Option<f64> {
    measurement.row.median_ns.map(|ns| (ns.max(1) as f64).ln())
}

/// The level of a side from the samples of its runs.
fn level(side: &[&Measurement], which: &str) -> Result<Level, String> {
    let runs: Vec<Vec<u64>> = side
        .iter()
        .filter(|m| !m.samples.is_empty() && !is_unsteady(m))
        .map(|m| m.times().collect())
        .collect();
    if runs.is_empty() {
        return Err(format!("no samples in {which}"));
    }
    Level::of(runs.iter().map(|run| &run[..]))
        .ok_or_else(|| format!("fewer than {FEWEST_FRAMES} frames in {which}"))
}

/// The rounds, if each pair of runs was measured before the next. The last round may lack a run: it was interrupted.
fn rounds(base: &[&Measurement], new: &[&Measurement]) -> Option<Rounds> {
    if base.len().abs_diff(new.len()) > 1 {
        return None;
    }
    let mut logs = Vec::with_capacity(base.len());
    let mut before = "";
    for (base, new) in base.iter().zip(new) {
        let [first, last] = if base.row.utc < new.row.utc {
            [base, new]
        } else {
            [new, base]
        };
        // Short runs may begin in the second in which the last ones began.
        if first.row.utc.as_str() < before {
            return None;
        }
        before = &last.row.utc;
        if is_unsteady(base) || is_unsteady(new) {
            continue;
        }
        logs.push(log_of(new)? - log_of(base)?);
    }
    Rounds::of(&logs)
}

/// A warning if frames drifted within a run.
fn drifted(rows: &[Row]) -> Option<String> {
    let drift = rows
        .iter()
        .filter(|row| row.is_whole_frame)
        .filter_map(|row| row.measured.as_ref())
        .map(|measured| measured.drift)
        .fold(0.0, f64::max);
    (drift > DRIFT).then(|| {
        format!(
            "frames drifted by {:.0} % within a run: close other programs",
            drift * 1e2
        )
    })
}

/// A warning if the machines differ.
fn machines(base: &Recorded, new: &Recorded) -> Option<String> {
    let old = base.machines();
    let new = new.machines();
    let differ = old.iter().collect::<BTreeSet<_>>() != new.iter().collect::<BTreeSet<_>>();
    differ.then(|| format!("the machines differ: {} against {}", list(&old), list(&new)))
}

fn list<'a>(machines: impl IntoIterator<Item = &'a Machine>) -> String {
    let names: Vec<String> = machines.into_iter().map(ToString::to_string).collect();
    names.join(" and ")
}

/// A warning if a row of one side comes from several machines, whose differences would count as those between runs.
fn pooled(rows: &BTreeMap<MeasurementKey, Sides>, side: usize) -> Option<String> {
    for sides in rows.values() {
        let machines: BTreeSet<Machine> = sides[side].iter().map(|m| m.machine()).collect();
        if machines.len() > 1 {
            return Some(format!(
                "runs of several machines in one row of {}: {}; compare them separately",
                SIDES[side],
                list(&machines)
            ));
        }
    }
    None
}

/// A warning if almost all rows changed in the same direction, which is more often due to the machine than to the code.
fn in_common(rows: &[StageComparison]) -> Option<String> {
    let logs: Vec<f64> = rows
        .iter()
        .filter_map(|row| row.change.as_ref().ok())
        .map(|change| change.ratio.ln())
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
    /// Number of rows that can be compared.
    pub fn compared(&self) -> usize {
        self.rows.iter().filter(|row| row.change.is_ok()).count()
    }

    /// Rows that are certainly slower by more than `limit` (0.05 is 5 %): their whole interval is beyond it.
    pub fn beyond(&self, limit: f64) -> Vec<&StageComparison> {
        let mut beyond = Vec::new();
        for rows in self.rows.chunk_by(StageComparison::is_beside) {
            // A frame that is beyond the limit passes its probability of a false alarm on to its stages.
            let passed_on = rows
                .iter()
                .filter(|row| row.is_frame)
                .filter_map(|row| row.change.as_ref().ok())
                .any(|change| change.low > 1.0 + limit);
            for row in rows {
                let Ok(change) = &row.change else { continue };
                let low = if passed_on { change.low } else { row.alone };
                if low > 1.0 + limit {
                    beyond.push(row);
                }
            }
        }
        beyond
    }

    /// Returns whether more rounds would not answer better: every frame certainly takes longer than `limit` (0.05 is
    /// 5 %) or not, if there is a limit; otherwise it certainly changed, or changed by less than `detect`.
    pub fn is_decided(&self, limit: Option<f64>, detect: f64) -> bool {
        self.rows
            .iter()
            .filter(|row| row.is_frame)
            .filter_map(|row| row.change.as_ref().ok())
            .all(|change| change.is_decided(limit, detect))
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
            let warnings = compare(base, new, 0.02).warnings;
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
