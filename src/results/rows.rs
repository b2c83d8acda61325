//! Rows of result files: one field per column.

use super::key::{Machine, MeasurementKey, Options, Point, per_instance};
use crate::frame::{AdapterSummary, Clock, EMULATED, Event, Purpose, Stage, StageGroup};
use crate::harness::environment::Environment;
use crate::harness::{DeviceLimits, Host, MachineLimits, Outcome, StageTimes, Status, fidelity};
use crate::scene::BuiltScene;
use crate::simd::Isa;
use serde::{Deserialize, Serialize};
use std::io;

/// Version of the columns.
pub const SCHEMA: u32 = 2;

/// Declares the columns of `summary.csv`: for each its documentation, its name, its type, and its value in the row of an
/// outcome.
macro_rules! columns {
    (
        $(#[$attribute:meta])* struct $table:ident;
        fn row($($parameter:tt)*) { $($fact:tt)* }
        $($(#[$documentation:meta])* $column:ident: $kind:ty = $value:expr;)*
    ) => {
        $(#[$attribute])*
        pub struct $table {
            $($(#[$documentation])* pub $column: $kind,)*
        }

        impl MeasuredScene<'_> {
            fn row($($parameter)*) -> $table {
                $($fact)*
                $table { $($column: $value,)* }
            }
        }
    };
}

columns! {
    /// A row of `summary.csv`: one stage of one backend by one clock. Field names are the columns.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct SummaryRow;

    fn row(&self, outcome: &Outcome, times: Option<&StageTimes>) {
        let &Self { environment, scene, clip_error } = self;
        let (backend, variant) = outcome.name.split_once(':').unwrap_or((outcome.name, ""));
        let summary = times.and_then(StageTimes::summary);
        let floor = times.and_then(|t| t.floor);
        let adapter = environment.adapter.as_ref();
        let crowd = &scene.crowd;
        // That of the frame, unless a peer has none.
        let last = outcome.stages.last().map(|last| (last.stage, last.clock));
        let of_frame = times.is_some_and(|times| last == Some((times.stage, times.clock)));
        let resources = outcome.resources.filter(|_| of_frame);
        let [processor, adapter_energy] = resources.map_or([None; 2], |r| r.energy);
        let reads = times.is_some_and(|t| t.stage.group() == StageGroup::Gameplay);
        let host = |purpose| resources.map(|r| r.memory.host.get(purpose));
        let device = |purpose| resources.map(|r| r.memory.device.get(purpose));
        let count = |event| times.and_then(|times| times.counts.mean(event));
        let levels = scene.levels;
        let device_clock = times.and_then(|times| times.device_clock);
        let processor_clock = outcome.processor_clock.filter(|_| of_frame);
        let point = Point::of(scene, environment.threads, outcome.passes, outcome.disturbance);
    }

    /// Version of the columns, [`SCHEMA`].
    schema: u32 = SCHEMA;
    /// Identifier that all rows of a run share.
    run_id: String = environment.run_id.clone();
    /// Start of the run, RFC 3339.
    utc: String = environment.utc.clone();
    /// Commit that the binary was built from.
    git_rev: Option<String> = environment.build.git_rev.clone();
    /// `true` if tracked files differed from that commit.
    dirty: Option<bool> = environment.build.dirty;
    /// Compiler version.
    rustc: Option<String> = text(&environment.build.rustc);
    /// Operating system, with version.
    os: Option<String> = text(&environment.os);
    /// Processor's name.
    cpu: Option<String> = text(&environment.cpu);
    /// Threads that parallel backends use.
    threads: usize = point.threads;
    /// The adapter's name, marked if it is emulated on the CPU.
    adapter: Option<String> = adapter.map(AdapterSummary::label);
    /// The adapter's driver, with version.
    driver: Option<String> = adapter.and_then(|a| text(&a.driver));
    /// Name of the scene, or of the model used as one.
    scene: String = point.scene;
    /// Hash of the scene, 16 hexadecimal digits; only rows with the same hash are comparable.
    scene_hash: String = point.scene_hash;
    /// Instances of the crowd.
    instances: usize = point.instances;
    /// Joints posed per frame, over all instances.
    joints: u64 = crowd.joint_count();
    /// Vertices skinned per frame, over all instances.
    vertices: u64 = crowd.vertex_count();
    /// Most influences of a vertex.
    influences: u32 = point.influences;
    /// `p`, `pn` or `pnt`: positions, normals, tangents.
    attributes: String = point.attributes;
    /// Options that differ from the defaults; empty if none does.
    options: Option<String> = text(&point.options.to_string());
    /// Number of times that a frame drew the crowd.
    passes: u32 = point.passes;
    /// Instances drawn, if not all are.
    visible: Option<u64> = outcome.visible();
    /// Name as in `skinbench list`.
    backend: String = backend.into();
    /// Part of the name after the colon.
    variant: Option<String> = text(variant);
    /// The stage; `frame` is the whole frame.
    stage: Stage = times.map_or(Stage::Frame, |t| t.stage);
    /// Clock that measured it.
    clock: Clock = times.map_or(Clock::Wall, |t| t.clock);
    /// Status of the backend.
    status: Status = outcome.status;
    /// Reason why the status is not `ok`.
    error: Option<String> = outcome.problem.clone();
    /// Number of samples of the figures.
    frames: Option<usize> = times.map(|t| t.samples.len());
    /// Number of frames without a positive time.
    dropped: Option<u32> = times.map(|t| t.dropped);
    /// `true` if the spread is more than 5 % of the median.
    noisy: Option<bool> = summary.map(|s| s.is_noisy());
    /// Median in nanoseconds.
    median_ns: Option<u64> = summary.map(|s| s.median);
    /// Median absolute deviation in nanoseconds, unscaled.
    mad_ns: Option<u64> = summary.map(|s| s.mad);
    /// Smallest sample in nanoseconds.
    min_ns: Option<u64> = summary.map(|s| s.min);
    /// 95th percentile in nanoseconds.
    p95_ns: Option<u64> = summary.map(|s| s.p95);
    /// Largest sample in nanoseconds.
    max_ns: Option<u64> = summary.map(|s| s.max);
    /// Bytes that the stage must move.
    bytes: Option<u64> = floor.map(|f| f.bytes);
    /// Bandwidth of the machine, bytes per second.
    limit: Option<u64> = floor.map(|f| f.limit);
    /// Bandwidth reached, in percent of `limit`.
    pct_of_limit: Option<f64> = times.and_then(StageTimes::percent_of_limit).map(|pct| percent(pct / 100.0));
    /// Largest position error over the bounding box's diagonal.
    parity_max_rel: Option<f64> = outcome.parity.as_ref().and_then(|p| p.max_rel);
    /// Largest position error that passes.
    parity_tol: Option<f64> = outcome.parity.as_ref().map(|p| p.tolerance.position);
    /// Error of a compressed clip.
    clip_error: Option<f64> = fidelity::of_backend(clip_error, outcome.parity.as_ref());
    /// Bytes of main memory that frames need, without drawing. This column and those below are filled on the row of the
    /// whole frame, or the last one of a peer that has none.
    host_bytes: Option<u64> = resources.map(|r| r.memory.host.resident());
    /// Bytes of device memory that frames need, without drawing.
    device_bytes: Option<u64> = resources.map(|r| r.memory.device.resident());
    /// Bytes copied to the device per frame.
    upload_bytes: Option<u64> = resources.map(|r| r.work.uploaded);
    /// Draw calls per frame, of all passes.
    draws: Option<u64> = resources.map(|r| r.work.draws);
    /// Dispatches per frame.
    dispatches: Option<u64> = resources.map(|r| r.work.dispatches);
    /// Part of `host_bytes`: vertices and influences.
    host_mesh: Option<u64> = host(Purpose::Mesh);
    /// Part of `host_bytes`: clips, skeletons, layers.
    host_clips: Option<u64> = host(Purpose::Clips);
    /// Part of `host_bytes`: palettes.
    host_palettes: Option<u64> = host(Purpose::Palettes);
    /// Part of `host_bytes`: skinned vertices.
    host_output: Option<u64> = host(Purpose::Output);
    /// Part of `host_bytes`: poses, lists of instances and the like.
    host_scratch: Option<u64> = host(Purpose::Scratch);
    /// Part of `device_bytes`, as on the host.
    device_mesh: Option<u64> = device(Purpose::Mesh);
    /// Part of `device_bytes`, as on the host.
    device_clips: Option<u64> = device(Purpose::Clips);
    /// Part of `device_bytes`, as on the host.
    device_palettes: Option<u64> = device(Purpose::Palettes);
    /// Part of `device_bytes`, as on the host.
    device_output: Option<u64> = device(Purpose::Output);
    /// Part of `device_bytes`, as on the host.
    device_scratch: Option<u64> = device(Purpose::Scratch);
    /// Bytes of pictures and of data that only drawing reads; not part of `device_bytes`.
    device_targets: Option<u64> = device(Purpose::Targets);
    /// Bytes of trials and read-backs of vertices; not part of `device_bytes`.
    device_staging: Option<u64> = device(Purpose::Staging);
    /// Rows of the stages `bounds` and `sockets`: frames after which the processor has them, 0 for the same frame.
    delay_frames: Option<u32> = outcome.gameplay_delay.filter(|_| reads);
    /// Number of models in groups that mix several; empty without such a group.
    models: Option<u32> = scene.mixed_models;
    /// With levels of detail: largest error of a level's mesh at rest by meshoptimizer's metric, over the bounding box's
    /// diagonal.
    lod_error: Option<f64> = levels.map(|levels| levels.error);
    /// The same in pixels of the scene's picture, at the instance's distance from the camera.
    lod_error_px: Option<f64> = levels.map(|levels| levels.error_px);
    /// Energy of the processor's packages per frame, in microjoules; empty where it cannot be measured. This column and
    /// those below are filled on the row of the whole frame.
    energy_uj: Option<f64> = processor.map(|energy| energy.microjoules);
    /// Largest error of `energy_uj`.
    energy_error_uj: Option<f64> = processor.map(|energy| energy.error);
    /// Median in nanoseconds at the beginning of a sustained run, of which `median_ns` is the end.
    first_ns: Option<u64> = outcome.first_ns.filter(|_| of_frame);
    /// Cycles of the processor per frame in the stage; empty, as the next three, where they were not counted.
    cycles: Option<f64> = count(Event::Cycles);
    /// Instructions per frame in the stage.
    instructions: Option<f64> = count(Event::Instructions);
    /// Accesses per frame that the last-level cache could not serve.
    llc_misses: Option<f64> = count(Event::CacheMisses);
    /// Context switches of the process per frame in the stage.
    context_switches: Option<f64> = count(Event::ContextSwitches);
    /// Whose code was measured: the name of a project; empty in results from before the column, which are ours.
    owner: Option<String> = text(outcome.owner);
    /// Description of the backend at work: instruction set or adapter, threads, and the kernel that a trial chose, with
    /// the times of all kernels. A peer writes its own text. Filled on the same row as `host_bytes`.
    device: Option<String> = text(&outcome.device).filter(|_| of_frame);
    /// Energy of the whole adapter per frame, in microjoules; empty where it cannot be measured. Filled, as the next one,
    /// on the row of the whole frame.
    adapter_energy_uj: Option<f64> = adapter_energy.map(|energy| energy.microjoules);
    /// Largest error of `adapter_energy_uj`.
    adapter_energy_error_uj: Option<f64> = adapter_energy.map(|energy| energy.error);
    /// 99th percentile in nanoseconds; empty with fewer than 100 samples.
    p99_ns: Option<u64> = summary.and_then(|s| s.p99);
    /// Largest distance of a vertex from the full character's, in pixels of the scene's picture, as if each error were on
    /// the largest instance: that of the backend, of clips and reused poses, and of levels. Filled on the same row as
    /// `host_bytes`.
    error_px: Option<f64> = outcome.parity.as_ref().filter(|_| of_frame).and_then(|p| p.max_rel).map(|error| {
        let relative = error + clip_error.unwrap_or(0.0);
        relative * scene.largest_pixels() + levels.map_or(0.0, |levels| levels.error_px)
    });
    /// Clock of the device in the frames, in percent of its best in the run: the median. Filled, as the next two, where
    /// the device works in the stage and its clock was measured.
    device_clock_pct: Option<f64> = device_clock.map(|clock| percent(clock.median));
    /// The same in the frame with the lowest clock.
    device_clock_min_pct: Option<f64> = device_clock.map(|clock| percent(clock.least));
    /// `true` if the clock was too low in too many frames for their times to be compared.
    unsteady: Option<bool> = device_clock.map(|clock| clock.is_unsteady);
    /// Clock of the device in MHz, as its driver tells it at the ends of blocks of frames: the median. Filled, as the next
    /// two, on the row of the whole frame.
    device_mhz: Option<u32> = outcome.device_mhz.filter(|_| of_frame);
    /// Clock of the processor just before blocks of frames, in percent of its best in the run: the median.
    processor_clock_pct: Option<f64> = processor_clock.map(|clock| percent(clock.median));
    /// The same before the block with the lowest clock.
    processor_clock_min_pct: Option<f64> = processor_clock.map(|clock| percent(clock.least));
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
        listed_name(&self.backend, self.variant.as_deref())
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
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

impl SampleRow {
    /// The frame 0 without a time: what all samples of a row of `summary.csv` have in common.
    pub fn series(row: &SummaryRow) -> Self {
        let SummaryRow {
            run_id,
            scene,
            backend,
            variant,
            stage,
            clock,
            ..
        } = row.clone();
        Self {
            run_id,
            scene,
            backend,
            variant,
            stage,
            clock,
            frame: 0,
            ns: 0,
        }
    }

    /// Backend, stage, clock, scene and run, as messages name them.
    pub fn subject(&self) -> String {
        format!(
            "{} {} {} of {} in run {}",
            listed_name(&self.backend, self.variant.as_deref()),
            self.stage.name(),
            self.clock.name(),
            self.scene,
            self.run_id
        )
    }
}

/// A backend's name as in `skinbench list`.
fn listed_name(backend: &str, variant: Option<&str>) -> String {
    match variant {
        Some(variant) => format!("{backend}:{variant}"),
        None => backend.into(),
    }
}

/// Memory that a row of `limits.csv` is about. Its serialised form is its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitedMemory {
    /// Main memory, and the processor with some threads: all rows from before there were others.
    #[default]
    Host,
    /// The device's memory.
    Device,
    /// Staging memory, which the host writes with some threads and the device copies.
    Upload,
}

/// A row of `limits.csv`: limits of the processor with one number of threads or of the device, measured just before a
/// scene. What a kind of memory does not have is 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
    /// The memory.
    pub memory: LimitedMemory,
    /// Bytes read and written per second by copying within the device, or copied per second from staging memory.
    pub copy: u64,
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
        Self {
            environment,
            scene,
            clip_error: fidelity::clip_error(scene),
        }
    }

    /// The measurements of a backend: one per stage and clock, or a single one without times.
    pub fn measurements(&self, outcome: &Outcome) -> Vec<Measurement> {
        let mut measurements = Vec::new();
        for times in &outcome.stages {
            measurements.push(Measurement {
                row: self.row(outcome, Some(times)),
                samples: times.samples.clone(),
            });
        }
        if measurements.is_empty() {
            measurements.push(Measurement {
                row: self.row(outcome, None),
                samples: Vec::new(),
            });
        }
        measurements
    }
}

/// A fraction in percent, to one decimal.
fn percent(fraction: f64) -> f64 {
    (1_000.0 * fraction).round() / 10.0
}

fn text(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.into())
}

impl Measurement {
    /// The key of the measurement.
    pub fn key(&self) -> MeasurementKey {
        MeasurementKey {
            point: self.row.point().key(),
            backend: self.row.backend_and_variant(),
            stage: self.row.stage,
            clock: self.row.clock,
        }
    }

    /// Its samples in nanoseconds, in the order of the frames.
    pub fn times(&self) -> impl Iterator<Item = u64> {
        self.samples.iter().map(|sample| sample.1)
    }

    /// Returns whether it was measured and is valid.
    pub fn is_ok(&self) -> bool {
        self.row.status == Status::Ok && self.row.median_ns.is_some()
    }

    /// The machine of the measurement. A mark behind the name in the column `adapter` tells that it is emulated.
    pub fn machine(&self) -> Machine {
        let row = &self.row;
        let label = row.adapter.as_deref().unwrap_or_default();
        let unmarked = label.strip_suffix(EMULATED);
        Machine {
            os: row.os.clone().unwrap_or_default(),
            cpu: row.cpu.clone().unwrap_or_default(),
            adapter: unmarked.unwrap_or(label).trim_end().into(),
            is_emulated: unmarked.is_some(),
            driver: row.driver.clone().unwrap_or_default(),
        }
    }
}

impl LimitsRow {
    /// Limits of a machine just before a scene: a row per memory and number of threads.
    pub fn all(
        environment: &Environment,
        scene: &BuiltScene,
        isa: Isa,
        limits: &MachineLimits,
    ) -> Vec<Self> {
        let run = Self {
            run_id: environment.run_id.clone(),
            scene: scene.name.clone(),
            ..Self::default()
        };
        let mut rows = Vec::new();
        for host in &limits.hosts {
            rows.push(Self {
                isa: isa.name().into(),
                threads: host.threads,
                lanes: host.lanes,
                bytes: Host::BYTES,
                write: host.bandwidth.write as u64,
                stream: host.bandwidth.stream as u64,
                read: host.bandwidth.read as u64,
                fma: host.fma as u64,
                ..run.clone()
            });
        }
        let Some(DeviceLimits { memory, upload }) = limits.device else {
            return rows;
        };
        rows.push(Self {
            memory: LimitedMemory::Device,
            bytes: memory.bytes,
            write: memory.write,
            read: memory.read,
            copy: memory.copy,
            ..run.clone()
        });
        let by_one = Self {
            memory: LimitedMemory::Upload,
            threads: 1,
            bytes: upload.bytes,
            write: upload.write_by_one,
            copy: upload.copy,
            ..run
        };
        rows.push(by_one.clone());
        if upload.threads > 1 {
            rows.push(Self {
                threads: upload.threads,
                write: upload.write_by_all,
                ..by_one
            });
        }
        rows
    }
}
