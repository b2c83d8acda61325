//! Skins a crowd on the GPU: verifies every backend below against the f64 reference, then prints how long each stage of
//! a frame takes.
//!
//! `cargo run --release --no-default-features --features gpu --example gpu_crowd -- 3000` measures 3,000 walkers
//! instead of 100, and does not compile the command line.

use skinbench::backend::Context;
use skinbench::gpu::Gpu;
use skinbench::harness::run::{self, RunOptions, Status};
use skinbench::registry;
use skinbench::scene::{Scene, Settings};
use std::error::Error;
use std::process::ExitCode;

/// The CPU poses and a compute kernel skins; the GPU does both; the vertex shader skins in the draw.
const BACKENDS: [&str; 3] = ["gpu-compute", "gpu-full", "gpu-vertex"];

fn main() -> ExitCode {
    match try_main() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A `main` that returns the error would print its fields.
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_main() -> Result<(), Box<dyn Error>> {
    let instances = std::env::args()
        .nth(1)
        .map_or(Ok(100), |count| count.parse())?;
    let gpu = match Gpu::open(None) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("{error}: nothing was measured");
            return Ok(());
        }
    };
    println!("{instances} walkers on {}", gpu.adapter.summary.name);

    let settings = Settings {
        instances: Some(instances),
        ..Settings::default()
    };
    let scene = Scene::load("walkers")?.with(settings).build(u64::MAX)?;
    let context = Context {
        gpu: Some(gpu),
        ..Context::default()
    };
    let options = RunOptions {
        backends: BACKENDS
            .iter()
            .filter_map(|name| registry::find(name))
            .collect(),
        frames: Some(20),
        ..RunOptions::default()
    };
    // `()` observes nothing; an implementation of `Observer` shows progress and stores outcomes.
    for outcome in run::run(&scene, &context, &options, &mut ())? {
        match (outcome.status, &outcome.parity) {
            (Status::Ok, Some(parity)) => {
                println!(
                    "{}: parity {:.1e}",
                    outcome.name,
                    parity.max_rel.unwrap_or(f64::NAN)
                )
            }
            (status, _) => println!(
                "{}: {}, {}",
                outcome.name,
                status.name(),
                outcome.problem.unwrap_or_default()
            ),
        }
        // A backend that failed its verification has no times.
        for times in &outcome.stages {
            if let Some(summary) = times.summary() {
                let milliseconds = summary.median as f64 / 1e6;
                println!(
                    "  {:<14} {milliseconds:8.3} ms ({})",
                    times.stage.name(),
                    times.clock.name()
                );
            }
        }
    }
    Ok(())
}
