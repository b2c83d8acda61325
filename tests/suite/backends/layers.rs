//! Layers, masks and fades: every backend agrees with the reference, and blending has the properties it should.

use crate::backends::common::{self, build_scene, context, refuses_for, tube};
#[cfg(feature = "gpu")]
use crate::backends::common::{backends, verified};
use glam::{DQuat, Quat, Vec3};
use proptest::prelude::*;
use rand_core::Rng;
use skinbench::backend::Context;
use skinbench::compaction;
use skinbench::crowd::{Crowd, Fade, Layer, LayerKind, Playback, REST, Schedule, UNMASKED};
use skinbench::frame::Job;
use skinbench::harness::fidelity;
use skinbench::model::compact::ANY;
use skinbench::model::{Channel, Clip, IDENTITY_ROWS, Keys, Model, RotationBlend};
use skinbench::pose::{CrowdPose, NoClock, PoseData, PoseOut, Width};
use skinbench::reference::nan_max;
use skinbench::scene::{Clips, Interpolation, Settings};
use skinbench::simd::Isa;
use skinbench::threads::Threads;
use std::f32::consts::TAU;
use std::sync::Arc;

const JOINTS: usize = 7;

/// 20 ticks by seed; every fifth lies an hour or more in, up to a year.
fn ticks() -> Vec<u32> {
    let mut random = rand_pcg::Pcg32::new(17, 3);
    let tick = |i: u32| match i % 5 {
        4 => 216_000 + random.next_u32() % (1 << 30),
        _ => random.next_u32() % 7_200,
    };
    (0..20).map(tick).collect()
}

#[test]
fn every_backend_agrees_on_the_street() {
    let few = Settings {
        instances: Some(40),
        vertices: Some(500),
        ..Settings::default()
    };
    let scene = build_scene("street", few);
    assert_parity(&context(), &scene.crowd, &ticks());
}

/// Curves between keys, and frames of small numbers, are the reference's too.
#[test]
fn every_backend_agrees_on_smooth_and_compact_clips() {
    let context = context();
    let few = Settings {
        instances: Some(25),
        vertices: Some(500),
        ..Settings::default()
    };
    for settings in [
        Settings {
            interpolation: Some(Interpolation::Smooth),
            ..few.clone()
        },
        Settings {
            clips: Some(Clips::Compact),
            ..few.clone()
        },
        Settings {
            interpolation: Some(Interpolation::Smooth),
            clips: Some(Clips::Compact),
            ..few.clone()
        },
    ] {
        let scene = build_scene("street", settings.clone());
        assert_eq!(
            fidelity::clip_error(&scene).is_some(),
            settings.clips == Some(Clips::Compact)
        );
        assert!(fidelity::clip_error(&scene).is_none_or(|error| error > 0.0 && error <= 1e-4));
        assert_parity(&context, &scene.crowd, &ticks()[..5]);
    }
}

/// A merge of two, a crossfade by an override, a clip that comes and goes over the rest pose, and four layers at once.
#[cfg(feature = "gpu")]
pub fn blended_walkers() -> Crowd {
    let model = Arc::new(skinbench::characters::walker(500).unwrap());
    let layer = |clip: u32, instance: u32| Layer::looping(&model, clip, instance << 27, 1.0);
    let fading = |instance: u32| Schedule {
        period: 300,
        offset: 41 * instance,
        length: 200,
        fade_in: 50,
        fade_out: 60,
    };
    let instances = (0..24u32).map(|i| {
        let over = Layer {
            kind: LayerKind::Override,
            schedule: fading(i),
            weight: 0.75,
            ..layer(2, i)
        };
        let layers = match i % 4 {
            0 => vec![
                layer(1, i),
                Layer {
                    weight: 0.5,
                    ..layer(2, i)
                },
            ],
            1 => vec![layer(1, i), over],
            2 => vec![Layer {
                schedule: fading(i),
                ..layer(1, i)
            }],
            _ => vec![
                layer(0, i),
                layer(1, i),
                Layer {
                    weight: 0.25,
                    ..layer(3, i)
                },
                over,
            ],
        };
        (IDENTITY_ROWS, layers)
    });
    let mut crowd = Crowd::new();
    crowd
        .push_group(Arc::clone(&model), instances.collect::<Vec<_>>())
        .unwrap();
    crowd
}

/// Averages of palettes keep the error that the backend states, which is larger than that of whole clips.
#[cfg(feature = "gpu")]
#[test]
fn baked_clips_blend_within_the_stated_error() {
    use skinbench::bake;
    use skinbench::frame::Ability;
    let (crowd, context) = (blended_walkers(), context());
    let baked = |entry: &skinbench::registry::BackendEntry| entry.abilities().lack(Ability::Masks);
    for (entry, backend) in backends(&context)
        .into_iter()
        .filter(|(entry, _)| baked(entry))
    {
        let parity = verified(&*backend, &context, &crowd, &ticks());
        assert_eq!(parity.failure, None, "{}", entry.name);
        let stated = parity.approximation.unwrap();
        println!(
            "{}: {:.2?} of {:.2e}, normals {:.2?}",
            entry.name, parity.max_rel, stated.position, parity.max_normal
        );
        assert!(
            stated.position > 2.0 * bake::POSITION && stated.position < 0.2,
            "{stated:?}"
        );
        assert!(
            parity.max_rel > Some(bake::POSITION),
            "the crowd blends: {:.2?}",
            parity.max_rel
        );
    }
}

/// Each kind of layer whose distance from averaged palettes has no bound is refused by name.
#[cfg(feature = "gpu")]
#[test]
fn baked_clips_refuse_what_has_no_bound() {
    let context = context();
    let model = model();
    let masks = masks(JOINTS);
    let merged = Layer::held(0, 0.1);
    let over = Layer {
        kind: LayerKind::Override,
        ..merged
    };
    let schedule = Schedule {
        period: 100,
        offset: 0,
        length: 50,
        fade_in: 10,
        fade_out: 10,
    };
    for (layers, refusal) in [
        (
            vec![merged, Layer { mask: 1, ..over }],
            "needs a crowd without masks",
        ),
        (
            vec![
                merged,
                Layer {
                    clip: 2,
                    kind: LayerKind::Additive,
                    ..merged
                },
            ],
            "without additive layers",
        ),
        (
            vec![
                merged,
                Layer {
                    fade: Fade::Inertial,
                    schedule,
                    ..over
                },
            ],
            "fade by weight, not inertially",
        ),
        (vec![merged; 5], "blends up to four baked clips"),
    ] {
        let mut crowd = Crowd::new();
        crowd
            .push_masked_group(Arc::clone(&model), &masks, [(IDENTITY_ROWS, layers)])
            .unwrap();
        let Ok(backend) = skinbench::registry::find("gpu-baked:matrices")
            .unwrap()
            .create(&context)
        else {
            return;
        };
        let error = backend
            .footprint(&crowd, &Job::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains(refusal), "{error}");
    }
}

fn assert_parity(context: &Context, crowd: &Crowd, ticks: &[u32]) {
    let reasons = [
        "does not support uneven scale",
        "blends whole palettes",
        "blends up to four baked clips",
    ];
    common::assert_parity(context, crowd, ticks, |entry, backend| {
        refuses_for(&reasons, entry, backend, crowd)
    });
}

/// A model whose third clip is its second as differences.
fn model() -> Arc<Model> {
    let mut model = tube(JOINTS as u16, 9, 3);
    let additive = model.clips()[1].additive().unwrap();
    model.add_clip(additive).unwrap();
    Arc::new(model)
}

fn masks(joints: usize) -> Vec<Vec<f32>> {
    let part = |joint: usize| joint as f32 / joints as f32;
    vec![
        vec![0.0; joints],
        (0..joints).map(part).collect(),
        (0..joints).map(|j| f32::from(j < 3)).collect(),
    ]
}

/// Layers that differ from instance to instance in everything, of clips that are whole poses or differences.
fn layers(model: &Model, instance: u32, whole: &[u32], additive: &[u32]) -> Vec<Layer> {
    let mut random = rand_pcg::Pcg32::new(23, u64::from(instance));
    let mut layers = Vec::new();
    let count = 1 + random.next_u32() % 5;
    let merged = 1 + random.next_u32() % count;
    for index in 0..count {
        let draw = random.next_u32();
        let kind = match draw % 2 {
            _ if index < merged => LayerKind::Merge,
            0 => LayerKind::Override,
            _ => LayerKind::Additive,
        };
        let clips = if kind == LayerKind::Additive {
            additive
        } else {
            whole
        };
        let clip = clips[(draw >> 3) as usize % clips.len()];
        let playback =
            [Playback::Loop, Playback::PingPong, Playback::Once][(draw >> 8) as usize % 3];
        let fade = if index == merged {
            Fade::Inertial
        } else {
            Fade::Cross
        };
        let schedule = Schedule {
            period: 100 + draw % 50,
            offset: random.next_u32() % 100,
            length: 70,
            fade_in: 20 + draw % 11,
            fade_out: 25 + draw % 13,
        };
        layers.push(Layer {
            kind,
            fade,
            weight: 0.1 + (draw >> 16) as f32 / 70_000.0 * 0.9,
            mask: if draw & 64 == 0 { UNMASKED } else { draw % 3 },
            schedule: if draw & 128 == 0 {
                Schedule::ALWAYS
            } else {
                schedule
            },
            ..Layer::playing(model, clip, playback, random.next_u32(), 0.9)
        });
    }
    layers
}

/// A joint that turns by 2.9 radians in each tick stops inertially, within 12 ticks or ten seconds: what f32 numbers round of
/// the last turn is multiplied by the ticks of the fade.
#[test]
fn long_inertial_fades_agree() {
    let mut model = tube(3, 9, 3);
    let turn = |tick: u16| Quat::from_rotation_z(2.9 * f32::from(tick)).to_array();
    let spin = Keys {
        joint: 1,
        channel: Channel::Rotation,
        interpolation: skinbench::model::Interpolation::Linear,
        times: (0..60u16).map(|tick| f32::from(tick) / 60.0).collect(),
        values: (0..60).flat_map(turn).collect(),
    };
    let spin = Clip::new("spin", None, RotationBlend::Slerp, vec![spin]).unwrap();
    model.add_clip(spin).unwrap();
    let model = Arc::new(model);
    for fade in [12, 600] {
        let layers = |instance: u32| {
            let schedule = Schedule {
                period: 4 * fade,
                offset: instance * fade / 25,
                length: 3 * fade,
                fade_in: fade,
                fade_out: fade,
            };
            let over = Layer {
                kind: LayerKind::Override,
                fade: Fade::Inertial,
                schedule,
                ..Layer::looping(&model, 1, 0, 1.0)
            };
            let spin = Layer::looping(&model, 2, instance << 25, 1.0);
            (IDENTITY_ROWS, [spin, over])
        };
        let mut crowd = Crowd::new();
        crowd
            .push_group(Arc::clone(&model), (0..100).map(layers))
            .unwrap();
        assert_parity(&context(), &crowd, &ticks());
    }
}

/// Blocks in which every lane has other layers, masks, kinds and fades than its neighbour.
#[test]
fn lanes_of_a_block_may_differ_in_everything() {
    let model = model();
    let mut crowd = Crowd::new();
    let instances = (0..100).map(|i| (IDENTITY_ROWS, layers(&model, i, &[0, 1], &[2])));
    crowd
        .push_masked_group(Arc::clone(&model), &masks(JOINTS), instances)
        .unwrap();
    assert_parity(&context(), &crowd, &ticks());
}

/// A clip of many keys on one timeline, so that joints can be sampled side by side. With `turns` every third joint turns
/// all the way round and no component of its rotation is always large; with `moves` joints move and scale.
fn keyed(name: &str, joints: u16, turns: bool, moves: bool) -> Clip {
    const KEYS: u32 = 65;
    let times: Vec<f32> = (0..KEYS).map(|key| key as f32 / 40.0).collect();
    let keys = |joint, channel, value: &dyn Fn(f32) -> Vec<f32>| Keys {
        joint,
        channel,
        interpolation: skinbench::model::Interpolation::Linear,
        times: times.clone(),
        values: (0..KEYS)
            .flat_map(|key| value(key as f32 / (KEYS - 1) as f32 * TAU))
            .collect(),
    };
    let mut tracks = Vec::new();
    for joint in 0..joints {
        let axis = Vec3::new(f32::from(joint).sin(), f32::from(joint).cos(), 0.5).normalize();
        tracks.push(keys(joint, Channel::Rotation, &|at| {
            let angle = match joint % 3 {
                0 if turns => 2.0 * at,
                1 => 0.3,
                _ => 0.3 * (at + f32::from(joint)).sin(),
            };
            Quat::from_axis_angle(axis, angle).to_array().into()
        }));
        if moves && joint % 4 == 1 {
            tracks.push(keys(joint, Channel::Translation, &|at| {
                vec![0.02 * at.sin(), 0.05, 0.02 * at.cos()]
            }));
        }
        if moves && joint == 2 {
            tracks.push(keys(joint, Channel::Scale, &|at| {
                vec![1.1 + 0.1 * at.sin(), 0.95, 1.0 - 0.05 * at.cos()]
            }));
        }
    }
    Clip::new(name, None, RotationBlend::Slerp, tracks).unwrap()
}

/// Joints of [`every_form`]: two chunks of joints, of which the second is not full.
const FORM_JOINTS: usize = 20;

/// A model with raw clips, compact ones with and without a component that is always left out, and additive ones of both.
/// Clips 0 and 1 have two timelines.
fn every_form() -> Arc<Model> {
    let mut model = tube(FORM_JOINTS as u16, 9, 3);
    let clips = [
        ("turns", true, true),
        ("nods", false, false),
        ("slides", false, true),
    ]
    .map(|(name, turns, moves)| keyed(name, FORM_JOINTS as u16, turns, moves));
    for clip in clips
        .iter()
        .cloned()
        .chain(clips.iter().map(|clip| clip.additive().unwrap()))
    {
        model.add_clip(clip).unwrap();
    }
    // So many whole turns one after the other keep no small error.
    let compact = compaction::clips(&model, 1e-2).unwrap().split_off(2);
    let dropped = |clip: &Clip| {
        clip.keys()
            .compact()
            .unwrap()
            .tracks
            .iter()
            .map(|t| t.dropped)
            .collect::<Vec<_>>()
    };
    assert!(dropped(&compact[0]).contains(&ANY) && dropped(&compact[0]).iter().any(|&d| d != ANY));
    assert!(
        !dropped(&compact[1]).contains(&ANY)
            && !compact[1].keys().compact().unwrap().still.is_empty()
    );
    for clip in compact {
        model.add_clip(clip).unwrap();
    }
    Arc::new(model)
}

/// On one layer, neighbours play clips of every form, and rest; in a full block, and in groups of a few.
#[test]
fn a_slot_may_mix_clips_of_every_form() {
    let model = every_form();
    // A block that plays neither of the clips with two timelines is sampled with joints side by side throughout.
    let (whole, additive) = ([2, 3, 4, 8, 9, 10, REST], [5, 6, 7, 11, 12, 13]);
    let some_other = [0, 2, 8, REST];
    let mut crowd = Crowd::new();
    let instance = |i| {
        let whole = if i < 96 { &whole[..] } else { &some_other };
        (IDENTITY_ROWS, layers(&model, i, whole, &additive))
    };
    for instances in [0..112, 87..88, 88..90, 90..93, 93..97, 97..102] {
        crowd
            .push_masked_group(
                Arc::clone(&model),
                &masks(FORM_JOINTS),
                instances.map(instance),
            )
            .unwrap();
    }
    assert_parity(&context(), &crowd, &ticks());
}

/// Groups of a few are posed with joints in lanes, which changes no bit of a pose. Poses differ a little where masks leave
/// out joints that share vectors with others, and where a clip with two timelines makes a full block take scalar code.
#[test]
fn few_instances_are_posed_as_a_full_block_is() {
    let model = every_form();
    let looping = |i: u32, clip: u32| {
        let phase = i.wrapping_mul(0x9e37_79b9);
        Layer::looping(&model, clip, phase, 1.1)
    };
    let whole = [2, 3, 4, 8, 9, 10];
    let layers = |kind: &str, i: u32| match kind {
        "plain" => vec![looping(i, whole[i as usize % 6])],
        "merged" => vec![
            looping(i, whole[i as usize % 6]),
            looping(i, whole[i as usize % 5]),
        ],
        _ => layers(&model, i, &[0, 2, 3, 8, REST], &[5, 11]),
    };
    for (kind, most, rate) in [
        ("plain", 0.0, 1),
        ("plain", 0.0, 4),
        ("merged", 0.0, 1),
        ("merged", 0.0, 4),
        ("mixed", 1e-4, 1),
        ("mixed", 1e-4, 4),
    ] {
        let group = |count: u32| {
            let mut crowd = Crowd::new();
            let instances = (0..count).map(|i| (IDENTITY_ROWS, layers(kind, i)));
            crowd
                .push_masked_group(Arc::clone(&model), &masks(FORM_JOINTS), instances)
                .unwrap();
            crowd.with_update_rates(|_| rate).unwrap()
        };
        for isa in Isa::available() {
            let full = read_all(&group(16), isa);
            for count in 1..=6 {
                let few = read_all(&group(count), isa);
                for (few, full) in few.iter().zip(&full) {
                    let differ = few.iter().zip(full).map(|(a, b)| f64::from((a - b).abs()));
                    let differ = differ.fold(0.0, nan_max);
                    assert!(
                        differ <= most,
                        "{isa}, {count} instances, {kind}: differ by {differ}"
                    );
                }
            }
        }
    }
}

/// Local poses, model poses and palettes of a crowd at some ticks.
fn read_all(crowd: &Crowd, isa: Isa) -> [Vec<f32>; 3] {
    let mut pose = CrowdPose::new(crowd, Width::Block, isa, &Threads::One);
    let mut palette = vec![[0.0; 12]; crowd.palette_entries() as usize];
    let mut out = [Vec::new(), Vec::new(), Vec::new()];
    let instances = 0..crowd.instance_count() as u32;
    for tick in [0, 3, 130, 100_001] {
        let rows = PoseOut::rows(&mut palette);
        pose.pose(crowd, tick, &Threads::One, &NoClock, rows);
    }
    for (what, out) in [PoseData::Local, PoseData::Model, PoseData::Palette]
        .into_iter()
        .zip(&mut out)
    {
        pose.read(crowd, what, instances.clone(), out);
        assert!(out.iter().all(|number| number.is_finite()));
    }
    assert_eq!(out[2], palette.as_flattened(), "what was posed is read");
    out
}

/// The blended local pose of one instance by lanes, a quaternion and six numbers a joint.
fn posed(model: &Arc<Model>, layers: &[Layer], tick: u32) -> Vec<f32> {
    let mut crowd = Crowd::new();
    crowd
        .push_masked_group(Arc::clone(model), &masks(JOINTS), [(IDENTITY_ROWS, layers)])
        .unwrap();
    let mut pose = CrowdPose::new(&crowd, Width::Block, Isa::strongest(), &Threads::One);
    let mut palette = vec![[0.0; 12]; crowd.palette_entries() as usize];
    pose.pose(
        &crowd,
        tick,
        &Threads::One,
        &NoClock,
        PoseOut::rows(&mut palette),
    );
    let mut out = Vec::new();
    pose.read(&crowd, PoseData::Local, 0..1, &mut out);
    out
}

/// Largest difference of two poses; quaternions of opposite sign are the same.
fn apart(a: &[f32], b: &[f32]) -> f64 {
    let mut worst = 0.0;
    for (a, b) in a.as_chunks::<10>().0.iter().zip(b.as_chunks::<10>().0) {
        let dot: f32 = (0..4).map(|c| a[c] * b[c]).sum();
        let sign = if dot < 0.0 { -1.0 } else { 1.0 };
        let rotation = (0..4)
            .map(|c| f64::from((a[c] - sign * b[c]).abs()))
            .fold(worst, nan_max);
        worst = (4..10)
            .map(|c| f64::from((a[c] - b[c]).abs()))
            .fold(rotation, nan_max);
    }
    worst
}

fn layer(model: &Model, clip: u32, kind: LayerKind, weight: f32) -> Layer {
    Layer {
        kind,
        weight,
        ..Layer::looping(model, clip, 0x3579_bdf1u32.wrapping_mul(clip + 1), 1.1)
    }
}

proptest! {
    #[test]
    fn one_layer_of_weight_one_is_the_clip(tick: u32, clip in 0u32..2) {
        let model = model();
        let alone = posed(&model, &[layer(&model, clip, LayerKind::Merge, 1.0)], tick);
        // A layer of weight 0 over it makes the block go through blending.
        let ghost = layer(&model, 1, LayerKind::Override, 0.0);
        prop_assert!(apart(&posed(&model, &[layer(&model, clip, LayerKind::Merge, 1.0), ghost], tick), &alone) < 3e-7);
        let over = layer(&model, clip, LayerKind::Override, 1.0);
        prop_assert!(apart(&posed(&model, &[layer(&model, 1 - clip, LayerKind::Merge, 1.0), over], tick), &alone) < 1e-6);
    }

    #[test]
    fn weights_scaled_by_a_constant_change_nothing(tick: u32, a in 0.01f32..9.0, b in 0.01f32..9.0, scale in 0.01f32..100.0) {
        let model = model();
        let with = |by: f32| {
            let layers = [(0, a), (1, b)].map(|(clip, weight)| layer(&model, clip, LayerKind::Merge, weight * by));
            posed(&model, &layers, tick)
        };
        prop_assert!(apart(&with(1.0), &with(scale)) < 1e-6);
    }

    #[test]
    fn a_mask_of_no_joints_changes_nothing(tick: u32, weight in 0.0f32..=1.0) {
        let model = model();
        let base = layer(&model, 0, LayerKind::Merge, 1.0);
        let alone = posed(&model, &[base], tick);
        for (clip, kind) in [(1, LayerKind::Override), (2, LayerKind::Additive)] {
            let masked = Layer { mask: 0, ..layer(&model, clip, kind, weight) };
            prop_assert_eq!(&posed(&model, &[base, masked], tick), &alone);
        }
    }

    #[test]
    fn a_clip_blended_with_itself_is_itself(tick: u32, a in 0.01f32..3.0, b in 0.01f32..1.0) {
        let model = model();
        let alone = posed(&model, &[layer(&model, 1, LayerKind::Merge, 1.0)], tick);
        let merge = layer(&model, 1, LayerKind::Merge, a);
        let again = layer(&model, 1, LayerKind::Merge, b);
        let over = layer(&model, 1, LayerKind::Override, b);
        prop_assert!(apart(&posed(&model, &[merge, again, over], tick), &alone) < 1e-6);
    }

    #[test]
    fn fades_are_continuous(start in 0u32..1_000, fade in prop::sample::select(vec![Fade::Cross, Fade::Inertial]), additive: bool) {
        let model = model();
        let schedule = Schedule { period: 400, offset: 400 - start % 400, length: 200, fade_in: 40, fade_out: 60 };
        let (clip, kind) = if additive { (2, LayerKind::Additive) } else { (1, LayerKind::Override) };
        let over = Layer { fade, schedule, ..layer(&model, clip, kind, 1.0) };
        let layers = [layer(&model, 0, LayerKind::Merge, 1.0), over];
        // No tick changes the pose by much more than the clips themselves do, loops' seams apart.
        let seam = |tick: u32| layers.iter().any(|l| {
            let turn = |t: u32| l.phase.wrapping_add(l.step.wrapping_mul(t));
            [0u32, 1].iter().any(|back| turn(tick.wrapping_sub(*back)) < l.step)
        });
        for tick in [start, start + 1, start + 20, start + 40, start + 140, start + 141, start + 170, start + 200] {
            let tick = tick + 400;
            if !seam(tick) && !seam(start + 400) && !seam(start + 540) {
                prop_assert!(apart(&posed(&model, &layers, tick - 1), &posed(&model, &layers, tick)) < 0.12);
            }
        }
    }
}

/// The pose at the start of an inertial fade is the old one, and it leaves with the old one's speed.
#[test]
fn inertial_fades_start_where_the_old_pose_was_going() {
    let model = model();
    let schedule = Schedule {
        period: 0,
        offset: 0u32.wrapping_sub(50),
        length: 1 << 31,
        fade_in: 60,
        fade_out: 0,
    };
    let base = layer(&model, 0, LayerKind::Merge, 1.0);
    let over = Layer {
        fade: Fade::Inertial,
        schedule,
        phase: 0,
        ..layer(&model, 1, LayerKind::Override, 1.0)
    };
    let base = Layer {
        phase: 0,
        step: 1 << 24,
        ..base
    };
    let at = |tick: u32, layers: &[Layer]| posed(&model, layers, tick);
    assert!(apart(&at(50, &[base, over]), &at(50, &[base])) < 1e-6);
    let rotation = |pose: &[f32], joint: usize| {
        DQuat::from_array(std::array::from_fn(|c| f64::from(pose[10 * joint + c])))
    };
    for joint in 0..JOINTS {
        let turned = |layers: &[Layer]| {
            let turn =
                rotation(&at(51, layers), joint) * rotation(&at(50, layers), joint).conjugate();
            turn.to_scaled_axis()
        };
        let (with, without) = (turned(&[base, over]), turned(&[base]));
        assert!(
            with.distance(without) < 0.15 * without.length() + 2e-3,
            "joint {joint}: {with} after {without}"
        );
    }
    assert!(
        apart(
            &at(110, &[base, over]),
            &at(
                110,
                &[
                    base,
                    Layer {
                        schedule: Schedule::ALWAYS,
                        ..over
                    }
                ]
            )
        ) < 1e-6
    );
}
