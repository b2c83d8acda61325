//! The glTF importer.
mod compact;
mod goldens;
mod morph;
mod refusals;
mod traits;
