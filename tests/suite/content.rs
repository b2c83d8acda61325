//! Properties of the built-in characters: clips that are stored compact or baked, and the spheres that crowds stay in.

use crate::backends::common::build_scene;
use glam::{DVec3, Quat, Vec3};
use skinbench::bake::{BakeFormat, Baker};
use skinbench::characters::walker;
use skinbench::compaction;
use skinbench::model::{Channel, Clip, Interpolation, Keys, RotationBlend, Rows};
use skinbench::pose::ErrorPoints;
use skinbench::reference::reference_vertices;
use skinbench::scene::{Clips, Settings};
use skinbench::skin::skin;
use skinbench::vertex::{Normals, VertexFormat};
use skinbench::vertex_frames::VertexFrames;

/// The sizes are those that the encoder reaches, rounded up: a change that costs memory must show here.
#[test]
fn the_walkers_clips_keep_the_error_in_few_bytes() {
    let model = walker(500).unwrap();
    let all = compaction::clips(&model, compaction::ERROR).unwrap();
    let most = [
        ("idle", 5_500),
        ("walk", 5_800),
        ("run", 4_400),
        ("wave", 2_100),
    ];
    for ((raw, made), (name, most)) in model.clips().iter().zip(&all).zip(most) {
        assert_eq!(raw.name(), name);
        let times: Vec<f32> = (0..1_000u32)
            .map(|i| raw.duration() * (i * 617 % 1_000) as f32 / 999.0)
            .collect();
        let found = compaction::error(
            &ErrorPoints::of(&model),
            model.skeleton(),
            raw,
            made,
            &times,
        );
        println!(
            "{}: {:.2e}, {} of {} bytes",
            raw.name(),
            found.distance,
            made.bytes(),
            raw.bytes()
        );
        assert!(
            found.distance > 0.0 && found.distance <= compaction::ERROR,
            "{}: {found:?}",
            raw.name()
        );
        assert!(made.bytes() <= most, "{name}: {}", made.bytes());
    }
}

/// Checks the stated error at times that the search did not sample, and that storing motions takes fewer bytes.
#[test]
fn the_walkers_clips_keep_the_error() {
    let model = walker(500).unwrap();
    let mut bytes = [0, 0];
    for (format, bytes) in [BakeFormat::Motions, BakeFormat::Matrices]
        .into_iter()
        .zip(&mut bytes)
    {
        let baker = Baker::new(&model, format, model.bounds().diagonal().into());
        for clip in model.clips() {
            let rate = baker.rate(Some(clip), 4_000).unwrap();
            let baked = baker.frames(Some(clip), rate);
            let times = (0..1_000u32).map(|i| clip.duration() * (i * 617 % 1_000) as f32 / 999.0);
            let found = baker.error(clip, rate, &baked, times);
            println!("{format:?} {}: {rate:?}, elsewhere {found:?}", clip.name());
            assert!(
                found.is_within(1.0) && found.position > 0.0,
                "{}: {found:?}",
                clip.name()
            );
            *bytes += size_of_val(&baked[..]);
            let fewer = baker.rate(Some(clip), rate.frames - 1);
            assert_eq!(fewer, None, "{}", clip.name());
        }
    }
    println!("{bytes:?} bytes");
    assert!(bytes[0] < bytes[1], "{bytes:?}");
}

/// No number of a baked vertex is farther from the skinned one than the stated rounding.
#[test]
fn baked_vertices_keep_their_stated_rounding() {
    let model = walker(500).unwrap();
    let baker = Baker::new(
        &model,
        BakeFormat::Vertices,
        model.bounds().diagonal().into(),
    );
    let clip = model
        .clips()
        .iter()
        .find(|clip| clip.name() == "run")
        .unwrap();
    let palettes = baker
        .frames(Some(clip), baker.rate(Some(clip), 4_000).unwrap())
        .into_flattened();
    let palettes: &[Rows] = palettes.as_chunks().0;
    let (format, entries) = (VertexFormat::default(), model.palette_joints().len());
    let frames = VertexFrames::new(model.mesh(), format, entries, palettes);
    let words = VertexFrames::words_of(format);
    let mut skinned = vec![0.0; model.mesh().vertex_count() * format.floats()];
    let (mut off, mut turned) = (0.0f32, 0.0f32);
    for (palette, stored) in palettes.chunks_exact(entries).zip(
        frames
            .words
            .chunks_exact(words * model.mesh().vertex_count()),
    ) {
        let raw = VertexFormat {
            normals: Normals::Raw,
            ..format
        };
        skin(model.mesh(), palette, raw, &mut skinned);
        for (vertex, stored) in skinned
            .as_chunks::<6>()
            .0
            .iter()
            .zip(stored.chunks_exact(words))
        {
            let number =
                |at: usize| f32::from((stored[at / 2] >> (16 * (at % 2))) as i16) / 32_767.0;
            let position = Vec3::from(frames.cube.centre)
                + frames.cube.half * Vec3::new(number(0), number(1), number(2));
            off = off.max(position.distance(Vec3::new(vertex[0], vertex[1], vertex[2])));
            turned = (3..6)
                .map(|at| (frames.longest * number(at) - vertex[at]).abs())
                .fold(turned, f32::max);
        }
    }
    println!(
        "{off:.1e} of {:.1e}, normals {turned:.1e}",
        frames.rounding()
    );
    assert!(
        off < 1.01 * frames.rounding() && off > 0.5 * frames.rounding(),
        "{off} of {}",
        frames.rounding()
    );
    assert!(turned < 0.6 * frames.longest / 32_767.0, "{turned}");
}

#[test]
fn compact_clips_are_baked_as_raw_ones() {
    let model = walker(500).unwrap();
    let baker = Baker::new(
        &model,
        BakeFormat::Motions,
        model.bounds().diagonal().into(),
    );
    for clip in compaction::clips(&model, compaction::ERROR).unwrap() {
        assert!(clip.keys().compact().is_some());
        assert!(baker.rate(Some(&clip), 4_000).is_some(), "{}", clip.name());
    }
}

#[test]
fn jumps_that_no_rate_can_follow_are_refused() {
    let model = walker(500).unwrap();
    let [a, b] = [0.0, 1.0].map(|angle| Quat::from_rotation_x(angle).to_array());
    let keys = Keys {
        joint: 3,
        channel: Channel::Rotation,
        interpolation: Interpolation::Step,
        times: vec![0.0, 0.013, 1.0],
        values: [a, b, a].concat(),
    };
    let clip = Clip::new("c", None, RotationBlend::Slerp, vec![keys]).unwrap();
    assert_eq!(
        Baker::new(
            &model,
            BakeFormat::Matrices,
            model.bounds().diagonal().into()
        )
        .rate(Some(&clip), 4_000),
        None
    );
    assert_eq!(
        Baker::new(
            &model,
            BakeFormat::Matrices,
            model.bounds().diagonal().into()
        )
        .rate(None, 4_000)
        .unwrap()
        .frames,
        1
    );
}

/// The farthest that a vertex of any instance gets from its sphere's centre, in radii, group by group.
fn farthest(scene: &str, clips: Clips, instances: u64) -> Vec<f64> {
    let few = Settings {
        instances: Some(instances),
        clips: Some(clips),
        ..Settings::default()
    };
    let crowd = build_scene(scene, few).crowd;
    let floats = crowd.format().floats();
    let farthest = crowd.groups().iter().map(|group| {
        let reach = crowd.reach(group);
        let ticks = (0..40).map(|i| 37 * i + i * i * 211);
        let vertices = ticks
            .flat_map(|tick| {
                group
                    .instances
                    .clone()
                    .map(move |instance| (instance, tick))
            })
            .flat_map(|(instance, tick)| reference_vertices(&crowd, instance, tick));
        let vertices: Vec<f64> = vertices.collect();
        let distance = |v: &[f64]| DVec3::new(v[0], v[1], v[2]).distance(reach.centre);
        vertices
            .chunks_exact(floats)
            .map(distance)
            .fold(0.0, f64::max)
            / reach.radius
    });
    farthest.collect()
}

#[test]
fn no_vertex_leaves_its_sphere() {
    for (scene, clips, instances) in [
        ("street", Clips::Raw, 9),
        ("street", Clips::Compact, 9),
        ("layers-4", Clips::Raw, 4),
        ("zoo", Clips::Raw, 10),
        ("historic", Clips::Raw, 6),
        ("chain-64", Clips::Raw, 2),
        ("star-64", Clips::Raw, 2),
    ] {
        for (group, part) in farthest(scene, clips, instances).into_iter().enumerate() {
            assert!(
                part <= 1.0 + 1e-6,
                "{scene}: group {group} leaves its sphere: {part} radii"
            );
            assert!(
                part > 0.2,
                "{scene}: group {group}'s sphere is too large to be of use: {part} radii"
            );
        }
    }
}

#[test]
fn a_walker_fills_most_of_its_sphere() {
    let part = farthest("smoke", Clips::Raw, 4)[0];
    assert!(part > 0.6, "{part}");
}
