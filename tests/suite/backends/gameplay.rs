//! Bounds and sockets: conservative, not too large, the same on processor and device, and as late as stated.

use crate::backends::common::{context, prepare_for, small_scene};
use skinbench::backend::{Context, Prepared};
use skinbench::crowd::Crowd;
use skinbench::frame::{FrameInput, Job, OutputBuffers, StageTimer};
use skinbench::gameplay::{Gameplay, GameplayData, ModelReads};
use skinbench::harness::run::{self, RunOptions, Status};
use skinbench::reference::nan_max;
use skinbench::reference::reference_vertices;
use skinbench::registry::{self, REGISTRY};
use skinbench::scene::{BuiltScene, Scene, Settings};
use std::sync::Arc;

const SOCKETS: [&str; 2] = ["head", "hand_r"];

fn scene(name: &str, instances: u64) -> BuiltScene {
    let walks = name != "zoo";
    let vertices = walks.then_some(500);
    let sockets = if walks {
        SOCKETS.map(String::from).to_vec()
    } else {
        Vec::new()
    };
    let (instances, passes) = (Some(instances), Some(0));
    let few = Settings {
        instances,
        vertices,
        passes,
        bounds: true,
        sockets,
        ..Settings::default()
    };
    small_scene(name).with(few).build(1 << 30).unwrap()
}

fn sockets(name: &str) -> Settings {
    Settings {
        sockets: vec![name.into()],
        ..Settings::default()
    }
}

/// The harness compares every vertex with its box and every socket with its joint.
#[test]
fn bounds_and_sockets_of_every_backend_agree_with_the_reference() {
    let context = context();
    for (name, instances) in [("street", 25), ("walkers", 25), ("zoo", 12)] {
        let scene = scene(name, instances);
        let options = RunOptions {
            backends: REGISTRY.iter().filter(|entry| entry.is_built()).collect(),
            ..RunOptions::default()
        };
        let mut read = 0;
        for outcome in run::verify(&scene, &context, &options, &mut ()).unwrap() {
            let problem = outcome.problem.clone().unwrap_or_default();
            let expected = [
                "dual quaternions",
                "keeps no palettes",
                "instances in view",
                "uneven scale",
                "blends whole",
            ];
            let adapter = ["no adapter", "the adapter"]
                .iter()
                .any(|reason| problem.contains(reason));
            match outcome.status {
                Status::Ok => read += 1,
                Status::Skipped
                    if adapter || expected.iter().any(|reason| problem.contains(reason)) => {}
                status => panic!("{name}, {}: {status:?}, {problem}", outcome.name),
            }
        }
        assert!(read >= 4, "{name}: {read} backends");
    }
}

/// One frame, or several with one frame in flight; returns what was read and how late it was.
fn frames(
    backend: &mut dyn Prepared,
    crowd: &Crowd,
    output: &mut OutputBuffers,
    ticks: &[u32],
) -> (GameplayData, Option<u32>) {
    for &tick in ticks {
        let mut frame = FrameInput {
            crowd,
            tick,
            output,
        };
        backend
            .submit(&mut frame, &mut StageTimer::default())
            .unwrap()
            .finish()
            .unwrap();
    }
    let delay = backend.gameplay_delay();
    (backend.read_gameplay().unwrap().unwrap(), delay)
}

fn prepared(
    context: &Context,
    name: &str,
    scene: &BuiltScene,
) -> Option<(Box<dyn Prepared>, OutputBuffers)> {
    let backend = registry::find(name).unwrap().create(context).ok()?;
    let job = Job {
        gameplay: scene.gameplay.clone(),
        ..Job::default()
    };
    Some(prepare_for(&*backend, context, &scene.crowd, &job))
}

/// Boxes of joints reach around the mesh: they contain it, and are no more than half as long again.
#[test]
fn bounds_are_not_much_larger_than_the_mesh() {
    let (context, scene) = (context(), scene("walkers", 20));
    let (mut backend, mut output) = prepared(&context, "cpu-simd", &scene).unwrap();
    let (read, delay) = frames(&mut *backend, &scene.crowd, &mut output, &[77]);
    assert_eq!(
        (read.bounds.len(), read.sockets.len(), delay),
        (20, 40, Some(0))
    );
    for (instance, bounds) in (0..).zip(&read.bounds) {
        let vertices = reference_vertices(&scene.crowd, instance, 77);
        for axis in 0..3 {
            let of_axis = || vertices.chunks_exact(6).map(|vertex| vertex[axis]);
            let (least, most) = (
                of_axis().fold(f64::INFINITY, f64::min),
                of_axis().fold(f64::NEG_INFINITY, f64::max),
            );
            let (low, high) = (f64::from(bounds[axis]), f64::from(bounds[axis + 3]));
            assert!(
                low <= least && most <= high,
                "instance {instance}, axis {axis}"
            );
            assert!(
                high - low <= 1.5 * (most - least),
                "{instance}, {axis}: {low} to {high} for {least} to {most}"
            );
        }
    }
}

/// The processor has its own in the same frame. What the device computes arrives one frame later with one frame in
/// flight, and two with two.
#[cfg(feature = "gpu")]
#[test]
fn the_device_computes_the_same_and_it_arrives_later() {
    let (context, scene) = (context(), scene("walkers", 37));
    let ticks = [3, 40, 200];
    let (mut host, mut output) = prepared(&context, "cpu-scalar", &scene).unwrap();
    let (expected, _) = frames(&mut *host, &scene.crowd, &mut output, &ticks);
    for name in ["cpu-simd", "gpu-vertex", "gpu-full", "gpu-full:vertex"] {
        let Some((mut backend, mut output)) = prepared(&context, name, &scene) else {
            continue;
        };
        let (read, delay) = frames(&mut *backend, &scene.crowd, &mut output, &ticks);
        assert_eq!(
            delay,
            Some(u32::from(name.starts_with("gpu-full"))),
            "{name}"
        );
        let numbers = |data: &GameplayData| -> Vec<f32> {
            data.bounds
                .iter()
                .flatten()
                .chain(data.sockets.iter().flatten())
                .copied()
                .collect()
        };
        let off = numbers(&read)
            .iter()
            .zip(numbers(&expected))
            .map(|(a, b)| f64::from((a - b).abs()))
            .fold(0.0, nan_max);
        assert!(off < 2e-5, "{name}: off by {off}");
        if name == "gpu-full" {
            let mut earlier = None;
            for tick in 0..6 {
                let mut frame = FrameInput {
                    crowd: &scene.crowd,
                    tick,
                    output: &mut output,
                };
                let flight = backend
                    .submit(&mut frame, &mut StageTimer::default())
                    .unwrap()
                    .launch()
                    .unwrap();
                if let Some(earlier) = earlier.replace(flight) {
                    earlier.land().unwrap();
                }
            }
            let delay = backend.gameplay_delay().unwrap();
            assert!((1..=2).contains(&delay), "{delay} frames");
        }
    }
}

/// A kernel that forgets a part of the box or of the joint is refused by the harness' own comparison.
#[cfg(feature = "gpu")]
#[test]
fn broken_bounds_and_sockets_are_noticed() {
    let (context, scene) = (context(), scene("walkers", 20));
    let Some(gpu) = &context.gpu else { return };
    let failure = |mutation: Option<(&'static str, &'static str)>| {
        let edit: skinbench::gpu::Edit = Arc::new(move |wgsl: String| match mutation {
            Some((old, new)) => wgsl.replace(old, new),
            None => wgsl,
        });
        *gpu.edit.lock().unwrap() = Some(edit);
        let backend = registry::find("gpu-full")
            .unwrap()
            .create(&context)
            .unwrap();
        let job = Job {
            gameplay: scene.gameplay.clone(),
            ..Job::default()
        };
        let (mut backend, mut output) = prepare_for(&*backend, &context, &scene.crowd, &job);
        let (read, _) = frames(&mut *backend, &scene.crowd, &mut output, &[90]);
        skinbench::harness::gameplay::failure(
            &scene.crowd,
            scene.gameplay.as_ref().unwrap(),
            Some(read),
            None,
            90,
        )
    };
    assert_eq!(failure(None), None);
    for mutation in [
        ("middle - reach", "middle"),
        ("dot(abs(m.y.xyz), own.half)", "dot(m.y.xyz, own.half)"),
        ("index += WORKGROUP", "index += 2u * WORKGROUP"),
        ("WORKGROUP / 2u", "WORKGROUP / 4u"),
        ("row.z * bind[2]", "row.y * bind[2]"),
        ("vec4f(0.0, 0.0, 0.0, row.w)", "vec4f(0.0)"),
        (
            "instance >= chunk.instances",
            "instance + 1u >= chunk.instances",
        ),
    ] {
        assert!(failure(Some(mutation)).is_some(), "{} survived", mutation.1);
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let unknown = Scene::load("walkers")
        .unwrap()
        .with(sockets("tail"))
        .build(1 << 30)
        .unwrap_err();
    assert!(
        unknown
            .to_string()
            .contains("socket of \"walker\": unknown joint \"tail\""),
        "{unknown}"
    );
    let near = Scene::load("walkers")
        .unwrap()
        .with(sockets("hand_rr"))
        .build(1 << 30)
        .unwrap_err();
    assert!(
        near.to_string().contains("did you mean \"hand_r\"?"),
        "{near}"
    );
    let model = skinbench::characters::walker(500).unwrap();
    let missing = ModelReads::new(&model, true, &["tail".into()]).unwrap_err();
    assert!(missing.to_string().contains("socket \"tail\""), "{missing}");
    let mut crowd = Crowd::new();
    let layer = skinbench::crowd::Layer::held(0, 0.0);
    crowd
        .push_group(Arc::new(model), [(skinbench::model::IDENTITY_ROWS, layer)])
        .unwrap();
    let both = Gameplay::new(&crowd, true, &SOCKETS.map(String::from)).unwrap();
    assert_eq!(
        (both.bounds, both.sockets, both.bytes(10)),
        (true, 2, 10 * (24 + 2 * 48))
    );
}
