//! `skinbench sweep`: measures a scene at many points into one folder, and resumes an earlier sweep.

use super::common::Named;
use super::settings::AxisArguments;
use super::{
    BackendArguments, ClockArguments, Exit, MachineArguments, Progress, ScreenArguments,
    built_from, common, positive, say, say_fitted, tell,
};
use anyhow::Context as _;
use bytesize::ByteSize;
use clap::Args;
use skinbench::frame::{AdapterSummary, Clock, Stage};
use skinbench::harness::environment::{self, Environment};
use skinbench::harness::sweep::{
    Ending, Found, KnownResult, Log, PointEnd, Shard, Sweep, SweepAxes, distinct,
};
use skinbench::harness::{Disturbance, Outcome, RunOptions, Status, fidelity};
use skinbench::registry::BackendEntry;
use skinbench::report::text;
use skinbench::results::{MeasuredScene, Point, Recorded, Results, Study, of_machine, warnings};
use skinbench::scene::{BuiltScene, Output};
use skinbench::wording::{self, counted};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Most warnings that are listed one by one.
const LISTED: usize = 6;
/// Digits of the executable's SHA-256 in the name of a run, by which a later sweep tells its own results.
const BINARY_DIGITS: usize = 16;

/// Measure a scene at every combination of settings and threads
#[derive(Debug, Args)]
pub struct Arguments {
    /// Built-in scene, scene file (.toml) or model
    #[arg(value_name = "SCENE|MODEL")]
    scene: PathBuf,
    #[command(flatten)]
    axes: AxisArguments,
    #[command(flatten)]
    backends: BackendArguments,
    #[command(flatten)]
    clock: ClockArguments,
    /// Measured frames per backend and point; default: as many as fit 2 s, 5 to 300
    #[arg(long, value_name = "N", value_parser = positive::<u32>, help_heading = "Measurement")]
    frames: Option<u32>,
    /// Measure only this part, such as 1/4; each part needs a folder of its own
    #[arg(
        long,
        value_name = "I/N",
        default_value = "1/1",
        hide_default_value = true,
        help_heading = "Measurement"
    )]
    shard: Shard,
    /// Skip larger crowds for a backend whose frame took longer than this, such as 500ms
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Measurement")]
    max_frame_time: Option<Duration>,
    /// Search for the largest crowd whose frame fits, such as 16.7ms, instead of measuring given ones
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with_all = ["max_frame_time", "shard"], help_heading = "Measurement")]
    budget: Option<Duration>,
    /// Search for the largest crowd whose memory on host and device fits, such as 128MB, instead of measuring given
    /// ones; with --budget, for one that fits both
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with_all = ["max_frame_time", "shard"], help_heading = "Measurement")]
    memory: Option<u64>,
    #[command(flatten)]
    disturbance: Disturbance,
    /// Folder for summary.csv, samples.csv and environment.json; a sweep in it is resumed
    #[arg(short = 'o', long, value_name = "DIR", help_heading = "Output")]
    results: PathBuf,
    #[command(flatten)]
    screen: ScreenArguments,
    #[command(flatten)]
    machine: MachineArguments,
}

/// Parses a time with its unit.
fn time(text: &str) -> Result<Duration, &'static str> {
    humantime::parse_duration(text)
        .ok()
        .filter(|time| !time.is_zero())
        .ok_or("expected a time with its unit, such as 16.7ms or 2s")
}

/// Parses a number of bytes with its unit.
fn size(text: &str) -> Result<u64, &'static str> {
    let has_unit = text.ends_with(['b', 'B']);
    let expected = "expected a size with its unit, such as 128MB or 64MiB";
    let size = wording::parsed(text, |size: &ByteSize| has_unit && size.0 > 0, expected)?;
    Ok(size.0)
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let scene = common::load_scene(&arguments.scene)?.with(arguments.backends.defaults());
    let backends = arguments.backends.entries()?;
    let axes = SweepAxes {
        settings: arguments.axes.0.clone(),
        threads: arguments.machine.threads.clone(),
    };
    let points = axes.points(arguments.shard);
    for point in &points {
        common::checked(&point.settings)?;
    }
    let mut threads: Vec<u32> = points.iter().filter_map(|point| point.threads).collect();
    threads.dedup();
    let machine = MachineArguments {
        threads,
        ..arguments.machine.clone()
    };
    let context = machine.open()?;
    arguments.clock.choose(&context)?;
    let contexts = machine.thread_counts(&context)?;
    let given = points.len();
    let points = distinct(points, |point| {
        context.has_adapter() && point.settings.output != Some(Output::Ring)
    });
    if points.len() < given {
        tell(
            "note: nothing is drawn, so --passes makes no difference: each crowd is measured once",
        );
    }
    let environment = Environment::collect(built_from(), &context);
    if let Some(smallest) = points.first() {
        // Scenes that cannot be built are refused before anything is written.
        scene
            .clone()
            .with(smallest.settings.clone())
            .build(common::memory())?;
    }
    let sweep = Sweep {
        scene: &scene,
        points,
        contexts,
        options: RunOptions {
            backends: backends.clone(),
            frames: arguments.frames,
            memory: Some(common::memory()),
            disturbance: arguments.disturbance,
            ..RunOptions::default()
        },
        max_frame_time: arguments.max_frame_time,
        budget: arguments.budget,
        memory: arguments.memory,
    };
    sweep.check_memory()?;
    common::watch_for_interruption()?;
    let session = common::session(&environment, &context)?;
    let binary = session.program.sha256[..BINARY_DIGITS].to_owned();
    let results = Results::append(&arguments.results, session)?;
    // An empty folder is not an error.
    let recorded = Recorded::read(&[results.summary_path()]).unwrap_or_default();
    let mut folder = SweepFolder {
        results,
        kept: kept(
            &recorded,
            arguments.frames,
            environment.clock.label(),
            &binary,
        ),
        environment,
        binary,
        disturbance: arguments.disturbance,
        at: None,
        moves: 0,
        clip_error: None,
        progress: Progress::without_estimate(&[String::new()]),
        troubles: of_machine().into_iter().collect(),
        ended: 0,
        of: sweep.points.len(),
        left: None,
        scene: scene.name.clone(),
    };
    let driven = sweep.drive(&mut folder);
    let written = folder.results.end();
    let summary = folder.results.summary_path();
    let troubles = std::mem::take(&mut folder.troubles);
    let ended = folder.ended;
    let of = folder.of;
    drop(folder);
    let ending = match driven {
        Ok(ending) => ending,
        Err(error) => {
            // What is in the folder is shown in any case.
            print(arguments, &Ending::default(), &scene.name)?;
            return Err(error.into());
        }
    };
    if let Err(error) = written {
        print(arguments, &ending, &scene.name)?;
        return Err(error)
            .with_context(|| format!("cannot write to {}", arguments.results.display()));
    }
    if common::is_interrupted() {
        say(format_args!(
            "interrupted after {ended} of {of}; the same command goes on there\n"
        ))?;
    }
    for trouble in troubles.iter().take(LISTED) {
        let screen = arguments.screen.screen();
        say_fitted(format_args!("warning: {trouble}\n"), screen)?;
    }
    if troubles.len() > LISTED {
        say(format_args!(
            "warning: {} more like these\n",
            troubles.len() - LISTED
        ))?;
    }
    say(format_args!("results: {}\n\n", summary.display()))?;
    // The verdict is the last that a reader sees.
    print(arguments, &ending, &scene.name)?;
    Ok(common::exit(
        &arguments.backends.backends,
        &ending.ended,
        Named::Somewhere,
    ))
}

/// Prints the content of the folder, in words and a table; then the answers to a search.
fn print(arguments: &Arguments, ending: &Ending, scene: &str) -> anyhow::Result<()> {
    let &Arguments {
        budget,
        memory,
        ref results,
        ..
    } = arguments;
    if ending.kept > 0 {
        let kept = counted(ending.kept as u64, "measurement");
        tell(format_args!("note: {kept} of an earlier sweep kept"));
    }
    let screen = arguments.screen.screen();
    if let Ok(recorded) = Recorded::read(&[results]) {
        say_fitted(text::swept(&Study::new(recorded), screen), screen)?;
    }
    if budget.is_some() || memory.is_some() {
        let answers = text::largest(scene, budget, memory, &ending.largest);
        say_fitted(answers, screen)?;
    }
    Ok(())
}

/// The folder of a sweep: its previous content and the added results.
struct SweepFolder {
    results: Results,
    /// Results that this binary measured before.
    kept: HashMap<ResultKey, KnownResult>,
    environment: Environment,
    /// The first digits of the executable's SHA-256.
    binary: String,
    disturbance: Disturbance,
    /// Current position of the sweep: hash, passes, threads, and the number of changes so far.
    at: Option<(u64, u32, usize)>,
    moves: u32,
    /// Clip error of the current scene.
    clip_error: Option<f64>,
    progress: Progress,
    /// Conditions that may have disturbed measurements.
    troubles: Vec<String>,
    /// Number of points, or of searches, that are finished, and how many there are.
    ended: usize,
    of: usize,
    /// When the last point ended, and the time that those ahead took by then.
    left: Option<(Instant, Duration)>,
    /// Name of the scene.
    scene: String,
}

/// Key of a measurement: point, adapter and backend.
type ResultKey = (Point, Option<String>, String);

/// The results of a folder that need not be measured again: those of this executable, by this clock, of enough frames.
fn kept(
    recorded: &Recorded,
    frames: Option<u32>,
    clock: Clock,
    binary: &str,
) -> HashMap<ResultKey, KnownResult> {
    let mut kept = HashMap::new();
    let id_part = format!("-{binary}.");
    // Results whose device stages were timed by another clock are measured again.
    let mut foreign: HashSet<(&str, String)> = HashSet::new();
    for measurement in &recorded.measurements {
        let row = &measurement.row;
        if row.clock.is_of_device() && row.clock != clock {
            foreign.insert((&row.run_id, row.backend_and_variant()));
        }
    }
    for measurement in &recorded.measurements {
        let row = &measurement.row;
        let measured = row.frames.unwrap_or(0) as u32 + row.dropped.unwrap_or(0);
        let is_done = match row.status {
            Status::Ok => frames.is_none_or(|frames| measured >= frames),
            status => status != Status::Error,
        };
        let is_ours = row.run_id.contains(&id_part)
            && !foreign.contains(&(row.run_id.as_str(), row.backend_and_variant()));
        if is_done && is_ours && row.stage == Stage::Frame {
            let key = (row.point(), row.adapter.clone(), row.backend_and_variant());
            let result = KnownResult {
                status: row.status,
                frame: row.median_ns.map(Duration::from_nanos),
            };
            kept.insert(key, result);
        }
    }
    kept
}

impl Log for SweepFolder {
    fn known(
        &self,
        scene: &BuiltScene,
        threads: usize,
        passes: u32,
        backend: &BackendEntry,
    ) -> Option<KnownResult> {
        let point = Point::of(scene, threads, passes, self.disturbance);
        let adapter = self.environment.adapter.as_ref();
        let key = (
            point,
            adapter.map(AdapterSummary::label),
            backend.name.into(),
        );
        self.kept.get(&key).copied()
    }

    fn progress(&mut self, what: &str, done: f64) {
        let mut message = what.to_owned();
        if let Some((since, left)) = self.left {
            let left = left.saturating_sub(since.elapsed());
            message += &format!("; about {} left", text::roughly(left));
        }
        self.progress.show(message, done);
    }

    fn interrupted(&self) -> bool {
        common::is_interrupted()
    }

    fn finished(
        &mut self,
        scene: &BuiltScene,
        threads: usize,
        outcome: &Outcome,
    ) -> io::Result<()> {
        let environment = &mut self.environment;
        let at = Some((scene.hash, outcome.passes, threads));
        if self.at != at {
            // Each point is a run of its own, which keeps its samples apart from those of the others.
            self.at = at;
            environment.threads = threads;
            self.moves += 1;
            self.clip_error = fidelity::clip_error(scene);
            environment.utc = environment::now();
            environment.run_id = format!(
                "{}-{}-{}.{}",
                environment::compact_form(&environment.utc),
                std::process::id(),
                self.binary,
                self.moves
            );
        }
        let crowd = counted(scene.crowd.instance_count() as u64, "instance");
        let passes = outcome.passes;
        for warning in warnings(std::slice::from_ref(outcome)) {
            let trouble = format!("{crowd}, passes {passes}: {warning}");
            self.troubles.push(trouble);
        }
        let measured = MeasuredScene {
            environment,
            scene,
            clip_error: self.clip_error,
        };
        self.results.write(&measured.measurements(outcome))
    }

    fn point_ended(&mut self, end: &PointEnd) {
        self.ended = end.number;
        self.of = end.count;
        self.left = end.left.map(|left| (Instant::now(), left));
        self.progress.suspend(|| tell(text::point_ended(end)));
    }

    fn search_ended(&mut self, found: &Found, number: usize, of: usize) {
        self.ended = number;
        self.of = of;
        let answer = text::answer(&self.scene, found);
        self.progress
            .suspend(|| tell(format_args!("search {number} of {of}: {answer}")));
    }

    fn note(&mut self, text: &str) {
        self.progress.suspend(|| tell(format_args!("note: {text}")));
    }
}
