//! Morph targets: `p' = p + sum w_i d_i` for positions, normals and tangents, before joints move the vertex.
//!
//! [`weights()`] computes the weights of an instance at a tick; those that are not 0 are its *active* targets. Vertices are
//! morphed by [`morph`] for one instance, and by [`morph_lanes`] for a block of instances side by side. Only active
//! targets are read. A morphed normal is not normalised: skinning does that.

mod lanes;
mod one;
mod scratch;
mod weights;

pub use lanes::{MorphedLanes, lane_rows, morph_lanes};
pub use one::{ShapeBuffer, morph};
pub use scratch::MorphScratch;
pub use weights::{active, weights};
