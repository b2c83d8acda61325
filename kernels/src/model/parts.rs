//! The parts of a model besides skeleton, clips and mesh, and all parts together before they are checked.

use super::clip::Clip;
use super::mesh::PrimitiveData;
use super::notes::Notes;
use super::skeleton::Skeleton;
use super::skin::SkinData;
use super::targets::Target;
use std::path::PathBuf;
use std::sync::Arc;

/// The direction of the file's third axis; used for drawing only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handedness {
    /// x cross y is z.
    Right,
    /// x cross y is -z.
    Left,
}

/// The file's own axes. Stores keep them; only drawing and placing of instances use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axes {
    /// Handedness of the file's space.
    pub handedness: Handedness,
    /// Index of the axis that points up: 0 x, 1 y, 2 z.
    pub up: u8,
}

impl Axes {
    /// Right-handed, Y up: glTF's axes and those of the built-in content.
    pub const Y_UP: Self = Self {
        handedness: Handedness::Right,
        up: 1,
    };
}

/// A surface: a plain colour, and an image for pictures.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name in the file, possibly empty.
    pub name: String,
    /// Linear RGBA.
    pub base_color: [f32; 4],
    /// Alpha below which a picture leaves the surface out; `None` for an opaque surface.
    pub alpha_cutoff: Option<f32>,
    /// Image that is multiplied with `base_color` in pictures.
    pub texture: Option<Texture>,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: [0.8, 0.8, 0.8, 1.0],
            alpha_cutoff: None,
            texture: None,
        }
    }
}

/// An image on a surface. It stays encoded: only drawing of pictures decodes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Texture {
    /// Where the image is.
    pub image: Image,
    /// Behaviour outside 0 to 1, across and down.
    pub wrap: [Wrap; 2],
    /// Two rows of an affine map from texture coordinates to the image, where 0, 0 is the upper left corner and 1, 1
    /// the lower right one.
    pub transform: [[f32; 3]; 2],
}

impl Texture {
    /// A transform that leaves texture coordinates as they are.
    pub const IDENTITY: [[f32; 3]; 2] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    /// A transform for formats whose texture coordinates count from the lower edge of the image.
    pub const FROM_BELOW: [[f32; 3]; 2] = [[1.0, 0.0, 0.0], [0.0, -1.0, 1.0]];
}

/// An image in the encoding of its file: PNG or JPEG, colours in sRGB.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Image {
    /// The bytes of the file, embedded in the model's own.
    Embedded(Arc<[u8]>),
    /// A file beside the model's own.
    File(PathBuf),
}

/// A decoded image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels across and down.
    pub size: [u32; 2],
    /// RGBA, 8 bits each, colours in sRGB; rows from the top.
    pub rgba: Vec<u8>,
}

/// Behaviour of a texture outside 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wrap {
    /// The image starts again.
    #[default]
    Repeat,
    /// The image is mirrored at each whole number.
    Mirror,
    /// The image's edge goes on.
    Clamp,
}

/// The parts of a model, before they are checked against each other.
#[derive(Debug, Clone)]
pub struct ModelParts {
    /// Display name.
    pub name: String,
    /// The file's axes.
    pub axes: Axes,
    /// Joints, parents first.
    pub skeleton: Skeleton,
    /// Skins; primitives name them by index.
    pub skins: Vec<SkinData>,
    /// Clips in file order.
    pub clips: Vec<Clip>,
    /// Primitives in `dump` order.
    pub primitives: Vec<PrimitiveData>,
    /// Morph targets; the deltas of primitives and the weight tracks of clips name them by index.
    pub targets: Vec<Target>,
    /// Materials; primitives name them by index.
    pub materials: Vec<Material>,
    /// What the importer left out or repaired.
    pub notes: Notes,
}

impl ModelParts {
    /// The parts of a model of one skin, with Y up, and without clips, targets, materials and notes.
    pub fn new(
        name: impl Into<String>,
        skeleton: Skeleton,
        skin: SkinData,
        primitives: Vec<PrimitiveData>,
    ) -> Self {
        Self {
            name: name.into(),
            axes: Axes::Y_UP,
            skeleton,
            skins: vec![skin],
            clips: Vec::new(),
            primitives,
            targets: Vec::new(),
            materials: Vec::new(),
            notes: Notes::default(),
        }
    }
}
