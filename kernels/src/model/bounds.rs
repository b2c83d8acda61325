//! Axis-aligned boxes.

use glam::{BVec3, DVec3, Vec3};

/// An axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Smallest corner.
    pub min: Vec3,
    /// Largest corner.
    pub max: Vec3,
}

impl Bounds {
    /// The smallest box around some points; without any, `min` is infinite and `max` negative infinite.
    pub fn around(points: impl IntoIterator<Item = Vec3>) -> Self {
        let mut bounds = Self {
            min: Vec3::INFINITY,
            max: Vec3::NEG_INFINITY,
        };
        for point in points {
            bounds.include(point);
        }
        bounds
    }
    /// The box that is a single point.
    pub fn at(point: Vec3) -> Self {
        Self {
            min: point,
            max: point,
        }
    }
    /// Grows the box until it contains a point.
    pub fn include(&mut self, point: Vec3) {
        self.min = self.min.min(point);
        self.max = self.max.max(point);
    }
    /// The corners; bit 0 of an index chooses x, bit 1 y and bit 2 z.
    pub fn corners(self) -> [DVec3; 8] {
        std::array::from_fn(|corner| {
            let is_upper = BVec3::new(corner & 1 != 0, corner & 2 != 0, corner & 4 != 0);
            Vec3::select(is_upper, self.max, self.min).as_dvec3()
        })
    }
    /// Length of the diagonal; parity errors are stated as fractions of it.
    pub fn diagonal(&self) -> f32 {
        (self.max - self.min).length()
    }
}
