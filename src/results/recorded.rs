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
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

/// Depth of the search for results in folders.
const DEPTH: usize = 6;
/// Most bytes of a compressed file, or of all files of a bundle together.
pub(super) const MOST_BYTES: u64 = 128 << 20;
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
#[error("{}{}{problem}", .path.display(), if .path.as_os_str().is_empty() { "" } else { ": " })]
pub struct ReadError {
    path: PathBuf,
    problem: String,
}

impl ReadError {
    /// The error with places relative to a folder.
    pub(super) fn below(self, folder: &Path) -> Self {
        let path = self.path.strip_prefix(folder).map(Path::to_owned).unwrap_or(self.path);
        Self { path, problem: below(&self.problem, folder) }
    }
}

/// A text in which the places of files are relative to a folder.
fn below(text: &str, folder: &Path) -> String {
    text.replace(&format!("{}{MAIN_SEPARATOR}", folder.display()), "")
}

/// Samples, and the rows that they may belong to, of all files that are read.
#[derive(Default)]
struct Owners {
    rows: HashSet<SampleSeries>,
    /// Samples without a row in the summary beside them, and the number of each: they may have one in another file.
    others: Vec<Strays>,
    /// Number of rows that another file has, too.
    copies: usize,
}

impl Owners {
    /// A problem for each file with samples that belong to no row at all.
    fn orphans(self) -> impl Iterator<Item = Problem> {
        let Self { rows, others, .. } = self;
        others.into_iter().filter_map(move |(place, mut others)| {
            others.retain(|(series, _)| !rows.contains(series));
            others.sort_unstable();
            let ((run, scene, backend, variant, stage, clock), _) = others.first()?;
            let variant = variant.as_ref().map_or(String::new(), |variant| format!(":{variant}"));
            let who = format!("{backend}{variant} {} {} of {scene} in run {run}", stage.name(), clock.name());
            let more = if others.len() > 1 { format!(" and {} more", others.len() - 1) } else { String::new() };
            let count: usize = others.iter().map(|(_, count)| count).sum();
            Some(Problem { place, what: format!("{who}{more}: {count} samples belong to no row: not used") })
        })
    }
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
        let (mut recorded, mut owners) = (Self::default(), Owners::default());
        for path in paths.iter().map(AsRef::as_ref) {
            let error = |problem: String| ReadError { path: path.into(), problem };
            let found = summaries(path)?;
            let (before, problems, copies) = (recorded.measurements.len(), recorded.problems.len(), owners.copies);
            for file in found.into_iter().filter(|file| !recorded.files.contains(file)).collect::<Vec<_>>() {
                recorded.read_file(&file, &mut owners).map_err(|e| error(format!("cannot read: {e}")))?;
            }
            // Nothing of a copy is used, but nothing of it is wrong.
            let nothing = recorded.measurements.len() == before && owners.copies == copies;
            if nothing && recorded.problems.len() > problems {
                return Err(error(format!("nothing in it can be used: {}", recorded.problems[problems])));
            }
        }
        recorded.problems.extend(owners.orphans());
        if recorded.measurements.is_empty() {
            let path = paths.first().map_or(PathBuf::new(), |p| p.as_ref().into());
            return Err(ReadError { path, problem: "no measurements in it".into() });
        }
        Ok(recorded)
    }

    /// The results with problems whose places are relative to a folder.
    pub(super) fn below(mut self, folder: &Path) -> Self {
        for Problem { place, what } in &mut self.problems {
            (*place, *what) = (below(place, folder), below(what, folder));
        }
        self
    }

    /// The machines, the one with most measurements first.
    pub fn machines(&self) -> Vec<Machine> {
        let mut counts: HashMap<Machine, usize> = HashMap::new();
        self.measurements.iter().for_each(|m| *counts.entry(m.machine()).or_default() += 1);
        let mut machines: Vec<_> = counts.into_iter().collect();
        machines.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        machines.into_iter().map(|(machine, _)| machine).collect()
    }

    fn read_file(&mut self, file: &Path, owners: &mut Owners) -> csv::Result<()> {
        let name = file.display().to_string();
        self.files.push(file.into());
        let before = self.problems.len();
        let rows: Vec<(u64, SummaryRow)> = self.rows(file, &NEEDED)?;
        if rows.is_empty() {
            // What the samples lack does not matter then.
            if self.problems.len() == before {
                self.problems.push(Problem { place: name, what: "no rows".into() });
            }
            return Ok(());
        }
        // Rows that are left out below own their samples nevertheless.
        let own: HashSet<SampleSeries> = rows.iter().map(|(_, row)| series(row)).collect();
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
                    owners.copies += 1;
                    self.problem(&name, line, "this run is in another file, too: counted once".into());
                }
                None => {
                    lines.insert(key, (line, self.measurements.len()));
                    self.measurements.push(measurement);
                }
            }
        }
        let others = self.read_samples(&samples_beside(file), first, &own)?;
        owners.others.extend(others);
        owners.rows.extend(own);
        Ok(())
    }

    /// Assigns samples to the measurements from `first` on. Returns those that belong to none of `rows`, with the file.
    fn read_samples(&mut self, file: &Path, first: usize, rows: &HashSet<SampleSeries>) -> csv::Result<Option<Strays>> {
        let name = file.display().to_string();
        if !file.is_file() {
            self.problems.push(Problem { place: name, what: "missing: medians only, no uncertainties".into() });
            return Ok(None);
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
            let twice = samples.windows(2).find(|two| two[0].0 == two[1].0);
            let problem = match (owners[&key], twice) {
                (1, Some(two)) => Some(format!("{who}: frame {} has several times: not used", two[0].0)),
                (1, None) if samples.len() == expected => None,
                (1, None) => Some(format!("{who}: {} samples for {expected} frames: not used", samples.len())),
                (owners, _) => Some(format!("{who}: {owners} rows of the summary share these samples: not used")),
            };
            match problem {
                Some(what) => self.problems.push(Problem { place: name.clone(), what }),
                None => self.measurements[index].samples = samples,
            }
        }
        let others = by_key.into_iter().filter(|(series, _)| !rows.contains(series));
        let others: Vec<_> = others.map(|(series, samples)| (series, samples.len())).collect();
        Ok((!others.is_empty()).then_some((name, others)))
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
            // Only messages may have several lines.
            let fields = record.iter().zip(headers.iter()).filter(|(_, column)| *column != "error");
            let more: u64 = fields.map(|(field, _)| field.trim_end().matches('\n').count() as u64).sum();
            if cut || more > 0 || record.len() != headers.len() {
                let what = match (more, cut) {
                    (1.., _) => format!("a quotation mark without its other: left out up to line {}", line + more),
                    (0, true) => "the last line is cut off: left out".into(),
                    (0, false) => format!("{} fields; expected {}: line left out", record.len(), headers.len()),
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

/// The text of a file, decompressed if its name ends in `.gz`. A compressed file may be a thousandth of its content, so
/// that is bounded.
///
/// # Errors
/// A file that cannot be read or decompressed, or holds too much.
pub fn text_of(file: &Path) -> io::Result<String> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
    let mut bytes = fs::read(file).map_err(named)?;
    if file.extension().is_some_and(|ending| ending == "gz") {
        let packed = std::mem::take(&mut bytes);
        GzDecoder::new(&packed[..]).take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(named)?;
        if bytes.len() as u64 > MOST_BYTES {
            let what =
                format!("holds more than {} MiB; expected less, or a file that is not compressed", MOST_BYTES >> 20);
            return Err(named(io::Error::new(io::ErrorKind::FileTooLarge, what)));
        }
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
/// A file, and its series that belong to no row beside it, with the number of samples.
type Strays = (String, Vec<(SampleSeries, usize)>);

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

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;
    use tempfile::TempDir;

    /// A folder with the fixed results, changed: `summary.csv` and `samples.csv`.
    fn folder(summary: impl Fn(String) -> String, samples: impl Fn(String) -> String) -> TempDir {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sweep");
        let folder = tempfile::tempdir().unwrap();
        let text = |name: &str| fs::read_to_string(fixture.join(name)).unwrap();
        fs::write(folder.path().join("summary.csv"), summary(text("summary.csv"))).unwrap();
        fs::write(folder.path().join("samples.csv"), samples(text("samples.csv"))).unwrap();
        folder
    }

    fn same(text: String) -> String {
        text
    }

    fn said(recorded: &Recorded) -> Vec<String> {
        recorded.problems.iter().map(|problem| problem.what.clone()).collect()
    }

    #[test]
    fn samples_of_no_row_are_listed_unless_another_file_has_the_row() {
        let more =
            |text: String| text + "r.9,walkers,cpu-old,fast,frame,wall,0,5\nr.9,walkers,cpu-old,fast,frame,wall,1,6\n";
        let first = folder(same, more);
        let recorded = Recorded::read(&[first.path()]).unwrap();
        let expected = "cpu-old:fast frame wall of walkers in run r.9: 2 samples belong to no row: not used";
        assert_eq!(said(&recorded), [expected]);
        assert!(recorded.problems[0].place.ends_with("samples.csv"));

        let part = |wanted: fn(usize) -> bool| {
            let keep = move |text: String| {
                let lines = text.lines().enumerate().filter(|(at, _)| *at == 0 || wanted(*at));
                lines.map(|(_, line)| format!("{line}\n")).collect()
            };
            folder(keep, same)
        };
        let (even, odd) = (part(|at| at % 2 == 0), part(|at| at % 2 == 1));
        assert_eq!(said(&Recorded::read(&[even.path(), odd.path()]).unwrap()), [""; 0]);
        let half = said(&Recorded::read(&[even.path()]).unwrap());
        assert!(
            half.len() == 1 && half[0].contains(" more: ") && half[0].contains("samples belong to no row"),
            "{half:?}"
        );
    }

    #[test]
    fn two_times_of_a_frame_are_not_used() {
        // As many samples as frames, but two of the first frame and none of the second.
        let folder = folder(same, |text| text.replacen(",wall,1,", ",wall,0,", 1));
        let recorded = Recorded::read(&[folder.path()]).unwrap();
        let problems = said(&recorded);
        assert!(problems.len() == 1 && problems[0].ends_with(": frame 0 has several times: not used"), "{problems:?}");
        assert!(recorded.measurements[0].samples.is_empty() && !recorded.measurements[1].samples.is_empty());
    }

    #[test]
    fn a_copy_is_noted_and_a_file_without_rows_is_named() {
        let (one, two) = (folder(same, same), folder(same, same));
        let recorded = Recorded::read(&[one.path(), two.path()]).unwrap();
        assert_eq!(recorded.measurements, Recorded::read(&[one.path()]).unwrap().measurements);
        assert!(said(&recorded).iter().all(|what| what == "this run is in another file, too: counted once"));
        assert_eq!(recorded.problems.len(), recorded.measurements.len());

        let heading = |text: String| text.lines().next().unwrap().to_owned();
        for without in [folder(heading, same), folder(|text| heading(text) + "\n", same)] {
            fs::remove_file(without.path().join("samples.csv")).unwrap();
            let error = Recorded::read(&[without.path()]).unwrap_err().to_string();
            assert!(error.ends_with("summary.csv: no rows"), "{error}");
        }
    }

    #[test]
    fn compressed_files_are_bounded() {
        let file = tempfile::Builder::new().suffix(".gz").tempfile().unwrap();
        let mut packed = GzEncoder::new(&file, Compression::fast());
        let zeros = vec![0; 1 << 20];
        (0..MOST_BYTES >> 20).for_each(|_| packed.write_all(&zeros).unwrap());
        packed.write_all(b"0").unwrap();
        packed.finish().unwrap();
        let error = text_of(file.path()).unwrap_err().to_string();
        assert!(error.contains(".gz: holds more than 128 MiB; expected "), "{error}");
    }
}
