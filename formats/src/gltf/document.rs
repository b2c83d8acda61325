//! The JSON document: the properties that skinning needs, under the specification's names.
//!
//! The `gltf` crate's types are not used: they wrap an index of 2^32 to 0 and refuse valid files (animation channels
//! without a node, scenes without nodes, textures without a source).

use super::extras::{self, Extras};
use crate::budget::Budget;
use crate::ignored::{Ignored, NothingRead, UNREAD, has, note_unread};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::Notes;
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Document {
    extensions_used: Vec<String>,
    pub asset: Asset,
    pub accessors: Vec<Accessor>,
    pub animations: Vec<Animation>,
    pub buffers: Vec<Buffer>,
    pub buffer_views: Vec<BufferView>,
    pub images: Vec<Image>,
    pub materials: Vec<Material>,
    pub meshes: Vec<Mesh>,
    pub nodes: Vec<Node>,
    pub samplers: Vec<TextureSampler>,
    /// Index of the scene to show.
    pub scene: Option<u32>,
    pub scenes: Vec<Scene>,
    pub skins: Vec<Skin>,
    pub textures: Vec<Texture>,
    _extensions: NothingRead,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Asset {
    #[serde(default)]
    version: Value,
    min_version: Option<String>,
    #[serde(default, deserialize_with = "extras::read")]
    pub extras: Extras,
    #[serde(default)]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Buffer {
    pub uri: Option<String>,
    pub byte_length: u64,
    #[serde(default)]
    pub extensions: BufferExtensions,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct BufferExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    ext: Option<Fallback>,
    #[serde(rename = "KHR_meshopt_compression")]
    khr: Option<Fallback>,
}

/// A buffer for readers that do not decompress.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Fallback {
    fallback: bool,
}

impl BufferExtensions {
    /// Returns whether all views of the buffer are compressed elsewhere, so that it may have no bytes.
    pub fn is_fallback(&self) -> bool {
        let uses = [&self.ext, &self.khr].into_iter().flatten();
        uses.into_iter().any(|it| it.fallback)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferView {
    pub buffer: u32,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: Option<u64>,
    #[serde(default)]
    pub extensions: ViewExtensions,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct ViewExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    ext: Option<Box<Compression>>,
    #[serde(rename = "KHR_meshopt_compression")]
    khr: Option<Box<Compression>>,
}

impl ViewExtensions {
    /// How the view is compressed, with the name of the extension; `None` if it is not.
    pub fn compression(&self) -> Option<(&'static str, &Compression)> {
        let [ext, khr] = COMPRESSED;
        match (&self.khr, &self.ext) {
            (Some(compression), _) => Some((khr, compression)),
            (None, Some(compression)) => Some((ext, compression)),
            (None, None) => None,
        }
    }
}

/// A compressed stream, and what it stands for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compression {
    pub buffer: u32,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: u64,
    pub count: u64,
    pub mode: Mode,
    #[serde(default)]
    pub filter: Filter,
}

impl Compression {
    /// The stream's place in its buffer; `None` if no buffer is that long.
    pub fn range(&self) -> Option<Range<usize>> {
        let end = self.byte_offset.checked_add(self.byte_length)?;
        Some(usize::try_from(self.byte_offset).ok()?..usize::try_from(end).ok()?)
    }
}

/// What a compressed stream holds.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub enum Mode {
    Attributes,
    Triangles,
    Indices,
}

/// How numbers were changed before they were compressed.
#[derive(Deserialize, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub enum Filter {
    #[default]
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

#[derive(Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "camelCase")]
pub struct Accessor {
    pub buffer_view: Option<u32>,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: u64,
    #[serde(rename = "type")]
    pub shape: String,
    pub sparse: Option<Box<Sparse>>,
    #[serde(default)]
    _extensions: NothingRead,
}

#[derive(Deserialize, PartialEq, Eq, Hash)]
pub struct Sparse {
    pub count: u64,
    pub indices: SparseView,
    pub values: SparseView,
}

#[derive(Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "camelCase")]
pub struct SparseView {
    pub buffer_view: u32,
    #[serde(default)]
    pub byte_offset: u64,
    /// Of indices; values have that of their accessor.
    #[serde(default)]
    pub component_type: u32,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Scene {
    pub name: String,
    /// Root nodes.
    pub nodes: Vec<u32>,
    #[serde(rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct NodeExtensions {
    #[serde(rename = "MSFT_lod")]
    pub levels: Option<Box<Levels>>,
}

/// Nodes that may be shown in place of a node, with less detail.
#[derive(Deserialize)]
pub struct Levels {
    pub ids: Vec<u32>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Node {
    pub name: String,
    pub children: Vec<u32>,
    /// Column by column.
    pub matrix: Option<Box<[f32; 16]>>,
    pub translation: Option<[f32; 3]>,
    pub rotation: Option<[f32; 4]>,
    pub scale: Option<[f32; 3]>,
    pub mesh: Option<u32>,
    pub skin: Option<u32>,
    /// Weights of the mesh's morph targets, in place of the mesh's own.
    pub weights: Option<Vec<f32>>,
    pub extensions: NodeExtensions,
}

impl Node {
    /// The nodes that are its levels of detail.
    pub fn levels(&self) -> &[u32] {
        let levels = self.extensions.levels.as_ref();
        levels.map_or(&[], |levels| &levels.ids)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skin {
    #[serde(default)]
    pub name: String,
    pub joints: Vec<u32>,
    pub inverse_bind_matrices: Option<u32>,
}

#[derive(Deserialize)]
pub struct Mesh {
    pub primitives: Vec<Primitive>,
    /// Default weights of the morph targets.
    pub weights: Option<Vec<f32>>,
    #[serde(default, deserialize_with = "extras::read")]
    pub extras: Extras,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
pub struct Primitive {
    pub attributes: BTreeMap<String, u32>,
    pub indices: Option<u32>,
    pub material: Option<u32>,
    pub mode: Option<u32>,
    #[serde(default)]
    pub targets: Vec<BTreeMap<String, u32>>,
    #[serde(default, deserialize_with = "extras::read")]
    pub extras: Extras,
    #[serde(default)]
    pub extensions: BTreeMap<String, IgnoredAny>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Material {
    pub name: String,
    pub alpha_mode: Option<String>,
    pub alpha_cutoff: Option<f32>,
    pub pbr_metallic_roughness: PbrMetallicRoughness,
    _extensions: NothingRead,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PbrMetallicRoughness {
    pub base_color_factor: [f32; 4],
    pub base_color_texture: Option<TextureInfo>,
    _extensions: NothingRead,
}

impl Default for PbrMetallicRoughness {
    fn default() -> Self {
        Self {
            base_color_factor: [1.0; 4],
            base_color_texture: None,
            _extensions: NothingRead,
        }
    }
}

/// A material's use of a texture.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextureInfo {
    pub index: u32,
    #[serde(default)]
    pub tex_coord: u32,
    #[serde(default)]
    pub extensions: TextureExtensions,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct TextureExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub transform: Option<TextureTransform>,
}

/// Applied to texture coordinates in the order scale, rotation, offset.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TextureTransform {
    pub offset: [f32; 2],
    /// Radians, counter-clockwise as the image is seen.
    pub rotation: f32,
    pub scale: [f32; 2],
    pub tex_coord: Option<u32>,
}

impl Default for TextureTransform {
    fn default() -> Self {
        Self {
            offset: [0.0; 2],
            rotation: 0.0,
            scale: [1.0; 2],
            tex_coord: None,
        }
    }
}

#[derive(Deserialize)]
pub struct Texture {
    pub sampler: Option<u32>,
    pub source: Option<u32>,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextureSampler {
    pub wrap_s: Option<u32>,
    pub wrap_t: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    pub uri: Option<String>,
    pub buffer_view: Option<u32>,
    #[serde(default)]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
pub struct Animation {
    #[serde(default)]
    pub name: String,
    pub channels: Vec<Channel>,
    pub samplers: Vec<Sampler>,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
pub struct Channel {
    pub sampler: u32,
    pub target: Target,
}

#[derive(Deserialize)]
pub struct Target {
    pub node: Option<u32>,
    pub path: String,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
pub struct Sampler {
    pub input: u32,
    pub output: u32,
    pub interpolation: Option<String>,
}

/// Properties that must be checked before the rest is parsed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Preamble {
    asset: Asset,
    #[serde(default)]
    extensions_required: Vec<String>,
}

/// The extensions of compressed buffer views.
const COMPRESSED: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];
/// Extensions that are read where they matter here. A file may require the first three, beside those that are ignored.
const READ: &[&str] = &[
    COMPRESSED[0],
    COMPRESSED[1],
    // It changes types of numbers, all of which are read.
    "KHR_mesh_quantization",
    "KHR_texture_transform",
    "MSFT_lod",
];
const REQUIRABLE: usize = 3;

/// Properties that change neither vertices nor base colours, and extensions for the look of surfaces, for lights and for
/// descriptions of the file.
pub const IGNORED: Ignored = &[
    "*extras",
    "*.name",
    "accessors[].max",
    "accessors[].min",
    "asset.copyright",
    "asset.generator",
    "bufferViews[].target",
    "cameras*",
    "images[].mimeType",
    "materials[].doubleSided",
    "materials[].emissiveFactor",
    "materials[].emissiveTexture",
    "materials[].normalTexture",
    "materials[].occlusionTexture",
    "materials[].pbrMetallicRoughness.metallicFactor",
    "materials[].pbrMetallicRoughness.metallicRoughnessTexture",
    "materials[].pbrMetallicRoughness.roughnessFactor",
    "meshes[].primitives[].attributes.COLOR_*",
    "meshes[].primitives[].attributes.TEXCOORD_*",
    "meshes[].primitives[].attributes._*",
    "meshes[].primitives[].targets[].COLOR_*",
    "meshes[].primitives[].targets[].TEXCOORD_*",
    "nodes[].camera",
    "samplers[].magFilter",
    "samplers[].minFilter",
    "skins[].skeleton",
    "extensions.EXT_lights_*",
    "extensions.EXT_materials_*",
    "extensions.EXT_texture_*",
    "extensions.FB_ngon_encoding",
    "extensions.KHR_lights_*",
    "extensions.KHR_materials_*",
    "extensions.KHR_texture_*",
    "extensions.KHR_xmp*",
    "extensions.MSFT_texture_*",
];

/// The name of an unread property in [`IGNORED`]: that of an extension is the same in all objects.
fn listed_name(path: &str) -> &str {
    match path.rfind("extensions.") {
        Some(start) => &path[start..],
        None => path,
    }
}

/// Memory that one object of the JSON may take, for the structures above and those built from them.
const BYTES_PER_OBJECT: u64 = 544;

impl Document {
    /// Parses the JSON, and notes what is not read; refuses other versions and required extensions that are not supported.
    pub fn parse(json: &[u8], binary: bool, budget: &Budget, notes: &mut Notes) -> Result<Self> {
        let preamble: Preamble = from_json(json, binary, |_| {})?;
        let version = &preamble.asset.version;
        ensure!(
            version.as_str().is_some_and(|text| text.starts_with("2.")),
            "asset.version",
            "{version}; expected \"2.0\""
        );
        if let Some(minimum) = preamble.asset.min_version.filter(|v| v != "2.0") {
            bail!("asset.minVersion", "{minimum:?}; expected \"2.0\"");
        }
        for (index, name) in preamble.extensions_required.iter().enumerate() {
            ensure!(
                READ[..REQUIRABLE].contains(&name.as_str())
                    || has(IGNORED, &format!("extensions.{name}")),
                format!("extensionsRequired[{index}]"),
                "{name} is not supported; expected {} or extensions of materials only",
                READ[..REQUIRABLE].join(", ")
            );
        }
        // "{}," is three bytes in a file but a hundred bytes as a node.
        let objects = json.iter().filter(|&&b| b == b'{').count() as u64;
        budget.charge(objects.saturating_mul(BYTES_PER_OBJECT), || {
            format!("JSON of {objects} objects")
        })?;
        let document: Self = from_json(json, binary, |path| {
            // The preamble has it.
            if path != "extensionsRequired" {
                note_unread(IGNORED, listed_name(path), notes);
            }
        })?;
        for primitive in document.meshes.iter().flat_map(|mesh| &mesh.primitives) {
            primitive.note_unread(notes);
        }
        for name in &document.extensions_used {
            let listed = format!("extensions.{name}");
            if !READ.contains(&name.as_str()) && !notes.has_name(UNREAD, &listed) {
                note_unread(IGNORED, &listed, notes);
            }
        }
        Ok(document)
    }
}

impl Primitive {
    /// Returns whether it has points or lines.
    pub fn is_without_triangles(&self) -> bool {
        self.mode.is_some_and(|mode| mode < 4)
    }

    /// Notes extensions; and attributes, and those of targets, under names that are not read.
    fn note_unread(&self, notes: &mut Notes) {
        for name in self.extensions.keys() {
            note_unread(IGNORED, &format!("extensions.{name}"), notes);
        }
        for name in self.attributes.keys() {
            if !is_read(name) {
                let name = format!("meshes[].primitives[].attributes.{name}");
                note_unread(IGNORED, &name, notes);
            }
        }
        for name in self.targets.iter().flat_map(BTreeMap::keys) {
            if !["POSITION", "NORMAL", "TANGENT"].contains(&name.as_str()) {
                let name = format!("meshes[].primitives[].targets[].{name}");
                note_unread(IGNORED, &name, notes);
            }
        }
    }
}

/// Returns whether attributes of this name are read.
pub fn is_read(attribute: &str) -> bool {
    let set = attribute
        .strip_prefix("JOINTS_")
        .or(attribute.strip_prefix("WEIGHTS_"));
    ["POSITION", "NORMAL", "TANGENT", "TEXCOORD_0", "COLOR_0"].contains(&attribute)
        || set.is_some_and(|set| set.parse::<u32>().is_ok())
}

fn from_json<T: DeserializeOwned>(
    json: &[u8],
    binary: bool,
    unread: impl FnMut(&str),
) -> Result<T> {
    crate::read_file::from_json(json, unread).map_err(|fault| {
        if binary {
            fault.within("JSON chunk")
        } else {
            fault
        }
    })
}
