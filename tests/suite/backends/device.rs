//! The device itself: what it moves, what it refuses, who it is.

use crate::backends::common::context;
use skinbench::frame::Purpose;
use skinbench::gpu::Gpu;
use skinbench::gpu::wgpu;
use skinbench::threads::Threads;
use std::sync::Arc;
use std::time::Instant;

/// Bytes per second by plain wgpu calls, in the fastest of a few rounds.
fn rate(gpu: &Gpu, bytes: u64, times: u64, record: impl Fn(&mut wgpu::CommandEncoder)) -> f64 {
    let (device, queue) = gpu.device().unwrap();
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let mut encoder = device.create_command_encoder(&Default::default());
        (0..times).for_each(|_| record(&mut encoder));
        let start = Instant::now();
        queue.submit([encoder.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        least = least.min(start.elapsed().as_secs_f64());
    }
    (bytes * times) as f64 / least
}

/// The stated bandwidth must be that of plain calls just before and after. A wrong unit (bits for bytes), a round that
/// is not waited for, or rounds that are counted together would be farther off than noise, each time.
#[test]
fn bandwidth_is_what_plain_calls_reach() {
    const ATTEMPTS: usize = 3;
    let mut faults = Vec::new();
    while faults.len() < ATTEMPTS {
        let Some(gpu) = context().gpu else { return };
        match stated_beside_plain(&gpu) {
            Ok(()) => return,
            Err(fault) => faults.push(fault),
        }
    }
    panic!("{faults:#?}");
}

/// Compares the stated bandwidths with those of plain calls. Other tests may take the processor away during either.
fn stated_beside_plain(gpu: &Arc<Gpu>) -> Result<(), String> {
    const BYTES: u64 = 64 << 20;
    const FACTOR: f64 = 6.0;
    let buffer = |usage| {
        let descriptor = wgpu::BufferDescriptor {
            label: None,
            size: BYTES,
            usage,
            mapped_at_creation: false,
        };
        gpu.device().unwrap().0.create_buffer(&descriptor)
    };
    let (source, target) = (wgpu::BufferUsages::COPY_SRC, wgpu::BufferUsages::COPY_DST);
    let (from, to, staging) = (
        buffer(source),
        buffer(target),
        buffer(source | wgpu::BufferUsages::MAP_WRITE),
    );
    // Enough to outlast what a submission takes on hardware.
    let times = if gpu.adapter.summary.software { 1 } else { 16 };
    let plain = || {
        let copy = |from| {
            rate(gpu, BYTES, times, |encoder| {
                encoder.copy_buffer_to_buffer(from, 0, &to, 0, BYTES)
            })
        };
        [
            rate(gpu, BYTES, times, |encoder| {
                encoder.clear_buffer(&to, 0, None)
            }),
            copy(&from),
            copy(&staging),
        ]
    };
    let before = plain();
    let bandwidth = gpu.bandwidth(BYTES).unwrap();
    let upload = gpu.upload_bandwidth(&Threads::new(2).unwrap()).unwrap();
    let after = plain();
    let cleared_or_copied = [before[0], before[1], after[0], after[1]];
    let copied = [before[1], after[1]];
    let staged = [before[2], after[2]];
    // A shader writes a buffer as fast as it is cleared, or on the CPU as slowly as it is copied.
    let pairs: [(&str, u64, &[f64]); 6] = [
        ("write", bandwidth.write, &cleared_or_copied),
        ("copy", bandwidth.copy / 2, &copied),
        ("read", bandwidth.read, &cleared_or_copied),
        ("upload", upload.copy, &staged),
        ("staging by one thread", upload.write_by_one, &staged),
        ("staging by all", upload.write_by_all, &staged),
    ];
    assert_eq!((bandwidth.bytes, upload.threads), (BYTES, 2));
    for (name, stated, plain) in pairs {
        let least = plain.iter().copied().fold(f64::INFINITY, f64::min);
        let most = plain.iter().copied().fold(0.0, f64::max);
        if !(least / FACTOR..most * FACTOR).contains(&(stated as f64)) {
            return Err(format!("{name}: {stated}, by plain calls {plain:.0?}"));
        }
    }
    Ok(())
}

#[test]
fn a_refused_command_is_told_once() {
    let Some(gpu) = context().gpu else { return };
    let small = gpu.buffer(
        Purpose::Staging,
        "too small",
        16,
        wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
    );
    let mut read = Vec::new();
    assert!(gpu.read_back(&small, 1_000, 4, &mut read).is_err());
    gpu.check().unwrap();
    read.clear();
    gpu.read_back(&small, 0, 4, &mut read).unwrap();
    assert_eq!(read, [0.0; 4]);
}

#[test]
fn adapters_are_chosen_by_name_or_number() {
    let Some(gpu) = context().gpu else { return };
    let name = &gpu.adapter.summary.name;
    let first_word = name.split_whitespace().next().unwrap().to_uppercase();
    assert_eq!(
        Gpu::open(Some(&first_word)).unwrap().adapter.summary,
        gpu.adapter.summary
    );
    assert_eq!(
        Gpu::open(Some("0")).unwrap().adapter.summary,
        gpu.adapter.summary
    );
    for wanted in ["no such adapter", "99"] {
        let Err(error) = Gpu::open(Some(wanted)) else {
            panic!("{wanted:?} was opened")
        };
        assert!(
            error.to_string().contains(name) && error.to_string().contains(wanted),
            "{error}"
        );
    }
}
