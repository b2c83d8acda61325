//! Whoever skins, the picture is the same.

use crate::backends::common::{
    backends, context, context_with, crowd, crowd_of, prepare, prepare_for, refuses, tube,
};
use skinbench::backend::{Context, FrameData, Skinned};
use skinbench::frame::{DeviceBuffer, FrameInput, Job, Mode, Retention, StageTimer, View};
use skinbench::gpu::Gpu;
use skinbench::gpu::draw::present::Presenter;
use skinbench::gpu::{Beneath, Overlay, add_skeleton};
use skinbench::registry::{REGISTRY, find};
use skinbench::vertex::{Encoding, VertexFormat};
use std::sync::Arc;

pub fn view() -> View {
    let eye = glam::Vec3::new(4.0, 5.0, 14.0);
    View {
        view_projection: glam::camera::rh::proj::directx::perspective(0.7, 1.5, 0.1, 100.0)
            * glam::camera::rh::view::look_at_mat4(
                eye,
                glam::Vec3::new(4.0, 0.0, 2.0),
                glam::Vec3::Y,
            ),
        light: glam::Vec3::new(0.4, 0.8, 0.5),
        width: 300,
        height: 200,
        mode: Mode::Skin,
    }
}

#[test]
fn depth_images_of_all_backends_agree() {
    let context = context();
    let Some(gpu) = &context.gpu else { return };
    let crowd = crowd(vec![(tube(5, 12, 4), 37), (tube(20, 33, 16), 16)]);
    let view = view();
    for passes in [1, 3] {
        let mut first: Option<Vec<f32>> = None;
        for (entry, backend) in backends(&context) {
            if refuses(entry, &*backend, &crowd, &Job::default()) {
                continue;
            }
            let (mut backend, mut output) = prepare(&*backend, &context, &crowd);
            let mut presenter = Presenter::new(Arc::clone(gpu), &crowd, view, passes).unwrap();
            let mut timer = StageTimer::default();
            let mut frame = FrameInput {
                crowd: &crowd,
                tick: 40,
                output: &mut output,
            };
            let ticket = backend.submit(&mut frame, &mut timer).unwrap();
            let drawn = ticket.draw(&mut presenter, &backend.skinned(), &frame, &mut timer);
            if matches!(backend.skinned(), Skinned::HostInBlocks) {
                assert_eq!(
                    drawn.err().unwrap().to_string(),
                    "its output cannot be drawn",
                    "{}",
                    entry.name
                );
                continue;
            }
            drawn.unwrap().finish().unwrap();
            gpu.collect(&mut timer).unwrap();
            let depth = presenter.read_depth().unwrap();
            assert_eq!(depth.len(), 300 * 200);
            let covered = depth.iter().filter(|d| **d < 1.0).count();
            assert!(
                covered > 3_000,
                "{}: only {covered} pixels are covered",
                entry.name
            );
            let sky = presenter.read_color().unwrap()[..3].to_vec();
            assert_ne!(sky, [0, 0, 0], "{}", entry.name);
            match &first {
                None => first = Some(depth),
                Some(first) => {
                    let differ = first
                        .iter()
                        .zip(&depth)
                        .filter(|(a, b)| (**a - **b).abs() > 1e-3)
                        .count();
                    assert!(differ < 60, "{}: {differ} pixels differ", entry.name);
                }
            }
        }
    }
}

/// All models at once, in as many draws as the adapter needs, in every mode and with vertices of every kind; the colours
/// are those of one draw per model.
#[test]
fn merged_draws_show_what_single_ones_do() {
    let mut several = false;
    let Some(context) = context_with(|gpu| {
        several = std::mem::replace(&mut gpu.adapter.multi_draws, false);
    }) else {
        return;
    };
    let gpu = context.gpu.as_ref().unwrap();
    assert!(
        several || std::env::var_os("SKINBENCH_REQUIRE_GPU").is_none(),
        "no draw takes several models"
    );
    for encoding in [Encoding::F32, Encoding::Packed] {
        let format = VertexFormat {
            encoding,
            ..VertexFormat::default()
        };
        let models = || {
            vec![
                (tube(5, 12, 4), 37),
                (tube(20, 33, 16), 16),
                (tube(3, 5, 2), 2),
            ]
        };
        let crowd = crowd_of(format, models());
        for mode in [Mode::Skin, Mode::Wireframe, Mode::SkinAndWireframe] {
            let view = View { mode, ..view() };
            let mut pictures = Vec::new();
            for (name, gpu, draws) in [
                ("gpu-compute:instances", gpu, 3),
                ("gpu-compute:merged", gpu, 3),
                (
                    "gpu-compute:merged",
                    &Gpu::open(None).unwrap(),
                    if several { 1 } else { 3 },
                ),
            ] {
                let context = Context {
                    gpu: Some(Arc::clone(gpu)),
                    ..Context::default()
                };
                let backend = find(name).unwrap().create(&context).unwrap();
                let (mut backend, mut output) = prepare(&*backend, &context, &crowd);
                let mut presenter = Presenter::new(Arc::clone(gpu), &crowd, view, 2).unwrap();
                let mut timer = StageTimer::default();
                gpu.take_work();
                let mut frame = FrameInput {
                    crowd: &crowd,
                    tick: 40,
                    output: &mut output,
                };
                let ticket = backend.submit(&mut frame, &mut timer).unwrap();
                let ticket = ticket
                    .draw(&mut presenter, &backend.skinned(), &frame, &mut timer)
                    .unwrap();
                ticket.finish().unwrap();
                let edges = if mode == Mode::Skin { 0 } else { draws };
                assert_eq!(gpu.take_work().draws, 2 * draws + edges, "{name}, {mode:?}");
                pictures.push((
                    presenter.read_color().unwrap(),
                    presenter.read_depth().unwrap(),
                ));
            }
            let background = pictures[0].0[..4].to_vec();
            assert!(
                pictures[0]
                    .0
                    .chunks_exact(4)
                    .filter(|c| *c != background)
                    .count()
                    > 500,
                "{mode:?}"
            );
            assert!(pictures[1] == pictures[2], "{encoding:?}, {mode:?}");
            assert!(
                pictures[0].1 == pictures[1].1,
                "depths: {encoding:?}, {mode:?}"
            );
            // Of a wireframe alone, single draws leave edges of one model visible behind those of the next.
            if mode != Mode::Wireframe {
                assert!(
                    pictures[0].0 == pictures[1].0,
                    "colours: {encoding:?}, {mode:?}"
                );
            }
        }
    }
}

#[test]
fn wireframes_and_skeletons_are_drawn() {
    let context = context();
    let Some(gpu) = &context.gpu else { return };
    let crowd = crowd(vec![(tube(5, 12, 4), 37)]);
    let covered = |mode, lines: bool| {
        let backend = REGISTRY[0].create(&context).unwrap();
        let (mut backend, mut output) = prepare(&*backend, &context, &crowd);
        let mut presenter =
            Presenter::new(Arc::clone(gpu), &crowd, View { mode, ..view() }, 1).unwrap();
        let mut timer = StageTimer::default();
        let mut frame = FrameInput {
            crowd: &crowd,
            tick: 40,
            output: &mut output,
        };
        let ticket = backend.submit(&mut frame, &mut timer).unwrap();
        let ticket = ticket
            .draw(&mut presenter, &backend.skinned(), &frame, &mut timer)
            .unwrap();
        ticket.finish().unwrap();
        if lines {
            let mut poses = Vec::new();
            backend
                .read(&crowd, &output, FrameData::Model, 0..37, &mut poses)
                .unwrap();
            let poses = poses.as_chunks::<12>().0.chunks(5);
            let mut overlay = Overlay::default();
            for (instance, pose) in (0..).zip(poses) {
                add_skeleton(&crowd, instance, 40, pose, &mut overlay);
            }
            // Axes of five joints and edges of four bones.
            assert_eq!(overlay.lines.len(), 37 * 2 * (5 * 3 + 4 * 12));
            assert_eq!(overlay.indices.len(), 37 * 4 * 8 * 3);
            presenter.draw_overlay(Beneath::Nothing, &overlay).unwrap();
        }
        let color = presenter.read_color().unwrap();
        let background = color[..4].to_vec();
        color.chunks_exact(4).filter(|c| *c != background).count()
    };
    let (skin, wireframe, skeleton) = (
        covered(Mode::Skin, false),
        covered(Mode::Wireframe, false),
        covered(Mode::Skin, true),
    );
    assert!(skin > 2_000, "{skin} pixels of skin");
    assert!(
        wireframe > 500 && wireframe <= skin + skin / 5,
        "{wireframe} pixels of wireframe, {skin} of skin"
    );
    assert!(
        skeleton > 300 && skeleton < skin,
        "{skeleton} pixels of skeleton, {skin} of skin"
    );
}

/// Vertices of the frame before are those that were skinned then; pixels move where poses do, and only there.
#[test]
fn two_outputs_swap_and_show_motion() {
    let context = context();
    let Some(gpu) = &context.gpu else { return };
    let crowd = crowd(vec![(tube(5, 12, 4), 37), (tube(20, 33, 16), 16)]);
    let words: Vec<usize> = crowd
        .groups()
        .iter()
        .map(|g| g.len() * g.instance_words())
        .collect();
    let job = Job {
        keep: Retention::TwoFrames,
        ..Job::default()
    };
    for (entry, backend) in backends(&context) {
        if let Err(refusal) = backend.footprint(&crowd, &job) {
            let refusal = refusal.to_string();
            let known = [
                "stores no vertices",
                "uneven scale",
                "keeps other instances",
                "floats of one frame",
            ];
            assert!(
                known.iter().any(|reason| refusal.contains(reason)),
                "{}: {refusal}",
                entry.name
            );
            continue;
        }
        let (mut backend, mut output) = prepare_for(&*backend, &context, &crowd, &job);
        if matches!(backend.skinned(), Skinned::HostInBlocks) {
            continue;
        }
        let mut presenter = Presenter::new(Arc::clone(gpu), &crowd, view(), 2).unwrap();
        let mut timer = StageTimer::default();
        let mut before: Option<Vec<f32>> = None;
        for (tick, moves) in [
            (40, None),
            (40, Some(false)),
            (55, Some(true)),
            (70, Some(true)),
        ] {
            output.swap();
            let mut frame = FrameInput {
                crowd: &crowd,
                tick,
                output: &mut output,
            };
            let ticket = backend.submit(&mut frame, &mut timer).unwrap();
            let ticket = ticket
                .draw(&mut presenter, &backend.skinned(), &frame, &mut timer)
                .unwrap();
            ticket.finish().unwrap();
            let read = |buffers: &[DeviceBuffer]| {
                let mut vertices = Vec::new();
                buffers
                    .iter()
                    .zip(&words)
                    .for_each(|(b, &n)| gpu.read_back(b, 0, n, &mut vertices).unwrap());
                vertices
            };
            let previous = read(&output.previous);
            assert!(
                before.is_none_or(|before| before == previous),
                "{}: not the frame before {tick}",
                entry.name
            );
            before = Some(read(&output.device));
            let motion = presenter.read_motion().unwrap().unwrap();
            let moving = motion
                .iter()
                .filter(|m| m.iter().any(|half| half & 0x7fff != 0))
                .count();
            match moves {
                None => {}
                Some(false) => assert_eq!(moving, 0, "{}: a held pose moves", entry.name),
                Some(true) => assert!(moving > 2_000, "{}: {moving} pixels move", entry.name),
            }
        }
    }
}
