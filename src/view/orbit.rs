//! The camera that the mouse controls: it circles the crowd, moves closer or away, and shifts sideways.

use crate::crowd::Crowd;
use crate::scene::Camera;
use glam::Mat4;

/// Range of the elevation above the ground, in degrees.
pub const ELEVATION: std::ops::RangeInclusive<f64> = -89.0..=89.0;
/// Range of the distance, as a factor of the one at which the crowd just fits.
pub const DISTANCE: std::ops::RangeInclusive<f64> = 0.02..=10.0;
/// Degrees per pixel of a drag.
const TURN: f64 = 0.4;

/// A camera and its sideways shift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Orbit {
    /// The camera in the terms of a scene file.
    pub camera: Camera,
    /// Shift of the view to the right and up, in heights of the picture.
    pub pan: [f64; 2],
}

impl Orbit {
    /// Creates an orbit with the camera of a scene and no shift.
    pub fn new(camera: Camera) -> Self {
        Self {
            camera,
            pan: [0.0; 2],
        }
    }

    /// Rotates for a drag of this many pixels to the right and down.
    pub fn turn(&mut self, [x, y]: [f32; 2]) {
        let Camera {
            orbit, elevation, ..
        } = &mut self.camera;
        *orbit = (*orbit - TURN * f64::from(x) + 180.0).rem_euclid(360.0) - 180.0;
        *elevation = (*elevation + TURN * f64::from(y)).clamp(*ELEVATION.start(), *ELEVATION.end());
    }

    /// Shifts the view for a drag of this many pixels to the right and down, on a picture `height` pixels high.
    pub fn shift(&mut self, [x, y]: [f32; 2], height: f32) {
        self.pan[0] -= f64::from(x / height.max(1.0));
        self.pan[1] += f64::from(y / height.max(1.0));
    }

    /// Moves closer by a factor above 1, or away by one below 1.
    pub fn zoom(&mut self, factor: f64) {
        self.camera.distance =
            (self.camera.distance / factor).clamp(*DISTANCE.start(), *DISTANCE.end());
    }

    /// Returns the matrix from world to clip space (depth 0 near to 1 far) for a picture of this size.
    pub fn view_projection(&self, crowd: &Crowd, size: [u32; 2]) -> Mat4 {
        let framed = self.camera.framed(crowd, size);
        self.camera.picture_projection(framed, size, self.pan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Scene;

    fn orbit() -> Orbit {
        Orbit::new(Camera {
            orbit: 25.0,
            elevation: 20.0,
            distance: 1.0,
            field_of_view: 40.0,
        })
    }

    #[test]
    fn the_mouse_moves_the_camera_within_limits() {
        let mut orbit = orbit();
        orbit.turn([-400.0, 1e6]);
        assert_eq!(
            (orbit.camera.orbit, orbit.camera.elevation),
            (-175.0, 89.0),
            "round the back, not over the top"
        );
        orbit.zoom(2.0);
        assert_eq!(orbit.camera.distance, 0.5);
        orbit.zoom(1e-9);
        assert_eq!(orbit.camera.distance, 10.0);
        orbit.shift([100.0, 50.0], 500.0);
        assert_eq!(orbit.pan, [-0.2f32, 0.1f32].map(f64::from));
    }

    #[test]
    fn the_middle_of_the_crowd_moves_as_the_mouse_does() {
        let scene = Scene::load("smoke").unwrap().build(1 << 30).unwrap();
        let mut orbit = Orbit::new(scene.camera);
        let size = [400, 200];
        let middle = scene.camera.framed(&scene.crowd, size).target;
        let seen = |orbit: &Orbit| {
            orbit
                .view_projection(&scene.crowd, size)
                .project_point3(middle)
        };
        assert!(seen(&orbit).truncate().length() < 1e-5);
        // 50 pixels right and 20 down, in halves of the picture.
        orbit.shift([50.0, 20.0], 200.0);
        assert!(
            (seen(&orbit).truncate() - glam::vec2(50.0 / 200.0, -20.0 / 100.0)).length() < 1e-4
        );
    }
}
