//! Clocks: stages of a frame, the bandwidth of the device, and the arithmetic that keeps its clock up.

pub(crate) mod bandwidth;
mod pacer;
mod stages;
