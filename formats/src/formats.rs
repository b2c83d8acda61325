//! The list of formats, and the selection of one for a file.

use crate::drawn;
use crate::read_file::{MOST_BYTES, unreadable, without_mark};
use crate::request::{Request, Vertices};
use crate::{foreign, gltf, m3d, md5, ogre_xml, ram, regular_file, three_json};
use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::{Model, ModelParts, Notes};
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
    /// Other parts that are not read become one of the [`Notes`].
    pub ignored: &'static [&'static str],
    /// Importer of the format.
    pub import: fn(&Request, &mut Notes) -> Result<ModelParts>,
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
pub fn load(file: impl AsRef<Path>) -> Result<Model> {
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
pub fn load_with(request: &Request) -> Result<Model> {
    read(request).map_err(|error| error.in_file(request.file))
}

fn read(request: &Request) -> Result<Model> {
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
        return Err(DataError::new("", problem).in_file(clip));
    }
    let mut notes = Notes::default();
    let mut parts = (format.import)(request, &mut notes)?;
    if request.vertices == Vertices::Drawn {
        drawn::only_drawn(&mut parts, &mut notes);
    }
    Model::new(ModelParts { notes, ..parts })
}

/// Selects by the file's extension, otherwise by its content.
fn format_of(file: &Path) -> Result<&'static Format> {
    let name = file.file_name().unwrap_or_default();
    let name = name.to_string_lossy().to_lowercase();
    let head = regular_file::open_within(file, MOST_BYTES)
        .and_then(|opened| regular_file::read_start(opened, HEAD as u64))
        .map_err(unreadable)?;
    if let Some(problem) = foreign::problem(&name, &head) {
        return Err(DataError::new("", problem));
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
    if let Some(format) = FORMATS.iter().find(|format| (format.sniff)(head)) {
        return Ok(format);
    }
    let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    bail!(
        "",
        "no known model format; expected a file that ends in {}, or one that begins like {}",
        extensions.join(", "),
        names.join(", ")
    )
}
