//! One prepared backend, for commands and windows that use its output instead of its times.

use super::rotation::SharedMemory;
use crate::backend::{Backend, Context, Prepared};
use crate::crowd::Crowd;
#[cfg(feature = "gpu")]
use crate::frame::Retention;
use crate::frame::{Arena, BackendError, Job, Result};
use bytesize::ByteSize;

/// Prepares a backend for a crowd, with the arena that it writes to. `presenter` is the memory that drawing takes on the
/// device, if anything is drawn; `limit` is the number of bytes of main memory that may be used.
///
/// # Errors
/// [`BackendError::TooLarge`] if the crowd does not fit, [`BackendError::Unavailable`] if the machine lacks what the
/// backend needs, or [`BackendError::Device`] if the device was lost or refused a command.
pub fn prepare(
    backend: &dyn Backend,
    context: &Context,
    crowd: &Crowd,
    job: &Job,
    presenter: Option<u64>,
    limit: u64,
) -> Result<(Box<dyn Prepared>, Arena)> {
    let footprint = backend.footprint(crowd, job)?;
    let (device_arena, device_is_host) = device(context, crowd)?;
    let shared = SharedMemory { arena: Arena::bytes(crowd), device_arena, presenter, device_is_host };
    let needed = shared.bytes([&footprint]);
    if needed > limit {
        let [needed, limit] = [needed, limit].map(|bytes| ByteSize(bytes).display().si());
        return Err(BackendError::TooLarge(format!("the crowd needs {needed}; {limit} may be taken")));
    }
    let mut arena = Arena::default();
    if footprint.host_output {
        arena.allocate_host(crowd);
    }
    if footprint.device_output || (footprint.host_output && presenter.is_some()) {
        allocate_device(context, crowd, &mut arena)?;
    }
    Ok((backend.prepare(crowd, job)?, arena))
}

/// Bytes of the arena's device side, and whether the device's memory is main memory.
#[cfg(feature = "gpu")]
fn device(context: &Context, crowd: &Crowd) -> Result<(u64, bool)> {
    let Some(gpu) = &context.gpu else { return Ok((Arena::bytes(crowd), false)) };
    Ok((gpu.arena_bytes(crowd, Retention::Frame)?, gpu.summary().software))
}

#[cfg(not(feature = "gpu"))]
fn device(_: &Context, crowd: &Crowd) -> Result<(u64, bool)> {
    Ok((Arena::bytes(crowd), false))
}

#[cfg(feature = "gpu")]
fn allocate_device(context: &Context, crowd: &Crowd, arena: &mut Arena) -> Result<()> {
    context.gpu.as_ref().map_or(Ok(()), |gpu| gpu.allocate_arena(crowd, Retention::Frame, arena))
}

#[cfg(not(feature = "gpu"))]
fn allocate_device(_: &Context, _: &Crowd, _: &mut Arena) -> Result<()> {
    Ok(())
}
