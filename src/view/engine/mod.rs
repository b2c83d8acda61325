//! Turns requests into pictures: builds the crowd, prepares one or two backends, computes and draws frames. It reuses
//! whatever has not changed since the last frame.

use super::bind_pose::crowd_at_bind;
use super::heat::Heat;
use super::side::{Canvas, Side};
use super::state::{Errors, State};
use crate::backend::{Backend, Context};
use crate::crowd::{Crowd, REST};
use crate::frame::{BackendError, Job, Mode, Result, StageTime};
use crate::frustum::Frustum;
use crate::gpu::{Beneath, Overlay, ground};
use crate::harness::environment::{Build, Environment};
use crate::harness::{Host, Observer, RunOptions, run};
use crate::reference::WorstError;
use crate::registry;
use crate::report::run_text;
use crate::results::rows::MeasuredScene;
use crate::scene::{BuiltScene, Scene, SceneError, Settings};
use crate::threads::Threads;
use indexmap::IndexSet;
use std::sync::Arc;
use std::time::Duration;

/// A request: everything that determines a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// The state of the controls.
    pub state: State,
    /// Its scene with the options of the run.
    pub scene: Scene,
    /// Pixels across and down.
    pub size: [u32; 2],
}

impl Wanted {
    /// Collects everything that a window of `size` pixels shows of a state.
    ///
    /// # Errors
    /// As [`State::scene`].
    pub fn new(state: &State, size: [u32; 2]) -> Result<Self, SceneError> {
        Ok(Self { state: state.clone(), scene: state.scene()?, size: size.map(|pixels| pixels.max(1)) })
    }
}

/// Numbers of the crowd that is shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// Instances of all groups.
    pub instances: usize,
    /// Skinned vertices of a frame.
    pub vertices: u64,
    /// Settings of the scene, and those on top.
    pub settings: Settings,
    /// Clips of the first group's model.
    pub clips: Vec<String>,
    /// Joints of the model of each of the scene's groups.
    pub joints: Arc<Vec<Vec<String>>>,
    /// Length of the clip of the first instance in seconds.
    pub duration: f64,
    /// Repairs and omissions of importers, and textures that cannot be decoded.
    pub notes: Vec<String>,
}

/// Picture and figures of one side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SideShown {
    /// Name of the backend.
    pub backend: String,
    /// Instruction set or adapter, threads, kernels.
    pub device: String,
    /// Width and height of the picture.
    pub size: [u32; 2],
    /// RGBA 8 bit sRGB, rows from the top; empty if there is no picture.
    pub pixels: Vec<u8>,
    /// Stages of the frame.
    pub spans: Vec<StageTime>,
    /// Wall-clock time of the frame.
    pub frame: Duration,
    /// The largest error, if errors are shown.
    pub worst: Option<WorstError>,
    /// Instances whose errors are painted.
    pub painted: usize,
    /// Reason why something is not shown.
    pub problem: Option<String>,
}

/// The answer to a [`Wanted`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shown {
    /// Numbers of the crowd; `None` until one has been built.
    pub facts: Option<Facts>,
    /// The sides.
    pub sides: Vec<SideShown>,
    /// Name of the adapter, marked `CPU-emulated` if it is.
    pub adapter: String,
    /// `true` if the adapter is emulated on the CPU.
    pub software: bool,
    /// Name of the processor.
    pub cpu: String,
    /// Reason why the scene or the device cannot be used; the previous picture then remains.
    pub problem: Option<String>,
}

/// A function that opens instruction set, threads and adapter.
pub type Open = Box<dyn Fn() -> Result<Context, String>>;

/// A function that creates a backend by name.
pub type Make = fn(&str, &Context) -> Result<Box<dyn Backend>>;

/// Creates the backend of this name in the registry.
///
/// # Errors
/// [`BackendError::Unavailable`] if there is none, or the machine lacks something that it needs.
pub fn registered(name: &str, context: &Context) -> Result<Box<dyn Backend>> {
    let entry = registry::find(name).ok_or_else(|| BackendError::Unavailable(format!("no backend {name:?}")))?;
    entry.create(context)
}

/// Builds crowds, computes and draws frames.
pub struct Engine {
    open: Open,
    make: Make,
    /// Returns the bytes of main memory that may be used.
    memory: fn() -> u64,
    build: Build,
    cpu: String,
    context: Result<Context, String>,
    attempt: u32,
    /// Threads of the context; none for all.
    threads: Option<u32>,
    stage: ShownCrowd,
    sides: Vec<Slot>,
}

/// The crowd that is shown.
#[derive(Default)]
struct ShownCrowd {
    /// Last request, whether or not it could be built.
    wanted: Option<(Scene, bool)>,
    problem: Option<String>,
    built: Option<Built>,
    /// Number of crowds built so far.
    generation: u64,
}

struct Built {
    scene: BuiltScene,
    at_bind: Option<Crowd>,
    ground: Overlay,
    facts: Facts,
}

impl Built {
    fn crowd(&self) -> &Crowd {
        self.at_bind.as_ref().unwrap_or(&self.scene.crowd)
    }
}

/// A side, and the request that it was made for.
struct Slot {
    key: (String, u64, Option<Frustum>),
    culls: bool,
    side: Result<Side>,
}

impl Engine {
    /// Creates an engine. If the machine cannot be opened, every answer states the problem until another attempt is
    /// requested.
    pub fn new(open: Open, make: Make, memory: fn() -> u64, build: Build) -> Self {
        let context = open();
        let cpu = Environment::collect(build.clone(), &Context::default()).cpu;
        Self {
            open,
            make,
            memory,
            build,
            cpu,
            context,
            attempt: 0,
            threads: None,
            stage: ShownCrowd::default(),
            sides: Vec::new(),
        }
    }

    /// Answers a request.
    pub fn show(&mut self, wanted: &Wanted) -> Shown {
        if wanted.state.attempt != self.attempt {
            self.attempt = wanted.state.attempt;
            self.sides.clear();
            self.context = (self.open)();
            self.threads = None;
        }
        let no_threads = self.set_threads(wanted.state.threads).err();
        self.set_stage(wanted);
        let gpu = self.context.as_ref().ok().and_then(|context| context.gpu.as_ref());
        let (name, software) = match gpu.map(|gpu| &gpu.adapter.summary) {
            Some(summary) => (summary.label(), summary.software),
            None => ("no adapter".into(), false),
        };
        let mut shown = Shown { adapter: name, software, cpu: self.cpu.clone(), ..Shown::default() };
        let stage = &self.stage;
        shown.problem = stage.problem.clone().or(no_threads);
        let context = match &self.context {
            Ok(context) => context,
            Err(error) => {
                shown.problem = Some(error.clone());
                return shown;
            }
        };
        let Some(built) = &stage.built else { return shown };
        shown.facts = Some(built.facts.clone());
        let crowd = built.crowd();
        let view_projection = wanted.state.orbit.view_projection(crowd, wanted.size);
        let view = crate::frame::View { view_projection, ..built.scene.view() };
        let canvas = Canvas {
            size: wanted.size,
            mode: wanted.state.preferences.show.mode().unwrap_or(Mode::Skin),
            tinted: wanted.state.preferences.show.tint,
            passes: built.scene.passes,
        };
        self.sides.truncate(wanted.state.backends().len());
        for (index, backend) in wanted.state.backends().iter().enumerate() {
            let frustum = Frustum::new(view_projection);
            let culls = self.sides.get(index).is_some_and(|slot| slot.culls && slot.key.0 == *backend);
            // A culling backend takes its frustum when it is prepared.
            let key = (backend.clone(), stage.generation, culls.then_some(frustum));
            if self.sides.get(index).is_none_or(|slot| slot.key != key) {
                // Frees the memory of the previous side first.
                if index < self.sides.len() {
                    self.sides.remove(index);
                }
                let job = Job { passes: canvas.passes.max(1), frustum, ..Job::default() };
                let side = (self.make)(backend, context)
                    .and_then(|backend| Side::new(&*backend, context, crowd, &job, (self.memory)()));
                self.sides.insert(index, Slot { key, culls, side });
            }
            let slot = &mut self.sides[index];
            let mut side = SideShown { backend: backend.clone(), size: wanted.size, ..SideShown::default() };
            let drawn = slot.side.as_mut().map_err(|error| error.clone()).and_then(|made| {
                side.device = made.prepared.device();
                side.frame = made.frame(crowd, wanted.state.player.tick(), &view, canvas)?;
                side.spans = made.timer.spans.to_vec();
                slot.culls = made.culls()?;
                Ok(())
            });
            side.problem = drawn.err().map(|error| error.to_string());
            shown.sides.push(side);
        }
        if let (Some(facts), Some(Slot { side: Ok(side), .. })) = (&mut shown.facts, self.sides.first()) {
            facts.notes.extend_from_slice(&side.surfaces.notes);
        }
        for index in 0..self.sides.len() {
            let finished = finish(&mut self.sides, index, built, wanted, &view, &mut shown.sides[index]);
            if let Err(error) = finished {
                shown.sides[index].problem.get_or_insert(error.to_string());
            }
        }
        if let Some(lost) = context.gpu.as_ref().and_then(|gpu| gpu.lost()) {
            // The buffers of a lost device are unusable; the next attempt opens a new device.
            self.sides.clear();
            shown.problem = Some(lost.clone());
            self.context = Err(lost);
        }
        shown
    }

    /// Runs the harness on a scene with the backends of these names, as `skinbench run` does, and returns its table.
    ///
    /// # Errors
    /// One line: the scene or the device cannot be used.
    pub fn measure(&mut self, scene: &Scene, names: &[String], observer: &mut dyn Observer) -> Result<String, String> {
        // The sides must not compete with the measurement for memory.
        self.sides.clear();
        let context = self.context.as_ref().map_err(Clone::clone)?;
        let built = scene.build((self.memory)()).map_err(|error| error.to_string())?;
        let environment = Environment::collect(self.build.clone(), context);
        let options = RunOptions {
            backends: names.iter().filter_map(|name| registry::find(name)).collect(),
            brief_on_software: true,
            memory: Some((self.memory)()),
            ..RunOptions::default()
        };
        let hosts = Host::measure_all(context.isa, &context.threads);
        let outcomes = run::run(&built, context, &options, observer).map_err(|error| error.to_string())?;
        Ok(run_text::text(&MeasuredScene::new(&environment, &built), &hosts, &outcomes, false))
    }

    /// Makes a pool of that many threads, unless it exists already.
    fn set_threads(&mut self, threads: Option<u32>) -> Result<(), String> {
        let Ok(context) = &mut self.context else { return Ok(()) };
        if threads != self.threads {
            let pool = threads.map_or(Ok(Threads::All), |count| Threads::new(count as usize));
            // A failure is reported once; the old pool stays.
            self.threads = threads;
            context.threads = pool.map_err(|error| error.to_string())?;
            self.sides.clear();
        }
        Ok(())
    }

    /// Builds the crowd unless it is unchanged.
    fn set_stage(&mut self, wanted: &Wanted) {
        let (key, stage) = (Some((wanted.scene.clone(), wanted.state.player.at_bind)), &mut self.stage);
        if stage.wanted == key {
            return;
        }
        let same_scene = stage.wanted.as_ref().is_some_and(|(scene, _)| *scene == wanted.scene);
        let built = match stage.built.take_if(|_| same_scene) {
            Some(built) => at_bind(built, wanted.state.player.at_bind),
            None => built_for(wanted, (self.memory)()),
        };
        stage.wanted = key;
        match built {
            Ok(built) => {
                stage.built = Some(built);
                stage.problem = None;
                stage.generation += 1;
            }
            Err(problem) => stage.problem = Some(problem),
        }
    }
}

fn built_for(wanted: &Wanted, memory: u64) -> Result<Built, String> {
    let scene = wanted.scene.build(memory).map_err(|error| error.to_string())?;
    let framed = scene.camera.framed(&scene.crowd, scene.resolution);
    let first = scene.crowd.groups().first().map(|group| &group.model);
    let clip = scene.crowd.layers().of(0).first().map_or(REST, |layer| layer.clip);
    let clips = first.into_iter().flat_map(|model| model.clips().iter().enumerate());
    let facts = Facts {
        instances: scene.crowd.instance_count(),
        vertices: scene.crowd.vertex_count(),
        settings: scene.settings.clone(),
        clips: clips
            .map(|(index, clip)| if clip.name().is_empty() { index.to_string() } else { clip.name().into() })
            .collect(),
        joints: Arc::new(scene.models.iter().map(|model| model.skeleton().names().to_vec()).collect()),
        duration: first.and_then(|model| model.clips().get(clip as usize)).map_or(1.0, |clip| clip.duration().into()),
        notes: notes(&scene.crowd),
    };
    let ground = ground(&scene.crowd, framed.target, framed.radius);
    at_bind(Built { scene, at_bind: None, ground, facts }, wanted.state.player.at_bind)
}

/// Repairs and omissions of importers in the models of a crowd.
fn notes(crowd: &Crowd) -> Vec<String> {
    let models = crowd.groups().iter().map(|group| &group.model);
    let repairs = models.flat_map(|model| model.repairs().iter().map(move |repair| (model, repair)));
    let notes = repairs.map(|(model, repair)| format!("{}: {}", model.name(), repair.message));
    notes.collect::<IndexSet<_>>().into_iter().collect()
}

fn at_bind(built: Built, at_bind: bool) -> Result<Built, String> {
    let at_bind = if at_bind { Some(crowd_at_bind(&built.scene.crowd)?) } else { None };
    Ok(Built { at_bind, ..built })
}

/// Draws overlays on a frame and reads the picture back.
fn finish(
    slots: &mut [Slot],
    index: usize,
    built: &Built,
    wanted: &Wanted,
    view: &crate::frame::View,
    shown: &mut SideShown,
) -> Result<()> {
    let crowd = built.crowd();
    let heat: Option<Heat> = match wanted.state.errors {
        Errors::Hidden => None,
        Errors::Reference => slots[index].side.as_mut().ok().map(|side| side.errors(crowd, view.light)).transpose()?,
        Errors::Sides => match slots {
            [Slot { side: Ok(a), .. }, Slot { side: Ok(b), .. }] => {
                let (own, other) = if index == 0 { (a, b) } else { (b, a) };
                Some(own.differences(other, crowd, view.light)?)
            }
            _ => None,
        },
    };
    let Ok(side) = &mut slots[index].side else { return Ok(()) };
    let skeletons = if wanted.state.preferences.show.skeleton { side.skeletons(crowd) } else { Ok(Vec::new()) };
    let Some(presenter) = side.presenter() else { return Ok(()) };
    let drawn = wanted.state.preferences.show.mode().is_some() && !side.cannot_be_drawn();
    match &heat {
        Some(heat) => {
            presenter.draw_overlay(Beneath::Nothing, &heat.overlay)?;
            (shown.worst, shown.painted) = (heat.worst, heat.painted);
        }
        None if !drawn => presenter.draw_overlay(Beneath::Nothing, &Overlay::default())?,
        None => {}
    }
    if wanted.state.preferences.show.ground {
        presenter.draw_overlay(Beneath::Picture, &built.ground)?;
    }
    // A backend without poses still has a picture to show.
    match skeletons {
        Ok(lines) if !lines.is_empty() => {
            presenter.draw_overlay(Beneath::Far, &Overlay { lines, ..Overlay::default() })?;
        }
        Ok(_) => {}
        Err(error) => shown.problem = Some(format!("no skeleton: {error}")),
    }
    shown.pixels = presenter.read_color()?;
    Ok(())
}

#[cfg(test)]
mod tests;
