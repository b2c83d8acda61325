//! Axis-aligned boxes.

use glam::{DVec3, Vec3};

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
        let none = Self {
            min: Vec3::INFINITY,
            max: Vec3::NEG_INFINITY,
        };
        points.into_iter().fold(none, |all, point| Self {
            min: all.min.min(point),
            max: all.max.max(point),
        })
    }
    /// The corners; bit 0 of an index chooses x, bit 1 y and bit 2 z.
    pub fn corners(self) -> [DVec3; 8] {
        let Self { min, max } = self;
        std::array::from_fn(|corner| {
            let number = |axis: usize| {
                f64::from(if corner >> axis & 1 == 0 {
                    min[axis]
                } else {
                    max[axis]
                })
            };
            DVec3::new(number(0), number(1), number(2))
        })
    }
    /// Length of the diagonal; parity errors are stated as fractions of it.
    pub fn diagonal(&self) -> f32 {
        (self.max - self.min).length()
    }
}
