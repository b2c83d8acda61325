//! The device's side of a context.

#[cfg(feature = "gpu")]
use super::adapter_side::AdapterSide;
use super::device_side::DeviceSide;
use crate::backend::Context;

/// The device's side of a context.
pub(super) fn open(context: &Context) -> Box<dyn DeviceSide> {
    #[cfg(feature = "gpu")]
    if let Some(gpu) = &context.gpu {
        return Box::new(AdapterSide::new(gpu));
    }
    let _ = context;
    Box::new(())
}
