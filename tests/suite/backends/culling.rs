//! Culling: the instances that are left out because they are out of view, and the vertices of the others.

use crate::backends::common::{
    backends, close_up, context, crowd, prepare_for, refuses, tube, verify_prepared,
};
use glam::camera::rh::{proj::directx, view::look_at_mat4};
use glam::{DVec3, Vec3};
use skinbench::crowd::Crowd;
use skinbench::frame::{FrameInput, Job, StageTimer};
use skinbench::frustum::Frustum;
use skinbench::harness::parity::Coverage;
use std::sync::Arc;

/// Instances whose spheres reach into a frustum.
fn reaching(crowd: &Crowd, frustum: &Frustum) -> Vec<u32> {
    let reaches = |instance: u32| {
        let reach = crowd.reach(&crowd.groups()[crowd.group_of(instance)]);
        let [x, y, z, radius] = reach.placed(&crowd.placements()[instance as usize]);
        let centre = glam::Vec3::new(x, y, z);
        frustum
            .planes()
            .iter()
            .all(|plane| plane.truncate().dot(centre) + plane.w >= -radius)
    };
    (0..crowd.instance_count() as u32)
        .filter(|&instance| reaches(instance))
        .collect()
}

/// Returns the instances that each culling backend of the registry shows, verified at two ticks.
fn shown(crowd: &Crowd, frustum: Frustum, limit: Option<u64>) -> Vec<Vec<u32>> {
    let mut context = context();
    if let (Some(gpu), Some(limit)) = (&mut context.gpu, limit) {
        Arc::get_mut(gpu).unwrap().adapter.binding_limit = limit;
        assert!(
            gpu.chunks(crowd).unwrap().len() > crowd.groups().len(),
            "one chunk a group"
        );
    }
    let job = Job {
        frustum,
        ..Job::default()
    };
    let mut shown = Vec::new();
    for (entry, backend) in backends(&context) {
        // Baked vertices lie in one binding.
        if entry.name == "gpu-vat" || refuses(entry, &*backend, crowd, &job) {
            continue;
        }
        let name = entry.name;
        let (mut backend, mut output) = prepare_for(&*backend, &context, crowd, &job);
        let ticket = backend.submit(
            &mut FrameInput {
                crowd,
                tick: 9,
                output: &mut output,
            },
            &mut StageTimer::default(),
        );
        ticket.unwrap().finish().unwrap();
        let Some(visible) = backend.visible().unwrap() else {
            continue;
        };
        let coverage = Coverage {
            frustum,
            ..Coverage::all(crowd, &[3, 1_000_003])
        };
        let parity = verify_prepared(&mut *backend, &context, crowd, &mut output, &coverage);
        assert_eq!(parity.failure, None, "{name}");
        assert_eq!(parity.visible, Some(visible.len() as u64), "{name}");
        shown.push(visible);
    }
    #[cfg(feature = "gpu")]
    if context.gpu.is_some() {
        assert_eq!(
            shown.len(),
            2,
            "in a compute kernel and in the vertex shader"
        );
    }
    shown
}

#[test]
fn those_in_view_are_those_whose_spheres_reach_into_it() {
    // The first group takes more workgroups than one workgroup has threads.
    let crowd = crowd(vec![
        (tube(2, 2, 1), 4_500),
        (tube(3, 3, 2), 70),
        (tube(2, 3, 2), 1),
    ]);
    let expected = reaching(&crowd, &close_up());
    assert!(
        expected.len() > 20 && expected.len() < 1_000,
        "{}",
        expected.len()
    );
    assert!(
        shown(&crowd, close_up(), None)
            .iter()
            .all(|visible| *visible == expected)
    );
}

#[test]
fn chunks_are_culled_one_by_one() {
    let crowd = crowd(vec![(tube(2, 4, 2), 100), (tube(3, 5, 2), 70)]);
    let expected = reaching(&crowd, &close_up());
    // Room for some thirty instances.
    assert!(
        shown(&crowd, close_up(), Some(24 << 10))
            .iter()
            .all(|visible| *visible == expected)
    );
}

#[test]
fn all_or_nobody_may_be_in_view() {
    let crowd = crowd(vec![(tube(3, 5, 2), 70), (tube(2, 3, 1), 3)]);
    let all: Vec<u32> = (0..73).collect();
    assert!(
        shown(&crowd, Frustum::default(), None)
            .iter()
            .all(|visible| *visible == all)
    );
    let away = look_at_mat4(
        Vec3::new(0.0, 0.0, -5.0),
        Vec3::new(0.0, 0.0, -9.0),
        Vec3::Y,
    );
    let away = Frustum::new(directx::perspective(0.6, 1.0, 0.5, 14.0) * away);
    assert!(!away.contains(DVec3::ZERO));
    assert!(shown(&crowd, away, None).iter().all(Vec::is_empty));
}
