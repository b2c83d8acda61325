//! The importers of all formats but glTF, and the way from any format to glTF.
mod export;
mod goldens;
mod refusals;
mod round_trip;
mod samples;
mod textures;
mod traits;
