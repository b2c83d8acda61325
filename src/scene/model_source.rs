//! Source of a group's model, and the numbers that it is adapted to.

use super::error::{error, of_setting};
use crate::asset::adapt::with_vertices;
use crate::asset::{self, FORMATS, Request, Vertices, adapt, regular_file};
use crate::characters::{People, chain_64, face, star_64, walker};
use crate::error::DataError;
use crate::model::Model;
use crate::wording;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Vertices of a built-in model by default.
const DEFAULT_VERTICES: u32 = 1_000;
/// Most that all models of a scene may cost.
const MOST_COST: u64 = 1_000_000;
/// Seed of the built-in face. A scene's own seed chooses among its targets.
const FACE_SEED: u64 = 1;

/// Raised whenever a generated model changes, so that results of earlier ones are not compared with later ones.
pub const EDITION: u32 = 1;
/// Models that need no file.
pub const BUILT_IN_MODELS: [&str; 13] = [
    "walker",
    "walker-8",
    PEOPLE,
    "face",
    "chain-64",
    "star-64",
    "sprout-glb",
    "sprout-m3d",
    "sprout-ram",
    "sprout-js",
    "sprout-frames",
    "sprout-ogre",
    "sprout-md5",
];

/// The built-in model that stands for several: people who differ.
pub const PEOPLE: &str = "people";

/// A built-in sample: name of the model, and its files, with the one to open first.
type Sample = (&'static str, &'static [(&'static str, &'static [u8])]);

macro_rules! file {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!("../../scenes/models/", $name)),
        )
    };
}

const SAMPLES: [Sample; 7] = [
    ("sprout-glb", &[file!("sprout.glb")]),
    ("sprout-m3d", &[file!("sprout.m3d")]),
    (
        "sprout-ram",
        &[
            file!("sprout.ram"),
            file!("sprout.raa"),
            file!("sprout-nod.raa"),
        ],
    ),
    ("sprout-js", &[file!("sprout.js")]),
    ("sprout-frames", &[file!("sprout-frames.json")]),
    (
        "sprout-ogre",
        &[file!("sprout.mesh.xml"), file!("sprout.skeleton.xml")],
    ),
    (
        "sprout-md5",
        &[
            file!("sprout.md5mesh"),
            file!("sprout.md5anim"),
            file!("sprout-nod.md5anim"),
        ],
    ),
];

/// Origin of a model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
enum Origin {
    BuiltIn(&'static str),
    /// One of the people, by number.
    Person(u32),
    File(#[serde(skip)] PathBuf),
}

/// A model to load, and changes to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct ModelSource {
    origin: Origin,
    /// Approximate number of vertices to bring it to; `None` keeps a file's own, and means 1,000 for walkers, people and
    /// faces.
    pub vertices: Option<u32>,
    /// `true` if a file's model has all vertices, also those that no triangle uses.
    pub keep_vertices: bool,
    /// Most influences of a vertex.
    pub influences: Option<u32>,
    /// `true` if clips with only linear keys are smoothed to curves.
    pub smooth: bool,
}

impl ModelSource {
    /// The built-in model with this name, or a model file.
    pub fn from_name(name: impl AsRef<Path>) -> Self {
        Self::in_folder(name.as_ref(), Path::new(""))
    }

    /// As [`ModelSource::from_name`], with files relative to a folder.
    pub(super) fn in_folder(name: &Path, folder: &Path) -> Self {
        let mut models = BUILT_IN_MODELS.into_iter();
        let origin = match models.find(|known| Path::new(known) == name) {
            Some(PEOPLE) => Origin::Person(0),
            Some(known) => Origin::BuiltIn(known),
            None => Origin::File(folder.join(name)),
        };
        Self {
            origin,
            vertices: None,
            keep_vertices: false,
            influences: None,
            smooth: false,
        }
    }

    /// This many people, in the place of one of them.
    pub(super) fn people(&self, count: u32) -> Vec<Self> {
        let people = (0..count).map(|number| Self {
            origin: Origin::Person(number),
            ..self.clone()
        });
        people.collect()
    }

    pub(super) fn is_person(&self) -> bool {
        matches!(self.origin, Origin::Person(_))
    }

    /// Returns whether the model is read from a file, and is not built in.
    pub fn is_file(&self) -> bool {
        matches!(self.origin, Origin::File(_))
    }

    /// Builds or reads the model, then adapts it.
    ///
    /// # Errors
    /// One line: any error of the importer, or numbers that the model cannot be adapted to.
    pub fn load(&self) -> Result<Model, String> {
        self.load_with(&bases(&[self]))
            .map(|loaded| loaded.model)
            .map_err(|error| error.problem)
    }

    /// As [`ModelSource::load`] for several models, in parallel; meshes people once. The place of an error is the setting
    /// that causes it, if one does.
    pub(super) fn load_all(sources: &[&Self]) -> Vec<Result<LoadedModel, DataError>> {
        let bases = bases(sources);
        sources
            .par_iter()
            .map(|source| source.load_with(&bases))
            .collect()
    }

    fn load_with(&self, bases: &PeopleBases) -> Result<LoadedModel, DataError> {
        let is_generated = matches!(
            self.origin,
            Origin::BuiltIn("walker" | "walker-8" | "face") | Origin::Person(_)
        );
        let (original, files) = regular_file::hashed(|| self.original(bases));
        let mut model = original.map_err(|problem| {
            if is_generated {
                of_setting("vertices", problem)
            } else {
                error("", None, problem)
            }
        })?;
        let name = model.name().to_owned();
        if let Some(vertices) = self.vertices
            && !is_generated
        {
            model = with_vertices(model, vertices)
                .map_err(|error| of_setting("vertices", error.within(&name)))?;
        }
        if let Some(influences) = self.influences {
            model = adapt::with_influences(model, influences as usize)
                .map_err(|error| of_setting("influences", error.within(&name)))?;
        }
        if self.smooth {
            model = model
                .smoothed()
                .map_err(|error| of_setting("interpolation", error.within(&name)))?;
        }
        Ok(LoadedModel { model, files })
    }

    /// The model before it is adapted; generated ones have their number of vertices.
    fn original(&self, bases: &PeopleBases) -> Result<Model, Box<dyn Error>> {
        let vertices = self.generated_vertices();
        Ok(match &self.origin {
            Origin::BuiltIn("walker") => walker(vertices)?,
            Origin::BuiltIn("walker-8") => adapt::spread(walker(vertices)?, 8)?,
            Origin::BuiltIn("face") => face(vertices, FACE_SEED)?,
            Origin::BuiltIn("chain-64") => chain_64()?,
            Origin::BuiltIn("star-64") => star_64()?,
            Origin::BuiltIn(name) => sample(name)?,
            // Every source has its base.
            Origin::Person(number) => bases[&vertices]
                .as_ref()
                .map_err(String::clone)?
                .person(*number)?,
            Origin::File(file) => asset::load_with(&Request {
                file,
                clips: &[],
                vertices: if self.keep_vertices {
                    Vertices::All
                } else {
                    Vertices::Drawn
                },
            })?,
        })
    }

    /// Roughly the number of vertices of walkers that take as long to build as this model, and as much memory: people
    /// share a mesh, and files are read faster.
    fn cost(&self) -> u64 {
        let vertices = u64::from(self.generated_vertices());
        match &self.origin {
            Origin::BuiltIn(_) => vertices,
            Origin::Person(_) => vertices / 5,
            Origin::File(path) => fs::metadata(path).map_or(0, |file| file.len() / 1_000),
        }
    }

    /// The model up to which all take too long to load, and the reason, if there is one.
    pub(super) fn excess<'a>(sources: &[&'a Self]) -> Option<(&'a Self, String)> {
        let mut cost = 0;
        let last = sources.iter().find(|source| {
            cost += source.cost();
            cost > MOST_COST
        })?;
        let problem = format!(
            "the models up to this one take as long to build as walkers with {cost} vertices in all"
        );
        Some((last, format!("{problem}; expected at most {MOST_COST}")))
    }

    fn generated_vertices(&self) -> u32 {
        self.vertices.unwrap_or(DEFAULT_VERTICES)
    }
}

/// A model, and what its vertices come from.
pub struct LoadedModel {
    pub model: Model,
    /// Hash of the bytes of its files.
    pub files: u64,
}

/// The mesh of people by its number of vertices.
type PeopleBases = HashMap<u32, Result<People, String>>;

/// One mesh per number of vertices that people among the sources have.
fn bases(sources: &[&ModelSource]) -> PeopleBases {
    let mut bases = PeopleBases::new();
    for source in sources.iter().filter(|source| source.is_person()) {
        let vertices = source.generated_vertices();
        bases
            .entry(vertices)
            .or_insert_with(|| People::new(vertices).map_err(|error| error.to_string()));
    }
    bases
}

/// Importers read folders, so a sample is written to a temporary one.
fn sample(name: &str) -> Result<Model, String> {
    let Some((_, files)) = SAMPLES.iter().find(|(known, _)| *known == name) else {
        return Err(format!("unknown built-in model {name:?}"));
    };
    let folder = tempfile::tempdir()
        .map_err(|error| format!("cannot create a temporary folder: {error}"))?;
    for (file, bytes) in *files {
        let path = folder.path().join(file);
        fs::write(&path, bytes)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    asset::load(folder.path().join(files[0].0)).map_err(|error| error.to_string())
}

/// The endings of the names of model files, for messages.
pub fn model_endings() -> String {
    let extensions = FORMATS.iter().flat_map(|format| format.extensions);
    let endings: Vec<String> = extensions.map(|ending| format!(".{ending}")).collect();
    wording::list(&endings)
}

/// One line about a name that is neither that of a built-in model nor of a file.
pub fn unknown_model(name: &str) -> String {
    let unknown = wording::unknown("model", name, &BUILT_IN_MODELS);
    format!("{unknown}; a file's name ends in {}", model_endings())
}

/// Returns whether a path may be a model: by its extension, or because the file exists, whose content then decides.
pub fn is_model_file(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    FORMATS
        .iter()
        .flat_map(|f| f.extensions)
        .any(|e| name.ends_with(&format!(".{e}")))
        || path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_model_loads() {
        for name in BUILT_IN_MODELS {
            let model = ModelSource::from_name(name)
                .load()
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!model.clips().is_empty(), "{name}");
        }
    }
}
