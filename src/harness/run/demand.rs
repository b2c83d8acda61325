//! What a run of a scene asks of its backends, and the memory that they would take for it.

use crate::backend::Context;
use crate::frame::{Footprint, Job, Result, Retention};
use crate::frustum::Frustum;
use crate::harness::{BackendMemory, SharedMemory, opened_device};
use crate::registry::BackendEntry;
use crate::scene::BuiltScene;

/// What a run of a scene asks of its backends.
pub(super) struct Demand {
    /// Number of times that a frame draws the crowd.
    pub passes: u32,
    /// The options that are passed to backends.
    pub job: Job,
    /// Memory that all backends of the run share.
    pub shared: SharedMemory,
}

impl Demand {
    pub fn new(context: &Context, scene: &BuiltScene) -> Self {
        let device = opened_device::open(context);
        // A ring holds only part of the crowd at a time.
        let keep = scene.settings.retention();
        let presenter = (keep != Retention::Ring)
            .then(|| device.presenter_bytes(scene))
            .flatten();
        let passes = presenter.map_or(0, |_| scene.passes);
        let job = Job {
            keep,
            frustum: Frustum::new(scene.view_projection()),
            gameplay: scene.gameplay.clone(),
            first_kernel: false,
        };
        Self {
            passes,
            job,
            shared: SharedMemory::new(&*device, &scene.crowd, keep, presenter),
        }
    }

    /// Memory that a backend would take, besides what all share.
    ///
    /// # Errors
    /// As [`promised_memory`].
    pub fn footprint(
        &self,
        context: &Context,
        scene: &BuiltScene,
        entry: &BackendEntry,
    ) -> Result<Footprint> {
        entry.create(context)?.footprint(&scene.crowd, &self.job)
    }
}

/// Number of times that a frame of a scene draws the crowd: 0 without an adapter, and 0 with a ring, which holds only
/// part of the crowd at a time.
pub fn passes(context: &Context, scene: &BuiltScene) -> u32 {
    Demand::new(context, scene).passes
}

/// Memory that a backend would take for a scene, without running it.
///
/// # Errors
/// [`BackendError::Unavailable`](crate::frame::BackendError::Unavailable) if the machine lacks what the backend needs or the backend does not support the scene,
/// or [`BackendError::TooLarge`](crate::frame::BackendError::TooLarge) if the crowd exceeds a limit of the device.
pub fn promised_memory(
    context: &Context,
    scene: &BuiltScene,
    entry: &BackendEntry,
) -> Result<BackendMemory> {
    let demand = Demand::new(context, scene);
    Ok(demand.shared.of(&demand.footprint(context, scene, entry)?))
}
