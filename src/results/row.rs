//! The columns of `summary.csv`, and the row that has them.

use super::options;
use crate::frame::{Clock, Purpose, Stage, StageGroup};
use crate::harness::environment::Environment;
use crate::harness::{Disturbance, Outcome, StageTimes, Status, fidelity};
use crate::scene::BuiltScene;
use crate::wording;
use serde::{Deserialize, Serialize};

/// Version of the columns.
pub const SCHEMA: u32 = 3;

/// A column of `summary.csv`.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it says, in which unit, and when it is empty.
    pub about: &'static str,
}

/// Declares the columns of `summary.csv`, for each its documentation, its name, its type and its value: first those of
/// the point, then the others, whose values follow from an outcome.
macro_rules! columns {
    (
        $(#[$of_point:meta])* struct $point:ident;
        fn point($($given:tt)*) { $($known:tt)* }
        columns { $($(#[doc = $key_about:literal])+ $key:ident: $key_kind:ty = $key_value:expr;)* }

        $(#[$of_row:meta])* struct $row:ident;
        fn row($($parameter:tt)*) at $at:ident { $($fact:tt)* }
        columns {
            $($(#[doc = $about:literal])+ $(#[serde($($serde:tt)*)])?
                $column:ident: $kind:ty = $value:expr;)*
        }
    ) => {
        $(#[$of_point])*
        pub struct $point {
            $($(#[doc = $key_about])+ pub $key: $key_kind,)*
        }

        $(#[$of_row])*
        pub struct $row {
            $($(#[doc = $key_about])+ pub $key: $key_kind,)*
            $($(#[doc = $about])+ $(#[serde($($serde)*)])? pub $column: $kind,)*
            /// Frame numbers and nanoseconds, in the order of the frames: the rows of `samples.csv`. Empty if they are
            /// not known.
            #[serde(skip)]
            pub samples: Vec<(u32, u64)>,
        }

        /// The columns, in their order.
        pub const COLUMNS: &[Column] = &[
            $(Column { name: stringify!($key), about: concat!($($key_about),+) },)*
            $(Column { name: stringify!($column), about: concat!($($about),+) },)*
        ];

        impl $row {
            /// The point at which the row was measured.
            pub fn point(&self) -> $point {
                $point { $($key: self.$key.clone(),)* }
            }
        }

        impl MeasuredScene<'_> {
            /// The point of outcomes with so many passes.
            pub fn point($($given)*) -> $point {
                $($known)*
                $point { $($key: $key_value,)* }
            }

            fn row($($parameter)*) -> $row {
                $($fact)*
                $row {
                    $($key: $at.$key,)*
                    $($column: $value,)*
                    samples: Vec::new(),
                }
            }
        }
    };
}

columns! {
    /// A crowd and the way it was run: the columns that rows must share to be compared.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    struct Point;

    fn point(&self, passes: u32, disturbance: Disturbance) {
        let &Self { environment, scene, .. } = self;
        let crowd = &scene.crowd;
        let meshes = crowd.groups().iter().map(|group| group.model.mesh());
    }

    columns {
        /// Name of the scene, or of the model used as one.
        scene: String = plain(&scene.name);
        /// Vertices of an instance on average, to two digits.
        vertices_each: u64 = vertices_each(crowd.vertex_count(), crowd.instance_count());
        /// Most influences of a vertex.
        influences: u32 = meshes.map(|mesh| mesh.max_influences()).max().unwrap_or(0);
        /// Number of models in groups that mix several; empty without such a group.
        models: Option<u32> = scene.mixed_models;
        /// What a vertex has: p, pn or pnt for positions, normals, tangents.
        attributes: String = crowd.format().attributes.name().into();
        /// Settings that differ from the defaults, separated by spaces; empty if none does.
        options: String = options::of(&scene.settings, disturbance);
        /// Threads of parallel backends.
        threads: usize = environment.threads;
        /// Number of times that a frame drew the crowd.
        passes: u32 = passes;
        /// Instances of the crowd.
        instances: usize = crowd.instance_count();
        /// Hash of the scene, 16 hexadecimal digits; only rows with the same hash are comparable.
        scene_hash: String = format!("{:016x}", scene.hash);
    }

    /// A row of `summary.csv`: one stage of one backend by one clock, measured once. Field names are the columns.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct Row;

    fn row(&self, outcome: &Outcome, times: Option<&StageTimes>) at point {
        let &Self { environment, scene, clip_error } = self;
        let point = self.point(outcome.passes, outcome.disturbance);
        let (backend, variant) = outcome.name.split_once(':').unwrap_or((outcome.name, ""));
        let summary = times.and_then(StageTimes::summary);
        let floor = times.and_then(|times| times.floor);
        let adapter = environment.adapter.as_ref();
        // That of the frame, unless a peer has none.
        let last = outcome.stages.last().map(|last| (last.stage, last.clock));
        let of_frame = times.is_some_and(|times| last == Some((times.stage, times.clock)));
        let resources = outcome.resources.filter(|_| of_frame);
        let stage = times.map_or(Stage::Frame, |times| times.stage);
        let reads = stage.group() == StageGroup::Gameplay;
        let host = |purpose| resources.map(|r| r.memory.host.get(purpose));
        let device = |purpose| resources.map(|r| r.memory.device.get(purpose));
        let device_clock = times.and_then(|times| times.device_clock);
        let processor_clock = outcome.processor_clock.filter(|_| of_frame);
        let levels = scene.levels.as_ref();
        let build = &environment.build;
    }

    columns {
        /// Name of the backend, up to a colon.
        backend: String = backend.into();
        /// Part of the backend's name after the colon; empty without one.
        variant: Option<String> = text(variant);
        /// The stage; frame is the whole frame.
        stage: Stage = stage;
        /// Clock that measured the stage: wall, thread_sum (processor time of all threads), gpu or fenced.
        clock: Clock = times.map_or(Clock::Wall, |times| times.clock);
        /// part for a stage within a frame, whole for whole frames and throughput: parts add up, wholes contain them.
        kind: RowKind = RowKind::of(stage);
        /// Status of the backend.
        status: Status = outcome.status;
        /// Reason why the status is not ok.
        error: Option<String> = outcome.problem.as_deref().and_then(text);
        /// Number of samples; empty without times, as all columns up to pct_of_limit.
        frames: Option<usize> = times.map(|times| times.samples.len());
        /// Number of frames without a positive time, or at another clock of the device than the one that it holds.
        dropped: Option<u32> = times.map(|times| times.dropped);
        /// true if the spread is more than 5 % of the median.
        noisy: Option<bool> = summary.map(|summary| summary.is_noisy());
        /// Median in nanoseconds.
        median_ns: Option<u64> = summary.map(|summary| summary.median);
        /// Median absolute deviation in nanoseconds, unscaled.
        mad_ns: Option<u64> = summary.map(|summary| summary.mad);
        /// Smallest sample in nanoseconds.
        min_ns: Option<u64> = summary.map(|summary| summary.min);
        /// 95th percentile in nanoseconds.
        p95_ns: Option<u64> = summary.map(|summary| summary.p95);
        /// 99th percentile in nanoseconds; empty with fewer than 100 samples.
        p99_ns: Option<u64> = summary.and_then(|summary| summary.p99);
        /// Largest sample in nanoseconds.
        max_ns: Option<u64> = summary.map(|summary| summary.max);
        /// Bytes that the stage must move per frame; empty where they are not known.
        #[serde(alias = "bytes")]
        moved_bytes: Option<u64> = floor.map(|floor| floor.bytes);
        /// Bandwidth of the machine in the same run, in bytes per second.
        #[serde(alias = "limit")]
        limit_bytes_per_s: Option<u64> = floor.map(|floor| floor.limit);
        /// Bandwidth that the stage reached, in percent of limit_bytes_per_s.
        pct_of_limit: Option<f64> = times.and_then(StageTimes::percent_of_limit).map(|pct| percent(pct / 100.0));
        /// Instances drawn; empty if all are.
        visible: Option<u64> = outcome.visible();
        /// Joints posed per frame, over all instances.
        joints: u64 = scene.crowd.joint_count();
        /// Vertices skinned per frame, over all instances.
        vertices: u64 = scene.crowd.vertex_count();
        /// Largest error of a position over the diagonal of the bounding box; empty if nothing was compared.
        parity_max_rel: Option<f64> = outcome.parity.as_ref().and_then(|parity| parity.max_rel);
        /// Largest such error that passes.
        parity_tol: Option<f64> = outcome.parity.as_ref().map(|parity| parity.tolerance.position);
        /// Error of compact clips and of reused poses at the ends of joints, over the skeleton's size; empty without these.
        #[serde(alias = "clip_error")]
        clip_error_rel: Option<f64> = fidelity::of_backend(clip_error, outcome.parity.as_ref());
        /// Bytes of main memory that frames need, without drawing. This column and those down to device_staging_bytes are
        /// filled on the row of the whole frame, or the last one of a peer that has none.
        host_bytes: Option<u64> = resources.map(|r| r.memory.host.resident());
        /// Bytes of device memory that frames need, without drawing.
        device_bytes: Option<u64> = resources.map(|r| r.memory.device.resident());
        /// Bytes copied to the device per frame.
        upload_bytes: Option<u64> = resources.map(|r| r.work.uploaded);
        /// Draw calls per frame, of all passes.
        draws: Option<u64> = resources.map(|r| r.work.draws);
        /// Dispatches per frame.
        dispatches: Option<u64> = resources.map(|r| r.work.dispatches);
        /// Part of host_bytes: vertices and influences.
        #[serde(alias = "host_mesh")]
        host_mesh_bytes: Option<u64> = host(Purpose::Mesh);
        /// Part of host_bytes: clips, skeletons, layers.
        #[serde(alias = "host_clips")]
        host_clips_bytes: Option<u64> = host(Purpose::Clips);
        /// Part of host_bytes: palettes.
        #[serde(alias = "host_palettes")]
        host_palettes_bytes: Option<u64> = host(Purpose::Palettes);
        /// Part of host_bytes: skinned vertices.
        #[serde(alias = "host_output")]
        host_output_bytes: Option<u64> = host(Purpose::Output);
        /// Part of host_bytes: poses, lists of instances and the like.
        #[serde(alias = "host_scratch")]
        host_scratch_bytes: Option<u64> = host(Purpose::Scratch);
        /// Part of device_bytes, as on the host.
        #[serde(alias = "device_mesh")]
        device_mesh_bytes: Option<u64> = device(Purpose::Mesh);
        /// Part of device_bytes, as on the host.
        #[serde(alias = "device_clips")]
        device_clips_bytes: Option<u64> = device(Purpose::Clips);
        /// Part of device_bytes, as on the host.
        #[serde(alias = "device_palettes")]
        device_palettes_bytes: Option<u64> = device(Purpose::Palettes);
        /// Part of device_bytes, as on the host.
        #[serde(alias = "device_output")]
        device_output_bytes: Option<u64> = device(Purpose::Output);
        /// Part of device_bytes, as on the host.
        #[serde(alias = "device_scratch")]
        device_scratch_bytes: Option<u64> = device(Purpose::Scratch);
        /// Bytes of pictures and of data that only drawing reads; not part of device_bytes.
        #[serde(alias = "device_targets")]
        device_targets_bytes: Option<u64> = device(Purpose::Targets);
        /// Bytes of trials and read-backs of vertices; not part of device_bytes.
        #[serde(alias = "device_staging")]
        device_staging_bytes: Option<u64> = device(Purpose::Staging);
        /// Frames after which the processor has what the stages bounds and sockets compute, 0 for the same frame; empty on
        /// other rows.
        delay_frames: Option<u32> = outcome.gameplay_delay.filter(|_| reads);
        /// Errors of the backend, of clips, of reused poses and of levels of detail together, in pixels, on the largest
        /// instance. Filled on the same row as host_bytes.
        error_px: Option<f64> = outcome.parity.as_ref().filter(|_| of_frame).and_then(|parity| parity.max_rel).map(|error| {
            let relative = error + clip_error.unwrap_or(0.0);
            relative * scene.largest_pixels() + levels.map_or(0.0, |levels| levels.error_px)
        });
        /// With levels of detail: largest error of a level's mesh at rest by meshoptimizer's metric, over the diagonal of
        /// the bounding box; empty without levels.
        #[serde(alias = "lod_error")]
        lod_error_rel: Option<f64> = levels.map(|levels| levels.error);
        /// The same in pixels of the scene's picture, at the instance's distance from the camera.
        lod_error_px: Option<f64> = levels.map(|levels| levels.error_px);
        /// Clock of the device in the frames, in percent of its best in the run: the median. Filled, as the next two, where
        /// the device works in the stage and its clock was measured.
        device_clock_pct: Option<f64> = device_clock.map(|clock| percent(clock.median));
        /// The same in the frame with the lowest clock.
        device_clock_min_pct: Option<f64> = device_clock.map(|clock| percent(clock.least));
        /// true if the clock was too low in too many frames for their times to be compared.
        unsteady: Option<bool> = device_clock.map(|clock| clock.is_unsteady);
        /// Clock of the device in MHz, as its driver tells it at the ends of blocks of frames: the median. Filled, as the
        /// next two, on the row of the whole frame.
        device_mhz: Option<u32> = outcome.device_mhz.filter(|_| of_frame);
        /// Clock of the processor just before blocks of frames, in percent of its best in the run: the median.
        processor_clock_pct: Option<f64> = processor_clock.map(|clock| percent(clock.median));
        /// The same before the block with the lowest clock.
        processor_clock_min_pct: Option<f64> = processor_clock.map(|clock| percent(clock.least));
        /// Instruction set or adapter, threads, and the kernel that a trial chose with the times of all kernels: a sentence
        /// for readers. Filled on the same row as host_bytes.
        #[serde(alias = "device")]
        ran_on: Option<String> = text(&outcome.device).filter(|_| of_frame);
        /// Whose code was measured: the name of a project; empty in results from before the column, which are ours.
        owner: Option<String> = text(outcome.owner);
        /// Version of these columns.
        schema: u32 = SCHEMA;
        /// Identifier that all rows of a run share.
        run_id: String = environment.run_id.clone();
        /// Start of the run, RFC 3339.
        utc: String = environment.utc.clone();
        /// Commit that the program was built from.
        git_rev: Option<String> = build.git_rev.clone();
        /// true if tracked files differed from that commit.
        dirty: Option<bool> = build.dirty;
        /// Version of the compiler.
        rustc: Option<String> = text(&build.rustc);
        /// Operating system, with version.
        os: Option<String> = text(&environment.os);
        /// Name of the processor.
        cpu: Option<String> = text(&environment.cpu);
        /// Name of the adapter, marked if it is emulated on the processor; empty without one.
        adapter: Option<String> = adapter.and_then(|adapter| text(&adapter.label()));
        /// Driver of the adapter, with version.
        driver: Option<String> = adapter.and_then(|adapter| text(&adapter.driver));
    }
}

/// Whether a time is a part of a frame. Its serialised form is its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowKind {
    /// A stage within a frame.
    #[default]
    Part,
    /// A whole frame.
    Whole,
}

impl RowKind {
    /// That of a stage.
    pub fn of(stage: Stage) -> Self {
        if stage.group() == StageGroup::Whole {
            Self::Whole
        } else {
            Self::Part
        }
    }
}

impl Row {
    /// The backend's name as in `skinbench list`.
    pub fn name(&self) -> String {
        listed_name(&self.backend, self.variant.as_deref())
    }

    /// Its samples in nanoseconds, in the order of the frames.
    pub fn times(&self) -> impl Iterator<Item = u64> {
        self.samples.iter().map(|sample| sample.1)
    }

    /// Returns whether it was measured and is valid.
    pub fn is_ok(&self) -> bool {
        self.status == Status::Ok && self.median_ns.is_some()
    }

    /// Returns whether the device's clock moved while it was measured, so that its times say nothing.
    pub fn is_unsteady(&self) -> bool {
        self.unsteady == Some(true)
    }

    /// Fills the columns that files of an older schema lack and that follow from others.
    pub(super) fn complete(&mut self) {
        self.kind = RowKind::of(self.stage);
        if self.vertices_each == 0 {
            self.vertices_each = vertices_each(self.vertices, self.instances);
        }
    }
}

/// A backend's name as in `skinbench list`.
pub(super) fn listed_name(backend: &str, variant: Option<&str>) -> String {
    match variant {
        Some(variant) => format!("{backend}:{variant}"),
        None => backend.into(),
    }
}

fn vertices_each(vertices: u64, instances: usize) -> u64 {
    wording::rounded(vertices as f64 / instances.max(1) as f64, 2)
}

/// A fraction in percent, to one decimal.
fn percent(fraction: f64) -> f64 {
    (1_000.0 * fraction).round() / 10.0
}

fn text(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| plain(value))
}

/// A text of a file, a driver or a program of others, as results have it: without control characters, and with an
/// apostrophe before what a spreadsheet would take for a formula.
pub(super) fn plain(text: &str) -> String {
    let mut plain = text.replace(['\n', '\r', '\t'], " ");
    plain = plain.replace(char::is_control, "\u{fffd}");
    if plain.starts_with(['=', '+', '-', '@']) {
        plain.insert(0, '\'');
    }
    plain
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

    /// The rows of a backend: one per stage and clock, or a single one without times.
    pub fn rows(&self, outcome: &Outcome) -> Vec<Row> {
        let mut rows = Vec::new();
        for times in &outcome.stages {
            rows.push(Row {
                samples: times.samples.clone(),
                ..self.row(outcome, Some(times))
            });
        }
        if rows.is_empty() {
            rows.push(self.row(outcome, None));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_are_no_formulas_and_control_nothing() {
        for (given, expected) in [
            ("walkers", "walkers"),
            ("=cmd()", "'=cmd()"),
            ("@a\u{1b}[31m", "'@a\u{fffd}[31m"),
            ("two\nlines", "two lines"),
        ] {
            assert_eq!(plain(given), expected);
        }
    }
}
