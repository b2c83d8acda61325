//! A peer as a backend: the harness verifies and measures it like those of ours.

use super::companion;
use super::manifest::Manifest;
use super::process::{Process, failed, refused};
use super::protocol::{Loaded, PROTOCOL, PeerAbilities, Request, Times, Written};
use super::times;
use crate::asset::regular_file;
use crate::backend::{
    Abilities, Backend, Context, FrameData, Joints, LaterPasses, Prepared, SelfTimed, Skinned,
    Ticket,
};
use crate::crowd::{Crowd, Group};
use crate::frame::{
    Ability, Approximation, Bytes, Footprint, FrameInput, Job, Lack, OutputBuffers, Result,
    StageTime, StageTimer,
};
use crate::model::RotationBlend;
use crate::registry::{BackendEntry, Constructor};
use crate::wording::{self, one_line};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Largest error that a peer may state, and most bytes for a purpose.
const MOST_STATED: f64 = 0.01;
const MOST_BYTES: u64 = 1 << 48;
/// Seconds that an answer may take, unless the manifest says.
const TIMEOUT: u64 = 60;
/// Requests for the same frames before a peer's times are refused: other programs may take its processor between the
/// request and the frames.
const ATTEMPTS: usize = 3;
/// Most characters of the description of a device.
const MOST_DEVICE: usize = 80;
/// What crowds and jobs ask that peers are not given, besides morph targets.
const LACKS: [Ability; 10] = [
    Ability::PackedOutput,
    Ability::RingOutput,
    Ability::Motion,
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

/// Builds a peer, if need be, and makes backends of it, which live as long as the program. Those of a peer that cannot be
/// built are skipped with the reason.
pub fn entries(mut manifest: Manifest) -> Vec<&'static BackendEntry> {
    manifest.build();
    let manifest: &'static Manifest = Box::leak(Box::new(manifest));
    let mut entries = Vec::new();
    for name in &manifest.backends {
        let create = move |context: &Context| -> Box<dyn Backend> {
            let threads = if *name == manifest.name {
                1
            } else {
                context.threads.count()
            };
            Box::new(Peer { manifest, threads })
        };
        let constructor = Constructor::Function(Box::leak(Box::new(create)));
        let entry = BackendEntry {
            owner: &manifest.owner,
            ..constructor.named(name, &manifest.summary)
        };
        entries.push(&*Box::leak(Box::new(entry)));
    }
    entries
}

impl Backend for Peer {
    fn abilities(&self) -> Abilities {
        let reason = "is given plain crowds only";
        let mut lacks = LACKS.map(|ability| Lack { ability, reason }).to_vec();
        lacks.push(Lack {
            ability: Ability::MorphTargets,
            reason: "is given no morph targets",
        });
        Abilities {
            joints: Joints::Host,
            later_passes: LaterPasses::NotDrawn,
            lacks,
        }
    }

    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        if let Some(missing) = &self.manifest.missing {
            return Err(refused(missing));
        }
        self.abilities().check(crowd, job)?;
        companion::check(crowd)?;
        Ok(Footprint::default())
    }

    fn prepare(&self, crowd: &Crowd, _: &Job) -> Result<Box<dyn Prepared>> {
        let manifest = self.manifest;
        let folder = TempDir::new().map_err(failed)?;
        let messages = folder.path().join("messages");
        let timeout = Duration::from_secs(manifest.timeout_s.unwrap_or(TIMEOUT));
        let shell = manifest.shell(&manifest.start);
        let mut process = Process::start(shell, messages, timeout).map_err(failed)?;
        let able: PeerAbilities = process.ask(&Request::Hello { protocol: PROTOCOL })?;
        let outputs = able.outputs.len();
        if able.protocol != PROTOCOL || outputs == 0 {
            return Err(failed(format_args!(
                "speaks protocol {} and has {outputs} outputs; expected protocol {PROTOCOL}, and one or more",
                able.protocol
            )));
        }
        let groups = crowd.groups();
        let count = groups.len();
        if count > 1 && !able.groups {
            return Err(refused(format_args!(
                "takes crowds of one model; this one has {count} models or groups"
            )));
        }
        let mut vertices = None;
        if able.outputs.contains(&FrameData::Vertices) {
            let attributes: Vec<&str> = able.attributes.iter().map(|one| one.name()).collect();
            let normals: Vec<&str> = able.normals.iter().map(|one| one.name()).collect();
            for group in groups {
                require("attributes", &attributes, group.format.attributes.name())?;
                require("normals", &normals, group.format.normals.name())?;
            }
            vertices = Some(output_bytes(FrameData::Vertices, groups));
        }
        let mut running = Running {
            process,
            able,
            vertices,
            threads: self.threads,
            is_device: manifest.device,
            folder,
            has_written: false,
            devices: Vec::new(),
            error: None,
            footprint: Footprint::default(),
        };
        for group in groups {
            let folder = running.folder.path();
            let request = companion::write(crowd, group, folder, self.threads)?;
            let loaded = running.process.ask(&request)?;
            running.add(loaded)?;
        }
        Ok(Box::new(running))
    }
}

/// Checks that a peer makes what the crowd's format asks.
///
/// # Errors
/// [`refused`] with what it can make.
fn require(option: &str, able: &[&str], asked: &str) -> Result<()> {
    if able.contains(&asked) {
        return Ok(());
    }
    let able = wording::list(able);
    Err(refused(format_args!("needs --{option} {able}")))
}

/// Bytes of an output of one instance of a group.
fn instance_bytes(output: FrameData, group: &Group) -> u64 {
    (output.numbers(group) * size_of::<f32>()) as u64
}

/// Bytes of an output of all instances of some groups.
fn output_bytes(output: FrameData, groups: &[Group]) -> u64 {
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
    /// Bytes of a frame's vertices, if it makes any.
    vertices: Option<u64>,
    threads: usize,
    is_device: bool,
    folder: TempDir,
    /// `true` if the folder has the outputs of the last frame.
    has_written: bool,
    /// What it states of its devices, errors and memory, of all groups together.
    devices: Vec<String>,
    error: Option<Approximation>,
    footprint: Footprint,
}

impl Running {
    /// Adds what the peer states of one group.
    ///
    /// # Errors
    /// [`failed`] if an error or memory is out of bounds.
    fn add(&mut self, loaded: Loaded) -> Result<()> {
        if !self.devices.contains(&loaded.device) {
            self.devices.push(loaded.device);
        }
        if let Some(error) = loaded.error {
            let largest = self.error.get_or_insert(error);
            for (largest, error) in [
                (&mut largest.pose, error.pose),
                (&mut largest.position, error.position),
                (&mut largest.normal, error.normal),
            ] {
                if !(0.0..=MOST_STATED).contains(&error) {
                    return Err(failed(format_args!(
                        "states an error beyond 0 to {MOST_STATED}"
                    )));
                }
                *largest = largest.max(error);
            }
        }
        for (purpose, bytes) in loaded.memory {
            if bytes > MOST_BYTES {
                return Err(failed(format_args!(
                    "states memory of more than {MOST_BYTES} bytes"
                )));
            }
            self.footprint.host += Bytes::of(purpose, bytes);
        }
        Ok(())
    }

    fn file(&self, output: FrameData) -> PathBuf {
        self.folder.path().join(<&str>::from(output))
    }

    /// Lets the peer compute the frame of a tick, or take the last one that it measured, and write its outputs.
    fn write(&mut self, tick: Option<u32>) -> Result<()> {
        let mut outputs = BTreeMap::new();
        for &output in &self.able.outputs {
            let file = self.file(output);
            // No file of an earlier frame is read for this one. The first frame has none.
            let _ = fs::remove_file(&file);
            outputs.insert(output, file);
        }
        let Written {} = self.process.ask(&Request::Write { tick, outputs })?;
        self.has_written = true;
        Ok(())
    }
}

impl Prepared for Running {
    fn device(&self) -> String {
        one_line(&self.devices.join("; "), MOST_DEVICE)
    }

    fn footprint(&self, _: &Crowd) -> Footprint {
        self.footprint
    }

    fn approximation(&self) -> Option<Approximation> {
        self.error
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

    fn read(
        &mut self,
        crowd: &Crowd,
        _: &OutputBuffers,
        what: FrameData,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        if !self.has_written {
            self.write(None)?;
        }
        let name: &str = what.into();
        let mut file = regular_file::open(&self.file(what))
            .map_err(|error| failed(format_args!("wrote no {name}: {error}")))?;
        let found = file.metadata().map_err(failed)?.len();
        let expected = output_bytes(what, crowd.groups());
        if found != expected {
            return Err(failed(format_args!(
                "wrote {found} bytes of {name}; expected {expected}"
            )));
        }
        let (before, own) = crowd.groups().split_at(crowd.group_of(instances.start));
        let size = instance_bytes(what, &own[0]);
        let first =
            output_bytes(what, before) + size * u64::from(instances.start - own[0].instances.start);
        let mut bytes = vec![0; size as usize * instances.len()];
        file.seek(SeekFrom::Start(first)).map_err(failed)?;
        file.read_exact(&mut bytes).map_err(failed)?;
        let words = bytes.as_chunks::<4>().0;
        out.extend(words.iter().map(|word| f32::from_le_bytes(*word)));
        Ok(())
    }
}

impl SelfTimed for Running {
    fn rotation_blend(&self) -> RotationBlend {
        self.able.rotations
    }

    fn has(&self, what: FrameData) -> bool {
        self.able.outputs.contains(&what)
    }

    fn measure(&mut self, frames: Range<u32>) -> Result<Vec<Vec<StageTime>>> {
        self.has_written = false;
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
                self.threads,
                self.is_device,
            ) {
                Ok(spans) => return Ok(spans),
                Err(problem) => refusal = problem,
            }
        }
        Err(failed(refusal))
    }
}
