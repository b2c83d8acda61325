//! Loading of scenes by name: built-in ones, scene files, and models used as scenes.

use super::camera::Camera;
use super::description::{ClipChoice, Clips, Economy, GroupDescription, Scene};
use super::error::SceneError;
use super::file;
use super::layer::{Play, PlaybackMode};
use super::model_source::{BUILT_IN_MODELS, ModelSource, is_model_file};
use super::placing::Layout;
use crate::asset::FORMATS;
use crate::vertex::VertexFormat;
use crate::wording;
use std::path::Path;

/// Scenes in the binary: name and text.
pub const BUILT_IN: [(&str, &str); 16] = [
    ("walkers", include_str!("../../scenes/walkers.toml")),
    ("smoke", include_str!("../../scenes/smoke.toml")),
    ("kernel", include_str!("../../scenes/kernel.toml")),
    ("crowd-10k", include_str!("../../scenes/crowd-10k.toml")),
    ("crowd-10k-dense", include_str!("../../scenes/crowd-10k-dense.toml")),
    ("zoo", include_str!("../../scenes/zoo.toml")),
    ("historic", include_str!("../../scenes/historic.toml")),
    ("street", include_str!("../../scenes/street.toml")),
    ("amid", include_str!("../../scenes/amid.toml")),
    ("layers-1", include_str!("../../scenes/layers-1.toml")),
    ("layers-2", include_str!("../../scenes/layers-2.toml")),
    ("layers-4", include_str!("../../scenes/layers-4.toml")),
    ("faces", include_str!("../../scenes/faces.toml")),
    ("one-face", include_str!("../../scenes/one-face.toml")),
    ("chain-64", include_str!("../../scenes/chain-64.toml")),
    ("star-64", include_str!("../../scenes/star-64.toml")),
];
/// Number of instances if a model is used as a scene.
const DEFAULT_INSTANCES: u64 = 100;

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
        Err(SceneError { unknown: true, ..SceneError::new("", wording::unknown("scene", name, &known)) })
    }

    /// Parses a scene's text; `file` is its name in errors, and model paths are relative to `folder`.
    ///
    /// # Errors
    /// An unknown key or a wrong value, with line and column.
    pub fn parse(name: &str, file: &str, text: &str, folder: &Path) -> Result<Self, SceneError> {
        file::parse(name, file, text, folder)
    }

    fn from_model(name: &str) -> Self {
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        let group = GroupDescription {
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
            expression: Default::default(),
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
            active_targets: None,
            economy: Economy::Plain,
            groups: vec![group],
        }
    }
}
