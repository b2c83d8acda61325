//! The state that the controls of the window change: plain data with one method per action, independent of window and
//! device.

use super::open_scene::OpenScene;
use super::orbit::Orbit;
use super::player::Player;
use crate::error::DataError;
use crate::frame::Mode;
use crate::registry;
use crate::scene::{self, BUILT_IN, BUILT_IN_MODELS, Camera, ClipChoice, Scene, Settings};
use serde::{Deserialize, Serialize};

/// Backend that is shown first.
const DEFAULT_BACKEND: &str = "cpu-rayon";
/// Backend that side B begins with.
const OTHER_BACKEND: &str = "gpu-compute";
/// Files that are remembered.
const RECENT: usize = 8;

/// Parts of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Show {
    /// Lit triangles.
    pub skin: bool,
    /// Edges of the triangles.
    pub wireframe: bool,
    /// Bones, and joints as axes (x red, y green, z blue).
    pub skeleton: bool,
    /// A ground with a grid.
    pub ground: bool,
    /// A distinct colour for each instance.
    pub tint: bool,
}

impl Default for Show {
    fn default() -> Self {
        Self {
            skin: true,
            wireframe: false,
            skeleton: false,
            ground: true,
            tint: true,
        }
    }
}

impl Show {
    /// Names of the parts on the command line.
    pub const NAMES: [&'static str; 5] = ["skin", "wireframe", "skeleton", "ground", "tint"];

    /// Whether each part is shown, in the order of [`Show::NAMES`].
    pub fn parts(&mut self) -> [&mut bool; 5] {
        [
            &mut self.skin,
            &mut self.wireframe,
            &mut self.skeleton,
            &mut self.ground,
            &mut self.tint,
        ]
    }

    /// Mode in which meshes are drawn; `None` if they are not.
    pub fn mode(self) -> Option<Mode> {
        Mode::of(self.skin, self.wireframe)
    }
}

/// Vertices that the error colours compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Errors {
    /// Nothing: the crowd has its own colours.
    #[default]
    Hidden,
    /// Each side with the f64 reference.
    Reference,
    /// The two sides with each other.
    Sides,
}

/// Preferences that are kept from one window to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preferences {
    /// Last files and scenes, the newest first.
    pub recent: Vec<String>,
    /// Parts of the picture.
    pub show: Show,
    /// Backends of the sides A and B.
    pub backends: [String; 2],
    /// `true` for a dark window, `false` for a light one; `None` follows the system.
    pub dark: Option<bool>,
}

impl Default for Preferences {
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
#[derive(Debug, Clone)]
pub struct State {
    /// Preferences that are kept.
    pub preferences: Preferences,
    /// The scene.
    pub opened: OpenScene,
    /// Playback.
    pub player: Player,
    /// The camera.
    pub orbit: Orbit,
    /// Settings of the crowd and its run.
    pub run: Settings,
    /// Threads of parallel backends; `None` for all.
    pub threads: Option<u32>,
    /// `true` to show side B next to side A.
    pub split: bool,
    /// Place of the divider between the sides, 0 to 1 from the left.
    pub divider: f32,
    /// Vertices that the error colours compare.
    pub errors: Errors,
    /// Clip of the overlay; `None` for one that is called `wave`, or else the model's second clip.
    pub overlay: Option<String>,
    /// Joint that the overlay begins at; `None` for all joints.
    pub joint: Option<String>,
    /// Length of the overlay's fades in seconds.
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
    /// As [`OpenScene::open`].
    pub fn open(source: &str, preferences: Preferences) -> Result<Self, DataError> {
        let opened = OpenScene::open(source)?;
        let camera = opened.scene().camera;
        let mut state = Self {
            preferences,
            opened,
            player: Player::default(),
            orbit: Orbit::new(camera),
            run: Settings::default(),
            threads: None,
            split: false,
            divider: 0.5,
            errors: Errors::Hidden,
            overlay: None,
            joint: None,
            fade: 0.4,
            problem: None,
            attempt: 0,
            scene_camera: camera,
        };
        for (backend, default) in state
            .preferences
            .backends
            .iter_mut()
            .zip([DEFAULT_BACKEND, OTHER_BACKEND])
        {
            if registry::find(backend).is_none() {
                *backend = default.into();
            }
        }
        state.remember(source);
        Ok(state)
    }

    /// Switches to another scene or model. If it cannot be opened, only [`State::problem`] changes.
    pub fn switch_to(&mut self, source: &str) {
        match Self::open(source, self.preferences.clone()) {
            Ok(opened) => {
                // Counts chosen for one crowd may not suit another.
                let run = Settings {
                    instances: None,
                    passes: None,
                    vertices: None,
                    update_rate: None,
                    ..self.run.clone()
                };
                *self = Self {
                    player: self.player.anew(),
                    run,
                    threads: self.threads,
                    split: self.split,
                    divider: self.divider,
                    errors: self.errors,
                    fade: self.fade,
                    attempt: self.attempt,
                    ..opened
                };
            }
            Err(error) => self.problem = Some(error.to_string()),
        }
    }

    /// Chooses settings of the crowd and its run. The list of clips shows the clip, and can change it.
    pub fn choose(&mut self, mut run: Settings) {
        if let Some(clip) = run.clip.take() {
            self.opened.set_clip(ClipChoice::of(&clip));
        }
        self.run = run;
    }

    /// Stops playback: shows the bind pose at the first frame, without overlays.
    pub fn stop(&mut self) {
        self.player.stop();
        self.opened.drop_overlays();
    }

    /// The clip of the overlay; `None` if there is no clip. `clips` are those of the first model.
    pub fn overlay<'a>(&'a self, clips: &'a [String]) -> Option<&'a str> {
        let wave = clips.iter().find(|clip| *clip == "wave");
        let default = wave.or(clips.get(1)).or(clips.first());
        self.overlay.as_ref().or(default).map(String::as_str)
    }

    /// Switches the overlay on or off at the current time. `clips` are those of the first model.
    pub fn switch_overlay(&mut self, on: bool, clips: &[String]) {
        let tick = self.player.tick();
        if !on {
            self.opened.fade_out(self.fade, tick);
            return;
        }
        let Some(clip) = self.overlay(clips).map(String::from) else {
            self.problem = Some("the model has no clip to lay over".into());
            return;
        };
        if self.player.at_bind {
            self.player.play();
        }
        let joint = self.joint.as_deref();
        self.opened.lay_over(&clip, joint, self.fade, tick);
    }

    /// Resets the camera to that of the scene.
    pub fn reset_camera(&mut self) {
        self.orbit = Orbit::new(self.scene_camera);
    }

    /// Names in the list of scenes and models.
    pub fn library(&self) -> Vec<String> {
        let mut built_in: Vec<&str> = BUILT_IN.iter().map(|scene| scene.0).collect();
        built_in.extend(BUILT_IN_MODELS);
        let mut all = self.preferences.recent.clone();
        all.retain(|source| !built_in.contains(&source.as_str()));
        all.extend(built_in.into_iter().map(String::from));
        all
    }

    /// The backends that are shown, one or two.
    pub fn backends(&self) -> &[String] {
        let is_split = self.split || self.errors == Errors::Sides;
        &self.preferences.backends[..if is_split { 2 } else { 1 }]
    }

    /// The scene with all options, as it is run.
    pub fn scene(&self) -> Scene {
        self.opened.scene().with(self.run.clone())
    }

    /// The command line that measures the scene that is shown.
    ///
    /// # Errors
    /// What was chosen here that no command can name.
    pub fn command(&self) -> Result<String, String> {
        let in_file = "a scene file can have it, so that a command can name it";
        if self.opened.has_overlays() {
            return Err(format!("clips are laid over others here; {in_file}"));
        }
        let clip = self.opened.clip_argument();
        let clip = clip.map_err(|problem| format!("{problem}; {in_file}"))?;
        let mut words = vec!["skinbench run".to_owned(), quoted(&self.opened.source)];
        words.push(format!("-b {}", self.backends().join(",")));
        words.extend(clip.map(|clip| format!("--clip {}", quoted(clip))));
        for chosen in self.run.chosen() {
            words.push(scene::argument(chosen.setting.name));
            let value = chosen.words.join(",");
            words.extend((!value.is_empty()).then(|| quoted(&value)));
        }
        words.extend(self.threads.map(|count| format!("--threads {count}")));
        Ok(words.join(" "))
    }

    fn remember(&mut self, source: &str) {
        let recent = &mut self.preferences.recent;
        recent.retain(|known| known != source);
        recent.insert(0, source.into());
        recent.truncate(RECENT);
    }
}

/// Quotes a word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::player::Speed;
    use super::*;
    use crate::scene::{Clips, Interpolation, Output};
    use crate::vertex::Normals;

    fn state(source: &str) -> State {
        State::open(source, Preferences::default()).unwrap()
    }

    #[test]
    fn stop_resets_moment_and_overlay() {
        let mut state = state("walkers");
        let clips = ["walk", "run", "wave"].map(String::from);
        state.player.advance(2.0);
        assert_eq!(state.overlay(&clips), Some("wave"));
        state.switch_overlay(true, &clips);
        assert!(state.opened.is_overlay_on());
        state.stop();
        assert!(state.player.at_bind && state.player.tick() == 0 && !state.opened.has_overlays());
        state.switch_overlay(true, &clips);
        assert!(
            state.player.playing && !state.player.at_bind,
            "an overlay starts the clock"
        );
    }

    #[test]
    fn another_model_starts_anew_and_keeps_how_it_is_looked_at() {
        let mut state = state("walkers");
        state.run = Settings {
            instances: Some(9),
            output: Some(Output::Packed),
            ..Settings::default()
        };
        state.player.speed = Speed::Frames(12);
        state.player.advance(1.0);
        state.split = true;
        state.switch_to("sprout-glb");
        assert_eq!(
            (state.opened.name(), state.player.tick()),
            ("sprout-glb", 0)
        );
        assert_eq!((state.player.speed, state.split), (Speed::Frames(12), true));
        assert_eq!(
            (state.run.instances, state.run.output),
            (None, Some(Output::Packed))
        );
        assert_eq!(state.preferences.recent, ["sprout-glb", "walkers"]);
        state.switch_to("missing.glb");
        assert_eq!(state.opened.name(), "sprout-glb", "what was there stays");
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_named_and_changes_nothing() {
        let mut state = state("walkers");
        let before = format!("{:?}", state.opened);
        state.switch_to("no-such-scene.toml");
        assert!(
            state
                .problem
                .as_deref()
                .is_some_and(|text| text.contains("no-such-scene.toml")),
            "{:?}",
            state.problem
        );
        assert_eq!(format!("{:?}", state.opened), before);
    }

    #[test]
    fn the_command_names_all_that_was_chosen() {
        let mut state = state("walkers");
        assert_eq!(
            state.command().unwrap(),
            "skinbench run walkers -b cpu-rayon"
        );
        state.run = Settings {
            instances: Some(50),
            passes: Some(0),
            normals: Some(Normals::Exact),
            clips: Some(Clips::Compact),
            ..Settings::default()
        };
        state.split = true;
        assert_eq!(
            state.command().unwrap(),
            "skinbench run walkers -b cpu-rayon,gpu-compute --instances 50 --passes 0 --normals exact --clips compact"
        );
        state.run = Settings {
            influences: Some(2),
            interpolation: Some(Interpolation::Smooth),
            update_rate: Some([20.0, 40.5]),
            ..Settings::default()
        };
        state.threads = Some(3);
        state.split = false;
        assert_eq!(
            state.command().unwrap(),
            "skinbench run walkers -b cpu-rayon --influences 2 --interpolation smooth --update-rate 20,40.5 --threads 3"
        );
        state.threads = None;
        state.choose(Settings {
            clip: Some("run".into()),
            ..Settings::default()
        });
        assert_eq!(
            state.command().unwrap(),
            "skinbench run walkers -b cpu-rayon --clip run"
        );
        state.switch_overlay(true, &["walk".into()]);
        assert!(state.command().unwrap_err().contains("a scene file"));
        state.switch_to("zoo");
        state.opened.set_clip(ClipChoice::All);
        assert!(state.command().unwrap_err().contains("one model"));
        assert_eq!(quoted("my fox's.glb"), r"'my fox'\''s.glb'");
    }

    #[test]
    fn preferences_survive_as_text() {
        let preferences = Preferences {
            recent: vec!["a b.glb".into()],
            dark: Some(true),
            ..Preferences::default()
        };
        let text = toml::to_string(&preferences).unwrap();
        assert_eq!(toml::from_str::<Preferences>(&text).unwrap(), preferences);
        assert_eq!(
            toml::from_str::<Preferences>("").unwrap(),
            Preferences::default(),
            "what is missing has its default"
        );
        let odd = Preferences {
            backends: ["gone".into(), "cpu-simd".into()],
            ..Preferences::default()
        };
        assert_eq!(
            State::open("walkers", odd).unwrap().preferences.backends,
            ["cpu-rayon", "cpu-simd"]
        );
    }
}
