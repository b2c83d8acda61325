//! Adds a compute kernel from outside the crate: a file of WGSL and a row. The harness verifies it against the f64
//! reference and times it next to a built-in one.
//!
//! The kernel reads influences as the framework Latios does in its animation module Kinemation
//! (<https://github.com/Dreaming381/Latios-Framework>, `BoneWeightLinkedList` and `MeshSkinning.compute`): 8 bytes for
//! each, in batches of 1,024 vertices. A batch begins with a head, which tells where the next one begins. Then come the
//! first influences of all its vertices, then the second ones of those that have two, and so on: threads of neighbouring
//! vertices read neighbouring influences. Each influence tells how far away the next one of its vertex is. The last one
//! has the sign bit in its weight. `cargo run --release --no-default-features --features gpu --example own_gpu_kernel`
//! does not compile the command line.

use skinbench::backend::Context;
use skinbench::backend::gpu::{Skinning, Strategy};
use skinbench::crowd::Group;
use skinbench::frame::{Ability, Lack, Stage};
use skinbench::gpu::passes::skin::{SkinKernel, ThreadLayout};
use skinbench::gpu::passes::skin_kernels::NAIVE;
use skinbench::gpu::{Gpu, MeshForm, OwnMesh, Posing};
use skinbench::harness::run::{self, RunOptions};
use skinbench::model::Mesh;
use skinbench::registry::{self, BackendEntry, Constructor};
use skinbench::scene::{Scene, Settings};
use std::process::ExitCode;

/// The row of the backend, as in the registry of the crate.
static LINKED_LISTS: BackendEntry = Constructor::Device(Strategy {
    posing: Posing::Host,
    skin: Skinning::Compute(&[&KERNEL]),
})
.named(
    "linked-lists",
    "influences as linked lists, in batches of 1,024 vertices (Unity Kinemation's layout)",
);

/// Vertices of a batch: the distance to the next influence takes 10 bits.
const BATCH: usize = 1024;

static KERNEL: SkinKernel = SkinKernel {
    name: "linked-lists",
    file: "own_gpu_kernel.wgsl",
    text: Some(include_str!("own_gpu_kernel.wgsl")),
    mesh: MeshForm::Own(&MESH),
    threads: ThreadLayout::Instance(BATCH as u32),
    lacks: &[
        Lack {
            ability: Ability::MorphTargets,
            reason: "has no morph targets",
        },
        Lack {
            ability: Ability::EntriesBeyond(1 << 15),
            reason: "keeps palette entries in 15 bits",
        },
    ],
    ..NAIVE
};

static MESH: OwnMesh = OwnMesh {
    name: "linked-lists",
    streams,
};

/// Positions and normals of a group's vertices, and their influences.
fn streams(group: &Group) -> [Vec<u8>; 2] {
    let mesh = group.model.mesh();
    let vertices: Vec<[[f32; 3]; 2]> = mesh
        .positions()
        .iter()
        .zip(mesh.normals())
        .map(|(p, n)| [*p, *n])
        .collect();
    [
        bytemuck::cast_slice(&vertices).to_vec(),
        bytemuck::cast_slice(&linked_lists(mesh)).to_vec(),
    ]
}

/// The influences of a mesh in batches: weight, then distance to the next influence and palette entry.
fn linked_lists(mesh: &Mesh) -> Vec<[u32; 2]> {
    // Meshes pad influences with zero weights, which lists do not need.
    let influences = |vertex| {
        mesh.influences_of(vertex)
            .filter(|(_, weight)| *weight > 0.0)
            .collect()
    };
    let vertices: Vec<Vec<(u16, f32)>> = (0..mesh.vertex_count()).map(influences).collect();
    let mut links = Vec::new();
    for batch in vertices.chunks(BATCH) {
        let head = links.len();
        links.push([mesh.vertex_count() as u32, 0]);
        // Vertices with influences that are still to come, at this point of a round.
        let mut alive = batch.len() as u32;
        let mut round = 0;
        while alive > 0 {
            for influences in batch {
                let Some(&(entry, weight)) = influences.get(round) else {
                    continue;
                };
                let is_last = round + 1 == influences.len();
                let weight = if is_last { -weight } else { weight };
                links.push([weight.to_bits(), (alive - 1) << 22 | u32::from(entry)]);
                alive -= u32::from(is_last);
            }
            round += 1;
        }
        links[head][1] = (links.len() - head) as u32;
    }
    links
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
    let gpu = match Gpu::open(None) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("{error}: nothing was measured");
            return Ok(());
        }
    };
    let context = Context {
        gpu: Some(gpu),
        ..Context::default()
    };
    let settings = Settings {
        instances: Some(64),
        passes: Some(0),
        ..Settings::default()
    };
    let scene = Scene::load("walkers")?.with(settings).build(u64::MAX)?;
    // Kernels from outside run with bounds checks, those of the crate without.
    let backends = registry::find("gpu-compute:naive")
        .into_iter()
        .chain([&LINKED_LISTS])
        .collect();
    let options = RunOptions {
        backends,
        frames: Some(20),
        ..RunOptions::default()
    };
    for outcome in run::run(&scene, &context, &options, &mut ())? {
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
