//! Importers, each with a file here and a row in [`FORMATS`]; the exporter to glTF; and the built-in characters.

pub mod adapt;
mod beside;
mod budget;
#[cfg(feature = "textures")]
pub mod decode;
mod error;
pub mod extremes;
pub mod face;
mod fault;
mod formats;
pub mod glb;
mod gltf;
pub mod joint_level;
mod m3d;
mod matrices;
mod md5;
#[cfg(feature = "resample")]
pub mod mesh_level;
mod ogre_xml;
mod place;
mod ram;
mod read_file;
mod seams;
pub mod standins;
mod textures;
mod three_json;
mod tokenizer;
pub mod walker;

pub use error::ImportError;
pub use formats::{FORMATS, Format, HEAD, Import, load, load_with};
