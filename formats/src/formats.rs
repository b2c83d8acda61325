//! The list of formats, and the selection of one for a file.

use crate::drawn;
use crate::error::ImportError;
use crate::fault::in_file;
use crate::read_file::{MOST_BYTES, unreadable, without_mark};
use crate::request::{Request, Vertices};
use crate::{foreign, gltf, m3d, md5, ogre_xml, ram, regular_file, three_json};
use skinbench_kernels::model::{Model, ModelParts};
use std::path::Path;

/// A file format that can be read.
pub struct Format {
    /// Name for messages.
    pub name: &'static str,
    /// Lower-case file name extensions that only this format has, without the first dot.
    pub extensions: &'static [&'static str],
    /// `true` if a file with another extension (.js, .json, .xml, .txt) has this format, judged by its first [`HEAD`]
    /// bytes.
    pub sniff: fn(&[u8]) -> bool,
    /// `true` if clips are in files of their own; if none are given, those beside the model are used.
    pub clip_files: bool,
    /// Parts of a file that are ignored without a note, under the format's names; a `*` stands for any characters.
    /// Other parts that are not read become a [`Repair`](skinbench_kernels::model::Repair).
    pub ignored: &'static [&'static str],
    /// Importer of the format.
    pub import: fn(&Request) -> Result<ModelParts, ImportError>,
}

/// Most bytes that [`Format::sniff`] receives.
pub const HEAD: usize = 4096;

/// Every format.
pub const FORMATS: &[Format] = &[
    Format {
        name: "glTF 2.0",
        extensions: &["gltf", "glb"],
        sniff: gltf::sniff,
        clip_files: false,
        ignored: gltf::IGNORED,
        import: gltf::import,
    },
    Format {
        name: "m3d",
        extensions: &["m3d"],
        sniff: m3d::sniff,
        clip_files: false,
        ignored: m3d::IGNORED,
        import: m3d::import,
    },
    Format {
        name: "RAM",
        extensions: &["ram"],
        sniff: ram::sniff,
        clip_files: true,
        ignored: ram::IGNORED,
        import: ram::import,
    },
    Format {
        name: "OgreXML",
        extensions: &["mesh.xml"],
        sniff: ogre_xml::sniff,
        clip_files: false,
        ignored: ogre_xml::IGNORED,
        import: ogre_xml::import,
    },
    Format {
        name: "MD5",
        extensions: &["md5mesh"],
        sniff: md5::sniff,
        clip_files: true,
        ignored: md5::IGNORED,
        import: md5::import,
    },
    // Last, because files of other formats may contain its words.
    Format {
        name: "three.js JSON",
        extensions: &[],
        sniff: three_json::sniff,
        clip_files: false,
        ignored: three_json::IGNORED,
        import: three_json::import,
    },
];

/// Reads a model in any of [`FORMATS`], with the clips that it contains or that are beside it, and the vertices that are
/// drawn.
///
/// # Errors
/// No such file, no format with this extension or content, or any error of the importer.
pub fn load(file: impl AsRef<Path>) -> Result<Model, ImportError> {
    load_with(&Request {
        file: file.as_ref(),
        clips: &[],
        vertices: Vertices::default(),
    })
}

/// Reads a model with clips from files of their own (`.raa` for RAM, `.md5anim` for MD5) instead of those beside it, or
/// with all of its vertices.
///
/// # Errors
/// As [`load`], for any of the files; or clips for a format that has them in the model's file.
pub fn load_with(request: &Request) -> Result<Model, ImportError> {
    let file = request.file;
    let format = format_of(file)?;
    if let [clip, ..] = request.clips
        && !format.clip_files
    {
        let problem = format!(
            "cannot be added to {}; expected no other file, as {} holds its clips",
            file.display(),
            format.name
        );
        return Err(ImportError::new(clip, "", problem));
    }
    let mut parts = (format.import)(request)?;
    if request.vertices == Vertices::Drawn {
        drawn::only_drawn(&mut parts);
    }
    Model::new(parts).map_err(in_file(file))
}

/// Selects by the file's extension, otherwise by its content.
fn format_of(file: &Path) -> Result<&'static Format, ImportError> {
    let name = file.file_name().unwrap_or_default();
    let name = name.to_string_lossy().to_lowercase();
    let head = regular_file::open_within(file, MOST_BYTES)
        .and_then(|opened| regular_file::read_start(opened, HEAD as u64))
        .map_err(unreadable(file))?;
    if let Some(problem) = foreign::problem(&name, &head) {
        return Err(ImportError::new(file, "", problem));
    }
    let mut extensions = Vec::new();
    for format in FORMATS {
        for extension in format.extensions {
            let extension = format!(".{extension}");
            if name.ends_with(&extension) {
                return Ok(format);
            }
            extensions.push(extension);
        }
    }
    let head = without_mark(&head);
    FORMATS.iter().find(|f| (f.sniff)(head)).ok_or_else(|| {
        let names: Vec<_> = FORMATS.iter().map(|f| f.name).collect();
        let problem = format!(
            "no known model format; expected a file that ends in {}, or one that begins like {}",
            extensions.join(", "),
            names.join(", ")
        );
        ImportError::new(file, "", problem)
    })
}
