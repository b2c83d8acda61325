//! The glTF importer.
mod compact;
mod goldens;
mod refusals;
mod traits;
