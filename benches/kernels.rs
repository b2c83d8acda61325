//! `cargo bench`: whole frames of CPU backends and their stages `pose` and `skin`, per vertex. Each group is verified first:
//! every vertex of the crowd against the reference. `cargo bench -- skin` measures the groups whose names contain that.
//!
//! It tells a change of a kernel from the last run of the same machine. `skinbench run` measures backends by turns.

use criterion::{Criterion, Throughput};
use skinbench::backend::Context;
use skinbench::frame::{FrameInput, Job, StageGroup, StageTimer};
use skinbench::harness::run::{self, RunOptions, Status};
use skinbench::harness::single;
use skinbench::registry::{self, BackendEntry};
use skinbench::scene::{Scene, Settings};
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Scenes and numbers of instances: vertices that stay in the caches, and vertices that do not.
const CROWDS: [(&str, u64); 2] = [("kernel", 1), ("kernel", 64)];
const BACKENDS: [&str; 5] = [
    "cpu-scalar",
    "cpu-simd:columns",
    "cpu-simd:lanes",
    "cpu-simd:cluster",
    "cpu-rayon",
];

fn main() -> ExitCode {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    let backends = BACKENDS.map(|name| registry::find(name).expect("a registered backend"));
    for (scene, instances) in CROWDS {
        if let Err(error) = groups(&mut criterion, scene, instances, &backends) {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    criterion.final_summary();
    ExitCode::SUCCESS
}

/// Verifies backends on a crowd, then measures their frames and stages.
///
/// # Errors
/// A scene that cannot be built, or a backend that is not verified; then nothing is measured.
///
/// # Panics
/// A backend fails while it is measured.
pub fn groups(
    criterion: &mut Criterion,
    scene: &str,
    instances: u64,
    backends: &[&'static BackendEntry],
) -> Result<(), Box<dyn Error>> {
    let settings = Settings {
        instances: Some(instances),
        passes: Some(0),
        ..Settings::default()
    };
    let built = Scene::load(scene)?.with(settings).build(u64::MAX)?;
    let context = Context::default();
    let options = RunOptions {
        backends: backends.to_vec(),
        ..RunOptions::default()
    };
    for outcome in run::verify(&built, &context, &options, &mut ())? {
        if outcome.status != Status::Ok {
            let reason = outcome.problem.unwrap_or_default();
            return Err(format!("{}, {}: {reason}", outcome.name, outcome.status.name()).into());
        }
    }
    let crowd = &built.crowd;
    for (name, stages) in [
        ("frame", StageGroup::Whole),
        ("pose", StageGroup::Pose),
        ("skin", StageGroup::Skin),
    ] {
        let mut group = criterion.benchmark_group(format!("{scene}-{instances}/{name}"));
        group.throughput(Throughput::Elements(crowd.vertex_count()));
        for entry in backends {
            let backend = entry.create(&context)?;
            let job = Job::default();
            let (mut prepared, mut output) =
                single::prepare(&*backend, &context, crowd, &job, None, u64::MAX)?;
            let mut timer = StageTimer::default();
            let mut tick = 0;
            group.bench_function(entry.name, |bencher| {
                bencher.iter_custom(|frames| {
                    let mut total = Duration::ZERO;
                    for _ in 0..frames {
                        tick += 1;
                        timer.clear();
                        let mut frame = FrameInput {
                            crowd,
                            tick,
                            output: &mut output,
                        };
                        let start = Instant::now();
                        prepared
                            .submit(&mut frame, &mut timer)
                            .expect("a frame of a CPU backend");
                        if stages == StageGroup::Whole {
                            total += start.elapsed();
                        }
                        let spans = timer
                            .spans
                            .iter()
                            .filter(|span| span.stage.group() == stages);
                        total += Duration::from_nanos(spans.filter_map(|span| span.ns).sum());
                    }
                    total
                });
            });
        }
    }
    Ok(())
}
