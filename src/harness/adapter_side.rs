//! The device's side of a machine with an adapter.

use super::DeviceSide;
use crate::backend::{Prepared, Ticket};
use crate::crowd::Crowd;
use crate::frame::{
    Bytes, DeviceBandwidth, DeviceClock, FrameInput, FrameWork, OutputBuffers, Pacer, Result,
    Retention, StageTimer, UploadBandwidth,
};
use crate::gpu::Gpu;
use crate::gpu::draw::present::Presenter;
use crate::scene::BuiltScene;
use crate::threads::Threads;
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::Clock;
use std::sync::Arc;

/// An adapter, and what draws on it.
pub(super) struct AdapterSide {
    gpu: Arc<Gpu>,
    presenter: Option<Presenter>,
    /// Bytes that drawing allocated.
    targets: Bytes,
}

impl AdapterSide {
    pub fn new(gpu: &Arc<Gpu>) -> Self {
        Self {
            gpu: Arc::clone(gpu),
            presenter: None,
            targets: Bytes::default(),
        }
    }
}

impl DeviceSide for AdapterSide {
    fn is_software(&self) -> bool {
        self.gpu.adapter.summary.software
    }

    fn megahertz_reader(&self) -> Option<Box<dyn Fn() -> Option<u32>>> {
        let nvml = Nvml::init().ok()?;
        let address = self.gpu.adapter.summary.pci_address.clone();
        let read = move || {
            let device = nvml.device_by_pci_bus_id(address.as_str()).ok()?;
            device.clock_info(Clock::SM).ok()
        };
        read().map(|_| Box::new(read) as _)
    }

    fn pacer(&self) -> Option<Pacer<'_>> {
        self.gpu.pacer()
    }

    fn most_bandwidth_bytes(&self) -> u64 {
        self.gpu.most_bandwidth_bytes()
    }

    fn bandwidth(&self, bytes: u64) -> Option<DeviceBandwidth> {
        self.gpu.bandwidth(bytes).ok()
    }

    fn upload_bandwidth(&self, threads: &Threads) -> Option<UploadBandwidth> {
        self.gpu.upload_bandwidth(threads).ok()
    }

    fn presenter_bytes(&self, scene: &BuiltScene) -> Option<u64> {
        if scene.passes == 0 {
            return None;
        }
        Presenter::device_bytes(&self.gpu, &scene.crowd, &scene.view())
    }

    fn output_bytes(&self, crowd: &Crowd, keep: Retention) -> u64 {
        // A size that the adapter cannot hold is reported when it is allocated.
        self.gpu.output_bytes(crowd, keep).unwrap_or(0)
    }

    fn allocate(&self, crowd: &Crowd, keep: Retention, output: &mut OutputBuffers) -> Result<()> {
        self.gpu.allocate_output(crowd, keep, output)
    }

    fn present(&mut self, scene: &BuiltScene, passes: u32) -> Result<()> {
        if passes > 0 {
            let (presenter, targets) = self.gpu.counted(|| {
                Presenter::new(Arc::clone(&self.gpu), &scene.crowd, scene.view(), passes)
            });
            self.presenter = Some(presenter?);
            self.targets = targets;
        }
        Ok(())
    }

    fn target_bytes(&self) -> Option<u64> {
        self.presenter.as_ref().map(|_| self.targets.total())
    }

    fn chunk_ends(&self, crowd: &Crowd) -> Result<Vec<u32>> {
        self.gpu.chunk_ends(crowd)
    }

    fn draw(
        &mut self,
        ticket: Ticket,
        backend: &dyn Prepared,
        frame: &FrameInput,
        timer: &mut StageTimer,
    ) -> Result<Ticket> {
        let Some(presenter) = &mut self.presenter else {
            return Ok(ticket);
        };
        let (drawn, bytes) = self
            .gpu
            .counted(|| ticket.draw(presenter, &backend.skinned(), frame, timer));
        self.targets += bytes;
        drawn
    }

    fn clock(&self) -> DeviceClock {
        self.gpu.clock()
    }

    fn set_timing(&self, on: bool) {
        self.gpu.set_timing(on);
    }

    fn work_for(&self, backend: &'static str) {
        self.gpu.work_for(backend);
    }

    fn collect(&self, timer: &mut StageTimer) -> Result<()> {
        self.gpu.collect(timer)
    }

    fn take_work(&self) -> FrameWork {
        self.gpu.take_work()
    }

    fn depths(&self) -> Result<Option<Vec<f32>>> {
        match &self.presenter {
            Some(presenter) if self.gpu.reads_depth() => presenter.read_depth().map(Some),
            _ => Ok(None),
        }
    }
}
