//! The JSON document: the properties that skinning needs, under the specification's names.
//!
//! The `gltf` crate's types are not used: they wrap an index of 2^32 to 0 and refuse valid files (animation channels
//! without a node, scenes without nodes, textures without a source).

use super::extras::{self, Extras};
use crate::budget::Budget;
use crate::fault::{Fault, ensure};
use crate::unread::{self, Ignored, NothingRead, Unread};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Document {
    extensions_used: Vec<String>,
    pub(super) asset: Asset,
    pub(super) accessors: Vec<Accessor>,
    pub(super) animations: Vec<Animation>,
    pub(super) buffers: Vec<Buffer>,
    pub(super) buffer_views: Vec<BufferView>,
    pub(super) images: Vec<Image>,
    pub(super) materials: Vec<Material>,
    pub(super) meshes: Vec<Mesh>,
    pub(super) nodes: Vec<Node>,
    pub(super) samplers: Vec<TextureSampler>,
    /// Index of the scene to show.
    pub(super) scene: Option<u32>,
    pub(super) scenes: Vec<Scene>,
    pub(super) skins: Vec<Skin>,
    pub(super) textures: Vec<Texture>,
    #[serde(rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asset {
    version: String,
    min_version: Option<String>,
    #[serde(default, deserialize_with = "extras::read")]
    pub(super) extras: Extras,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub(super) uri: Option<String>,
    pub(super) byte_length: u64,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub(super) buffer: u32,
    #[serde(default)]
    pub(super) byte_offset: u64,
    pub(super) byte_length: u64,
    pub(super) byte_stride: Option<u64>,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub(super) buffer_view: Option<u32>,
    #[serde(default)]
    pub(super) byte_offset: u64,
    pub(super) component_type: u32,
    #[serde(default)]
    pub(super) normalized: bool,
    pub(super) count: u64,
    #[serde(rename = "type")]
    pub(super) shape: String,
    pub(super) sparse: Option<Box<Sparse>>,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize, PartialEq, Eq, Hash)]
pub(super) struct Sparse {
    pub(super) count: u64,
    pub(super) indices: SparsePart,
    pub(super) values: SparsePart,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparsePart {
    pub(super) buffer_view: u32,
    #[serde(default)]
    pub(super) byte_offset: u64,
    /// Of indices; values have that of their accessor.
    #[serde(default)]
    pub(super) component_type: u32,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Scene {
    pub(super) name: String,
    /// Root nodes.
    pub(super) nodes: Vec<u32>,
    #[serde(rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct NodeExtensions {
    #[serde(rename = "MSFT_lod")]
    pub(super) levels: Option<Box<Levels>>,
}

/// Nodes that may be shown in place of a node, with less detail.
#[derive(Deserialize)]
pub(super) struct Levels {
    pub(super) ids: Vec<u32>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) children: Vec<u32>,
    /// Column by column.
    pub(super) matrix: Option<Box<[f32; 16]>>,
    pub(super) translation: Option<[f32; 3]>,
    pub(super) rotation: Option<[f32; 4]>,
    pub(super) scale: Option<[f32; 3]>,
    pub(super) mesh: Option<u32>,
    pub(super) skin: Option<u32>,
    /// Weights of the mesh's morph targets, in place of the mesh's own.
    pub(super) weights: Option<Vec<f32>>,
    pub(super) extensions: NodeExtensions,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    #[serde(default)]
    pub(super) name: String,
    pub(super) joints: Vec<u32>,
    pub(super) inverse_bind_matrices: Option<u32>,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
pub(super) struct Mesh {
    pub(super) primitives: Vec<Primitive>,
    /// Default weights of the morph targets.
    pub(super) weights: Option<Vec<f32>>,
    #[serde(default, deserialize_with = "extras::read")]
    pub(super) extras: Extras,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
pub(super) struct Primitive {
    pub(super) attributes: BTreeMap<String, u32>,
    pub(super) indices: Option<u32>,
    pub(super) material: Option<u32>,
    pub(super) mode: Option<u32>,
    #[serde(default)]
    pub(super) targets: Vec<BTreeMap<String, u32>>,
    #[serde(default, deserialize_with = "extras::read")]
    pub(super) extras: Extras,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Material {
    pub(super) name: String,
    pub(super) alpha_mode: Option<String>,
    pub(super) alpha_cutoff: Option<f32>,
    pub(super) pbr_metallic_roughness: PbrMetallicRoughness,
    #[serde(rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PbrMetallicRoughness {
    pub(super) base_color_factor: [f32; 4],
    pub(super) base_color_texture: Option<TextureInfo>,
    #[serde(rename = "extensions")]
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
pub(super) struct TextureInfo {
    pub(super) index: u32,
    #[serde(default)]
    pub(super) tex_coord: u32,
    #[serde(default)]
    pub(super) extensions: TextureExtensions,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct TextureExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub(super) transform: Option<TextureTransform>,
}

/// Applied to texture coordinates in the order scale, rotation, offset.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TextureTransform {
    pub(super) offset: [f32; 2],
    /// Radians, counter-clockwise as the image is seen.
    pub(super) rotation: f32,
    pub(super) scale: [f32; 2],
    pub(super) tex_coord: Option<u32>,
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
pub(super) struct Texture {
    pub(super) sampler: Option<u32>,
    pub(super) source: Option<u32>,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureSampler {
    pub(super) wrap_s: Option<u32>,
    pub(super) wrap_t: Option<u32>,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Image {
    pub(super) uri: Option<String>,
    pub(super) buffer_view: Option<u32>,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
pub(super) struct Animation {
    #[serde(default)]
    pub(super) name: String,
    pub(super) channels: Vec<Channel>,
    pub(super) samplers: Vec<Sampler>,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
pub(super) struct Channel {
    pub(super) sampler: u32,
    pub(super) target: Target,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
pub(super) struct Target {
    pub(super) node: Option<u32>,
    pub(super) path: String,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

#[derive(Deserialize)]
pub(super) struct Sampler {
    pub(super) input: u32,
    pub(super) output: u32,
    pub(super) interpolation: Option<String>,
    #[serde(default, rename = "extensions")]
    _extensions: NothingRead,
}

/// Properties that must be checked before the rest is parsed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Preamble {
    asset: Asset,
    #[serde(default)]
    extensions_required: Vec<String>,
}

/// The extension that a file may require beside those that are ignored: it changes types of numbers, all of which are
/// read.
const SUPPORTED: &str = "KHR_mesh_quantization";
/// Extensions that are read where they matter here.
const READ: &[&str] = &[SUPPORTED, "KHR_texture_transform", "MSFT_lod"];

/// Properties that change neither vertices nor base colours, and extensions for the look of surfaces, for lights and for
/// descriptions of the file.
pub(crate) const IGNORED: Ignored = &[
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
    /// Parses the JSON; refuses other versions and required extensions that are not supported.
    ///
    /// Returns also what it did not read.
    pub(super) fn parse(
        json: &[u8],
        binary: bool,
        budget: &Budget,
    ) -> Result<(Self, Unread), Fault> {
        let preamble: Preamble = from_json(json, binary, |_| {})?;
        let Asset {
            version,
            min_version,
            ..
        } = &preamble.asset;
        ensure(version.starts_with("2."), || {
            Fault::new("asset.version", format!("{version:?}; expected \"2.0\""))
        })?;
        if let Some(minimum) = min_version.as_ref().filter(|v| *v != "2.0") {
            return Err(Fault::new(
                "asset.minVersion",
                format!("{minimum:?}; expected \"2.0\""),
            ));
        }
        for (index, name) in preamble.extensions_required.iter().enumerate() {
            let known = name == SUPPORTED || unread::has(IGNORED, &format!("extensions.{name}"));
            ensure(known, || {
                let expected = "expected KHR_mesh_quantization or extensions of materials only";
                let problem = format!("{name} is not supported; {expected}");
                Fault::new(format!("extensionsRequired[{index}]"), problem)
            })?;
        }
        // "{}," is three bytes in a file but a hundred bytes as a node.
        let objects = json.iter().filter(|&&b| b == b'{').count() as u64;
        budget.charge(objects.saturating_mul(BYTES_PER_OBJECT), || {
            format!("JSON of {objects} objects")
        })?;
        let mut unread = Unread::new(IGNORED);
        let document: Self = from_json(json, binary, |path| {
            // The preamble has it.
            if path != "extensionsRequired" {
                unread.add(listed_name(path));
            }
        })?;
        for name in &document.extensions_used {
            if !READ.contains(&name.as_str()) {
                unread.add_once(&format!("extensions.{name}"));
            }
        }
        for primitive in document.meshes.iter().flat_map(|mesh| &mesh.primitives) {
            primitive.note_unread(&mut unread);
        }
        Ok((document, unread))
    }
}

impl Primitive {
    /// Returns whether it has points or lines.
    pub(super) fn is_without_triangles(&self) -> bool {
        self.mode.is_some_and(|mode| mode < 4)
    }

    /// Notes attributes, and those of targets, under names that are not read.
    fn note_unread(&self, unread: &mut Unread) {
        for name in self.attributes.keys() {
            if !is_read(name) {
                unread.add(&format!("meshes[].primitives[].attributes.{name}"));
            }
        }
        for name in self.targets.iter().flat_map(BTreeMap::keys) {
            if !["POSITION", "NORMAL", "TANGENT"].contains(&name.as_str()) {
                unread.add(&format!("meshes[].primitives[].targets[].{name}"));
            }
        }
    }
}

/// Returns whether attributes of this name are read.
pub(super) fn is_read(attribute: &str) -> bool {
    let set = |prefix| {
        let set = attribute.strip_prefix(prefix);
        set.is_some_and(|set: &str| set.parse::<u32>().is_ok())
    };
    ["POSITION", "NORMAL", "TANGENT", "TEXCOORD_0"].contains(&attribute)
        || set("JOINTS_")
        || set("WEIGHTS_")
}

fn from_json<T: DeserializeOwned>(
    json: &[u8],
    binary: bool,
    unread: impl FnMut(&str),
) -> Result<T, Fault> {
    crate::read_file::from_json(json, unread).map_err(|fault| {
        if binary {
            fault.within("JSON chunk")
        } else {
            fault
        }
    })
}
