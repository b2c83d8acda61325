//! The state that the controls of the window change: plain data with one method per action, independent of window and
//! device.

use super::orbit::Orbit;
use super::player::Player;
use super::scene_document::SceneDocument;
use crate::frame::Mode;
use crate::registry;
use crate::scene::{BUILT_IN, BUILT_IN_MODELS, Camera, Clips, Economy, Overrides, Scene, SceneError};
use crate::vertex::{Attributes, Encoding, Normals, VertexFormat};
use serde::{Deserialize, Serialize};

/// Backend that is shown first.
const DEFAULT_BACKEND: &str = "cpu-rayon";
/// Backend that side B begins with.
const OTHER_BACKEND: &str = "gpu-compute";
/// Files that are remembered.
const RECENT: usize = 8;
/// Most passes that can be chosen, as on the command line.
pub const MOST_PASSES: u32 = 64;

/// Parts of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Show {
    /// Lit triangles.
    pub skin: bool,
    /// Edges of the triangles.
    pub wireframe: bool,
    /// Joints as axes (x red, y green, z blue), parent links as lines.
    pub skeleton: bool,
    /// A ground with a grid.
    pub ground: bool,
    /// A distinct colour for each instance.
    pub tint: bool,
}

impl Default for Show {
    fn default() -> Self {
        Self { skin: true, wireframe: false, skeleton: false, ground: true, tint: true }
    }
}

impl Show {
    /// Mode in which meshes are drawn; `None` if they are not.
    pub fn mode(self) -> Option<Mode> {
        match (self.skin, self.wireframe) {
            (true, false) => Some(Mode::Skin),
            (false, true) => Some(Mode::Wireframe),
            (true, true) => Some(Mode::SkinAndWireframe),
            (false, false) => None,
        }
    }
}

/// Vertices that the error colours compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Errors {
    /// Nothing: the crowd has its own colours.
    #[default]
    Hidden,
    /// Each side with the f64 reference.
    Reference,
    /// The two sides with each other.
    Sides,
}

/// Number of instances and the other options of a run that apply to any scene.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Workload {
    /// Instances of all groups together; `None` for those of the scene.
    pub instances: Option<u64>,
    /// Number of times that a frame draws the crowd; `None` for the number of the scene.
    pub passes: Option<u32>,
    /// Approximate number of vertices of each model; `None` for that of the scene.
    pub vertices: Option<u32>,
    /// Attributes that are skinned.
    pub attributes: Attributes,
    /// Treatment of normals.
    pub normals: Normals,
    /// `true` if vertices are stored in 16-bit numbers.
    pub packed: bool,
    /// `true` if clips are stored as frames of small numbers.
    pub compact: bool,
    /// Most influences that a vertex keeps; `None` for the scene's.
    pub influences: Option<u32>,
    /// `true` to smooth linear keys to curves.
    pub smooth: bool,
    /// Way to save poses; `None` for the scene's.
    pub economy: Option<Economy>,
    /// Threads of parallel backends; none for all.
    pub threads: Option<u32>,
}

impl Workload {
    /// The options as changes to a scene.
    pub fn overrides(&self) -> Overrides {
        Overrides {
            instances: self.instances,
            passes: self.passes,
            vertices: self.vertices,
            format: VertexFormat {
                attributes: self.attributes,
                normals: self.normals,
                encoding: if self.packed { Encoding::Packed } else { Encoding::F32 },
            },
            clips: if self.compact { Clips::Compact } else { Clips::Raw },
            influences: self.influences,
            smooth: self.smooth,
            active_targets: None,
            economy: self.economy,
            // Models and levels of detail are those of the scene.
            models: None,
            lod: None,
        }
    }
}

/// Settings that are kept from one window to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Last files and scenes, the newest first.
    pub recent: Vec<String>,
    /// Parts of the picture.
    pub show: Show,
    /// Backends of the sides A and B.
    pub backends: [String; 2],
    /// `true` for a dark window, `false` for a light one; `None` follows the system.
    pub dark: Option<bool>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            recent: Vec::new(),
            show: Show::default(),
            backends: [DEFAULT_BACKEND, OTHER_BACKEND].map(String::from),
            dark: None,
        }
    }
}

/// The state of the window.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Settings that are kept.
    pub settings: Settings,
    /// The scene.
    pub document: SceneDocument,
    /// Playback.
    pub player: Player,
    /// The camera.
    pub orbit: Orbit,
    /// Options of a run.
    pub workload: Workload,
    /// `true` to show side B next to side A.
    pub split: bool,
    /// Place of the divider between the sides, 0 to 1 from the left.
    pub divider: f32,
    /// Vertices that the error colours compare.
    pub errors: Errors,
    /// Group whose layers are edited.
    pub group: usize,
    /// Clip of the wave; empty for the model's second clip.
    pub wave: String,
    /// Length of fades in seconds.
    pub fade: f64,
    /// Last problem, until it is dismissed or something else is opened.
    pub problem: Option<String>,
    /// Number of attempts to reopen a lost device.
    pub attempt: u32,
    /// The camera as the scene has it.
    scene_camera: Camera,
}

impl State {
    /// Opens a scene or a model.
    ///
    /// # Errors
    /// As [`SceneDocument::open`].
    pub fn open(source: &str, settings: Settings) -> Result<Self, SceneError> {
        let document = SceneDocument::open(source)?;
        let camera = document.scene()?.camera();
        let mut state = Self {
            settings,
            document,
            player: Player::default(),
            orbit: Orbit::new(camera),
            workload: Workload::default(),
            split: false,
            divider: 0.5,
            errors: Errors::Hidden,
            group: 0,
            wave: String::new(),
            fade: 0.4,
            problem: None,
            attempt: 0,
            scene_camera: camera,
        };
        for (backend, default) in state.settings.backends.iter_mut().zip([DEFAULT_BACKEND, OTHER_BACKEND]) {
            if registry::find(backend).is_none() {
                *backend = default.into();
            }
        }
        state.remember(source);
        Ok(state)
    }

    /// Switches to another scene or model. If it cannot be opened, only [`State::problem`] changes.
    pub fn switch_to(&mut self, source: &str) {
        match Self::open(source, self.settings.clone()) {
            Ok(opened) => {
                let player = self.player.anew();
                let (workload, split, divider, errors) = (self.workload, self.split, self.divider, self.errors);
                // Counts chosen for one crowd may not suit another.
                let workload = Workload { instances: None, passes: None, vertices: None, economy: None, ..workload };
                *self =
                    Self { player, workload, split, divider, errors, fade: self.fade, attempt: self.attempt, ..opened };
            }
            Err(error) => self.problem = Some(error.to_string()),
        }
    }

    /// Stops playback: shows the bind pose at the first frame, with all layers as in the scene.
    pub fn stop(&mut self) {
        self.player.stop();
        self.document.reset_layers();
    }

    /// Switches the wave on or off at the current time. `clips` are those of the first model.
    pub fn switch_wave(&mut self, on: bool, clips: &[String]) {
        let Some(second) = clips.get(1).or(clips.first()) else {
            self.problem = Some("the model has no clip to lay over".into());
            return;
        };
        if self.wave.is_empty() {
            // Prefers a clip of this name, if there is one.
            self.wave = clips.iter().find(|clip| *clip == "wave").unwrap_or(second).clone();
        }
        if self.player.at_bind {
            self.player.play();
        }
        self.document.switch_wave(on, &self.wave, self.fade, self.player.tick());
    }

    /// Resets the camera to that of the scene.
    pub fn reset_camera(&mut self) {
        self.orbit = Orbit::new(self.scene_camera);
    }

    /// Names in the list of scenes and models.
    pub fn library(&self) -> Vec<String> {
        let built_in = BUILT_IN.iter().map(|(name, _)| *name).chain(BUILT_IN_MODELS).map(String::from);
        let known: Vec<String> = built_in.collect();
        let recent = self.settings.recent.iter().filter(|source| !known.contains(source)).cloned();
        recent.chain(known.iter().cloned()).collect()
    }

    /// The backends that are shown, one or two.
    pub fn backends(&self) -> &[String] {
        &self.settings.backends[..if self.split || self.errors == Errors::Sides { 2 } else { 1 }]
    }

    /// The scene with all options, as it is run.
    ///
    /// # Errors
    /// As [`SceneDocument::scene`].
    pub fn scene(&self) -> Result<Scene, SceneError> {
        Ok(self.document.scene()?.with(self.workload.overrides()))
    }

    /// The text of a scene file with the current camera and options.
    ///
    /// # Errors
    /// As [`SceneDocument::scene`].
    pub fn scene_file(&self) -> Result<String, SceneError> {
        self.document.with_settings(self.orbit.camera, self.workload.overrides())
    }

    /// The command line that measures the scene that is shown.
    ///
    /// # Errors
    /// The scene has unsaved changes, so no command can name it.
    pub fn command(&self) -> Result<String, String> {
        if self.document.is_modified() {
            return Err("the scene was changed; save it and open the file, so that a command can name it".into());
        }
        let mut words = vec!["skinbench run".to_owned(), quoted(&self.document.source)];
        words.push(format!("-b {}", self.backends().join(",")));
        let Workload {
            instances,
            passes,
            vertices,
            attributes,
            normals,
            packed,
            compact,
            influences,
            smooth,
            economy,
            threads,
        } = self.workload;
        words.extend(instances.map(|count| format!("--instances {count}")));
        words.extend(passes.map(|count| format!("--passes {count}")));
        words.extend(vertices.map(|count| format!("--vertices {count}")));
        words.extend(influences.map(|count| format!("--influences {count}")));
        words.extend(match economy {
            None | Some(Economy::Plain) => None,
            Some(Economy::PhaseBuckets(count)) => Some(format!("--phase-buckets {count}")),
            Some(Economy::UpdateRate([near, far])) => Some(format!("--update-rate {near},{far}")),
        });
        words.extend(threads.map(|count| format!("--threads {count}")));
        let named = |option: &str, name: &str, changed: bool| changed.then(|| format!("--{option} {name}"));
        words.extend(named("attributes", attributes.name(), attributes != Attributes::default()));
        words.extend(named("normals", normals.name(), normals != Normals::default()));
        words.extend(named("output", "packed", packed));
        words.extend(named("clips", "compact", compact));
        words.extend(named("interpolation", "smooth", smooth));
        Ok(words.join(" "))
    }

    fn remember(&mut self, source: &str) {
        let recent = &mut self.settings.recent;
        recent.retain(|known| known != source);
        recent.insert(0, source.into());
        recent.truncate(RECENT);
    }
}

/// Quotes a word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::player::Speed;
    use super::*;

    fn state(source: &str) -> State {
        State::open(source, Settings::default()).unwrap()
    }

    #[test]
    fn stop_resets_moment_and_layers() {
        let mut state = state("walkers");
        let clips = ["walk", "run", "wave"].map(String::from);
        state.player.advance(2.0);
        state.switch_wave(true, &clips);
        assert_eq!(state.document.wave.as_ref().map(|wave| (&*wave.clip, wave.start)), Some(("wave", 120)));
        state.stop();
        assert!(state.player.at_bind && state.player.tick() == 0 && !state.document.is_modified());
        state.switch_wave(true, &clips);
        assert!(state.player.playing && !state.player.at_bind, "a wave starts the clock");
    }

    #[test]
    fn another_model_starts_anew_and_keeps_how_it_is_looked_at() {
        let mut state = state("walkers");
        state.workload = Workload { instances: Some(9), packed: true, ..Workload::default() };
        state.player.speed = Speed::Frames(12);
        state.player.advance(1.0);
        state.split = true;
        state.switch_to("sprout-glb");
        assert_eq!((state.document.name(), state.player.tick()), ("sprout-glb", 0));
        assert_eq!((state.player.speed, state.split), (Speed::Frames(12), true));
        assert_eq!((state.workload.instances, state.workload.packed), (None, true));
        assert_eq!(state.settings.recent, ["sprout-glb", "walkers"]);
        state.switch_to("missing.glb");
        assert_eq!(state.document.name(), "sprout-glb", "what was there stays");
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_named_and_changes_nothing() {
        let mut state = state("walkers");
        let before = state.document.clone();
        state.switch_to("no-such-scene.toml");
        assert!(
            state.problem.as_deref().is_some_and(|text| text.contains("no-such-scene.toml")),
            "{:?}",
            state.problem
        );
        assert_eq!(state.document, before);
    }

    #[test]
    fn the_command_names_all_that_was_chosen() {
        let mut state = state("walkers");
        assert_eq!(state.command().unwrap(), "skinbench run walkers -b cpu-rayon");
        state.workload =
            Workload { instances: Some(50), passes: Some(0), normals: Normals::Exact, compact: true, ..state.workload };
        state.split = true;
        assert_eq!(
            state.command().unwrap(),
            "skinbench run walkers -b cpu-rayon,gpu-compute --instances 50 --passes 0 --normals exact --clips compact"
        );
        state.workload = Workload {
            influences: Some(2),
            smooth: true,
            economy: Some(Economy::UpdateRate([20.0, 40.5])),
            threads: Some(3),
            ..Workload::default()
        };
        state.split = false;
        assert_eq!(
            state.command().unwrap(),
            "skinbench run walkers -b cpu-rayon --influences 2 --update-rate 20,40.5 --threads 3 --interpolation smooth"
        );
        state.document.set_clip("run");
        assert!(state.command().unwrap_err().contains("save it"));
        assert_eq!(quoted("my fox's.glb"), r"'my fox'\''s.glb'");
    }

    #[test]
    fn settings_survive_as_text() {
        let settings = Settings { recent: vec!["a b.glb".into()], dark: Some(true), ..Settings::default() };
        let text = toml::to_string(&settings).unwrap();
        assert_eq!(toml::from_str::<Settings>(&text).unwrap(), settings);
        assert_eq!(toml::from_str::<Settings>("").unwrap(), Settings::default(), "what is missing has its default");
        let odd = Settings { backends: ["gone".into(), "cpu-simd".into()], ..Settings::default() };
        assert_eq!(State::open("walkers", odd).unwrap().settings.backends, ["cpu-rayon", "cpu-simd"]);
    }
}
