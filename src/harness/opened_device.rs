//! The device's side of a context.

#[cfg(feature = "gpu")]
use super::adapter_side::AdapterSide;
use super::device_side::DeviceSide;
use crate::backend::Context;

/// The device's side of a machine without an adapter.
struct NoDevice;

impl DeviceSide for NoDevice {}

/// The device's side of a context.
#[cfg(feature = "gpu")]
pub(super) fn open(context: &Context) -> Box<dyn DeviceSide> {
    match &context.gpu {
        Some(gpu) => Box::new(AdapterSide::new(gpu)),
        None => Box::new(NoDevice),
    }
}

/// The device's side of a build without one.
#[cfg(not(feature = "gpu"))]
pub(super) fn open(_: &Context) -> Box<dyn DeviceSide> {
    Box::new(NoDevice)
}
