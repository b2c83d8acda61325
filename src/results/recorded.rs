//! Reading of result files. Usable rows are used; others are listed with file and line.

use super::bounds::{self, MOST_ROWS};
pub use super::csv_rows::Problem;
use super::input::{named, text_of};
use super::rows::OLDEST_COMPLETE;
use super::{
    Machine, Measurement, MeasurementKey, SCHEMA, SampleRow, SummaryRow, page_results, read_rows,
};
use crate::harness::run::Status;
use crate::wording::counted;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Depth of the search for results in folders.
const DEPTH: usize = 6;
/// Required columns of `summary.csv`.
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
/// Required columns of `samples.csv`.
const SAMPLES_NEEDED: [&str; 7] = [
    "run_id", "scene", "backend", "stage", "clock", "frame", "ns",
];

/// A `summary.csv` and the samples beside it, as they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFile {
    /// Name of the summary in messages.
    pub name: String,
    /// Its text.
    pub summary: String,
    /// Name of the samples in messages.
    pub samples_name: String,
    /// Their text; `None` if there are none.
    pub samples: Option<String>,
}

impl ResultFile {
    /// Reads a `summary.csv`, and the `samples.csv` or `samples.csv.gz` beside it; or the text that a page for browsers
    /// gave, which has both.
    fn read(summary: &Path) -> io::Result<Self> {
        let text = text_of(summary)?;
        if let Some(pasted) = page_results::find(&text) {
            return Self::of_page(summary, pasted).map_err(|error| named(summary, error));
        }
        let samples = samples_beside(summary);
        Ok(Self {
            name: summary.display().to_string(),
            summary: text,
            samples_name: samples.display().to_string(),
            samples: samples
                .try_exists()?
                .then(|| text_of(&samples))
                .transpose()?,
        })
    }

    /// The results in the text of a page.
    fn of_page(file: &Path, pasted: &str) -> io::Result<Self> {
        let mut files = page_results::parse(pasted)?;
        let summary = files.remove("summary.csv").ok_or_else(|| {
            let what = "no summary.csv in it; expected all that the page gave";
            io::Error::new(io::ErrorKind::InvalidData, what)
        })?;
        Ok(Self {
            name: format!("{}: summary.csv", file.display()),
            summary,
            samples_name: format!("{}: samples.csv", file.display()),
            samples: files.remove("samples.csv"),
        })
    }
}

/// A line of a `summary.csv`.
struct Line {
    number: u64,
    row: SummaryRow,
}

/// What all files that are read have in common.
#[derive(Default)]
struct Known {
    /// Index of each measurement, by run and key.
    measurements: HashMap<(String, MeasurementKey), usize>,
    /// Series of samples that have a row in some file.
    owned: HashSet<SampleRow>,
    /// For each file the samples that no measurement of the summary beside it took: they may have a row in another file.
    others: Vec<(String, BySeries)>,
    /// Number of rows that another file has, too.
    copies: usize,
    /// Number of rows of all files.
    rows: usize,
}

/// Measurements read from result files, and the problems found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    /// Measurements in the order of the files, without duplicates.
    pub measurements: Vec<Measurement>,
    /// Index into `files` and line of each measurement; empty if they were not read from files.
    pub lines: Vec<(usize, u64)>,
    /// Problems of the files, and how each was handled.
    pub problems: Vec<Problem>,
    /// The files.
    pub files: Vec<ResultFile>,
}

impl Recorded {
    /// Reads `summary.csv` files, or those of folders and the folders in them, with the `samples.csv` or
    /// `samples.csv.gz` beside each; and texts that a page for browsers gave.
    ///
    /// # Errors
    /// A path that does not exist, cannot be read, or contains no results; a file without any usable row; or more than
    /// results may have.
    pub fn read<P: AsRef<Path>>(paths: &[P]) -> Result<Self, Problem> {
        let mut recorded = Self::default();
        let mut known = Known::default();
        let mut met = HashSet::new();
        for path in paths.iter().map(AsRef::as_ref) {
            let mut files = summaries(path)?;
            files.retain(|file| met.insert(file.clone()));
            let files = files.iter().map(|file| ResultFile::read(file));
            recorded
                .add(files, &mut known)
                .map_err(|problem| Problem::fault(path, problem))?;
        }
        let first = paths.first().map_or(Path::new(""), AsRef::as_ref);
        recorded
            .completed(known)
            .map_err(|problem| Problem::fault(first, problem))
    }

    /// The results, unless they are more than a report can show in a reasonable time.
    ///
    /// # Errors
    /// Too many crowds, backends or machines.
    pub fn bounded(self) -> Result<Self, Problem> {
        let Some(problem) = bounds::exceeded(&self.measurements) else {
            return Ok(self);
        };
        let place = match &self.files[..] {
            [file] => file.name.clone(),
            [first, rest @ ..] => format!("{} and {} more files", first.name, rest.len()),
            [] => String::new(),
        };
        Err(Problem::fault(place, problem))
    }

    /// The machines, the one with most measurements first.
    pub fn machines(&self) -> Vec<Machine> {
        let mut counts: BTreeMap<Machine, usize> = BTreeMap::new();
        for measurement in &self.measurements {
            *counts.entry(measurement.machine()).or_default() += 1;
        }
        let mut machines: Vec<Machine> = counts.keys().cloned().collect();
        machines.sort_by_key(|machine| Reverse(counts[machine]));
        machines
    }

    /// Adds the measurements of files that belong together; an error if none of them has anything to use.
    fn add(
        &mut self,
        files: impl Iterator<Item = io::Result<ResultFile>>,
        known: &mut Known,
    ) -> Result<(), String> {
        let measurements = self.measurements.len();
        let problems = self.problems.len();
        let copies = known.copies;
        for file in files {
            let file = file.map_err(|error| format!("cannot read: {error}"))?;
            self.add_file(&file, known)?;
            self.files.push(file);
        }
        // Nothing of a copy is used, but nothing of it is wrong.
        let nothing = self.measurements.len() == measurements && known.copies == copies;
        if nothing && self.problems.len() > problems {
            return Err(format!(
                "nothing in it can be used: {}",
                self.problems[problems]
            ));
        }
        Ok(())
    }

    /// The results, once all files have been added, with a problem for each file with samples that belong to no row at
    /// all.
    fn completed(mut self, known: Known) -> Result<Self, String> {
        for (place, others) in known.others {
            let mut others: BTreeMap<_, _> = others.into_iter().collect();
            others.retain(|series, _| !known.owned.contains(series));
            let Some((first, _)) = others.first_key_value() else {
                continue;
            };
            let more = if others.len() > 1 {
                format!(" and {} more", others.len() - 1)
            } else {
                String::new()
            };
            let count: usize = others.values().map(Vec::len).sum();
            let what = format!(
                "{}{more}: {} of no row: not used",
                first.subject(),
                counted(count as u64, "sample")
            );
            self.problems.push(Problem::fault(place, what));
        }
        if self.measurements.is_empty() {
            Err("no measurements in it".into())
        } else {
            Ok(self)
        }
    }

    fn add_file(&mut self, file: &ResultFile, known: &mut Known) -> Result<(), String> {
        let name = &file.name;
        let before = self.problems.len();
        let mut lines = Vec::new();
        read_rows(
            name,
            &file.summary,
            &NEEDED,
            &mut self.problems,
            |line, row| {
                known.rows += 1;
                lines.push(Line { number: line, row });
                if known.rows <= MOST_ROWS {
                    Ok(())
                } else {
                    Err(format!("more than {MOST_ROWS} rows in all; expected fewer"))
                }
            },
        )?;
        if lines.is_empty() {
            // What the samples lack does not matter then.
            if self.problems.len() == before {
                self.problems.push(Problem::fault(name, "no rows"));
            }
            return Ok(());
        }
        // Rows that are left out below own their samples nevertheless.
        for line in &lines {
            known.owned.insert(SampleRow::series(&line.row));
        }
        let first = self.measurements.len();
        let this = self.files.len();
        let mut schemas = lines.iter().map(|line| line.row.schema);
        if let Some(older) = schemas.find(|schema| *schema < OLDEST_COMPLETE) {
            let what = format!("older schema {older}; columns that it lacks are empty");
            self.problems.push(Problem::remark(name, what));
        }
        for Line { number, row } in lines {
            let place = format!("{name}:{number}");
            if row.schema > SCHEMA {
                let what = format!(
                    "schema {}; this skinbench reads up to {SCHEMA}: row left out",
                    row.schema
                );
                self.problems.push(Problem::fault(place, what));
                continue;
            }
            if row.status == Status::Ok && row.parity_max_rel.is_some_and(f64::is_nan) {
                self.problems.push(Problem::fault(
                    place,
                    "status ok, but parity_max_rel is NaN: row left out",
                ));
                continue;
            }
            let measurement = Measurement {
                row,
                samples: Vec::new(),
            };
            let key = (measurement.row.run_id.clone(), measurement.key());
            let Some(&index) = known.measurements.get(&key) else {
                known.measurements.insert(key, self.measurements.len());
                self.lines.push((this, number));
                self.measurements.push(measurement);
                continue;
            };
            self.problems.push(match self.lines[index] {
                (file, _) if file != this => {
                    known.copies += 1;
                    Problem::remark(place, "this run is in another file, too: counted once")
                }
                (_, other) if self.measurements[index] == measurement => {
                    Problem::fault(place, format!("the same as line {other}: counted once"))
                }
                (_, other) => Problem::fault(
                    place,
                    format!("measures the same as line {other} of the same run: left out"),
                ),
            });
        }
        known
            .others
            .push((file.samples_name.clone(), self.add_samples(file, first)?));
        Ok(())
    }

    /// Assigns samples to the measurements from `first` on. Returns those that belong to none of them.
    fn add_samples(&mut self, file: &ResultFile, first: usize) -> Result<BySeries, String> {
        let name = &file.samples_name;
        let mut by_series = BySeries::new();
        let Some(text) = &file.samples else {
            self.problems.push(Problem::fault(
                name,
                "missing: medians only, no uncertainties",
            ));
            return Ok(by_series);
        };
        read_rows(
            name,
            text,
            &SAMPLES_NEEDED,
            &mut self.problems,
            |_, row: SampleRow| {
                let time = (row.frame, row.ns);
                by_series
                    .entry(SampleRow {
                        frame: 0,
                        ns: 0,
                        ..row
                    })
                    .or_default()
                    .push(time);
                Ok(())
            },
        )?;
        let mut owners: HashMap<SampleRow, usize> = HashMap::new();
        for measurement in &self.measurements[first..] {
            *owners
                .entry(SampleRow::series(&measurement.row))
                .or_default() += 1;
        }
        for measurement in &mut self.measurements[first..] {
            let row = &measurement.row;
            let key = SampleRow::series(row);
            let expected = row.frames.unwrap_or(0);
            if owners[&key] > 1 {
                let known = by_series.get(&key).is_some_and(|known| !known.is_empty());
                if known || expected > 0 {
                    let who = key.subject();
                    let owners = owners[&key];
                    let what = format!(
                        "{who}: {owners} rows of the summary share these samples: not used"
                    );
                    self.problems.push(Problem::fault(name, what));
                }
                continue;
            }
            // Taken, not copied: rows are many.
            let mut samples = by_series
                .get_mut(&key)
                .map(std::mem::take)
                .unwrap_or_default();
            let given = samples.len();
            if given == 0 && expected == 0 {
                continue;
            }
            let who = key.subject();
            samples.sort_unstable();
            samples.dedup();
            if samples.len() < given {
                let what = format!(
                    "{who}: {} samples are there twice: counted once",
                    given - samples.len()
                );
                self.problems.push(Problem::fault(name, what));
            }
            let twice = samples.windows(2).find(|two| two[0].0 == two[1].0);
            let problem = match twice {
                Some(two) => Some(format!(
                    "{who}: frame {} has several times: not used",
                    two[0].0
                )),
                None if samples.len() == expected => None,
                None => Some(format!(
                    "{who}: {} for {}: not used",
                    counted(samples.len() as u64, "sample"),
                    counted(expected as u64, "frame")
                )),
            };
            match problem {
                Some(what) => self.problems.push(Problem::fault(name, what)),
                None => measurement.samples = samples,
            }
        }
        by_series.retain(|series, _| !owners.contains_key(series));
        Ok(by_series)
    }
}

/// The `summary.csv` files at and below a path, in order; at least one.
///
/// # Errors
/// A path that does not exist, cannot be read, or contains no results.
fn summaries(path: &Path) -> Result<Vec<PathBuf>, Problem> {
    let mut found = Vec::new();
    find(path, DEPTH, &mut found)
        .map_err(|error| Problem::fault(path, format!("cannot read: {error}")))?;
    found.sort();
    if found.is_empty() {
        let expected = "expected a folder that `skinbench run -o` or `skinbench sweep -o` wrote";
        return Err(Problem::fault(
            path,
            format!("no summary.csv in it; {expected}"),
        ));
    }
    Ok(found)
}

/// The samples of a `summary.csv`: `samples.csv` beside it, or `samples.csv.gz` if only that exists.
fn samples_beside(summary: &Path) -> PathBuf {
    let [plain, packed] =
        ["samples.csv", "samples.csv.gz"].map(|name| summary.with_file_name(name));
    if packed.exists() && !plain.exists() {
        packed
    } else {
        plain
    }
}

/// Frame numbers and nanoseconds of each [`SampleRow::series`].
type BySeries = HashMap<SampleRow, Vec<(u32, u64)>>;

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
    use tempfile::TempDir;

    /// A folder with the fixed results, changed: `summary.csv` and `samples.csv`.
    fn folder(summary: impl Fn(String) -> String, samples: impl Fn(String) -> String) -> TempDir {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sweep");
        let folder = tempfile::tempdir().unwrap();
        let text = |name: &str| fs::read_to_string(fixture.join(name)).unwrap();
        fs::write(
            folder.path().join("summary.csv"),
            summary(text("summary.csv")),
        )
        .unwrap();
        fs::write(
            folder.path().join("samples.csv"),
            samples(text("samples.csv")),
        )
        .unwrap();
        folder
    }

    fn same(text: String) -> String {
        text
    }

    fn problems_in(recorded: &Recorded) -> Vec<String> {
        recorded
            .problems
            .iter()
            .map(|problem| problem.what.clone())
            .collect()
    }

    #[test]
    fn samples_of_no_row_are_listed_unless_another_file_has_the_row() {
        let more = |text: String| {
            text + "r.9,walkers,cpu-old,fast,frame,wall,0,5\nr.9,walkers,cpu-old,fast,frame,wall,1,6\n"
        };
        let first = folder(same, more);
        let recorded = Recorded::read(&[first.path()]).unwrap();
        let expected =
            "cpu-old:fast frame wall of walkers in run r.9: 2 samples of no row: not used";
        assert_eq!(problems_in(&recorded), [expected]);
        assert!(recorded.problems[0].place.ends_with("samples.csv"));

        let part = |wanted: fn(usize) -> bool| {
            let keep = move |text: String| {
                let lines = text
                    .lines()
                    .enumerate()
                    .filter(|(at, _)| *at == 0 || wanted(*at));
                lines.map(|(_, line)| format!("{line}\n")).collect()
            };
            folder(keep, same)
        };
        let (even, odd) = (part(|at| at % 2 == 0), part(|at| at % 2 == 1));
        assert_eq!(
            problems_in(&Recorded::read(&[even.path(), odd.path()]).unwrap()),
            [""; 0]
        );
        let half = problems_in(&Recorded::read(&[even.path()]).unwrap());
        assert!(
            half.len() == 1 && half[0].contains(" more: ") && half[0].contains("samples of no row"),
            "{half:?}"
        );
    }

    #[test]
    fn two_times_of_a_frame_are_not_used() {
        // As many samples as frames, but two of the first frame and none of the second.
        let folder = folder(same, |text| text.replacen(",wall,1,", ",wall,0,", 1));
        let recorded = Recorded::read(&[folder.path()]).unwrap();
        let problems = problems_in(&recorded);
        assert!(
            problems.len() == 1 && problems[0].ends_with(": frame 0 has several times: not used"),
            "{problems:?}"
        );
        assert!(
            recorded.measurements[0].samples.is_empty()
                && !recorded.measurements[1].samples.is_empty()
        );
    }

    #[test]
    fn a_copy_is_noted_and_a_file_without_rows_is_named() {
        let (one, two) = (folder(same, same), folder(same, same));
        let recorded = Recorded::read(&[one.path(), two.path()]).unwrap();
        assert_eq!(
            recorded.measurements,
            Recorded::read(&[one.path()]).unwrap().measurements
        );
        assert!(
            problems_in(&recorded)
                .iter()
                .all(|what| what == "this run is in another file, too: counted once")
        );
        assert_eq!(recorded.problems.len(), recorded.measurements.len());

        let heading = |text: String| text.lines().next().unwrap().to_owned();
        for without in [
            folder(heading, same),
            folder(|text| heading(text) + "\n", same),
        ] {
            fs::remove_file(without.path().join("samples.csv")).unwrap();
            let error = Recorded::read(&[without.path()]).unwrap_err().to_string();
            assert!(error.ends_with("summary.csv: no rows"), "{error}");
        }
    }
}
