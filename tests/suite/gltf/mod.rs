//! The glTF importer.
mod compact;
mod compressed;
mod goldens;
mod morph;
mod refusals;
mod second_reader;
mod traits;
