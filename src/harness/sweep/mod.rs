//! Sweeps: measurements of a scene at many points, each as in [`run`](super::run::run). Known results are skipped.

mod forecast;
mod plan;
mod search;

pub use plan::{Shard, SweepAxes, SweepPoint, distinct};
pub use search::{Bounds, Search};

use super::run::{self, Ended, Observer, Outcome, RunOptions, Status, Step};
use crate::backend::Context;
use crate::error::DataError;
use crate::frame::{BackendError, Stage};
use crate::registry::BackendEntry;
use crate::scene::{BuiltScene, Scene};
use bytesize::ByteSize;
use forecast::Forecast;
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

/// A sweep to run.
pub struct Sweep<'a> {
    /// The scene as in its file.
    pub scene: &'a Scene,
    /// The points in the order of measurement.
    pub points: Vec<SweepPoint>,
    /// The contexts of all threads that points ask for; the first is that of points without a number.
    pub contexts: Vec<Context>,
    /// Options of each measurement.
    pub options: RunOptions,
    /// A series ends for a backend after a frame that took longer than this.
    pub max_frame_time: Option<Duration>,
    /// If set, searches the largest crowd that fits this time, for each backend and series, starting at the first
    /// point's instances.
    pub budget: Option<Duration>,
    /// If set, searches the largest crowd whose memory on host and device fits these bytes, for each backend and
    /// series. With a time budget too, the crowd fits both.
    pub memory: Option<u64>,
}

/// Answer to the search for the largest crowd of a backend in a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The series, without a number of instances.
    pub series: SweepPoint,
    /// Name of the backend.
    pub backend: &'static str,
    /// The largest crowd by time, among those that fit the memory; `None` without a time budget.
    pub time: Option<Bounds>,
    /// The largest crowd by memory; `None` without a memory budget.
    pub memory: Option<Bounds>,
    /// Reason why there is no answer.
    pub problem: Option<String>,
}

/// Result of a backend at a point, from an earlier sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownResult {
    /// Status of the backend.
    pub status: Status,
    /// Median of its frames, if it was measured.
    pub frame: Option<Duration>,
}

/// A point that is finished.
#[derive(Debug, Clone, PartialEq)]
pub struct PointEnd {
    /// Its number in the order of measurement, counted from 1.
    pub number: usize,
    /// Number of points.
    pub count: usize,
    /// The point.
    pub point: SweepPoint,
    /// The result of each backend, in the order of the results.
    pub results: Vec<(&'static str, KnownResult)>,
    /// `true` if an earlier sweep had measured all of it.
    pub kept: bool,
    /// Time that the other points take; `None` until a point of each size and with each other value was measured.
    pub left: Option<Duration>,
}

/// Stores results, and knows those of earlier sweeps.
pub trait Log {
    /// The result of a backend at a point in an earlier sweep; `None` if it is to be measured.
    fn known(
        &self,
        scene: &BuiltScene,
        threads: usize,
        passes: u32,
        backend: &BackendEntry,
    ) -> Option<KnownResult>;
    /// Reports the current activity and the fraction of the sweep that is done, 0 to 1.
    fn progress(&mut self, what: &str, done: f64);
    /// Returns whether to stop after the current frame.
    fn interrupted(&self) -> bool;
    /// Called when a backend is finished at a point.
    ///
    /// # Errors
    /// The outcome cannot be stored: the sweep stops.
    fn finished(&mut self, scene: &BuiltScene, threads: usize, outcome: &Outcome)
    -> io::Result<()>;
    /// Called when all backends are finished at a point.
    fn point_ended(&mut self, end: &PointEnd);
    /// Called when the largest crowd of a backend is found: the answer, its number from 1, and how many there are.
    fn search_ended(&mut self, found: &Found, number: usize, count: usize);
    /// Reports a note to the user.
    fn note(&mut self, text: &str);
}

/// Result of a sweep.
#[derive(Debug, Default)]
pub struct Ending {
    /// The end of each backend at each point, including kept ones.
    pub ended: Vec<Ended>,
    /// Number of them that were known before.
    pub kept: usize,
    /// Answers to the search for the largest crowd.
    pub largest: Vec<Found>,
}

/// Reason why a sweep cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A point's crowd cannot be built.
    #[error(transparent)]
    Scene(#[from] DataError),
    /// A backend does not run, which ends the search for its largest crowd alone.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// No crowd of any backend fits the memory.
    #[error("{0}")]
    Memory(String),
    /// Results cannot be stored.
    #[error("cannot write results: {0}")]
    Io(#[from] io::Error),
}

impl Sweep<'_> {
    /// Measures all points that are not known yet, until everything is done or the log asks to stop.
    ///
    /// # Errors
    /// A crowd that cannot be built, or results that cannot be written. Earlier results are kept.
    pub fn drive(&self, log: &mut dyn Log) -> Result<Ending, SweepError> {
        let mut drive = Drive {
            sweep: self,
            log,
            over: Vec::new(),
            ending: Ending::default(),
        };
        if self.budget.is_some() || self.memory.is_some() {
            drive.searches()?;
        } else {
            drive.points()?;
        }
        Ok(drive.ending)
    }

    /// Checks that a single instance fits the memory on at least one backend.
    ///
    /// # Errors
    /// It fits none of those that tell what they take.
    pub fn check_memory(&self) -> Result<(), SweepError> {
        let Some(budget) = self.memory else {
            return Ok(());
        };
        // Scenes that cannot be built and backends that cannot run are reported one by one.
        let mut least = u64::MAX;
        let mut backend = None;
        for (point, entry) in self.searched() {
            if let Ok(Some(bytes)) = self.promised(point, entry, 1) {
                // The first that fits ends the check, since each promise builds a crowd.
                if bytes <= budget {
                    return Ok(());
                }
                if bytes < least {
                    least = bytes;
                    backend = Some(entry.name);
                }
            }
        }
        let Some(backend) = backend else {
            return Ok(());
        };
        let [budget, least] = [budget, least].map(|bytes| ByteSize(bytes).display().si());
        let name = &self.scene.name;
        Err(SweepError::Memory(format!(
            "no crowd of {name} fits {budget}: one instance takes {least} on {backend}"
        )))
    }

    /// The first point of each series, with every backend.
    fn searched(&self) -> Vec<(&SweepPoint, &'static BackendEntry)> {
        let mut series = Vec::new();
        let mut searched = Vec::new();
        for point in &self.points {
            if !series.contains(&point.series()) {
                series.push(point.series());
                let backends = self.options.backends.iter();
                searched.extend(backends.map(|&entry| (point, entry)));
            }
        }
        searched
    }

    /// A point with another number of instances, or as few as its scene can have.
    fn sized(&self, point: &SweepPoint, instances: u64) -> SweepPoint {
        point.with_instances(Some(instances.max(self.scene.least_instances())))
    }

    /// The context of a point's threads.
    fn context(&self, point: &SweepPoint) -> &Context {
        let Some(threads) = point.threads else {
            return &self.contexts[0];
        };
        let mut contexts = self.contexts.iter();
        contexts
            .find(|context| context.threads.count() == threads as usize)
            .unwrap_or(&self.contexts[0])
    }

    /// Bytes on host and device that a backend promises for a crowd of a series; `None` if the crowd is too large to
    /// be built or held.
    fn promised(
        &self,
        point: &SweepPoint,
        entry: &BackendEntry,
        instances: u64,
    ) -> Result<Option<u64>, BackendError> {
        let settings = self.sized(point, instances).settings;
        let scene = self
            .scene
            .clone()
            .with(settings)
            .build(self.options.memory());
        let Ok(scene) = scene else { return Ok(None) };
        match run::promised_memory(self.context(point), &scene, entry) {
            Ok(memory) => Ok(Some(memory.resident())),
            Err(BackendError::TooLarge(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The fractions of a sweep that are done before and after one of `count` points or searches.
fn fractions(index: usize, count: usize) -> Range<f64> {
    let count = count as f64;
    index as f64 / count..(index + 1) as f64 / count
}

/// Results of backends at a point, by name.
type Results = HashMap<&'static str, KnownResult>;

struct Drive<'a> {
    sweep: &'a Sweep<'a>,
    log: &'a mut dyn Log,
    /// Series that ended early, by backend.
    over: Vec<(SweepPoint, &'static str)>,
    ending: Ending,
}

impl Drive<'_> {
    fn points(&mut self) -> Result<(), SweepError> {
        let backends = &self.sweep.options.backends;
        let all = &self.sweep.points;
        // A series that may end early begins with its small crowds.
        let order = match self.sweep.max_frame_time {
            Some(_) => Vec::from_iter(0..all.len()),
            None => forecast::order(all),
        };
        let mut forecast = Forecast::new(all);
        for (index, &at) in order.iter().enumerate() {
            let point = &all[at];
            let begin = Instant::now();
            let kept_before = self.ending.kept;
            let mut racing = backends.clone();
            racing.retain(|entry| !self.over.contains(&(point.series(), entry.name)));
            let results = match self.point(point, &racing, fractions(index, all.len())) {
                // Memory may end a series at large crowds; the results of smaller ones are kept.
                Err(SweepError::Scene(error)) if index > 0 => {
                    self.log.note(&format!("{error}: left out"));
                    Results::new()
                }
                measured => measured?,
            };
            if self.log.interrupted() {
                break;
            }
            let rest: Vec<&SweepPoint> = order[index + 1..].iter().map(|&at| &all[at]).collect();
            self.end_slow_series(point, &results, &rest);
            let kept = self.ending.kept - kept_before;
            // What was there takes no time, and tells nothing about others.
            forecast.record(at, (kept == 0).then(|| begin.elapsed()));
            self.log.point_ended(&PointEnd {
                number: index + 1,
                count: all.len(),
                point: point.clone(),
                results: backends
                    .iter()
                    .filter_map(|entry| Some((entry.name, *results.get(entry.name)?)))
                    .collect(),
                kept: kept > 0 && kept == results.len(),
                left: forecast.left(),
            });
        }
        Ok(())
    }

    /// Ends a series for the backends whose frame took too long at a point.
    fn end_slow_series(&mut self, point: &SweepPoint, measured: &Results, rest: &[&SweepPoint]) {
        let Some(most) = self.sweep.max_frame_time else {
            return;
        };
        for entry in &self.sweep.options.backends {
            let frame = measured.get(entry.name).and_then(|result| result.frame);
            let Some(frame) = frame.filter(|frame| *frame > most) else {
                continue;
            };
            self.over.push((point.series(), entry.name));
            if rest.iter().any(|other| other.series() == point.series()) {
                self.log.note(&format!(
                    "{}: {:.0} ms a frame of {} instances, more than --max-frame-time: larger crowds left out",
                    entry.name,
                    frame.as_secs_f64() * 1e3,
                    self.sweep.scene.clone().with(point.settings.clone()).instances(),
                ));
            }
        }
    }

    /// Finds for each series and backend the largest crowd within the budgets.
    fn searches(&mut self) -> Result<(), SweepError> {
        let searched = self.sweep.searched();
        for (at, &(point, entry)) in searched.iter().enumerate() {
            let mut found = Found {
                series: point.series(),
                backend: entry.name,
                time: None,
                memory: None,
                problem: None,
            };
            match self.search(point, entry, fractions(at, searched.len()), &mut found) {
                Err(SweepError::Backend(error)) => found.problem = Some(error.to_string()),
                searched => searched?,
            }
            if self.log.interrupted() {
                return Ok(());
            }
            self.log.search_ended(&found, at + 1, searched.len());
            self.ending.largest.push(found);
        }
        Ok(())
    }

    /// Finds the largest crowd of a backend in a series, or a part of the answer when the log asks to stop. `done` are
    /// the fractions of the sweep that are done before and after it.
    fn search(
        &mut self,
        point: &SweepPoint,
        entry: &'static BackendEntry,
        done: Range<f64>,
        found: &mut Found,
    ) -> Result<(), SweepError> {
        let sweep = self.sweep;
        let start = point.settings.instances.unwrap_or(sweep.scene.instances());
        let mut most = u64::MAX;
        if let Some(budget) = sweep.memory {
            self.log
                .progress(&format!("{}: memory", entry.name), done.start);
            let mut search = Search::exact(budget, start);
            while let Some(instances) = search.next() {
                let bytes = sweep.promised(point, entry, instances)?;
                search.record(instances, bytes.map(|bytes| bytes as f64));
            }
            found.memory = Some(search.bounds);
            let Some((fits, _)) = search.bounds.fits else {
                return Ok(());
            };
            most = fits;
        }
        let Some(budget) = sweep.budget else {
            // The crowd that was found is run and verified.
            return match self.trial(point, entry, most, done)? {
                Some(_) => Ok(()),
                None => {
                    Err(BackendError::Failed(format!("{most} instances cannot be run here")).into())
                }
            };
        };
        let mut search = Search::new(budget, start, most);
        while let Some(instances) = search.next() {
            let frame = match self.trial(point, entry, instances, search.part(&done)) {
                // A crowd that does not fit in memory bounds the search from above.
                Err(SweepError::Scene(_)) if search.bounds.fits.is_some() => None,
                trial => trial?,
            };
            if self.log.interrupted() {
                return Ok(());
            }
            search.record(instances, frame.map(|frame| frame.as_nanos() as f64));
            found.time = Some(search.bounds);
        }
        Ok(())
    }

    /// Measures a backend on one crowd: the time of its frame, or `None` if the crowd does not fit in memory.
    fn trial(
        &mut self,
        point: &SweepPoint,
        entry: &'static BackendEntry,
        instances: u64,
        done: Range<f64>,
    ) -> Result<Option<Duration>, SweepError> {
        let results = self.point(&self.sweep.sized(point, instances), &[entry], done)?;
        match results.get(entry.name) {
            Some(KnownResult {
                status: Status::Ok,
                frame: Some(frame),
            }) => Ok(Some(*frame)),
            Some(KnownResult {
                status: Status::TooLarge,
                ..
            })
            | None => Ok(None),
            Some(KnownResult { status, .. }) => Err(BackendError::Failed(format!(
                "{} at {instances} instances",
                status.name()
            ))
            .into()),
        }
    }

    /// Measures the backends in `racing` that are not known yet at a point; returns the result of each. `done` are the
    /// fractions of the sweep that are done before and after it.
    fn point(
        &mut self,
        point: &SweepPoint,
        racing: &[&'static BackendEntry],
        done: Range<f64>,
    ) -> Result<Results, SweepError> {
        if racing.is_empty() {
            return Ok(Results::new());
        }
        let scene = self
            .sweep
            .scene
            .clone()
            .with(point.settings.clone())
            .build(self.sweep.options.memory())?;
        let context = self.sweep.context(point);
        let passes = run::passes(context, &scene);
        let threads = context.threads.count();
        let mut known = Results::new();
        let mut missing = Vec::new();
        for &entry in racing {
            match self.log.known(&scene, threads, passes, entry) {
                Some(result) => _ = known.insert(entry.name, result),
                None => missing.push(entry),
            }
        }
        self.ending.kept += known.len();
        if !missing.is_empty() {
            let options = RunOptions {
                backends: missing,
                ..self.sweep.options.clone()
            };
            let mut watch = Watch {
                log: &mut *self.log,
                scene: &scene,
                threads,
                done,
            };
            let outcomes = run::run(&scene, context, &options, &mut watch)?;
            if self.log.interrupted() {
                return Ok(known);
            }
            for outcome in outcomes {
                let result = KnownResult {
                    status: outcome.status,
                    frame: outcome.median(Stage::Frame).map(Duration::from_nanos),
                };
                known.insert(outcome.name, result);
            }
        }
        for entry in racing {
            if let Some(result) = known.get(entry.name) {
                self.ending.ended.push(Ended {
                    backend: entry.name,
                    status: result.status,
                });
            }
        }
        Ok(known)
    }
}

/// Observer of the run of one point.
struct Watch<'a> {
    log: &'a mut dyn Log,
    scene: &'a BuiltScene,
    threads: usize,
    /// Fractions of the sweep that are done before and after this point.
    done: Range<f64>,
}

impl Observer for Watch<'_> {
    fn progress(&mut self, step: &Step) {
        let what = format!("{} instances, {step}", self.scene.crowd.instance_count());
        self.log.progress(
            &what,
            self.done.start + (self.done.end - self.done.start) * step.done,
        );
    }

    fn interrupted(&self) -> bool {
        self.log.interrupted()
    }

    fn remark(&mut self, remark: &str) {
        let instances = self.scene.crowd.instance_count();
        self.log.note(&format!("{instances} instances: {remark}"));
    }

    fn finished(&mut self, outcome: &Outcome) -> io::Result<()> {
        // An interrupted measurement is discarded: the next sweep measures it again.
        if self.log.interrupted() && outcome.status == Status::Ok {
            return Ok(());
        }
        self.log.finished(self.scene, self.threads, outcome)
    }
}
