//! The part of the world that a picture shows.

use glam::{DMat4, DVec3, DVec4, Mat4, Vec4};

/// Six planes that face inwards; by default the whole world is inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frustum {
    /// Left, right, bottom, top, near, far; unit normals.
    planes: [DVec4; 6],
}

impl Default for Frustum {
    fn default() -> Self {
        Self {
            planes: [DVec4::W; 6],
        }
    }
}

impl Frustum {
    /// The frustum of a matrix from world to clip space with depths from 0 to 1 (Gribb and Hartmann 2001).
    pub fn new(view_projection: Mat4) -> Self {
        let matrix: DMat4 = view_projection.as_dmat4();
        let [x, y, z, w] = [0, 1, 2, 3].map(|row| matrix.row(row));
        let planes = [w + x, w - x, w + y, w - y, z, w - z];
        Self {
            planes: planes.map(|plane| plane / plane.truncate().length()),
        }
    }

    /// The planes for a shader: the dot product of a point with the normal (x y z), plus w, is its distance from the
    /// plane in metres, positive inside.
    pub fn planes(&self) -> [Vec4; 6] {
        self.planes.map(|plane| plane.as_vec4())
    }

    /// Returns whether a point of the world is inside.
    pub fn contains(&self, point: DVec3) -> bool {
        self.planes
            .iter()
            .all(|plane| plane.dot(point.extend(1.0)) >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use glam::camera::rh::{proj::directx, view::look_at_mat4};

    #[test]
    fn a_point_is_inside_where_its_clip_coordinates_are() {
        let view = look_at_mat4(Vec3::new(3.0, 2.0, 9.0), Vec3::new(-1.0, 0.5, 0.0), Vec3::Y);
        let matrix = directx::perspective(0.7, 1.6, 2.0, 14.0) * view;
        let frustum = Frustum::new(matrix);
        let mut inside = 0;
        for i in 0..20_000 {
            let spread = |k: i32| f64::from(i * k % 9_973) / 9_973.0 * 40.0 - 20.0;
            let point = DVec3::new(spread(7), spread(31), spread(113));
            let clip = matrix.as_dmat4() * point.extend(1.0);
            let shown = clip.x.abs() <= clip.w
                && clip.y.abs() <= clip.w
                && clip.z >= 0.0
                && clip.z <= clip.w;
            assert_eq!(frustum.contains(point), shown, "{point}");
            inside += u32::from(shown);
        }
        assert!((50..10_000).contains(&inside), "{inside}");
        for plane in frustum.planes() {
            assert!((plane.truncate().length() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn by_default_everything_is_inside() {
        assert!(Frustum::default().contains(DVec3::splat(-1e30)));
    }
}
