#![doc = include_str!("../README.md")]
//!
//! # Floor plan
//!
//! Modules from the ground up. Each one imports only what stands above it in this table.
//!
//! | module | holds |
//! | --- | --- |
//! | `gltf_file` | a file in the making |
//! | `arm` | the character that most assets change |
//! | `asset` | what is known about an asset |
//! | `assets` | all assets |
//! | `expected` | the vertices that they show |
//! | `answer` | an engine's vertices, and how far they are off |
//! | `picture` | vertices as wanted and as shown |
//! | `folder` | the corpus as files |
//! | `same` | whether two models are the same character |

mod answer;
mod arm;
mod asset;
mod assets;
mod expected;
mod folder;
mod gltf_file;
pub mod picture;
mod same;

pub use answer::{Answer, Answered, Displaced, Judged, Judgement, judge};
pub use asset::Asset;
pub use assets::assets;
pub use expected::{Direction, Expected, MeshPart, Moment, Tolerance, VERSION};
pub use folder::{all_expected, write};
pub use same::{Difference, FarthestApart, Missing, Motion, Side, compare};
