//! The glTF importer.
mod compact;
mod goldens;
mod morph;
mod refusals;
mod second_reader;
mod traits;
