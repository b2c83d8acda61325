//! Scene files to crowds: groups of instances, and the view that frames them.
//!
//! A scene is TOML: `seed`, `passes`, `resolution`, `[camera]` and one `[[group]]` for each set of instances. The
//! keys, their units and their defaults are documented where they are parsed, in `scene/file.rs`.

mod build;
mod camera;
mod file;
mod hash;
mod layer;
mod placing;
mod source;

pub use build::{BuiltScene, find_clip};
pub use camera::Camera;
pub use placing::Layout;
pub use source::{BUILT_IN_MODELS, ModelSource};

use crate::asset::FORMATS;
use crate::text;
use crate::vertex::VertexFormat;
use layer::{LayerPlan, Play, PlaybackMode};
use std::fmt;
use std::path::Path;

/// Scenes that the binary brings along: name and text.
pub const BUILT_IN: [(&str, &str); 14] = [
    ("walkers", include_str!("../scenes/walkers.toml")),
    ("smoke", include_str!("../scenes/smoke.toml")),
    ("kernel", include_str!("../scenes/kernel.toml")),
    ("crowd-10k", include_str!("../scenes/crowd-10k.toml")),
    ("crowd-10k-dense", include_str!("../scenes/crowd-10k-dense.toml")),
    ("zoo", include_str!("../scenes/zoo.toml")),
    ("historic", include_str!("../scenes/historic.toml")),
    ("street", include_str!("../scenes/street.toml")),
    ("amid", include_str!("../scenes/amid.toml")),
    ("layers-1", include_str!("../scenes/layers-1.toml")),
    ("layers-2", include_str!("../scenes/layers-2.toml")),
    ("layers-4", include_str!("../scenes/layers-4.toml")),
    ("chain-64", include_str!("../scenes/chain-64.toml")),
    ("star-64", include_str!("../scenes/star-64.toml")),
];
/// Vertices of a built-in model where none are asked for.
const DEFAULT_VERTICES: u32 = 1_000;
/// Instances where a model is given in place of a scene.
const DEFAULT_INSTANCES: u64 = 100;

/// Line and column in a scene file, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    line: usize,
    column: usize,
}

/// A scene that cannot be read or built: one line that names the file, the place in it and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneError {
    file: String,
    place: Option<Place>,
    problem: String,
    unknown: bool,
}

impl SceneError {
    fn new(file: impl Into<String>, problem: String) -> Self {
        Self { file: file.into(), place: None, problem, unknown: false }
    }

    fn at(file: &str, place: Place, problem: String) -> Self {
        Self { place: Some(place), ..Self::new(file, problem) }
    }

    /// Whether the name given is neither a scene nor a model.
    pub fn is_unknown_name(&self) -> bool {
        self.unknown
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}:", self.file)?;
            if let Some(place) = self.place {
                write!(f, "{}:{}:", place.line, place.column)?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for SceneError {}

/// What a group's instances play.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ClipChoice {
    First,
    All,
    Named(String),
}

/// Instances of one model.
#[derive(Debug, Clone, PartialEq)]
struct Group {
    model: ModelSource,
    count: u64,
    layout: Layout,
    spacing: Option<f64>,
    clip: ClipChoice,
    speed: f64,
    speed_spread: f64,
    play: Play,
    /// Of the clip among the merge layers.
    weight: f64,
    layers: Vec<LayerPlan>,
    yaw: f64,
    yaw_spread: f64,
    scale: Option<f64>,
    /// Of the key that decides the model.
    model_place: Option<Place>,
    clip_place: Option<Place>,
}

/// How clips are stored while they play.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Clips {
    /// Keys as the file has them.
    #[default]
    Raw,
    /// Frames of 16-bit numbers, of [`crate::compact`].
    Compact,
}

/// How a crowd saves posing, showing something else than a pose of its own for each instance at each tick.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Economy {
    /// It does not.
    #[default]
    Plain,
    /// Instances of a group that play the same clips share so many poses.
    PhaseBuckets(u32),
    /// Instances farther from the camera than these metres are posed every second and every fourth tick; between their
    /// poses they are interpolated.
    UpdateRate([f64; 2]),
}

impl Economy {
    /// Most buckets that there may be.
    pub const MOST_BUCKETS: u32 = 1 << 16;

    /// An update rate for distances in metres.
    ///
    /// # Errors
    /// A distance that is negative or not finite, or a second one less than the first.
    pub fn update_rate([near, far]: [f64; 2]) -> Result<Self, String> {
        match near >= 0.0 && near <= far && far.is_finite() {
            true => Ok(Self::UpdateRate([near, far])),
            false => Err(format!("[{near}, {far}]; expected metres, 0 or more, the second no less than the first")),
        }
    }
}

/// Changes to a scene from outside its file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Overrides {
    /// Instances of all groups together, shared out in proportion, at least one each.
    pub instances: Option<u64>,
    /// How many times a frame draws the crowd.
    pub passes: Option<u32>,
    /// About how many vertices each model is brought to.
    pub vertices: Option<u32>,
    /// Most influences that a vertex keeps.
    pub influences: Option<u32>,
    /// What skinning writes for a vertex.
    pub format: VertexFormat,
    /// How clips are stored.
    pub clips: Clips,
    /// Whether all groups' clips get curves where their keys are linear.
    pub smooth: bool,
    /// How the crowd saves posing, if not as the scene says.
    pub economy: Option<Economy>,
}

/// A crowd's description.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    name: String,
    file: String,
    seed: u64,
    passes: u32,
    resolution: [u32; 2],
    camera: Camera,
    format: VertexFormat,
    clips: Clips,
    smooth: bool,
    economy: Economy,
    groups: Vec<Group>,
}

/// Whether a path may be a model: by its ending, or because there is such a file, whose content decides then.
fn is_model_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    FORMATS.iter().flat_map(|f| f.extensions).any(|e| name.ends_with(&format!(".{e}"))) || path.is_file()
}

impl Scene {
    /// A built-in scene by name, a `.toml` file, or a model (built-in or file) as 100 instances that play its clips
    /// in turn.
    ///
    /// # Errors
    /// A name that is none of these, a file that cannot be read, an unknown key or a wrong value.
    pub fn load(name: &str) -> Result<Self, SceneError> {
        if let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Self::parse(name, &format!("scenes/{name}.toml"), text, Path::new(""));
        }
        let path = Path::new(name);
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
            let text = std::fs::read_to_string(path)
                .map_err(|error| SceneError::new(name, format!("cannot read: {error}")))?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            return Self::parse(&stem, name, &text, path.parent().unwrap_or(Path::new("")));
        }
        if BUILT_IN_MODELS.contains(&name) || is_model_file(path) {
            return Ok(Self::from_model(name));
        }
        let endings: Vec<_> = FORMATS.iter().flat_map(|f| f.extensions).map(|e| format!("a .{e} file")).collect();
        let known: Vec<_> = BUILT_IN
            .iter()
            .map(|(known, _)| *known)
            .chain(BUILT_IN_MODELS)
            .chain(["a .toml file"])
            .chain(endings.iter().map(String::as_str))
            .collect();
        Err(SceneError { unknown: true, ..SceneError::new("", text::unknown("scene", name, &known)) })
    }

    /// Reads a scene's text; `file` names it in errors, model paths start at `folder`.
    ///
    /// # Errors
    /// An unknown key or a wrong value, with line and column.
    pub fn parse(name: &str, file: &str, text: &str, folder: &Path) -> Result<Self, SceneError> {
        file::parse(name, file, text, folder)
    }

    fn from_model(name: &str) -> Self {
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        let group = Group {
            model: ModelSource::from_name(name),
            count: DEFAULT_INSTANCES,
            layout: Layout::Grid,
            spacing: None,
            clip: ClipChoice::All,
            speed: 1.0,
            speed_spread: 0.0,
            play: Play { mode: PlaybackMode::Loop, phase_spread: 1.0, offset: 0.0, frames_per_second: 0.0 },
            weight: 1.0,
            layers: Vec::new(),
            yaw: 0.0,
            yaw_spread: 0.0,
            scale: None,
            model_place: None,
            clip_place: None,
        };
        Self {
            name: stem.into_owned(),
            file: String::new(),
            seed: 1,
            passes: 1,
            resolution: [1280, 720],
            camera: Camera { orbit: 25.0, elevation: 20.0, distance: 1.0, field_of_view: 40.0 },
            format: VertexFormat::default(),
            clips: Clips::Raw,
            smooth: false,
            economy: Economy::Plain,
            groups: vec![group],
        }
    }

    /// Name of the scene, or of the model in its place.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Instances of all groups.
    pub fn instances(&self) -> u64 {
        self.groups.iter().fold(0, |sum, g| sum.saturating_add(g.count))
    }

    /// The scene with other numbers.
    pub fn with(mut self, overrides: Overrides) -> Self {
        if let Some(instances) = overrides.instances {
            let total = u128::from(self.instances());
            let (mut before, mut given) = (0u128, 0u128);
            let groups = self.groups.len();
            for (index, group) in self.groups.iter_mut().enumerate() {
                before += u128::from(group.count);
                // Rounding the running total keeps the sum exact; every later group needs one, too.
                let end = (before * u128::from(instances) + total / 2) / total;
                let end = end.min(u128::from(instances).saturating_sub((groups - 1 - index) as u128));
                group.count = end.saturating_sub(given).max(1) as u64;
                given += u128::from(group.count);
            }
        }
        if let Some(passes) = overrides.passes {
            self.passes = passes;
        }
        for group in &mut self.groups {
            group.model.vertices = overrides.vertices.or(group.model.vertices);
            group.model.influences = overrides.influences.or(group.model.influences);
            group.model.smooth |= overrides.smooth;
        }
        self.format = overrides.format;
        self.clips = overrides.clips;
        self.smooth = overrides.smooth;
        self.economy = overrides.economy.unwrap_or(self.economy);
        self
    }
}

#[cfg(test)]
mod tests;
