// Builds that document nothing need not be repeated after the page changed.
#![cfg_attr(doc, doc = include_str!("../README.md"))]
//!
//! # From a clip to vertices
//!
//! A mast of two joints, one metre apart, with a triangle between them. The upper joint bends by a right angle within a
//! second, and takes the vertex that is bound to it along:
//!
//! ```
//! use glam::{Quat, Vec3};
//! use skinbench_kernels::model::*;
//! use skinbench_kernels::{error::DataError, pose, skin, vertex::VertexFormat};
//! use std::f32::consts::FRAC_PI_2;
//!
//! // Skeleton and clip: an importer of your own fills the same structures.
//! let mut builder = SkeletonBuilder::new();
//! builder.joint("foot", None, Vec3::ZERO);
//! builder.joint("top", Some("foot"), Vec3::Y);
//! let mast = builder.build()?;
//! let bent = Frame { time: 1.0, rotation: Quat::from_rotation_z(FRAC_PI_2), ..Frame::REST };
//! let clip = Clip::new("bend", None, RotationBlend::Slerp, mast.keys("top", &[Frame::REST, bent])?)?;
//!
//! // Mesh: two vertices follow the foot, one follows the top.
//! let mut influences = Influences::default();
//! influences.push([(0, 1.0)]);
//! influences.push([(0, 1.0)]);
//! influences.push([(1, 1.0)]);
//! let positions = vec![[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 2.0, 0.0]];
//! let triangle = PrimitiveData { positions, influences, indices: vec![0, 1, 2], ..PrimitiveData::default() };
//! let skin = SkinData::at_rest(&mast, vec![0, 1])?;
//! let parts = ModelParts::new("mast", mast, skin, vec![triangle]);
//! let model = Model::new(ModelParts { clips: vec![clip], ..parts })?;
//!
//! // Buffers of a character; a frame allocates nothing.
//! let joints = model.skeleton().len();
//! let mut local_pose: Vec<pose::Local<1>> = vec![[[0.0]; 10]; joints];
//! let mut model_pose: Vec<pose::Affine<1>> = vec![[[0.0]; 12]; joints];
//! let mut palette = vec![[0.0; 12]; model.palette_joints().len()];
//! let mut vertices = vec![[0.0; 6]; model.mesh().vertex_count()];
//!
//! // A frame: clip to local poses, to model poses, to the palette, to positions and normals.
//! pose::one::sample(model.skeleton(), model.clips().first(), 1.0, &mut local_pose);
//! pose::one::local_to_model(model.skeleton(), &local_pose, &mut model_pose);
//! pose::one::palette(model.palette_joints(), model.inverse_binds(), &model_pose, &mut palette);
//! skin::skin(model.mesh(), &palette, VertexFormat::default(), vertices.as_flattened_mut());
//!
//! let [x, y, z, ..] = vertices[2];
//! assert!(Vec3::new(x, y, z).distance(Vec3::new(-1.0, 1.0, 0.0)) < 1e-6);
//! # Ok::<(), DataError>(())
//! ```
//!
//! # Floor plan
//!
//! Modules from the ground up. Each one imports only what stands above it in this table. Functions that a frame calls are
//! compiled here, once, for every instruction set, so that a crate that calls them compiles none of their bodies again.
//! Modules without a page of their own are skinbench's own, and may change at any time.
//!
//! | module | holds |
//! | --- | --- |
//! | `error` | the error of everything that checks data |
//! | `simd` | instruction sets, vectors of floats on each, aligned memory |
//! | `threads` | pools of threads |
//! | `vertex` | the formats of skinned vertices |
//! | `model` | skeleton, clips, skins and mesh, validated once and then immutable |
//! | `crowd` | instances of models, their layers, integer time |
//! | `reference` | poses, palettes and vertices in f64, sizes of what a crowd shows, and the distance of others from it |
//! | `blocks` | a crowd cut into blocks of 16 instances |
//! | `pose` | from clips to palettes |
//! | `morph` | from weights to the vertices before skinning |
//! | `skin` | from palettes to vertices |
//! | `gameplay` | bounds and sockets from palettes |
//! | `compaction` | smaller clips, to a stated error |
//! | `bake` | clips baked as palettes, to a stated error |
//! | `vertex_frames` | clips baked as vertices, to a stated error |
//! | `device_palette` | palettes in the forms that shaders read |
//! | `probe` | loops that show the limits of a processor |
//! | `fixture_tests` | a model for unit tests |

#[doc(hidden)]
pub mod bake;
#[doc(hidden)]
pub mod blocks;
#[doc(hidden)]
pub mod compaction;
pub mod crowd;
#[doc(hidden)]
pub mod device_palette;
pub mod error;
#[cfg(test)]
mod fixture_tests;
#[doc(hidden)]
pub mod gameplay;
pub mod model;
#[doc(hidden)]
pub mod morph;
pub mod pose;
#[doc(hidden)]
pub mod probe;
pub mod reference;
pub mod simd;
pub mod skin;
#[doc(hidden)]
pub mod threads;
pub mod vertex;
#[doc(hidden)]
pub mod vertex_frames;

#[doc(inline)]
pub use model::Model;
#[doc(inline)]
pub use simd::Isa;
#[doc(inline)]
pub use skin::{Clusters, SkinningJob};
#[doc(inline)]
pub use vertex::VertexFormat;
