//! A folder of results while a run writes it: `summary.csv` and `samples.csv`, `limits.csv` and `environment.json`.
//!
//! The rows of a backend are written as soon as it is finished, in one piece, so that an interrupted run keeps them and
//! leaves no part of a row. Times are integer nanoseconds; an empty field means absent.

use super::csv_file::{heading, lines_of, text_of};
use super::{LimitsRow, Problem, Row, SampleRow, Session, session};
use serde::Serialize;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A table of the folder.
struct CsvTable {
    file: File,
    /// `true` until its heading is written.
    is_empty: bool,
}

impl CsvTable {
    /// Opens a table at its end.
    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let is_empty = file.metadata()?.len() == 0;
        Ok(Self { file, is_empty })
    }

    /// Adds rows; if they cannot be written whole, the file is as it was.
    fn write<T: Serialize>(&mut self, rows: impl IntoIterator<Item = T>) -> io::Result<()> {
        let bytes = lines_of(rows, self.is_empty)?;
        let before = self.file.metadata()?.len();
        if let Err(error) = self.file.write_all(&bytes) {
            self.file.set_len(before)?;
            return Err(error);
        }
        self.is_empty &= bytes.is_empty();
        Ok(())
    }
}

/// The result files of a run.
pub struct Results {
    folder: PathBuf,
    summary: CsvTable,
    samples: CsvTable,
    limits: CsvTable,
    /// All sessions of the folder; the last one is this process.
    sessions: Vec<Session>,
    /// A locked file, which is removed at the end. It keeps other processes from appending to the same files.
    _lock: (TempPath, File),
}

impl Results {
    /// Opens the files of a folder for appending, creates them if necessary, and records the session that writes the
    /// following rows in `environment.json`.
    ///
    /// # Errors
    /// The folder or a file cannot be created or written, another process has it open, or its files have other columns
    /// or are compressed; then they are as they were.
    pub fn append(folder: &Path, session: Session) -> Result<Self, Problem> {
        let problem = |error: io::Error| Problem::at(folder, error.to_string());
        std::fs::create_dir_all(folder).map_err(problem)?;
        let lock = lock(folder)?;
        check_heading::<Row>(&folder.join("summary.csv"))?;
        check_heading::<SampleRow>(&folder.join("samples.csv"))?;
        check_heading::<LimitsRow>(&folder.join("limits.csv"))?;
        let packed = folder.join("samples.csv.gz");
        if packed.exists() {
            let what = "compressed samples cannot be added to; unpack them (gunzip) or name another folder";
            return Err(Problem::at(packed, what));
        }
        let mut sessions = session::read(folder).map_err(problem)?;
        sessions.push(session);
        let open = |name: &str| CsvTable::open(&folder.join(name)).map_err(problem);
        let results = Self {
            summary: open("summary.csv")?,
            samples: open("samples.csv")?,
            limits: open("limits.csv")?,
            folder: folder.into(),
            sessions,
            _lock: lock,
        };
        results.write_sessions().map_err(problem)?;
        Ok(results)
    }

    /// Path of the summary.
    pub fn summary_path(&self) -> PathBuf {
        self.folder.join("summary.csv")
    }

    /// Adds rows to `limits.csv`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_limits(&mut self, rows: Vec<LimitsRow>) -> io::Result<()> {
        self.limits.write(rows)
    }

    /// Adds a new run to the session, and writes the rows of a backend, samples first.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn write(&mut self, rows: &[Row]) -> io::Result<()> {
        if let Some(row) = rows.first()
            && let Some(session) = self.sessions.last_mut()
            && session.runs.last() != Some(&row.run_id)
        {
            session.runs.push(row.run_id.clone());
            self.write_sessions()?;
        }
        self.samples.write(rows.iter().flat_map(SampleRow::all))?;
        self.summary.write(rows)
    }

    fn write_sessions(&self) -> io::Result<()> {
        session::write(&self.folder, &self.sessions)
    }
}

/// Locks a folder for this process.
fn lock(folder: &Path) -> Result<(TempPath, File), Problem> {
    let problem = |error: io::Error| Problem::at(folder, error.to_string());
    // A separate file, because on Windows a lock on the results would keep their readers out.
    let path = folder.join(".lock");
    if path.symlink_metadata().is_ok_and(|known| !known.is_file()) {
        return Err(Problem::at(path, "is no regular file"));
    }
    let file = File::create(&path).map_err(problem)?;
    // A file system without locks does not keep anything from writing.
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        let what = "another skinbench writes there; give each its own folder";
        return Err(Problem::at(folder, what));
    }
    Ok((TempPath::try_from_path(path).map_err(problem)?, file))
}

/// Checks that rows can be added to a file, which may be missing or empty.
fn check_heading<T: Serialize + Default>(file: &Path) -> Result<(), Problem> {
    if file.symlink_metadata().is_err() {
        return Ok(());
    }
    let text = text_of(file)?;
    let expected = heading::<T>().map_err(|error| Problem::reading(file, &error))?;
    let found = text.lines().next().unwrap_or_default();
    if !text.is_empty() && (found != expected || !text.ends_with('\n')) {
        let what =
            "another version or program wrote it, or its end is missing; name another folder";
        return Err(Problem::at(file, what));
    }
    Ok(())
}
