//! Distance of characters with less detail from the full ones, in the pose of the same moment.
//!
//! Each vertex of the full character has a place on the level's surface: the closest point at rest, on a triangle that
//! faces the same way. The error is the distance of the posed vertex from that place in the posed level. Unlike the
//! distance of two surfaces, it counts whatever a vertex does, sliding along the surface included.

use crate::bake;
use crate::crowd::{Crowd, CrowdError, Layer, REST};
use crate::model::{IDENTITY_ROWS, Model};
use crate::reference::{Blending, ReferencePose, shown};
use crate::scene::{BuiltScene, Levels};
use crate::vertex::Normals;
use glam::{DMat3, DVec3};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Ticks at which the error is measured: several within a second, and one after an hour.
const TICKS: [u32; 4] = [1, 20, 43, 216_007];
/// Instances of all groups that are measured, spread over them.
const INSTANCES: usize = 512;
/// Fewest and most instances of a group.
const OF_GROUP: [usize; 2] = [2, 16];
/// Vertices of a model that are measured, evenly spread.
const VERTICES: usize = 2_000;

/// Largest error of a crowd with levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LodError {
    /// Over the diagonal of what the full model shows.
    pub relative: f64,
    /// In pixels of the scene's picture, each instance at its distance from the camera.
    pub pixels: f64,
}

/// The error of a scene's levels, measured at the first call; `None` for a scene without levels.
pub fn of_scene(scene: &BuiltScene) -> Option<LodError> {
    let levels = scene.levels.as_ref()?;
    let [relative, pixels] = *levels.error.get_or_init(|| measured(&scene.crowd, levels));
    Some(LodError { relative, pixels })
}

fn measured(crowd: &Crowd, levels: &Levels) -> [f64; 2] {
    let count = (INSTANCES / crowd.groups().len()).clamp(OF_GROUP[0], OF_GROUP[1]);
    let of_group = |group: usize| {
        let group = &crowd.groups()[group];
        let first = levels.original[group.instances.start as usize];
        let full = &levels.full.groups()[levels.full.group_of(first)].model;
        if Arc::ptr_eq(full, &group.model) {
            return Ok([0.0; 2]);
        }
        let places = places(full, &group.model)?;
        // What backends that bake this level state.
        let baked = if group.baked { bake::POSITION } else { 0.0 };
        let diagonal = shown(
            &levels.full,
            &levels.full.groups()[levels.full.group_of(first)],
        )
        .diagonal;
        // The largest on the screen, where an error shows most, and some others.
        let mut instances: Vec<u32> = group.instances.clone().collect();
        instances.sort_by(|&a, &b| levels.pixels[b as usize].total_cmp(&levels.pixels[a as usize]));
        let step = instances.len().div_ceil(count);
        let mut worst = [0.0f64; 2];
        for &instance in instances.iter().step_by(step) {
            for tick in TICKS {
                let shown = ReferencePose::unsaved(crowd, instance, tick);
                let plain =
                    ReferencePose::unsaved(&levels.full, levels.original[instance as usize], tick);
                let at = |pose: &ReferencePose, model: &Model, vertex: u32| {
                    pose.skin(model, vertex as usize, Normals::Raw, Blending::Linear)
                        .position
                };
                let off = |place: &Place| {
                    let [a, b, c] = place.corners.map(|vertex| at(&shown, &group.model, vertex));
                    let there = DMat3::from_cols(a, b, c) * place.parts;
                    there.distance(at(&plain, full, place.vertex))
                };
                let relative = baked + places.iter().map(off).fold(0.0, f64::max) / diagonal;
                worst = [
                    worst[0].max(relative),
                    worst[1].max(relative * levels.pixels[instance as usize]),
                ];
            }
        }
        Ok(worst)
    };
    let worst: Result<Vec<[f64; 2]>, CrowdError> = (0..crowd.groups().len())
        .into_par_iter()
        .map(of_group)
        .collect();
    // A rest pose cannot be refused; if it were, the error would be unknown.
    worst.map_or([f64::NAN; 2], |worst| {
        worst
            .into_iter()
            .fold([0.0; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])])
    })
}

/// The place of a full vertex on a level's surface.
struct Place {
    vertex: u32,
    corners: [u32; 3],
    /// Barycentric coordinates.
    parts: DVec3,
}

/// The places of a model's vertices on a level of it.
fn places(full: &Arc<Model>, level: &Arc<Model>) -> Result<Vec<Place>, CrowdError> {
    let [at_full, at_level] = [resting(full)?, resting(level)?];
    let bits = |values: &[[f32; 3]], vertex: usize| values[vertex].map(f32::to_bits);
    let key = |model: &Model, v: usize| {
        (
            bits(model.mesh().positions(), v),
            bits(model.mesh().normals(), v),
        )
    };
    let known: HashMap<_, u32> = (0..at_level.len())
        .map(|vertex| (key(level, vertex), vertex as u32))
        .collect();
    let triangles: Vec<Triangle> = level
        .mesh()
        .indices()
        .as_chunks::<3>()
        .0
        .iter()
        .filter_map(|&c| Triangle::new(c, &at_level))
        .collect();
    let step = at_full.len().div_ceil(VERTICES);
    let place = |vertex: usize| {
        let (point, normal) = at_full[vertex];
        let same = known
            .get(&key(full, vertex))
            .map(|&same| ([same; 3], DVec3::X));
        let (corners, parts) = same.or_else(|| {
            let faces = |t: &&Triangle| t.normal.dot(normal) > 0.0;
            let any_faces = triangles.iter().any(|t| faces(&t));
            let mut best: Option<(f64, &Triangle, DVec3)> = None;
            for triangle in triangles.iter().filter(|t| !any_faces || faces(t)) {
                let least = best.as_ref().map_or(f64::INFINITY, |(least, ..)| *least);
                if point.distance(triangle.middle) - triangle.radius < least {
                    let parts = triangle.closest(point);
                    let distance = (triangle.corners * parts).distance(point);
                    if distance < least {
                        best = Some((distance, triangle, parts));
                    }
                }
            }
            best.map(|(_, triangle, parts)| (triangle.vertices, parts))
        })?;
        Some(Place {
            vertex: vertex as u32,
            corners,
            parts,
        })
    };
    Ok((0..at_full.len()).step_by(step).filter_map(place).collect())
}

/// Positions and normals of all vertices at rest.
fn resting(model: &Arc<Model>) -> Result<Vec<(DVec3, DVec3)>, CrowdError> {
    let mut crowd = Crowd::new();
    crowd.push_group(
        Arc::clone(model),
        [(IDENTITY_ROWS, [Layer::held(REST, 0.0)])],
    )?;
    let pose = ReferencePose::new(&crowd, 0, 0);
    let vertex = |vertex| {
        let skinned = pose.skin(model, vertex, Normals::Unit, Blending::Linear);
        (skinned.position, skinned.normal)
    };
    Ok((0..model.mesh().vertex_count()).map(vertex).collect())
}

struct Triangle {
    vertices: [u32; 3],
    /// Times barycentric coordinates, a point.
    corners: DMat3,
    normal: DVec3,
    /// A sphere around it.
    middle: DVec3,
    radius: f64,
}

impl Triangle {
    /// `None` if it has no area.
    fn new(vertices: [u32; 3], at: &[(DVec3, DVec3)]) -> Option<Self> {
        let [a, b, c] = vertices.map(|vertex| at[vertex as usize].0);
        let normal = (b - a).cross(c - a).try_normalize()?;
        let middle = (a + b + c) / 3.0;
        let radius = [a, b, c]
            .map(|corner| corner.distance(middle))
            .into_iter()
            .fold(0.0, f64::max);
        Some(Self {
            vertices,
            corners: DMat3::from_cols(a, b, c),
            normal,
            middle,
            radius,
        })
    }

    /// Barycentric coordinates of the closest point: below `p`, if that is within the triangle, otherwise on an edge.
    fn closest(&self, p: DVec3) -> DVec3 {
        let corner = |at: usize| self.corners.col(at % 3);
        // In proportion to the areas that the point forms with the opposite edges.
        let areas = [1, 2, 0].map(|at| (corner(at) - p).cross(corner(at + 1) - p).dot(self.normal));
        let areas = DVec3::from(areas);
        if areas.cmpge(DVec3::ZERO).all() {
            return areas / areas.element_sum();
        }
        let on_edge = |at: usize| {
            let edge = corner(at + 1) - corner(at);
            let along = ((p - corner(at)).dot(edge) / edge.length_squared()).clamp(0.0, 1.0);
            DVec3::AXES[at].lerp(DVec3::AXES[(at + 1) % 3], along)
        };
        let distance = |parts: DVec3| (self.corners * parts).distance_squared(p);
        let nearer = |a, b| if distance(b) < distance(a) { b } else { a };
        [1, 2].map(on_edge).into_iter().fold(on_edge(0), nearer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_point_is_closest() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y].map(|p| (p, DVec3::Z));
        let triangle = Triangle::new([0, 1, 2], &corners).unwrap();
        for (point, expected) in [
            (DVec3::new(0.25, 0.25, 1.0), DVec3::new(0.25, 0.25, 0.0)),
            (DVec3::new(-1.0, -1.0, 0.0), DVec3::ZERO),
            (DVec3::new(0.5, -1.0, 0.0), DVec3::new(0.5, 0.0, 0.0)),
            (DVec3::new(1.0, 1.0, 0.0), DVec3::new(0.5, 0.5, 0.0)),
            (DVec3::new(-1.0, 0.5, 0.0), DVec3::new(0.0, 0.5, 0.0)),
            (DVec3::new(3.0, 0.0, 0.0), DVec3::X),
        ] {
            assert!(
                (triangle.corners * triangle.closest(point)).distance(expected) < 1e-12,
                "{point}"
            );
        }
    }
}
