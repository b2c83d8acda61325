//! The parity gate kills broken kernels: each mutant here must fail, its unbroken twin must pass.

use crate::backends::common::{
    close_up, crowd, morphing, prepare, prepare_for, tube, verify_prepared,
};
use glam::Vec3;
use skinbench::backend::{
    Abilities, Backend, Context, FrameData, Joints, LaterPasses, Prepared, Skinned, Ticket,
};
use skinbench::crowd::{Crowd, Fade, Group, Layer, LayerKind, Schedule};
use skinbench::frame::{Footprint, FrameInput, Job, OutputBuffers, Result, StageTimer};
use skinbench::harness::parity::{Coverage, Tolerance};
use skinbench::model::{IDENTITY_ROWS, Mesh, Rows};
use skinbench::pose::{CrowdPose, NoClock, Palettes, PoseData, PoseOut, Width};
use skinbench::registry;
use skinbench::simd::Isa;
use skinbench::threads::Threads;
use std::ops::Range;
use std::sync::Arc;

fn small_crowd() -> Crowd {
    let mut crowd = crowd(vec![
        (tube(6, 14, 4), 19),
        (tube(3, 5, 2), 2),
        (tube(9, 17, 9), 3),
    ]);
    let model = Arc::new(tube(4, 9, 3));
    let schedule = Schedule {
        period: 100,
        offset: 0,
        length: 80,
        fade_in: 50,
        fade_out: 20,
    };
    let instances = [Fade::Cross, Fade::Inertial].map(|fade| {
        let over = Layer::looping(&model, 1, 7, 1.0);
        let over = Layer {
            kind: LayerKind::Override,
            mask: 0,
            weight: 0.9,
            fade,
            schedule,
            ..over
        };
        (IDENTITY_ROWS, [Layer::looping(&model, 0, 0, 1.0), over])
    });
    crowd
        .push_masked_group(Arc::clone(&model), &[vec![0.0, 0.5, 1.0, 1.0]], instances)
        .unwrap();
    crowd
}

/// Returns the reason why the gate refuses a backend, if it does.
fn refused(backend: &dyn Backend, context: &Context) -> Option<String> {
    refused_with(&small_crowd(), backend, context)
}

fn refused_with(crowd: &Crowd, backend: &dyn Backend, context: &Context) -> Option<String> {
    let frustum = close_up();
    let (mut backend, mut output) = prepare_for(
        backend,
        context,
        crowd,
        &Job {
            frustum,
            ..Job::default()
        },
    );
    let coverage = Coverage {
        frustum,
        ..Coverage::all(crowd, &[0, 33])
    };
    let parity = verify_prepared(&mut *backend, context, crowd, &mut output, &coverage);
    let Tolerance {
        position, normal, ..
    } = parity.tolerance;
    if parity.failure.is_none() {
        assert!(parity.max_rel.unwrap() <= position && parity.max_normal.unwrap() <= normal);
    }
    parity.failure
}

/// Asserts that a backend that freezes more instances than are frozen is refused.
fn assert_that_freezing_more_is_refused(name: &str, context: &Context, half: &Crowd, most: &Crowd) {
    let backend = registry::find(name).unwrap().create(context).unwrap();
    let (mut prepared, mut output) = prepare(&*backend, context, most);
    let coverage = Coverage::all(half, &[33]);
    let parity = verify_prepared(&mut *prepared, context, half, &mut output, &coverage);
    let failure = parity.failure.expect("the mutant passed");
    assert!(failure.contains("tick 34,"), "{name}: {failure}");
}

#[derive(Clone, Copy, PartialEq)]
enum Mutation {
    None,
    TransposedMatrix,
    PaletteOffByOne,
    LastInfluenceDropped,
    WeightsSwapped,
    TailUnwritten,
    NormalsNotUnit,
    OneNan,
    Unblended,
    FadesLate,
    TargetDropped,
    MorphWeightsShifted,
    MorphedAfterJoints,
    LastJointTurned,
}

/// The crowd as a mutant poses it.
fn broken(crowd: &Crowd, mutation: Mutation) -> Crowd {
    let mut broken = Crowd::with_format(crowd.format());
    for group in crowd.groups() {
        let instances = group.instances.clone().map(|instance| {
            let mut layers = crowd.layers().of(instance as usize).to_vec();
            match mutation {
                Mutation::Unblended => layers.truncate(1),
                Mutation::FadesLate => {
                    layers
                        .iter_mut()
                        .for_each(|l| l.schedule.offset = l.schedule.offset.wrapping_sub(1));
                }
                _ => {}
            }
            (crowd.placements()[instance as usize], layers)
        });
        let masks: Vec<_> = group
            .masks()
            .chunks_exact(group.model.skeleton().len())
            .map(<[f32]>::to_vec)
            .collect();
        broken
            .push_masked_group(Arc::clone(&group.model), &masks, instances)
            .unwrap();
    }
    broken
}

/// A backend with a fault.
struct Mutant(Mutation);

/// Poses that a mutation of the crowd may break, and a skinning loop that another one may.
struct PreparedMutant {
    mutation: Mutation,
    posed: Crowd,
    pose: CrowdPose,
    palette: Vec<Rows>,
}

impl PreparedMutant {
    fn skin(&self, mesh: &Mesh, offsets: &[[Vec3; 2]], palette: &[Rows], out: &mut [f32]) {
        let m = self.mutation;
        let end = mesh.vertex_count() - usize::from(m == Mutation::TailUnwritten);
        for (vertex, out) in out.as_chunks_mut::<6>().0.iter_mut().enumerate().take(end) {
            let pairs: Vec<(u16, f32)> = mesh.influences_of(vertex).collect();
            let kept = pairs.len() - usize::from(m == Mutation::LastInfluenceDropped);
            let mut rows = [0.0; 12];
            for k in 0..kept {
                let entry = usize::from(pairs[k].0) + usize::from(m == Mutation::PaletteOffByOne);
                let weight = pairs[if m == Mutation::WeightsSwapped {
                    pairs.len() - 1 - k
                } else {
                    k
                }]
                .1;
                let mut entry = palette[entry % palette.len()];
                if m == Mutation::TransposedMatrix {
                    let e = entry;
                    (entry[1], entry[2], entry[4], entry[6], entry[8], entry[9]) =
                        (e[4], e[8], e[1], e[9], e[2], e[6]);
                }
                rows.iter_mut()
                    .zip(entry)
                    .for_each(|(sum, value)| *sum += weight * value);
            }
            let [moved, turned] = offsets.get(vertex).copied().unwrap_or_default();
            let late = m == Mutation::MorphedAfterJoints;
            let [before, after] = if late {
                [Vec3::ZERO, moved]
            } else {
                [moved, Vec3::ZERO]
            };
            let p = (Vec3::from(mesh.positions()[vertex]) + before).to_array();
            let n = (Vec3::from(mesh.normals()[vertex]) + turned).to_array();
            let row =
                |r: usize, v: [f32; 3]| rows[r] * v[0] + rows[r + 1] * v[1] + rows[r + 2] * v[2];
            let normal = glam::Vec3::new(row(0, n), row(4, n), row(8, n));
            let normal = if m == Mutation::NormalsNotUnit {
                normal * 1.01
            } else {
                normal.normalize_or_zero()
            };
            let place = Vec3::new(
                row(0, p) + rows[3],
                row(4, p) + rows[7],
                row(8, p) + rows[11],
            ) + after;
            *out = [place.x, place.y, place.z, normal.x, normal.y, normal.z];
        }
        if m == Mutation::OneNan {
            out[out.len() / 2] = f32::NAN;
        }
    }
}

impl PreparedMutant {
    /// What targets add to the positions and normals of an instance.
    fn offsets(&self, crowd: &Crowd, group: &Group, instance: u32, tick: u32) -> Vec<[Vec3; 2]> {
        let targets = group.model.mesh().targets();
        let mut weights = vec![0.0; targets.len()];
        let layers = crowd.layers().of(instance as usize);
        skinbench::morph::weights(
            &group.model,
            layers,
            crowd.expression(instance),
            tick,
            &mut weights,
        );
        match self.mutation {
            Mutation::TargetDropped => weights
                .iter_mut()
                .skip(1)
                .take(1)
                .for_each(|weight| *weight = 0.0),
            Mutation::MorphWeightsShifted if !weights.is_empty() => weights.rotate_right(1),
            _ => {}
        }
        let mut offsets = vec![[Vec3::ZERO; 2]; group.model.mesh().vertex_count()];
        for (target, vertex, delta) in targets.entries() {
            offsets[vertex][0] += weights[target] * Vec3::from(targets.positions()[delta]);
            offsets[vertex][1] += weights[target] * Vec3::from(targets.normals()[delta]);
        }
        offsets
    }
}

impl Backend for Mutant {
    fn abilities(&self) -> Abilities {
        Abilities {
            joints: Joints::Host,
            later_passes: LaterPasses::Free,
            lacks: Vec::new(),
        }
    }
    fn footprint(&self, _: &Crowd, _: &Job) -> Result<Footprint> {
        Ok(Footprint::default())
    }
    fn prepare(&self, crowd: &Crowd, _: &Job) -> Result<Box<dyn Prepared>> {
        let posed = broken(crowd, self.0);
        let pose = CrowdPose::new(&posed, Width::One, Isa::Scalar, &Threads::One);
        let palette = vec![[0.0; 12]; crowd.palette_entries() as usize];
        Ok(Box::new(PreparedMutant {
            mutation: self.0,
            posed,
            pose,
            palette,
        }))
    }
}

impl Prepared for PreparedMutant {
    fn footprint(&self, _: &Crowd) -> Footprint {
        Footprint::default()
    }
    fn device(&self) -> String {
        String::new()
    }
    fn submit(&mut self, frame: &mut FrameInput, _: &mut StageTimer) -> Result<Ticket> {
        let Self { posed, pose, .. } = self;
        pose.pose(
            posed,
            frame.tick,
            &Threads::One,
            &NoClock,
            PoseOut::rows(&mut self.palette),
        );
        if self.mutation == Mutation::LastJointTurned
            && let Some(last) = self.palette.last_mut()
        {
            let (sin, cos) = 1e-3f32.sin_cos();
            let [x, y] = [
                *last.first_chunk::<4>().unwrap(),
                last[4..8].try_into().unwrap(),
            ];
            for column in 0..4 {
                last[column] = cos * x[column] - sin * y[column];
                last[4 + column] = sin * x[column] + cos * y[column];
            }
        }
        let (mut entry, mut float) = (0, 0);
        for group in frame.crowd.groups() {
            let (entries, floats) = (group.model.palette_joints().len(), group.instance_words());
            for instance in group.instances.clone() {
                let offsets = self.offsets(frame.crowd, group, instance, frame.tick);
                self.skin(
                    group.model.mesh(),
                    &offsets,
                    &self.palette[entry..entry + entries],
                    &mut frame.output.host[float..float + floats],
                );
                (entry, float) = (entry + entries, float + floats);
            }
        }
        Ok(Ticket::default())
    }
    fn skinned(&self) -> Skinned {
        Skinned::Host
    }
    fn read(
        &mut self,
        crowd: &Crowd,
        output: &OutputBuffers,
        what: FrameData,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        match what.pose() {
            None => out.extend(output.host_vertices(crowd, instances)),
            Some(PoseData::Palette) => {
                let blocks = self.pose.blocks();
                Palettes::Rows(&self.palette).read(blocks, instances, out);
            }
            Some(pose) => self.pose.read(&self.posed, pose, instances, out),
        }
        Ok(())
    }
}

#[test]
fn cpu_mutants_die() {
    let killed = |mutation| refused(&Mutant(mutation), &Context::default());
    assert_eq!(killed(Mutation::None), None);
    for (mutation, what) in [
        (Mutation::TransposedMatrix, "position"),
        (Mutation::PaletteOffByOne, "position"),
        (Mutation::LastInfluenceDropped, "position"),
        (Mutation::WeightsSwapped, "position"),
        (Mutation::TailUnwritten, "position is off by NaN"),
        (Mutation::NormalsNotUnit, "normal"),
        (Mutation::OneNan, "NaN"),
        (Mutation::Unblended, "sample"),
        (Mutation::FadesLate, "sample"),
    ] {
        let failure = killed(mutation).expect("the mutant passed");
        assert!(failure.contains(what), "{failure}");
    }
}

/// The limit of poses grows with a chain, and still finds a joint at its end that is off by a thousandth.
#[test]
fn a_mutant_at_the_end_of_a_long_chain_dies() {
    let crowd = crowd(vec![(tube(400, 3, 1), 3)]);
    let killed = |mutation| refused_with(&crowd, &Mutant(mutation), &Context::default());
    assert_eq!(killed(Mutation::None), None);
    let failure = killed(Mutation::LastJointTurned).expect("the mutant passed");
    assert!(failure.starts_with("palette is off by"), "{failure}");
}

#[test]
fn morph_mutants_die() {
    let crowd = crowd(vec![(morphing(tube(6, 14, 4)), 5), (tube(3, 5, 2), 2)]);
    let killed = |mutation| refused_with(&crowd, &Mutant(mutation), &Context::default());
    assert_eq!(killed(Mutation::None), None);
    for mutation in [
        Mutation::TargetDropped,
        Mutation::MorphWeightsShifted,
        Mutation::MorphedAfterJoints,
    ] {
        let failure = killed(mutation).expect("the mutant passed");
        assert!(failure.contains("position"), "{failure}");
    }
}

/// A backend that shows the first instances for ever, and one that takes others for frozen than are.
#[test]
fn mutants_of_changing_crowds_die() {
    let crowd = || crowd(vec![(tube(6, 14, 4), 39), (tube(3, 5, 2), 20)]);
    let turning = crowd().with_turnover(0.2, 1).unwrap();
    let failure = refused_with(&turning, &Mutant(Mutation::None), &Context::default())
        .expect("the mutant passed");
    assert!(
        failure.contains("sample") && failure.contains("tick 1,"),
        "{failure}"
    );
    let [half, most] = [0.5, 0.9].map(|share| crowd().with_frozen(share, 1).unwrap());
    for name in ["cpu-scalar", "cpu-rayon", "cpu-simd:fused"] {
        let context = Context::default();
        let backend = registry::find(name).unwrap().create(&context).unwrap();
        assert_eq!(refused_with(&turning, &*backend, &context), None);
        assert_eq!(refused_with(&half, &*backend, &context), None);
        assert_that_freezing_more_is_refused(name, &context, &half, &most);
    }
}

#[cfg(feature = "gpu")]
mod gpu {
    use super::*;
    use crate::backends::common::{context_with, context_with_adapter, crowd_of};
    use skinbench::characters::walker;
    use skinbench::gpu::Edit;
    use skinbench::vertex::{Attributes, VertexFormat};
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    /// Old text, which the shader must hold, and the text that breaks it.
    type Mutation = (&'static str, &'static str);

    const SKINNING: [Mutation; 9] = [
        (
            "vec3f(dot(m.x, p), dot(m.y, p), dot(m.z, p))",
            "m.x.xyz * p.x + m.y.xyz * p.y + m.z.xyz * p.z",
        ),
        (
            "instance * chunk.entries + entry) * 3u",
            "instance * chunk.entries + entry + 1u) * 3u",
        ),
        ("weights.w > 0.0", "weights.w > 1.0"),
        ("vec3f(others) * WEIGHT", "vec3f(others.xxz) * WEIGHT"),
        (
            "var heaviest = 1.0 - f32(others.x + ",
            "var heaviest = 1.0 - f32(",
        ),
        ("(upper << vec3u(1u)) | lower", "upper"),
        ("heaviest -= influences[i].weight", "heaviest -= 0.0"),
        ("vec4u(0u, 8u, 16u, 24u)", "vec4u(0u, 16u, 8u, 24u)"),
        (
            "select(-fold, fold, n.x >= 0.0)",
            "select(fold, -fold, n.x >= 0.0)",
        ),
    ];

    /// Puts one mutation, or none, into the shaders that hold it; says whether any did.
    fn edit_of_some(mutation: Option<Mutation>) -> (Edit, Arc<AtomicBool>) {
        let edited = Arc::new(AtomicBool::new(mutation.is_none()));
        let seen = Arc::clone(&edited);
        let edit: Edit = Arc::new(move |wgsl| match mutation {
            Some((old, new)) => {
                seen.fetch_or(wgsl.contains(old), Relaxed);
                wgsl.replace(old, new)
            }
            None => wgsl,
        });
        (edit, edited)
    }

    /// Returns the reason why the gate refuses a backend whose shaders hold a mutation, if it does.
    fn killed(
        crowd: &Crowd,
        context: &Context,
        name: &str,
        mutation: Option<Mutation>,
    ) -> Option<String> {
        let (edit, edited) = edit_of_some(mutation);
        let edits = &context.gpu.as_ref().unwrap().edit;
        *edits.lock().unwrap() = Some(edit);
        let backend = registry::find(name).unwrap().create(context).unwrap();
        let failure = refused_with(crowd, &*backend, context);
        *edits.lock().unwrap() = None;
        assert!(edited.load(Relaxed), "no shader holds {mutation:?}");
        failure
    }

    /// Asserts that shaders as they are pass, and that each mutation is held by one of them and refused.
    fn all_die(crowd: &Crowd, context: &Context, name: &str, mutations: &[Mutation]) {
        assert_eq!(killed(crowd, context, name, None), None);
        all_die_in("", crowd, context, name, mutations);
    }

    /// Asserts that each mutation is refused for errors in a stage.
    fn all_die_in(
        stage: &str,
        crowd: &Crowd,
        context: &Context,
        name: &str,
        mutations: &[Mutation],
    ) {
        for &mutation in mutations {
            let (_, new) = mutation;
            let failure = killed(crowd, context, name, Some(mutation))
                .unwrap_or_else(|| panic!("{new} survived"));
            assert!(failure.contains(stage), "{new}: {failure}");
        }
    }

    #[test]
    fn baked_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let crowd = crowd(vec![(walker(500).unwrap(), 19)]);
        let mutations = [
            ("place - f32(frame)", "0.0"),
            ("place - f32(frame)", "1.0 - (place - f32(frame))"),
            (
                "FramePair(first, first + posed.entries",
                "FramePair(first, first",
            ),
            (
                "time_at(player, layer, now.tick,",
                "time_at(player, layer, now.tick + 1u,",
            ),
            (
                "clip.first + frame * posed.entries",
                "clip.first + (frame + 1u) * posed.entries",
            ),
            (
                "instance >= posed.instances",
                "instance + 1u >= posed.instances",
            ),
            ("t.w - two.y * q.y", "t.w + two.y * q.y"),
            ("vec4f(z, t.z)", "vec4f(z, t.y)"),
            ("2u * (at.next + entry)", "2u * (at.next + entry + 1u)"),
        ];
        all_die(&crowd, &context, "gpu-baked:compute", &mutations);
    }

    /// With tangents, and instances of several layers.
    #[test]
    fn baked_vertex_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let format = VertexFormat {
            attributes: Attributes::Pnt,
            ..VertexFormat::default()
        };
        let plain = crowd_of(format, vec![(tube(5, 33, 4), 19)]);
        let mutations = [
            (
                "(at.first + vertex) * words",
                "(at.first + vertex + 1u) * words",
            ),
            ("(at.next + vertex) * words", "(at.first + vertex) * words"),
            ("(FLOATS + 1u) / 2u", "FLOATS / 2u + 1u"),
            (
                "palettes.cube.half * vec3f(xy, z.x)",
                "palettes.cube.half * vec3f(xy, z.y)",
            ),
            ("vec3f(z.y, yz)", "vec3f(z.x, yz)"),
            ("vec3f(tangent, more.x)", "vec3f(tangent, more.y)"),
            ("sign(more.y)", "more.x"),
        ];
        all_die(&plain, &context, "gpu-vat", &mutations);
        let blended = crate::backends::layers::blended_walkers();
        let mutations = [
            ("layer < LAYERS", "layer < LAYERS - 1u"),
            ("LAYERS * instance + layer", "instance + layer"),
            ("at.weight * mix", "mix"),
        ];
        all_die(&blended, &context, "gpu-vat", &mutations);
    }

    #[test]
    fn baked_blend_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let crowd = crate::backends::layers::blended_walkers();
        let mutations = [
            ("left * (weight / sum)", "left * weight"),
            ("left *= 1.0 - weight", "left *= 1.0"),
            ("weight *= above", "weight *= 0.5"),
            ("select(0.0, left, bare)", "0.0"),
            ("layer < LAYERS", "layer < LAYERS - 1u"),
            ("LAYERS * instance + layer", "instance + layer"),
            ("first + index", "first"),
        ];
        all_die(&crowd, &context, "gpu-baked:compute", &mutations);
    }

    #[test]
    fn compute_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let own = [
            ("vertex >= chunk.vertices", "vertex + 1u >= chunk.vertices"),
            (
                "first + INSTANCES, chunk.instances",
                "first + INSTANCES, chunk.instances - 1u",
            ),
        ];
        let mutations = [&SKINNING[..], &own].concat();
        all_die(
            &small_crowd(),
            &context,
            "gpu-compute:instances",
            &mutations,
        );
    }

    #[test]
    fn merged_mutants_die() {
        // So that workgroups lie in several rows.
        let Some(context) = context_with(|gpu| gpu.adapter.workgroup_limit = 3) else {
            return;
        };
        // Two models of either kind: with more than four influences, and without.
        let crowd = crowd(vec![
            (tube(6, 14, 4), 19),
            (tube(9, 17, 9), 3),
            (tube(3, 5, 2), 2),
            (tube(20, 33, 16), 2),
        ]);
        let own = [
            ("chunk = chunks[index]", "chunk = chunks[0]"),
            ("vertices[chunk.mesh_vertex + index]", "vertices[index]"),
            ("let first = chunk.mesh_influence + ", "let first = "),
            ("(chunk.first_entry + instance", "(instance"),
            ("(chunk.first_vertex + instance", "(instance"),
            ("group.y * groups.x + group.x", "group.x"),
            ("part.vertex + thread", "thread"),
            (
                "var instance = part.instance",
                "var instance = part.instance + 1u",
            ),
            (
                "part.instance + INSTANCES, chunk.instances",
                "part.instance + INSTANCES, chunk.instances - 1u",
            ),
            ("vertex >= chunk.vertices", "vertex + 1u >= chunk.vertices"),
        ];
        let mutations = [&SKINNING[..], &own].concat();
        all_die(&crowd, &context, "gpu-compute:merged", &mutations);
    }

    #[test]
    fn morph_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let crowd = crowd(vec![(morphing(tube(6, 14, 4)), 5), (tube(3, 5, 2), 2)]);
        let by_vertex = [
            (
                "let end = first_delta(index + 1u)",
                "let end = first_delta(index)",
            ),
            (
                "first_delta(index);",
                "first_delta(index + 1u - min(index, 1u));",
            ),
            ("morph_weights[weights + ", "morph_weights[weights + 1u + "),
            ("1u + instance * u32(", "1u + (instance ^ 1u) * u32("),
        ];
        let dense = [
            ("at <= end", "at < end"),
            ("1u + instance * u32(", "1u + (instance ^ 1u) * u32("),
            (
                "* chunk.vertices + index",
                "* chunk.vertices + (index ^ 1u)",
            ),
            (
                ".normal += target_and_weight.y",
                ".normal -= target_and_weight.y",
            ),
        ];
        for (name, mutations) in [
            ("gpu-compute:instances", by_vertex),
            ("gpu-vertex:mat4", dense),
            ("gpu-vertex:texture", dense),
        ] {
            all_die(&crowd, &context, name, &mutations);
        }
    }

    #[test]
    fn stream_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let crowd = crowd(vec![(walker(500).unwrap(), 19)]);
        let mutations = [
            ("at + 3u * chunk.vertices", "at + 3u"),
            ("first + 3u * vertex", "first + FLOATS * vertex"),
            (
                "output[normal + 2u] = skinned.normal.z",
                "output[normal + 2u] = skinned.normal.y",
            ),
        ];
        all_die(&crowd, &context, "gpu-compute:positions", &mutations);
    }

    #[test]
    fn half_precision_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let crowd = crowd(vec![(walker(500).unwrap(), 19)]);
        let mutations = [
            ("vec4f(y.y, unpack", "vec4f(y.x, unpack"),
            ("(second.w).x, t.z", "(second.w).y, t.z"),
            ("(second.w).x, t.z", "(second.w).x, t.y"),
            (
                "2u * (instance * chunk.entries + entry)",
                "2u * (instance * chunk.entries + entry + 1u)",
            ),
        ];
        all_die(&crowd, &context, "gpu-compute:f16", &mutations);
    }

    #[test]
    fn staged_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let mutations = [
            ("chunk.vertices - 1u", "chunk.vertices - 2u"),
            ("if at < elements", "if at + 1u < elements"),
            ("tile[side + at]", "tile[at]"),
            ("instance & 1u", "0u"),
        ];
        all_die(&small_crowd(), &context, "gpu-compute:staged", &mutations);
    }

    /// Each kernel is a shader of its own: a mutation changes those that hold its text.
    #[test]
    fn pose_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let crowd = small_crowd();
        assert_eq!(killed(&crowd, &context, "gpu-full", None), None);
        let local_to_model = [
            (
                "joints[places.first_rest + joint].parent",
                "joints[places.first_rest + joint].parent - u32(joint > 1u)",
            ),
            (
                "joints[places.first_rest + joint].parent",
                "joints[joint].parent",
            ),
            ("(1.0 - yy - zz)", "(1.0 - yy + zz)"),
        ];
        all_die_in(
            "local_to_model",
            &crowd,
            &context,
            "gpu-full",
            &local_to_model,
        );
        let palette = [
            ("row(pose.y, bind)", "row(pose.x, bind)"),
            (
                "min(first + AT_ONCE, posed.instances)",
                "min(first + AT_ONCE, posed.instances - 1u)",
            ),
            ("places.first_bind + entry", "entry"),
        ];
        all_die_in("palette", &crowd, &context, "gpu-full", &palette);
        let sample = [
            (
                "min(first + AT_ONCE, posed.slots)",
                "min(first + AT_ONCE, posed.slots - 1u)",
            ),
            (
                "(1.0 - t) * sine_over_x((1.0 - t) * angle)",
                "t * sine_over_x((1.0 - t) * angle)",
            ),
            ("low = middle + 1u", "low = middle + 2u"),
            (
                "player.first_slot, instance, now.tick)",
                "player.first_slot, instance, now.tick + 1u)",
            ),
            (
                "layer.phase + layer.step * tick",
                "layer.phase - layer.step * tick",
            ),
            ("3.0 - 2.0 * s", "3.0 - 2.5 * s"),
            ("15.0 - 6.0 * s", "15.0 - 7.0 * s"),
            (
                "(1.0 - weight) * beneath.rotation + signed",
                "beneath.rotation + signed",
            ),
            ("if momentum.coming == 1u", "if momentum.coming == 0u"),
            ("* posed.joints + joint];\n}", "* posed.joints];\n}"),
            ("places.first_clip + min(", "min("),
            ("places.first_slot + own", "own"),
            ("places.first_local + 3u", "3u"),
            ("placed[part.chunk]", "placed[0u]"),
        ];
        all_die_in("sample", &crowd, &context, "gpu-full", &sample);
    }

    /// Of a crowd whose joints only turn and move, and of which little is ever sampled.
    #[test]
    fn rigid_pose_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let crowd = crowd(vec![(walker(500).unwrap(), 19)]);
        assert_eq!(killed(&crowd, &context, "gpu-full", None), None);
        let sample = [
            (
                "if !is(track, STILL, ROTATIONS)",
                "if is(track, STILL, ROTATIONS)",
            ),
            (
                "if !is(track, STILL, TRANSLATIONS)",
                "if is(track, STILL, TRANSLATIONS)",
            ),
        ];
        all_die_in("sample", &crowd, &context, "gpu-full", &sample);
        let local_to_model = [
            (
                "q.w * r.w - dot(q.xyz, r.xyz)",
                "q.w * r.w + dot(q.xyz, r.xyz)",
            ),
            ("a.y.xyz + moved", "a.y.xyz - moved"),
        ];
        all_die_in(
            "local_to_model",
            &crowd,
            &context,
            "gpu-full",
            &local_to_model,
        );
        let palette = [(
            "affine(model[2u * joint],",
            "affine(model[2u * joint].wxyz,",
        )];
        all_die_in("palette", &crowd, &context, "gpu-full", &palette);
    }

    #[test]
    fn update_rate_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let crowd = small_crowd()
            .with_update_rates(|placement| if placement[3] < 3.0 { 4 } else { 2 })
            .unwrap();
        let mutations = [
            ("which == place", "which != place"),
            ("ticks[which] == needed", "ticks[which] != needed + 1u"),
            ("f32(elapsed) / f32(", "1.0 - f32(elapsed) / f32("),
            ("modes |= 5u << which", "modes |= 1u << which"),
            (
                "schedule(player, first_slot, 2u * instance + which, needed)",
                "schedule(player, first_slot, 2u * instance + which, tick)",
            ),
            ("2u * instance + which, joint", "2u * instance, joint"),
        ];
        all_die(&crowd, &context, "gpu-full", &mutations);
    }

    #[test]
    fn update_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let crowd = crowd(vec![(walker(500).unwrap(), 39), (walker(600).unwrap(), 20)])
            .with_turnover(0.2, 1)
            .unwrap();
        let mutations = [
            ("change >= changes[0]", "change + 1u >= changes[0]"),
            (
                "records[changes[at] * WORDS",
                "records[(changes[at] ^ 1u) * WORDS",
            ),
            ("records[changes[at] * WORDS + word] =", "let unwritten ="),
            (
                "= changes[at + 1u + word]",
                "= changes[at + 1u + (word ^ 1u)]",
            ),
        ];
        for name in ["gpu-full", "gpu-baked", "gpu-baked:compute"] {
            all_die(&crowd, &context, name, &mutations);
        }
    }

    /// Palettes and vertices of frozen instances are skipped on the device.
    #[test]
    fn backends_that_freeze_others_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let crowd = |share| {
            crowd(vec![(walker(500).unwrap(), 39)])
                .with_frozen(share, 1)
                .unwrap()
        };
        let (half, most) = (crowd(0.5), crowd(0.9));
        for name in ["gpu-compute:instances", "gpu-vertex"] {
            assert_that_freezing_more_is_refused(name, &context, &half, &most);
        }
    }

    #[test]
    fn culling_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        // Enough for several workgroups, each with some in view and some out of it.
        let crowd = crowd(vec![(tube(3, 3, 2), 300), (tube(2, 3, 2), 5)]);
        let mutations = [
            ("+ plane.w < -sphere.w", "+ plane.w < sphere.w"),
            ("+ plane.w < -sphere.w", "+ plane.w > -sphere.w"),
            ("step <<= 1u", "step <<= 2u"),
            (
                "totals[instance / WORKGROUP] = sum",
                "totals[instance / WORKGROUP] = sum + 1u",
            ),
            ("posed.instances = all.x", "posed.instances = all.x - 1u"),
            (
                "instance >= cull.instances",
                "instance + 1u >= cull.instances",
            ),
            ("player.first_slot = at.y", "player.first_slot = at.y + 1u"),
            ("players[at.x] = player", "players[at.x] = everyone[at.x]"),
            ("visible[at.x] = instance", "visible[at.x] = at.x"),
        ];
        all_die(&crowd, &context, "gpu-full:culled", &mutations);
    }

    #[test]
    fn vertex_mutants_die() {
        let Some(context) = context_with_adapter() else {
            return;
        };
        let own = [(
            "morphed(load_vertex(vertex), ",
            "morphed(load_vertex(min(vertex, chunk.vertices - 2u)), ",
        )];
        let mutations = [&SKINNING[..], &own].concat();
        all_die(&small_crowd(), &context, "gpu-vertex", &mutations);
    }
}
