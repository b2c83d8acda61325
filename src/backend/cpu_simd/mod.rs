//! `cpu-simd` and its variants: SIMD on one thread, one file per variant. The plain one combines some of their kernels.

mod cluster;
mod columns;
mod dual_quaternion;
mod fused;
mod lanes;
mod mixed;

pub use cluster::ClusterSkinner;
pub use columns::ColumnsSkinner;
pub use dual_quaternion::DualQuaternionSkinner;
pub use fused::FusedSkinner;
pub use lanes::{InterleavedSkinner, LanesSkinner};
pub use mixed::{all_threads, one_thread};
