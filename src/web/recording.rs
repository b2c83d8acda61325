//! Recordings of one backend for one crowd: its device, its frames, and the commands that read vertices back.

use crate::backend::{Context, Prepared, Skinned};
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
use std::rc::Rc;

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
struct Session<'a> {
    crowd: &'a Crowd,
    gpu: Rc<Gpu>,
    output: OutputBuffers,
    presenter: Presenter,
    prepared: Box<dyn Prepared>,
}

impl<'a> Session<'a> {
    /// Prepares a backend whose frames draw `passes` times.
    fn new(entry: &BackendEntry, scene: &'a BuiltScene, passes: u32) -> Result<Self> {
        let gpu = Gpu::recording();
        let context = Context {
            gpu: Some(Rc::clone(&gpu)),
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
        let presenter = Presenter::new(Rc::clone(&gpu), crowd, scene.view(), passes)?;
        let prepared = backend.prepare(crowd, &job)?;
        Ok(Self {
            crowd,
            gpu,
            output,
            presenter,
            prepared,
        })
    }

    /// Commands of a frame.
    fn frame(&mut self, tick: u32) -> Result<Vec<Entry>> {
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
        Ok(self.gpu.take_commands())
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

/// Writes before a frame, in order, and the frame's other commands.
fn split(commands: Vec<Entry>) -> (Vec<Entry>, Vec<Entry>) {
    commands
        .into_iter()
        .partition(|command| command.bytes.is_some())
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
    let mut session = Session::new(entry, frames.scene, 2)?;
    let crowd = &frames.scene.crowd;
    session.gpu.take_commands();
    let mut uploads = Vec::with_capacity(frames.ticks.len());
    let mut frame = Vec::new();
    let mut posed_by_host = false;
    for &tick in frames.ticks {
        let (writes, others) = split(session.frame(tick)?);
        let (writes, of_host) = uploaded(&session, frames, &writes, library)?;
        posed_by_host |= of_host;
        uploads.push(writes);
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
        max_rel: 0.0,
        max_normal: 0.0,
        tolerance,
        approximation,
        vertices: 0,
        visible: None,
        failure: None,
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
    let mut session = Session::new(entry, scene, 1)?;
    session.gpu.take_commands();
    let (writes, frame) = split(session.frame(0)?);
    Ok(json!({
        "name": entry.name,
        "uploads": [listed(&writes, library)],
        "frame": listed(&frame, library),
        "objects": session.objects(library),
    }))
}

/// The writes of a frame in the page's form, and whether palettes are among them. Of those the page holds the sampled
/// instances' only, which the others repeat.
fn uploaded(
    session: &Session,
    frames: Frames,
    writes: &[Entry],
    library: &mut Library,
) -> Result<(Vec<Value>, bool)> {
    let tape = session.gpu.tape();
    let object = |index: &Value| tape.as_ref()?.objects.get(index.as_u64()? as usize);
    let (mut palettes, mut list) = (Vec::new(), Vec::new());
    for write in writes {
        let buffer = &write.value["buffer"];
        match &write.bytes {
            Some(bytes) if object(buffer).is_some_and(|o| o.label() == PALETTES) => {
                palettes.push((buffer, bytes))
            }
            _ => list.push(write.json(library)),
        }
    }
    drop(tape);
    let by_host = !palettes.is_empty();
    let crowd = &frames.scene.crowd;
    // Palettes are created, and written at once, chunk by chunk or span by span.
    let held: Vec<Vec<Chunk>> = match session.prepared.skinned() {
        Skinned::Device(Drawable::Stored(vertices)) => vertices.spans.clone(),
        _ => session
            .gpu
            .chunks(crowd)?
            .into_iter()
            .map(|chunk| vec![chunk])
            .collect(),
    };
    let entries = |chunk: &Chunk| crowd.groups()[chunk.group].model.palette_joints().len();
    let mut written = Vec::new();
    let mut poses: Vec<Vec<usize>> = vec![Vec::new(); crowd.groups().len()];
    for (chunks, (buffer, bytes)) in held.iter().zip(&palettes) {
        let all: usize = chunks
            .iter()
            .map(|chunk| chunk.instances.len() * entries(chunk))
            .sum();
        let mut at = 0;
        for chunk in chunks {
            let stride = bytes.len() * entries(chunk) / all;
            let own = frames.sampled[chunk.group]
                .iter()
                .filter(|&instance| chunk.instances.contains(instance));
            poses[chunk.group].extend(own.map(|instance| {
                let at = at + (instance - chunk.instances.start) as usize * stride;
                library.blob(&bytes[at..at + stride])
            }));
            written.push((chunk, buffer, at, stride));
            at += chunk.instances.len() * stride;
        }
    }
    for (chunk, buffer, at, stride) in written {
        let first = chunk.instances.start - crowd.groups()[chunk.group].instances.start;
        list.push(json!({
            "do": "poses",
            "buffer": buffer,
            "at": at,
            "instances": chunk.instances.len(),
            "bytes": stride,
            "first": first,
            "poses": poses[chunk.group],
        }));
    }
    Ok((list, by_host))
}

/// Commands that read vertices back: for each group some instances at a time.
fn reads(session: &mut Session, library: &mut Library) -> Result<Vec<Value>> {
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
            session.prepared.read_vertices(
                session.crowd,
                &session.output,
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
