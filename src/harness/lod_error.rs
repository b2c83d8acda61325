//! Distance of characters with less detail from the full ones, in the pose of the same moment.
//!
//! Each vertex of the full character has a place on the level's surface: the closest point at rest, on a triangle that
//! faces the same way. The error is the distance of the posed vertex from that place in the posed level. Unlike the
//! distance of two surfaces, it counts whatever a vertex does, sliding along the surface included.

use crate::bake;
use crate::crowd::{Crowd, CrowdError, Group, Layer, REST};
use crate::model::{IDENTITY_ROWS, Model};
use crate::reference::{Blending, ReferencePose, ReferenceVertex, shown};
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
#[derive(Debug, Clone, Copy)]
pub struct LodError {
    /// Over the diagonal of what the full model shows.
    pub relative: f64,
    /// In pixels of the scene's picture, each instance at its distance from the camera.
    pub pixels: f64,
}

/// The error of a scene's levels, measured at the first call; `None` for a scene without levels.
pub fn of_scene(scene: &BuiltScene) -> Option<LodError> {
    let levels = scene.levels.as_ref()?;
    let [relative, pixels] = *levels.error.get_or_init(|| {
        // A rest pose cannot be refused; if it were, the error would be unknown.
        measured(&scene.crowd, levels).unwrap_or([f64::NAN; 2])
    });
    Some(LodError { relative, pixels })
}

/// The largest error of all groups, as in [`LodError`].
fn measured(crowd: &Crowd, levels: &Levels) -> Result<[f64; 2], CrowdError> {
    crowd
        .groups()
        .par_iter()
        .map(|group| group_error(crowd, levels, group))
        .try_reduce(|| [0.0; 2], |a, b| Ok(larger(a, b)))
}

fn larger(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0].max(b[0]), a[1].max(b[1])]
}

/// The largest error of a group, as in [`LodError`].
fn group_error(crowd: &Crowd, levels: &Levels, group: &Group) -> Result<[f64; 2], CrowdError> {
    let original = levels.original[group.instances.start as usize];
    let full_group = &levels.full.groups()[levels.full.group_of(original)];
    let full = &full_group.model;
    if Arc::ptr_eq(full, &group.model) {
        return Ok([0.0; 2]);
    }
    let surface_points = surface_points(full, &group.model)?;
    // What backends that bake this level state.
    let baked = if group.baked { bake::POSITION } else { 0.0 };
    let diagonal = shown(&levels.full, full_group).diagonal;
    // The largest on the screen, where an error shows most, and some others.
    let mut instances: Vec<u32> = group.instances.clone().collect();
    instances.sort_by(|&a, &b| levels.pixels[b as usize].total_cmp(&levels.pixels[a as usize]));
    let count = (INSTANCES / crowd.groups().len()).clamp(OF_GROUP[0], OF_GROUP[1]);
    let step = instances.len().div_ceil(count);
    let mut worst = [0.0; 2];
    for &instance in instances.iter().step_by(step) {
        for tick in TICKS {
            let original = levels.original[instance as usize];
            let shown = ReferencePose::unsaved(crowd, instance, tick);
            let plain = ReferencePose::unsaved(&levels.full, original, tick);
            let mut distance = 0.0f64;
            for point in &surface_points {
                let [a, b, c] = point
                    .corners
                    .map(|vertex| position(&shown, &group.model, vertex));
                let there = DMat3::from_cols(a, b, c) * point.barycentric;
                distance = distance.max(there.distance(position(&plain, full, point.vertex)));
            }
            let relative = baked + distance / diagonal;
            let pixels = relative * levels.pixels[instance as usize];
            worst = larger(worst, [relative, pixels]);
        }
    }
    Ok(worst)
}

/// The position of a vertex in a pose.
fn position(pose: &ReferencePose, model: &Model, vertex: u32) -> DVec3 {
    pose.skin(model, vertex as usize, Normals::Raw, Blending::Linear)
        .position
}

/// The point of a level's surface that stands for a vertex of the full model.
struct SurfacePoint {
    vertex: u32,
    corners: [u32; 3],
    /// Barycentric coordinates.
    barycentric: DVec3,
}

/// The points of a level's surface that stand for vertices of the full model.
fn surface_points(full: &Arc<Model>, level: &Arc<Model>) -> Result<Vec<SurfacePoint>, CrowdError> {
    let full_vertices = resting(full)?;
    let level_vertices = resting(level)?;
    let mut known = HashMap::new();
    for vertex in 0..level_vertices.len() {
        known.insert(bits(level, vertex), vertex as u32);
    }
    let mut triangles = Vec::new();
    for &corners in level.mesh().indices().as_chunks::<3>().0 {
        let positions = corners.map(|vertex| level_vertices[vertex as usize].position);
        triangles.extend(Triangle::new(corners, positions));
    }
    let mut surface_points = Vec::new();
    let step = full_vertices.len().div_ceil(VERTICES);
    for index in (0..full_vertices.len()).step_by(step) {
        let vertex = index as u32;
        if let Some(&same) = known.get(&bits(full, index)) {
            surface_points.push(SurfacePoint {
                vertex,
                corners: [same; 3],
                barycentric: DVec3::X,
            });
        } else {
            surface_points.extend(closest(&triangles, vertex, &full_vertices[index]));
        }
    }
    Ok(surface_points)
}

/// What identifies a vertex of a model: the bits of its position and normal.
fn bits(model: &Model, vertex: usize) -> [[u32; 3]; 2] {
    let mesh = model.mesh();
    [mesh.positions()[vertex], mesh.normals()[vertex]].map(|vector| vector.map(f32::to_bits))
}

/// The point of the closest of some triangles, among those that face the same way if there are any.
fn closest(triangles: &[Triangle], vertex: u32, at_rest: &ReferenceVertex) -> Option<SurfacePoint> {
    let faces = |triangle: &Triangle| triangle.normal.dot(at_rest.normal) > 0.0;
    let any_faces = triangles.iter().any(faces);
    let point = at_rest.position;
    let mut best = None;
    let mut least = f64::INFINITY;
    for triangle in triangles {
        let is_near = point.distance(triangle.middle) - triangle.radius < least;
        if is_near && (!any_faces || faces(triangle)) {
            let barycentric = triangle.closest(point);
            let distance = (triangle.corners * barycentric).distance(point);
            if distance < least {
                least = distance;
                best = Some(SurfacePoint {
                    vertex,
                    corners: triangle.vertices,
                    barycentric,
                });
            }
        }
    }
    best
}

/// All vertices at rest.
fn resting(model: &Arc<Model>) -> Result<Vec<ReferenceVertex>, CrowdError> {
    let mut crowd = Crowd::new();
    crowd.push_group(
        Arc::clone(model),
        [(IDENTITY_ROWS, [Layer::held(REST, 0.0)])],
    )?;
    let pose = ReferencePose::new(&crowd, 0, 0);
    Ok((0..model.mesh().vertex_count())
        .map(|vertex| pose.skin(model, vertex, Normals::Unit, Blending::Linear))
        .collect())
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
    fn new(vertices: [u32; 3], [a, b, c]: [DVec3; 3]) -> Option<Self> {
        let middle = (a + b + c) / 3.0;
        Some(Self {
            vertices,
            corners: DMat3::from_cols(a, b, c),
            normal: (b - a).cross(c - a).try_normalize()?,
            middle,
            radius: a
                .distance(middle)
                .max(b.distance(middle))
                .max(c.distance(middle)),
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
        let mut nearest = DVec3::ZERO;
        let mut least = f64::INFINITY;
        for at in 0..3 {
            let edge = corner(at + 1) - corner(at);
            let along = ((p - corner(at)).dot(edge) / edge.length_squared()).clamp(0.0, 1.0);
            let barycentric = DVec3::AXES[at].lerp(DVec3::AXES[(at + 1) % 3], along);
            let distance = (self.corners * barycentric).distance_squared(p);
            if distance < least {
                nearest = barycentric;
                least = distance;
            }
        }
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_point_is_closest() {
        let triangle = Triangle::new([0, 1, 2], [DVec3::ZERO, DVec3::X, DVec3::Y]).unwrap();
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
