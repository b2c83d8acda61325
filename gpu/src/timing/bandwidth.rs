//! Bandwidth of the device, measured in the same run as its stages and compared with them: for as many bytes as they move,
//! so that what fits a cache of the device is compared with that cache, and at the device's best clock.
//!
//! The time of a submission may not count. Shaders go over their buffer again and again in one dispatch, which
//! timestamps time, or which takes a hundred times as long as an empty submission.

use crate::Gpu;
use crate::device::gpu::WgpuDevice;
use crate::device::staging::fill;
use crate::device::{Buffer, Named, named};
use crate::kernel::Kernel;
use crate::shader::shader;
use skinbench_frame::{DeviceBandwidth, Purpose, Result, Rounds, UploadBandwidth, least_time};
use skinbench_kernels::threads::{Threads, lock};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most bytes of a buffer, on a software adapter and on hardware: more than all caches hold.
const MOST_BYTES: [u64; 2] = [64 << 20, 1 << 30];
/// Fewest bytes: fewer do not occupy the device.
const LEAST_BYTES: u64 = 256 << 10;
/// Sizes per power of two: the next one to that of a stage is at most 9 % off.
const SIZES: f64 = 4.0;
/// Bytes that a workgroup writes or copies, and that one reads.
pub const TILE: u64 = 4 << 10;
const READ_TILE: u64 = 16 << 10;
/// Measured rounds; the fastest counts. Times of debug builds say nothing.
const ROUNDS: u32 = if cfg!(debug_assertions) { 1 } else { 4 };
/// Least time of a round by timestamps, and by the wall clock in empty submissions.
const SHORTEST: Duration = Duration::from_millis(4);
const SUBMISSIONS: u32 = 100;
/// Most times that a dispatch goes over its buffer: workgroups in one dimension.
const MOST_SWEEPS: u32 = 65_535;
/// Bytes of an upload: more than caches hold, but little enough for staging memory.
const UPLOAD_BYTES: u64 = 64 << 20;

impl Gpu {
    /// Most bytes for which a bandwidth is measured.
    pub fn most_bandwidth_bytes(&self) -> u64 {
        let limits = &self.adapter.limits;
        let most = MOST_BYTES[usize::from(!self.adapter.summary.software)];
        most.min(limits.max_storage_buffer_binding_size)
            .min(limits.max_buffer_size)
            / READ_TILE
            * READ_TILE
    }

    /// The device's bandwidths over approximately this number of bytes, measured at the first call.
    ///
    /// # Errors
    /// [`BackendError::Device`](skinbench_frame::BackendError::Device) if the device was lost, or cannot allocate two
    /// buffers to copy between.
    pub fn bandwidth(self: &Arc<Self>, bytes: u64) -> Result<DeviceBandwidth> {
        let bytes = size_near(bytes, self.most_bandwidth_bytes());
        let known = lock(&self.bandwidths).get(&bytes).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let measured = self.measure_bandwidth(bytes)?;
        lock(&self.bandwidths).insert(bytes, measured);
        Ok(measured)
    }

    fn measure_bandwidth(self: &Arc<Self>, bytes: u64) -> Result<DeviceBandwidth> {
        let Some(open) = self.wgpu() else {
            return Ok(DeviceBandwidth::default());
        };
        let from = self.scratch(Purpose::Staging, "copied from", bytes);
        let to = self.scratch(Purpose::Staging, "copied to", bytes);
        self.check()?;
        // Software adapters copy faster by command than in a shader, NVIDIA's driver slower.
        let by_command = self.copy_rate(open, from.object.get(), &to, bytes)?;
        let resources = [named("source", &from), named("output", &to)];
        let in_shader = self.sweep_rate(open, "copy.wgsl", TILE, &resources, bytes)?;
        let write = self.sweep_rate(open, "fill.wgsl", TILE, &resources, bytes)?;
        let read = self.sweep_rate(open, "read.wgsl", READ_TILE, &resources, bytes)?;
        let copy = 2.0 * in_shader.max(by_command);
        // What moves so many bytes when it reads and writes moves as many when it does one of both.
        Ok(DeviceBandwidth {
            bytes,
            write: write.max(copy) as u64,
            read: read.max(copy) as u64,
            copy: copy as u64,
        })
    }

    /// Bytes per second of a shader that goes over so many bytes, a tile in each workgroup.
    fn sweep_rate(
        self: &Arc<Self>,
        open: &WgpuDevice,
        file: &str,
        tile: u64,
        resources: &[Named],
        bytes: u64,
    ) -> Result<f64> {
        let kernel = Kernel::new(self, "bandwidth", shader(file, &[]), &[], true)?;
        let group = kernel.bind(self, 0, resources);
        self.check()?;
        let [x, y] = self.folded((bytes / tile) as u32);
        let shortest = self.shortest_round()?;
        repeated_rate(bytes, shortest, MOST_SWEEPS, |sweeps| {
            self.wake()?;
            self.time_pass(open, |pass| {
                pass.set_pipeline(kernel.pipeline.get());
                pass.set_bind_group(0, group.get(), &[]);
                pass.dispatch_workgroups(x, y, sweeps);
            })
        })
    }

    /// Time that a round takes at least, so that its submission does not count.
    fn shortest_round(&self) -> Result<Duration> {
        if self.trusts_timestamps() {
            Ok(SHORTEST)
        } else {
            Ok(self.empty_submission()? * SUBMISSIONS)
        }
    }

    /// The rates at which the host fills staging memory, with one thread and with `threads`, and at which the device copies
    /// from there. Measured at the first call for so many threads.
    ///
    /// # Errors
    /// [`BackendError::Device`](skinbench_frame::BackendError::Device) if the device was lost or cannot allocate staging
    /// memory.
    pub fn upload_bandwidth(self: &Arc<Self>, threads: &Threads) -> Result<UploadBandwidth> {
        let count = threads.count();
        let known = lock(&self.upload_bandwidths).get(&count).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let measured = self.measure_upload(threads)?;
        lock(&self.upload_bandwidths).insert(count, measured);
        Ok(measured)
    }

    fn measure_upload(self: &Arc<Self>, threads: &Threads) -> Result<UploadBandwidth> {
        let Some(open) = self.wgpu() else {
            return Ok(UploadBandwidth::default());
        };
        let bytes = UPLOAD_BYTES.min(self.most_bandwidth_bytes());
        let staging = open.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("staging"),
            size: bytes,
            usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        });
        let to = self.scratch(Purpose::Staging, "copied to", bytes);
        self.check()?;
        let one = write_rate(&staging, &Threads::One);
        let all = if threads.count() > 1 {
            write_rate(&staging, threads)
        } else {
            one
        };
        staging.unmap();
        let copied = self.copy_rate(open, &staging, &to, bytes)?;
        Ok(UploadBandwidth {
            bytes,
            threads: threads.count(),
            write_by_one: one as u64,
            write_by_all: all as u64,
            copy: copied as u64,
        })
    }

    /// Bytes per second that the device copies by command, in submissions of many copies.
    fn copy_rate(
        self: &Arc<Self>,
        open: &WgpuDevice,
        from: &wgpu::Buffer,
        to: &Buffer,
        bytes: u64,
    ) -> Result<f64> {
        let shortest = self.empty_submission()? * SUBMISSIONS;
        repeated_rate(bytes, shortest, u32::MAX, |copies| {
            self.wake()?;
            let mut encoder = open.device.create_command_encoder(&Default::default());
            for _ in 0..copies {
                encoder.copy_buffer_to_buffer(from, 0, to.object.get(), 0, bytes);
            }
            self.time_submission(&open.queue, encoder.finish(), "copies")
        })
    }
}

/// Bytes per second of work that moves so many bytes each time, in rounds of at most so many times that take long enough.
fn repeated_rate(
    bytes: u64,
    shortest: Duration,
    most: u32,
    mut time: impl FnMut(u32) -> Result<Duration>,
) -> Result<f64> {
    let mut count = 1;
    loop {
        let took = time(count)?;
        if took >= shortest || count == most {
            break;
        }
        count = more(count, took, shortest).min(most);
    }
    let least = least_time(Rounds::exactly(ROUNDS), || time(count))?;
    Ok(per_second(bytes * u64::from(count), least))
}

/// Size for which bandwidths are measured next to a number of bytes.
fn size_near(bytes: u64, most: u64) -> u64 {
    let bytes = bytes.clamp(LEAST_BYTES, most.max(LEAST_BYTES)) as f64;
    let near = 2f64.powf((bytes.log2() * SIZES).round() / SIZES) as u64;
    near.min(most).next_multiple_of(READ_TILE)
}

/// A larger number of repetitions, with which they take at least so long: at most 64 times as many.
fn more(count: u32, took: Duration, shortest: Duration) -> u32 {
    let factor = 1.25 * shortest.as_secs_f64() / took.as_secs_f64().max(1e-9);
    (f64::from(count) * factor.clamp(2.0, 64.0)).ceil() as u32
}

fn per_second(bytes: u64, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64().max(1e-9)
}

/// Bytes per second at which threads fill a mapped buffer from main memory.
fn write_rate(staging: &wgpu::Buffer, threads: &Threads) -> f64 {
    let source = vec![1u8; staging.size() as usize];
    // The first round touches the memory.
    let Ok(least) = least_time(Rounds::exactly(1 + ROUNDS), || {
        let start = Instant::now();
        fill(&staging.slice(..), &source, threads);
        Ok::<_, Infallible>(start.elapsed())
    });
    per_second(staging.size(), least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_near_those_of_stages_and_rounds_become_long_enough() {
        let most = 1 << 30;
        for bytes in [1 << 20, 3 << 20, 61_059_072, 700 << 20, 1 << 30] {
            let near = size_near(bytes, most);
            let ratio = near as f64 / bytes as f64;
            assert!((0.91..1.10).contains(&ratio), "{bytes}: {near}");
            assert_eq!(near % READ_TILE, 0);
        }
        assert_eq!(size_near(1, most), LEAST_BYTES);
        assert_eq!(size_near(1 << 40, most), most);
        let (took, shortest) = (Duration::from_micros(100), Duration::from_millis(1));
        assert_eq!(more(2, took, shortest), 25);
        assert_eq!(more(2, Duration::ZERO, shortest), 128);
        assert_eq!(more(2, shortest, shortest), 4);
    }
}
