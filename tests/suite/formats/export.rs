//! Export of features that glTF cannot express directly.
use crate::support::golden::morphed;
use crate::support::reference;
use glam::Vec3;
use skinbench::asset::{self, glb};
use skinbench::crowd::Layer;
use skinbench::model::*;
use skinbench::reference::nan_max;
use std::sync::Arc;

/// A point on each of two root joints; the clip moves the first.
fn model(clip: Clip, skin_joints: &[u16]) -> Model {
    let joint = |name: &str| Joint {
        name: name.into(),
        parent: None,
        rest: JointTransform::Transform(Transform::IDENTITY),
    };
    let (skeleton, _) = Skeleton::new(vec![joint("a"), joint("b")]).unwrap();
    let mut influences = Influences::default();
    influences
        .push((0..skin_joints.len() as u16).map(|entry| (entry, 1.0 / skin_joints.len() as f32)));
    influences.push([(0, 1.0)]);
    let inverse_binds = vec![IDENTITY_ROWS; skin_joints.len()];
    Model::new(ModelParts {
        name: "points".into(),
        axes: Axes {
            handedness: Handedness::Left,
            up: 2,
        },
        skeleton,
        skins: vec![SkinData {
            name: String::new(),
            joints: skin_joints.into(),
            inverse_binds,
        }],
        clips: vec![clip],
        primitives: vec![PrimitiveData {
            positions: vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.5]],
            influences,
            dumped_vertices: 1,
            ..Default::default()
        }],
        targets: Vec::new(),
        materials: vec![],
        notes: Notes::default(),
    })
    .unwrap()
}

fn keys(channel: Channel, interpolation: Interpolation, times: &[f32], values: &[f32]) -> Keys {
    Keys {
        joint: 0,
        channel,
        interpolation,
        times: times.into(),
        values: values.into(),
    }
}

/// Turns around z by these angles.
fn turns(angles: &[f32]) -> Vec<f32> {
    angles
        .iter()
        .flat_map(|a| [0.0, 0.0, (a / 2.0).sin(), (a / 2.0).cos()])
        .collect()
}

fn again(model: &Model) -> Model {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("points.glb");
    std::fs::write(&file, glb::to_glb(model).unwrap()).unwrap();
    asset::load(&file).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn compact_clips_are_refused() {
    let track = keys(
        Channel::Rotation,
        Interpolation::Linear,
        &[0.0, 1.0],
        &turns(&[0.5, 0.5]),
    );
    let clip = Clip::new("still", None, RotationBlend::Slerp, vec![track]).unwrap();
    let compact = skinbench::compaction::compacted(model(clip, &[0, 1]), 1e-4).unwrap();
    let error = glb::to_glb(&compact).unwrap_err();
    assert_eq!(
        error.to_string(),
        "clip \"still\" is compact; expected the clip that it was made from"
    );
}

/// Largest distance over a clip.
fn difference(a: &Model, b: &Model) -> f64 {
    let duration = f64::from(a.clips()[0].duration());
    assert_eq!(a.clips()[0].duration(), b.clips()[0].duration());
    let at = |model: &Model, i| reference::skin(model, Some((0, duration * f64::from(i) / 100.0)));
    let far = |i| {
        let (a, b) = (at(a, i), at(b, i));
        assert_eq!(
            (a.len(), a[0].positions.len()),
            (b.len(), b[0].positions.len())
        );
        a[0].positions
            .iter()
            .zip(&b[0].positions)
            .map(|(a, b)| (*a - *b).length())
            .fold(0.0, nan_max)
    };
    (0..=100).map(far).fold(0.0, nan_max)
}

#[test]
fn other_ways_to_turn_get_keys_where_slerp_would_leave_them() {
    for blend in [RotationBlend::Nlerp, RotationBlend::AuthoredPath] {
        // The long way round, a wide turn, and a small one; the last key is beyond the end.
        let track = keys(
            Channel::Rotation,
            Interpolation::Linear,
            &[0.0, 1.0, 2.0, 3.5],
            &turns(&[0.0, 4.0, 1.5, 1.9]),
        );
        let original = model(
            Clip::new("turn", Some(3.0), blend, vec![track]).unwrap(),
            &[0, 1],
        );
        let copy = again(&original);
        assert!(
            difference(&original, &copy) < 5e-6,
            "{blend:?}: {}",
            difference(&original, &copy)
        );
        let plain = original.clone().with_rotation_blend(RotationBlend::Slerp);
        assert!(difference(&plain, &copy) > 1e-3, "{blend:?}");
    }
}

#[test]
fn clips_end_at_their_duration() {
    let linear = |times: &[f32]| {
        keys(
            Channel::Translation,
            Interpolation::Linear,
            times,
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        )
    };
    let step = |times: &[f32]| {
        keys(
            Channel::Scale,
            Interpolation::Step,
            times,
            &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0],
        )
    };
    let cubic = |times: &[f32]| {
        let values: Vec<f32> = (0..18).map(|v| v as f32 * 0.25).collect();
        keys(
            Channel::Translation,
            Interpolation::CubicSpline,
            times,
            &values,
        )
    };
    let slerp = |times: &[f32]| {
        keys(
            Channel::Rotation,
            Interpolation::Linear,
            times,
            &turns(&[0.2, 2.0]),
        )
    };
    type Track<'a> = &'a dyn Fn(&[f32]) -> Keys;
    for track in [&linear as Track, &step, &cubic, &slerp] {
        for times in [[0.5, 1.5], [0.0, 1.0], [0.25, 0.75], [2.0, 3.0]] {
            let clip =
                Clip::new("c", Some(1.0), RotationBlend::Slerp, vec![track(&times)]).unwrap();
            let original = model(clip, &[0, 1]);
            let copy = again(&original);
            assert!(
                difference(&original, &copy) < 1e-5,
                "{times:?}: {}",
                difference(&original, &copy)
            );
        }
    }
}

#[test]
fn clips_without_tracks_and_of_no_length_stay() {
    for duration in [0.0, 2.5] {
        let original = model(
            Clip::new("still", Some(duration), RotationBlend::Slerp, vec![]).unwrap(),
            &[0, 1],
        );
        let copy = again(&original);
        assert_eq!(
            (copy.clips()[0].name(), copy.clips()[0].duration()),
            ("still", duration)
        );
        assert!(difference(&original, &copy) < 1e-7);
    }
}

#[test]
fn axes_copies_at_seams_and_joints_named_twice_come_back() {
    let track = keys(
        Channel::Translation,
        Interpolation::Linear,
        &[0.0, 1.0],
        &[0.0, 0.0, 0.0, 0.0, 3.0, 0.0],
    );
    let original = model(
        Clip::new("c", None, RotationBlend::Slerp, vec![track]).unwrap(),
        &[0, 1, 0],
    );
    let copy = again(&original);
    assert_eq!(copy.axes(), original.axes());
    assert_eq!(copy.mesh().vertex_count(), 2);
    assert_eq!(copy.mesh().primitives()[0].dumped_vertices, 1);
    assert!(!copy.mesh().primitives()[0].has_normals);
    assert!(difference(&original, &copy) < 1e-6);
    assert_eq!(copy.bounds().max, original.bounds().max);
    assert_ne!(original.bounds().max, Vec3::ZERO);
}

/// A point with two targets along x and y, whose weights these tracks set.
fn morphing(tracks: Vec<WeightKeys>) -> Model {
    let clip = Clip::new("w", Some(2.0), RotationBlend::Slerp, vec![]).unwrap();
    let mut parts = model(clip.clone(), &[0, 1]).into_parts();
    parts.clips = vec![clip.with_weights(tracks).unwrap()];
    parts.primitives[0].dumped_vertices = 2;
    for (target, delta) in [(0, [1.0, 0.0, 0.0]), (1, [0.0, 1.0, 0.0])] {
        parts.targets.push(Target {
            name: format!("target {target}"),
            weight: 0.25,
        });
        parts.primitives[0].targets.push(TargetDeltas {
            target,
            vertices: vec![(0, [delta, [0.0; 3], [0.0; 3]])],
        });
    }
    Model::new(parts).unwrap()
}

fn weights(target: u32, interpolation: Interpolation, times: &[f32], values: &[f32]) -> WeightKeys {
    WeightKeys {
        targets: target..target + 1,
        interpolation,
        times: times.into(),
        values: values.into(),
    }
}

#[test]
fn weights_of_different_tracks_are_the_same_at_all_times() {
    use Interpolation::{CubicSpline, Linear, Step};
    let step = |target| weights(target, Step, &[0.0, 0.7, 1.3], &[0.0, 1.0, 0.5]);
    let linear = |target| weights(target, Linear, &[0.1, 0.9, 3.0], &[0.0, 1.0, -2.0]);
    let curve = [0.0, 0.2, 3.0, -1.0, 1.0, 0.5, 0.0, 0.25, 0.0];
    let cubic = |target| weights(target, CubicSpline, &[0.0, 1.1, 2.0], &curve);
    let late = |target| weights(target, Step, &[0.0, 1.0], &[0.5, 1.0]);
    for (tracks, kept) in [
        (vec![step(0)], Step),
        (vec![cubic(1)], CubicSpline),
        (vec![step(0), step(1)], Step),
        (vec![cubic(0), cubic(1)], CubicSpline),
        (vec![step(0), late(1)], Step),
        (vec![step(0), linear(1)], Linear),
        (vec![linear(0), cubic(1)], Linear),
        (vec![step(0), cubic(1)], Linear),
    ] {
        let original = Arc::new(morphing(tracks));
        let copy = Arc::new(again(&original));
        assert_eq!(copy.clips()[0].weights()[0].interpolation, kept);
        for at in 0..=400u16 {
            // Between the values of f32 around a step, too.
            let time = (f32::from(at) * 0.005 + 1e-4).min(2.0);
            let [a, b] = [&original, &copy]
                .map(|model| morphed(model, Layer::held(0, time))[0].positions[0]);
            assert!(a.distance(b) < 2e-6, "{kept:?} at {time}: {a} and {b}");
        }
    }
}

/// Each of two meshes has a target without deltas, before or behind one that moves it.
#[test]
fn empty_targets_stay_with_the_mesh_of_their_track() {
    let mut parts = morphing(vec![]).into_parts();
    let deltas = |target| TargetDeltas {
        target,
        vertices: vec![(1, [[0.0, 0.0, 1.0], [0.0; 3], [0.0; 3]])],
    };
    let mut second = parts.primitives[0].clone();
    parts.primitives[0].targets = vec![deltas(0)];
    second.targets = vec![deltas(3)];
    parts.primitives.push(second);
    parts.targets = (0..4).map(|_| Target::default()).collect();
    let track = |targets: std::ops::Range<u32>, interpolation, values: &[f32]| WeightKeys {
        targets,
        interpolation,
        times: vec![0.0, 1.0],
        values: values.into(),
    };
    let tracks = vec![
        track(0..2, Interpolation::Step, &[0.0, 1.0, 1.0, 0.0]),
        track(2..4, Interpolation::Linear, &[0.0, 1.0, 1.0, 0.5]),
    ];
    let clip = Clip::new("w", Some(1.0), RotationBlend::Slerp, vec![]).unwrap();
    parts.clips = vec![clip.with_weights(tracks.clone()).unwrap()];
    let copy = again(&Model::new(parts).unwrap());
    assert_eq!(copy.clips()[0].weights(), tracks);
}
