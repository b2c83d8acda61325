//! Memory that backends hold against what they promised, and the work of their frames.

#[cfg(feature = "gpu")]
use crate::backends::common::context_with;
use crate::backends::common::{
    backends, build_scene, context, crowd, crowd_of, morphing, prepare_for, tube,
};
use skinbench::backend::{Context, FrameData, Prepared};
use skinbench::characters;
use skinbench::characters::walker;
use skinbench::crowd::Crowd;
#[cfg(feature = "gpu")]
use skinbench::frame::Retention;
use skinbench::frame::{Bytes, Footprint, FrameInput, Job, OutputBuffers, Purpose, StageTimer};
use skinbench::gameplay::Gameplay;
use skinbench::scene::{Clips, Settings};
use skinbench::vertex::{Attributes, Encoding, VertexFormat};
use std::sync::Arc;

fn scene(name: &str, settings: Settings) -> Crowd {
    let few = Settings {
        instances: Some(40),
        vertices: Some(500),
        ..settings
    };
    build_scene(name, few).crowd
}

/// Small, odd and large crowds of one and of several models, in every way of playing and storing them.
pub fn crowds() -> Vec<(&'static str, Crowd)> {
    let person = || walker(500).unwrap();
    let format = |attributes, encoding| VertexFormat {
        attributes,
        encoding,
        ..VertexFormat::default()
    };
    let by_distance = Settings {
        update_rate: Some([14.0, 18.0]),
        ..Settings::default()
    };
    vec![
        ("one", crowd(vec![(person(), 1)])),
        (
            "odd, three models",
            crowd(vec![
                (person(), 37),
                (characters::chain_64().unwrap(), 5),
                (person(), 3),
            ]),
        ),
        (
            "many influences, uneven scale",
            crowd(vec![(tube(7, 9, 13), 21)]),
        ),
        (
            "large",
            crowd(vec![(person(), 300), (characters::star_64().unwrap(), 90)]),
        ),
        (
            "tangents",
            crowd_of(format(Attributes::Pnt, Encoding::F32), vec![(person(), 18)]),
        ),
        (
            "packed",
            crowd_of(
                format(Attributes::Pn, Encoding::Packed),
                vec![(person(), 18)],
            ),
        ),
        ("morph targets", scene("faces", Settings::default())),
        (
            "morph targets with tangents",
            crowd_of(
                format(Attributes::Pnt, Encoding::F32),
                vec![(morphing(tube(4, 9, 3)), 18), (person(), 2)],
            ),
        ),
        ("layers and fades", scene("street", Settings::default())),
        (
            "compact clips",
            scene(
                "walkers",
                Settings {
                    clips: Some(Clips::Compact),
                    ..Settings::default()
                },
            ),
        ),
        ("poses of several ticks", scene("walkers", by_distance)),
        (
            "replaced instances",
            scene(
                "street",
                Settings {
                    turnover: Some(0.1),
                    ..Settings::default()
                },
            ),
        ),
        (
            "frozen instances",
            scene(
                "walkers",
                Settings {
                    frozen: Some(0.8),
                    turnover: Some(0.1),
                    ..Settings::default()
                },
            ),
        ),
    ]
}

/// A backend after a frame and a read-back, with its output buffers.
fn used(prepared: &mut dyn Prepared, output: &mut OutputBuffers, crowd: &Crowd) -> Footprint {
    let mut timer = StageTimer::default();
    for tick in 0..2 {
        output.swap();
        prepared
            .submit(
                &mut FrameInput {
                    crowd,
                    tick,
                    output,
                },
                &mut timer,
            )
            .unwrap()
            .finish()
            .unwrap();
    }
    prepared
        .read(crowd, output, FrameData::Vertices, 0..1, &mut Vec::new())
        .unwrap();
    prepared.footprint(crowd)
}

/// Asserts that every backend that takes a crowd holds what it promised; returns how many did.
fn assert_kept(context: &Context, name: &str, crowd: &Crowd, job: &Job) -> usize {
    let mut kept = 0;
    for (entry, backend) in backends(context) {
        let Ok(promised) = backend.footprint(crowd, job) else {
            continue;
        };
        let (mut prepared, mut output) = prepare_for(&*backend, context, crowd, job);
        let mut held = used(&mut *prepared, &mut output, crowd);
        let place = format!("{}: {name}", entry.name);
        let chose = prepared.device().contains("skins by");
        if chose && held.host_output {
            // The promise is for the kernel that takes the most; the others take the rest during the trial.
            let [most, kept] = [promised, held].map(|footprint| footprint.host);
            assert_eq!(most.total(), kept.total(), "{place}");
            assert!(
                0 < kept.resident() && kept.resident() <= most.resident(),
                "{place}: {kept:?} of {most:?}"
            );
            held.host = most;
        } else if chose {
            // The promise is for the kernel with the largest mesh.
            let [most, mesh] =
                [promised, held].map(|footprint| footprint.device.get(Purpose::Mesh));
            assert!(0 < mesh && mesh <= most, "{place}: {mesh} of {most}");
            held.device += Bytes::of(Purpose::Mesh, most - mesh);
        }
        assert_eq!(held, promised, "{place}");
        assert!(held.host.total() + held.device.total() > 0, "{place}");
        assert_eq!(
            output.host.allocated(),
            OutputBuffers::bytes(crowd),
            "{place}"
        );
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &context.gpu {
            assert_eq!(
                output.device_bytes(),
                gpu.output_bytes(crowd, job.keep).unwrap(),
                "{place}"
            );
        }
        kept += 1;
    }
    kept
}

#[test]
fn every_backend_holds_what_it_promised() {
    let context = context();
    for (name, crowd) in crowds() {
        let kept = assert_kept(&context, name, &crowd, &Job::default());
        assert!(kept >= 6, "{name}: {kept} backends");
    }
}

#[test]
fn bounds_and_sockets_are_counted() {
    let context = context();
    let crowd = crowd(vec![(walker(500).unwrap(), 37)]);
    let gameplay = Gameplay::new(&crowd, true, &["head".into(), "hand_r".into()]).unwrap();
    let job = Job {
        gameplay: Some(Arc::new(gameplay)),
        ..Job::default()
    };
    assert!(assert_kept(&context, "gameplay", &crowd, &job) >= 5);
}

#[cfg(feature = "gpu")]
#[test]
fn chunks_rings_and_kept_frames_are_counted() {
    let crowd = crowd(vec![
        (walker(500).unwrap(), 70),
        (characters::star_64().unwrap(), 40),
    ]);
    let twenty_walkers = 20 * crowd.groups()[0].instance_words() as u64 * 4;
    let Some(context) = context_with(|gpu| gpu.adapter.binding_limit = twenty_walkers) else {
        return;
    };
    let gpu = context.gpu.as_ref().unwrap();
    assert!(gpu.chunks(&crowd).unwrap().len() > 4);
    for keep in [Retention::Frame, Retention::Ring, Retention::TwoFrames] {
        let kept = assert_kept(
            &context,
            &format!("{keep:?}"),
            &crowd,
            &Job {
                keep,
                ..Job::default()
            },
        );
        assert!(kept >= 15, "{keep:?}: {kept} backends");
    }
}

/// A frame of `gpu-full` sends its tick, and its camera if it culls; one of `gpu-compute` its palettes; one on the host
/// sends nothing.
#[cfg(feature = "gpu")]
#[test]
fn the_work_of_a_frame_is_counted() {
    let context = context();
    let Some(gpu) = &context.gpu else { return };
    let crowd = crowd(vec![
        (walker(500).unwrap(), 37),
        (characters::star_64().unwrap(), 5),
    ]);
    let job = Job::default();
    let palettes = crowd.palette_entries() * 48;
    for (name, uploaded, dispatches) in [
        ("cpu-scalar", 0, 0),
        ("gpu-compute:naive", palettes, 2),
        ("gpu-compute:merged", palettes, 1),
        ("gpu-compute:per-character", palettes / 48 * 64, 42),
        ("gpu-vertex", palettes, 0),
        ("gpu-vertex:texture", palettes, 0),
        // Schedule, sample, local to model and palette of all models at once, or of each; then skin of each model.
        ("gpu-full", 16, 6),
        ("gpu-full:culled", 16 + 96, 16),
        ("gpu-baked", 16, 2),
        ("gpu-vat", 16, 2),
    ] {
        let backend = skinbench::registry::find(name)
            .unwrap()
            .create(&context)
            .unwrap();
        let (mut prepared, mut output) = prepare_for(&*backend, &context, &crowd, &job);
        used(&mut *prepared, &mut output, &crowd);
        gpu.take_work();
        let mut frame = FrameInput {
            crowd: &crowd,
            tick: 5,
            output: &mut output,
        };
        prepared
            .submit(&mut frame, &mut StageTimer::default())
            .unwrap()
            .finish()
            .unwrap();
        let work = gpu.take_work();
        assert_eq!(
            (work.uploaded, work.draws, work.dispatches),
            (uploaded, 0, dispatches),
            "{name}"
        );
    }
}
