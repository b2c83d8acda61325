//! Recordings of one backend for one crowd: its device, its frames, and the commands that read vertices back.

use crate::backend::{Context, FrameData, Prepared, Skinned};
use crate::crowd::Crowd;
use crate::frame::{BackendError, FrameInput, Job, OutputBuffers, Result, Retention, StageTimer};
use crate::frustum::Frustum;
use crate::gpu::device::tape::{Entry, Library};
use crate::gpu::draw::present::Presenter;
use crate::gpu::passes::vertices::BufferForm;
use crate::gpu::{Chunk, Drawable, Gpu};
use crate::harness::parity::{Parity, Tolerance};
use crate::reference::{Blending, shown};
use crate::registry::BackendEntry;
use crate::scene::BuiltScene;
use serde_json::{Value, json};
use std::sync::Arc;

/// Most vertices that are read back at once.
const READ_AT_ONCE: usize = 1 << 20;
/// Label of the buffers to which the host uploads palettes.
const PALETTES: &str = "palettes";

/// A backend on a tape.
pub(super) struct Recorded {
    /// The backend in the page's form.
    pub json: Value,
    /// The rule by which its vertices follow several joints.
    pub blending: Blending,
    /// The comparison that the page is going to make, as far as it is known: its tolerance.
    pub parity: Parity,
}

/// Frames to record of a crowd.
#[derive(Clone, Copy)]
pub(super) struct Frames<'a> {
    /// The crowd and its view.
    pub scene: &'a BuiltScene,
    /// Ticks of the recorded frames.
    pub ticks: &'a [u32],
    /// For each of the crowd's groups the instances whose poses and vertices the page holds.
    pub sampled: &'a [Vec<u32>],
}

/// A backend on a device that records.
struct RecordingSession<'a> {
    crowd: &'a Crowd,
    gpu: Arc<Gpu>,
    output: OutputBuffers,
    presenter: Presenter,
    prepared: Box<dyn Prepared>,
}

impl<'a> RecordingSession<'a> {
    /// Prepares a backend whose frames draw `passes` times.
    fn new(entry: &BackendEntry, scene: &'a BuiltScene, passes: u32) -> Result<Self> {
        let gpu = Gpu::recording();
        let context = Context {
            gpu: Some(Arc::clone(&gpu)),
            ..Context::default()
        };
        let crowd = &scene.crowd;
        if crowd.changes() {
            let reason = "a page plays the same frame in any order; needs a scene without turnover and frozen";
            return Err(BackendError::Unavailable(reason.into()));
        }
        let job = Job {
            frustum: Frustum::new(scene.view_projection()),
            ..Job::default()
        };
        let backend = entry.create(&context)?;
        let mut output = OutputBuffers::default();
        if backend.footprint(crowd, &job)?.device_output {
            gpu.allocate_output(crowd, Retention::Frame, &mut output)?;
        }
        let presenter = Presenter::new(Arc::clone(&gpu), crowd, scene.view(), passes)?;
        let prepared = backend.prepare(crowd, &job)?;
        Ok(Self {
            crowd,
            gpu,
            output,
            presenter,
            prepared,
        })
    }

    /// Records a frame.
    fn frame(&mut self, tick: u32) -> Result<FrameCommands> {
        let Self {
            crowd,
            output,
            presenter,
            prepared,
            ..
        } = self;
        let mut timer = StageTimer::default();
        let mut frame = FrameInput {
            crowd,
            tick,
            output,
        };
        let ticket = prepared.submit(&mut frame, &mut timer)?;
        ticket
            .draw(presenter, &prepared.skinned(), &frame, &mut timer)?
            .finish()?;
        let mut recorded = FrameCommands::default();
        for command in self.gpu.take_commands() {
            if command.bytes.is_some() {
                recorded.writes.push(command);
            } else {
                recorded.others.push(command);
            }
        }
        Ok(recorded)
    }

    /// Returns whether a write is of palettes.
    fn writes_palettes(&self, write: &Entry) -> bool {
        let tape = self.gpu.tape();
        let Some(tape) = tape.as_ref() else {
            return false;
        };
        let index = write.value["buffer"].as_u64();
        let buffer = index.and_then(|index| tape.objects.get(index as usize));
        buffer.is_some_and(|buffer| buffer.label() == PALETTES)
    }

    fn objects(&self, library: &mut Library) -> Vec<Value> {
        self.gpu
            .tape()
            .iter()
            .flat_map(|tape| &tape.objects)
            .map(|object| object.json(library))
            .collect()
    }

    fn skins_in_draw(&self) -> bool {
        matches!(
            self.prepared.skinned(),
            Skinned::Device(Drawable::Shader(_))
        )
    }
}

/// Commands of a frame.
#[derive(Default)]
struct FrameCommands {
    /// Writes before the frame, in order.
    writes: Vec<Entry>,
    others: Vec<Entry>,
}

fn listed(commands: &[Entry], library: &mut Library) -> Vec<Value> {
    commands
        .iter()
        .map(|command| command.json(library))
        .collect()
}

/// Records a backend.
///
/// # Errors
/// The backend does not support the crowd.
pub(super) fn record(
    entry: &'static BackendEntry,
    frames: Frames,
    library: &mut Library,
) -> Result<Recorded> {
    let mut session = RecordingSession::new(entry, frames.scene, 2)?;
    let crowd = &frames.scene.crowd;
    session.gpu.take_commands();
    let mut uploads = Vec::with_capacity(frames.ticks.len());
    let mut frame = Vec::new();
    let mut posed_by_host = false;
    for &tick in frames.ticks {
        let FrameCommands { writes, others } = session.frame(tick)?;
        posed_by_host |= writes.iter().any(|write| session.writes_palettes(write));
        uploads.push(uploaded(&session, frames, &writes, library)?);
        frame = others;
    }
    let reads = reads(&mut session, library)?;
    let approximation = session.prepared.approximation();
    // The page has one limit for all groups: the largest.
    let of_format = Tolerance::of(crowd.format());
    let tolerance = crowd
        .groups()
        .iter()
        .map(|group| of_format.of_group(group, shown(crowd, group)))
        .max_by(|a, b| a.position.total_cmp(&b.position))
        .unwrap_or(of_format)
        .beside(approximation);
    let parity = Parity {
        tolerance,
        approximation,
        ..Parity::default()
    };
    let blending = session.prepared.blending();
    let traffic = session
        .prepared
        .traffic(crowd)
        .into_iter()
        .map(|t| (t.stage.name().to_owned(), json!(t.bytes())));
    let device = session.prepared.device();
    let json = json!({
        "name": entry.name,
        "summary": entry.summary,
        "chosen": device.split_once(", ").map(|(_, chosen)| chosen),
        "posedByHost": posed_by_host,
        "skinsInDraw": session.skins_in_draw(),
        "reference": reference_name(blending),
        "tolerance": {"position": tolerance.position, "normal": tolerance.normal},
        "bytes": traffic.collect::<serde_json::Map<_, _>>(),
        "uploads": uploads,
        "frame": listed(&frame, library),
        "reads": reads,
        "objects": session.objects(library),
    });
    Ok(Recorded {
        json,
        blending,
        parity,
    })
}

/// Name of the reference of a rule of blending.
pub(super) fn reference_name(blending: Blending) -> &'static str {
    match blending {
        Blending::Linear => "linear",
        Blending::DualQuaternion => "dualQuaternion",
    }
}

/// Records a frame of a picture.
///
/// # Errors
/// As [`record`].
pub(super) fn record_picture(
    entry: &'static BackendEntry,
    scene: &BuiltScene,
    library: &mut Library,
) -> Result<Value> {
    let mut session = RecordingSession::new(entry, scene, 1)?;
    session.gpu.take_commands();
    let FrameCommands { writes, others } = session.frame(0)?;
    Ok(json!({
        "name": entry.name,
        "uploads": [listed(&writes, library)],
        "frame": listed(&others, library),
        "objects": session.objects(library),
    }))
}

/// A write of the palettes of a chunk.
struct PaletteWrite<'a> {
    chunk: &'a Chunk,
    buffer: &'a Value,
    /// Offset in the bytes of the write.
    at: usize,
    /// Bytes of an instance.
    stride: usize,
}

fn palette_entries(crowd: &Crowd, chunk: &Chunk) -> usize {
    crowd.groups()[chunk.group].model.palette_joints().len()
}

/// The writes of a frame in the page's form. Of palettes the page holds the sampled instances' only, which the others
/// repeat.
fn uploaded(
    session: &RecordingSession,
    frames: Frames,
    writes: &[Entry],
    library: &mut Library,
) -> Result<Vec<Value>> {
    let mut palettes = Vec::new();
    let mut list = Vec::new();
    for write in writes {
        match &write.bytes {
            Some(bytes) if session.writes_palettes(write) => {
                palettes.push((&write.value["buffer"], bytes));
            }
            _ => list.push(write.json(library)),
        }
    }
    let crowd = &frames.scene.crowd;
    // Palettes are created, and written at once, batch by batch.
    let held: Vec<Vec<Chunk>> = match session.prepared.skinned() {
        Skinned::Device(Drawable::Stored(vertices)) => vertices.batches.clone(),
        _ => session
            .gpu
            .chunks(crowd)?
            .into_iter()
            .map(|chunk| vec![chunk])
            .collect(),
    };
    let mut written = Vec::new();
    // The sampled poses of each group, over all of its chunks.
    let mut poses: Vec<Vec<usize>> = vec![Vec::new(); crowd.groups().len()];
    for (chunks, (buffer, bytes)) in held.iter().zip(palettes) {
        let mut all = 0;
        for chunk in chunks {
            all += chunk.instances.len() * palette_entries(crowd, chunk);
        }
        let mut at = 0;
        for chunk in chunks {
            let stride = bytes.len() * palette_entries(crowd, chunk) / all;
            for instance in &frames.sampled[chunk.group] {
                if chunk.instances.contains(instance) {
                    let first = at + (instance - chunk.instances.start) as usize * stride;
                    poses[chunk.group].push(library.blob(&bytes[first..first + stride]));
                }
            }
            written.push(PaletteWrite {
                chunk,
                buffer,
                at,
                stride,
            });
            at += chunk.instances.len() * stride;
        }
    }
    for write in written {
        let chunk = write.chunk;
        let first = chunk.instances.start - crowd.groups()[chunk.group].instances.start;
        list.push(json!({
            "do": "poses",
            "buffer": write.buffer,
            "at": write.at,
            "instances": chunk.instances.len(),
            "bytes": write.stride,
            "first": first,
            "poses": poses[chunk.group],
        }));
    }
    Ok(list)
}

/// Commands that read vertices back: for each group some instances at a time.
fn reads(session: &mut RecordingSession, library: &mut Library) -> Result<Vec<Value>> {
    let streams = match session.prepared.skinned() {
        Skinned::Device(Drawable::Output(BufferForm {
            output: Some(output),
            ..
        })) => output.streams(),
        _ => &[],
    };
    let mut reads = Vec::new();
    let mut vertices = Vec::new();
    for (index, group) in session.crowd.groups().iter().enumerate() {
        let at_once = (READ_AT_ONCE / group.model.mesh().vertex_count()).max(1);
        for first in group.instances.clone().step_by(at_once) {
            let range = first
                ..group
                    .instances
                    .end
                    .min(first.saturating_add(at_once as u32));
            vertices.clear();
            session.prepared.read(
                session.crowd,
                &session.output,
                FrameData::Vertices,
                range.clone(),
                &mut vertices,
            )?;
            let commands = listed(&session.gpu.take_commands(), library);
            reads.push(json!({
                "group": index,
                "first": range.start,
                "count": range.len(),
                "texels": session.skins_in_draw(),
                "streams": streams,
                "commands": commands,
            }));
        }
    }
    Ok(reads)
}
