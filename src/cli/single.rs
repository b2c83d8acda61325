//! One prepared backend, for commands that use its output instead of its times.

use super::common;
use anyhow::bail;
use bytesize::ByteSize;
use skinbench::backend::{Context, Prepared};
use skinbench::crowd::Crowd;
#[cfg(feature = "gpu")]
use skinbench::frame::Retention;
use skinbench::frame::{Arena, Job};
use skinbench::harness::rotation::SharedMemory;
use skinbench::registry::BackendEntry;

/// A backend prepared for a crowd, with the arena that it writes to. `presenter` is the memory that drawing takes on
/// the device, if anything is drawn.
pub fn prepare(
    entry: &BackendEntry,
    context: &Context,
    crowd: &Crowd,
    presenter: Option<u64>,
) -> anyhow::Result<(Box<dyn Prepared>, Arena)> {
    let backend = entry.create(context)?;
    let job = Job { passes: presenter.is_some().into(), ..Job::default() };
    let footprint = backend.footprint(crowd, &job)?;
    let arena = Arena::bytes(crowd);
    let shared = SharedMemory { arena, device_arena: arena, presenter, device_is_host: is_software(context) };
    let (needed, limit) = (shared.bytes([&footprint]), common::memory());
    if needed > limit {
        let bytes = |n| ByteSize(n).display().si();
        bail!("{} needs {}; {} may be taken", entry.name, bytes(needed), bytes(limit));
    }
    let mut arena = Arena::default();
    if footprint.host_output {
        arena.allocate_host(crowd);
    }
    if footprint.device_output || (footprint.host_output && presenter.is_some()) {
        allocate_device(context, crowd, &mut arena)?;
    }
    Ok((backend.prepare(crowd, &job)?, arena))
}

#[cfg(feature = "gpu")]
fn is_software(context: &Context) -> bool {
    context.gpu.as_ref().is_some_and(|gpu| gpu.summary().software)
}

#[cfg(not(feature = "gpu"))]
fn is_software(_: &Context) -> bool {
    false
}

#[cfg(feature = "gpu")]
fn allocate_device(context: &Context, crowd: &Crowd, arena: &mut Arena) -> anyhow::Result<()> {
    context.gpu.as_ref().map_or(Ok(()), |gpu| Ok(gpu.allocate_arena(crowd, Retention::Frame, arena)?))
}

#[cfg(not(feature = "gpu"))]
fn allocate_device(_: &Context, _: &Crowd, _: &mut Arena) -> anyhow::Result<()> {
    Ok(())
}
