//! Reading of result files. Usable rows are used; others are listed with file and line.

use super::key::{Machine, MeasurementKey};
use super::rows::{LimitsRow, Measurement, SCHEMA, SampleRow, SummaryRow};
use crate::frame::{Clock, Stage};
use crate::harness::run::Status;
use csv::StringRecord;
use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Depth of the search for results in folders.
const DEPTH: usize = 6;
/// Required columns of `summary.csv`.
const NEEDED: [&str; 10] =
    ["run_id", "scene", "scene_hash", "instances", "passes", "backend", "stage", "clock", "status", "median_ns"];
/// Required columns of `samples.csv`.
const SAMPLES_NEEDED: [&str; 7] = ["run_id", "scene", "backend", "stage", "clock", "frame", "ns"];

/// A problem in a result file, and how it was handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// File, and line if there is one.
    pub place: String,
    /// The problem and how it was handled.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Error for results that cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .path.display())]
pub struct ReadError {
    path: PathBuf,
    problem: String,
}

/// Measurements read from result files, and the problems found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    /// Measurements in the order of the files, without duplicates.
    pub measurements: Vec<Measurement>,
    /// Problems of the files, and how each was handled.
    pub problems: Vec<Problem>,
    /// The `summary.csv` files.
    pub files: Vec<PathBuf>,
}

impl Recorded {
    /// Reads `summary.csv` files, or those of folders and the folders in them, with the `samples.csv` or
    /// `samples.csv.gz` beside each.
    ///
    /// # Errors
    /// A path that does not exist, cannot be read, or contains no results; or a file without any usable row.
    pub fn read<P: AsRef<Path>>(paths: &[P]) -> Result<Self, ReadError> {
        let mut recorded = Self::default();
        for path in paths.iter().map(AsRef::as_ref) {
            let error = |problem: String| ReadError { path: path.into(), problem };
            let found = summaries(path)?;
            let (before, problems) = (recorded.measurements.len(), recorded.problems.len());
            for file in found.into_iter().filter(|file| !recorded.files.contains(file)).collect::<Vec<_>>() {
                recorded.read_file(&file).map_err(|e| error(format!("cannot read: {e}")))?;
            }
            if recorded.measurements.len() == before && recorded.problems.len() > problems {
                return Err(error(format!("nothing in it can be used: {}", recorded.problems[problems])));
            }
        }
        if recorded.measurements.is_empty() {
            let path = paths.first().map_or(PathBuf::new(), |p| p.as_ref().into());
            return Err(ReadError { path, problem: "no measurements in it".into() });
        }
        Ok(recorded)
    }

    /// The machines, the one with most measurements first.
    pub fn machines(&self) -> Vec<Machine> {
        let mut counts: HashMap<Machine, usize> = HashMap::new();
        self.measurements.iter().for_each(|m| *counts.entry(m.machine()).or_default() += 1);
        let mut machines: Vec<_> = counts.into_iter().collect();
        machines.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        machines.into_iter().map(|(machine, _)| machine).collect()
    }

    fn read_file(&mut self, file: &Path) -> csv::Result<()> {
        let name = file.display().to_string();
        self.files.push(file.into());
        let rows: Vec<(u64, SummaryRow)> = self.rows(file, &NEEDED)?;
        let mut lines: HashMap<(String, MeasurementKey), (u64, usize)> = HashMap::new();
        let first = self.measurements.len();
        let in_run = |m: &Measurement| (m.row.run_id.clone(), m.key());
        let elsewhere: HashSet<(String, MeasurementKey)> = self.measurements.iter().map(in_run).collect();
        for (line, row) in rows {
            if row.schema > SCHEMA {
                let what = format!("schema {}; this skinbench reads up to {SCHEMA}: row left out", row.schema);
                self.problem(&name, line, what);
                continue;
            }
            if row.schema < SCHEMA && !self.problems.iter().any(|p| p.place == name) {
                let what = format!("older schema {}; columns that it lacks are empty", row.schema);
                self.problems.push(Problem { place: name.clone(), what });
            }
            if row.status == Status::Ok && row.parity_max_rel.is_some_and(f64::is_nan) {
                self.problem(&name, line, "status ok, but parity_max_rel is NaN: row left out".into());
                continue;
            }
            let measurement = Measurement { row, samples: Vec::new() };
            let key = in_run(&measurement);
            match lines.get(&key) {
                Some(&(other, index)) => {
                    let same = self.measurements[index] == measurement;
                    let what = match same {
                        true => format!("the same as line {other}: counted once"),
                        false => format!("measures the same as line {other} of the same run: left out"),
                    };
                    self.problem(&name, line, what);
                }
                None if elsewhere.contains(&key) => {
                    self.problem(&name, line, "this run is in another file, too: counted once".into());
                }
                None => {
                    lines.insert(key, (line, self.measurements.len()));
                    self.measurements.push(measurement);
                }
            }
        }
        self.read_samples(&samples_beside(file), first)
    }

    /// Assigns samples to the measurements from `first` on.
    fn read_samples(&mut self, file: &Path, first: usize) -> csv::Result<()> {
        let name = file.display().to_string();
        if !file.is_file() {
            self.problems.push(Problem { place: name, what: "missing: medians only, no uncertainties".into() });
            return Ok(());
        }
        let mut by_key: HashMap<SampleSeries, Vec<(u32, u64)>> = HashMap::new();
        for (_, row) in self.rows::<SampleRow>(file, &SAMPLES_NEEDED)? {
            let key = (row.run_id, row.scene, row.backend, row.variant, row.stage, row.clock);
            by_key.entry(key).or_default().push((row.frame, row.ns));
        }
        let mut owners: HashMap<SampleSeries, usize> = HashMap::new();
        for measurement in &self.measurements[first..] {
            *owners.entry(series(&measurement.row)).or_default() += 1;
        }
        for index in first..self.measurements.len() {
            let row = &self.measurements[index].row;
            let Some(expected) = row.frames.filter(|frames| *frames > 0) else { continue };
            let key = series(row);
            let (stage, clock) = (row.stage.name(), row.clock.name());
            let who = format!("{} {stage} {clock} of {} in run {}", row.backend, row.scene, row.run_id);
            let mut samples = by_key.get(&key).cloned().unwrap_or_default();
            let given = samples.len();
            samples.sort_unstable();
            samples.dedup();
            if samples.len() < given {
                let what = format!("{who}: {} samples stand there twice: counted once", given - samples.len());
                self.problems.push(Problem { place: name.clone(), what });
            }
            let problem = match owners[&key] {
                1 if samples.len() == expected => None,
                1 => Some(format!("{who}: {} samples for {expected} frames: not used", samples.len())),
                owners => Some(format!("{who}: {owners} rows of the summary share these samples: not used")),
            };
            match problem {
                Some(what) => self.problems.push(Problem { place: name.clone(), what }),
                None => self.measurements[index].samples = samples,
            }
        }
        Ok(())
    }

    /// The rows of a file with their lines; a row that cannot be parsed becomes a problem.
    fn rows<T: DeserializeOwned>(&mut self, file: &Path, needed: &[&str]) -> csv::Result<Vec<(u64, T)>> {
        let name = file.display().to_string();
        let text = text_of(file)?;
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        let headers = reader.headers()?.clone();
        let missing: Vec<_> = needed.iter().copied().filter(|column| !headers.iter().any(|h| h == *column)).collect();
        if !missing.is_empty() {
            let what = match headers.is_empty() {
                true => "empty file".into(),
                false => format!("no column {}: the file is not used", missing.join(", ")),
            };
            self.problems.push(Problem { place: name, what });
            return Ok(Vec::new());
        }
        let mut rows = Vec::new();
        let records: Vec<StringRecord> = reader.records().collect::<csv::Result<_>>()?;
        let count = records.len();
        for (index, mut record) in records.into_iter().enumerate() {
            let line = record.position().map_or(0, csv::Position::line);
            let cut = index + 1 == count && !text.ends_with('\n');
            if cut || record.len() != headers.len() {
                let what = match cut {
                    true => "the last line is cut off: left out".into(),
                    false => format!("{} fields; expected {}: line left out", record.len(), headers.len()),
                };
                self.problem(&name, line, what);
                continue;
            }
            match self.row(&name, line, &mut record, &headers, needed) {
                Ok(row) => rows.push((line, row)),
                Err(what) => self.problem(&name, line, format!("{what}: line left out")),
            }
        }
        Ok(rows)
    }

    /// One row; an invalid field that is not required is left empty.
    fn row<T: DeserializeOwned>(
        &mut self,
        name: &str,
        line: u64,
        record: &mut StringRecord,
        headers: &StringRecord,
        needed: &[&str],
    ) -> Result<T, String> {
        loop {
            let error = match record.deserialize(Some(headers)) {
                Ok(row) => return Ok(row),
                Err(error) => error,
            };
            let csv::ErrorKind::Deserialize { err, .. } = error.kind() else { return Err(error.to_string()) };
            let Some(field) = err.field().map(|field| field as usize) else { return Err(err.kind().to_string()) };
            let (column, value) = (&headers[field], &record[field]);
            let what = format!("{column}: {value:?} ({})", err.kind());
            if needed.contains(&column) || value.is_empty() {
                return Err(what);
            }
            let emptied = record.iter().enumerate().map(|(at, value)| if at == field { "" } else { value });
            *record = emptied.collect();
            self.problem(name, line, format!("{what}: field left empty"));
        }
    }

    fn problem(&mut self, file: &str, line: u64, what: String) {
        self.problems.push(Problem { place: format!("{file}:{line}"), what });
    }
}

/// The `summary.csv` files at and below a path, in order; at least one.
///
/// # Errors
/// A path that does not exist, cannot be read, or contains no results.
pub fn summaries(path: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let error = |problem: String| ReadError { path: path.into(), problem };
    let mut found = Vec::new();
    find(path, DEPTH, &mut found).map_err(|e| error(format!("cannot read: {e}")))?;
    found.sort();
    if found.is_empty() {
        let expected = "expected a folder that `skinbench run -o` or `skinbench sweep -o` wrote";
        return Err(error(format!("no summary.csv in it; {expected}")));
    }
    Ok(found)
}

/// The samples of a `summary.csv`: `samples.csv` beside it, or `samples.csv.gz` if only that exists.
pub fn samples_beside(summary: &Path) -> PathBuf {
    let [plain, packed] = ["samples.csv", "samples.csv.gz"].map(|name| summary.with_file_name(name));
    if packed.is_file() && !plain.is_file() { packed } else { plain }
}

/// The text of a file, decompressed if its name ends in `.gz`.
///
/// # Errors
/// A file that cannot be read or decompressed.
pub fn text_of(file: &Path) -> io::Result<String> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
    let mut bytes = fs::read(file).map_err(named)?;
    if file.extension().is_some_and(|ending| ending == "gz") {
        let packed = std::mem::take(&mut bytes);
        GzDecoder::new(&packed[..]).read_to_end(&mut bytes).map_err(named)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the `limits.csv` of a folder.
///
/// # Errors
/// A file that does not exist or has an invalid row.
pub fn read_limits(folder: &Path) -> Result<Vec<LimitsRow>, ReadError> {
    let path = folder.join("limits.csv");
    let rows = csv::Reader::from_path(&path).and_then(|mut reader| reader.deserialize().collect());
    rows.map_err(|error| ReadError { problem: error.to_string(), path })
}

/// The fields by which samples refer to their row: run, scene, backend, variant, stage, clock.
type SampleSeries = (String, String, String, Option<String>, Stage, Clock);

fn series(row: &SummaryRow) -> SampleSeries {
    let SummaryRow { run_id, scene, backend, variant, stage, clock, .. } = row.clone();
    (run_id, scene, backend, variant, stage, clock)
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
