//! Rows of result files: one field per column.

use super::key::{Machine, MeasurementKey, Options, Point, per_instance};
use crate::frame::{Clock, Event, Purpose, Stage, StageGroup};
use crate::harness::environment::{Adapter, Environment};
use crate::harness::fidelity;
use crate::harness::limits::Host;
use crate::harness::lod_error;
use crate::harness::run::{Outcome, StageTimes, Status};
use crate::scene::BuiltScene;
use crate::simd::Isa;
use serde::{Deserialize, Serialize};
use std::io;

/// Version of the columns.
pub const SCHEMA: u32 = 2;

/// A row of `summary.csv`: one stage of one backend by one clock. Field names are the columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SummaryRow {
    /// Version of the columns, [`SCHEMA`].
    #[serde(default)]
    pub schema: u32,
    /// Identifier that all rows of a run share.
    pub run_id: String,
    /// Start of the run, RFC 3339.
    #[serde(default)]
    pub utc: String,
    /// Commit that the binary was built from.
    pub git_rev: Option<String>,
    /// `true` if tracked files differed from that commit.
    pub dirty: Option<bool>,
    /// Compiler version.
    pub rustc: Option<String>,
    /// Operating system, with version.
    pub os: Option<String>,
    /// Processor's name.
    pub cpu: Option<String>,
    /// Threads that parallel backends use.
    #[serde(default)]
    pub threads: usize,
    /// The adapter's name, marked if it is emulated on the CPU.
    pub adapter: Option<String>,
    /// The adapter's driver, with version.
    pub driver: Option<String>,
    /// Name of the scene, or of the model used as one.
    pub scene: String,
    /// Hash of the scene, 16 hexadecimal digits; only rows with the same hash are comparable.
    pub scene_hash: String,
    /// Instances of the crowd.
    pub instances: usize,
    /// Joints posed per frame, over all instances.
    #[serde(default)]
    pub joints: u64,
    /// Vertices skinned per frame, over all instances.
    #[serde(default)]
    pub vertices: u64,
    /// Most influences of a vertex.
    #[serde(default)]
    pub influences: u32,
    /// `p`, `pn` or `pnt`: positions, normals, tangents.
    #[serde(default)]
    pub attributes: String,
    /// Options that differ from the defaults; empty if none does.
    pub options: Option<String>,
    /// Number of times that a frame drew the crowd.
    pub passes: u32,
    /// Instances drawn, if not all are.
    pub visible: Option<u64>,
    /// Name as in `skinbench list`.
    pub backend: String,
    /// Part of the name after the colon.
    pub variant: Option<String>,
    /// The stage; `frame` is the whole frame.
    pub stage: Stage,
    /// Clock that measured it.
    pub clock: Clock,
    /// Status of the backend.
    pub status: Status,
    /// Reason why the status is not `ok`.
    pub error: Option<String>,
    /// Number of samples of the figures.
    pub frames: Option<usize>,
    /// Number of frames without a positive time.
    pub dropped: Option<u32>,
    /// `true` if the spread is more than 5 % of the median.
    pub noisy: Option<bool>,
    /// Median in nanoseconds.
    pub median_ns: Option<u64>,
    /// Median absolute deviation in nanoseconds, unscaled.
    pub mad_ns: Option<u64>,
    /// Smallest sample in nanoseconds.
    pub min_ns: Option<u64>,
    /// 95th percentile in nanoseconds.
    pub p95_ns: Option<u64>,
    /// Largest sample in nanoseconds.
    pub max_ns: Option<u64>,
    /// Bytes that the stage must move.
    pub bytes: Option<u64>,
    /// Bandwidth of the machine, bytes per second.
    pub limit: Option<u64>,
    /// Bandwidth reached, in percent of `limit`.
    pub pct_of_limit: Option<f64>,
    /// Largest position error over the bounding box's diagonal.
    pub parity_max_rel: Option<f64>,
    /// Largest position error that passes.
    pub parity_tol: Option<f64>,
    /// Error of a compressed clip.
    pub clip_error: Option<f64>,
    /// Bytes of main memory that frames need, without drawing. This column and those below are filled on the row of the
    /// whole frame, or the last one of a peer that has none.
    pub host_bytes: Option<u64>,
    /// Bytes of device memory that frames need, without drawing.
    pub device_bytes: Option<u64>,
    /// Bytes copied to the device per frame.
    pub upload_bytes: Option<u64>,
    /// Draw calls per frame, of all passes.
    pub draws: Option<u64>,
    /// Dispatches per frame.
    pub dispatches: Option<u64>,
    /// Part of `host_bytes`: vertices and influences.
    pub host_mesh: Option<u64>,
    /// Part of `host_bytes`: clips, skeletons, layers.
    pub host_clips: Option<u64>,
    /// Part of `host_bytes`: palettes.
    pub host_palettes: Option<u64>,
    /// Part of `host_bytes`: skinned vertices.
    pub host_output: Option<u64>,
    /// Part of `host_bytes`: poses, lists of instances and the like.
    pub host_scratch: Option<u64>,
    /// Part of `device_bytes`, as on the host.
    pub device_mesh: Option<u64>,
    /// Part of `device_bytes`, as on the host.
    pub device_clips: Option<u64>,
    /// Part of `device_bytes`, as on the host.
    pub device_palettes: Option<u64>,
    /// Part of `device_bytes`, as on the host.
    pub device_output: Option<u64>,
    /// Part of `device_bytes`, as on the host.
    pub device_scratch: Option<u64>,
    /// Bytes of pictures and of data that only drawing reads; not part of `device_bytes`.
    pub device_targets: Option<u64>,
    /// Bytes of trials and read-backs of vertices; not part of `device_bytes`.
    pub device_staging: Option<u64>,
    /// Rows of the stages `bounds` and `sockets`: frames after which the processor has them, 0 for the same frame.
    pub delay_frames: Option<u32>,
    /// Number of models in groups that mix several; empty without such a group.
    pub models: Option<u32>,
    /// With levels of detail: largest distance of a vertex of the full character from its place on the level, over the
    /// bounding box's diagonal.
    pub lod_error: Option<f64>,
    /// The same in pixels of the scene's picture, at the instance's distance from the camera.
    pub lod_error_px: Option<f64>,
    /// Energy of the processor's packages per frame, in microjoules; empty where no counter can be read. This column and
    /// those below are filled on the row of the whole frame.
    pub energy_uj: Option<f64>,
    /// Largest error of `energy_uj`, which follows from the counter's step.
    pub energy_error_uj: Option<f64>,
    /// Median in nanoseconds at the beginning of a sustained run, of which `median_ns` is the end.
    pub first_ns: Option<u64>,
    /// Cycles of the processor per frame in the stage; empty, as the next three, where they were not counted.
    pub cycles: Option<f64>,
    /// Instructions per frame in the stage.
    pub instructions: Option<f64>,
    /// Accesses per frame that the last-level cache could not serve.
    pub llc_misses: Option<f64>,
    /// Context switches of the process per frame in the stage.
    pub context_switches: Option<f64>,
    /// Whose code was measured: the name of a project; empty in results from before the column, which are ours.
    pub owner: Option<String>,
    /// Description of the backend at work: instruction set or adapter, threads, and the kernel that a trial chose, with
    /// the times of all kernels. A peer writes its own text. Filled on the same row as `host_bytes`.
    pub device: Option<String>,
}

/// The first line of a file with such rows, without its end: the names of their fields.
///
/// # Errors
/// A row that CSV cannot hold.
pub fn heading<T: Serialize + Default>() -> io::Result<String> {
    let mut text = Vec::new();
    csv::Writer::from_writer(&mut text).serialize(T::default())?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().next().unwrap_or_default().into())
}

impl SummaryRow {
    /// The backend's name as in `skinbench list`.
    pub fn backend_and_variant(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}:{variant}", self.backend),
            None => self.backend.clone(),
        }
    }

    /// The point at which a row was measured.
    pub fn point(&self) -> Point {
        Point {
            scene: self.scene.clone(),
            vertices: per_instance(self.vertices, self.instances),
            influences: self.influences,
            models: self.models.unwrap_or(0),
            attributes: self.attributes.clone(),
            options: Options::parse(self.options.as_deref().unwrap_or_default()),
            threads: self.threads,
            passes: self.passes,
            instances: self.instances,
            scene_hash: self.scene_hash.clone(),
        }
    }
}

/// A row of `samples.csv`: one measured time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleRow {
    /// As in [`SummaryRow`].
    pub run_id: String,
    /// As in [`SummaryRow`].
    pub scene: String,
    /// As in [`SummaryRow`].
    pub backend: String,
    /// As in [`SummaryRow`].
    pub variant: Option<String>,
    /// As in [`SummaryRow`].
    pub stage: Stage,
    /// As in [`SummaryRow`].
    pub clock: Clock,
    /// Number of the frame, the same sequence for every backend.
    pub frame: u32,
    /// Nanoseconds.
    pub ns: u64,
}

/// A row of `limits.csv`: limits of the processor with one number of threads, measured just before a scene.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitsRow {
    /// As in [`SummaryRow`].
    pub run_id: String,
    /// As in [`SummaryRow`].
    pub scene: String,
    /// Instruction set.
    pub isa: String,
    /// Number of threads.
    pub threads: usize,
    /// Lanes of a vector.
    pub lanes: usize,
    /// Bytes of the buffer that was written and read.
    pub bytes: u64,
    /// Bytes written per second by plain stores.
    pub write: u64,
    /// Bytes written per second by streaming stores.
    pub stream: u64,
    /// Bytes read per second.
    pub read: u64,
    /// Fused multiply-adds per second, counting lanes.
    pub fma: u64,
}

/// One stage of one backend by one clock, measured once.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Its line of `summary.csv`.
    pub row: SummaryRow,
    /// Frame numbers and nanoseconds, in the order of the frames; empty if they are not known.
    pub samples: Vec<(u32, u64)>,
}

/// A scene, and the machine that measures it.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredScene<'a> {
    /// The machine, the program and the time.
    pub environment: &'a Environment,
    /// The scene.
    pub scene: &'a BuiltScene,
    /// Its [`fidelity::clip_error`].
    pub clip_error: Option<f64>,
}

impl<'a> MeasuredScene<'a> {
    /// A scene on a machine. Its clip error is measured here.
    pub fn new(environment: &'a Environment, scene: &'a BuiltScene) -> Self {
        Self { environment, scene, clip_error: fidelity::clip_error(scene) }
    }

    /// The measurements of a backend: one per stage and clock, or a single one without times.
    pub fn measurements(&self, outcome: &Outcome) -> Vec<Measurement> {
        let measurement = |times: Option<&StageTimes>| Measurement {
            row: self.row(outcome, times),
            samples: times.map_or(Vec::new(), |times| times.samples.clone()),
        };
        match &outcome.stages[..] {
            [] => vec![measurement(None)],
            stages => stages.iter().map(|times| measurement(Some(times))).collect(),
        }
    }

    fn row(&self, outcome: &Outcome, times: Option<&StageTimes>) -> SummaryRow {
        let &Self { environment, scene, clip_error } = self;
        let summary = times.and_then(StageTimes::summary);
        let floor = times.and_then(|t| t.floor);
        let adapter = environment.adapter.as_ref();
        let crowd = &scene.crowd;
        // That of the frame, unless a peer has none.
        let last = outcome.stages.last().map(|last| (last.stage, last.clock));
        let of_frame = times.is_some_and(|own| last == Some((own.stage, own.clock)));
        let resources = outcome.resources.filter(|_| of_frame);
        let reads = times.is_some_and(|t| t.stage.group() == StageGroup::Gameplay);
        let host = |purpose| resources.map(|r| r.memory.host.get(purpose));
        let device = |purpose| resources.map(|r| r.memory.device.get(purpose));
        let count = |event| times.and_then(|times| times.counts.mean(event));
        let lod = lod_error::of_scene(scene);
        let point = Point::of(scene, environment.threads, outcome.passes, outcome.disturbance);
        SummaryRow {
            schema: SCHEMA,
            run_id: environment.run_id.clone(),
            utc: environment.utc.clone(),
            git_rev: environment.build.git_rev.clone(),
            dirty: environment.build.dirty,
            rustc: text(&environment.build.rustc),
            os: text(&environment.os),
            cpu: text(&environment.cpu),
            threads: point.threads,
            adapter: adapter.map(Adapter::label),
            driver: adapter.and_then(|a| text(&a.driver)),
            scene: point.scene,
            scene_hash: point.scene_hash,
            instances: point.instances,
            joints: crowd.joint_count(),
            vertices: crowd.vertex_count(),
            influences: point.influences,
            attributes: point.attributes,
            options: text(&point.options.to_string()),
            passes: point.passes,
            visible: outcome.visible(),
            backend: outcome.backend.into(),
            variant: text(outcome.variant),
            stage: times.map_or(Stage::Frame, |t| t.stage),
            clock: times.map_or(Clock::Wall, |t| t.clock),
            status: outcome.status,
            error: outcome.problem.clone(),
            frames: times.map(|t| t.samples.len()),
            dropped: times.map(|t| t.dropped),
            noisy: summary.map(|s| s.is_noisy()),
            median_ns: summary.map(|s| s.median),
            mad_ns: summary.map(|s| s.mad),
            min_ns: summary.map(|s| s.min),
            p95_ns: summary.map(|s| s.p95),
            max_ns: summary.map(|s| s.max),
            bytes: floor.map(|f| f.bytes),
            limit: floor.map(|f| f.limit),
            pct_of_limit: times.and_then(StageTimes::percent_of_limit).map(|p| (10.0 * p).round() / 10.0),
            parity_max_rel: outcome.parity.as_ref().map(|p| p.max_rel),
            parity_tol: outcome.parity.as_ref().map(|p| p.tolerance.position),
            clip_error: fidelity::of_backend(clip_error, outcome.parity.as_ref()),
            host_bytes: resources.map(|r| r.memory.host.resident()),
            device_bytes: resources.map(|r| r.memory.device.resident()),
            upload_bytes: resources.map(|r| r.work.uploaded),
            draws: resources.map(|r| r.work.draws),
            dispatches: resources.map(|r| r.work.dispatches),
            host_mesh: host(Purpose::Mesh),
            host_clips: host(Purpose::Clips),
            host_palettes: host(Purpose::Palettes),
            host_output: host(Purpose::Output),
            host_scratch: host(Purpose::Scratch),
            device_mesh: device(Purpose::Mesh),
            device_clips: device(Purpose::Clips),
            device_palettes: device(Purpose::Palettes),
            device_output: device(Purpose::Output),
            device_scratch: device(Purpose::Scratch),
            device_targets: device(Purpose::Targets),
            device_staging: device(Purpose::Staging),
            delay_frames: outcome.gameplay_delay.filter(|_| reads),
            models: scene.mixed_models,
            lod_error: lod.map(|lod| lod.relative),
            lod_error_px: lod.map(|lod| lod.pixels),
            energy_uj: resources.and_then(|r| r.energy).map(|energy| energy.microjoules),
            energy_error_uj: resources.and_then(|r| r.energy).map(|energy| energy.error),
            first_ns: outcome.first_ns.filter(|_| of_frame),
            cycles: count(Event::Cycles),
            instructions: count(Event::Instructions),
            llc_misses: count(Event::CacheMisses),
            context_switches: count(Event::ContextSwitches),
            owner: text(outcome.owner),
            device: text(&outcome.device).filter(|_| of_frame),
        }
    }
}

fn text(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.into())
}

impl Measurement {
    /// The backend's name as in `skinbench list`.
    pub fn backend(&self) -> String {
        self.row.backend_and_variant()
    }

    /// The key of the measurement.
    pub fn key(&self) -> MeasurementKey {
        let SummaryRow { stage, clock, .. } = self.row;
        MeasurementKey { point: self.row.point(), backend: self.backend(), stage, clock }
    }

    /// Returns whether it was measured and is valid.
    pub fn is_ok(&self) -> bool {
        self.row.status == Status::Ok && self.row.median_ns.is_some()
    }

    /// The machine of the measurement.
    pub fn machine(&self) -> Machine {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let Measurement { row, .. } = self;
        Machine { os: text(&row.os), cpu: text(&row.cpu), adapter: text(&row.adapter), driver: text(&row.driver) }
    }
}

impl LimitsRow {
    /// Limits of the processor with some threads, just before a scene.
    pub fn new(environment: &Environment, scene: &BuiltScene, isa: Isa, host: &Host) -> Self {
        let Host { threads, lanes, bandwidth, fma } = *host;
        let [write, stream, read, fma] =
            [bandwidth.write, bandwidth.stream, bandwidth.read, fma].map(|rate| rate as u64);
        Self {
            run_id: environment.run_id.clone(),
            scene: scene.name.clone(),
            isa: isa.name().into(),
            threads,
            lanes,
            bytes: Host::BYTES,
            write,
            stream,
            read,
            fma,
        }
    }
}
