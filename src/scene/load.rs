//! Loading of scenes by name: built-in ones, scene files, and models used as scenes.

use super::description::DEFAULT_PEOPLE;
use super::model_source::{is_model_file, model_endings};
use super::{BUILT_IN_MODELS, ModelSource, Scene, SceneError, file};
use crate::asset::regular_file;
use crate::wording;
use std::path::Path;

/// Pairs of a scene's name and the text of its file.
macro_rules! scenes {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../scenes/", $name, ".toml")))),*]
    };
}

/// Scenes in the binary: name and text.
pub const BUILT_IN: [(&str, &str); 22] = scenes! {
    "walkers" "smoke" "kernel" "crowd-10k" "crowd-10k-dense" "zoo" "historic" "street" "amid" "city" "layers-1"
    "layers-2" "layers-4" "faces" "one-face" "chain-64" "star-64" "many-foxes" "mannequins-100" "mannequins-1000"
    "instanced-30" "instanced-baked"
};
/// The scene of models that are used as one, with a model in their place.
const OF_MODELS: &str = "[[group]]\nmodel = \"walker\"\ncount = 100\nclip = \"*\"";
/// Most bytes of a scene file.
const MOST_BYTES: u64 = 1 << 20;
/// Models whose names make up that of their crowd.
const MOST_NAMED: usize = 4;

/// Returns whether a path names a scene file.
pub fn is_scene_file(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"))
}

/// The text of a scene file.
///
/// # Errors
/// The file cannot be read, or is too large.
pub fn text_of(file: &str) -> Result<String, SceneError> {
    let text = regular_file::read_text(Path::new(file), MOST_BYTES);
    text.map_err(|error| SceneError::new(file, format!("cannot read: {error}")))
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
        if is_scene_file(path) {
            let text = text_of(name)?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            return Self::parse(&stem, name, &text, path.parent().unwrap_or(Path::new("")));
        }
        if Self::is_model(name) {
            return Ok(Self::of_models(&[name]));
        }
        let endings = model_endings();
        let scenes = BUILT_IN.iter().map(|(known, _)| *known).chain(BUILT_IN_MODELS).chain(["a .toml file"]);
        let known: Vec<_> = scenes.chain(endings.iter().map(String::as_str)).collect();
        Err(SceneError { is_unknown: true, ..SceneError::new("", wording::unknown("scene", name, &known)) })
    }

    /// The scene with another model in all groups, as it is in its file: a built-in model or a model file. Its name
    /// gets that of the model, because the results are those of another scene.
    ///
    /// # Errors
    /// A name that is neither.
    pub fn with_model(mut self, name: &str) -> Result<Self, SceneError> {
        if !BUILT_IN_MODELS.contains(&name) && !is_model_file(Path::new(name)) {
            let unknown = wording::unknown("model", name, &[&BUILT_IN_MODELS[..], &["a model file"]].concat());
            return Err(SceneError { is_unknown: true, ..SceneError::new("", unknown) });
        }
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        self.name = format!("{}-{stem}", self.name);
        for group in &mut self.groups {
            group.models = vec![ModelSource::from_name(name)];
            group.model_place = None;
        }
        Ok(self)
    }

    /// Returns whether a name is that of a model, built-in or a file, and not of a scene.
    pub fn is_model(name: &str) -> bool {
        let path = Path::new(name);
        let scene = BUILT_IN.iter().any(|(known, _)| *known == name) || is_scene_file(path);
        !scene && (BUILT_IN_MODELS.contains(&name) || is_model_file(path))
    }

    /// Parses a scene's text; `file` is its name in errors, and model paths are relative to `folder`.
    ///
    /// # Errors
    /// An unknown key or a wrong value, with line and column.
    pub fn parse(name: &str, file: &str, text: &str, folder: &Path) -> Result<Self, SceneError> {
        file::parse(name, file, text, folder)
    }

    /// 100 instances of models, by name or file, in a random order; each plays its model's clips in turn.
    ///
    /// # Panics
    /// No model.
    pub fn of_models(names: &[&str]) -> Self {
        assert!(!names.is_empty(), "a crowd of no model");
        let stem = |name: &&str| Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let stems: Vec<String> = names.iter().take(MOST_NAMED).map(stem).collect();
        let rest = names.len() - stems.len();
        let name = stems.join("+") + &(if rest > 0 { format!("+{rest}") } else { String::new() });
        let source = |name: &&str| {
            let source = ModelSource::from_name(name);
            source.people(DEFAULT_PEOPLE).unwrap_or_else(|| vec![source])
        };
        let mut scene = Self::parse(&name, "", OF_MODELS, Path::new("")).expect("a scene with defaults for every key");
        let group = &mut scene.groups[0];
        group.models = names.iter().flat_map(source).collect();
        (group.model_place, group.clip_place) = (None, None);
        scene
    }
}
