//! Scenes: files that describe groups of instances and the camera, and their conversion to crowds.
//!
//! A scene is TOML: `seed`, `passes`, `resolution`, `[camera]` and one `[[group]]` per set of instances. The keys,
//! their units and their defaults are documented where they are parsed, in `scene/file/keys.rs`.

mod build;
mod camera;
mod clips;
mod description;
mod error;
mod file;
mod hash;
mod layer;
mod load;
mod placing;
mod source;

pub use build::BuiltScene;
pub use camera::{Camera, Framed};
pub use clips::find_clip;
pub use description::{Clips, Economy, Overrides, Scene};
pub use error::SceneError;
pub use load::BUILT_IN;
pub use placing::Layout;
pub use source::{BUILT_IN_MODELS, ModelSource};

#[cfg(test)]
mod scene_tests;
