//! One prepared backend, for commands and windows that use its output instead of its times.

use super::{SharedMemory, opened_device};
#[cfg(feature = "gpu")]
use crate::backend::FrameData;
use crate::backend::{Backend, Context, Prepared};
use crate::crowd::Crowd;
use crate::frame::{Job, OutputBuffers, Result, Retention};
#[cfg(feature = "gpu")]
use crate::gpu::{Overlay, add_skeleton};

/// Prepares a backend for a crowd, with the output buffers that it writes to. `presenter` is the memory that drawing takes on the
/// device, if anything is drawn; `limit` is the number of bytes of main memory that may be used.
///
/// # Errors
/// [`BackendError`](crate::frame::BackendError): `TooLarge` if the crowd does not fit, `Unavailable` if the machine
/// lacks what the backend needs, or `Device` if the device was lost or refused a command.
pub fn prepare(
    backend: &dyn Backend,
    context: &Context,
    crowd: &Crowd,
    job: &Job,
    presenter: Option<u64>,
    limit: u64,
) -> Result<(Box<dyn Prepared>, OutputBuffers)> {
    let device = opened_device::open(context);
    let shared = SharedMemory::new(&*device, crowd, Retention::Frame, presenter);
    let footprint = shared.check(backend.footprint(crowd, job)?, limit)?;
    let output = shared.allocate(&*device, crowd, Retention::Frame, &[footprint])?;
    Ok((backend.prepare(crowd, job)?, output))
}

/// The skeletons of all instances in the last frame, from the poses that the backend computed.
///
/// # Errors
/// [`BackendError`](crate::frame::BackendError): `Unavailable` if the backend has no poses, or `Device` if the device
/// was lost or refused a command.
#[cfg(feature = "gpu")]
pub fn skeletons(
    prepared: &mut dyn Prepared,
    output: &OutputBuffers,
    crowd: &Crowd,
    tick: u32,
) -> Result<Overlay> {
    let visible = prepared.visible()?;
    let mut overlay = Overlay::default();
    let mut poses = Vec::new();
    for group in crowd.groups() {
        poses.clear();
        let instances = group.instances.clone();
        prepared.read(crowd, output, FrameData::Model, instances, &mut poses)?;
        let mut shown = poses
            .as_chunks::<12>()
            .0
            .chunks(group.model.skeleton().len());
        for instance in group.instances.clone() {
            if shows(visible.as_deref(), instance)
                && let Some(pose) = shown.next()
            {
                add_skeleton(crowd, instance, tick, pose, &mut overlay);
            }
        }
    }
    Ok(overlay)
}

/// Returns whether an instance is among those that a frame shows, in rising order; `None` for all.
pub fn shows(visible: Option<&[u32]>, instance: u32) -> bool {
    visible.is_none_or(|visible| visible.binary_search(&instance).is_ok())
}
