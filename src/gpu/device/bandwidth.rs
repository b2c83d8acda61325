//! Bandwidth of the device, measured in the same run as its stages and compared with them.

use crate::frame::{Purpose, Result};
use crate::gpu::device::{Buffer, ComputePass};
use crate::gpu::shader::{Kernel, shader};
use crate::gpu::{Commands, DeviceBandwidth, Gpu};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Bytes moved at once, on a software adapter and on hardware: more than all caches hold.
const BYTES: [u64; 2] = [64 << 20, 1 << 30];
/// Threads of a workgroup in shaders/fill.wgsl, 16 bytes each.
const WORKGROUP: u64 = 256;
/// Measured rounds; the fastest counts. Times of debug builds say nothing.
const ROUNDS: u32 = if cfg!(debug_assertions) { 1 } else { 4 };
/// Bytes of an upload: more than caches hold, but little enough for staging memory.
const UPLOAD_BYTES: u64 = 64 << 20;

impl Gpu {
    /// The device's bandwidths, measured at the first call, which takes up to a second.
    ///
    /// # Errors
    /// [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost, or cannot allocate two
    /// buffers to copy between.
    pub fn bandwidth(self: &Rc<Self>) -> Result<DeviceBandwidth> {
        if let Some(known) = self.bandwidth.get() {
            return Ok(*known);
        }
        let measured = self.measure_bandwidth()?;
        Ok(*self.bandwidth.get_or_init(|| measured))
    }

    fn measure_bandwidth(self: &Rc<Self>) -> Result<DeviceBandwidth> {
        let limits = &self.adapter.limits;
        let most = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size);
        let bytes = BYTES[usize::from(!self.adapter.summary.software)].min(most) / 4096 * 4096;
        let [from, to] =
            ["copied from", "copied to"].map(|label| self.scratch(Purpose::Staging, label, bytes));
        self.check()?;
        let fill = fill_pass(self, &from, bytes)?;
        let write = self.fastest(bytes, |commands| commands.compute_pass("fill", None, &fill))?;
        let copy = self.fastest(bytes, |commands| commands.copy((&from, 0), (&to, 0), bytes))?;
        let staged = UPLOAD_BYTES.min(bytes);
        let usage = wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC;
        let staging = self.buffer_with(
            Purpose::Staging,
            "staging",
            &vec![0; staged as usize],
            usage,
        );
        let upload = self.fastest(staged, |commands| {
            commands.copy((&staging, 0), (&to, 0), staged)
        })?;
        Ok(DeviceBandwidth {
            write,
            copy,
            upload,
        })
    }

    /// Bytes per second of the fastest round; the first round is not counted. By wall clock, because not every adapter
    /// has timestamps of transfers.
    fn fastest(self: &Rc<Self>, bytes: u64, record: impl Fn(&mut Commands)) -> Result<u64> {
        let mut least = Duration::MAX;
        for round in 0..=ROUNDS {
            let start = Instant::now();
            let mut commands = self.commands("bandwidth");
            record(&mut commands);
            commands.finish()?;
            if round > 0 {
                least = least.min(start.elapsed());
            }
        }
        Ok((bytes as f64 / least.as_secs_f64().max(1e-9)) as u64)
    }
}

/// Records a compute pass that fills the first bytes of a buffer.
pub(in crate::gpu) fn fill_pass(
    gpu: &Gpu,
    target: &Buffer,
    bytes: u64,
) -> Result<impl Fn(&mut ComputePass)> {
    let kernel = Kernel::new(gpu, "fill", shader("fill.wgsl", &[]), &[], false)?;
    let group = kernel.bind(gpu, 0, &[("output", target.into())]);
    Ok(move |pass: &mut ComputePass| {
        pass.dispatch(gpu, &kernel, &group, (bytes / 16 / WORKGROUP) as u32)
    })
}
