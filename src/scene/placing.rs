//! Places of instances on the ground, and placements from model to world.

use crate::model::{Bounds, Handedness, Model, Rows, affine_to_rows};
use glam::{DAffine3, DMat3, DVec2, DVec3};
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, TAU};

/// Arrangement of a group's instances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Rows and columns, approximately as deep as wide.
    #[default]
    Grid,
    /// An evenly filled circle: Vogel's sunflower spiral.
    Disc,
    /// One row along X.
    Line,
    /// Two streams of people that pass each other along Z.
    Street,
    /// Rings around the middle, each one `spacing` wider; neighbouring rings face opposite ways.
    Rings,
}

impl Layout {
    /// Half of the layout's width along X, in metres.
    pub(super) fn half_width(self, count: u32, spacing: f64) -> f64 {
        let columns = match self {
            Self::Grid => columns(count),
            Self::Disc => return spacing * (f64::from(count) / PI).sqrt(),
            Self::Line => count,
            Self::Street => STREET_COLUMNS.min(count),
            Self::Rings => 2 * (1 + ring(count.saturating_sub(1), count).index),
        };
        0.5 * spacing * f64::from(columns)
    }

    /// Place of an instance on the ground (world x and z), around the layout's middle, in metres.
    pub(super) fn place(self, instance: u32, count: u32, spacing: f64) -> DVec2 {
        match self {
            Self::Grid => {
                let columns = columns(count);
                let place = DVec2::new(
                    centred(instance % columns, columns),
                    centred(instance / columns, count.div_ceil(columns)),
                );
                spacing * place
            }
            Self::Disc => {
                // Each instance has spacing^2 of ground; the golden angle keeps neighbours apart.
                let golden = TAU * (1.0 - 1.0 / ((1.0 + 5f64.sqrt()) / 2.0));
                let radius = spacing * ((f64::from(instance) + 0.5) / PI).sqrt();
                radius * DVec2::from_angle(golden * f64::from(instance))
            }
            Self::Line => DVec2::new(spacing * centred(instance, count), 0.0),
            Self::Street => {
                let columns = STREET_COLUMNS.min(count);
                let column = instance % columns;
                // Every other column is shifted by half a step, so that neighbours do not walk abreast.
                let along = centred(instance / columns, count.div_ceil(columns))
                    + 0.25 * (2.0 * f64::from(column % 2) - 1.0);
                spacing * DVec2::new(centred(column, columns), along)
            }
            Self::Rings => {
                let Ring { index, angle } = ring(instance, count);
                spacing * f64::from(index + 1) * DVec2::from_angle(angle)
            }
        }
    }

    /// Direction that an instance faces, in degrees: on a street, the left half approaches and the right half walks
    /// away; in rings, instances face along their ring.
    pub(super) fn facing(self, instance: u32, count: u32) -> f64 {
        let columns = STREET_COLUMNS.min(count);
        match self {
            Self::Street if instance % columns >= columns.div_ceil(2) => 180.0,
            Self::Rings => {
                let Ring { index, angle } = ring(instance, count);
                180.0 * f64::from((index + 1) % 2) - angle.to_degrees()
            }
            _ => 0.0,
        }
    }
}

/// Distance of an item from the middle of a row of `count`, in items.
fn centred(index: u32, count: u32) -> f64 {
    f64::from(index) - 0.5 * f64::from(count - 1)
}

/// Place of an instance in rings.
struct Ring {
    /// Ring from the middle, from 0.
    index: u32,
    /// Angle along the ring in radians.
    angle: f64,
}

/// The ring of an instance. A ring holds as many as fit its circumference at the distance of two rings; the last one is
/// spread evenly.
fn ring(instance: u32, count: u32) -> Ring {
    let mut index = 0;
    let mut first = 0;
    loop {
        let room = (TAU * f64::from(index + 1)) as u32;
        if instance - first < room {
            let filled = room.min(count - first);
            let angle = TAU * f64::from(instance - first) / f64::from(filled);
            return Ring { index, angle };
        }
        first += room;
        index += 1;
    }
}

/// People abreast on a street, in both directions together.
const STREET_COLUMNS: u32 = 8;

fn columns(count: u32) -> u32 {
    f64::from(count).sqrt().ceil() as u32
}

/// Transform of a model into the world: rotates its axes, scales its unit, and puts its feet on the ground.
pub struct Stand {
    to_world: DAffine3,
    /// Larger extent on the ground, in metres.
    pub footprint: f64,
}

impl Stand {
    /// The stand of a model in a box.
    pub fn new(model: &Model, bounds: Bounds, scale: Option<f64>) -> Self {
        let axes = model.axes();
        // The model's up axis becomes world Y; the other two keep their cyclic order, which preserves handedness.
        let mut rotation = match axes.up {
            0 => DMat3::from_cols(DVec3::Y, DVec3::Z, DVec3::X),
            2 => DMat3::from_cols(DVec3::Z, DVec3::X, DVec3::Y),
            _ => DMat3::IDENTITY,
        };
        if axes.handedness == Handedness::Left {
            rotation = DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0)) * rotation;
        }
        let a = rotation * bounds.min.as_dvec3();
        let b = rotation * bounds.max.as_dvec3();
        let min = a.min(b);
        let max = a.max(b);
        let size = max - min;
        let tall = size.max_element();
        let scale = scale.unwrap_or(if tall > 0.0 && !(0.2..=20.0).contains(&tall) {
            1.8 / tall
        } else {
            1.0
        });
        let middle = DVec3::new(0.5 * (min.x + max.x), min.y, 0.5 * (min.z + max.z));
        Self {
            to_world: DAffine3 {
                matrix3: rotation * scale,
                translation: -middle * scale,
            },
            footprint: scale * size.x.max(size.z),
        }
    }

    /// Model to world for an instance at a place on the ground, rotated about the vertical by `yaw` radians.
    pub fn placement(&self, place: DVec2, yaw: f64) -> Rows {
        let stand = DAffine3 {
            matrix3: DMat3::from_rotation_y(yaw),
            translation: DVec3::new(place.x, 0.0, place.y),
        };
        affine_to_rows(&(stand * self.to_world))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_keep_their_distance() {
        for layout in [
            Layout::Grid,
            Layout::Disc,
            Layout::Line,
            Layout::Street,
            Layout::Rings,
        ] {
            let places: Vec<_> = (0..50).map(|i| layout.place(i, 50, 2.0)).collect();
            let half = layout.half_width(50, 2.0);
            for (i, a) in places.iter().enumerate() {
                assert!(a.x.abs() <= half, "{layout:?}: {a} outside {half}");
                assert!(
                    places[..i].iter().all(|b| a.distance(*b) > 1.5),
                    "{layout:?}"
                );
            }
            let middle = places.iter().sum::<DVec2>() / 50.0;
            assert!(
                middle.length() < 1.0,
                "{layout:?} is off its middle by {middle}"
            );
        }
    }
}
