//! Scenes: files that describe groups of instances and the camera, and their conversion to crowds.
//!
//! A scene is TOML: `seed`, `resolution`, any of the [`Settings`], `[camera]` and one `[[group]]` per set of instances.
//! docs/scenes.md documents the keys, their units and their defaults.

mod build;
mod camera;
mod description;
mod error;
mod expression;
mod file;
mod find_clip;
mod layer;
mod load;
mod lod;
mod model_source;
mod placing;
mod resolved;
mod settings;

pub use build::BuiltScene;
pub use camera::{Camera, Framed};
#[cfg(feature = "view")]
pub(crate) use description::ClipChoice;
pub use description::{Scene, SceneFile};
pub use find_clip::find_clip;
#[cfg(feature = "view")]
pub(crate) use layer::{LayerPlan, LayerTimes};
pub use load::BUILT_IN;
pub use lod::{Lod, MeshLevels};
pub use model_source::{BUILT_IN_MODELS, ModelSource};
pub use placing::Layout;
pub use settings::{
    Chosen, Clips, DeviceLoad, Effect, Interpolation, Output, RefusedSetting, Setting, Settings,
    argument,
};

#[cfg(test)]
mod scene_tests;
