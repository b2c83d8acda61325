//! Results in order: one machine, every backend at every point, and curves along axes.

use super::key::PointKey;
use super::{Machine, Measurement, Point, Recorded, ResultFile, SummaryRow};
use crate::frame::{Clock, Side, Stage, StageGroup};
use crate::harness::stats;
use crate::harness::uncertainty::Level;
use crate::registry::REGISTRY;
use crate::wording::counted;
use indexmap::IndexMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;
use strum::{IntoStaticStr, VariantArray};

/// Quantities that a sweep can vary, the most requested first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Axis {
    /// Instances of the crowd.
    Instances,
    /// Number of times that a frame draws it.
    Passes,
    /// Threads of parallel backends.
    Threads,
    /// Vertices of an instance.
    #[strum(to_string = "vertices of an instance")]
    Vertices,
    /// Most influences of a vertex.
    #[strum(to_string = "influences, at most")]
    Influences,
    /// Models that mix.
    Models,
    /// Morph targets that are active on an instance.
    #[strum(to_string = "active morph targets")]
    ActiveTargets,
}

impl Axis {
    /// All axes, the most requested first.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The value of a point.
    pub fn value(self, point: &Point) -> u64 {
        match self {
            Self::Instances => point.instances as u64,
            Self::Passes => point.passes.into(),
            Self::Threads => point.threads as u64,
            Self::Vertices => point.vertices,
            Self::Influences => point.influences.into(),
            Self::Models => point.models.into(),
            Self::ActiveTargets => {
                let count = point.options.get("active_targets");
                count.and_then(|count| count.parse().ok()).unwrap_or(0)
            }
        }
    }

    /// Returns whether values include 0 and are spaced evenly on charts, instead of by their logarithms.
    pub fn is_linear(self) -> bool {
        matches!(self, Self::Passes | Self::ActiveTargets)
    }

    /// What a point has in common with the others of a curve: all but the value, and the hash, which depends on it.
    fn fixed(self, point: &Point) -> PointKey {
        let mut fixed = point.key_without_hash();
        match self {
            Self::Instances => fixed.instances = None,
            Self::Passes => fixed.passes = None,
            Self::Threads => fixed.threads = None,
            Self::Vertices => fixed.vertices = None,
            Self::Influences => fixed.influences = None,
            Self::Models => {
                fixed.models = None;
                // Levels keep as many vertices as the shape of each model needs.
                let lod = point.options.get("lod");
                if lod.is_some_and(|kinds| kinds.starts_with("mesh")) {
                    fixed.vertices = None;
                }
            }
            Self::ActiveTargets => {
                if let Some(count) = fixed.options.0.get_mut("active_targets") {
                    *count = "N".into();
                }
            }
        }
        fixed
    }

    /// Its name with a unit, for the axis of a chart.
    pub fn title(self) -> &'static str {
        self.into()
    }
}

/// A time by which backends are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
pub enum Quantity {
    /// The whole frame.
    #[strum(to_string = "frame")]
    Frame,
    /// Pose, upload and skin, if drawing is emulated and would hide them.
    #[strum(to_string = "pose + upload + skin")]
    Work,
}

impl Quantity {
    /// All quantities.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Name in headings.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A backend at a point.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyEntry {
    /// The point.
    pub point: Point,
    /// Name as in `skinbench list`.
    pub backend: String,
    /// Runs, the newest last; each has one item per stage and clock.
    pub runs: Vec<Vec<Measurement>>,
}

impl StudyEntry {
    fn newest(&self) -> &[Measurement] {
        self.runs.last().map_or(&[], |run| run)
    }

    /// The row with the final status.
    pub fn last(&self) -> Option<&Measurement> {
        self.newest().last()
    }

    /// Returns whether it was measured.
    pub fn is_ok(&self) -> bool {
        self.newest().iter().any(Measurement::is_ok)
    }

    /// Returns whether it left out instances that are out of view, and so did less work than others at the same point.
    pub fn leaves_out(&self) -> bool {
        self.newest().iter().any(|m| m.row.visible.is_some())
    }

    /// A stage of its newest run by the clock closest to it: the device's if it has one.
    pub fn stage(&self, stage: Stage) -> Option<&Measurement> {
        stage_of(self.newest(), stage)
    }

    /// A stage's median in nanoseconds.
    pub fn median(&self, stage: Stage) -> Option<u64> {
        self.stage(stage).and_then(|m| m.row.median_ns)
    }

    /// A side's part of a stage in its newest run.
    pub fn stage_on(&self, stage: Stage, side: Side) -> Option<&Measurement> {
        stage_on(self.newest(), stage, side)
    }

    /// The stages of a group in its newest run, each by the clock closest to it.
    pub fn stages(&self, group: StageGroup) -> impl Iterator<Item = &Measurement> {
        stages_in(group).filter_map(|stage| self.stage(stage))
    }

    /// The sum of a group's medians on both sides, in nanoseconds; `None` if it has none of its stages.
    pub fn total(&self, group: StageGroup) -> Option<u64> {
        sum_of_medians(on_both_sides(self.newest(), |known| known == group))
    }

    /// The sum of a group's medians on one side, in nanoseconds; `None` if that side has none of its stages.
    pub fn total_on(&self, side: Side, group: StageGroup) -> Option<u64> {
        sum_of_medians(stages_in(group).filter_map(|stage| self.stage_on(stage, side)))
    }

    /// The part of a frame that no stage has, in nanoseconds: the median, frame by frame, of the frame less its stages on
    /// both sides, which follow one another with one frame in flight. It contains the recording and submitting of commands,
    /// the gaps between stages on the device, and the time until the processor learns that the device is done.
    ///
    /// `None` without samples of a frame and its stages, if fences timed the stages, which they do in other frames, and if
    /// the stages overlap, so that they add up to more than the frame.
    pub fn other(&self) -> Option<u64> {
        let stages = on_both_sides(self.newest(), |group| group != StageGroup::Whole);
        if stages.is_empty() || stages.iter().any(|m| m.row.clock == Clock::Fenced) {
            return None;
        }
        let stages = frame_by_frame(&stages);
        let mut left = Vec::new();
        for (frame, ns) in &self.stage_on(Stage::Frame, Side::Host)?.samples {
            if let Some(of_stages) = stages.get(frame) {
                left.push(i128::from(*ns) - i128::from(*of_stages));
            }
        }
        left.sort_unstable();
        u64::try_from(*left.get(left.len() / 2)?).ok()
    }

    /// The sides whose part of a frame deviates so much that small differences of it mean nothing: more than 5 % of the
    /// frame for the host's part, more than 5 % of their sum for the device's stages, of which each has a figure of its
    /// own.
    ///
    /// Deviations are medians of absolute deviations. Those of the device's stages add up, because they follow one clock;
    /// the host's part is what the frame deviates by in addition, as independent deviations combine.
    pub fn noisy_sides(&self) -> Vec<Side> {
        let on_device: Vec<&SummaryRow> = Stage::ALL
            .iter()
            .filter_map(|stage| Some(&self.stage_on(*stage, Side::Device)?.row))
            .collect();
        let device_median: u64 = on_device.iter().filter_map(|row| row.median_ns).sum();
        let device_mad: u64 = on_device.iter().filter_map(|row| row.mad_ns).sum();
        let whole = self.frame();
        let frame_median = whole.and_then(|row| row.median_ns).unwrap_or(0);
        let frame_mad = whole.and_then(|row| row.mad_ns).unwrap_or(0) as f64;
        let host_mad = (frame_mad.powi(2) - (device_mad as f64).powi(2))
            .max(0.0)
            .sqrt();
        let mut noisy = Vec::new();
        if stats::is_noisy(host_mad, frame_median) {
            noisy.push(Side::Host);
        }
        if stats::is_noisy(device_mad as f64, device_median) {
            noisy.push(Side::Device);
        }
        noisy
    }

    /// CPU time of our own threads per frame, in nanoseconds.
    pub fn processor(&self) -> Option<u64> {
        let mut run = self.newest().iter();
        let sum = run.find(|m| m.row.stage == Stage::Frame && m.row.clock == Clock::ThreadSum)?;
        sum.row.median_ns
    }

    /// Time of the device's stages per frame, in nanoseconds: the sum of their medians.
    pub fn device(&self) -> Option<u64> {
        let timed = self.newest().iter().filter(|m| m.row.clock.is_of_device());
        timed.filter_map(|m| m.row.median_ns).reduce(|a, b| a + b)
    }

    /// The row of the whole frame, which has the columns of memory and work.
    pub fn frame(&self) -> Option<&SummaryRow> {
        self.stage(Stage::Frame).map(|m| &m.row)
    }

    /// Bytes on host and device that frames need, without drawing; `None` if the results do not say.
    pub fn memory(&self) -> Option<u64> {
        let row = self.frame()?;
        Some(row.host_bytes?.saturating_add(row.device_bytes?))
    }

    /// The median of a quantity in nanoseconds; for several stages the sum of their medians.
    pub fn time(&self, quantity: Quantity) -> Option<u64> {
        sum_of_medians(stages_for(self.newest(), quantity))
    }

    /// Returns whether the device's clock was unsteady while its newest run measured a quantity.
    pub fn is_unsteady(&self, quantity: Quantity) -> bool {
        any_unsteady(&stages_for(self.newest(), quantity))
    }

    /// Estimate of a quantity with its uncertainty, over all runs that have samples from a steady clock; `None` without
    /// any.
    pub fn level(&self, quantity: Quantity) -> Option<Level> {
        let mut runs: Vec<Vec<u64>> = Vec::new();
        for run in &self.runs {
            let stages = stages_for(run, quantity);
            let times = frame_by_frame(&stages);
            if !any_unsteady(&stages) && !times.is_empty() {
                runs.push(times.into_values().collect());
            }
        }
        if runs.is_empty() {
            None
        } else {
            Level::of(runs.iter().map(|run| &run[..]))
        }
    }
}

/// Place of a backend in the registry; behind it for those of others.
fn place(backend: &str) -> usize {
    REGISTRY
        .iter()
        .position(|entry| entry.name == backend)
        .unwrap_or(REGISTRY.len())
}

/// A stage of a run by a clock, if it was measured.
fn stage_by(run: &[Measurement], stage: Stage, clock: Clock) -> Option<&Measurement> {
    run.iter()
        .find(|m| m.row.stage == stage && m.row.clock == clock && m.is_ok())
}

fn stage_of(run: &[Measurement], stage: Stage) -> Option<&Measurement> {
    let mut clocks = Clock::BY_CLOSENESS.into_iter();
    clocks.find_map(|clock| stage_by(run, stage, clock))
}

fn stage_on(run: &[Measurement], stage: Stage, side: Side) -> Option<&Measurement> {
    let mut clocks = side.clocks().iter();
    clocks.find_map(|clock| stage_by(run, stage, *clock))
}

fn stages_in(group: StageGroup) -> impl Iterator<Item = Stage> {
    let all = Stage::ALL.iter().copied();
    all.filter(move |stage| stage.group() == group)
}

/// The stages of some groups on each side, in the order of frames.
fn on_both_sides(run: &[Measurement], is_wanted: impl Fn(StageGroup) -> bool) -> Vec<&Measurement> {
    let mut found = Vec::new();
    for stage in Stage::ALL {
        if is_wanted(stage.group()) {
            found.extend(stage_on(run, *stage, Side::Host));
            found.extend(stage_on(run, *stage, Side::Device));
        }
    }
    found
}

fn sum_of_medians<'a>(stages: impl IntoIterator<Item = &'a Measurement>) -> Option<u64> {
    let medians = stages.into_iter().filter_map(|m| m.row.median_ns);
    medians.reduce(|a, b| a + b)
}

/// The stages whose sum is a quantity; none without all that it needs.
fn stages_for(run: &[Measurement], quantity: Quantity) -> Vec<&Measurement> {
    if quantity == Quantity::Frame {
        return stage_of(run, Stage::Frame).into_iter().collect();
    }
    let groups = [StageGroup::Pose, StageGroup::Upload, StageGroup::Skin];
    let [pose, upload, skin] = groups.map(|group| on_both_sides(run, |known| known == group));
    let poses = !pose.is_empty() || stage_of(run, Stage::PoseSkin).is_some();
    if skin.is_empty() || !poses {
        Vec::new()
    } else {
        [pose, upload, skin].concat()
    }
}

fn any_unsteady(stages: &[&Measurement]) -> bool {
    stages.iter().any(|stage| stage.row.unsteady == Some(true))
}

/// The sums of stages by the numbers of the frames that all of them have.
fn frame_by_frame(stages: &[&Measurement]) -> BTreeMap<u32, u64> {
    let Some((first, others)) = stages.split_first() else {
        return BTreeMap::new();
    };
    let mut sums: BTreeMap<u32, u64> = first.samples.iter().copied().collect();
    for stage in others {
        let times: HashMap<u32, u64> = stage.samples.iter().copied().collect();
        sums.retain(|frame, sum| {
            let time = times.get(frame);
            *sum += time.unwrap_or(&0);
            time.is_some()
        });
    }
    sums
}

/// Points that differ along one axis, with the times of each backend.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// The axis.
    pub axis: Axis,
    /// The common part of the points.
    pub fixed: PointKey,
    /// The quantity by which backends are compared.
    pub quantity: Quantity,
    /// The values in rising order.
    pub values: Vec<u64>,
    /// A curve per backend that was measured at two or more values.
    pub curves: Vec<Curve>,
}

impl Sheet {
    /// The value of a point, if it is one of the sheet's points.
    pub fn value(&self, point: &Point) -> Option<u64> {
        let value = self.axis.value(point);
        let is_of_sheet = self.values.contains(&value) && self.axis.fixed(point) == self.fixed;
        is_of_sheet.then_some(value)
    }
}

/// The times of a backend along an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Name as in `skinbench list`.
    pub backend: String,
    /// The points, with rising values.
    pub points: Vec<CurvePoint>,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CurvePoint {
    /// Value of the axis.
    pub value: u64,
    /// Index of its entry in the study.
    pub entry: usize,
    /// The median of the sheet's quantity, in nanoseconds.
    pub ns: u64,
}

/// The results of one machine.
#[derive(Debug, Clone, Default)]
pub struct Study {
    /// The machine of all measurements.
    pub machine: Machine,
    /// Every backend at every point, in the order of the files.
    pub entries: Vec<StudyEntry>,
    /// Problems of the files, and how each was handled.
    pub problems: Vec<String>,
    /// The files.
    pub files: Vec<ResultFile>,
    /// All rows of this machine, for tables.
    pub rows: Vec<Measurement>,
    /// The points in the order of the files.
    pub points: Vec<Point>,
    /// The entries of each point.
    by_point: IndexMap<Point, Vec<usize>>,
    /// Backends that were measured, in the registry's order; those of others follow, in the order of the files.
    pub backends: Vec<String>,
    /// The sheets of each axis, once they were asked for.
    sheets: [OnceLock<Vec<Sheet>>; Axis::ALL.len()],
}

impl Study {
    /// Returns whether a curve's backend skins the whole crowd everywhere.
    pub fn skins_all(&self, curve: &Curve) -> bool {
        !curve
            .points
            .iter()
            .any(|point| self.entries[point.entry].leaves_out())
    }

    /// Puts results in order. Of several machines the one with most rows is used, the others are listed.
    pub fn new(recorded: Recorded) -> Self {
        let mut studies = Self::of_each_machine(recorded);
        let mut study = studies.remove(0);
        for Self { machine, rows, .. } in studies {
            let left_out = format!(
                "{} of another machine left out: {machine} ({})",
                counted(rows.len() as u64, "row"),
                machine.os
            );
            study
                .problems
                .push(format!("{left_out}; report them separately"));
        }
        study
    }

    /// Puts the results of each machine in order: at least one study, the machine with most rows first. Problems and
    /// files are those of all machines, and stand in the first study.
    pub fn of_each_machine(recorded: Recorded) -> Vec<Self> {
        let mut by_machine: BTreeMap<Machine, Vec<Measurement>> = BTreeMap::new();
        for measurement in recorded.measurements {
            by_machine
                .entry(measurement.machine())
                .or_default()
                .push(measurement);
        }
        let mut studies: Vec<Self> = by_machine
            .into_iter()
            .map(|(machine, rows)| Self::of(machine, rows))
            .collect();
        studies.sort_by_key(|study| Reverse(study.rows.len()));
        studies.resize(studies.len().max(1), Self::default());
        studies[0]
            .problems
            .splice(0..0, recorded.problems.iter().map(ToString::to_string));
        studies[0].files = recorded.files;
        studies
    }

    /// Puts the rows of a machine in order, and notes which points and backends there are. Rows are in the order in which
    /// backends finished, which differs from run to run, so backends are put in the registry's order.
    fn of(machine: Machine, rows: Vec<Measurement>) -> Self {
        let mut study = Self {
            machine,
            rows,
            ..Self::default()
        };
        study.collect();
        for (index, entry) in study.entries.iter().enumerate() {
            let indices = study.by_point.entry(entry.point.clone()).or_default();
            indices.push(index);
            if entry.is_ok() && !study.backends.contains(&entry.backend) {
                study.backends.push(entry.backend.clone());
            }
        }
        for indices in study.by_point.values_mut() {
            indices.sort_by_key(|&index| place(&study.entries[index].backend));
        }
        study.points = study.by_point.keys().cloned().collect();
        study.backends.sort_by_key(|backend| place(backend));
        study
    }

    fn collect(&mut self) {
        let mut newest: HashMap<PointKey, &SummaryRow> = HashMap::new();
        for Measurement { row, .. } in &self.rows {
            let known = newest.entry(row.point().key_without_hash()).or_insert(row);
            if row.utc > known.utc {
                *known = row;
            }
        }
        let mut foreign = 0;
        let mut entries: IndexMap<(Point, String), IndexMap<&str, Vec<Measurement>>> =
            IndexMap::new();
        for measurement in &self.rows {
            let row = &measurement.row;
            let point = row.point();
            if newest[&point.key_without_hash()].scene_hash != row.scene_hash {
                foreign += 1;
                continue;
            }
            let runs = entries
                .entry((point, row.backend_and_variant()))
                .or_default();
            runs.entry(&row.run_id)
                .or_default()
                .push(measurement.clone());
        }
        for ((point, backend), runs) in entries {
            let mut entry = StudyEntry {
                point,
                backend,
                runs: runs.into_values().collect(),
            };
            entry.runs.sort_by(|a, b| {
                (&a[0].row.utc, &a[0].row.run_id).cmp(&(&b[0].row.utc, &b[0].row.run_id))
            });
            // An old failure says nothing about later runs that succeeded.
            if entry.is_ok() {
                entry.runs.retain(|run| run.iter().any(Measurement::is_ok));
            }
            self.entries.push(entry);
        }
        if foreign > 0 {
            let what = "rows of an older form of a scene (another scene hash) left out";
            self.problems.push(format!("{foreign} {what}"));
        }
        let repeated = self
            .entries
            .iter()
            .filter(|entry| entry.runs.len() > 1)
            .count();
        if repeated > 0 {
            let what = "were measured in several runs: figures are those of the newest run, intervals follow from all";
            self.problems.push(format!(
                "{repeated} of {} backends at points {what}",
                self.entries.len()
            ));
        }
    }

    /// The quantity by which backends are compared at a point: whole frames, or the stages before drawing if drawing is
    /// emulated.
    pub fn quantity(&self, passes: u32) -> Quantity {
        if self.machine.is_emulated && passes > 0 {
            Quantity::Work
        } else {
            Quantity::Frame
        }
    }

    /// The backends at a point.
    pub fn at(&self, point: &Point) -> impl Iterator<Item = &StudyEntry> {
        self.by_point
            .get(point)
            .into_iter()
            .flatten()
            .map(|&index| &self.entries[index])
    }

    /// For each scene and number of passes, the largest crowd on which most backends were measured.
    pub fn headlines(&self) -> Vec<&Point> {
        let mut best: IndexMap<(&str, u32), (Rank, &Point)> = IndexMap::new();
        for point in &self.points {
            let rank = Rank {
                measured: self.at(point).filter(|entry| entry.is_ok()).count(),
                threads: point.threads,
                instances: point.instances,
            };
            if rank.measured == 0 {
                continue;
            }
            let known = best
                .entry((&point.scene, point.passes))
                .or_insert((rank, point));
            if rank > known.0 {
                *known = (rank, point);
            }
        }
        let mut headlines: Vec<&Point> = best.into_values().map(|best| best.1).collect();
        headlines.sort_by_key(|point| point.passes);
        headlines
    }

    /// Curves along an axis with at least two measured values.
    pub fn sheets(&self, axis: Axis) -> &[Sheet] {
        self.sheets[axis as usize].get_or_init(|| self.sheets_along(axis))
    }

    fn sheets_along(&self, axis: Axis) -> Vec<Sheet> {
        let mut series: BTreeMap<(PointKey, Quantity), IndexMap<&String, Vec<CurvePoint>>> =
            BTreeMap::new();
        for (index, entry) in self.entries.iter().enumerate() {
            // Frames with and without drawing are not comparable.
            let quantity = self.quantity(entry.point.passes);
            let Some(ns) = entry.time(quantity) else {
                continue;
            };
            let curves = series
                .entry((axis.fixed(&entry.point), quantity))
                .or_default();
            curves.entry(&entry.backend).or_default().push(CurvePoint {
                value: axis.value(&entry.point),
                entry: index,
                ns,
            });
        }
        let mut sheets = Vec::new();
        for ((fixed, quantity), by_backend) in series {
            let mut curves = Vec::new();
            let mut values = BTreeSet::new();
            for (backend, mut points) in by_backend {
                if points.len() < 2 {
                    continue;
                }
                points.sort_unstable();
                values.extend(points.iter().map(|point| point.value));
                curves.push(Curve {
                    backend: backend.clone(),
                    points,
                });
            }
            if values.len() > 1 {
                sheets.push(Sheet {
                    axis,
                    fixed,
                    quantity,
                    values: values.into_iter().collect(),
                    curves,
                });
            }
        }
        sheets
    }
}

/// What makes a point the headline of its scene: the first field that differs decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Number of backends that were measured.
    measured: usize,
    threads: usize,
    instances: usize,
}
