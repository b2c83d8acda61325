//! All integration tests but those of damaged files, in one binary: linking is slow.

mod backends;
#[cfg(feature = "cli")]
mod cli;
mod content;
#[cfg(feature = "cli")]
mod corpus;
mod field;
mod formats;
mod gltf;
#[cfg(all(feature = "cli", unix))]
mod peers;
#[cfg(feature = "cli")]
mod program;
#[cfg(all(feature = "cli", unix))]
mod proportion;
#[cfg(feature = "cli")]
mod report;
#[cfg(feature = "cli")]
mod scene_hash;
#[cfg(all(feature = "cli", unix))]
mod system;
#[cfg(all(feature = "cli", feature = "gpu"))]
mod web;

#[path = "../support"]
mod support {
    pub mod gltf_fixture;
    pub mod golden;
    pub mod reference;
    pub mod shared;
    pub mod sprout;
}
