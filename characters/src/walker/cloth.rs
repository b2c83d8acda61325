//! Clothes: the cover of each part of the skin.

use super::body::Body;
use super::rig::{BodySide, Landmarks};
use glam::{DVec3, Vec3, dvec3};
use skinbench_kernels::model::Material;

/// Cover of a part of the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cloth {
    Skin,
    Hair,
    Shirt,
    Trousers,
    Shoes,
    Eyes,
}

impl Cloth {
    pub const ALL: [Self; 6] = [
        Self::Skin,
        Self::Hair,
        Self::Shirt,
        Self::Trousers,
        Self::Shoes,
        Self::Eyes,
    ];

    pub fn material(self) -> Material {
        let (name, color) = match self {
            Self::Skin => ("skin", [0.50, 0.27, 0.17]),
            Self::Hair => ("hair", [0.035, 0.022, 0.016]),
            Self::Shirt => ("shirt", [0.12, 0.27, 0.42]),
            Self::Trousers => ("trousers", [0.07, 0.075, 0.10]),
            Self::Shoes => ("shoes", [0.18, 0.09, 0.05]),
            Self::Eyes => ("eyes", [0.02, 0.015, 0.012]),
        };
        Material {
            name: name.into(),
            base_color: Vec3::from(color).extend(1.0).to_array(),
            ..Material::default()
        }
    }

    /// The cover at a point of the surface.
    pub fn at(p: DVec3, at: &Landmarks, body: &Body) -> Self {
        let left = BodySide::left(p);
        if left.x > 0.3 {
            let is_hand = (left - at.wrist).dot(at.hand_axis) > -0.008;
            return if is_hand { Self::Skin } else { Self::Shirt };
        }
        if (p - dvec3(0.0, 1.455, 0.02)).dot(dvec3(0.0, 0.9, 0.4)) > 0.0 && left.x < 0.1 {
            return if body.is_hair(p) {
                Self::Hair
            } else if body.is_eye(p) {
                Self::Eyes
            } else {
                Self::Skin
            };
        }
        match p.y {
            y if y < 0.098 => Self::Shoes,
            y if y < 0.985 => Self::Trousers,
            _ => Self::Shirt,
        }
    }
}
