//! The JSON document: the properties that skinning needs, under the format's names.

use crate::unread::{Ignored, NothingRead};
use serde::Deserialize;

/// Properties that change neither vertices nor base colours; those of a geometry have the same names inside an Object-v4
/// document.
pub(crate) const IGNORED: Ignored = &[
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
pub(super) struct Geometry {
    pub(super) geometries: Vec<Wrapped>,
    pub(super) materials: Vec<Material>,
    /// Divisor of vertices.
    pub(super) scale: Option<f32>,
    pub(super) vertices: Vec<f32>,
    pub(super) normals: Vec<f32>,
    pub(super) uvs: Vec<Vec<f32>>,
    pub(super) faces: Vec<u32>,
    /// The scene of an Object-v4 document.
    pub(super) object: Option<Object>,
    // Many files have these lists, but nothing in them; each item becomes a note.
    #[serde(rename = "morphTargets")]
    _morph_targets: NothingRead,
    #[serde(rename = "morphColors")]
    _morph_colors: NothingRead,
    pub(super) influences_per_vertex: Option<u32>,
    pub(super) skin_weights: Vec<f32>,
    pub(super) skin_indices: Vec<i64>,
    pub(super) bones: Vec<Bone>,
    pub(super) animation: Option<Animation>,
    pub(super) animations: Vec<Animation>,
    /// The one animation that the tutorial's exporter may put here.
    pub(super) keyframes: Vec<Vec<Pose>>,
    pub(super) fps: Option<f32>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Wrapped {
    pub(super) data: Option<Geometry>,
}

/// An object of a scene, which may move the geometry.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Object {
    /// Column by column.
    matrix: Option<Vec<f32>>,
    children: Vec<Self>,
}

impl Object {
    /// Returns whether it, or an object in it, has a transform other than the identity.
    pub(super) fn moves(&self) -> bool {
        let identity = |(at, v): (usize, &f32)| *v == f32::from(u8::from(at % 5 == 0));
        let own = self.matrix.iter().flatten().enumerate();
        !own.into_iter().all(identity) || self.children.iter().any(Self::moves)
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Material {
    #[serde(rename = "DbgName")]
    pub(super) dbg_name: String,
    pub(super) name: String,
    pub(super) color_diffuse: Option<[f32; 3]>,
    /// Object v4: 0xRRGGBB.
    pub(super) color: Option<u32>,
    pub(super) opacity: Option<f32>,
    /// File of the base-colour image. Object v4 has it as a reference to a list, which is not followed.
    pub(super) map_diffuse: Option<String>,
    pub(super) map_diffuse_wrap: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Bone {
    pub(super) parent: Option<i64>,
    #[serde(default)]
    pub(super) name: String,
    pub(super) pos: [f32; 3],
    pub(super) rotq: [f32; 4],
    pub(super) scl: Option<[f32; 3]>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Animation {
    pub(super) name: String,
    pub(super) fps: Option<f32>,
    pub(super) length: Option<f32>,
    pub(super) hierarchy: Vec<Track>,
    pub(super) keyframes: Vec<Vec<Pose>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Track {
    pub(super) keys: Vec<Key>,
}

#[derive(Deserialize)]
pub(super) struct Key {
    pub(super) time: f32,
    pub(super) pos: Option<[f32; 3]>,
    pub(super) rot: Option<[f32; 4]>,
    pub(super) scl: Option<[f32; 3]>,
}

/// A bone's pose in a frame.
#[derive(Deserialize)]
pub(super) struct Pose {
    pub(super) pos: [f32; 3],
    pub(super) rot: [f32; 4],
}
