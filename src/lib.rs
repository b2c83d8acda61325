//! Skinning of crowds of animated characters: the common strategies in one harness, which verifies every vertex against
//! an f64 reference and then times every stage of a frame.
//!
//! The crate is the library behind the program `skinbench`; README.md describes the program. To skin characters, take one of
//! its parts instead: `skinbench-kernels` on the CPU, `skinbench-gpu` on a device of wgpu. Take the whole to measure your own
//! code beside ours. It has three layers:
//!
//! - **Kernels.** [`model`], [`pose`] and [`skin`] turn a clip and a mesh into vertices.
//! - **Content.** [`asset`] reads models, [`characters`] generates some, [`scene`] builds crowds of them.
//! - **Harness.** [`harness::run`] verifies and measures [`backend`]s: those in [`registry`], and your own.
//!
//! With `default-features = false`, the crate has no wgpu and no command line.
//!
//! # Examples
//!
//! Pose the built-in walker at a quarter of a second, and skin it:
//!
//! ```
//! use skinbench::{characters::walker, pose, skin, vertex::VertexFormat};
//!
//! let model = walker(1_000)?;
//! let joints = model.skeleton().len();
//! let mut local_pose: Vec<pose::Local<1>> = vec![[[0.0]; 10]; joints];
//! let mut model_pose: Vec<pose::Affine<1>> = vec![[[0.0]; 12]; joints];
//! let mut palette = vec![[0.0; 12]; model.palette_joints().len()];
//! let mut vertices = vec![0.0; model.mesh().vertex_count() * 6];
//!
//! pose::one::sample(model.skeleton(), model.clips().first(), 0.25, &mut local_pose);
//! pose::one::local_to_model(model.skeleton(), &local_pose, &mut model_pose);
//! pose::one::palette(model.palette_joints(), model.inverse_binds(), &model_pose, &mut palette);
//! skin::skin(model.mesh(), &palette, VertexFormat::default(), &mut vertices);
//! assert!(vertices.iter().all(|number| number.is_finite()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Verify two backends on 40 instances of the built-in walker. [`harness::run::run`] takes the same arguments and also
//! measures what has passed.
//!
//! ```
//! use skinbench::backend::Context;
//! use skinbench::harness::run::{self, RunOptions, Status};
//! use skinbench::registry;
//! use skinbench::scene::{Settings, Scene};
//!
//! let settings = Settings { instances: Some(40), ..Settings::default() };
//! let scene = Scene::load("walkers")?.with(settings).build(u64::MAX)?;
//! let backends = ["cpu-scalar", "cpu-simd"].iter().filter_map(|name| registry::find(name)).collect();
//! let options = RunOptions { backends, ..RunOptions::default() };
//!
//! for outcome in run::verify(&scene, &Context::default(), &options, &mut ())? {
//!     assert_eq!(outcome.status, Status::Ok);
//!     let parity = outcome.parity.unwrap();
//!     assert_eq!(parity.vertices, 4 * scene.crowd.vertex_count()); // at four different times
//!     assert!(parity.max_rel.is_some_and(|error| error < 1e-5)); // of the bounding box's diagonal
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The folder `examples/` has five programs to copy: `skin_one` skins one character on the CPU, `gpu_crowd` a crowd on
//! the GPU, `adopt_gpu` on the device of a plain wgpu program, `own_backend` adds a backend from outside the crate, and
//! `own_gpu_kernel` a compute kernel.
//!
//! # What you can rely on
//!
//! - **Order of vertices.** A [`model::Model`] sorts them by influences: [`model::Mesh::sources`] names for each vertex the one of
//!   the file, and [`model::Mesh::indices`] are the triangles in the new order. Backends write `[instance][vertex][word]`.
//! - **What may change while playing.** Models and scenes do not; poses follow from the tick.
//! - **Tolerances.** Positions agree with the reference to 1e-5 of the character's diagonal, packed ones to 7e-5, normals to 1e-3
//!   radians; approximations state how much more. METHODOLOGY.md has all.
//! - **Stability.** Until 1.0, a minor version may change names. Modules without a page here are the program's own.
//!
//! # Floor plan
//!
//! Modules from the ground up. Each one imports only what stands above it in this table; `tests/architecture.rs` holds
//! the source to it. The lowest floors are crates of their own, which are re-exported here: `skinbench-kernels`;
//! `skinbench-formats` as [`asset`], which holds importers and the exporter; `skinbench-characters` as [`characters`], the
//! built-in models; `skinbench-frame` as [`frame`], the parts of a frame that everything above shares; `skinbench-shaders`,
//! the shaders; and `skinbench-gpu` as [`gpu`], its passes on a device.
//!
//! | module | holds |
//! | --- | --- |
//! | `scene` | scene files, and the crowds and cameras that they describe |
//! | `backend` | the contract of a backend, and one file for each way of skinning |
//! | `registry` | the list of all backends |
//! | `peers` | programs of others that are run as backends |
//! | `harness` | reference, parity, schedule, limits, statistics, the run |
//! | `results` | results as rows of CSV files, and everything that is concluded from them |
//! | `report` | tables, text, charts and pages |
//! | `web` | pages that run our shaders in a browser: recorded devices, reference vertices |
//! | `view` | the window: its state, the thread that draws, its panels |
//!
//! # Glossary
//!
//! The sizes in which a crowd is processed. A row contains several of the row that its last column names.
//!
//! | word | meaning | where | contains |
//! | --- | --- | --- | --- |
//! | crowd | all instances of a scene: [`crowd::Crowd`] | everywhere | groups |
//! | group | the instances of one model: [`crowd::Group`] | everywhere | chunks on the GPU, blocks on the CPU |
//! | batch | neighbouring chunks, of any groups, which share buffers, and dispatches of kernels that choose among chunks: those that pose, or a merged one | GPU | chunks |
//! | chunk | neighbouring instances of a group which fit one binding of the device | GPU | instances |
//! | part | neighbouring blocks which one thread takes through all pose stages; may begin in one group and end in the next | CPU | blocks |
//! | block | up to 16 instances of one group, side by side in the lanes of vectors: [`blocks::Block`] | CPU | lanes |
//! | lane | one instance of a block | CPU | |
//!
//! And the sizes in which the vertices of one mesh are processed:
//!
//! | word | meaning | where | contains |
//! | --- | --- | --- | --- |
//! | run | neighbouring vertices with the same number of influences: [`model::VertexRun`] | everywhere | tiles |
//! | tile | 16 vertices in all lanes of a block, 8 with tangents; written as whole cache lines | CPU | vertices |
//!
//! METHODOLOGY.md defines the terms of measuring, such as stage, parity and frame.

pub mod backend;
pub mod harness;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod peers;
pub mod registry;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod report;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod results;
pub mod scene;
#[cfg(feature = "view")]
#[doc(hidden)]
pub mod view;
#[cfg(all(feature = "cli", feature = "gpu"))]
#[doc(hidden)]
pub mod web;

pub use skinbench_characters as characters;
pub use skinbench_formats as asset;
pub use skinbench_frame as frame;
#[doc(hidden)]
pub use skinbench_frame::{frustum, wording};
#[cfg(feature = "gpu")]
pub use skinbench_gpu as gpu;
#[doc(hidden)]
pub use skinbench_kernels::{
    bake, blocks, compaction, device_palette, gameplay, morph, probe, threads, vertex_frames,
};
pub use skinbench_kernels::{crowd, error, model, pose, reference, simd, skin, vertex};
