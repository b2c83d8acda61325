//! Results in order: one machine, every backend at every point, and curves along axes.

use super::{Entry, Machine, Point, Problem, Quantity, Recorded, Row, options};
use crate::registry::REGISTRY;
use crate::wording::counted;
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use strum::{IntoStaticStr, VariantArray};

/// Most machines, backends and points of a report.
const MOST_MACHINES: usize = 64;
const MOST_BACKENDS: usize = 128;
const MOST_POINTS: usize = 1_000;

/// Quantities that a run can vary, the most requested first.
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
            Self::Vertices => point.vertices_each,
            Self::Influences => point.influences.into(),
            Self::Models => point.models.unwrap_or(0).into(),
            Self::ActiveTargets => options::get(&point.options, "active_targets")
                .and_then(|count| count.parse().ok())
                .unwrap_or(0),
        }
    }

    /// Returns whether values include 0 and are spaced evenly on charts, instead of by their logarithms.
    pub fn is_linear(self) -> bool {
        matches!(self, Self::Passes | Self::ActiveTargets)
    }

    /// What a point has in common with the others of a curve: the value, and what depends on it, are empty.
    fn common(self, point: &Point) -> Point {
        let mut common = without_hash(point);
        match self {
            Self::Instances => common.instances = 0,
            Self::Passes => common.passes = 0,
            Self::Threads => common.threads = 0,
            Self::Vertices => common.vertices_each = 0,
            Self::Influences => common.influences = 0,
            Self::Models => {
                common.models = None;
                // Levels keep as many vertices as the shape of each model needs.
                if options::get(&point.options, "lod").is_some() {
                    common.vertices_each = 0;
                }
            }
            Self::ActiveTargets => {
                common.options = options::with(&point.options, "active_targets", "N");
            }
        }
        common
    }

    /// Its name with a unit, for the axis of a chart.
    pub fn title(self) -> &'static str {
        self.into()
    }
}

fn without_hash(point: &Point) -> Point {
    Point {
        scene_hash: String::new(),
        ..point.clone()
    }
}

/// Points that differ along one axis, with the times of each backend.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// The axis.
    pub axis: Axis,
    /// The common part of the points; the value of the axis and the hash are empty.
    pub common: Point,
    /// The quantity by which backends are compared.
    pub quantity: Quantity,
    /// The values in rising order.
    pub values: Vec<u64>,
    /// A curve per backend that was measured at two or more values.
    pub curves: Vec<SheetCurve>,
}

impl Sheet {
    /// The value of a point, if it is one of the sheet's points.
    pub fn value(&self, point: &Point) -> Option<u64> {
        let value = self.axis.value(point);
        let is_of_sheet = self.values.contains(&value) && self.axis.common(point) == self.common;
        is_of_sheet.then_some(value)
    }
}

/// The times of a backend along an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetCurve {
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
    /// The machine of all rows.
    pub machine: Machine,
    /// Every backend at every point, in the order of the files.
    pub entries: Vec<Entry>,
    /// The points in the order of the files.
    pub points: Vec<Point>,
    /// Backends that were measured, in the registry's order; those of others follow, in the order of the files.
    pub backends: Vec<String>,
    /// Remarks on the results.
    pub notes: Vec<String>,
    /// The entries of each point, in the registry's order.
    by_point: HashMap<Point, Vec<usize>>,
    sheets: Vec<Sheet>,
}

impl Study {
    /// Puts results in order. Of several machines the one with most rows is used, the others are listed.
    pub fn new(recorded: Recorded) -> Self {
        let mut studies = Self::of_each_machine(recorded);
        let mut study = studies.remove(0);
        for other in studies {
            study.notes.push(format!(
                "{} of another machine left out: {} ({}); report them separately",
                counted(other.rows().count() as u64, "row"),
                other.machine,
                other.machine.os
            ));
        }
        study
    }

    /// Puts the results of each machine in order: at least one study, the machine with most rows first. Remarks are those of
    /// all machines, and stand in the first study.
    pub fn of_each_machine(recorded: Recorded) -> Vec<Self> {
        let mut studies = Vec::new();
        let mut by_machine: HashMap<Machine, Vec<Row>> = HashMap::new();
        let machines = recorded.machines();
        for row in recorded.rows {
            by_machine.entry(Machine::of(&row)).or_default().push(row);
        }
        for machine in machines {
            let rows = by_machine.remove(&machine).unwrap_or_default();
            studies.push(Self::of(machine, rows));
        }
        studies.resize(studies.len().max(1), Self::default());
        studies[0].notes.splice(0..0, recorded.notes);
        studies
    }

    /// The studies of results, unless they are more than a report can show in a reasonable time.
    ///
    /// # Errors
    /// Too many machines, backends or points.
    pub fn bounded(recorded: Recorded) -> Result<Vec<Self>, Problem> {
        let studies = Self::of_each_machine(recorded);
        let backends: BTreeSet<&String> = studies.iter().flat_map(|s| &s.backends).collect();
        for (what, count, most) in [
            ("machines", studies.len(), MOST_MACHINES),
            ("backends", backends.len(), MOST_BACKENDS),
            (
                "crowds and ways to run them",
                studies.iter().map(|study| study.points.len()).sum(),
                MOST_POINTS,
            ),
        ] {
            if count > most {
                let what = format!(
                    "results of {count} {what}; expected at most {most}: report them in parts"
                );
                return Err(Problem::at("", what));
            }
        }
        Ok(studies)
    }

    /// Puts the rows of a machine in order. Rows are in the order in which backends finished, which differs from run to
    /// run, so backends are put in the registry's order.
    fn of(machine: Machine, rows: Vec<Row>) -> Self {
        let mut study = Self {
            machine,
            ..Self::default()
        };
        study.collect(rows);
        let mut by_point: IndexMap<Point, Vec<usize>> = IndexMap::new();
        for (index, entry) in study.entries.iter().enumerate() {
            by_point.entry(entry.point.clone()).or_default().push(index);
            if entry.is_ok() && !study.backends.contains(&entry.backend) {
                study.backends.push(entry.backend.clone());
            }
        }
        study.points = by_point.keys().cloned().collect();
        for (point, mut indices) in by_point {
            indices.sort_by_key(|&index| place(&study.entries[index].backend));
            study.by_point.insert(point, indices);
        }
        study.backends.sort_by_key(|backend| place(backend));
        for axis in Axis::ALL {
            study.sheets.extend(study.sheets_along(*axis));
        }
        study
    }

    fn collect(&mut self, rows: Vec<Row>) {
        let mut newest: HashMap<Point, (String, String)> = HashMap::new();
        for row in &rows {
            let known = newest.entry(without_hash(&row.point())).or_default();
            if row.utc >= known.0 {
                *known = (row.utc.clone(), row.scene_hash.clone());
            }
        }
        let mut foreign = 0;
        let mut entries: IndexMap<(Point, String), IndexMap<String, Vec<Row>>> = IndexMap::new();
        for row in rows {
            let point = row.point();
            if newest[&without_hash(&point)].1 != row.scene_hash {
                foreign += 1;
                continue;
            }
            let runs = entries.entry((point, row.name())).or_default();
            runs.entry(row.run_id.clone()).or_default().push(row);
        }
        let mut repeated = 0;
        for ((point, backend), runs) in entries {
            let mut runs: Vec<Vec<Row>> = runs.into_values().collect();
            runs.sort_by(|a, b| (&a[0].utc, &a[0].run_id).cmp(&(&b[0].utc, &b[0].run_id)));
            // An old failure says nothing about later runs that succeeded.
            if runs.last().is_some_and(|run| run.iter().any(Row::is_ok)) {
                runs.retain(|run| run.iter().any(Row::is_ok));
            }
            repeated += usize::from(runs.len() > 1);
            self.entries.push(Entry {
                point,
                backend,
                runs,
            });
        }
        if foreign > 0 {
            let what = "rows of an older form of a scene (another scene hash) left out";
            self.notes.push(format!("{foreign} {what}"));
        }
        if repeated > 0 {
            self.notes.push(format!(
                "{repeated} of {} backends of all crowds were measured in several runs: figures are those of the newest run, \
                 intervals follow from all",
                self.entries.len()
            ));
        }
    }

    /// All rows that are used.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.entries
            .iter()
            .flat_map(|entry| entry.runs.iter().flatten())
    }

    /// Returns whether a curve's backend takes part in verdicts everywhere.
    pub fn competes(&self, curve: &SheetCurve) -> bool {
        let mut points = curve.points.iter();
        points.all(|point| self.entries[point.entry].competes())
    }

    /// The quantity by which backends are compared at a point: whole frames, or the stages before drawing if drawing is
    /// emulated.
    pub fn quantity(&self, passes: u32) -> Quantity {
        if self.machine.is_emulated() && passes > 0 {
            Quantity::Work
        } else {
            Quantity::Frame
        }
    }

    /// The backends at a point, in the registry's order.
    pub fn at(&self, point: &Point) -> impl Iterator<Item = &Entry> {
        let indices = self.by_point.get(point).into_iter().flatten();
        indices.map(|&index| &self.entries[index])
    }

    /// The backends at a point, the fastest first; those without a time follow.
    pub fn ranked(&self, point: &Point) -> Vec<&Entry> {
        let quantity = self.quantity(point.passes);
        let mut entries: Vec<&Entry> = self.at(point).collect();
        entries.sort_by_cached_key(|entry| {
            let time = entry.time(quantity);
            (time.is_none(), time, !entry.is_ok())
        });
        entries
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
    pub fn sheets(&self, axis: Axis) -> impl Iterator<Item = &Sheet> {
        self.sheets.iter().filter(move |sheet| sheet.axis == axis)
    }

    fn sheets_along(&self, axis: Axis) -> Vec<Sheet> {
        let mut series: BTreeMap<(Point, Quantity), IndexMap<&String, Vec<CurvePoint>>> =
            BTreeMap::new();
        for (index, entry) in self.entries.iter().enumerate() {
            // Frames with and without drawing are not comparable.
            let quantity = self.quantity(entry.point.passes);
            let Some(ns) = entry.time(quantity) else {
                continue;
            };
            let curves = series
                .entry((axis.common(&entry.point), quantity))
                .or_default();
            curves.entry(&entry.backend).or_default().push(CurvePoint {
                value: axis.value(&entry.point),
                entry: index,
                ns,
            });
        }
        let mut sheets = Vec::new();
        for ((common, quantity), by_backend) in series {
            let mut curves = Vec::new();
            let mut values = BTreeSet::new();
            for (backend, mut points) in by_backend {
                if points.len() < 2 {
                    continue;
                }
                points.sort_unstable();
                values.extend(points.iter().map(|point| point.value));
                curves.push(SheetCurve {
                    backend: backend.clone(),
                    points,
                });
            }
            if values.len() > 1 {
                sheets.push(Sheet {
                    axis,
                    common,
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

/// Place of a backend in the registry; behind it for those of others.
fn place(backend: &str) -> usize {
    REGISTRY
        .iter()
        .position(|entry| entry.name == backend)
        .unwrap_or(REGISTRY.len())
}
