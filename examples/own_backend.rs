//! Adds a backend from outside the crate: the harness verifies it and measures it next to a built-in one.
//!
//! A CPU backend has a [`CpuKernel`]: it receives blocks of up to 16 instances with their palettes, and writes vertices.
//! The one here skins with a plain loop over the influences of each vertex. `cargo run --release
//! --no-default-features --example own_backend` compiles neither wgpu nor the command line.

use glam::Vec3;
use skinbench::backend::Context;
use skinbench::backend::cpu::{BlockJob, CpuKernel};
use skinbench::backend::cpu_kernels::COLUMNS;
use skinbench::frame::{BackendError, Bytes, PaletteLayout, Stage};
use skinbench::harness::run::{self, RunOptions};
use skinbench::model::{Mesh, Rows};
use skinbench::registry::{self, BackendEntry, Constructor};
use skinbench::scene::{Scene, Settings};
use skinbench::vertex::VertexFormat;
use std::process::ExitCode;

/// The row of the backend, as in the registry of the crate.
static PLAIN_LOOP: BackendEntry = Constructor::OneThread(&[&KERNEL]).named(
    "plain-loop",
    "one vertex at a time, one influence at a time",
);

const KERNEL: CpuKernel = CpuKernel {
    name: "plain-loop",
    // Palettes of 3x4 matrices, `[instance][entry]`.
    layout: PaletteLayout::Rows,
    build: |crowd, _| {
        if crowd.format() == VertexFormat::default() {
            Ok((Box::new(skin), Bytes::default()))
        } else {
            let problem = "skins f32 positions and unit normals only";
            Err(BackendError::Unavailable(problem.into()))
        }
    },
    ..COLUMNS
};

fn skin(job: &BlockJob, out: &mut [f32]) {
    let mesh = job.group.model.mesh();
    let palettes = job
        .rows
        .chunks_exact(job.rows.len() / job.block.instances.len());
    for (palette, vertices) in palettes.zip(out.chunks_exact_mut(job.group.instance_words())) {
        skin_instance(mesh, palette, vertices);
    }
}

/// `v' = sum w_k * palette_k * v`; the normal takes the 3x3 part and is normalised.
fn skin_instance(mesh: &Mesh, palette: &[Rows], out: &mut [f32]) {
    for (vertex, out) in out.as_chunks_mut::<6>().0.iter_mut().enumerate() {
        let (bound_position, bound_normal) = (mesh.positions()[vertex], mesh.normals()[vertex]);
        let (mut position, mut normal) = (Vec3::ZERO, Vec3::ZERO);
        for (joint, weight) in mesh.influences_of(vertex) {
            let rows = palette[usize::from(joint)].as_chunks::<4>().0;
            for (axis, row) in rows.iter().enumerate() {
                let direction = Vec3::from_slice(row);
                position[axis] += weight * (direction.dot(bound_position.into()) + row[3]);
                normal[axis] += weight * direction.dot(bound_normal.into());
            }
        }
        out[..3].copy_from_slice(&position.to_array());
        out[3..].copy_from_slice(&normal.normalize_or_zero().to_array());
    }
}

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

fn try_main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let settings = Settings {
        instances: Some(64),
        passes: Some(0),
        ..Settings::default()
    };
    let scene = Scene::load("walkers")?.with(settings).build(u64::MAX)?;
    let backends = registry::find("cpu-scalar")
        .into_iter()
        .chain([&PLAIN_LOOP])
        .collect();
    let options = RunOptions {
        backends,
        frames: Some(20),
        ..RunOptions::default()
    };
    for outcome in run::run(&scene, &Context::default(), &options, &mut ())? {
        let parity = outcome
            .parity
            .as_ref()
            .and_then(|parity| parity.max_rel)
            .unwrap_or(f64::NAN);
        let skin = outcome
            .median(Stage::Skin)
            .map_or(f64::NAN, |ns| ns as f64 / 1e6);
        println!(
            "{}: {}, parity {parity:.1e}, skin {skin:.3} ms",
            outcome.name,
            outcome.status.name()
        );
    }
    Ok(())
}
