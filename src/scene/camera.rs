//! The view that frames a crowd.

use crate::crowd::Crowd;
use crate::model::{Bounds, rows_to_affine};
use crate::reference::shown;
use glam::camera::rh::{proj::directx, view::look_at_mat4};
use glam::{DVec3, Mat4, Quat, Vec2, Vec3};
use serde::Serialize;

/// Radii of the crowd that a picture shows behind it.
const BEHIND: f32 = 12.0;
/// Part of a picture's width or height that points fill.
const FILLED: f32 = 0.92;

/// Position and field of view of the camera, relative to the crowd.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Camera {
    /// Degrees around the crowd, from +Z towards +X.
    pub orbit: f64,
    /// Degrees above the ground.
    pub elevation: f64,
    /// Factor of the distance at which the whole crowd just fits.
    pub distance: f64,
    /// Vertical field of view in degrees.
    pub field_of_view: f64,
}

impl Camera {
    /// World to clip space (depth 0 near to 1 far) for a picture of `width` by `height` pixels.
    pub fn view_projection(&self, crowd: &Crowd, size: [u32; 2]) -> Mat4 {
        let Framed { target, eye, .. } = self.framed(crowd, size);
        let [near, far] = self.depth_range(crowd, size);
        self.projection(size, near, far) * look_at_mat4(eye, target, Vec3::Y)
    }

    /// Distances from the camera at which the depths of [`Camera::view_projection`] are 0 and 1.
    pub fn depth_range(&self, crowd: &Crowd, size: [u32; 2]) -> [f32; 2] {
        let Framed {
            target,
            eye,
            radius,
        } = self.framed(crowd, size);
        let distance = eye.distance(target);
        let near = (distance - radius).max(0.01 * radius).max(1e-3 * distance);
        [near, (distance + radius).max(2.0 * near)]
    }

    /// The projection between two distances.
    fn projection(&self, size: [u32; 2], near: f32, far: f32) -> Mat4 {
        let angle = (self.field_of_view as f32).to_radians();
        let aspect = size[0] as f32 / size[1] as f32;
        directx::perspective(angle, aspect, near, far.max(2.0 * near))
    }

    /// As [`Camera::view_projection`] for a picture with a ground, which goes on behind what is framed. `shift` moves the
    /// view to the right and up, in heights of the picture.
    pub fn picture_projection(&self, framed: Framed, size: [u32; 2], shift: [f64; 2]) -> Mat4 {
        let forward = (framed.target - framed.eye).normalize_or_zero();
        let right = forward.cross(Vec3::Y).normalize_or_zero();
        let up = right.cross(forward);
        let distance = framed.eye.distance(framed.target);
        let slope = (0.5 * (self.field_of_view as f32).to_radians()).tan();
        let height = 2.0 * distance * slope;
        let shift = height * (right * shift[0] as f32 + up * shift[1] as f32);
        let eye = framed.eye + shift;
        let target = framed.target + shift;
        let edges = [forward - slope * up, forward + slope * up];
        let ground = edges.map(|edge| depth_of_ground(eye, edge));
        let near = (distance - framed.radius - shift.length())
            .max(0.02 * framed.radius)
            .min(0.9 * ground[0].min(ground[1]))
            .max(1e-3 * distance);
        self.projection(size, near, distance + BEHIND * framed.radius)
            * look_at_mat4(eye, target, Vec3::Y)
    }

    /// Position of the camera in the world for such a picture.
    pub fn eye(&self, crowd: &Crowd, size: [u32; 2]) -> Vec3 {
        self.framed(crowd, size).eye
    }

    /// Pixels of a metre at a distance of one metre.
    pub fn pixels_of_metre(&self, size: [u32; 2]) -> f32 {
        let half = (0.5 * self.field_of_view.to_radians()).tan();
        (0.5 * f64::from(size[1]) / half) as f32
    }

    /// The crowd in such a picture: target, eye and size.
    pub fn framed(&self, crowd: &Crowd, size: [u32; 2]) -> Framed {
        let bounds = world_bounds(crowd);
        let target = 0.5 * (bounds.min + bounds.max);
        let corners = bounds.corners().map(|corner| corner.as_vec3() - target);
        let rotation = self.rotation();
        let back = rotation * Vec3::Z;
        let half = self.half_extents(size);
        let seen = corners.map(|corner| rotation.inverse() * corner);
        let fit = seen
            .iter()
            .map(|c| c.z + (c.x.abs() / half.x).max(c.y.abs() / half.y))
            .fold(f32::MIN_POSITIVE, f32::max);
        let radius = corners[7].length().max(f32::MIN_POSITIVE);
        let distance = fit * self.distance as f32;
        Framed {
            target,
            eye: target + back * distance,
            radius,
        }
    }

    /// Points of the world in a picture that they fill.
    pub fn framed_points(&self, points: &[Vec3], size: [u32; 2]) -> Framed {
        let rotation = self.rotation();
        let half = FILLED * self.half_extents(size);
        // From (x, y) at the depth d, the picture reaches a point p if d - p.z is no less than |p.x - x| / half.x and
        // |p.y - y| / half.y.
        let mut above = Vec2::NEG_INFINITY;
        let mut below = Vec2::NEG_INFINITY;
        let mut nearest = f32::NEG_INFINITY;
        let mut farthest = f32::INFINITY;
        for point in points {
            let seen = rotation.inverse() * *point;
            let across = seen.truncate() / half;
            above = above.max(seen.z + across);
            below = below.max(seen.z - across);
            nearest = nearest.max(seen.z);
            farthest = farthest.min(seen.z);
        }
        let place = 0.5 * half * (above - below);
        let depth = 0.5 * (above + below).max_element();
        let middle = 0.5 * (nearest + farthest);
        let target = rotation * place.extend(middle);
        let radii = points.iter().map(|point| point.distance(target));
        let distance = (depth - middle).max(f32::MIN_POSITIVE) * self.distance as f32;
        Framed {
            target,
            eye: target + rotation * Vec3::Z * distance,
            radius: radii.fold(f32::MIN_POSITIVE, f32::max),
        }
    }

    /// From the axes of a picture to those of the world: x to the right, y up, z towards the camera.
    fn rotation(&self) -> Quat {
        Quat::from_rotation_y((self.orbit as f32).to_radians())
            * Quat::from_rotation_x(-(self.elevation as f32).to_radians())
    }

    /// Half of the width and the height of a picture at a distance of one metre.
    fn half_extents(&self, [width, height]: [u32; 2]) -> Vec2 {
        let half_height = (0.5 * (self.field_of_view as f32).to_radians()).tan();
        half_height * Vec2::new(width as f32 / height as f32, 1.0)
    }
}

/// A crowd in the picture.
#[derive(Debug, Clone, Copy)]
pub struct Framed {
    /// The crowd's middle.
    pub target: Vec3,
    /// Position of the camera.
    pub eye: Vec3,
    /// Radius of the crowd's bounding sphere, in metres.
    pub radius: f32,
}

/// Depth at which a ray from the eye meets the ground, in lengths of the ray; infinite if it does not.
fn depth_of_ground(eye: Vec3, ray: Vec3) -> f32 {
    let depth = -eye.y / ray.y;
    if depth > 0.0 { depth } else { f32::INFINITY }
}

/// The box around all instances' rest poses, or around the largest poses that they show if those differ much, enlarged a
/// little because clips move limbs out of it.
fn world_bounds(crowd: &Crowd) -> Bounds {
    let mut min = DVec3::INFINITY;
    let mut max = DVec3::NEG_INFINITY;
    for group in crowd.groups() {
        let bounds = shown(crowd, group).bounds;
        let middle = (0.5 * (bounds.min + bounds.max)).as_dvec3();
        let half = (0.55 * (bounds.max - bounds.min)).as_dvec3();
        for instance in group.instances.clone() {
            let placement = rows_to_affine(&crowd.placements()[instance as usize]);
            let middle = placement.transform_point3(middle);
            let half = placement.matrix3.abs() * half;
            min = min.min(middle - half);
            max = max.max(middle + half);
        }
    }
    Bounds {
        min: min.as_vec3(),
        max: max.as_vec3(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Scene;
    use glam::Vec4;

    #[test]
    fn points_fill_the_picture() {
        let camera = Camera {
            distance: 1.0,
            ..Scene::load("walkers").unwrap().camera
        };
        let points = [
            Vec3::ZERO,
            Vec3::new(0.1, 2.0, 0.3),
            Vec3::new(0.9, 0.2, 5.0),
        ];
        for size in [[800, 800], [1280, 720], [100, 900]] {
            let framed = camera.framed_points(&points, size);
            let projection = camera.picture_projection(framed, size, [0.0; 2]);
            let places = points.map(|point| projection.project_point3(point));
            let most = |of: fn(Vec3) -> f32| places.map(of).into_iter().fold(f32::MIN, f32::max);
            let reached = [most(|p| p.x), most(|p| -p.x), most(|p| p.y), most(|p| -p.y)];
            assert!(reached.iter().all(|reach| *reach < 0.93), "{reached:?}");
            let [right, left, top, bottom] = reached.map(|reach| reach > 0.91);
            assert!((right && left) || (top && bottom), "{size:?}: {reached:?}");
        }
    }

    /// A near plane that cuts the ground off shows as a straight line with sky below it.
    #[test]
    fn the_ground_reaches_the_edges_of_pictures() {
        for name in ["smoke", "walker", "walkers"] {
            let scene = Scene::load(name).unwrap().build(u64::MAX).unwrap();
            for elevation in [10.0, 20.0, 60.0] {
                let camera = Camera {
                    elevation,
                    ..scene.camera
                };
                let size = [1280, 800];
                let framed = camera.framed(&scene.crowd, size);
                let projection = camera.picture_projection(framed, size, [0.1, -0.1]);
                let from_clip = projection.inverse();
                for x in [-1.0, 1.0] {
                    // The ray through a lower corner of the picture, from the near plane to the far one.
                    let [near, far] = [0.0, 1.0].map(|depth| {
                        let point = from_clip * Vec4::new(x, -1.0, depth, 1.0);
                        point.truncate() / point.w
                    });
                    assert!(
                        near.y > 0.0 && far.y < 0.0,
                        "{name}, {elevation}: {near} to {far}"
                    );
                }
            }
        }
    }
}
