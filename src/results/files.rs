//! `summary.csv` and `samples.csv`, and beside them `limits.csv` and `environment.json`. Rows are written as soon as a
//! backend is finished, so that an interrupted run keeps them. Times are integer nanoseconds; an empty field means
//! absent.

use super::csv_rows::Problem;
use super::resume::{foreign, mend};
use super::{LimitsRow, Measurement, SampleRow, Session, SummaryRow, heading, session};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Names of result files.
const NAMES: [&str; 5] = [
    "summary.csv",
    "samples.csv",
    "samples.csv.gz",
    "limits.csv",
    session::FILE,
];

/// The result files of a run.
pub struct Results {
    folder: PathBuf,
    summary: csv::Writer<File>,
    samples: csv::Writer<File>,
    /// All sessions of the folder; the last one is this process.
    sessions: Vec<Session>,
    /// A locked file, which is removed at the end. It keeps other processes from appending to the same files.
    _lock: (TempPath, File),
}

impl Results {
    /// Creates the folder and the files in it, for the measurements of a session; never overwrites results.
    ///
    /// # Errors
    /// The folder has results already, and is as it was; or it or a file cannot be created.
    pub fn create(folder: &Path, session: Session) -> Result<Self, Problem> {
        for name in NAMES {
            let file = folder.join(name);
            // A link that leads nowhere is there, too.
            if file.symlink_metadata().is_ok() {
                let file = file.display();
                let what = format!("{file} exists already; name a folder without results");
                return Err(Problem::fault("", what));
            }
        }
        Self::append(folder, session)
    }

    /// Opens the files of a folder for appending, and creates them if necessary. First removes incomplete rows of an
    /// interrupted process, and records the session that writes the following measurements in `environment.json`.
    ///
    /// # Errors
    /// The folder or a file cannot be created or written, another process has it open, or its files have other columns
    /// or are compressed; then they are as they were.
    pub fn append(folder: &Path, session: Session) -> Result<Self, Problem> {
        let io = |error: io::Error| Problem::fault(folder, error.to_string());
        std::fs::create_dir_all(folder).map_err(io)?;
        // A separate file, because on Windows a lock on the results would keep their readers out.
        let path = folder.join(".lock");
        if path.symlink_metadata().is_ok_and(|known| !known.is_file()) {
            return Err(Problem::fault(path, "is no regular file"));
        }
        let file = File::create(&path).map_err(io)?;
        // A file system without locks does not keep anything from writing.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(Problem::fault(
                folder,
                "another skinbench writes there; give each its own folder",
            ));
        }
        let lock = (TempPath::try_from_path(path).map_err(io)?, file);
        for (name, heading) in [
            ("summary.csv", heading::<SummaryRow>()),
            ("samples.csv", heading::<SampleRow>()),
        ] {
            let file = folder.join(name);
            let problem = heading
                .and_then(|heading| foreign(&file, &heading))
                .map_err(|error| Problem::fault(&file, error.to_string()))?;
            if let Some(what) = problem {
                return Err(foreign_file(&file, &what));
            }
        }
        let samples = folder.join("samples.csv");
        if samples.exists() && !folder.join("summary.csv").exists() {
            return Err(foreign_file(&samples, "there is no summary.csv beside it"));
        }
        let compressed = folder.join("samples.csv.gz");
        if compressed.exists() && !samples.exists() {
            // New ones beside them would hide them.
            let what = "compressed samples cannot be added to; unpack them (gunzip) or name another folder";
            return Err(Problem::fault(compressed, what));
        }
        // Whatever can be wrong with the folder is found before anything in it is changed.
        let mut sessions = session::read(folder).map_err(io)?;
        mend(folder).map_err(io)?;
        let summary = appending(folder, "summary.csv").map_err(io)?;
        let samples = appending(folder, "samples.csv").map_err(io)?;
        sessions.push(session);
        session::write(folder, &sessions).map_err(|error| {
            let what = format!("cannot write to {}: {error}", folder.display());
            Problem::fault("", what)
        })?;
        Ok(Self {
            folder: folder.into(),
            summary,
            samples,
            sessions,
            _lock: lock,
        })
    }

    /// Path of the summary.
    pub fn summary_path(&self) -> PathBuf {
        self.folder.join("summary.csv")
    }

    /// Writes `limits.csv`, one row per number of threads; the file is created with its first row.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_limits(&self, rows: impl IntoIterator<Item = LimitsRow>) -> io::Result<()> {
        let mut limits = appending(&self.folder, "limits.csv")?;
        for row in rows {
            limits.serialize(row)?;
        }
        limits.flush()
    }

    /// Adds a new run to the session, writes the measurements of a backend, samples first, and flushes them.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn write(&mut self, measurements: &[Measurement]) -> io::Result<()> {
        if let Some(Measurement { row, .. }) = measurements.first()
            && let Some(session) = self.sessions.last_mut()
            && session.runs.last() != Some(&row.run_id)
        {
            session.runs.push(row.run_id.clone());
            session::write(&self.folder, &self.sessions)?;
        }
        for Measurement { row, samples } in measurements {
            let mut sample = SampleRow::series(row);
            for &time in samples {
                (sample.frame, sample.ns) = time;
                self.samples.serialize(&sample)?;
            }
        }
        self.samples.flush()?;
        for measurement in measurements {
            self.summary.serialize(&measurement.row)?;
        }
        self.summary.flush()
    }
}

/// Something in a file that another version or program wrote.
fn foreign_file(file: &Path, what: &str) -> Problem {
    let what = format!("{what}: another version or program wrote it; name another folder");
    Problem::fault(file, what)
}

/// Opens a table at its end; a new one begins with the names of its columns.
fn appending(folder: &Path, name: &str) -> io::Result<csv::Writer<File>> {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join(name))?;
    let fresh = file.metadata()?.len() == 0;
    Ok(csv::WriterBuilder::new()
        .has_headers(fresh)
        .from_writer(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Context;
    use crate::frame::{Clock, Stage};
    use crate::harness::environment::{Build, Environment};
    use crate::harness::run::{Outcome, StageTimes, Status};
    use crate::results::rows::MeasuredScene;
    use crate::scene::{Scene, Settings};

    fn outcome(stages: Vec<StageTimes>) -> Outcome {
        Outcome {
            stages,
            ..Outcome::new("cpu-scalar", 0, Status::Ok)
        }
    }

    /// The reason why nothing can be appended in a folder.
    fn refusal(folder: &Path) -> String {
        Results::append(folder, Session::default())
            .err()
            .unwrap()
            .to_string()
    }

    #[test]
    fn the_columns_are_those_of_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::collect(Build::default(), &Context::default());
        let few = Settings {
            instances: Some(3),
            ..Settings::default()
        };
        let scene = Scene::load("smoke")
            .unwrap()
            .with(few)
            .build(1 << 30)
            .unwrap();
        let measured = MeasuredScene {
            environment: &environment,
            scene: &scene,
            clip_error: None,
        };
        let mut results = Results::create(folder.path(), Session::default()).unwrap();
        let times = StageTimes {
            stage: Stage::Skin,
            clock: Clock::Wall,
            samples: vec![(0, 5), (1, 7), (2, 6)],
            dropped: 1,
            ..StageTimes::default()
        };
        for stages in [vec![times], vec![]] {
            results
                .write(&measured.measurements(&outcome(stages)))
                .unwrap();
        }
        let summary = std::fs::read_to_string(results.summary_path()).unwrap();
        let samples = std::fs::read_to_string(folder.path().join("samples.csv")).unwrap();
        let header = "schema,run_id,utc,git_rev,dirty,rustc,os,cpu,threads,adapter,driver,scene,scene_hash,instances,\
            joints,vertices,influences,attributes,options,passes,visible,backend,variant,stage,clock,status,error,\
            frames,dropped,noisy,median_ns,mad_ns,min_ns,p95_ns,max_ns,bytes,limit,pct_of_limit,parity_max_rel,\
            parity_tol,clip_error,host_bytes,device_bytes,upload_bytes,draws,dispatches,host_mesh,host_clips,\
            host_palettes,host_output,host_scratch,device_mesh,device_clips,device_palettes,device_output,\
            device_scratch,device_targets,device_staging,delay_frames,models,lod_error,lod_error_px,\
            owner,device,p99_ns,error_px,device_clock_pct,device_clock_min_pct,unsteady,\
            device_mhz,processor_clock_pct,processor_clock_min_pct";
        assert_eq!(summary.lines().next(), Some(header));
        assert_eq!(heading::<SummaryRow>().unwrap(), header);
        assert_eq!(
            samples.lines().next(),
            Some("run_id,scene,backend,variant,stage,clock,frame,ns")
        );
        let rows: Vec<SummaryRow> = csv::Reader::from_reader(summary.as_bytes())
            .deserialize()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(
            (rows[0].median_ns, rows[0].dropped, rows[0].stage),
            (Some(6), Some(1), Stage::Skin)
        );
        assert_eq!(
            (rows[1].median_ns, rows[1].frames, rows[1].stage),
            (None, None, Stage::Frame)
        );
        assert_eq!(samples.lines().count(), 4);
        assert!(
            summary.contains(",cpu-scalar,,skin,wall,ok,,3,1,")
                && samples.contains(",skin,wall,2,6\n")
        );
    }

    /// Rows under other columns would be lost at the next resumption.
    #[test]
    fn nothing_is_appended_under_other_columns() {
        let (heading, samples) = (
            heading::<SummaryRow>().unwrap() + "\n",
            heading::<SampleRow>().unwrap() + "\n",
        );
        let older = heading.replace(",models,lod_error,lod_error_px", "");
        let utf_16: Vec<u8> = heading.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let cases: [(&[u8], &[u8], &str); 8] = [
            (
                older.as_bytes(),
                samples.as_bytes(),
                "summary.csv: it has no column models, lod_error, lod_error_px: ",
            ),
            (
                heading.as_bytes(),
                b"run_id,frame,ns\n",
                "samples.csv: it has no column scene, backend, variant and 2 more",
            ),
            (
                b"date;total\n2026;5\n",
                b"mine\n",
                "summary.csv: it has no column schema, run_id, utc and 69 more: ",
            ),
            (
                b"notes",
                b"",
                "summary.csv: it has no column schema, run_id, utc and 69 more: ",
            ),
            (
                &utf_16,
                samples.as_bytes(),
                "summary.csv: it has no column schema, run_id, utc and 69 more: ",
            ),
            (
                &heading.as_bytes()[..heading.len() / 2],
                b"mine\n1\n",
                "samples.csv: it has no column run_id, ",
            ),
            (
                &heading
                    .clone()
                    .replace(",models", ",more,models")
                    .into_bytes(),
                b"",
                "its columns are not those of",
            ),
            (b"", b"x", "samples.csv: it has no column run_id, "),
        ];
        for (summary, samples, expected) in cases {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| folder.path().join(name);
            std::fs::write(path("summary.csv"), summary).unwrap();
            std::fs::write(path("samples.csv"), samples).unwrap();
            let problem = refusal(folder.path());
            assert!(
                problem.contains(expected) && problem.contains("; name another folder"),
                "{problem}: {expected}"
            );
            assert_eq!(
                std::fs::read(path("summary.csv")).unwrap(),
                summary,
                "{expected}"
            );
            assert_eq!(
                std::fs::read(path("samples.csv")).unwrap(),
                samples,
                "{expected}"
            );
            assert_eq!(
                std::fs::read_dir(folder.path()).unwrap().count(),
                2,
                "{expected}"
            );
            std::fs::remove_file(path("summary.csv")).unwrap();
            let problem = refusal(folder.path());
            assert!(problem.contains("samples.csv: "), "{problem}");
            assert_eq!(
                std::fs::read(path("samples.csv")).unwrap(),
                samples,
                "{expected}"
            );
        }
    }

    /// Readers take `samples.csv` where it exists.
    #[test]
    fn compressed_samples_are_not_hidden() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("samples.csv.gz"), "").unwrap();
        let problem = refusal(folder.path());
        assert!(
            problem.contains("samples.csv.gz: compressed samples cannot be added to; unpack them"),
            "{problem}"
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        std::fs::write(folder.path().join("samples.csv"), "").unwrap();
        std::fs::write(folder.path().join("summary.csv"), "").unwrap();
        assert!(Results::append(folder.path(), Session::default()).is_ok());
    }

    /// A session record that cannot be read stops the process before files are repaired.
    #[test]
    fn a_damaged_record_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let summary = folder.path().join("summary.csv");
        std::fs::write(&summary, "schema,run").unwrap();
        std::fs::write(folder.path().join(session::FILE), "{").unwrap();
        let problem = refusal(folder.path());
        assert!(
            problem.contains(session::FILE) && problem.contains("invalid type: map"),
            "{problem}"
        );
        assert_eq!(std::fs::read_to_string(summary).unwrap(), "schema,run");
    }

    /// Others may read results as they may read files that any program writes.
    #[cfg(unix)]
    #[test]
    fn replaced_files_are_as_readable_as_new_ones() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let heading = format!("{}\n", heading::<SummaryRow>().unwrap());
        std::fs::write(path("summary.csv"), format!("{heading}2,cut")).unwrap();
        Results::append(folder.path(), Session::default()).unwrap();
        std::fs::write(path("new"), "").unwrap();
        let mode = |name: &str| std::fs::metadata(path(name)).unwrap().permissions().mode();
        assert_eq!(
            std::fs::read_to_string(path("summary.csv")).unwrap(),
            heading
        );
        assert_eq!([mode("summary.csv"), mode(session::FILE)], [mode("new"); 2]);
    }

    #[test]
    fn results_are_never_written_over() {
        let refused = |folder: &Path| {
            Results::create(folder, Session::default())
                .is_err_and(|problem| problem.what.contains(" exists already; "))
        };
        let folder = tempfile::tempdir().unwrap();
        Results::create(folder.path(), Session::default()).unwrap();
        assert!(refused(folder.path()));
        for name in NAMES {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), "mine").unwrap();
            assert!(refused(folder.path()), "{name}");
            assert_eq!(
                std::fs::read_dir(folder.path()).unwrap().count(),
                1,
                "{name}: more was written"
            );
        }
    }
}
