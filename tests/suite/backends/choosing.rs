//! Levels of detail that the device chooses, frame by frame.

use crate::backends::common::{
    context, context_with_adapter, prepare_for, verified, verify_prepared,
};
use crate::backends::levels::built;
use glam::camera::rh::{proj::directx, view::look_at_mat4};
use glam::{Vec3, Vec4};
use skinbench::backend::{Backend, Context};
use skinbench::bake;
use skinbench::crowd::{Crowd, Reach};
use skinbench::frame::{FrameInput, Job, Purpose, Retention, StageTimer};
use skinbench::frustum::{Eye, Frustum};
use skinbench::gpu::Edit;
use skinbench::harness::lod_error;
use skinbench::harness::parity::Coverage;
use skinbench::registry;
use skinbench::scene::{BuiltScene, Clips, LEVELS, Settings};
use std::rc::Rc;

pub const CHOOSING: [&str; 2] = ["gpu-full:levels", "gpu-full:vertex-levels"];

/// A street that recedes, with layers, masks and an inertial fade: people at all levels.
pub fn street(kinds: &str) -> BuiltScene {
    let lod = Some(kinds.parse().unwrap());
    built(
        super::levels::STREET,
        Settings {
            lod,
            ..Settings::default()
        },
    )
}

/// The views of a scene's camera, of one above the far end of its street that sees half of it, and of one far away.
fn views(scene: &BuiltScene) -> [(Frustum, Eye); 3] {
    let height = scene.resolution[1];
    let framed = scene.camera.framed(&scene.crowd, scene.resolution);
    let from = |place: Vec3, target: Vec3| {
        let reach = 4.0 * place.distance(target) + 4.0 * framed.radius;
        let matrix =
            directx::perspective(0.9, 1.6, 0.1, reach) * look_at_mat4(place, target, Vec3::Y);
        (
            Frustum::new(matrix),
            Eye::new(place, 0.9f64.to_degrees(), height),
        )
    };
    let back = 2.0 * framed.target - framed.eye;
    let near = Vec3::new(back.x, 3.0, back.z);
    let own = (Frustum::new(scene.view_projection()), scene.eye());
    [
        own,
        from(near, framed.target + Vec3::X),
        from(framed.target + 300.0 * Vec3::ONE, framed.target),
    ]
}

/// The instances of a crowd of families that a view shows at their levels, by the formulas of the host.
fn expected(crowd: &Crowd, frustum: &Frustum, eye: &Eye) -> Vec<u32> {
    let groups = crowd.groups();
    let reaches: Vec<Reach> = groups.iter().map(|group| crowd.reach(group)).collect();
    let reach = |family: &[Reach]| {
        let radius = family
            .iter()
            .map(|reach| reach.centre.distance(family[0].centre) + reach.radius);
        Reach {
            centre: family[0].centre,
            radius: radius.fold(0.0, f64::max),
        }
    };
    let families: Vec<Reach> = reaches.chunks(LEVELS).map(reach).collect();
    let shown = |instance: u32| {
        let group = crowd.group_of(instance);
        let placement = &crowd.placements()[instance as usize];
        let pixels = eye.pixels(groups[group - group % LEVELS].model.bounds(), placement);
        let asked = crowd
            .level_sizes()
            .iter()
            .filter(|least| pixels < f64::from(**least))
            .count();
        let [x, y, z, radius] = families[group / LEVELS].placed(placement);
        let inside = |plane: &Vec4| plane.truncate().dot(Vec3::new(x, y, z)) + plane.w >= -radius;
        group % LEVELS == asked && frustum.planes().iter().all(inside)
    };
    (0..crowd.instance_count() as u32)
        .filter(|&instance| shown(instance))
        .collect()
}

/// Shows a crowd of families from several views in turn, each verified at two ticks; returns what each view showed.
fn shown(
    backend: &dyn Backend,
    context: &Context,
    crowd: &Crowd,
    views: &[(Frustum, Eye)],
) -> Result<Vec<Vec<u32>>, String> {
    let (frustum, eye) = views[0];
    let job = Job {
        frustum,
        eye,
        ..Job::default()
    };
    let (mut prepared, mut output) = prepare_for(backend, context, crowd, &job);
    let mut shown = Vec::new();
    for &(frustum, eye) in views {
        prepared.move_camera(&frustum, &eye);
        let coverage = Coverage {
            frustum,
            eye,
            ..Coverage::all(crowd, &[3, 1_000_003])
        };
        let parity = verify_prepared(&mut *prepared, context, crowd, &mut output, &coverage);
        if let Some(failure) = parity.failure {
            return Err(failure);
        }
        let visible = prepared.visible().unwrap().unwrap();
        assert_eq!(parity.visible, Some(visible.len() as u64));
        shown.push(visible);
    }
    Ok(shown)
}

/// Asserts that both backends show what the host's formulas ask for, from every view of a scene; returns that.
fn assert_chosen(scene: &BuiltScene, limit: Option<u64>) -> Vec<Vec<u32>> {
    let context = context();
    let crowd = scene.choices().unwrap();
    let views = views(scene);
    let asked: Vec<_> = views
        .iter()
        .map(|(frustum, eye)| expected(crowd, frustum, eye))
        .collect();
    let Some(gpu) = &context.gpu else {
        return asked;
    };
    if let Some(limit) = limit {
        gpu.adapter.binding_limit.set(limit);
        assert!(
            gpu.chunks(crowd).unwrap().len() > crowd.groups().len(),
            "one chunk a group"
        );
    }
    for name in CHOOSING {
        let backend = registry::find(name).unwrap().create(&context).unwrap();
        assert_eq!(
            shown(&*backend, &context, crowd, &views),
            Ok(asked.clone()),
            "{name}"
        );
    }
    asked
}

/// How many of some instances each level shows.
fn at_levels(crowd: &Crowd, shown: &[u32]) -> [usize; LEVELS] {
    let mut counts = [0; LEVELS];
    shown
        .iter()
        .for_each(|&instance| counts[crowd.group_of(instance) % LEVELS] += 1);
    counts
}

#[test]
fn every_camera_has_levels_of_its_own() {
    let scene = street("mesh,joints,influences");
    let crowd = scene.choices().unwrap();
    assert_eq!(
        crowd.instance_count(),
        LEVELS * scene.crowd.instance_count()
    );
    let shown = assert_chosen(&scene, None);
    // The scene's own camera shows what the host chose for it.
    let mut chosen: Vec<u32> = scene.levels.as_ref().unwrap().chosen().collect();
    chosen.sort_unstable();
    assert!(
        shown[0]
            .iter()
            .all(|instance| chosen.binary_search(instance).is_ok())
    );
    let counts = shown
        .iter()
        .map(|shown| at_levels(crowd, shown))
        .collect::<Vec<_>>();
    assert!(counts[0].iter().all(|count| *count > 0), "{counts:?}");
    assert!(
        counts[1].iter().sum::<usize>() < 90,
        "all in view: {counts:?}"
    );
    assert!(
        counts[1].iter().filter(|count| **count > 0).count() > 1,
        "{counts:?}"
    );
    assert_eq!(counts[2], [0, 0, 0, 96]);
}

/// The last level shows baked vertices, chosen by the host or by the device: others stay exact, and no instance is posed
/// there.
#[test]
fn the_last_level_is_baked_where_it_may_be() {
    let context = context();
    let masked = super::levels::STREET;
    let text = masked.split("[[group.layer]]").next().unwrap();
    let lod = |kinds: &str| Settings {
        lod: Some(kinds.parse().unwrap()),
        ..Settings::default()
    };
    let scene = built(text, lod("mesh,vertices"));
    let baked = |crowd: &Crowd| crowd.groups().iter().filter(|group| group.baked).count();
    assert_eq!(
        (baked(&scene.crowd), baked(scene.choices().unwrap())),
        (3, 3),
        "each model at its last level"
    );
    let unbaked = built(masked, lod("mesh,vertices"));
    assert_eq!(baked(&unbaked.crowd), 0, "masks cannot be baked");
    assert!(
        unbaked
            .remarks
            .iter()
            .any(|remark| remark.contains(" poses at level 3: masks")),
        "{:?}",
        unbaked.remarks
    );
    let more = lod_error::of_scene(&scene).unwrap();
    assert!(more.relative >= bake::POSITION, "{more:?}");
    let seen = assert_chosen(&scene, None);
    let counts = at_levels(scene.choices().unwrap(), &seen[0]);
    assert!(counts[LEVELS - 1] > 0 && counts[0] > 0, "{counts:?}");
    let Ok(backend) = registry::find("gpu-full:vertex").unwrap().create(&context) else {
        return;
    };
    // Players of the last level come after those of the others.
    let edit: Edit = Rc::new(|wgsl| {
        wgsl.replace(
            "players[batch.first_instance + instance]",
            "players[instance]",
        )
    });
    let edited = &context.gpu.as_ref().unwrap().edit;
    edited.replace(Some(edit));
    let broken = registry::find(CHOOSING[1])
        .unwrap()
        .create(&context)
        .unwrap();
    let failure = shown(
        &*broken,
        &context,
        scene.choices().unwrap(),
        &views(&scene)[..1],
    )
    .unwrap_err();
    assert!(failure.starts_with("position"), "{failure}");
    edited.replace(None);
    let posed = built(text, lod("mesh"));
    let baked = verified(&*backend, &context, &scene.crowd, &[0, 33]);
    let exact = verified(&*backend, &context, &posed.crowd, &[0, 33]);
    assert_eq!([&baked.failure, &exact.failure], [&None; 2]);
    // The error that baked levels state is not allowed at the others.
    let edit: Edit = Rc::new(|wgsl| {
        wgsl.replace(
            "vec4f(0.0, 0.0, 0.0, m.w)",
            "vec4f(0.0, 0.0, 0.0, m.w + 1e-4)",
        )
    });
    edited.replace(Some(edit));
    let edited_parity = verified(&*backend, &context, &scene.crowd, &[0, 33]);
    let failure = edited_parity.failure.unwrap();
    edited.replace(None);
    assert!(
        failure.starts_with("position is off by 8") && failure.contains("e-5 (limit 1e-5)"),
        "{failure}"
    );
    assert!(
        exact.approximation.is_none() && exact.max_rel < Some(1e-5) && baked.max_rel > Some(1e-5),
        "{:?}",
        baked.max_rel
    );
    let scratch = |crowd: &Crowd| {
        backend
            .footprint(crowd, &Job::default())
            .unwrap()
            .device
            .get(Purpose::Scratch)
    };
    assert!(
        scratch(&scene.crowd) < scratch(&posed.crowd),
        "no room for poses"
    );
}

#[test]
fn chunks_of_families_are_chosen_one_by_one() {
    // Room for some ten people.
    assert_chosen(&street("mesh,joints"), Some(150 << 10));
}

#[test]
fn compact_clips_have_levels_to_choose() {
    let lod = Some("mesh,joints,influences".parse().unwrap());
    let compact = Settings {
        lod,
        clips: Some(Clips::Compact),
        ..Settings::default()
    };
    let crowd = built(super::levels::STREET, compact);
    assert!(
        crowd
            .choices()
            .unwrap()
            .groups()
            .iter()
            .all(|g| g.model.clips()[0].keys().compact().is_some())
    );
    assert_chosen(&crowd, None);
}

#[test]
fn who_cannot_choose_says_so() {
    let context = context();
    let scene = street("mesh");
    let choices = scene.choices().unwrap();
    assert_eq!(
        street("none").choices().unwrap_err(),
        "chooses levels of detail on the device; needs --lod"
    );
    for name in CHOOSING {
        let Ok(backend) = registry::find(name).unwrap().create(&context) else {
            continue;
        };
        let refused =
            |crowd: &Crowd, job: &Job| backend.footprint(crowd, job).unwrap_err().to_string();
        let error = refused(&scene.crowd, &Job::default());
        assert_eq!(
            error, "chooses levels of detail on the device; needs `run` or `verify` with --lod",
            "{name}"
        );
        assert!(
            refused(
                choices,
                &Job {
                    keep: Retention::TwoFrames,
                    ..Job::default()
                }
            )
            .contains("without"),
            "{name}"
        );
    }
    let Ok(backend) = registry::find(CHOOSING[0]).unwrap().create(&context) else {
        return;
    };
    let ring = Job {
        keep: Retention::Ring,
        ..Job::default()
    };
    assert!(
        backend
            .footprint(choices, &ring)
            .unwrap_err()
            .to_string()
            .contains("needs --output f32 or packed")
    );
}

/// The levels of a model take no more palettes and vertices than its instances all at level 0; only local poses have
/// room for each level.
#[test]
fn levels_share_palettes_and_vertices() {
    let context = context();
    let scene = street("mesh,joints,influences");
    let full = &scene.levels.as_ref().unwrap().full;
    let Ok(backend) = registry::find("gpu-full:levels").unwrap().create(&context) else {
        return;
    };
    let promised = backend
        .footprint(scene.choices().unwrap(), &Job::default())
        .unwrap()
        .device;
    assert_eq!(promised.get(Purpose::Palettes), full.palette_entries() * 48);
    let vertices: u64 = full
        .groups()
        .iter()
        .map(|g| (g.len() * g.instance_words() * 4).next_multiple_of(16) as u64)
        .sum();
    assert_eq!(promised.get(Purpose::Output), vertices);
}

/// A frame sends its tick and its camera, and culls each family once.
#[test]
fn a_frame_sends_tick_and_camera() {
    let context = context();
    let Some(gpu) = &context.gpu else { return };
    let scene = street("mesh");
    let crowd = scene.choices().unwrap();
    let backend = registry::find("gpu-full:levels")
        .unwrap()
        .create(&context)
        .unwrap();
    let (mut prepared, mut output) = prepare_for(&*backend, &context, crowd, &Job::default());
    let mut frame = FrameInput {
        crowd,
        tick: 5,
        output: &mut output,
    };
    gpu.take_work();
    prepared
        .submit(&mut frame, &mut StageTimer::default())
        .unwrap()
        .finish()
        .unwrap();
    let work = gpu.take_work();
    // Three kernels of `cull` for each of three families; schedule, sample, blend, local to model, palette and skin for
    // each level.
    assert_eq!((work.uploaded, work.dispatches), (16 + 112, 3 * 3 + 6 * 12));
}

#[test]
fn choosing_mutants_die() {
    use std::cell::Cell;
    let Some(context) = context_with_adapter() else {
        return;
    };
    let scene = street("mesh,joints,influences");
    let views = views(&scene);
    let killed = |mutation: Option<(&'static str, &'static str)>| {
        let held = Rc::new(Cell::new(mutation.is_none()));
        let seen = Rc::clone(&held);
        let edit: Edit = Rc::new(move |wgsl| match mutation {
            Some((old, new)) => {
                seen.set(seen.get() || wgsl.contains(old));
                wgsl.replace(old, new)
            }
            None => wgsl,
        });
        context.gpu.as_ref().unwrap().edit.replace(Some(edit));
        let backend = registry::find(CHOOSING[0])
            .unwrap()
            .create(&context)
            .unwrap();
        let failure = shown(&*backend, &context, scene.choices().unwrap(), &views[..1]).err();
        assert!(held.get(), "no shader holds {mutation:?}");
        failure
    };
    assert_eq!(killed(None), None);
    for (old, new, what) in [
        // A threshold that is off, the neighbour's level, and a distance that ignores where the instance stands.
        (
            "wide < cull.sizes[finer] * far",
            "wide < 1.1 * cull.sizes[finer] * far",
            "which ask for level",
        ),
        (
            "wide < cull.sizes[finer] * far",
            "wide <= cull.sizes[min(finer + 1u, 2u)] * far",
            "which ask for level",
        ),
        (
            "let box = boxes[instance]",
            "let box = boxes[instance ^ 1u]",
            "which ask for level",
        ),
        (
            "distance(camera.eye, box.xyz)",
            "length(camera.eye)",
            "which ask for level",
        ),
        ("return level;", "return 0u;", "which ask for level"),
        (
            "return level;",
            "return select(level, NONE, level == 2u);",
            "is left out",
        ),
        // Lists that are shifted, or begin elsewhere.
        (
            "finer_instances += all.x;",
            "finer_instances += all.x + 1u;",
            "",
        ),
        (
            "before + vec2u(finer_instances, 0u)",
            "before + vec2u(finer_instances, 1u)",
            "",
        ),
        (
            "totals[level * cull.groups + instance / WORKGROUP] + place",
            "totals[instance / WORKGROUP] + place",
            "",
        ),
        (
            "batch.first_instance = finer_instances",
            "batch.first_instance = 0u",
            "sample",
        ),
        (
            "visible[at.x] = instance",
            "visible[at.x] = instance ^ 1u",
            "",
        ),
        // Levels that overwrite each other.
        (
            "finer_joints += all.x",
            "finer_joints += 0u * all.x",
            "local_to_model",
        ),
        (
            "finer_entries += all.x",
            "finer_entries += 0u * all.x",
            "palette",
        ),
        (
            "finer_vertices += all.x",
            "finer_vertices += 0u * all.x",
            "position",
        ),
        ("at = (chunk.first_vertex + ", "at = (", "position"),
        ("(chunk.first_entry + ", "(", "position"),
    ] {
        let failure = killed(Some((old, new))).unwrap_or_else(|| panic!("{new} survived"));
        assert!(failure.contains(what), "{new}: {failure}");
    }
}
