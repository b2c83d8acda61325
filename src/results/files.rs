//! `summary.csv` and `samples.csv`: rows as soon as a backend is done, so that an interrupted run keeps what it
//! measured. Integer nanoseconds; an empty field means absent.

use super::resume::mend;
use crate::backend::{Clock, Keep, Stage};
use crate::harness::environment::Environment;
use crate::harness::fidelity;
use crate::harness::limits::Host;
use crate::harness::run::{Outcome, StageTimes};
use crate::scene::{BuiltScene, Clips, Economy};
use crate::simd::Isa;
use crate::vertex::{Encoding, Normals, VertexFormat};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Version of the columns.
pub const SCHEMA: u32 = 1;

/// A row of `summary.csv`: one stage of one backend by one clock. Field names are the columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryRow {
    /// [`SCHEMA`].
    #[serde(default)]
    pub schema: u32,
    /// Same for all rows of a run.
    pub run_id: String,
    /// When the run began, RFC 3339.
    #[serde(default)]
    pub utc: String,
    /// Commit that the binary was built from.
    pub git_rev: Option<String>,
    /// Whether files differed from it.
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
    /// The adapter's name; those emulated on the CPU say so.
    pub adapter: Option<String>,
    /// Its driver, with version.
    pub driver: Option<String>,
    /// Name of the scene, or of the model in its place.
    pub scene: String,
    /// 16 hexadecimal digits; rows compare only where it is the same.
    pub scene_hash: String,
    /// Instances of the crowd.
    pub instances: usize,
    /// Joints posed in a frame, over all instances.
    #[serde(default)]
    pub joints: u64,
    /// Vertices skinned in a frame, over all instances.
    #[serde(default)]
    pub vertices: u64,
    /// Most influences of a vertex.
    #[serde(default)]
    pub influences: u32,
    /// `p`, `pn` or `pnt`: positions, normals, tangents.
    #[serde(default)]
    pub attributes: String,
    /// What differs from the defaults; empty if nothing does.
    pub options: Option<String>,
    /// How many times a frame drew the crowd.
    pub passes: u32,
    /// Instances drawn, where not all are.
    pub visible: Option<u64>,
    /// Name as in `skinbench list`.
    pub backend: String,
    /// Part of the name after the colon.
    pub variant: Option<String>,
    /// Which part of the frame; `frame` is the whole.
    pub stage: String,
    /// `wall`, `thread_sum` or `gpu`.
    pub clock: String,
    /// `ok`, `skipped`, `parity_failed`, `too_large` or `error`.
    pub status: String,
    /// Why it is not `ok`.
    pub error: Option<String>,
    /// Samples behind the figures.
    pub frames: Option<usize>,
    /// Frames that the clock gave no positive time for.
    pub dropped: Option<u32>,
    /// Whether the spread is more than 5 % of the median.
    pub noisy: Option<bool>,
    /// Median.
    pub median_ns: Option<u64>,
    /// Median absolute deviation, unscaled.
    pub mad_ns: Option<u64>,
    /// Smallest sample.
    pub min_ns: Option<u64>,
    /// 95th percentile.
    pub p95_ns: Option<u64>,
    /// Largest sample.
    pub max_ns: Option<u64>,
    /// Bytes that the stage must move.
    pub bytes: Option<u64>,
    /// Bandwidth of the machine, bytes a second.
    pub limit: Option<u64>,
    /// Bandwidth reached, in percent of `limit`.
    pub pct_of_limit: Option<f64>,
    /// Largest position error over the bounding box's diagonal.
    pub parity_max_rel: Option<f64>,
    /// Largest that passes.
    pub parity_tol: Option<f64>,
    /// Error of a compressed clip.
    pub clip_error: Option<f64>,
}

/// A row of `samples.csv`: one measured time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    pub stage: String,
    /// As in [`SummaryRow`].
    pub clock: String,
    /// Number of the frame, the same sequence for every backend.
    pub frame: u32,
    /// Nanoseconds.
    pub ns: u64,
}

/// A row of `limits.csv`: what so many threads of the processor could do just before a scene.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitsRow {
    /// As in [`SummaryRow`].
    pub run_id: String,
    /// As in [`SummaryRow`].
    pub scene: String,
    /// Instruction set.
    pub isa: String,
    /// Threads that it was measured on.
    pub threads: usize,
    /// Lanes of a vector.
    pub lanes: usize,
    /// Bytes of the buffer that was written and read.
    pub bytes: u64,
    /// Bytes written a second by plain stores.
    pub write: u64,
    /// Bytes written a second by streaming stores.
    pub stream: u64,
    /// Bytes read a second.
    pub read: u64,
    /// Fused multiplications and additions a second, counting lanes.
    pub fma: u64,
}

/// The result files of a run.
pub struct Results {
    folder: PathBuf,
    summary: csv::Writer<File>,
    samples: csv::Writer<File>,
    /// Keeps others from adding to the same files.
    _lock: Option<Lock>,
}

/// A locked file that goes when it is no longer needed.
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // One that stays behind locks nothing.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A result folder that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The folder holds results already.
    #[error("{} exists already; name a folder without results", .0.display())]
    Exists(PathBuf),
    /// Another process adds to the folder.
    #[error("{}: another skinbench writes there; give each its own folder", .0.display())]
    Busy(PathBuf),
    /// The system refuses.
    #[error("{}: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
}

impl Results {
    /// Makes the folder and both files in it; never writes over results.
    ///
    /// # Errors
    /// Results are there already, or the folder or a file cannot be made.
    pub fn create(folder: &Path) -> Result<Self, ResultsError> {
        std::fs::create_dir_all(folder).map_err(|error| ResultsError::Io(folder.into(), error))?;
        let open = |name| {
            let path = folder.join(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => Ok(csv::Writer::from_writer(file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(ResultsError::Exists(path)),
                Err(error) => Err(ResultsError::Io(path, error)),
            }
        };
        let (summary, samples) = (open("summary.csv")?, open("samples.csv")?);
        Ok(Self { folder: folder.into(), summary, samples, _lock: None })
    }

    /// Adds to the files of a folder, which are made if they are not there. What an earlier process left unfinished is
    /// taken out of them first.
    ///
    /// # Errors
    /// The folder or a file cannot be made or written, or another process has it open.
    pub fn append(folder: &Path) -> Result<Self, ResultsError> {
        let io = |error| ResultsError::Io(folder.into(), error);
        std::fs::create_dir_all(folder).map_err(io)?;
        // A file beside the results, because those are replaced while they are mended.
        let path = folder.join(".lock");
        let file = File::create(&path).map_err(io)?;
        file.try_lock().map_err(|_| ResultsError::Busy(folder.into()))?;
        let lock = Lock { path, _file: file };
        mend(folder).map_err(io)?;
        let open = |name| {
            let file = OpenOptions::new().create(true).append(true).open(folder.join(name))?;
            let fresh = file.metadata()?.len() == 0;
            Ok(csv::WriterBuilder::new().has_headers(fresh).from_writer(file))
        };
        let (summary, samples) = (open("summary.csv").map_err(io)?, open("samples.csv").map_err(io)?);
        Ok(Self { folder: folder.into(), summary, samples, _lock: Some(lock) })
    }

    /// Where the summary is.
    pub fn summary_path(&self) -> PathBuf {
        self.folder.join("summary.csv")
    }

    /// Writes `limits.csv`, a row for each number of threads; the file is made with its first row.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_limits(
        &self,
        environment: &Environment,
        scene: &BuiltScene,
        isa: Isa,
        hosts: &[Host],
    ) -> io::Result<()> {
        let file = OpenOptions::new().create(true).append(true).open(self.folder.join("limits.csv"))?;
        let fresh = file.metadata()?.len() == 0;
        let mut limits = csv::WriterBuilder::new().has_headers(fresh).from_writer(file);
        for Host { threads, lanes, bandwidth, fma } in hosts.iter().copied() {
            let [write, stream, read, fma] =
                [bandwidth.write, bandwidth.stream, bandwidth.read, fma].map(|rate| rate as u64);
            limits.serialize(LimitsRow {
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
            })?;
        }
        limits.flush()
    }

    /// Writes a backend's rows, samples first, and flushes them.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn write(&mut self, environment: &Environment, scene: &BuiltScene, outcome: &Outcome) -> io::Result<()> {
        for stage in &outcome.stages {
            for &(frame, ns) in &stage.samples {
                self.samples.serialize(SampleRow {
                    run_id: environment.run_id.clone(),
                    scene: scene.name.clone(),
                    backend: outcome.backend.into(),
                    variant: text(outcome.variant),
                    stage: stage.stage.name().into(),
                    clock: stage.clock.name().into(),
                    frame,
                    ns,
                })?;
            }
        }
        self.samples.flush()?;
        if outcome.stages.is_empty() {
            self.summary.serialize(row(environment, scene, outcome, None))?;
        }
        for stage in &outcome.stages {
            self.summary.serialize(row(environment, scene, outcome, Some(stage)))?;
        }
        self.summary.flush()
    }
}

fn text(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.into())
}

fn row(environment: &Environment, scene: &BuiltScene, outcome: &Outcome, times: Option<&StageTimes>) -> SummaryRow {
    let summary = times.and_then(StageTimes::summary);
    let adapter = environment.adapter.as_ref();
    let crowd = &scene.crowd;
    SummaryRow {
        schema: SCHEMA,
        run_id: environment.run_id.clone(),
        utc: environment.utc.clone(),
        git_rev: environment.git_rev.map(Into::into),
        dirty: environment.dirty,
        rustc: text(environment.rustc),
        os: text(&environment.os),
        cpu: text(&environment.cpu),
        threads: environment.threads,
        adapter: adapter.map(|a| a.label()),
        driver: adapter.and_then(|a| text(&a.driver)),
        scene: scene.name.clone(),
        scene_hash: format!("{:016x}", scene.hash),
        instances: crowd.instance_count(),
        joints: crowd.joint_count(),
        vertices: crowd.vertex_count(),
        influences: crowd.groups().iter().map(|g| g.model.mesh().max_influences()).max().unwrap_or(0),
        attributes: crowd.format().attributes.name().into(),
        options: options(scene, outcome.keep),
        passes: outcome.passes,
        visible: outcome.visible(),
        backend: outcome.backend.into(),
        variant: text(outcome.variant),
        stage: times.map_or(Stage::Frame, |t| t.stage).name().into(),
        clock: times.map_or(Clock::Wall, |t| t.clock).name().into(),
        status: outcome.status.name().into(),
        error: outcome.problem.clone(),
        frames: times.map(|t| t.samples.len()),
        dropped: times.map(|t| t.dropped),
        noisy: summary.map(|s| s.is_noisy()),
        median_ns: summary.map(|s| s.median),
        mad_ns: summary.map(|s| s.mad),
        min_ns: summary.map(|s| s.min),
        p95_ns: summary.map(|s| s.p95),
        max_ns: summary.map(|s| s.max),
        bytes: times.and_then(|t| t.floor).map(|f| f.bytes),
        limit: times.and_then(|t| t.floor).map(|f| f.limit),
        pct_of_limit: times.and_then(StageTimes::percent_of_limit).map(|p| (10.0 * p).round() / 10.0),
        parity_max_rel: outcome.parity.as_ref().map(|p| p.max_rel),
        parity_tol: outcome.parity.as_ref().map(|p| p.tolerance.position),
        clip_error: fidelity::of(scene, outcome.parity.as_ref()),
    }
}

/// What differs from the defaults, one after the other.
pub fn options(scene: &BuiltScene, keep: Keep) -> Option<String> {
    let VertexFormat { normals, encoding, .. } = scene.crowd.format();
    let options = [
        (normals != Normals::Unit).then(|| format!("normals={}", normals.name())),
        (encoding != Encoding::F32).then(|| format!("output={}", encoding.name())),
        (scene.clips == Clips::Compact).then(|| "clips=compact".into()),
        scene.smooth.then(|| "interpolation=smooth".into()),
        match scene.economy {
            Economy::Plain => None,
            Economy::PhaseBuckets(buckets) => Some(format!("phase_buckets={buckets}")),
            Economy::UpdateRate([near, far]) => Some(format!("update_rate={near}/{far}")),
        },
        match keep {
            Keep::Frame => None,
            Keep::Ring => Some("output=ring".into()),
            Keep::TwoFrames => Some("motion".into()),
        },
    ];
    text(&options.into_iter().flatten().collect::<Vec<String>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::run::Status;
    use crate::scene::{Overrides, Scene};

    fn outcome(stages: Vec<StageTimes>) -> Outcome {
        Outcome {
            backend: "cpu-scalar",
            variant: "",
            passes: 0,
            keep: crate::backend::Keep::Frame,
            status: Status::Ok,
            problem: None,
            parity: None,
            device: String::new(),
            stages,
        }
    }

    #[test]
    fn the_columns_are_those_of_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::collect(None);
        let few = Overrides { instances: Some(3), ..Overrides::default() };
        let scene = Scene::load("smoke").unwrap().with(few).build(1 << 30).unwrap();
        let mut results = Results::create(folder.path()).unwrap();
        let times = StageTimes {
            stage: Stage::Skin,
            clock: Clock::Wall,
            samples: vec![(0, 5), (1, 7), (2, 6)],
            dropped: 1,
            floor: None,
        };
        results.write(&environment, &scene, &outcome(vec![times])).unwrap();
        results.write(&environment, &scene, &outcome(vec![])).unwrap();
        let summary = std::fs::read_to_string(results.summary_path()).unwrap();
        let samples = std::fs::read_to_string(folder.path().join("samples.csv")).unwrap();
        let header = "schema,run_id,utc,git_rev,dirty,rustc,os,cpu,threads,adapter,driver,scene,scene_hash,instances,\
            joints,vertices,influences,attributes,options,passes,visible,backend,variant,stage,clock,status,error,\
            frames,dropped,noisy,median_ns,mad_ns,min_ns,p95_ns,max_ns,bytes,limit,pct_of_limit,parity_max_rel,\
            parity_tol,clip_error";
        assert_eq!(summary.lines().next(), Some(header));
        assert_eq!(samples.lines().next(), Some("run_id,scene,backend,variant,stage,clock,frame,ns"));
        let rows: Vec<SummaryRow> =
            csv::Reader::from_reader(summary.as_bytes()).deserialize().collect::<Result<_, _>>().unwrap();
        assert_eq!((rows[0].median_ns, rows[0].dropped, rows[0].stage.as_str()), (Some(6), Some(1), "skin"));
        assert_eq!((rows[1].median_ns, rows[1].frames, rows[1].stage.as_str()), (None, None, "frame"));
        assert_eq!(samples.lines().count(), 4);
    }

    #[test]
    fn results_are_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        Results::create(folder.path()).unwrap();
        assert!(matches!(Results::create(folder.path()), Err(ResultsError::Exists(_))));
    }
}
