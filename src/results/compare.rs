//! Comparison of two sets of results: frames first, and stages within them.
//!
//! Only rounds make a comparison certain: both programs ran once in each, one soon after the other, so that what their
//! processes have in common cancels. Among a hundred comparisons of a binary with itself by rounds, at most five show any
//! row as changed, wherever measuring stops. METHODOLOGY.md explains the method. Other sets get ratios of their medians.

use super::{CONFIDENCE, Machine, Point, RESOLUTION, Recorded, Row};
use crate::frame::{Clock, Stage};
use crate::harness::run::Status;
use crate::harness::uncertainty::{LOOKS, Ratio, Rounds};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use strum::IntoStaticStr;

/// Part of the probability of a false alarm that frames have among them. Stages have the rest; those of a frame that
/// changed have its part, too.
const FRAMES: f64 = 0.8;
/// Names of the sides.
const SIDES: [&str; 2] = ["the base", "the new results"];

/// The result of comparing two rows. It is serialised as the name of its variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Judgement {
    /// Takes more time with certainty.
    Slower,
    /// Takes less time with certainty.
    Faster,
    /// Changed by less than what matters, with certainty.
    Same,
    /// The interval contains 1 and changes that matter.
    Undecided,
    /// There are no rounds, so there is no interval.
    Unjudged,
}

impl Judgement {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// New over base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The ratio of the times.
    pub ratio: f64,
    /// Bounds of its interval; `None` without rounds.
    pub range: Option<[f64; 2]>,
    /// What it says.
    pub judgement: Judgement,
}

impl Change {
    /// The change of a row whose judgement is a false alarm with a probability of `error`. `detect` is the change, as a
    /// fraction, that matters.
    fn new(rounds: Rounds, error: f64, detect: f64) -> Self {
        let ratio: Ratio = rounds.ratio();
        let (low, high) = ratio.interval(1.0 - at_one_look(error));
        let judgement = if low > 1.0 {
            Judgement::Slower
        } else if high < 1.0 {
            Judgement::Faster
        } else if high < 1.0 + detect && low > 1.0 / (1.0 + detect) {
            Judgement::Same
        } else {
            Judgement::Undecided
        };
        Self {
            ratio: ratio.value(),
            range: Some([low, high]),
            judgement,
        }
    }

    /// Returns whether it is certainly slower or faster.
    fn is_certain(&self) -> bool {
        matches!(self.judgement, Judgement::Slower | Judgement::Faster)
    }

    /// Returns whether it is certainly slower by more than a fraction.
    fn is_beyond(&self, limit: f64) -> bool {
        self.range.is_some_and(|[low, _]| low > 1.0 + limit)
    }

    /// Returns whether more rounds would not answer better; see [`Comparison::is_decided`].
    fn is_decided(&self, limit: Option<f64>) -> bool {
        match (self.range, limit) {
            (None, _) => true,
            (Some([low, high]), Some(limit)) => low > 1.0 + limit || high < 1.0 + limit,
            (Some(_), None) => self.judgement != Judgement::Undecided,
        }
    }
}

/// One stage of one backend at one point, in both sets.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRow {
    /// The scene and how it was run, without the hash, and without threads unless both sets have several.
    pub point: Point,
    /// The backend.
    pub backend: String,
    /// The stage.
    pub stage: Stage,
    /// The clock.
    pub clock: Clock,
    /// `true` for a whole frame, and for a stage of a backend without one; `false` for a stage within a frame.
    pub is_frame: bool,
    /// Medians in the base and in the new set, in nanoseconds, over all runs of each.
    pub medians: [Option<f64>; 2],
    /// The change, or the reason why the row cannot be compared.
    pub change: Result<Change, String>,
    /// The rounds of both sets, if the row can be compared and they ran alternately.
    rounds: Option<Rounds>,
    /// The change that a stage would have if its frame did not change.
    alone: Option<Change>,
}

impl ComparedRow {
    /// A row before it is judged: `change` has the ratio of the medians.
    fn new((point, backend): &BackendKey, (stage, clock): StageKey, sides: &Sides) -> Self {
        let rounds = compared_rounds(sides);
        let medians = [middle(&sides[0]), middle(&sides[1])];
        let change = rounds.clone().map(|_| Change {
            ratio: medians[1].unwrap_or(f64::NAN) / medians[0].unwrap_or(f64::NAN),
            range: None,
            judgement: Judgement::Unjudged,
        });
        Self {
            point: point.clone(),
            backend: backend.clone(),
            stage,
            clock,
            is_frame: false,
            medians,
            change,
            rounds: rounds.ok().flatten(),
            alone: None,
        }
    }

    /// The stage, and its clock if that is not the wall clock.
    pub fn stage_and_clock(&self) -> String {
        match self.clock {
            Clock::Wall => self.stage.name().into(),
            clock => format!("{} ({})", self.stage.name(), clock.name()),
        }
    }

    /// The backend, and the stage if it is not the whole frame.
    pub fn subject(&self) -> String {
        if self.is_whole() {
            self.backend.clone()
        } else {
            format!("{} {}", self.backend, self.stage_and_clock())
        }
    }

    /// What the comparison says; `None` if the row cannot be compared.
    pub fn judgement(&self) -> Option<Judgement> {
        self.change.as_ref().ok().map(|change| change.judgement)
    }

    /// Returns whether the row is certainly slower or faster.
    pub fn has_changed(&self) -> bool {
        self.change.as_ref().is_ok_and(Change::is_certain)
    }

    /// Returns whether rows are of the same backend at the same point.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.backend == other.backend && self.point == other.point
    }

    fn is_whole(&self) -> bool {
        self.stage == Stage::Frame && self.clock == Clock::Wall
    }

    /// Returns whether it is a whole frame that can be compared.
    fn is_compared_whole(&self) -> bool {
        self.is_whole() && self.change.is_ok()
    }

    /// Returns whether it counts as a frame and can be compared.
    fn is_compared_frame(&self) -> bool {
        self.is_frame && self.change.is_ok()
    }

    /// Returns whether it is a stage within a frame and can be compared.
    fn is_compared_stage(&self) -> bool {
        !self.is_frame && self.change.is_ok()
    }

    /// The size of the change, for sorting: certain changes before others, before rows that cannot be compared.
    fn size(&self) -> f64 {
        let certain = f64::from(u8::from(self.has_changed()));
        self.change
            .as_ref()
            .map_or(-1.0, |change| 1e3 * certain + change.ratio.ln().abs())
    }
}

/// The smallest changes of frames that rounds could show: of those, four in five are found.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// Fewest rounds of a frame.
    pub rounds: usize,
    /// That of the frame with the smallest, as a fraction.
    pub best: f64,
    /// That of the frame with the largest.
    pub worst: f64,
    /// Number of rounds, in all, after which every frame would show the change that matters; `None` if so many are never
    /// measured.
    pub needed: Option<usize>,
}

/// A comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The rows of each backend at each point together, its frame first; backends with the largest change first, and
    /// those that cannot be compared last.
    pub rows: Vec<ComparedRow>,
    /// What its rounds could show; `None` without rounds.
    pub sensitivity: Option<Sensitivity>,
    /// The frames and stages that the base measured and that failed in the new results.
    pub failed: Vec<ComparedRow>,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
}

/// What rows of both sets must share to be compared: the point and the backend, the stage and the clock.
type BackendKey = (Point, String);
type StageKey = (Stage, Clock);

/// The runs of a row in the base, and in the new results.
type Sides<'a> = [Vec<&'a Row>; 2];

/// The rows of both sets.
type RowsOfSides<'a> = BTreeMap<BackendKey, BTreeMap<StageKey, Sides<'a>>>;

/// Compares the rows that both sets have. `detect` is the change, as a fraction, that matters.
pub fn compare(base: &Recorded, new: &Recorded, detect: f64) -> Comparison {
    let threads = [base, new].map(|set| set.rows.iter().map(|row| row.threads).collect());
    let [base_threads, new_threads]: [BTreeSet<usize>; 2] = threads;
    // A machine with another thread count is compared nevertheless, with a warning; runs with several are matched by
    // them.
    let by_threads = base_threads.len() > 1 || new_threads.len() > 1;
    let mut all = RowsOfSides::new();
    for (side, set) in [base, new].into_iter().enumerate() {
        for row in &set.rows {
            let mut point = row.point();
            point.scene_hash.clear();
            if !by_threads {
                point.threads = 0;
            }
            let stages = all.entry((point, row.name())).or_default();
            let sides = stages.entry((row.stage, row.clock)).or_default();
            sides[side].push(row);
        }
    }
    let mut warnings: Vec<String> = machines(base, new).into_iter().collect();
    warnings.extend((0..SIDES.len()).filter_map(|side| pooled(&all, side)));
    if !by_threads && base_threads != new_threads {
        warnings.push("the numbers of threads differ".into());
    }
    let mut failed = Vec::new();
    let mut backends = Vec::new();
    for (backend, stages) in &all {
        let mut rows = Vec::new();
        for (&stage, sides) in stages {
            rows.push(ComparedRow::new(backend, stage, sides));
            if has_failed(sides) {
                failed.extend(rows.last().cloned());
            }
        }
        backends.push(frame_first(rows));
    }
    let errors = RelativeErrors::new(&backends);
    let sensitivity = sensitivity(&backends, &errors, detect);
    for rows in &mut backends {
        judge(rows, &errors, detect);
    }
    Comparison {
        rows: sorted(backends),
        sensitivity,
        failed,
        warnings,
    }
}

/// The rows of a backend with its whole frame first. Without one that can be compared, each row counts as a frame.
fn frame_first(mut rows: Vec<ComparedRow>) -> Vec<ComparedRow> {
    let has_frame = rows.iter().any(ComparedRow::is_compared_whole);
    rows.sort_by_key(|row| !row.is_compared_whole());
    for row in &mut rows {
        row.is_frame = !has_frame || row.is_compared_whole();
    }
    rows
}

/// Probabilities of a false alarm: of one frame, and of one stage whose frame did not change.
struct RelativeErrors {
    frame: f64,
    stage: f64,
}

impl RelativeErrors {
    fn new(backends: &[Vec<ComparedRow>]) -> Self {
        let rows = backends.iter().flatten();
        let frames = rows.clone().filter(|row| row.is_compared_frame()).count();
        let stages = rows.filter(|row| row.is_compared_stage()).count();
        let frames_share = if stages == 0 { 1.0 } else { FRAMES };
        let error = 1.0 - CONFIDENCE;
        Self {
            frame: error * frames_share / frames.max(1) as f64,
            stage: error * (1.0 - frames_share) / stages.max(1) as f64,
        }
    }
}

/// The part of a probability that one look at rounds has.
fn at_one_look(error: f64) -> f64 {
    error / LOOKS.len() as f64
}

/// Judges the rows of a backend at a point by their rounds. A frame that changed passes its probability of a false alarm
/// on to its stages, which follow it.
fn judge(rows: &mut [ComparedRow], errors: &RelativeErrors, detect: f64) {
    let stages = rows.iter().filter(|row| row.is_compared_stage()).count();
    let mut of_stages = errors.stage;
    for row in rows {
        let Some(rounds) = row.rounds else { continue };
        let [alone, error] = if row.is_frame {
            [errors.frame; 2]
        } else {
            [errors.stage, of_stages]
        };
        let change = Change::new(rounds, error, detect);
        if row.is_frame && change.is_certain() {
            of_stages += errors.frame / stages.max(1) as f64;
        }
        row.change = Ok(change);
        row.alone = Some(Change::new(rounds, alone, detect));
    }
}

/// The rows of all backends: points with the largest changes first, and so the backends of each.
fn sorted(mut backends: Vec<Vec<ComparedRow>>) -> Vec<ComparedRow> {
    let mut largest_at: BTreeMap<Point, f64> = BTreeMap::new();
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

fn largest_size(rows: &[ComparedRow]) -> f64 {
    rows.iter().map(ComparedRow::size).fold(-1.0, f64::max)
}

/// The smallest changes of frames that their rounds could have shown.
fn sensitivity(
    backends: &[Vec<ComparedRow>],
    errors: &RelativeErrors,
    detect: f64,
) -> Option<Sensitivity> {
    let confidence = 1.0 - at_one_look(errors.frame);
    let mut changes = Vec::new();
    let mut fewest = usize::MAX;
    let mut needed = Some(0);
    let rows = backends.iter().flatten();
    for row in rows.filter(|row| row.is_compared_frame()) {
        let rounds = row.rounds?;
        changes.push(rounds.ratio().smallest_change(confidence));
        fewest = fewest.min(rounds.count);
        needed = needed.and_then(|most| Some(rounds.needed(detect, confidence)?.max(most)));
    }
    changes.sort_by(f64::total_cmp);
    Some(Sensitivity {
        best: *changes.first()?,
        worst: *changes.last()?,
        rounds: fewest,
        needed,
    })
}

/// The rounds of a row, if its runs are some, or the reason why it cannot be compared.
fn compared_rounds(sides: &Sides) -> Result<Option<Rounds>, String> {
    for (side, which) in sides.iter().zip(SIDES) {
        if side.is_empty() {
            return Err(format!("not in {which}"));
        }
    }
    let mut hashes = sides.iter().flatten().map(|row| &row.scene_hash);
    let first = hashes.next();
    if hashes.any(|hash| Some(hash) != first) {
        return Err("the scene is another one (its hash differs)".into());
    }
    let base = usable(&sides[0], SIDES[0])?;
    let new = usable(&sides[1], SIDES[1])?;
    Ok(rounds(&base, &new))
}

/// Returns whether a row was measured in the base and failed in all new results.
fn has_failed([base, new]: &Sides) -> bool {
    let fails = |row: &&Row| {
        matches!(
            row.status,
            Status::ParityFailed | Status::TooLarge | Status::Error
        )
    };
    base.iter().any(|row| row.is_ok()) && !new.is_empty() && new.iter().all(fails)
}

/// The runs that measured a row, in their order, or the reason why it cannot be compared. Runs that began in the same
/// second keep the order of their files.
fn usable<'a>(side: &[&'a Row], which: &str) -> Result<Vec<&'a Row>, String> {
    let mut ok: Vec<&Row> = side.iter().copied().filter(|row| row.is_ok()).collect();
    ok.sort_by(|a, b| a.utc.cmp(&b.utc));
    let Some(newest) = ok.last() else {
        let Some(last) = side.last() else {
            return Err(format!("missing in {which}"));
        };
        let why = last
            .error
            .as_ref()
            .map_or(String::new(), |why| format!(" ({why})"));
        return Err(format!("{} in {which}{why}", last.status.name()));
    };
    if newest.median_ns.is_some_and(|ns| ns < RESOLUTION) {
        return Err("shorter than the clock can tell apart".into());
    }
    if ok.iter().all(|row| row.is_unsteady()) {
        return Err(format!("the device's clock was unsteady in {which}"));
    }
    Ok(ok)
}

/// The median of a row over the runs of a side that measured it, in nanoseconds: the geometric mean of theirs.
fn middle(side: &[&Row]) -> Option<f64> {
    let ok = side.iter().filter(|row| row.is_ok());
    let logs: Vec<f64> = ok.filter_map(|row| log_of(row)).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    (!logs.is_empty()).then(|| mean.exp())
}

/// The natural logarithm of a run's median in nanoseconds.
fn log_of(row: &Row) -> Option<f64> {
    row.median_ns.map(|ns| (ns.max(1) as f64).ln())
}

/// The rounds, if each pair of runs was measured before the next. The last round may lack a run: it was interrupted.
fn rounds(base: &[&Row], new: &[&Row]) -> Option<Rounds> {
    if base.len().abs_diff(new.len()) > 1 {
        return None;
    }
    let mut logs = Vec::with_capacity(base.len());
    let mut before = "";
    for (base, new) in base.iter().zip(new) {
        let [first, last] = if base.utc < new.utc {
            [base, new]
        } else {
            [new, base]
        };
        // Short runs may begin in the second in which the last ones began.
        if first.utc.as_str() < before {
            return None;
        }
        before = &last.utc;
        if base.is_unsteady() || new.is_unsteady() {
            continue;
        }
        logs.push(log_of(new)? - log_of(base)?);
    }
    Rounds::of(&logs)
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
fn pooled(rows: &RowsOfSides, side: usize) -> Option<String> {
    for sides in rows.values().flat_map(BTreeMap::values) {
        let machines: BTreeSet<Machine> = sides[side].iter().map(|row| Machine::of(row)).collect();
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

impl Comparison {
    /// Number of rows that can be compared.
    pub fn compared(&self) -> usize {
        self.rows.iter().filter(|row| row.change.is_ok()).count()
    }

    /// The reasons why rows cannot be compared, and how many have each.
    pub fn reasons(&self) -> BTreeMap<&str, usize> {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &self.rows {
            if let Err(why) = &row.change {
                *reasons.entry(why).or_default() += 1;
            }
        }
        reasons
    }

    /// Rows that are certainly slower by more than `limit` (0.05 is 5 %): their whole interval is beyond it.
    pub fn beyond(&self, limit: f64) -> Vec<&ComparedRow> {
        let mut beyond = Vec::new();
        for rows in self.rows.chunk_by(ComparedRow::is_beside) {
            // A frame that is beyond the limit passes its probability of a false alarm on to its stages.
            let passed_on = rows.iter().any(|row| {
                row.is_frame
                    && row
                        .change
                        .as_ref()
                        .is_ok_and(|change| change.is_beyond(limit))
            });
            for row in rows {
                let change = if passed_on {
                    row.change.as_ref().ok()
                } else {
                    row.alone.as_ref()
                };
                if change.is_some_and(|change| change.is_beyond(limit)) {
                    beyond.push(row);
                }
            }
        }
        beyond
    }

    /// Returns whether more rounds would not answer better: every frame certainly takes longer than `limit` (0.05 is
    /// 5 %) or not, if there is a limit; otherwise it certainly changed, or is certainly the same.
    pub fn is_decided(&self, limit: Option<f64>) -> bool {
        self.rows
            .iter()
            .filter(|row| row.is_frame)
            .filter_map(|row| row.change.as_ref().ok())
            .all(|change| change.is_decided(limit))
    }
}
