//! The device itself: what it moves, what it refuses, who it is.

use crate::backends::common::context;
use skinbench::gpu::Gpu;

#[test]
fn bandwidth_is_measured() {
    let Some(gpu) = context().gpu else { return };
    let bandwidth = gpu.bandwidth().unwrap();
    for rate in [bandwidth.write, bandwidth.copy, bandwidth.upload] {
        // Slower than any memory, and faster than any: the clock or the bytes would be wrong.
        assert!((10_000_000..100_000_000_000_000).contains(&rate), "{bandwidth:?}");
    }
}

#[test]
fn a_refused_command_is_told_once() {
    let Some(gpu) = context().gpu else { return };
    let small = gpu.buffer("too small", 16, wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST);
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
    let name = &gpu.summary().name;
    let first_word = name.split_whitespace().next().unwrap().to_uppercase();
    assert_eq!(Gpu::open(Some(&first_word)).unwrap().summary(), gpu.summary());
    assert_eq!(Gpu::open(Some("0")).unwrap().summary(), gpu.summary());
    for wanted in ["no such adapter", "99"] {
        let Err(error) = Gpu::open(Some(wanted)) else { panic!("{wanted:?} was opened") };
        assert!(error.to_string().contains(name) && error.to_string().contains(wanted), "{error}");
    }
}
