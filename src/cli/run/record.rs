//! What a run writes, and what an earlier run of the same program wrote into its folder.

use super::super::say_json_line;
use super::{Progress, common, tell};
use flate2::CrcReader;
use skinbench::backend::Context;
use skinbench::frame::{AdapterSummary, Clock, Stage};
use skinbench::harness::environment::{self, Environment};
use skinbench::harness::run::Ended;
use skinbench::harness::{MachineLimits, Observer, Outcome, RunStep, Status};
use skinbench::results::{LimitsRow, MeasuredScene, Point, Recorded, Results, Row};
use std::collections::{HashMap, HashSet};
use std::env;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;
use std::time::Duration;

/// What tells a measurement: point, adapter and backend.
type MeasuredKey = (Point, Option<String>, String);

/// The files of a run, as far as they can be written: a full disk must not cost the tables.
pub struct RunRecord {
    results: Results,
    folder: PathBuf,
    /// The first error of writing.
    failure: Option<io::Error>,
    /// The machine, and the run of the current point.
    pub environment: Environment,
    /// Checksum of the executable, by which a later run tells results of the same build; `None` where the executable cannot
    /// be read, as without `/proc`.
    binary: Option<String>,
    /// Number of points so far.
    points: u32,
    /// Rows of whole frames that need not be measured again.
    known: HashMap<MeasuredKey, Row>,
    /// Scenes and numbers of threads whose limits are written.
    limited: HashSet<(String, usize)>,
    /// The progress.
    pub progress: Progress,
    /// How each backend ended at each point.
    pub ended: Vec<Ended>,
    /// Number of results of an earlier run.
    pub kept: usize,
    /// `true` to print rows as JSON.
    pub prints_json: bool,
    /// `true` to keep backends that an interruption ended early; otherwise the next run measures them again.
    pub keeps_partial: bool,
}

impl RunRecord {
    /// A record in a folder.
    pub fn new(
        results: Results,
        folder: PathBuf,
        environment: Environment,
        progress: Progress,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            results,
            folder,
            failure: None,
            environment,
            binary: checksum_of_binary().ok(),
            points: 0,
            known: HashMap::new(),
            limited: HashSet::new(),
            progress,
            ended: Vec::new(),
            kept: 0,
            prints_json: false,
            keeps_partial: false,
        })
    }

    /// Ends the run: the results, their folder, and the first error of writing them.
    pub fn close(self) -> (Results, PathBuf, Option<io::Error>) {
        (self.results, self.folder, self.failure)
    }

    /// Notes the results of the folder that need not be measured again: those of this executable, by this clock, of enough
    /// frames.
    pub fn keep_known(&mut self, frames: Option<u32>) -> anyhow::Result<()> {
        let summary = self.results.summary_path();
        if std::fs::metadata(&summary)?.len() == 0 {
            return Ok(());
        }
        let Some(binary) = &self.binary else {
            tell("note: cannot read this executable, so all results are measured again");
            return Ok(());
        };
        let recorded = Recorded::read(&[summary])?;
        let ours = format!("-{binary}.");
        let clock = self.environment.clock.label();
        let is_foreign = |row: &&Row| row.clock.is_of_device() && row.clock != clock;
        let foreign: HashSet<(&str, String)> = recorded
            .rows
            .iter()
            .filter(is_foreign)
            .map(|row| (row.run_id.as_str(), row.name()))
            .collect();
        for row in &recorded.rows {
            let measured = row.frames.unwrap_or(0) as u32 + row.dropped.unwrap_or(0);
            let is_done = match row.status {
                Status::Ok => frames.is_none_or(|frames| measured >= frames),
                // Memory that was taken may be free now.
                status => !matches!(status, Status::Error | Status::TooLarge),
            };
            let is_ours =
                row.run_id.contains(&ours) && !foreign.contains(&(row.run_id.as_str(), row.name()));
            let is_frame = row.stage == Stage::Frame && row.clock == Clock::Wall;
            if is_done && is_ours && is_frame {
                let key = (row.point(), row.adapter.clone(), row.name());
                self.known.insert(key, row.clone());
            }
        }
        Ok(())
    }

    /// The end of a backend at a point in an earlier run; `None` if none has measured it.
    pub fn known(&self, point: &Point, backend: &'static str) -> Option<Ended> {
        let adapter = self.environment.adapter.as_ref();
        let key = (
            point.clone(),
            adapter.map(AdapterSummary::label),
            backend.to_owned(),
        );
        let row = self.known.get(&key)?;
        Some(Ended {
            backend,
            status: row.status,
            frame: row.median_ns.map(Duration::from_nanos),
        })
    }

    /// Begins a point, which is a run of its own: that keeps its samples apart from those of the others.
    pub fn begin_point(&mut self, scene: &str, threads: usize) {
        self.progress.begin_point(scene);
        self.points += 1;
        let environment = &mut self.environment;
        environment.threads = threads;
        environment.utc = environment::now();
        environment.run_id = format!(
            "{}-{}-{}.{}",
            environment::compact_form(&environment.utc),
            std::process::id(),
            self.binary.as_deref().unwrap_or("unknown"),
            self.points
        );
    }

    /// Measures the limits of the machine and writes them, once for each scene and number of threads.
    pub fn limits(&mut self, scene: &str, context: &Context) -> Option<MachineLimits> {
        let conditions = (scene.to_owned(), context.threads.count());
        if !self.limited.insert(conditions) {
            return None;
        }
        let limits = MachineLimits::measure(context);
        let rows = LimitsRow::all(&self.environment, scene, context.isa, &limits);
        self.write(|results| results.write_limits(rows));
        Some(limits)
    }

    /// Writes, unless that failed before: rows behind a gap would follow from nothing.
    fn write(&mut self, write: impl FnOnce(&mut Results) -> io::Result<()>) {
        if self.failure.is_some() {
            return;
        }
        if let Err(error) = write(&mut self.results) {
            let folder = self.folder.display();
            tell(format_args!(
                "note: cannot write to {folder}: {error}; what follows is only printed"
            ));
            self.failure = Some(error);
        }
    }
}

/// Checksum of this executable.
fn checksum_of_binary() -> io::Result<String> {
    let file = File::open(env::current_exe()?)?;
    let mut reader = CrcReader::new(BufReader::new(file));
    io::copy(&mut reader, &mut io::sink())?;
    Ok(format!("{:08x}", reader.crc().sum()))
}

/// Writes each backend's rows as soon as it is finished, and shows the progress.
pub struct RunRecorder<'a> {
    pub measured: &'a MeasuredScene<'a>,
    pub record: &'a mut RunRecord,
    /// Backends that an interruption ended early.
    pub partial: Vec<&'static str>,
}

impl Observer for RunRecorder<'_> {
    fn progress(&mut self, step: &RunStep) {
        self.record.progress.progress(step);
    }

    fn interrupted(&self) -> bool {
        common::is_interrupted()
    }

    fn remark(&mut self, remark: &str) {
        self.record.progress.remark(remark);
    }

    fn finished(&mut self, outcome: &Outcome) -> io::Result<()> {
        if common::is_interrupted() && outcome.status == Status::Ok {
            self.partial.push(outcome.name);
            if !self.record.keeps_partial {
                return Ok(());
            }
        }
        let rows = self.measured.rows(outcome);
        self.record.write(|results| results.write(&rows));
        if self.record.prints_json {
            for row in &rows {
                say_json_line(row)?;
            }
        }
        self.record.progress.finished(outcome)
    }
}
