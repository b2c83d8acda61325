//! Importers: one file per format, one line in [`FORMATS`] each; the exporter to glTF; and the built-in walker.

pub mod adapt;
mod affine;
mod beside;
mod budget;
pub mod extremes;
mod fault;
pub mod glb;
mod gltf;
mod m3d;
mod md5;
mod ogre_xml;
mod place;
mod ram;
mod seams;
mod text;
mod three_json;
pub mod walker;

use crate::model::{Model, ModelError};
use fault::{Fault, OffUnit};
use serde::de::DeserializeOwned;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A model file that could not be read: one line that names the file, the place in it and what was expected.
#[derive(Debug, thiserror::Error)]
#[error("{}: {place}{}{problem}", .file.display(), if .place.is_empty() { "" } else { ": " })]
pub struct ImportError {
    /// The file.
    pub file: PathBuf,
    /// Line and column, JSON or XML path, or byte; empty when it is the whole file.
    pub place: String,
    /// What is wrong and what would be accepted.
    pub problem: String,
}

impl ImportError {
    pub(crate) fn new(file: &Path, place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { file: file.into(), place: place.into(), problem: problem.into() }
    }

    pub(crate) fn from_model(file: &Path, error: ModelError) -> Self {
        Self::new(file, error.place, error.problem)
    }
}

/// A file format that can be read.
pub struct Format {
    /// Name for messages.
    pub name: &'static str,
    /// Lower-case file name endings that only this format has, without the first dot.
    pub extensions: &'static [&'static str],
    /// Whether a file of another ending (.js, .json, .xml, .txt) is of this format, judged by its first [`HEAD`] bytes.
    pub sniff: fn(&[u8]) -> bool,
    /// How it is read.
    pub import: Import,
}

/// How a format's files become a model.
pub enum Import {
    /// Clips are in the model's file, or in files that it names.
    Whole(fn(&Path) -> Result<Model, ImportError>),
    /// Clips may be in files of their own; without any named, those beside the model are taken.
    WithClips(fn(&Path, &[PathBuf]) -> Result<Model, ImportError>),
}

/// How many bytes [`Format::sniff`] is shown at most.
pub const HEAD: usize = 4096;

/// Every format.
pub const FORMATS: &[Format] = &[
    Format { name: "glTF 2.0", extensions: &["gltf", "glb"], sniff: gltf::sniff, import: Import::Whole(gltf::import) },
    Format { name: "m3d", extensions: &["m3d"], sniff: m3d::sniff, import: Import::Whole(m3d::import) },
    Format { name: "RAM", extensions: &["ram"], sniff: ram::sniff, import: Import::WithClips(ram::import) },
    Format {
        name: "OgreXML",
        extensions: &["mesh.xml"],
        sniff: ogre_xml::sniff,
        import: Import::Whole(ogre_xml::import),
    },
    Format { name: "MD5", extensions: &["md5mesh"], sniff: md5::sniff, import: Import::WithClips(md5::import) },
    // The last one, as others may hold its words.
    Format {
        name: "three.js JSON",
        extensions: &[],
        sniff: three_json::sniff,
        import: Import::Whole(three_json::import),
    },
];

/// Reads a model in any of [`FORMATS`], with the clips that it has or that lie beside it.
///
/// # Errors
/// No such file, no format that has this ending or content, or whatever the importer finds wrong.
pub fn load(file: &Path) -> Result<Model, ImportError> {
    load_with(file, &[])
}

/// Reads a model with clips from files of their own (`.raa` for RAM, `.md5anim` for MD5) instead of those beside it.
///
/// # Errors
/// As [`load`], for any of the files; clips for a format that keeps them in the model's file.
pub fn load_with(file: &Path, clips: &[PathBuf]) -> Result<Model, ImportError> {
    let format = format_of(file)?;
    match (&format.import, clips) {
        (Import::WithClips(import), _) => import(file, clips),
        (Import::Whole(import), []) => import(file),
        (Import::Whole(_), [clip, ..]) => Err(ImportError::new(
            clip,
            "",
            format!(
                "cannot be added to {}; expected no other file, as {} holds its clips",
                file.display(),
                format.name
            ),
        )),
    }
}

/// By the file's ending, else by its content.
fn format_of(file: &Path) -> Result<&'static Format, ImportError> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let has = |extension: &&str| name.strip_suffix(extension).is_some_and(|stem| stem.ends_with('.'));
    if let Some(format) = FORMATS.iter().find(|f| f.extensions.iter().any(has)) {
        return Ok(format);
    }
    let mut head = Vec::new();
    open(file)?.take(HEAD as u64).read_to_end(&mut head).map_err(|error| unreadable(file, &error))?;
    FORMATS.iter().find(|f| (f.sniff)(&head)).ok_or_else(|| {
        let known: Vec<_> = FORMATS.iter().flat_map(|f| f.extensions).map(|e| format!(".{e}")).collect();
        let names: Vec<_> = FORMATS.iter().map(|f| f.name).collect();
        let problem = format!(
            "no known model format; expected a file that ends in {}, or one that begins like {}",
            known.join(", "),
            names.join(", ")
        );
        ImportError::new(file, "", problem)
    })
}

/// Opens a regular file: a pipe would block, a folder has no bytes.
fn open(file: &Path) -> Result<fs::File, ImportError> {
    let metadata = fs::metadata(file).map_err(|error| unreadable(file, &error))?;
    if !metadata.is_file() {
        return Err(ImportError::new(file, "", "is no file"));
    }
    fs::File::open(file).map_err(|error| unreadable(file, &error))
}

fn read_file(file: &Path) -> Result<Vec<u8>, ImportError> {
    let mut bytes = Vec::new();
    open(file)?.read_to_end(&mut bytes).map_err(|error| unreadable(file, &error))?;
    Ok(bytes)
}

fn read_text(file: &Path) -> Result<String, ImportError> {
    String::from_utf8(read_file(file)?).map_err(|error| {
        let error = error.utf8_error();
        ImportError::new(file, format!("byte {}", error.valid_up_to()), "is no UTF-8; expected plain text")
    })
}

fn unreadable(file: &Path, error: &std::io::Error) -> ImportError {
    ImportError::new(file, "", format!("cannot be read: {error}"))
}

/// Reads JSON; what is wrong has a line and column.
fn from_json<T: DeserializeOwned>(json: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(json).map_err(|error| {
        let message = error.to_string();
        let problem = message.rsplit_once(" at line ").map_or(message.as_str(), |(problem, _)| problem);
        Fault::new(format!("line {} column {}", error.line(), error.column()), problem)
    })
}

/// The display name of what a file holds.
fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether a file's beginning has a word in it.
fn contains(head: &[u8], word: &str) -> bool {
    head.windows(word.len()).any(|window| window == word.as_bytes())
}
