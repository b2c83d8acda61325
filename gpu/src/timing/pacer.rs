//! Arithmetic that keeps a device's clock up and measures it. Only hardware has a [`Pacer`]: a software adapter has the
//! processor's clock.

use crate::Gpu;
use crate::device::arithmetic::{self, Arithmetic, QUERIES, own_buffer};
use crate::device::gpu::WgpuDevice;
use crate::device::named;
use crate::device::timestamps::Queries;
use crate::kernel::Kernel;
use arrayvec::ArrayVec;
use skinbench_frame::{Pacer, Result, Spinner};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Least time of a piece by timestamps, whose ends are uncertain by less than a hundredth of it.
const SHORTEST: Duration = Duration::from_micros(250);
/// Least time of a piece by fences, in empty submissions.
const SUBMISSIONS: u32 = 100;

impl Gpu {
    /// What keeps the clock up and measures it; `None` on software adapters, and where nothing is executed.
    pub fn pacer(&self) -> Option<Pacer<'_>> {
        let is_hardware = self.wgpu().is_some() && !self.adapter.summary.software;
        is_hardware.then_some(Pacer {
            spinner: self,
            meter: &self.clock_meter,
        })
    }

    /// Executes arithmetic until the clock is steady, if the device has a pacer.
    ///
    /// # Errors
    /// As [`Spinner::spin`].
    pub fn wake(&self) -> Result<()> {
        match self.pacer() {
            Some(pacer) => pacer.wake().map(|_| ()),
            None => Ok(()),
        }
    }

    /// Returns whether timestamps are there and are trusted: not on software adapters, whose dispatches they miss.
    pub(crate) fn trusts_timestamps(&self) -> bool {
        self.queries().is_some() && !self.clock().is_fenced() && !self.adapter.summary.software
    }

    /// Time of a compute pass in a submission of its own: by timestamps, or where they are not trusted or do not advance
    /// by the wall clock.
    pub(crate) fn time_pass(
        &self,
        open: &WgpuDevice,
        record: impl Fn(&mut wgpu::ComputePass),
    ) -> Result<Duration> {
        let queries = if self.trusts_timestamps() {
            self.arithmetic(open)?.queries.as_ref()
        } else {
            None
        };
        let mut encoder = open.device.create_command_encoder(&Default::default());
        record(
            &mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("timed"),
                timestamp_writes: queries.map(|queries| queries.writes(0)),
            }),
        );
        if let Some(queries) = queries {
            queries.resolve(&mut encoder, 2);
        }
        let wall = self.time_submission(&open.queue, encoder.finish(), "a timed pass")?;
        let Some(queries) = queries else {
            return Ok(wall);
        };
        let times = self.read_queries(queries, 2)?;
        Ok(times[0].unwrap_or(wall))
    }

    fn arithmetic(&self, open: &WgpuDevice) -> Result<&Arithmetic> {
        if let Some(known) = self.arithmetic.get() {
            return Ok(known);
        }
        let made = compiled(self, open)?;
        Ok(self.arithmetic.get_or_init(|| made))
    }

    /// Waits for the device, and reads the times between the first queries; `None` for those that do not advance.
    fn read_queries(&self, queries: &Queries, count: u32) -> Result<ArrayVec<Option<Duration>, 2>> {
        let mut ticks = [0u64; QUERIES as usize];
        let ticks = &mut ticks[..count as usize];
        self.read_wgpu(&queries.mappable, bytemuck::cast_slice_mut(ticks))?;
        let mut times = ArrayVec::new();
        for [begin, end] in ticks.as_chunks::<2>().0 {
            let passed = end.checked_sub(*begin).filter(|ticks| *ticks > 0);
            times.push(passed.map(|ticks| {
                let nanoseconds = ticks as f64 * f64::from(queries.ns_per_tick);
                Duration::from_nanos(nanoseconds as u64)
            }));
        }
        Ok(times)
    }

    /// Times of the first and the last piece by timestamps in one submission; `None` if they do not advance.
    fn spin_between(
        &self,
        open: &WgpuDevice,
        arithmetic: &Arithmetic,
        queries: &Queries,
        pieces: u32,
    ) -> Result<Option<[Duration; 2]>> {
        let mut encoder = open.device.create_command_encoder(&Default::default());
        arithmetic.record(&mut encoder, 1, Some((queries, 0)));
        if pieces > 2 {
            arithmetic.record(&mut encoder, pieces - 2, None);
        }
        if pieces > 1 {
            arithmetic.record(&mut encoder, 1, Some((queries, 2)));
        }
        let taken = QUERIES.min(2 * pieces);
        queries.resolve(&mut encoder, taken);
        open.queue.submit([encoder.finish()]);
        let times = self.read_queries(queries, taken)?;
        let first = times.first().copied().flatten();
        let last = times.last().copied().flatten();
        Ok(first.zip(last).map(|(first, last)| [first, last]))
    }

    /// Time of some pieces by the wall clock, in a submission of their own.
    fn spin_fenced(
        &self,
        open: &WgpuDevice,
        arithmetic: &Arithmetic,
        pieces: u32,
    ) -> Result<Duration> {
        let mut encoder = open.device.create_command_encoder(&Default::default());
        arithmetic.record(&mut encoder, pieces, None);
        let time = self.time_submission(&open.queue, encoder.finish(), "arithmetic")?;
        let empty = self.clock().empty_submission.unwrap_or_default();
        Ok(time.saturating_sub(empty).max(Duration::from_nanos(1)))
    }
}

impl Spinner for Gpu {
    fn spin(&self, rounds: u32, pieces: u32) -> Result<[Duration; 2]> {
        let Some(open) = self.wgpu() else {
            return Ok([Duration::ZERO; 2]);
        };
        let arithmetic = self.arithmetic(open)?;
        if arithmetic.rounds.swap(rounds, Ordering::Relaxed) != rounds {
            // Any result: a generator of period 2^32 gives each thread another one.
            let content = [rounds, u32::MAX, 0, 0];
            self.write_buffer(&arithmetic.uniform, 0, bytemuck::bytes_of(&content));
        }
        let queries = arithmetic
            .queries
            .as_ref()
            .filter(|_| self.trusts_timestamps());
        if let Some(queries) = queries
            && let Some(times) = self.spin_between(open, arithmetic, queries, pieces)?
        {
            return Ok(times);
        }
        let first = self.spin_fenced(open, arithmetic, 1)?;
        if pieces > 2 {
            self.spin_fenced(open, arithmetic, pieces - 2)?;
        }
        let last = if pieces > 1 {
            self.spin_fenced(open, arithmetic, 1)?
        } else {
            first
        };
        Ok([first, last])
    }

    fn shortest(&self) -> Duration {
        let empty = self.clock().empty_submission.unwrap_or_default();
        SHORTEST.max(empty * SUBMISSIONS)
    }
}

/// Compiles the arithmetic's shader. What it allocates is the harness's own, and counts as nobody's.
fn compiled(gpu: &Gpu, open: &WgpuDevice) -> Result<Arithmetic> {
    let kernel = Kernel::new(gpu, "arithmetic", arithmetic::wgsl(), &[], true)?;
    let uniform = own_buffer(
        &open.device,
        "rounds",
        wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
    );
    let output = own_buffer(
        &open.device,
        "result",
        wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
    );
    let resources = [named("rounds", &uniform), named("output", &output)];
    let group = kernel.bind(gpu, 0, &resources);
    gpu.check()?;
    Ok(Arithmetic {
        pipeline: kernel.pipeline,
        group,
        uniform,
        rounds: AtomicU32::new(0),
        #[cfg(test)]
        output,
        queries: gpu
            .queries()
            .map(|_| Queries::new(&open.device, &open.queue, "arithmetic", QUERIES)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use skinbench_kernels::threads::lock;

    /// What a thread of shaders/arithmetic.wgsl computes.
    fn result(thread: u32, rounds: u32) -> u32 {
        let round = |value: u32, _| value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (0..rounds).fold(thread, round)
    }

    #[test]
    fn a_piece_has_as_many_rounds_as_it_is_told() {
        let Some(gpu) = Gpu::open_to_test() else {
            return;
        };
        for (rounds, pieces) in [(1, 1), (8, 2), (64, 4)] {
            let times = gpu.spin(rounds, pieces).unwrap();
            assert!(times.iter().all(|time| !time.is_zero()), "{times:?}");
            let arithmetic = gpu.arithmetic.get().unwrap();
            let mut read = Vec::new();
            gpu.read_back(&arithmetic.output, 0, 1, &mut read).unwrap();
            assert_eq!(read[0].to_bits(), result(0, rounds));
        }
        assert_eq!(
            lock(&gpu.created).total(),
            3 * 16,
            "only what was read back"
        );
        assert_eq!(
            gpu.pacer().is_none(),
            gpu.adapter.summary.software,
            "a software adapter is never paced"
        );
    }
}
