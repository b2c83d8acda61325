// Builds that document nothing need not be repeated after the page changed.
#![cfg_attr(doc, doc = include_str!("../README.md"))]
//!
//! # Floor plan
//!
//! Modules from the ground up. Each one imports only what stands above it in this table.
//!
//! | module | holds |
//! | --- | --- |
//! | `check` | checks, and errors before the name of the file is added |
//! | `request` | what an importer is asked for |
//! | `budget` | the limit on an importer's memory |
//! | `regular_file` | the opening of files that end |
//! | `read_file` | whole files, and their first bytes |
//! | `beside` | paths of files that a model file refers to |
//! | `ignored` | parts of files that are not read |
//! | `place` | lines and columns |
//! | `tokenizer` | the words of text formats |
//! | `matrices` | matrices from files |
//! | `tracks` | tracks of a joint from keys that set several channels at once |
//! | `triangles` | lists of triangles of strips and of fans |
//! | `subdivide` | times of further keys, where straight lines between keys leave a curve |
//! | `seams` | vertices of formats that index positions, normals and texture coordinates separately |
//! | `textures` | images in files, as they are stored there |
//! | `decode` | their pixels |
//! | `drawn` | the vertices that triangles use |
//! | `gltf` | importer |
//! | `m3d` | importer |
//! | `md5` | importer |
//! | `ogre_xml` | importer |
//! | `ram` | importer |
//! | `three_json` | importer |
//! | `foreign` | files of other kinds, and how to make a model of them |
//! | `formats` | the list of importers, and which one a file takes |
//! | `glb` | the exporter |
//! | `adapt` | models with other numbers of vertices and influences |
//! | `mesh_level` | models with fewer triangles |

#[macro_use]
mod check;

pub mod adapt;
mod beside;
mod budget;
#[cfg(feature = "textures")]
pub mod decode;
mod drawn;
mod foreign;
mod formats;
pub mod glb;
mod gltf;
mod ignored;
mod m3d;
mod matrices;
mod md5;
pub mod mesh_level;
mod ogre_xml;
mod place;
mod ram;
mod read_file;
#[doc(hidden)]
pub mod regular_file;
mod request;
mod seams;
mod subdivide;
mod textures;
mod three_json;
mod tokenizer;
mod tracks;
mod triangles;

#[doc(hidden)]
pub use formats::HEAD;
pub use formats::{FORMATS, Format, load, load_with};
pub use place::Place;
pub use request::{Request, Vertices};
