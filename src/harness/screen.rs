//! Drawing of backends' vertices if there is an adapter. All access of a run to the device goes through here, so that a
//! build without the device needs no other changes.

use super::limits::Device;
#[cfg(feature = "gpu")]
use crate::backend::Skinned;
use crate::backend::{Context, Prepared, Ticket};
use crate::crowd::Crowd;
#[cfg(feature = "gpu")]
use crate::frame::Bytes;
use crate::frame::{Arena, DeviceClock, FrameWork, Result, Retention, StageTimer};
#[cfg(feature = "gpu")]
use crate::gpu::present::{self, Presenter};
#[cfg(feature = "gpu")]
use crate::gpu::{Drawable, Gpu};
use crate::scene::BuiltScene;
#[cfg(feature = "gpu")]
use std::rc::Rc;

/// Difference of two depths, relative to the distance, from which a pixel counts as different.
const DEPTH_TOLERANCE: f32 = 1e-3;
/// Fraction of the covered pixels that may differ: rounding moves edges.
const DIFFERENT_PIXELS: f64 = 0.005;

/// The device's side of a run.
pub(super) struct Screen {
    #[cfg(feature = "gpu")]
    gpu: Option<Rc<Gpu>>,
    #[cfg(feature = "gpu")]
    presenter: Option<Presenter>,
    /// Bytes that drawing allocated.
    #[cfg(feature = "gpu")]
    targets: Bytes,
}

#[cfg(feature = "gpu")]
impl Screen {
    pub fn new(context: &Context, scene: &BuiltScene, passes: u32) -> Result<Self> {
        let gpu = context.gpu.clone();
        let (presenter, targets) = match &gpu {
            Some(gpu) if passes > 0 => {
                let (presenter, targets) =
                    gpu.counted(|| Presenter::new(Rc::clone(gpu), &scene.crowd, scene.view(), passes));
                (Some(presenter?), targets)
            }
            _ => (None, Bytes::default()),
        };
        Ok(Self { gpu, presenter, targets })
    }

    /// Bytes that drawing has allocated on the device so far; `None` if nothing is drawn.
    pub fn target_bytes(&self) -> Option<u64> {
        self.presenter.as_ref().map(|_| self.targets.total())
    }

    /// The device's work since the last call.
    pub fn take_work(&self) -> FrameWork {
        self.gpu.as_ref().map_or(FrameWork::default(), |gpu| gpu.take_work())
    }

    /// Bytes that drawing takes on the device; `None` if nothing is drawn.
    pub fn bytes(context: &Context, scene: &BuiltScene, passes: u32) -> Option<u64> {
        let draws = |gpu: &Rc<Gpu>| gpu.has(wgpu::ShaderStages::VERTEX, present::STORAGE_BUFFERS + 1).is_ok();
        let draws = passes > 0 && context.gpu.as_ref().is_some_and(draws);
        draws.then(|| Presenter::device_bytes(&scene.crowd, &scene.view()))
    }

    /// Returns whether the device's memory is main memory.
    pub fn is_software(context: &Context) -> bool {
        context.gpu.as_ref().is_some_and(|gpu| gpu.summary().software)
    }

    /// Bandwidths of the device's memory.
    pub fn limits(context: &Context) -> Option<Device> {
        let bandwidth = context.gpu.as_ref()?.bandwidth().ok()?;
        let memory = bandwidth.write.max(2 * bandwidth.copy) as f64;
        Some(Device { memory, upload: bandwidth.upload as f64 })
    }

    /// Bytes of the arena's device side.
    pub fn arena_bytes(context: &Context, crowd: &Crowd, keep: Retention) -> u64 {
        // A size that the adapter cannot hold is reported when it is allocated.
        context.gpu.as_ref().and_then(|gpu| gpu.arena_bytes(crowd, keep).ok()).unwrap_or(0)
    }

    /// Allocates the arena's device side.
    pub fn allocate(&self, scene: &BuiltScene, keep: Retention, arena: &mut Arena) -> Result<()> {
        match &self.gpu {
            Some(gpu) => gpu.allocate_arena(&scene.crowd, keep, arena),
            None => Ok(()),
        }
    }

    /// Instances at the ends of the device's chunks.
    pub fn chunk_ends(&self, crowd: &Crowd) -> Result<Vec<u32>> {
        self.gpu.as_ref().map_or(Ok(Vec::new()), |gpu| gpu.chunk_ends(crowd))
    }

    /// Reason why a backend's frames cannot be measured here, if any.
    pub fn refusal(&self, backend: &dyn Prepared) -> Option<&'static str> {
        match (backend.skinned(), &self.presenter) {
            (Skinned::Device(Drawable::Shader(_)), None) => Some("skins in the draw; needs --passes 1 or more"),
            (Skinned::HostInBlocks, Some(_)) => Some("its output cannot be drawn; needs --passes 0"),
            _ => None,
        }
    }

    pub fn draw(
        &mut self,
        ticket: Ticket,
        backend: &dyn Prepared,
        arena: &Arena,
        timer: &mut StageTimer,
    ) -> Result<Ticket> {
        let (Some(gpu), Some(presenter)) = (&self.gpu, &mut self.presenter) else { return Ok(ticket) };
        let (drawn, bytes) = gpu.counted(|| ticket.draw(presenter, &backend.skinned(), arena, timer));
        self.targets += bytes;
        drawn
    }

    /// Clock of the device's stages.
    pub fn clock(&self) -> DeviceClock {
        self.gpu.as_ref().map_or(DeviceClock::default(), |gpu| gpu.clock())
    }

    /// Switches the timing of the device's stages on or off.
    pub fn set_timing(&self, on: bool) {
        self.gpu.iter().for_each(|gpu| gpu.set_timing(on));
    }

    /// Names the backend that the device works for, for messages.
    pub fn work_for(&self, backend: &'static str) {
        self.gpu.iter().for_each(|gpu| gpu.work_for(backend));
    }

    /// Adds the device's spans of the finished frame.
    pub fn collect(&self, timer: &mut StageTimer) -> Result<()> {
        self.gpu.as_ref().map_or(Ok(()), |gpu| gpu.collect(timer))
    }

    /// The last frame's depths; `None` if nothing is drawn, or if the adapter cannot read them back.
    pub fn depths(&self) -> Result<Option<Vec<f32>>> {
        let reads = self.gpu.as_ref().is_some_and(|gpu| gpu.reads_depth());
        self.presenter.as_ref().filter(|_| reads).map(Presenter::read_depth).transpose()
    }
}

#[cfg(not(feature = "gpu"))]
impl Screen {
    pub fn new(_: &Context, _: &BuiltScene, _: u32) -> Result<Self> {
        Ok(Self {})
    }

    pub fn bytes(_: &Context, _: &BuiltScene, _: u32) -> Option<u64> {
        None
    }

    pub fn target_bytes(&self) -> Option<u64> {
        None
    }

    pub fn take_work(&self) -> FrameWork {
        FrameWork::default()
    }

    pub fn is_software(_: &Context) -> bool {
        false
    }

    pub fn limits(_: &Context) -> Option<Device> {
        None
    }

    pub fn arena_bytes(_: &Context, _: &Crowd, _: Retention) -> u64 {
        0
    }

    pub fn allocate(&self, _: &BuiltScene, _: Retention, _: &mut Arena) -> Result<()> {
        Ok(())
    }

    pub fn chunk_ends(&self, _: &Crowd) -> Result<Vec<u32>> {
        Ok(Vec::new())
    }

    pub fn refusal(&self, _: &dyn Prepared) -> Option<&'static str> {
        None
    }

    pub fn draw(&mut self, ticket: Ticket, _: &dyn Prepared, _: &Arena, _: &mut StageTimer) -> Result<Ticket> {
        Ok(ticket)
    }

    pub fn clock(&self) -> DeviceClock {
        DeviceClock::default()
    }

    pub fn set_timing(&self, _: bool) {}

    pub fn work_for(&self, _: &'static str) {}

    pub fn collect(&self, _: &mut StageTimer) -> Result<()> {
        Ok(())
    }

    pub fn depths(&self) -> Result<Option<Vec<f32>>> {
        Ok(None)
    }
}

/// Description of the difference between a depth image and the first backend's; `None` if they agree.
pub(super) fn depth_difference(first: &[f32], depths: &[f32]) -> Option<String> {
    let nearness = |depth: f32| 1.0 - depth;
    // 1 - depth falls with the distance and is 0 where nothing is drawn, so an edge counts in either image.
    let differ = |a: f32, b: f32| {
        let tolerance = DEPTH_TOLERANCE * nearness(a).max(nearness(b));
        !matches!((a - b).abs().partial_cmp(&tolerance), Some(order) if order.is_le())
    };
    let covered = first.iter().zip(depths).filter(|(a, b)| **a != 1.0 || **b != 1.0).count();
    let different = first.iter().zip(depths).filter(|(a, b)| differ(**a, **b)).count();
    if covered == 0 {
        return Some("the picture is empty".into());
    }
    (first.len() != depths.len() || different as f64 > DIFFERENT_PIXELS * covered as f64)
        .then(|| format!("the picture differs from the first backend's in {different} of {covered} covered pixels"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_images_must_agree_and_show_something() {
        let mut first = vec![1.0; 4_000];
        assert!(depth_difference(&first, &first).unwrap().contains("empty"));
        first[..2_000].fill(0.9);
        assert_eq!(depth_difference(&first, &first), None);
        let with = |count: usize, depth: f32| {
            let mut other = first.clone();
            other[2_000 - count..2_000].fill(depth);
            other
        };
        assert_eq!(depth_difference(&first, &with(10, 1.0)), None, "0.5 % may differ");
        for depth in [1.0, 0.9002, 0.8998, f32::NAN] {
            assert!(depth_difference(&first, &with(11, depth)).is_some(), "{depth}");
            assert!(depth_difference(&with(11, depth), &first).is_some(), "{depth}");
        }
        assert_eq!(depth_difference(&first, &with(2_000, 0.90005)), None, "within 1e-3 of the distance");
    }
}
