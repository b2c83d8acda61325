//! The JSON document: the properties that skinning needs, under the format's names.

use crate::ignored::{Ignored, NothingRead};
use glam::Mat4;
use serde::Deserialize;

/// Properties that change neither vertices nor base colours; those of a geometry have the same names inside an Object-v4
/// document.
pub const IGNORED: Ignored = &[
    "*.JIT",
    "*.hierarchy[].node",
    "*.hierarchy[].parent",
    "colors",
    "comment",
    "formatVersion",
    "geometries[].*",
    "images*",
    "materials*",
    "metadata*",
    "name",
    "object*",
    "textures*",
    "type",
    "uuid",
    "uvs (after the first layer)",
];

/// A geometry, or an Object-v4 document with geometries.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Geometry {
    pub geometries: Vec<Wrapped>,
    pub materials: Vec<Material>,
    /// Divisor of vertices.
    pub scale: Option<f32>,
    pub vertices: Vec<f32>,
    pub normals: Vec<f32>,
    pub uvs: Vec<Vec<f32>>,
    pub faces: Vec<u32>,
    /// The scene of an Object-v4 document.
    pub object: Option<Object>,
    // Many files have these lists, but nothing in them; each item becomes a note.
    #[serde(rename = "morphTargets")]
    _morph_targets: NothingRead,
    #[serde(rename = "morphColors")]
    _morph_colors: NothingRead,
    pub influences_per_vertex: Option<u32>,
    pub skin_weights: Vec<f32>,
    pub skin_indices: Vec<i64>,
    pub bones: Vec<Bone>,
    pub animation: Option<Animation>,
    pub animations: Vec<Animation>,
    /// The one animation that the tutorial's exporter may put here.
    pub keyframes: Vec<Vec<Pose>>,
    pub fps: Option<f32>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Wrapped {
    pub data: Option<Geometry>,
}

/// An object of a scene, which may move the geometry.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Object {
    /// Column by column.
    matrix: Option<Vec<f32>>,
    children: Vec<Self>,
}

impl Object {
    /// Returns whether it, or an object in it, has a transform other than the identity.
    pub fn moves(&self) -> bool {
        let identity = Mat4::IDENTITY.to_cols_array();
        let matrix = self.matrix.as_ref();
        matrix.is_some_and(|matrix| *matrix != identity) || self.children.iter().any(Self::moves)
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Material {
    #[serde(rename = "DbgName")]
    pub dbg_name: String,
    pub name: String,
    pub color_diffuse: Option<[f32; 3]>,
    /// Object v4: 0xRRGGBB.
    pub color: Option<u32>,
    pub opacity: Option<f32>,
    /// File of the base-colour image. Object v4 has it as a reference to a list, which is not followed.
    pub map_diffuse: Option<String>,
    pub map_diffuse_wrap: Vec<String>,
}

#[derive(Deserialize)]
pub struct Bone {
    pub parent: Option<i64>,
    #[serde(default)]
    pub name: String,
    pub pos: [f32; 3],
    pub rotq: [f32; 4],
    pub scl: Option<[f32; 3]>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Animation {
    pub name: String,
    pub fps: Option<f32>,
    pub length: Option<f32>,
    pub hierarchy: Vec<Track>,
    pub keyframes: Vec<Vec<Pose>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Track {
    pub keys: Vec<Key>,
}

#[derive(Deserialize)]
pub struct Key {
    pub time: f32,
    pub pos: Option<[f32; 3]>,
    pub rot: Option<[f32; 4]>,
    pub scl: Option<[f32; 3]>,
}

/// A bone's pose in a frame.
#[derive(Deserialize)]
pub struct Pose {
    pub pos: [f32; 3],
    pub rot: [f32; 4],
}
