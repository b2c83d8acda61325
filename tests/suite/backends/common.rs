//! Models and crowds that tests make themselves.

use glam::camera::rh::{proj::directx, view::look_at_mat4};
use glam::{Quat, Vec3};
use skinbench::backend::{Backend, Context, Prepared};
use skinbench::crowd::{Crowd, Layer};
use skinbench::frame::{Job, OutputBuffers, Retention};
use skinbench::frustum::Frustum;
use skinbench::harness::parity::{Coverage, Parity, Tolerance, verify};
use skinbench::model::{
    Axes, Channel, Clip, IDENTITY_ROWS, Influences, Interpolation, Joint, JointTransform, Keys,
    Model, ModelParts, Notes, PrimitiveData, RotationBlend, Skeleton, SkinData, Subset, Target,
    TargetDeltas, Transform, WeightKeys,
};
use skinbench::registry::{BackendEntry, REGISTRY};
use skinbench::scene::{BuiltScene, Scene, SceneFile, Settings};
use skinbench::vertex::{Encoding, VertexFormat};
use std::sync::Arc;

/// A tube along Y of `rings` rings of 8 vertices, held by a chain of `joints` joints, with up to `influences` joints a
/// vertex: rings take turns, so every influence class up to it occurs. Two clips bend it.
pub fn tube(joints: u16, rings: u32, influences: usize) -> Model {
    let step = 1.0 / f32::from(joints);
    let chain = (0..joints).map(|j| Joint {
        name: format!("joint {j}"),
        parent: (j > 0).then(|| usize::from(j) - 1),
        rest: JointTransform::Transform(Transform {
            translation: Vec3::new(0.0, if j > 0 { step } else { 0.0 }, 0.0),
            ..Transform::IDENTITY
        }),
    });
    let (skeleton, _) = Skeleton::new(chain.collect()).unwrap();
    let inverse_binds = (0..joints).map(|j| {
        let mut rows = IDENTITY_ROWS;
        rows[7] = -step * f32::from(j);
        rows
    });
    let mut primitive = PrimitiveData {
        influences: Influences::default(),
        ..Default::default()
    };
    let (mut normals, mut tangents) = (Vec::new(), Vec::new());
    for ring in 0..rings {
        let y = ring as f32 / (rings - 1).max(1) as f32;
        for corner in 0..8 {
            let (sin, cos) = (corner as f32 * std::f32::consts::FRAC_PI_4).sin_cos();
            primitive.positions.push([0.2 * cos, y, 0.2 * sin]);
            normals.push([cos, 0.0, sin]);
            tangents.push([-sin, 0.0, cos, if corner < 4 { 1.0 } else { -1.0 }]);
            let count = (1 + ring as usize % influences).min(joints.into());
            let first = ((y * f32::from(joints)) as usize).min(usize::from(joints) - count);
            let total: f32 = (1..=count).map(|i| i as f32).sum();
            primitive
                .influences
                .push((0..count).map(|i| ((first + i) as u16, (i + 1) as f32 / total)));
            if ring > 0 {
                let (a, b) = (8 * (ring - 1), 8 * ring);
                let next = (corner + 1) % 8;
                primitive.indices.extend([
                    a + corner,
                    b + corner,
                    b + next,
                    a + corner,
                    b + next,
                    a + next,
                ]);
            }
        }
    }
    primitive.normals = Some(normals);
    primitive.tangents = Some(tangents);
    primitive.dumped_vertices = primitive.positions.len() as u32;
    primitive.subsets = vec![Subset {
        material: 0,
        indices: 0..primitive.indices.len() as u32,
    }];
    Model::new(ModelParts {
        name: "tube".into(),
        axes: Axes::Y_UP,
        skeleton,
        skins: vec![SkinData {
            name: String::new(),
            joints: (0..joints).collect(),
            inverse_binds: inverse_binds.collect(),
        }],
        clips: vec![
            bend("bend", joints, Vec3::X, 1.2),
            bend("twist", joints, Vec3::Y, 0.7),
        ],
        primitives: vec![primitive],
        targets: Vec::new(),
        materials: vec![],
        notes: Notes::default(),
    })
    .unwrap()
}

/// A model with five morph targets: one of all vertices, one of every third, one that no normal follows, one of nothing,
/// and one with a default weight. Its first clip sets weights linearly and by a spline, its second one steps.
pub fn morphing(model: Model) -> Model {
    let mut parts = model.into_parts();
    parts.targets = [0.0, 0.0, 0.0, 0.0, 0.3]
        .map(|weight| Target {
            name: format!("w{weight}"),
            weight,
        })
        .to_vec();
    for primitive in &mut parts.primitives {
        for target in 0..5 {
            let mut deltas = TargetDeltas {
                target,
                ..TargetDeltas::default()
            };
            for vertex in 0..primitive.positions.len() as u32 {
                let wave = |k: f32| 0.1 * ((vertex as f32 + 0.3) * k + target as f32).sin();
                let delta = [wave(0.7), wave(1.3), wave(2.1)];
                let turn = [wave(0.4), wave(1.1), wave(0.9)];
                match target {
                    0 | 4 => deltas.push(vertex, [delta, turn, turn]),
                    1 if vertex % 3 == 0 => deltas.push(vertex, [delta, turn, [0.0; 3]]),
                    2 if vertex % 2 == 1 => deltas.push(vertex, [delta, [0.0; 3], [0.0; 3]]),
                    _ => {}
                }
            }
            primitive.targets.push(deltas);
        }
    }
    let keys = |targets: std::ops::Range<u32>, interpolation: Interpolation| {
        let numbers = 3 * targets.len() * interpolation.values_per_key();
        let values = (0..numbers).map(|i| (i as f32 * 1.7).sin()).collect();
        WeightKeys {
            targets,
            interpolation,
            times: vec![0.0, 0.4, 0.7],
            values,
        }
    };
    let weights = [
        vec![
            keys(0..2, Interpolation::Linear),
            keys(2..4, Interpolation::CubicSpline),
        ],
        vec![keys(1..5, Interpolation::Step)],
    ];
    let clips = parts.clips.into_iter().zip(weights);
    parts.clips = clips
        .map(|(clip, weights)| clip.with_weights(weights).unwrap())
        .collect();
    Model::new(parts).unwrap()
}

fn bend(name: &str, joints: u16, axis: Vec3, duration: f32) -> Clip {
    let keys = (0..joints).flat_map(|joint| {
        let angle = |k: f32| {
            Quat::from_axis_angle(axis, (k * 2.1 + f32::from(joint)).sin() * 0.4).to_array()
        };
        let rotation = Keys {
            joint,
            channel: Channel::Rotation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 0.25 * duration, 0.6 * duration, duration],
            values: [angle(0.0), angle(1.0), angle(2.0), angle(0.0)].concat(),
        };
        let scale = Keys {
            joint,
            channel: Channel::Scale,
            interpolation: Interpolation::Linear,
            times: vec![0.0, duration],
            values: vec![1.0, 1.0, 1.0, 1.1, 0.95, 1.05],
        };
        // One scaled joint only: down a chain scales multiply.
        std::iter::once(rotation).chain((joint == 0).then_some(scale))
    });
    Clip::new(name, None, RotationBlend::Slerp, keys.collect()).unwrap()
}

/// `counts` instances of each model, clips in turn, phases and speeds spread.
pub fn crowd(groups: Vec<(Model, usize)>) -> Crowd {
    crowd_of(VertexFormat::default(), groups)
}

/// As [`crowd`], skinned to a format.
pub fn crowd_of(format: VertexFormat, groups: Vec<(Model, usize)>) -> Crowd {
    let mut crowd = Crowd::with_format(format);
    for (model, count) in groups {
        let model = Arc::new(model);
        let layer = |i: usize| {
            let clip = (i % model.clips().len()) as u32;
            Layer::looping(
                &model,
                clip,
                (i as u32).wrapping_mul(0x9e37_79b9),
                0.7 + 0.05 * (i % 7) as f64,
            )
        };
        let mut placed = |i: usize| {
            let mut rows = IDENTITY_ROWS;
            (rows[3], rows[11]) = ((i % 8) as f32, (i / 8) as f32);
            (rows, layer(i))
        };
        crowd
            .push_group(Arc::clone(&model), (0..count).map(&mut placed))
            .unwrap();
    }
    crowd
}

/// A scene with a picture of 64 by 48 pixels and walkers of 500 vertices, which a processor draws in no time.
pub fn small_scene(name: &str) -> Scene {
    small_scene_file(name).read().unwrap()
}

/// The file of [`small_scene`].
pub fn small_scene_file(name: &str) -> SceneFile {
    let mut file = SceneFile::find(name).unwrap();
    let mut text = String::new();
    for line in file.text.lines() {
        text += match line.split(' ').next() {
            Some("resolution") => "resolution = [64, 48]",
            Some("vertices") => "vertices = 500",
            _ => line,
        };
        text.push('\n');
    }
    file.text = text;
    file
}

/// A scene by name, with some settings.
pub fn build_scene(name: &str, settings: Settings) -> BuiltScene {
    let scene = Scene::load(name).unwrap().with(settings);
    scene.build(u64::MAX).unwrap()
}

/// A context with an adapter; `None` without one, unless SKINBENCH_REQUIRE_GPU is set.
#[cfg(feature = "gpu")]
pub fn context_with_adapter() -> Option<Context> {
    let context = context();
    context.gpu.is_some().then_some(context)
}

/// A context with an adapter that was changed before anything is created on it, to simulate another one; `None` as for
/// [`context_with_adapter`].
#[cfg(feature = "gpu")]
pub fn context_with(change: impl FnOnce(&mut skinbench::gpu::Gpu)) -> Option<Context> {
    let mut context = context_with_adapter()?;
    let gpu = context.gpu.as_mut().unwrap();
    change(std::sync::Arc::get_mut(gpu).unwrap());
    Some(context)
}

/// A context with the adapter, if there is one. Under SKINBENCH_REQUIRE_GPU its absence fails.
pub fn context() -> Context {
    #[cfg(feature = "gpu")]
    {
        let gpu = skinbench::gpu::Gpu::open(None).ok();
        if gpu.is_none() {
            assert!(
                std::env::var_os("SKINBENCH_REQUIRE_GPU").is_none(),
                "no adapter, and SKINBENCH_REQUIRE_GPU is set"
            );
            println!("no adapter: GPU backends did not run");
        }
        Context {
            gpu,
            ..Context::default()
        }
    }
    #[cfg(not(feature = "gpu"))]
    Context::default()
}

/// Every registered backend that this machine can run.
pub fn backends(context: &Context) -> Vec<(&'static BackendEntry, Box<dyn Backend>)> {
    REGISTRY
        .iter()
        .filter_map(|entry| entry.create(context).ok().map(|backend| (entry, backend)))
        .collect()
}

/// Backends that take no uneven scale; [`tube`] has one.
const EVENLY_SCALED: [&str; 5] = [
    "cpu-simd:dual-quaternion",
    "gpu-compute:dual-quaternion",
    "gpu-compute:f16",
    "gpu-baked",
    "gpu-baked:compute",
];
/// Backends that take no morph targets, and no other reason to refuse [`tube`].
const UNMORPHED: [&str; 5] = [
    "gpu-compute:merged",
    "gpu-full:culled",
    "gpu-full:vertex-culled",
    "gpu-baked:matrices",
    "gpu-vat",
];
/// Backends whose vertices are captured from a vertex shader.
const CAPTURED: [&str; 9] = [
    "gpu-vertex",
    "gpu-vertex:mat4",
    "gpu-vertex:uniform",
    "gpu-vertex:texture",
    "gpu-full:vertex",
    "gpu-full:vertex-culled",
    "gpu-baked",
    "gpu-baked:matrices",
    "gpu-vat",
];

/// Returns whether a backend refuses a crowd of [`tube`]s; it must do so for the reason stated here, and for no other.
///
/// An adapter may lack what a backend needs, unless SKINBENCH_REQUIRE_GPU is set.
pub fn refuses(entry: &BackendEntry, backend: &dyn Backend, crowd: &Crowd, job: &Job) -> bool {
    let packed = crowd.format().encoding == Encoding::Packed;
    let expected = match entry.name {
        name if packed && CAPTURED.contains(&name) => {
            Some("writes plain floats; needs --output f32".to_owned())
        }
        "gpu-compute:positions" if packed => {
            Some("stores floats of one frame apart; needs --output f32".to_owned())
        }
        "gpu-compute:positions" if job.keep == Retention::TwoFrames => {
            Some("stores floats of one frame apart; needs a run without --motion".to_owned())
        }
        name if EVENLY_SCALED.contains(&name) => Some(
            "does not support uneven scale: joint \"joint 0\" of \"tube\" in clip \"bend\""
                .to_owned(),
        ),
        name if crowd.has_targets() && UNMORPHED.contains(&name) => Some(
            "has no morph targets, of which \"tube\" has 5; needs models without them".to_owned(),
        ),
        _ => None,
    };
    let refusal = backend
        .footprint(crowd, job)
        .err()
        .map(|refusal| refusal.to_string());
    if let Some(refusal) = refusal
        .as_ref()
        .filter(|refusal| refusal.starts_with("the adapter "))
        && std::env::var_os("SKINBENCH_REQUIRE_GPU").is_none()
    {
        println!("{}: {refusal}", entry.name);
        return true;
    }
    assert_eq!(refusal, expected, "{}", entry.name);
    refusal.is_some()
}

/// A view of [`crowd`] that some of its instances are out of.
pub fn close_up() -> Frustum {
    let view = look_at_mat4(Vec3::new(4.0, 2.0, -2.0), Vec3::new(2.0, 0.0, 8.0), Vec3::Y);
    Frustum::new(directx::perspective(0.6, 1.0, 0.5, 14.0) * view)
}

/// Prepares a backend and output buffers with both sides.
pub fn prepare(
    backend: &dyn Backend,
    context: &Context,
    crowd: &Crowd,
) -> (Box<dyn Prepared>, OutputBuffers) {
    prepare_for(backend, context, crowd, &Job::default())
}

/// As [`prepare`], for a job.
pub fn prepare_for(
    backend: &dyn Backend,
    context: &Context,
    crowd: &Crowd,
    job: &Job,
) -> (Box<dyn Prepared>, OutputBuffers) {
    let mut output = OutputBuffers::default();
    output.allocate_host(crowd);
    #[cfg(feature = "gpu")]
    if let Some(gpu) = &context.gpu {
        gpu.allocate_output(crowd, job.keep, &mut output).unwrap();
    }
    #[cfg(not(feature = "gpu"))]
    let Context { isa: _, threads: _ } = context;
    (backend.prepare(crowd, job).unwrap(), output)
}

/// Prepares a backend for a crowd and verifies all instances at some ticks.
pub fn verified(backend: &dyn Backend, context: &Context, crowd: &Crowd, ticks: &[u32]) -> Parity {
    let (mut prepared, mut output) = prepare(backend, context, crowd);
    let coverage = Coverage::all(crowd, ticks);
    verify_prepared(&mut *prepared, context, crowd, &mut output, &coverage)
}

/// Verifies a prepared backend with the tolerance of the crowd's format.
pub fn verify_prepared(
    prepared: &mut dyn Prepared,
    context: &Context,
    crowd: &Crowd,
    output: &mut OutputBuffers,
    coverage: &Coverage,
) -> Parity {
    let tolerance = Tolerance::of(crowd.format());
    verify(prepared, context, crowd, output, coverage, tolerance).unwrap()
}

/// Verifies all backends of this machine but those that `refuses` a crowd says do so; returns what is known of each.
pub fn assert_parity(
    context: &Context,
    crowd: &Crowd,
    ticks: &[u32],
    refuses: impl Fn(&BackendEntry, &dyn Backend) -> bool,
) -> Vec<Parity> {
    let mut agreed = Vec::new();
    for (entry, backend) in backends(context) {
        if refuses(entry, &*backend) {
            continue;
        }
        let parity = verified(&*backend, context, crowd, ticks);
        println!(
            "{}: {:.2?}, normals {:.2?}",
            entry.name, parity.max_rel, parity.max_normal
        );
        assert_eq!(parity.failure, None, "{}", entry.name);
        agreed.push(parity);
    }
    agreed
}

/// Returns whether a backend refuses a crowd, which it may for one of some reasons.
pub fn refuses_for(
    reasons: &[&str],
    entry: &BackendEntry,
    backend: &dyn Backend,
    crowd: &Crowd,
) -> bool {
    let Err(refusal) = backend.footprint(crowd, &Job::default()) else {
        return false;
    };
    let refusal = refusal.to_string();
    assert!(
        reasons.iter().any(|reason| refusal.contains(reason)),
        "{}: {refusal}",
        entry.name
    );
    true
}
