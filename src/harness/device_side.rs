//! The device's side of what the harness does: memory, drawing and clocks of the adapter. All access of the harness to
//! the device goes through here, so that a build without the device needs no other changes.

use crate::backend::{Context, Prepared, Ticket};
use crate::crowd::Crowd;
use crate::frame::{
    DeviceBandwidth, DeviceClock, FrameInput, FrameWork, OutputBuffers, Pacer, Result, Retention,
    StageTimer, UploadBandwidth,
};
use crate::scene::BuiltScene;
use crate::threads::Threads;
use std::time::Instant;

/// Way to the device's side of a context.
pub(super) type OpenDevice = fn(&Context) -> Box<dyn DeviceSide>;

/// The device's side. By default there is no device: it takes no memory, and nothing is drawn.
pub(super) trait DeviceSide {
    /// The time by which frames are measured: the monotonic clock, unless a test simulates it.
    fn now(&self) -> Instant {
        Instant::now()
    }

    /// Returns whether the device's memory is main memory.
    fn is_software(&self) -> bool {
        false
    }

    /// Reads the device's clock in MHz, where its driver tells it.
    fn megahertz_reader(&self) -> Option<Box<dyn Fn() -> Option<u32>>> {
        None
    }

    /// What keeps the device's clock up and measures it; `None` for software.
    fn pacer(&self) -> Option<Pacer<'_>> {
        None
    }

    /// Most bytes for which the device's bandwidth is measured.
    fn most_bandwidth_bytes(&self) -> u64 {
        0
    }

    /// Bandwidth of the device's memory and caches over so many bytes; `None` if it cannot be measured.
    fn bandwidth(&self, _bytes: u64) -> Option<DeviceBandwidth> {
        None
    }

    /// Bandwidth from the host to the device; `None` if it cannot be measured.
    fn upload_bandwidth(&self, _threads: &Threads) -> Option<UploadBandwidth> {
        None
    }

    /// Bytes that drawing the passes of a scene takes on the device; `None` if nothing is drawn.
    fn presenter_bytes(&self, _scene: &BuiltScene) -> Option<u64> {
        None
    }

    /// Bytes of the device side of the output buffers.
    fn output_bytes(&self, _crowd: &Crowd, _keep: Retention) -> u64 {
        0
    }

    /// Allocates the device side of the output buffers.
    fn allocate(
        &self,
        _crowd: &Crowd,
        _keep: Retention,
        _output: &mut OutputBuffers,
    ) -> Result<()> {
        Ok(())
    }

    /// Makes what draws the frames of a scene; without passes none is drawn.
    fn present(&mut self, _scene: &BuiltScene, _passes: u32) -> Result<()> {
        Ok(())
    }

    /// Bytes that drawing has allocated on the device so far; `None` if nothing is drawn.
    fn target_bytes(&self) -> Option<u64> {
        None
    }

    /// Instances at the ends of the device's chunks.
    fn chunk_ends(&self, _crowd: &Crowd) -> Result<Vec<u32>> {
        Ok(Vec::new())
    }

    /// Draws the vertices of a backend's frame.
    fn draw(
        &mut self,
        ticket: Ticket,
        _: &dyn Prepared,
        _: &FrameInput,
        _: &mut StageTimer,
    ) -> Result<Ticket> {
        Ok(ticket)
    }

    /// Clock of the device's stages.
    fn clock(&self) -> DeviceClock {
        DeviceClock::default()
    }

    /// Switches the timing of the device's stages on or off.
    fn set_timing(&self, _on: bool) {}

    /// Names the backend that the device works for, for messages.
    fn work_for(&self, _backend: &'static str) {}

    /// Adds the device's spans of the finished frame.
    fn collect(&self, _timer: &mut StageTimer) -> Result<()> {
        Ok(())
    }

    /// The device's work since the last call.
    fn take_work(&self) -> FrameWork {
        FrameWork::default()
    }

    /// The last frame's depths; `None` if nothing is drawn, or if the adapter cannot read them back.
    fn depths(&self) -> Result<Option<Vec<f32>>> {
        Ok(None)
    }
}

/// No device.
impl DeviceSide for () {}
