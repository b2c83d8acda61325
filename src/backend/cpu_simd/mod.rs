//! `cpu-simd` and its variants: SIMD on one thread, one file per variant. The plain one chooses among them.

mod choosing;
mod cluster;
mod columns;
mod dual_quaternion;
mod lanes;
mod mixed;

pub use choosing::{all_threads, one_thread};
pub use cluster::ClusterSkinner;
pub use columns::ColumnsSkinner;
pub use dual_quaternion::DualQuaternionSkinner;
pub use lanes::{InterleavedSkinner, LanesSkinner};
use mixed::MixedSkinner;
