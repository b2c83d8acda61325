use super::rig::BodySide;
use super::*;
use glam::dvec3;
use skinbench_kernels::model::{Channel, INFLUENCE_CLASSES};
use std::sync::OnceLock;

pub(super) const FEW: u32 = 1_000;
const COUNTS: [u32; 4] = [FEW, 5_000, 10_000, 50_000];

/// Models that are built once for all tests.
pub(super) fn model(vertices: u32) -> &'static Model {
    static MODELS: [OnceLock<Model>; COUNTS.len()] = [const { OnceLock::new() }; COUNTS.len()];
    let index = COUNTS.iter().position(|&count| count == vertices).unwrap();
    MODELS[index].get_or_init(|| walker(vertices).unwrap())
}

fn position(model: &Model, vertex: usize) -> DVec3 {
    DVec3::from(model.mesh().positions()[vertex].map(f64::from))
}

fn triangles(model: &Model) -> impl Iterator<Item = [usize; 3]> + '_ {
    model
        .mesh()
        .indices()
        .chunks_exact(3)
        .map(|t| [t[0] as usize, t[1] as usize, t[2] as usize])
}

#[test]
fn vertex_counts_are_close_to_the_request() {
    for count in COUNTS {
        let got = model(count).mesh().vertex_count() as f64;
        assert!(
            (got / f64::from(count) - 1.0).abs() < 0.03,
            "{got} vertices for {count}"
        );
    }
}

#[test]
fn vertex_counts_out_of_range_are_refused() {
    for count in [0, 499, 200_001, u32::MAX] {
        assert!(
            walker(count)
                .unwrap_err()
                .problem
                .contains("expected 500 to 200000")
        );
    }
    assert!(walker(500).is_ok());
}

#[test]
fn the_skin_is_one_closed_surface_facing_out() {
    for count in [FEW, 5_000, 10_000] {
        let model = model(count);
        let mut edges: Vec<(usize, usize)> = triangles(model)
            .flat_map(|[a, b, c]| [(a, b), (b, c), (c, a)])
            .collect();
        edges.sort_unstable();
        for pair in edges.windows(2) {
            assert_ne!(
                pair[0], pair[1],
                "two triangles go the same way along an edge"
            );
        }
        for &(a, b) in &edges {
            assert!(
                edges.binary_search(&(b, a)).is_ok(),
                "an edge has one triangle only"
            );
        }

        let mut reached = vec![false; model.mesh().vertex_count()];
        let mut stack = vec![0];
        while let Some(vertex) = stack.pop() {
            if !std::mem::replace(&mut reached[vertex], true) {
                let first = edges.partition_point(|&(a, _)| a < vertex);
                stack.extend(
                    edges[first..]
                        .iter()
                        .take_while(|&&(a, _)| a == vertex)
                        .map(|&(_, b)| b),
                );
            }
        }
        assert!(reached.iter().all(|&r| r), "an island");

        let (vertices, faces) = (model.mesh().vertex_count(), edges.len() / 3);
        assert_eq!(
            vertices + faces,
            edges.len() / 2 + 2,
            "a handle: fingers have grown together"
        );

        let (mut volume, mut area, mut agreeing) = (0.0, 0.0, 0.0);
        for triangle in triangles(model) {
            let [a, b, c] = triangle.map(|vertex| position(model, vertex));
            volume += a.dot(b.cross(c)) / 6.0;
            let doubled = (b - a).cross(c - a);
            let normal: DVec3 = triangle
                .iter()
                .map(|&v| DVec3::from(model.mesh().normals()[v].map(f64::from)))
                .sum();
            area += doubled.length();
            agreeing += if doubled.dot(normal) > 0.0 {
                doubled.length()
            } else {
                0.0
            };
        }
        // A person of 1.75 m weighs about 70 kg at about a kilogram per litre.
        assert!((0.055..0.09).contains(&volume), "{volume} m3");
        assert!(
            agreeing / area > 0.995,
            "{agreeing} of {area} m2 agree with their normals"
        );
    }
}

#[test]
fn it_is_as_tall_as_a_person_and_stands_on_the_ground() {
    for count in COUNTS {
        let bounds = model(count).bounds();
        assert!(bounds.min.y.abs() < 0.005, "{bounds:?}");
        assert!((bounds.max.y - 1.75).abs() < 0.01, "{bounds:?}");
        assert!(
            (bounds.max.x + bounds.min.x).abs() < 1e-6,
            "{bounds:?} is lopsided"
        );
    }
}

#[test]
fn normals_and_tangents_are_orthonormal() {
    let mesh = model(FEW).mesh();
    let tangents = mesh.tangents().unwrap();
    for (normal, tangent) in mesh.normals().iter().zip(tangents) {
        let n = DVec3::from(normal.map(f64::from));
        let t = DVec3::new(tangent[0].into(), tangent[1].into(), tangent[2].into());
        assert!((n.length() - 1.0).abs() < 1e-6 && (t.length() - 1.0).abs() < 1e-6);
        assert!(n.dot(t).abs() < 1e-6 && tangent[3].abs() == 1.0);
    }
    assert!(
        mesh.uvs()
            .unwrap()
            .iter()
            .flatten()
            .all(|c| (0.0..=1.0).contains(c))
    );
}

#[test]
fn weights_sum_to_one_over_one_to_four_joints() {
    for count in [FEW, 10_000] {
        let model = model(count);
        assert_eq!(model.notes().lines().count(), 0);
        let mesh = model.mesh();
        let classes: Vec<usize> = mesh
            .runs()
            .iter()
            .map(|run| run.influences as usize)
            .collect();
        assert_eq!(classes, INFLUENCE_CLASSES[..4]);
        for vertex in 0..mesh.vertex_count() {
            let sum: f32 = mesh.influences_of(vertex).map(|(_, weight)| weight).sum();
            assert!((sum - 1.0).abs() < 1e-6);
        }
        let few: u32 = mesh
            .runs()
            .iter()
            .filter(|run| run.influences == 1)
            .map(|run| run.vertex_count)
            .sum();
        assert!(
            f64::from(few) < 0.5 * mesh.vertex_count() as f64,
            "{few} vertices are rigid"
        );
    }
}

#[test]
fn weights_do_not_bleed() {
    let model = model(10_000);
    let mesh = model.mesh();
    let at = &Rig::new().landmarks;
    for vertex in 0..mesh.vertex_count() {
        let p = position(model, vertex);
        let left = dvec3(p.x.abs(), p.y, p.z);
        let (own, other) = if p.x > 0.0 {
            (BodySide::Left, BodySide::Right)
        } else {
            (BodySide::Right, BodySide::Left)
        };
        for joint in mesh
            .influences_of(vertex)
            .filter(|(_, weight)| *weight > 0.0)
            .map(|(joint, _)| usize::from(joint))
        {
            let is_leg = |side: BodySide| (side.leg(0)..=side.leg(rig::BALL)).contains(&joint);
            let is_arm = |side: BodySide| {
                (side.arm(rig::UPPERARM)..=side.arm(rig::FINGERS + 14)).contains(&joint)
            };
            assert!(!is_arm(other), "{p} hangs on the other arm");
            assert!(
                !is_leg(other) || left.x < 0.03,
                "{p} hangs on the other leg"
            );
            assert!(
                !is_arm(own) || left.x > 0.11,
                "{p} of the chest hangs on the arm"
            );
            assert!(
                !is_leg(own) || left.x < 0.3,
                "{p} of the hand hangs on the leg"
            );
            let finger = (0..15).find(|&finger| own.arm(rig::FINGERS + finger) == joint);
            if let Some(finger) = finger.filter(|finger| finger % 3 > 0) {
                let from_segment = |ends: &[DVec3]| {
                    let along = ends[1] - ends[0];
                    let t = ((left - ends[0]).dot(along) / along.length_squared()).clamp(0.0, 1.0);
                    left.distance(ends[0] + along * t)
                };
                let points = at.fingers[finger / 3].points;
                let nearest = points
                    .windows(2)
                    .map(from_segment)
                    .fold(f64::INFINITY, f64::min);
                assert!(nearest < 0.022, "{p} hangs on a finger {nearest} m off");
            }
        }
    }
}

#[test]
fn weights_are_smooth() {
    let model = model(10_000);
    let dense = |vertex: usize| {
        let mut weights = [0.0; rig::JOINTS];
        model
            .mesh()
            .influences_of(vertex)
            .for_each(|(joint, weight)| weights[usize::from(joint)] += f64::from(weight));
        weights
    };
    for [a, b, _] in triangles(model) {
        // Fingers are as thin as a triangle is long.
        if position(model, a).x.abs() > 0.45 {
            continue;
        }
        let change: f64 = dense(a)
            .iter()
            .zip(dense(b))
            .map(|(a, b)| (a - b).abs())
            .sum();
        let length = position(model, a).distance(position(model, b));
        assert!(
            change < 0.1 + 65.0 * length,
            "{change} over {length} m at {}",
            position(model, a)
        );
    }
}

#[test]
fn every_triangle_is_covered_once() {
    let mesh = model(FEW).mesh();
    let primitive = &mesh.primitives()[0];
    let mut end = 0;
    for subset in &primitive.subsets {
        assert_eq!(subset.indices.start, end);
        end = subset.indices.end;
    }
    assert_eq!(end as usize, mesh.indices().len());
    assert!(primitive.subsets.len() >= 5);
}

/// FNV-1a.
fn hash(hash: &mut u64, bytes: &[u8]) {
    for &byte in bytes {
        *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

#[test]
fn the_bytes_are_the_same_everywhere() {
    let model = model(FEW);
    let mesh = model.mesh();
    let mut sum = 0xcbf2_9ce4_8422_2325;
    let mut add = |bytes: &[u8]| hash(&mut sum, bytes);
    add(bytemuck::cast_slice(mesh.positions()));
    add(bytemuck::cast_slice(mesh.normals()));
    add(bytemuck::cast_slice(mesh.tangents().unwrap()));
    add(bytemuck::cast_slice(mesh.uvs().unwrap()));
    add(bytemuck::cast_slice(mesh.joints()));
    add(bytemuck::cast_slice(mesh.weights()));
    add(bytemuck::cast_slice(mesh.indices()));
    add(bytemuck::cast_slice(model.inverse_binds()));
    for rest in model.skeleton().rest() {
        add(bytemuck::cast_slice(&rest.rotation.to_array()));
        add(bytemuck::cast_slice(&rest.translation.to_array()));
    }
    for clip in model.clips() {
        let raw = clip.keys().raw().unwrap();
        for track in raw.tracks() {
            add(&[u8::from(track.channel == Channel::Rotation)]);
            add(&track.joint.to_le_bytes());
        }
        add(bytemuck::cast_slice(raw.timelines().all()));
        add(bytemuck::cast_slice(raw.values()));
    }
    assert_eq!(sum, 0x1632_d053_4fc0_79fc, "{sum:#018x}");
}
