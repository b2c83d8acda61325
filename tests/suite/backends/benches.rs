//! `cargo bench` measures nothing that is wrong.

use criterion::Criterion;
use skinbench::backend::cpu::{BlockJob, CpuKernel};
use skinbench::backend::cpu_kernels::COLUMNS;
use skinbench::registry::{self, BackendEntry, Constructor};
use std::time::Duration;

#[path = "../../../benches/kernels.rs"]
#[expect(dead_code, reason = "`cargo bench` runs its `main`")]
mod kernels;

/// Moves one vertex of each block by a centimetre.
static MUTANT: BackendEntry = Constructor::OneThread(&[&KERNEL]).named("mutant", "a wrong kernel");

const KERNEL: CpuKernel = CpuKernel {
    name: "mutant",
    build: |crowd, isa| {
        let (skin, bytes) = (COLUMNS.build)(crowd, isa)?;
        let moved = move |job: &BlockJob, out: &mut [f32]| {
            skin(job, out);
            out[0] += 0.01;
        };
        Ok((Box::new(moved), bytes))
    },
    ..COLUMNS
};

#[test]
fn a_wrong_kernel_stops_the_bench_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(1))
        .measurement_time(Duration::from_millis(1))
        .output_directory(folder.path());
    let right = registry::find("cpu-simd:columns").unwrap();
    let refused = kernels::groups(&mut criterion, "smoke", 6, &[right, &MUTANT]).unwrap_err();
    assert!(
        refused.to_string().starts_with("mutant, parity_failed: "),
        "{refused}"
    );
    let measured = || folder.path().read_dir().unwrap().count();
    assert_eq!(measured(), 0);
    kernels::groups(&mut criterion, "smoke", 6, &[right]).unwrap();
    assert!(measured() > 0);
}
