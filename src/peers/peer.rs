//! A peer as a backend: the harness verifies and measures it like those of ours.

use super::companion;
use super::manifest::Manifest;
use super::process::Process;
use super::protocol::{Loaded, Output, PROTOCOL, PeerAbilities, Request, Times, Written};
use super::times::{self, Worker};
use crate::asset::regular_file;
use crate::backend::{
    Abilities, Backend, Context, Joints, LaterPasses, Prepared, SelfTimed, Skinned, Ticket,
};
use crate::crowd::{Crowd, Group};
use crate::frame::{
    Ability, Approximation, BackendError, Bytes, Footprint, FrameInput, Job, Lack, OutputBuffers,
    Result, StageTime, StageTimer,
};
use crate::model::RotationBlend;
use crate::pose::PoseData;
use crate::registry::{BackendEntry, Constructor};
use crate::wording::one_line;
use indexmap::IndexSet;
use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Largest error that a peer may state, and most bytes for a purpose.
const MOST_STATED: f64 = 0.01;
const MOST_BYTES: u64 = 1 << 48;
/// Requests for the same frames before a peer's times are refused: other programs may take its processor between the
/// request and the frames.
const ATTEMPTS: usize = 3;
/// Most characters of the description of a device.
const MOST_DEVICE: usize = 80;
/// What crowds and jobs ask that peers are not given.
const LACKS: [Ability; 11] = [
    Ability::PackedOutput,
    Ability::RingOutput,
    Ability::Motion,
    Ability::MorphTargets,
    Ability::UpdateRates,
    Ability::Turnover,
    Ability::LayersBeyond(1),
    Ability::Masks,
    Ability::AdditiveLayers,
    Ability::InertialFades,
    Ability::Gameplay,
];

/// A peer before it is started.
struct Peer {
    manifest: &'static Manifest,
    threads: usize,
}

/// Rows for the harness: the peer with one thread, and with all if it can use several. They live as long as the
/// program.
pub fn entries(manifest: Manifest) -> Vec<&'static BackendEntry> {
    let manifest: &'static Manifest = Box::leak(Box::new(manifest));
    let mut entries = vec![entry(manifest, &manifest.name, false)];
    if manifest.threads {
        let name = format!("{}:threads", manifest.name).leak();
        entries.push(entry(manifest, name, true));
    }
    entries
}

/// A row of a peer, with one thread or with all.
fn entry(
    manifest: &'static Manifest,
    name: &'static str,
    uses_all_threads: bool,
) -> &'static BackendEntry {
    let create = Box::leak(Box::new(move |context: &Context| -> Box<dyn Backend> {
        let threads = if uses_all_threads {
            context.threads.count()
        } else {
            1
        };
        Box::new(Peer { manifest, threads })
    }));
    Box::leak(Box::new(BackendEntry {
        owner: &manifest.owner,
        ..Constructor::Host(create).named(name, &manifest.summary)
    }))
}

impl Backend for Peer {
    fn abilities(&self) -> Abilities {
        let lacks = LACKS.map(|ability| Lack {
            ability,
            reason: match ability {
                Ability::MorphTargets => "is given no morph targets",
                _ => "is given plain crowds only",
            },
        });
        Abilities {
            joints: Joints::Host,
            later_passes: LaterPasses::NotDrawn,
            lacks: lacks.into(),
        }
    }

    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        if let Some(missing) = &self.manifest.missing {
            return Err(BackendError::Unavailable(missing.clone()));
        }
        self.abilities().check(crowd, job)?;
        companion::check(crowd)?;
        Ok(Footprint::default())
    }

    fn prepare(&self, crowd: &Crowd, _: &Job) -> Result<Box<dyn Prepared>> {
        companion::check(crowd)?;
        let manifest = self.manifest;
        let mut process = Process::start(
            manifest.prepared(&manifest.start),
            Duration::from_secs(manifest.timeout_s),
        )?;
        let able: PeerAbilities = process.ask(&Request::Hello { protocol: PROTOCOL })?;
        if able.protocol != PROTOCOL || able.outputs.is_empty() {
            return Err(BackendError::Failed(format!(
                "speaks protocol {} and has {} outputs; expected protocol {PROTOCOL}, and one or more",
                able.protocol,
                able.outputs.len()
            )));
        }
        if !able.groups {
            companion::check_single(crowd)?;
        }
        let makes_vertices = able.outputs.contains(&Output::Vertices);
        if makes_vertices {
            for format in crowd.formats() {
                require("attributes", &able.attributes, format.attributes.name())?;
                require("normals", &able.normals, format.normals.name())?;
            }
        }
        let folder = TempDir::new().map_err(|error| BackendError::Failed(error.to_string()))?;
        let mut loaded = Vec::with_capacity(crowd.groups().len());
        for group in crowd.groups() {
            let request = companion::write(crowd, group, folder.path(), self.threads)?;
            let answer: Loaded = process.ask(&request)?;
            check_stated(&answer)?;
            loaded.push(answer);
        }
        let vertices = makes_vertices.then(|| crowd.output_words() * size_of::<f32>() as u64);
        Ok(Box::new(Running {
            process,
            able,
            loaded,
            vertices,
            worker: if manifest.device {
                Worker::Device
            } else {
                Worker::Threads(self.threads)
            },
            folder,
            written: None,
        }))
    }
}

/// Checks that a peer makes what the crowd's format asks.
///
/// # Errors
/// [`BackendError::Unavailable`] with what it can make.
fn require(option: &str, able: &[String], asked: &str) -> Result<()> {
    if able.iter().any(|name| name == asked) {
        return Ok(());
    }
    let able = one_line(&able.join(" or "), MOST_DEVICE);
    Err(BackendError::Unavailable(format!(
        "needs --{option} {able}"
    )))
}

/// Checks that errors and memory which a peer states are within bounds.
///
/// # Errors
/// [`BackendError::Failed`] with the bound.
fn check_stated(loaded: &Loaded) -> Result<()> {
    if let Some(error) = loaded.error {
        for error in [error.pose, error.position, error.normal] {
            if !(0.0..=MOST_STATED).contains(&error) {
                return Err(BackendError::Failed(format!(
                    "states an error beyond 0 to {MOST_STATED}"
                )));
            }
        }
    }
    if loaded.memory.values().any(|bytes| *bytes > MOST_BYTES) {
        return Err(BackendError::Failed(format!(
            "states memory of more than {MOST_BYTES} bytes"
        )));
    }
    Ok(())
}

/// Bytes of an output of one instance of a group.
fn instance_bytes(output: Output, group: &Group) -> u64 {
    let words = match output {
        Output::Local => group.model.skeleton().len() * 10,
        Output::Model => group.model.skeleton().len() * 12,
        Output::Palette => group.model.palette_joints().len() * 12,
        Output::Vertices => group.instance_words(),
    };
    (words * size_of::<f32>()) as u64
}

/// Bytes of an output of all instances of some groups.
fn output_bytes(output: Output, groups: &[Group]) -> u64 {
    let mut bytes = 0;
    for group in groups {
        bytes += instance_bytes(output, group) * group.len() as u64;
    }
    bytes
}

/// A peer with a crowd.
struct Running {
    process: Process,
    able: PeerAbilities,
    /// Its answer for each group.
    loaded: Vec<Loaded>,
    /// Bytes of a frame's vertices, if it makes any.
    vertices: Option<u64>,
    worker: Worker,
    folder: TempDir,
    /// Outputs of the last frame, if it wrote them.
    written: Option<TempDir>,
}

impl Running {
    /// Lets the peer compute the frame of a tick, or takes the last one that it measured, and write its outputs to a
    /// new folder, so that no file of an earlier frame is read for this one. Returns the folder.
    fn write(&mut self, tick: Option<u32>) -> Result<&TempDir> {
        self.written = None;
        let folder = TempDir::new_in(&self.folder)
            .map_err(|error| BackendError::Failed(error.to_string()))?;
        let mut outputs = BTreeMap::new();
        for &output in &self.able.outputs {
            outputs.insert(output, folder.path().join(<&str>::from(output)));
        }
        let Written {} = self.process.ask(&Request::Write { tick, outputs })?;
        Ok(self.written.insert(folder))
    }

    /// Appends the items of some instances of one group from an output of the last frame.
    fn read(
        &mut self,
        crowd: &Crowd,
        output: Output,
        range: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let name: &str = output.into();
        let folder = match &self.written {
            Some(folder) => folder,
            None => self.write(None)?,
        };
        let path = folder.path().join(name);
        let (before, own) = crowd.groups().split_at(crowd.group_of(range.start));
        let size = instance_bytes(output, &own[0]);
        let first =
            output_bytes(output, before) + size * u64::from(range.start - own[0].instances.start);
        let expected = output_bytes(output, crowd.groups());
        let failed = |error: io::Error| BackendError::Failed(format!("wrote no {name}: {error}"));
        let mut file = regular_file::open(&path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?.len();
        if found != expected {
            return Err(BackendError::Failed(format!(
                "wrote {found} bytes of {name}; expected {expected}"
            )));
        }
        let mut bytes = vec![0; size as usize * range.len()];
        file.seek(SeekFrom::Start(first)).map_err(failed)?;
        file.read_exact(&mut bytes).map_err(failed)?;
        let words = bytes.as_chunks::<4>().0;
        out.extend(words.iter().map(|word| f32::from_le_bytes(*word)));
        Ok(())
    }
}

impl Prepared for Running {
    fn device(&self) -> String {
        let devices: IndexSet<&str> = self.loaded.iter().map(|group| &group.device[..]).collect();
        let devices: Vec<&str> = devices.into_iter().collect();
        one_line(&devices.join("; "), MOST_DEVICE)
    }

    fn footprint(&self, _: &Crowd) -> Footprint {
        let stated = self.loaded.iter().flat_map(|group| &group.memory);
        let host = stated
            .map(|(purpose, bytes)| Bytes::of(*purpose, *bytes))
            .sum();
        Footprint {
            host,
            ..Footprint::default()
        }
    }

    fn approximation(&self) -> Option<Approximation> {
        let mut largest: Option<Approximation> = None;
        for error in self.loaded.iter().filter_map(|group| group.error) {
            let so_far = largest.get_or_insert(error);
            so_far.pose = so_far.pose.max(error.pose);
            so_far.position = so_far.position.max(error.position);
            so_far.normal = so_far.normal.max(error.normal);
        }
        largest
    }

    fn self_timed(&mut self) -> Option<&mut dyn SelfTimed> {
        Some(self)
    }

    fn submit(&mut self, frame: &mut FrameInput, _: &mut StageTimer) -> Result<Ticket> {
        self.write(Some(frame.tick))?;
        Ok(Ticket::default())
    }

    fn skinned(&self) -> Skinned {
        Skinned::Host
    }

    fn read_poses(
        &mut self,
        crowd: &Crowd,
        what: PoseData,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        self.read(crowd, output_of(what), instances, out)
    }

    fn read_vertices(
        &mut self,
        crowd: &Crowd,
        _: &OutputBuffers,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        self.read(crowd, Output::Vertices, instances, out)
    }
}

impl SelfTimed for Running {
    fn rotation_blend(&self) -> RotationBlend {
        self.able.rotations
    }

    fn has_poses(&self, what: PoseData) -> bool {
        self.able.outputs.contains(&output_of(what))
    }

    fn has_vertices(&self) -> bool {
        self.vertices.is_some()
    }

    fn measure(&mut self, frames: Range<u32>) -> Result<Vec<Vec<StageTime>>> {
        self.written = None;
        let mut refusal = String::new();
        for _ in 0..ATTEMPTS {
            let start = Instant::now();
            let measured: Times = self.process.ask(&Request::Measure {
                tick: frames.start,
                frames: frames.len(),
            })?;
            match times::spans(
                &measured,
                frames.len(),
                start.elapsed(),
                self.vertices,
                self.worker,
            ) {
                Ok(spans) => return Ok(spans),
                Err(problem) => refusal = problem,
            }
        }
        Err(BackendError::Failed(refusal))
    }
}

fn output_of(what: PoseData) -> Output {
    match what {
        PoseData::Local => Output::Local,
        PoseData::Model => Output::Model,
        PoseData::Palette => Output::Palette,
    }
}
