//! Peak bandwidth and arithmetic of the machine, measured in the same process just before the backends. `pct_of_limit`
//! is relative to these.
//!
//! Bandwidth depends on the level of memory, so it is measured on as many bytes as the stage moves (at most 256 MiB on the
//! host, 1 GiB on a device): output that fits a cache is compared with that cache, not with the memory behind it. A write limit is the better of plain and
//! streaming stores. Buffers are touched before they are timed, and the best of several passes counts.

use super::device_side::DeviceSide;
use super::opened_device;
use crate::backend::Context;
use crate::frame::{DeviceBandwidth, Memory, Rounds, Traffic, UploadBandwidth, least_time};
use crate::probe::{self, CHAINS};
use crate::simd::{Aligned, Isa, LINE};
use crate::skin::Store;
use crate::threads::Threads;
use std::collections::HashMap;
use std::convert::Infallible;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Largest buffer.
const MOST_BYTES: u64 = 256 << 20;
/// Smallest buffer; below it, the clock and the wake-up of threads dominate.
const LEAST_BYTES: u64 = 256 << 10;
/// Duration of a pass, and number of passes of which the best counts; times of debug builds say nothing.
const PASS: Duration = Duration::from_millis(2);
const PASSES: u32 = if cfg!(debug_assertions) { 1 } else { 4 };

/// Bandwidth for one size of buffer, in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bandwidth {
    /// Bytes written by plain stores.
    pub write: f64,
    /// Bytes written by streaming stores, past the caches.
    pub stream: f64,
    /// Bytes read.
    pub read: f64,
}

/// The host's limits by size and thread count. Each is measured at the first request and then cached.
pub struct Limits {
    isa: Isa,
    /// By bytes and number of threads.
    known: HashMap<(u64, usize), Bandwidth>,
}

/// Peak rates of the processor with a given number of threads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Host {
    /// Number of threads.
    pub threads: usize,
    /// Lanes per vector.
    pub lanes: usize,
    /// Size of the buffer in bytes over which the bandwidth was measured: [`Host::BYTES`], or less where memory is scarce.
    pub bytes: u64,
    /// Bandwidth over that buffer.
    pub bandwidth: Bandwidth,
    /// Fused multiply-adds per second, counting lanes.
    pub fma: f64,
}

/// Peak rates of a machine, to be shown beside its results.
#[derive(Debug, Clone, Default)]
pub struct MachineLimits {
    /// Those of the processor with one thread, and with all if there are more.
    pub hosts: Vec<Host>,
    /// Those of the device; `None` without one, or if it is emulated on the processor.
    pub device: Option<DeviceLimits>,
}

/// Peak rates of a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceLimits {
    /// Bandwidth of its memory, over more bytes than its caches hold.
    pub memory: DeviceBandwidth,
    /// Bandwidth from the host.
    pub upload: UploadBandwidth,
}

impl MachineLimits {
    /// Measures; takes approximately a second.
    pub fn measure(context: &Context) -> Self {
        Self {
            hosts: Host::measure_all(context.isa, &context.threads),
            device: DeviceLimits::measure(&*opened_device::open(context), &context.threads),
        }
    }
}

impl DeviceLimits {
    fn measure(device: &dyn DeviceSide, threads: &Threads) -> Option<Self> {
        if device.is_software() {
            return None;
        }
        Some(Self {
            memory: device.bandwidth(device.most_bandwidth_bytes())?,
            upload: device.upload_bandwidth(threads)?,
        })
    }
}

impl Limits {
    /// Limits without any measurement yet.
    pub fn new(isa: Isa) -> Self {
        Self {
            isa,
            known: HashMap::new(),
        }
    }

    /// Largest number of bytes per second for a stage's traffic, on the host or on a device; `None` if that is not known.
    pub(super) fn of(
        &mut self,
        traffic: &Traffic,
        pool: &Threads,
        device: &dyn DeviceSide,
    ) -> Option<f64> {
        let pool = match traffic.memory {
            Memory::Host { threads: 1 } | Memory::Staging { threads: 1 } => &Threads::One,
            _ => pool,
        };
        match traffic.memory {
            Memory::Host { .. } => {
                let read = self.bandwidth(traffic.read, pool).read;
                let written = self.bandwidth(traffic.written, pool);
                Some(mixed(traffic, read, written.write.max(written.stream)))
            }
            Memory::Staging { .. } => {
                let read = self.bandwidth(traffic.read, pool).read;
                let written = device.upload_bandwidth(pool)?.write_by_all as f64;
                let written = written.max(self.as_main_memory(traffic, pool, device));
                Some(mixed(traffic, read, written))
            }
            Memory::Device => {
                let read = device.bandwidth(traffic.read)?.read;
                let written = device.bandwidth(traffic.written)?.write;
                Some(mixed(traffic, read as f64, written as f64))
            }
            Memory::Upload => {
                let copied = device.upload_bandwidth(pool)?.copy as f64;
                Some(copied.max(self.as_main_memory(traffic, pool, device)))
            }
        }
    }

    /// Returns the rate of writing main memory if the device's staging memory lies there, as a software adapter's does, and
    /// otherwise 0. The rates of uploads alone are no bound for a few MB: they are measured over more than a cache holds.
    fn as_main_memory(
        &mut self,
        traffic: &Traffic,
        pool: &Threads,
        device: &dyn DeviceSide,
    ) -> f64 {
        if !device.is_software() {
            return 0.0;
        }
        let written = self.bandwidth(traffic.written, pool);
        written.write.max(written.stream)
    }

    /// Bandwidth over a buffer of `bytes`.
    pub fn bandwidth(&mut self, bytes: u64, threads: &Threads) -> Bandwidth {
        let bytes = bytes.clamp(LEAST_BYTES, MOST_BYTES);
        let known = self.known.entry((bytes, threads.count()));
        *known.or_insert_with(|| measure(self.isa, affordable(bytes), threads))
    }
}

/// Bytes per second of a mix of reading and writing, from the rates of each.
fn mixed(traffic: &Traffic, read: f64, written: f64) -> f64 {
    traffic.bytes() as f64 / (traffic.read as f64 / read + traffic.written as f64 / written)
}

/// The part of a buffer's bytes that this machine can spare, as far as the build can tell.
fn affordable(bytes: u64) -> u64 {
    #[cfg(feature = "cli")]
    let available = super::environment::available_memory();
    #[cfg(not(feature = "cli"))]
    let available = u64::MAX;
    bytes.min(part_of(available))
}

/// The part of available memory that a buffer may take, at least [`LEAST_BYTES`].
fn part_of(available: u64) -> u64 {
    (available / 4).max(LEAST_BYTES)
}

fn measure(isa: Isa, bytes: u64, threads: &Threads) -> Bandwidth {
    let floats = bytes as usize / size_of::<f32>();
    let mut buffer = Aligned::<f32>::zeroed(floats);
    // Each thread gets whole cache lines.
    let share = floats
        .div_ceil(threads.count())
        .next_multiple_of(LINE / size_of::<f32>());
    let [write, stream] = [Store::Cached, Store::Streamed].map(|store| {
        best(|| threads.each(&mut buffer, share, |_, out| probe::fill(isa, store, out)))
    });
    let read = best(|| {
        threads.each(&mut buffer, share, |_, values| {
            black_box(probe::sum(isa, values));
        });
    });
    let bytes = bytes as f64;
    Bandwidth {
        write: bytes * write,
        stream: bytes * stream,
        read: bytes * read,
    }
}

impl Host {
    /// Size of the buffer in bytes: approximately what a large crowd's frame writes.
    pub const BYTES: u64 = 64 << 20;

    /// Peak rates of one thread, and of all if there are more.
    pub fn measure_all(isa: Isa, threads: &Threads) -> Vec<Self> {
        let all = (threads.count() > 1).then_some(threads);
        std::iter::once(&Threads::One)
            .chain(all)
            .map(|threads| Self::measure(isa, threads))
            .collect()
    }

    /// Measures with `threads`; takes approximately half a second.
    pub fn measure(isa: Isa, threads: &Threads) -> Self {
        const ROUNDS: usize = 20_000;
        let mut lanes = vec![0usize; threads.count()];
        let rate = best(|| {
            threads.each(&mut lanes, 1, |_, lanes| {
                lanes[0] = probe::multiply_add(isa, ROUNDS)
            });
        });
        let bytes = affordable(Self::BYTES);
        let fma = rate * (lanes.iter().sum::<usize>() * CHAINS * ROUNDS) as f64;
        Self {
            threads: lanes.len(),
            lanes: lanes[0],
            bytes,
            bandwidth: measure(isa, bytes, threads),
            fma,
        }
    }
}

/// Most passes per second.
fn best(mut pass: impl FnMut()) -> f64 {
    pass();
    let Ok(least) = least_time(Rounds::exactly(PASSES), || {
        let start = Instant::now();
        let mut count = 0;
        // Once at least, even if the system gives the processor to others for so long.
        loop {
            pass();
            count += 1;
            let time = start.elapsed();
            if time >= PASS {
                return Ok::<_, Infallible>(time / count);
            }
        }
    });
    1.0 / least.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Stage;

    #[test]
    fn limits_are_measured_once_and_mix_reads_and_writes() {
        let mut limits = Limits::new(Isa::strongest());
        let threads = Threads::One;
        let bandwidth = limits.bandwidth(LEAST_BYTES, &threads);
        assert!(
            [bandwidth.write, bandwidth.stream, bandwidth.read]
                .iter()
                .all(|rate| *rate > 1e6 && rate.is_finite())
        );
        assert_eq!(limits.bandwidth(1, &threads), bandwidth, "measured again");
        let memory = Memory::Host { threads: 1 };
        let traffic = Traffic {
            stage: Stage::Skin,
            read: 1_000,
            written: 3_000,
            memory,
        };
        let written = bandwidth.write.max(bandwidth.stream);
        let expected = 4_000.0 / (1_000.0 / bandwidth.read + 3_000.0 / written);
        let of_host = limits.of(&traffic, &threads, &()).unwrap();
        assert!((of_host / expected - 1.0).abs() < 1e-9);
        let traffic = Traffic {
            memory: Memory::Device,
            ..traffic
        };
        assert_eq!(limits.of(&traffic, &threads, &()), None, "there is none");
        let of_device = limits.of(&traffic, &threads, &Cached).unwrap();
        assert!((of_device / (4_000.0 / (1_000.0 / 8e9 + 3_000.0 / 4e9)) - 1.0).abs() < 1e-9);
        let traffic = Traffic {
            written: 3 << 30,
            read: 0,
            ..traffic
        };
        let of_memory = limits.of(&traffic, &threads, &Cached).unwrap();
        assert!((of_memory / 1e9 - 1.0).abs() < 1e-9, "{of_memory}");
        let limits = DeviceLimits::measure(&Cached, &threads).unwrap();
        assert_eq!(
            (limits.memory.write, limits.upload.copy),
            (1_000_000_000, 5)
        );
        assert_eq!(DeviceLimits::measure(&(), &threads), None);
    }

    #[test]
    fn buffers_are_smaller_where_memory_is_scarce() {
        assert_eq!(part_of(0), LEAST_BYTES);
        assert_eq!(part_of(200 << 20), 50 << 20);
        assert!(affordable(Host::BYTES) <= Host::BYTES);
    }

    /// A device with a cache of a megabyte.
    struct Cached;

    impl DeviceSide for Cached {
        fn most_bandwidth_bytes(&self) -> u64 {
            1 << 30
        }

        fn bandwidth(&self, bytes: u64) -> Option<DeviceBandwidth> {
            let factor = if bytes <= 1 << 20 { 4 } else { 1 };
            Some(DeviceBandwidth {
                bytes,
                write: factor * 1_000_000_000,
                read: factor * 2_000_000_000,
                copy: 0,
            })
        }

        fn upload_bandwidth(&self, _: &Threads) -> Option<UploadBandwidth> {
            Some(UploadBandwidth {
                copy: 5,
                ..UploadBandwidth::default()
            })
        }
    }

    #[test]
    fn the_host_is_measured_by_threads_and_lanes() {
        for count in [1, 2] {
            let host = Host::measure(Isa::Scalar, &Threads::new(count).unwrap());
            assert_eq!((host.threads, host.lanes), (count, 1));
            // Slower than any processor, and faster than any thread's scalars.
            assert!((1e7..2e11 * count as f64).contains(&host.fma), "{host:?}");
            let Bandwidth {
                write,
                stream,
                read,
            } = host.bandwidth;
            assert!(
                [write, stream, read]
                    .iter()
                    .all(|rate| (1e7..1e13).contains(rate)),
                "{host:?}"
            );
        }
    }
}
