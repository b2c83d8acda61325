//! Loading of scenes by name: built-in ones, scene files, and models used as scenes.

use super::error::error;
use super::model_source::{is_model_file, model_endings, unknown_model};
use super::{BUILT_IN_MODELS, ModelSource, Scene, SceneFile};
use crate::asset::regular_file;
use crate::error::DataError;
use crate::wording;
use std::path::{Path, PathBuf};

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
/// Most bytes of a scene file.
const MOST_BYTES: u64 = 1 << 20;
/// Models whose names make up that of their crowd.
const MOST_NAMED: usize = 4;

impl SceneFile {
    /// A built-in scene by name, a `.toml` file, or a model (built-in or file) as 100 instances that play its clips
    /// in turn.
    ///
    /// # Errors
    /// A name that is none of these, or a file that cannot be read or is too large.
    pub fn find(name: impl AsRef<Path>) -> Result<Self, DataError> {
        let path = name.as_ref();
        // A path need not be UTF-8; messages and results show it as far as it is.
        let name = &*path.to_string_lossy();
        if let Some((_, text)) = BUILT_IN.iter().find(|scene| scene.0 == name) {
            return Ok(Self {
                name: name.into(),
                file: format!("scenes/{name}.toml"),
                text: (*text).into(),
                folder: PathBuf::new(),
            });
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if is_scene_file(path) {
            let text = regular_file::read_text(path, MOST_BYTES)
                .map_err(|problem| error(name, None, format!("cannot read: {problem}")))?;
            return Ok(Self {
                name: stem.into(),
                file: name.into(),
                text,
                folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            });
        }
        if Scene::is_model(path) {
            // Another model stands in a text for a path that is not UTF-8.
            let model = toml::Value::from(path.to_str().unwrap_or(BUILT_IN_MODELS[0]));
            return Ok(Self {
                name: stem.into(),
                file: String::new(),
                text: format!("[[group]]\nmodel = {model}\ncount = 100\nclip = \"*\"\n"),
                folder: PathBuf::new(),
            });
        }
        Scene::check_name(path).map_err(|problem| error("", None, problem))?;
        // The name of a file rather than of a scene.
        Err(error(name, None, "no such file"))
    }
}

fn is_scene_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("toml"))
}

/// One line about a folder in the place of something else.
fn folder(path: &Path, expected: &str) -> String {
    format!("{}: is a folder; expected {expected}", path.display())
}

/// Returns whether a name is that of a built-in model, or of a model file.
fn names_model(name: &Path) -> bool {
    !ModelSource::from_name(name).is_file() || is_model_file(name)
}

impl Scene {
    /// The scene of a name, as [`SceneFile::find`] takes it.
    ///
    /// # Errors
    /// A name that is none of these, a file that cannot be read, an unknown key or a wrong value.
    pub fn load(name: impl AsRef<Path>) -> Result<Self, DataError> {
        let name = name.as_ref();
        let mut scene = SceneFile::find(name)?.read()?;
        if name.to_str().is_none() && Self::is_model(name) {
            scene.groups[0].models = vec![ModelSource::from_name(name)];
        }
        Ok(scene)
    }

    /// Refuses a name that is neither that of a scene or a model nor one of a file, which may be missing.
    ///
    /// # Errors
    /// One line with names that there are.
    pub fn check_name(name: impl AsRef<Path>) -> Result<(), String> {
        let path = name.as_ref();
        if Self::is_scene(path) || names_model(path) || path.extension().is_some() {
            return Ok(());
        }
        if path.is_dir() {
            return Err(folder(path, "a scene file (.toml) or a model in it"));
        }
        let scenes = BUILT_IN.iter().map(|scene| scene.0);
        let known: Vec<&str> = scenes.chain(BUILT_IN_MODELS).collect();
        let unknown = wording::unknown("scene", &path.to_string_lossy(), &known);
        let endings = model_endings();
        Err(format!("{unknown}; a file's name ends in .toml, {endings}"))
    }

    /// The model of a name, where no scene is accepted.
    ///
    /// # Errors
    /// One line: the name is that of a scene or a folder, or of nothing.
    pub fn model(name: impl AsRef<Path>) -> Result<ModelSource, String> {
        let path = name.as_ref();
        if Self::is_scene(path) {
            let expected = "a model file, or a built-in model of `skinbench list`";
            return Err(format!(
                "{} is a scene; expected {expected}",
                path.display()
            ));
        }
        if path.is_dir() {
            return Err(folder(path, "a model in it"));
        }
        if !names_model(path) && path.extension().is_none() {
            return Err(unknown_model(&path.to_string_lossy()));
        }
        Ok(ModelSource::from_name(path))
    }

    /// The scene with another model in all groups, as it is in its file: a built-in model or a model file. Its name
    /// gets that of the model, because the results are those of another scene.
    ///
    /// # Errors
    /// One line with names that there are, for a name that is neither.
    pub fn with_model(mut self, name: impl AsRef<Path>) -> Result<Self, String> {
        let name = name.as_ref();
        if !names_model(name) {
            return Err(unknown_model(&name.to_string_lossy()));
        }
        let stem = name.file_stem().unwrap_or_default().to_string_lossy();
        self.name = format!("{}-{stem}", self.name);
        for group in &mut self.groups {
            group.models = vec![ModelSource::from_name(name)];
            group.model_place = None;
        }
        Ok(self)
    }

    /// Returns whether a name is that of a model, built-in or a file, and not of a scene.
    pub fn is_model(name: impl AsRef<Path>) -> bool {
        let name = name.as_ref();
        !Self::is_scene(name) && names_model(name)
    }

    /// Returns whether a name is that of a built-in scene, or of a scene file.
    pub fn is_scene(name: impl AsRef<Path>) -> bool {
        let name = name.as_ref();
        BUILT_IN.iter().any(|scene| Path::new(scene.0) == name) || is_scene_file(name)
    }

    /// 100 instances of models, by name or file, in a random order, or one of each if these are more; each plays its
    /// model's clips in turn.
    ///
    /// # Errors
    /// As [`Scene::load`].
    ///
    /// # Panics
    /// No model.
    pub fn of_models(names: &[impl AsRef<Path>]) -> Result<Self, DataError> {
        let mut names_of_scenes = Vec::new();
        let mut models = Vec::new();
        let mut scenes = Vec::new();
        for name in names {
            let scene = Self::load(name)?;
            names_of_scenes.push(scene.name.clone());
            models.extend(scene.groups[0].models.clone());
            scenes.push(scene);
        }
        let more = names.len().saturating_sub(MOST_NAMED);
        names_of_scenes.truncate(MOST_NAMED);
        if more > 0 {
            names_of_scenes.push(more.to_string());
        }
        let mut scene = scenes.swap_remove(0);
        scene.name = names_of_scenes.join("+");
        let group = &mut scene.groups[0];
        group.models = models;
        group.count = group.count.max(group.least_count());
        Ok(scene)
    }
}
