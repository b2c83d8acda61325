//! Turns requests into pictures: builds the crowd, prepares one or two backends, computes and draws frames. It reuses
//! whatever has not changed since the last frame.

use super::bind_pose::crowd_at_bind;
use super::heat::Heat;
use super::side::{Canvas, LiveSide};
use super::state::{Errors, State};
use crate::backend::{Backend, Context};
use crate::crowd::{Crowd, REST};
use crate::frame::{BackendError, Mode, Result, StageTime};
use crate::gpu::{Beneath, Overlay, ground};
use crate::harness::environment::{Build, Environment};
use crate::harness::{MachineLimits, Observer, RunOptions, run};
use crate::reference::WorstError;
use crate::registry;
use crate::report::{Screen, run_table, run_text};
use crate::results::MeasuredScene;
use crate::scene::{BuiltScene, Scene, Settings};
use crate::threads::Threads;
use std::time::Duration;

/// A measurement as the window shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredSides {
    /// Headings, then a row for each backend.
    pub rows: Vec<Vec<String>>,
    /// What is fastest, a fact per line.
    pub verdict: String,
    /// What `skinbench run` prints.
    pub text: String,
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
    /// Names of its joints.
    pub joints: Vec<String>,
    /// Length of the clip of the first instance in seconds.
    pub duration: f64,
    /// Remarks about the scene and its models, and textures that cannot be decoded.
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

/// Pictures and figures that [`Engine::show`] returns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShownFrame {
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
    let entry = registry::find(name)
        .ok_or_else(|| BackendError::Unavailable(format!("no backend {name:?}")))?;
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
    /// The scene that was asked for last, whether or not it could be built.
    wanted: Option<Scene>,
    /// Reason why it could not be built.
    problem: Option<String>,
    /// The last scene that could be built.
    built: Option<Built>,
    /// The sides of that scene.
    sides: Vec<Slot>,
}

struct Built {
    scene: BuiltScene,
    /// Its crowd in the bind pose, while that is shown.
    at_bind: Option<Crowd>,
    ground: Overlay,
    facts: Facts,
}

impl Built {
    fn new(scene: BuiltScene) -> Self {
        let framed = scene.camera.framed(&scene.crowd, scene.resolution);
        let ground = ground(&scene.crowd, framed.target, framed.radius);
        Self {
            at_bind: None,
            ground,
            facts: Facts::of(&scene),
            scene,
        }
    }
}

/// A side, and what it was made for.
struct Slot {
    backend: String,
    side: Result<LiveSide>,
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
            wanted: None,
            problem: None,
            built: None,
            sides: Vec::new(),
        }
    }

    /// Computes and draws what a state shows on this many pixels across and down.
    pub fn show(&mut self, state: &State, size: [u32; 2]) -> ShownFrame {
        if state.attempt != self.attempt {
            self.attempt = state.attempt;
            self.sides.clear();
            self.context = (self.open)();
            self.threads = None;
        }
        let no_threads = self.set_threads(state.threads).err();
        self.set_scene(state.scene());
        let mut shown = ShownFrame {
            adapter: "no adapter".into(),
            cpu: self.cpu.clone(),
            ..ShownFrame::default()
        };
        if let Ok(Context { gpu: Some(gpu), .. }) = &self.context {
            shown.adapter = gpu.adapter.summary.label();
            shown.software = gpu.adapter.summary.software;
        }
        shown.problem = self.problem.clone().or(no_threads);
        if let Err(problem) = self.draw(state, size, &mut shown) {
            shown.problem = Some(problem);
        }
        shown
    }

    /// Draws the sides. Fails if there is nothing to draw with, or the crowd has no bind pose.
    fn draw(
        &mut self,
        state: &State,
        size: [u32; 2],
        shown: &mut ShownFrame,
    ) -> Result<(), String> {
        let context = self.context.as_ref().map_err(Clone::clone)?;
        let Some(built) = &mut self.built else {
            return Ok(());
        };
        shown.facts = Some(built.facts.clone());
        if built.at_bind.is_some() != state.player.at_bind {
            self.sides.clear();
            built.at_bind = if state.player.at_bind {
                Some(crowd_at_bind(&built.scene.crowd)?)
            } else {
                None
            };
        }
        let crowd = built.at_bind.as_ref().unwrap_or(&built.scene.crowd);
        let view_projection = state.orbit.view_projection(crowd, size);
        let view = crate::frame::View {
            view_projection,
            ..built.scene.view()
        };
        let canvas = Canvas {
            size,
            mode: state.preferences.show.mode().unwrap_or(Mode::Skin),
            tinted: state.preferences.show.tint,
            passes: built.scene.passes,
        };
        self.sides.truncate(state.backends().len());
        for (index, backend) in state.backends().iter().enumerate() {
            if self
                .sides
                .get(index)
                .is_none_or(|slot| slot.backend != *backend)
            {
                // Frees the memory of the previous side first.
                if index < self.sides.len() {
                    self.sides.remove(index);
                }
                let side = (self.make)(backend, context)
                    .and_then(|backend| LiveSide::new(&*backend, context, crowd, (self.memory)()));
                self.sides.insert(
                    index,
                    Slot {
                        backend: backend.clone(),
                        side,
                    },
                );
            }
            let slot = &mut self.sides[index];
            let mut side = SideShown {
                backend: backend.clone(),
                size,
                ..SideShown::default()
            };
            let drawn = slot
                .side
                .as_mut()
                .map_err(|error| error.clone())
                .and_then(|prepared| {
                    side.device = prepared.prepared.device();
                    side.frame = prepared.frame(crowd, state.player.tick(), &view, canvas)?;
                    side.spans = prepared.timer.spans.to_vec();
                    Ok(())
                });
            side.problem = drawn.err().map(|error| error.to_string());
            shown.sides.push(side);
        }
        if let (Some(facts), Some(Slot { side: Ok(side), .. })) =
            (&mut shown.facts, self.sides.first())
        {
            facts.notes.extend_from_slice(&side.surfaces.notes);
        }
        for index in 0..self.sides.len() {
            let finished = finish(
                &mut self.sides,
                index,
                crowd,
                &built.ground,
                state,
                &view,
                &mut shown.sides[index],
            );
            if let Err(error) = finished {
                shown.sides[index].problem.get_or_insert(error.to_string());
            }
        }
        if let Some(lost) = context.gpu.as_ref().and_then(|gpu| gpu.lost()) {
            // The buffers of a lost device are unusable; the next attempt opens a new device.
            self.sides.clear();
            self.context = Err(lost.clone());
            return Err(lost);
        }
        Ok(())
    }

    /// Runs the harness on a scene with the backends of these names, as `skinbench run` does.
    ///
    /// # Errors
    /// One line: the scene or the device cannot be used.
    pub fn measure(
        &mut self,
        scene: &Scene,
        names: &[String],
        observer: &mut dyn Observer,
    ) -> Result<MeasuredSides, String> {
        // The sides must not compete with the measurement for memory.
        self.sides.clear();
        let context = self.context.as_ref().map_err(Clone::clone)?;
        let built = scene
            .build((self.memory)())
            .map_err(|error| error.to_string())?;
        let environment = Environment::collect(self.build.clone(), context);
        let options = RunOptions {
            backends: names
                .iter()
                .filter_map(|name| registry::find(name))
                .collect(),
            brief_on_software: true,
            memory: Some((self.memory)()),
            ..RunOptions::default()
        };
        let limits = MachineLimits::measure(context);
        let outcomes =
            run::run(&built, context, &options, observer).map_err(|error| error.to_string())?;
        let measured = MeasuredScene::new(&environment, &built);
        let study = run_table::study_of(&measured, &outcomes);
        let verdict = run_text::of_run(&study, false);
        let text = run_table::measured(&measured, &study, &limits, &outcomes, Screen::Wide);
        let rows = match study.points.first() {
            Some(point) => run_table::table(&study, point).cells(),
            None => Vec::new(),
        };
        Ok(MeasuredSides {
            rows,
            text: text + &verdict,
            verdict: verdict.trim_start().to_owned(),
        })
    }

    /// Makes a pool of that many threads, unless it exists already.
    fn set_threads(&mut self, threads: Option<u32>) -> Result<(), String> {
        let Ok(context) = &mut self.context else {
            return Ok(());
        };
        if threads != self.threads {
            let pool = threads.map_or(Ok(Threads::All), |count| Threads::new(count as usize));
            // A failure is reported once; the old pool stays.
            self.threads = threads;
            context.threads = pool.map_err(|error| error.to_string())?;
            self.sides.clear();
        }
        Ok(())
    }

    /// Builds a scene unless it is the one that was asked for last. If it cannot be built, the one before stays.
    fn set_scene(&mut self, scene: Scene) {
        if self.wanted.as_ref() == Some(&scene) {
            return;
        }
        match scene.build((self.memory)()) {
            Ok(built) => {
                self.sides.clear();
                self.built = Some(Built::new(built));
                self.problem = None;
            }
            Err(error) => self.problem = Some(error.to_string()),
        }
        self.wanted = Some(scene);
    }
}

impl Facts {
    fn of(scene: &BuiltScene) -> Self {
        let layer = scene.crowd.layers().of(0).first();
        let clip = layer.map_or(REST, |layer| layer.clip) as usize;
        let mut clips = Vec::new();
        let mut joints = Vec::new();
        let mut duration = 1.0;
        if let Some(group) = scene.crowd.groups().first() {
            joints.extend_from_slice(group.model.skeleton().names());
            for (index, known) in group.model.clips().iter().enumerate() {
                clips.push(match known.name() {
                    "" => index.to_string(),
                    name => name.into(),
                });
                if index == clip {
                    duration = known.duration().into();
                }
            }
        }
        Self {
            instances: scene.crowd.instance_count(),
            vertices: scene.crowd.vertex_count(),
            settings: scene.settings.clone(),
            clips,
            joints,
            duration,
            notes: scene.remarks.clone(),
        }
    }
}

/// Draws overlays on a frame and reads the picture back.
fn finish(
    slots: &mut [Slot],
    index: usize,
    crowd: &Crowd,
    ground: &Overlay,
    state: &State,
    view: &crate::frame::View,
    shown: &mut SideShown,
) -> Result<()> {
    let heat: Option<Heat> = match (state.errors, &mut *slots) {
        (Errors::Sides, [Slot { side: Ok(a), .. }, Slot { side: Ok(b), .. }]) => {
            Some(if index == 0 {
                a.differences(b, crowd, view.light)?
            } else {
                b.differences(a, crowd, view.light)?
            })
        }
        (Errors::Reference, slots) => match &mut slots[index].side {
            Ok(side) => Some(side.errors(crowd, view.light)?),
            Err(_) => None,
        },
        _ => None,
    };
    let Ok(side) = &mut slots[index].side else {
        return Ok(());
    };
    let skeletons = if state.preferences.show.skeleton {
        side.skeletons(crowd)
    } else {
        Ok(Overlay::default())
    };
    let Some(presenter) = side.presenter() else {
        return Ok(());
    };
    let drawn = state.preferences.show.mode().is_some() && !side.cannot_be_drawn();
    match &heat {
        Some(heat) => {
            presenter.draw_overlay(Beneath::Nothing, &heat.overlay)?;
            shown.worst = heat.worst;
            shown.painted = heat.painted;
        }
        None if !drawn => presenter.draw_overlay(Beneath::Nothing, &Overlay::default())?,
        None => {}
    }
    if state.preferences.show.ground {
        presenter.draw_overlay(Beneath::Picture, ground)?;
    }
    // A backend without poses still has a picture to show.
    match skeletons {
        Ok(skeletons) if !skeletons.lines.is_empty() => {
            presenter.draw_overlay(Beneath::Far, &skeletons)?;
        }
        Ok(_) => {}
        Err(error) => shown.problem = Some(format!("no skeleton: {error}")),
    }
    shown.pixels = presenter.read_color()?;
    Ok(())
}

#[cfg(test)]
mod tests;
