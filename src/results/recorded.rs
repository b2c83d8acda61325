//! Reading of result files.

use super::csv_file::{read_rows, text_of};
use super::old_hashes;
use super::row::listed_name;
use super::{Machine, Point, Problem, Row, SCHEMA, page_results};
use crate::frame::{Clock, Stage};
use crate::harness::run::Status;
use crate::wording::counted;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Depth of the search for results in folders.
const DEPTH: usize = 6;
/// Most rows, and most samples, of all files that are read together.
const MOST_ROWS: usize = 250_000;
const MOST_SAMPLES: usize = 20_000_000;
/// Oldest schema that has all columns which tables show.
const COMPLETE: u32 = 2;
/// Columns that `summary.csv` must have, in every schema.
const NEEDED: [&str; 10] = [
    "run_id",
    "scene",
    "scene_hash",
    "instances",
    "passes",
    "backend",
    "stage",
    "clock",
    "status",
    "median_ns",
];
/// Columns that `samples.csv` must have.
const SAMPLES_NEEDED: [&str; 7] = [
    "run_id", "scene", "backend", "stage", "clock", "frame", "ns",
];

/// A row of `samples.csv`: one measured time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SampleRow {
    /// As in [`Row`], like all down to `clock`.
    pub run_id: String,
    /// As in [`Row`].
    pub scene: String,
    /// As in [`Row`]; empty in files of older schemas.
    pub instances: Option<usize>,
    /// As in [`Row`]; empty in files of older schemas.
    pub passes: Option<u32>,
    /// As in [`Row`].
    pub backend: String,
    /// As in [`Row`].
    pub variant: Option<String>,
    /// As in [`Row`].
    pub stage: Stage,
    /// As in [`Row`].
    pub clock: Clock,
    /// Number of the frame, the same sequence for every backend.
    pub frame: u32,
    /// Nanoseconds.
    pub ns: u64,
}

impl SampleRow {
    /// The measured times of a row, in the order of the frames.
    pub fn all(row: &Row) -> impl Iterator<Item = Self> {
        row.samples.iter().map(|&(frame, ns)| Self {
            run_id: row.run_id.clone(),
            scene: row.scene.clone(),
            instances: Some(row.instances),
            passes: Some(row.passes),
            backend: row.backend.clone(),
            variant: row.variant.clone(),
            stage: row.stage,
            clock: row.clock,
            frame,
            ns,
        })
    }
}

/// Identifies the samples of a row in `samples.csv`. The point is not part of it, because a run measures each scene at one
/// point.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct RowKey {
    run_id: String,
    scene: String,
    backend: String,
    stage: Stage,
    clock: Clock,
}

/// A `summary.csv` and the samples beside it, as they were read.
struct ResultFile {
    /// Name of the summary in messages.
    name: String,
    /// Its text.
    summary: String,
    /// Name of the samples in messages.
    samples_name: String,
    /// Their text; `None` if there are none.
    samples: Option<String>,
}

impl ResultFile {
    /// Reads a `summary.csv`, and the `samples.csv` or `samples.csv.gz` beside it; or the text that a page for browsers
    /// gave, which has both.
    fn read(summary: &Path) -> Result<Self, Problem> {
        let rows = text_of(summary)?;
        if let Some(pasted) = page_results::find(&rows) {
            let mut files =
                page_results::parse(pasted).map_err(|error| Problem::reading(summary, &error))?;
            let Some(rows) = files.remove("summary.csv") else {
                let what = "no summary.csv in it; expected all that the page gave";
                return Err(Problem::at(summary, what));
            };
            return Ok(Self {
                name: format!("{}: summary.csv", summary.display()),
                summary: rows,
                samples_name: format!("{}: samples.csv", summary.display()),
                samples: files.remove("samples.csv"),
            });
        }
        let [plain, packed] =
            ["samples.csv", "samples.csv.gz"].map(|name| summary.with_file_name(name));
        let samples = if packed.exists() && !plain.exists() {
            packed
        } else {
            plain
        };
        let mut text = None;
        if samples.exists() {
            // A run in which no backend had times leaves an empty file.
            text = Some(text_of(&samples)?).filter(|text| !text.is_empty());
        }
        Ok(Self {
            name: summary.display().to_string(),
            summary: rows,
            samples_name: samples.display().to_string(),
            samples: text,
        })
    }
}

/// Rows read from result files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    /// The rows in the order of the files, each once, with their samples.
    pub rows: Vec<Row>,
    /// Remarks on the files, such as that one lacks samples.
    pub notes: Vec<String>,
}

impl Recorded {
    /// Reads `summary.csv` files, or those of folders and the folders in them, with the `samples.csv` or
    /// `samples.csv.gz` beside each.
    ///
    /// # Errors
    /// A path that does not exist or contains no results, a file that cannot be read or is damaged, or more than results
    /// may have.
    pub fn read<P: AsRef<Path>>(paths: &[P]) -> Result<Self, Problem> {
        let mut recorded = Self::default();
        let mut places = HashMap::new();
        let mut met = HashSet::new();
        let mut copies = 0;
        let mut without = Vec::new();
        for path in paths {
            for summary in summaries(path.as_ref())? {
                if met.insert(summary.clone()) {
                    let file = ResultFile::read(&summary)?;
                    copies += recorded.add(&file, &mut places)?;
                    without.extend(file.samples.is_none().then_some(file.samples_name));
                }
            }
        }
        if let [first, others @ ..] = &without[..] {
            let others = match others.len() {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            let what = "missing: medians only, no uncertainties";
            recorded.notes.push(format!("{first}{others} {what}"));
        }
        if copies > 0 {
            let copies = counted(copies, "row");
            recorded
                .notes
                .push(format!("{copies} in several files: counted once"));
        }
        if recorded.rows.is_empty() {
            let place = paths.first().map_or(Path::new(""), AsRef::as_ref);
            return Err(Problem::at(place, "no rows; expected results"));
        }
        Ok(recorded)
    }

    /// The machines, the one with most rows first.
    pub fn machines(&self) -> Vec<Machine> {
        let mut counts: BTreeMap<Machine, usize> = BTreeMap::new();
        for row in &self.rows {
            *counts.entry(Machine::of(row)).or_default() += 1;
        }
        let mut machines: Vec<Machine> = counts.keys().cloned().collect();
        machines.sort_by_key(|machine| Reverse(counts[machine]));
        machines
    }

    /// Adds the rows of a file; returns how many of them another file has, too.
    fn add(
        &mut self,
        file: &ResultFile,
        places: &mut HashMap<(Point, RowKey), usize>,
    ) -> Result<u64, Problem> {
        let mut samples = samples_of(file)?;
        let first = self.rows.len();
        let mut copies = 0;
        let mut older = None;
        let has_samples = file.samples.is_some();
        read_rows(&file.name, &file.summary, &NEEDED, |_, mut row: Row| {
            check(&row)?;
            row.complete();
            row.scene_hash = old_hashes::renewed(&row.scene_hash).into();
            older = older.or((row.schema < COMPLETE).then_some(row.schema));
            let key = RowKey {
                run_id: row.run_id.clone(),
                scene: row.scene.clone(),
                backend: row.name(),
                stage: row.stage,
                clock: row.clock,
            };
            let identity = (row.point(), key);
            let known = places.get(&identity).copied();
            if known.is_some_and(|at| at >= first) {
                return Err(
                    "an earlier row of the same run measures the same; expected one".into(),
                );
            }
            if has_samples {
                row.samples = taken(&mut samples, &identity.1, row.frames.unwrap_or(0))?;
            }
            match known {
                None => {
                    if self.rows.len() == MOST_ROWS {
                        return Err(format!("more than {MOST_ROWS} rows in all; expected fewer"));
                    }
                    places.insert(identity, self.rows.len());
                    self.rows.push(row);
                }
                Some(at) if self.rows[at] == row => copies += 1,
                Some(_) => {
                    return Err(
                        "another file has other values of this row of the same run; expected one of them"
                            .into(),
                    );
                }
            }
            Ok(())
        })?;
        if let Some(older) = older {
            let what = format!(
                "{}: schema {older}; columns that it lacks are empty",
                file.name
            );
            self.notes.push(what);
        }
        let left: usize = samples.values().map(Vec::len).sum();
        if left > 0 {
            let left = counted(left as u64, "sample");
            self.notes.push(format!(
                "{}: {left} of no row of summary.csv, as an interrupted run leaves them: not used",
                file.samples_name
            ));
        }
        Ok(copies)
    }
}

/// Checks what the columns of a row say together.
fn check(row: &Row) -> Result<(), String> {
    if row.schema > SCHEMA {
        return Err(format!(
            "schema {}; this skinbench reads up to {SCHEMA}",
            row.schema
        ));
    }
    if row.status == Status::Ok
        && let Some(error) = row.parity_max_rel.filter(|error| !error.is_finite())
    {
        return Err(format!("status ok, but parity_max_rel is {error}"));
    }
    if row.instances == 0 {
        return Err("instances: 0; expected 1 or more".into());
    }
    if row.stage == Stage::Frame && row.median_ns == Some(0) {
        return Err("median_ns: 0 for a whole frame; expected 1 or more".into());
    }
    Ok(())
}

/// The samples of a row, which are as many as its frames.
fn taken(
    samples: &mut HashMap<RowKey, Vec<(u32, u64)>>,
    key: &RowKey,
    expected: usize,
) -> Result<Vec<(u32, u64)>, String> {
    let mut found = samples.remove(key).unwrap_or_default();
    found.sort_unstable();
    if found.windows(2).any(|two| two[0].0 == two[1].0) {
        return Err("samples.csv beside it has a frame of this row twice".into());
    }
    if found.len() == expected {
        return Ok(found);
    }
    Err(format!(
        "samples.csv beside it has {} of this row; expected {expected}",
        counted(found.len() as u64, "sample")
    ))
}

/// Frame numbers and nanoseconds of each row of a file.
fn samples_of(file: &ResultFile) -> Result<HashMap<RowKey, Vec<(u32, u64)>>, Problem> {
    let mut samples: HashMap<RowKey, Vec<(u32, u64)>> = HashMap::new();
    let Some(text) = &file.samples else {
        return Ok(samples);
    };
    let mut count = 0;
    read_rows(
        &file.samples_name,
        text,
        &SAMPLES_NEEDED,
        |_, row: SampleRow| {
            count += 1;
            if count > MOST_SAMPLES {
                return Err(format!("more than {MOST_SAMPLES} samples; expected fewer"));
            }
            let key = RowKey {
                run_id: row.run_id,
                scene: row.scene,
                backend: listed_name(&row.backend, row.variant.as_deref()),
                stage: row.stage,
                clock: row.clock,
            };
            samples.entry(key).or_default().push((row.frame, row.ns));
            Ok(())
        },
    )?;
    Ok(samples)
}

/// The `summary.csv` files at and below a path, in order; at least one.
///
/// # Errors
/// A path that does not exist, cannot be read, or contains no results.
pub fn summaries(path: &Path) -> Result<Vec<PathBuf>, Problem> {
    let mut found = Vec::new();
    find(path, DEPTH, &mut found).map_err(|error| Problem::reading(path, &error))?;
    found.sort();
    if found.is_empty() {
        let what = "no summary.csv in it; expected a folder that `skinbench run -o` wrote";
        return Err(Problem::at(path, what));
    }
    Ok(found)
}

/// The `summary.csv` files at and below `path`, or `path` itself if it is a file.
fn find(path: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if fs::metadata(path)?.is_file() {
        found.push(path.into());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_file() && entry.file_name() == "summary.csv" {
            found.push(entry.path());
        } else if kind.is_dir() && depth > 0 {
            find(&entry.path(), depth - 1, found)?;
        }
    }
    Ok(())
}
