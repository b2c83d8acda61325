//! Properties of the kernels that others may lift into their own engines.

use crate::backends::common::tube;
use glam::{DQuat, DVec3, Quat};
use proptest::prelude::*;
use skinbench::model::{
    Channel, Clip, Interpolation, Joint, JointTransform as Rest, Keys, Model, RotationBlend, Rows,
    Skeleton, Transform,
};
use skinbench::pose::{Affine, Local, ROTATION, SCALE, TRANSLATION, block, one, sine_over_x};
use skinbench::reference::nan_max;
use skinbench::simd::Isa;
use skinbench::skin::{Clusters, LaneBlock, LanePalette, Store, skin, skin_clusters, skin_lanes};
use skinbench::vertex::{Attributes, Encoding, Normals, VertexFormat};

fn one_joint() -> Skeleton {
    let rest = Rest::Transform(Transform::IDENTITY);
    Skeleton::new(vec![Joint {
        name: "joint".into(),
        parent: None,
        rest,
    }])
    .unwrap()
    .0
}

fn rotation_clip(a: Quat, b: Quat, blend: RotationBlend) -> Clip {
    let keys = Keys {
        joint: 0,
        channel: Channel::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.5, 2.5],
        values: [a.to_array(), b.to_array()].concat(),
    };
    Clip::new("c", None, blend, vec![keys]).unwrap()
}

fn sampled(clip: &Clip, time: f32) -> Local<1> {
    let mut local = [[[f32::NAN; 1]; 10]];
    one::sample(&one_joint(), Some(clip), time, &mut local);
    local[0]
}

fn rotation_of(local: &Local<1>) -> DQuat {
    DQuat::from_array(std::array::from_fn(|c| f64::from(local[ROTATION + c][0])))
}

fn unit_quaternion() -> impl Strategy<Value = Quat> {
    [-1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0]
        .prop_map(Quat::from_array)
        .prop_filter("zero has no direction", |q| q.length() > 0.1)
        .prop_map(Quat::normalize)
}

proptest! {
    #[test]
    fn slerp_is_accurate_to_1e_6(a in unit_quaternion(), b in unit_quaternion(), t in 0.0f32..=1.0) {
        let got = rotation_of(&sampled(&rotation_clip(a, b, RotationBlend::Slerp), 0.5 + 2.0 * t));
        let [a, b] = [a, b].map(|q| DQuat::from_array(q.to_array().map(f64::from)).normalize());
        let b = if a.dot(b) < 0.0 { -b } else { b };
        let t = (f64::from(0.5 + 2.0 * t) - 0.5) / 2.0;
        // atan2 instead of acos: exact for small angles too.
        let angle = 2.0 * (a - b).length().atan2((a + b).length());
        let want = if angle < 1e-9 { a } else { (a * ((1.0 - t) * angle).sin() + b * (t * angle).sin()) * (1.0 / angle.sin()) };
        prop_assert!((got - want).length() < 1e-6, "{got} instead of {want}");
    }

    #[test]
    fn samplers_clamp_and_pass_through_keys(a in unit_quaternion(), b in unit_quaternion(), before in -9.0f32..0.5, after in 2.5f32..1e9) {
        for blend in [RotationBlend::Slerp, RotationBlend::Nlerp, RotationBlend::AuthoredPath] {
            let clip = rotation_clip(a, b, blend);
            let at = |time| rotation_of(&sampled(&clip, time));
            let [first, last] = [0, 4].map(|i| DQuat::from_array(std::array::from_fn(|c| f64::from(clip.keys().raw().unwrap().values()[i + c]))));
            for (got, want) in [(at(before), first), (at(0.5), first), (at(2.5), last), (at(after), last)] {
                prop_assert!((got - want).length() < 3e-7);
            }
        }
    }

    #[test]
    fn smooth_rotations_pass_through_their_keys_without_a_kink(
        keys in prop::collection::vec(unit_quaternion(), 2..7),
        closed: bool,
    ) {
        let mut keys = keys;
        if closed {
            keys.push(keys[0]);
        }
        let track = Keys {
            joint: 0,
            channel: Channel::Rotation,
            interpolation: Interpolation::Linear,
            times: (0..keys.len()).map(|k| k as f32).collect(),
            values: keys.iter().flat_map(|q| q.to_array()).collect(),
        };
        let clip = Clip::new("c", None, RotationBlend::Nlerp, vec![track]).unwrap().smoothed().unwrap();
        prop_assert_eq!(clip.keys().raw().unwrap().tracks()[0].interpolation, Interpolation::Squad);
        let at = |time: f32| rotation_of(&sampled(&clip, time)).normalize();
        let turn = |a: DQuat, b: DQuat| {
            let turn = b * a.conjugate();
            (if turn.w < 0.0 { -turn } else { turn }).to_scaled_axis()
        };
        for (k, key) in keys.iter().enumerate() {
            let (got, want) = (at(k as f32), key.as_dquat().normalize());
            prop_assert!(got.dot(want).abs() > 1.0 - 1e-6, "key {k}: {got} instead of {want}");
        }
        // Around an inner key the curve leaves as fast as it arrived.
        let h = 1.0 / 256.0;
        for k in 1..keys.len() - 1 {
            let k = k as f32;
            let (arriving, leaving) = (turn(at(k - h), at(k)), turn(at(k), at(k + h)));
            prop_assert!((arriving - leaving).length() < 4e-3, "key {k}: {arriving}, then {leaving}");
        }
    }

    #[test]
    fn sine_over_x_holds_over_its_range(x in 0.0f32..2.9) {
        let exact = if x == 0.0 { 1.0 } else { f64::from(x).sin() / f64::from(x) };
        prop_assert!((f64::from(sine_over_x(x)) - exact).abs() < 2e-7);
    }

    #[test]
    fn a_joint_moves_points_as_its_transform_says(q in unit_quaternion(), v in [-3.0f32..3.0, -3.0f32..3.0, -3.0f32..3.0], s in 0.1f32..4.0) {
        let mut local: Local<1> = [[0.0]; 10];
        (0..4).for_each(|c| local[ROTATION + c] = [q.to_array()[c]]);
        (0..3).for_each(|c| local[TRANSLATION + c] = [v[c]]);
        (0..3).for_each(|c| local[SCALE + c] = [s * (c + 1) as f32]);
        let mut model = [[[0.0f32; 1]; 12]];
        one::local_to_model(&one_joint(), &[local], &mut model);
        let p = DVec3::new(0.3, -1.1, 0.7);
        let q = DQuat::from_array(q.to_array().map(f64::from));
        let want = q * (p * DVec3::new(1.0, 2.0, 3.0) * f64::from(s)) + DVec3::from(v.map(f64::from));
        let m = model[0].map(|r| f64::from(r[0]));
        let got = DVec3::new(
            m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3],
            m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
            m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11],
        );
        prop_assert!(got.distance(want) < 1e-5 * (1.0 + want.length()), "{got} instead of {want}");
    }
}

/// Every vertex format.
fn formats() -> impl Iterator<Item = VertexFormat> {
    let attributes = [Attributes::P, Attributes::Pn, Attributes::Pnt];
    let normals = [Normals::Unit, Normals::Raw, Normals::Exact];
    attributes.into_iter().flat_map(move |attributes| {
        normals.map(|normals| VertexFormat {
            attributes,
            normals,
            encoding: Encoding::F32,
        })
    })
}

/// Lanes compute what the scalar form computes, in every lane, for every influence count, however few are used.
#[test]
fn lanes_agree_with_scalar() {
    const N: usize = 16;
    let model = tube(20, 33, 16);
    let (joints, inverse_binds) = (model.palette_joints(), model.inverse_binds());
    for (instances, format) in [1, 5, N]
        .into_iter()
        .flat_map(|n| formats().map(move |f| (n, f)))
    {
        let floats = model.mesh().vertex_count() * format.floats();
        let mut local = vec![[[0.0; N]; 10]; joints.len()];
        let mut scalar_out = Vec::new();
        let mut scalar_rows = Vec::new();
        for lane in 0..instances {
            let time = 0.07 * lane as f32;
            let clip = &model.clips()[lane % 2];
            block::sample(model.skeleton(), Some(clip), time, lane, &mut local);
            let mut scalar: Vec<Local<1>> = vec![[[0.0]; 10]; joints.len()];
            let mut pose: Vec<Affine<1>> = vec![[[0.0]; 12]; joints.len()];
            let mut rows = vec![[0.0; 12]; joints.len()];
            let mut out = vec![f32::NAN; floats];
            one::sample(model.skeleton(), Some(clip), time, &mut scalar);
            one::local_to_model(model.skeleton(), &scalar, &mut pose);
            one::palette(joints, inverse_binds, &pose, &mut rows);
            skin(model.mesh(), &rows, format, &mut out);
            scalar_out.extend(out);
            scalar_rows.extend(rows);
        }
        let mut pose = vec![[[0.0; N]; 12]; joints.len()];
        let mut palette = pose.clone();
        let mut rows = vec![[0.0; 12]; joints.len() * instances];
        let mut out = vec![f32::NAN; floats * instances];
        for isa in Isa::available() {
            block::local_to_model(isa, model.skeleton(), &local, &mut pose);
            block::palette(isa, joints, inverse_binds, &pose, &mut palette);
            block::palette_rows(isa, joints, inverse_binds, &pose, &mut rows);
            let worst = |a: &[f32], b: &[f32]| {
                a.iter()
                    .zip(b)
                    .map(|(a, b)| f64::from((a - b).abs()))
                    .fold(0.0, nan_max)
            };
            let differ = worst(rows.as_flattened(), scalar_rows.as_flattened());
            assert!(
                differ < 3e-6,
                "{isa}, {instances} instances: palettes differ by {differ}"
            );
            out.fill(f32::NAN);
            let (mesh, palette, store) =
                (model.mesh(), LanePalette::Matrices(&palette), Store::Cached);
            let lanes = LaneBlock {
                mesh,
                morphed: None,
                palette,
                format,
                store,
                out: &mut out,
                interleaved: false,
            };
            skin_lanes(isa, lanes);
            let differ = worst(&out, &scalar_out);
            assert!(
                differ < 3e-6,
                "{isa}, {instances} instances, {format:?}: differ by {differ}"
            );
            assert!(out.iter().all(|v| v.is_finite()));
        }
    }
}

/// Clusters write what the scalar form writes, to the same places, for numbers of vertices that fill no vector, one
/// window and more than one.
#[test]
fn clusters_agree_with_scalar() {
    for vertices in [1, 7, 250, 1024, 1043] {
        let mut parts = tube(20, 131, 16).into_parts();
        parts.primitives[0] = parts.primitives[0].with_vertices(&(0..vertices).collect::<Vec<_>>());
        let model = Model::new(parts).unwrap();
        let mesh = model.mesh();
        let palette: Vec<Rows> = (0..model.palette_joints().len())
            .map(|j| {
                std::array::from_fn(|c| {
                    f32::from(u8::from(c % 5 == 0)) + ((7 * j + 3 * c) % 19) as f32 / 100.0
                })
            })
            .collect();
        for isa in Isa::available() {
            let clusters = Clusters::new(isa, mesh, Store::Cached);
            for format in formats() {
                let floats = mesh.vertex_count() * format.floats();
                let (mut want, mut out) = (vec![f32::NAN; floats], vec![7.0; floats + 16]);
                skin(mesh, &palette, format, &mut want);
                skin_clusters(&clusters, &[&palette], format, &mut out).unwrap();
                let differ = out
                    .iter()
                    .zip(&want)
                    .map(|(a, b)| f64::from((a - b).abs()))
                    .fold(0.0, nan_max);
                assert!(
                    differ < 3e-6,
                    "{isa}, {vertices} vertices, {format:?}: differ by {differ}"
                );
                assert!(out.iter().all(|v| v.is_finite()));
                assert!(
                    out[floats..].iter().all(|v| *v == 7.0),
                    "{isa}, {format:?}: wrote behind the vertices"
                );
            }
        }
    }
}

/// Streamed vertices are the very ones that cached stores write, wherever lines begin and tiles end, in lanes and
/// between.
#[test]
fn streamed_vertices_are_those_of_cached_stores() {
    const N: usize = 16;
    let packed = VertexFormat {
        encoding: Encoding::Packed,
        ..VertexFormat::default()
    };
    for (rings, instances) in [(1, N), (2, 3), (7, 1), (33, 5), (33, N), (34, N)] {
        let model = tube(20, rings, 16);
        let entries = model.palette_joints().len();
        // A matrix of its own for every joint, number and lane.
        let palette: Vec<Affine<N>> = (0..entries)
            .map(|j| {
                std::array::from_fn(|c| {
                    std::array::from_fn(|lane| ((7 * j + 3 * c + lane) % 19) as f32 / 7.0)
                })
            })
            .collect();
        for format in formats().chain([packed]) {
            let words = model.mesh().vertex_count() * format.words() * instances;
            for (isa, interleaved) in Isa::available().flat_map(|isa| [(isa, false), (isa, true)]) {
                let (mesh, palette) = (model.mesh(), LanePalette::Matrices(&palette));
                let skin = |store, out: &mut [f32]| {
                    skin_lanes(
                        isa,
                        LaneBlock {
                            mesh,
                            morphed: None,
                            palette,
                            format,
                            store,
                            out,
                            interleaved,
                        },
                    );
                };
                let mut cached = vec![f32::NAN; words];
                skin(Store::Cached, &mut cached);
                assert!(
                    format.encoding == Encoding::Packed || cached.iter().all(|v| v.is_finite())
                );
                for before in [0, 1, 4, 15] {
                    let mut out = vec![7.0; before + words + 16];
                    skin(Store::Streamed, &mut out[before..before + words]);
                    let same = out[before..]
                        .iter()
                        .zip(&cached)
                        .all(|(a, b)| a.to_bits() == b.to_bits());
                    assert!(
                        same,
                        "{isa}, {rings} rings, {instances} instances, {format:?}, {before} words before"
                    );
                    let around = out[..before].iter().chain(&out[before + words..]);
                    assert!(
                        around.into_iter().all(|v| *v == 7.0),
                        "{isa}, {rings} rings: wrote beside its place"
                    );
                }
            }
        }
    }
}

/// Step holds the earlier key up to the next one, and cubic splines pass through their values.
#[test]
fn step_and_cubic_tracks_hold_their_keys() {
    let keys = |interpolation, values: Vec<f32>| Keys {
        joint: 0,
        channel: Channel::Translation,
        interpolation,
        times: vec![0.0, 1.0, 3.0],
        values,
    };
    let x_at = |clip: &Clip, time| sampled(clip, time)[TRANSLATION][0];
    let step = keys(
        Interpolation::Step,
        vec![1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0],
    );
    let step = Clip::new("step", None, RotationBlend::Slerp, vec![step]).unwrap();
    assert_eq!(
        [0.0, 0.999, 1.0, 2.999, 3.0, 9.0].map(|t| x_at(&step, t)),
        [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    );

    // In-tangent, value, out-tangent: x = t² has the slope 2t, which Hermite segments follow exactly.
    let parabola = [0.0f32, 1.0, 3.0]
        .iter()
        .flat_map(|t| [2.0 * t, 0.0, 0.0, t * t, 0.0, 0.0, 2.0 * t, 0.0, 0.0]);
    let cubic = Clip::new(
        "cubic",
        None,
        RotationBlend::Slerp,
        vec![keys(Interpolation::CubicSpline, parabola.collect())],
    )
    .unwrap();
    for time in [0.0f32, 0.25, 1.0, 1.7, 2.9, 3.0] {
        assert!(
            (x_at(&cubic, time) - time * time).abs() < 1e-5,
            "at {time}: {}",
            x_at(&cubic, time)
        );
    }
}

/// Clusters for streaming write what the scalar form writes, wherever lines begin and end: with fewer vertices than a
/// vector has, a last vector that is not full, more clusters than are skinned at a time and more instances than a block.
#[test]
fn streamed_clusters_agree_with_scalar() {
    let mut all: Vec<VertexFormat> = formats().collect();
    for attributes in Attributes::ALL {
        all.push(VertexFormat {
            attributes,
            encoding: Encoding::Packed,
            ..VertexFormat::default()
        });
    }
    for (vertices, instances) in [(1, 17), (7, 3), (16, 2), (33, 5), (250, 3), (1043, 2)] {
        let mut parts = tube(20, 131, 16).into_parts();
        parts.primitives[0] = parts.primitives[0].with_vertices(&(0..vertices).collect::<Vec<_>>());
        let model = Model::new(parts).unwrap();
        let mesh = model.mesh();
        let entries = model.palette_joints().len();
        // A matrix of its own for every instance and joint.
        let matrices: Vec<Rows> = (0..instances * entries)
            .map(|j| {
                std::array::from_fn(|c| {
                    f32::from(u8::from(c % 5 == 0)) + ((7 * j + 3 * c) % 19) as f32 / 100.0
                })
            })
            .collect();
        let palettes: Vec<&[Rows]> = matrices.chunks(entries).collect();
        for &format in &all {
            let words = mesh.vertex_count() * format.words();
            let mut want = vec![f32::NAN; instances * words];
            for (palette, want) in palettes.iter().zip(want.chunks_mut(words)) {
                skin(mesh, palette, format, want);
            }
            for isa in Isa::available() {
                let clusters = Clusters::new(isa, mesh, Store::Streamed);
                for before in [0, 1, 4, 15] {
                    let mut out = vec![7.0; before + want.len() + 16];
                    skin_clusters(&clusters, &palettes, format, &mut out[before..]).unwrap();
                    let around = out[..before].iter().chain(&out[before + want.len()..]);
                    assert!(
                        around.into_iter().all(|v| *v == 7.0),
                        "{isa}, {vertices} vertices, {format:?}, {before} words before: wrote beside its place"
                    );
                    let differ = out[before..]
                        .iter()
                        .zip(&want)
                        .map(|(a, b)| f64::from(difference(format, *a, *b)))
                        .fold(0.0, nan_max);
                    assert!(
                        differ < 3e-6,
                        "{isa}, {vertices} vertices, {format:?}, {before} words before: differ by {differ}"
                    );
                }
            }
        }
    }
}

/// The difference of two words. Packed words count as equal if each of their halves differs by at most one step, because
/// both kernels round.
fn difference(format: VertexFormat, a: f32, b: f32) -> f32 {
    if format.encoding == Encoding::F32 {
        return (a - b).abs();
    }
    let low = (a.to_bits() as i16).abs_diff(b.to_bits() as i16);
    let high = ((a.to_bits() >> 16) as i16).abs_diff((b.to_bits() >> 16) as i16);
    f32::from(low.max(high) / 2)
}
