//! Description of a model for `skinbench inspect`, as text and as JSON.

use crate::asset::decode;
use crate::compaction;
use crate::crowd::{Crowd, CrowdError, Layer};
use crate::frame::{Purpose, clips_in_place};
use crate::model::{Clip, ClipKeys, Handedness, IDENTITY_ROWS, MAX_INFLUENCES, Model, NO_PARENT};
use crate::pose::{CrowdPose, Width};
use crate::wording::{counted, counted_as, grouped};
use serde::Serialize;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Instances that play the clips in turn while their bytes are counted.
const PLAYING: u32 = 256;
/// Most joints whose names are text; JSON has all.
const LISTED_JOINTS: usize = 32;

/// A model in numbers.
#[derive(Debug, Clone, Serialize)]
pub struct Inspection {
    /// Name of the model.
    pub name: String,
    /// Milliseconds from opening the file to a checked model.
    pub load_ms: f64,
    /// Joints of the skeleton, including ancestors that are not in a skin.
    pub joints: usize,
    /// Joints without a parent.
    pub roots: usize,
    /// Longest chain of joints from a root.
    pub depth: usize,
    /// Joints whose transform to the parent is a fixed matrix.
    pub matrix_joints: usize,
    /// Names of the joints, each after its parent.
    pub hierarchy: Vec<JointSummary>,
    /// Palette entries of each skin.
    pub skins: Vec<SkinSummary>,
    /// Primitives, in `dump` order.
    pub primitives: Vec<PrimitiveSummary>,
    /// Vertices of all primitives.
    pub vertices: usize,
    /// Triangles of all primitives.
    pub triangles: usize,
    /// `true` if every primitive has tangents.
    pub tangents: bool,
    /// `true` if any primitive has texture coordinates.
    pub uvs: bool,
    /// `true` if vertices have colours.
    pub colors: bool,
    /// Vertices by number of influences of weight above 0, from 1 to 16.
    pub influences: [usize; MAX_INFLUENCES],
    /// Morph targets, if the model has some.
    pub targets: Option<TargetSummary>,
    /// Clips in file order.
    pub clips: Vec<ClipSummary>,
    /// Smallest corner of the skinned rest pose.
    pub bounds_min: [f32; 3],
    /// Largest corner of the skinned rest pose.
    pub bounds_max: [f32; 3],
    /// `right` or `left`.
    pub handedness: &'static str,
    /// `x`, `y` or `z`.
    pub up: &'static str,
    /// Bytes that playing takes.
    pub playing: PlayingBytes,
    /// Images of the materials in use.
    pub textures: Vec<TextureSummary>,
    /// What the model lacks or has otherwise than its file.
    pub repairs: Vec<String>,
}

/// A joint's place in the skeleton.
#[derive(Debug, Clone, Serialize)]
pub struct JointSummary {
    /// Name in the file, as masks of layers need it.
    pub name: String,
    /// Index of the parent; `None` for a root.
    pub parent: Option<u16>,
}

/// An image on a surface.
#[derive(Debug, Clone, Serialize)]
pub struct TextureSummary {
    /// Name of the first material that uses it.
    pub material: String,
    /// Width and height in pixels; `None` if its header does not say.
    pub size: Option<[u32; 2]>,
    /// What is wrong with its header.
    pub problem: Option<String>,
}

/// A skin in numbers.
#[derive(Debug, Clone, Serialize)]
pub struct SkinSummary {
    /// Name in the file.
    pub name: String,
    /// Palette entries.
    pub entries: usize,
}

/// Morph targets in numbers.
#[derive(Debug, Clone, Serialize)]
pub struct TargetSummary {
    /// Names and default weights.
    pub list: Vec<(String, f32)>,
    /// Vertices that some target moves.
    pub vertices: usize,
    /// Deltas of all targets together, each for one vertex.
    pub deltas: usize,
    /// Bytes of the store.
    pub bytes: usize,
}

impl TargetSummary {
    fn new(model: &Model) -> Option<Self> {
        let targets = model.mesh().targets();
        if targets.is_empty() {
            return None;
        }
        Some(Self {
            list: targets
                .list()
                .iter()
                .map(|target| (target.name.clone(), target.weight))
                .collect(),
            vertices: targets.moved(),
            deltas: targets.positions().len(),
            bytes: targets.bytes(),
        })
    }
}

/// A primitive in numbers.
#[derive(Debug, Clone, Serialize)]
pub struct PrimitiveSummary {
    /// Index of the skin.
    pub skin: u16,
    /// Vertices in the store.
    pub vertices: u32,
    /// Vertices that `dump` prints: 0 for a rigid mesh on a joint.
    pub dumped: u32,
    /// Triangles.
    pub triangles: u32,
    /// `true` if normals are the file's own.
    pub normals: bool,
    /// Names of the materials.
    pub materials: Vec<String>,
}

/// A clip in numbers.
#[derive(Debug, Clone, Serialize)]
pub struct ClipSummary {
    /// Name in the file.
    pub name: String,
    /// Seconds.
    pub duration: f32,
    /// Joint channels that it drives.
    pub tracks: usize,
    /// Morph targets whose weights it sets.
    pub weights: usize,
    /// Keys of all tracks.
    pub keys: usize,
    /// Bytes of its keys and tracks.
    pub bytes: usize,
    /// Its compact form, as of `--clips compact`; `None` if it stays raw.
    pub compact: Option<CompactSummary>,
}

/// A compact clip in numbers.
#[derive(Debug, Clone, Serialize)]
pub struct CompactSummary {
    /// Bytes of its frames and tracks.
    pub bytes: usize,
    /// Frames, evenly spaced.
    pub frames: u32,
    /// Largest distance from the raw clip at a joint's end, over the skeleton's size.
    pub error: f64,
    /// The joint where it was found.
    pub worst_joint: String,
}

/// A clip in numbers, with its compact form if there is one.
fn summary(model: &Model, clip: &Clip, compact: Option<&Clip>) -> ClipSummary {
    let compact = compact
        .and_then(|clip| clip.keys().compact())
        .map(|compact| CompactSummary {
            bytes: compact.bytes(),
            frames: compact.frames,
            error: compact.error.distance,
            worst_joint: model.skeleton().names()[usize::from(compact.error.joint)].clone(),
        });
    let (tracks, keys) = match clip.keys() {
        ClipKeys::Raw(raw) => (
            raw.tracks().len(),
            raw.tracks().iter().map(|t| raw.times_of(t).len()).sum(),
        ),
        ClipKeys::Compact(compact) => {
            let moving = compact.tracks.len();
            let still = compact.still.len();
            (moving + still, compact.frames as usize * moving + still)
        }
    };
    ClipSummary {
        name: clip.name().to_owned(),
        duration: clip.duration(),
        tracks,
        weights: clip.weights().iter().map(|track| track.targets.len()).sum(),
        keys,
        bytes: clip.bytes(),
        compact,
    }
}

/// Bytes that posing reads while instances play the clips in turn: clips, the skeleton, layers, and what kernels keep of clips.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PlayingBytes {
    /// Number of instances.
    pub instances: u32,
    /// With the clips as they are.
    pub stored: u64,
    /// With compact clips; absent if their poses are not finite.
    pub compact: Option<u64>,
}

/// Bytes that posing reads while 256 instances play the clips of a model in turn; 0 without clips.
///
/// # Errors
/// The crowd is refused.
pub fn playing_bytes(model: &Arc<Model>) -> Result<u64, CrowdError> {
    let clips = model.clips().len() as u32;
    if clips == 0 {
        return Ok(0);
    }
    let instances = (0..PLAYING).map(|index| (IDENTITY_ROWS, [Layer::held(index % clips, 0.0)]));
    let mut crowd = Crowd::new();
    crowd.push_group(Arc::clone(model), instances)?;
    let kept = CrowdPose::bytes(&crowd, Width::Block, 1).clips;
    Ok(clips_in_place(&crowd).get(Purpose::Clips) + kept)
}

impl Inspection {
    /// Describes a model that took `load` to load.
    pub fn new(model: Model, load: Duration) -> Self {
        let model = Arc::new(model);
        let skeleton = model.skeleton();
        let mesh = model.mesh();
        let mut depths: Vec<usize> = Vec::with_capacity(skeleton.len());
        for &parent in skeleton.parents() {
            depths.push(depths.get(usize::from(parent)).map_or(1, |d| d + 1));
        }
        let mut influences = [0; MAX_INFLUENCES];
        for vertex in 0..mesh.vertex_count() {
            let mut held = 0;
            for (_, weight) in mesh.influences_of(vertex) {
                held += usize::from(weight > 0.0);
            }
            influences[held.clamp(1, MAX_INFLUENCES) - 1] += 1;
        }
        let mut hierarchy = Vec::with_capacity(skeleton.len());
        for (name, &parent) in skeleton.names().iter().zip(skeleton.parents()) {
            hierarchy.push(JointSummary {
                name: name.clone(),
                parent: (parent != NO_PARENT).then_some(parent),
            });
        }
        let axes = model.axes();
        // If poses are not finite, the clips stay raw.
        let compact = compaction::compacted(Model::clone(&model), compaction::ERROR)
            .ok()
            .map(Arc::new);
        let mut clips = Vec::new();
        for (index, clip) in model.clips().iter().enumerate() {
            let compact = compact.as_ref().map(|model| &model.clips()[index]);
            clips.push(summary(&model, clip, compact));
        }
        let playing = PlayingBytes {
            instances: PLAYING,
            // A clip that does not play by itself, as an additive one, plays nothing.
            stored: playing_bytes(&model).unwrap_or(0),
            compact: compact.and_then(|model| playing_bytes(&model).ok()),
        };
        let mut primitives = Vec::new();
        for primitive in mesh.primitives() {
            let mut triangles = 0;
            let mut materials = Vec::new();
            for subset in &primitive.subsets {
                triangles += subset.indices.len() as u32 / 3;
                materials.push(model.materials()[usize::from(subset.material)].name.clone());
            }
            primitives.push(PrimitiveSummary {
                skin: primitive.skin,
                vertices: primitive.vertex_count,
                dumped: primitive.dumped_vertices,
                triangles,
                normals: primitive.has_normals,
                materials,
            });
        }
        Self {
            name: model.name().to_owned(),
            load_ms: load.as_secs_f64() * 1e3,
            joints: skeleton.len(),
            roots: depths.iter().filter(|d| **d == 1).count(),
            depth: depths.iter().copied().max().unwrap_or(0),
            matrix_joints: skeleton.matrices().len(),
            hierarchy,
            skins: model
                .skins()
                .iter()
                .map(|s| SkinSummary {
                    name: s.name.clone(),
                    entries: s.entries.len(),
                })
                .collect(),
            primitives,
            vertices: mesh.vertex_count(),
            triangles: mesh.indices().len() / 3,
            tangents: mesh.tangents().is_some(),
            uvs: mesh.uvs().is_some(),
            colors: mesh.colors().is_some(),
            influences,
            targets: TargetSummary::new(&model),
            clips,
            bounds_min: model.bounds().min.to_array(),
            bounds_max: model.bounds().max.to_array(),
            handedness: match axes.handedness {
                Handedness::Right => "right",
                Handedness::Left => "left",
            },
            up: ["x", "y", "z"][usize::from(axes.up.min(2))],
            playing,
            textures: textures(&model),
            repairs: model.notes().lines().collect(),
        }
    }
}

/// The images of the materials in use, each once. Their sizes are those of their headers: a small file may hold many
/// large images.
fn textures(model: &Model) -> Vec<TextureSummary> {
    let mut known = HashSet::new();
    let mut textures = Vec::new();
    for subset in model
        .mesh()
        .primitives()
        .iter()
        .flat_map(|primitive| &primitive.subsets)
    {
        let material = &model.materials()[usize::from(subset.material)];
        let Some(texture) = material
            .texture
            .as_ref()
            .filter(|texture| known.insert(&texture.image))
        else {
            continue;
        };
        let size = decode::size(&texture.image);
        textures.push(TextureSummary {
            material: material.name.clone(),
            size: size.as_ref().ok().copied(),
            problem: size.err(),
        });
    }
    textures
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self {
            name,
            load_ms,
            joints,
            roots,
            depth,
            matrix_joints,
            vertices,
            triangles,
            ..
        } = self;
        writeln!(f, "{name} (loaded in {load_ms:.1} ms)")?;
        let by_matrix = match matrix_joints {
            0 => String::new(),
            count => format!(", {count} moved by a fixed matrix"),
        };
        writeln!(
            f,
            "skeleton    {}, {}, at most {depth} in a row{by_matrix}",
            counted(*joints as u64, "joint"),
            counted(*roots as u64, "root")
        )?;
        if self.hierarchy.len() <= LISTED_JOINTS {
            let mut depths: Vec<usize> = Vec::new();
            for joint in &self.hierarchy {
                let depth = joint
                    .parent
                    .map_or(0, |parent| depths[usize::from(parent)] + 1);
                writeln!(f, "    {:1$}{2:?}", "", 2 * depth, joint.name)?;
                depths.push(depth);
            }
        } else {
            writeln!(f, "    --json lists the joints by name")?;
        }
        for (index, skin) in self.skins.iter().enumerate() {
            writeln!(
                f,
                "skin {index:<6} {:?}, {}",
                skin.name,
                counted(skin.entries as u64, "joint")
            )?;
        }
        let tangents = if self.tangents { ", tangents" } else { "" };
        let uvs = if self.uvs { ", uvs" } else { "" };
        let colors = if self.colors { ", colours" } else { "" };
        writeln!(
            f,
            "mesh        {}, {}, normals{tangents}{uvs}{colors}",
            counted_as(*vertices as u64, "vertex", "vertices"),
            counted(*triangles as u64, "triangle")
        )?;
        for (index, primitive) in self.primitives.iter().enumerate() {
            let PrimitiveSummary {
                skin,
                vertices,
                triangles,
                ..
            } = primitive;
            let materials: Vec<_> = primitive
                .materials
                .iter()
                .map(|name| format!("{name:?}"))
                .collect();
            let materials = materials.join(" ");
            let way = if primitive.dumped == 0 {
                ", rigid"
            } else if primitive.normals {
                ""
            } else {
                ", normals generated"
            };
            writeln!(
                f,
                "primitive {index} {}, {}, skin {skin}, {materials}{way}",
                counted_as((*vertices).into(), "vertex", "vertices"),
                counted((*triangles).into(), "triangle")
            )?;
        }
        let mut held = Vec::new();
        for (index, count) in self.influences.iter().enumerate() {
            if *count > 0 {
                held.push(format!("{}: {}", index + 1, grouped(*count as u64)));
            }
        }
        writeln!(f, "influences  {}", held.join(", "))?;
        if let Some(TargetSummary {
            list,
            vertices,
            deltas,
            bytes,
        }) = &self.targets
        {
            writeln!(
                f,
                "targets     {} on {}, {}, {}",
                list.len(),
                counted_as(*vertices as u64, "vertex", "vertices"),
                counted(*deltas as u64, "delta"),
                counted(*bytes as u64, "byte")
            )?;
            for (index, (name, weight)) in list.iter().enumerate() {
                writeln!(f, "target {index:<4} {name:?}, weight {weight}")?;
            }
        }
        for (index, clip) in self.clips.iter().enumerate() {
            let ClipSummary {
                name,
                duration,
                tracks,
                weights,
                keys,
                bytes: whole,
                compact,
            } = clip;
            let weights = if *weights > 0 {
                format!(", {}", counted(*weights as u64, "weight"))
            } else {
                String::new()
            };
            writeln!(
                f,
                "clip {index:<6} {name:?}, {duration:.4} s, {}, {}, {}{weights}",
                counted(*tracks as u64, "track"),
                counted(*keys as u64, "key"),
                counted(*whole as u64, "byte")
            )?;
            if let Some(CompactSummary {
                bytes,
                frames,
                error,
                worst_joint,
            }) = compact
            {
                let percent = 100.0 * *bytes as f64 / (*whole).max(1) as f64;
                write!(
                    f,
                    "    compact {}, {} ({percent:.0} %), ",
                    counted((*frames).into(), "frame"),
                    counted(*bytes as u64, "byte")
                )?;
                writeln!(f, "off by {error:.1e} of the skeleton at {worst_joint:?}")?;
            } else {
                writeln!(
                    f,
                    "    compact no smaller within {:.0e} of the skeleton",
                    compaction::ERROR
                )?;
            }
        }
        let Self {
            bounds_min,
            bounds_max,
            handedness,
            up,
            ..
        } = self;
        writeln!(
            f,
            "bounds      {bounds_min:?} to {bounds_max:?}\naxes        {handedness}-handed, {up} up"
        )?;
        for TextureSummary {
            material,
            size,
            problem,
        } in &self.textures
        {
            let problem = problem.as_deref().unwrap_or("not decoded");
            match size {
                Some([width, height]) => {
                    writeln!(f, "texture     {material:?}, {width} x {height} pixels")?
                }
                None => writeln!(
                    f,
                    "texture     {material:?}, drawn in its plain colour: {problem}"
                )?,
            }
        }
        let PlayingBytes {
            instances,
            stored,
            compact,
        } = self.playing;
        if stored > 0 {
            write!(
                f,
                "playing     {instances} instances read {} of clips",
                counted(stored, "byte")
            )?;
            if let Some(compact) = compact {
                write!(f, ", {} if compact", grouped(compact))?;
            }
            writeln!(f)?;
        }
        if self.repairs.is_empty() {
            writeln!(f, "repairs     none")?;
        }
        for repair in &self.repairs {
            writeln!(f, "repaired    {repair}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characters::{self, walker};

    #[test]
    fn numbers_are_the_models_own() {
        let chain = Inspection::new(characters::chain_64().unwrap(), Duration::from_millis(3));
        assert_eq!(
            (chain.joints, chain.roots, chain.depth, chain.load_ms),
            (64, 1, 64, 3.0)
        );
        let star = Inspection::new(characters::star_64().unwrap(), Duration::ZERO);
        assert_eq!((star.joints, star.roots, star.depth), (64, 1, 2));
        let person = walker(1_000).unwrap();
        let inspection = Inspection::new(person.clone(), Duration::ZERO);
        assert_eq!(
            inspection.influences.iter().sum::<usize>(),
            person.mesh().vertex_count()
        );
        assert_eq!(inspection.influences[4..], [0; 12]);
        assert_eq!(
            inspection
                .primitives
                .iter()
                .map(|p| p.triangles as usize)
                .sum::<usize>(),
            inspection.triangles
        );
        assert_eq!(
            inspection
                .clips
                .iter()
                .map(|c| c.name.as_str())
                .collect::<Vec<_>>(),
            ["idle", "walk", "run", "wave"]
        );
        let PlayingBytes {
            instances,
            stored,
            compact,
        } = inspection.playing;
        assert_eq!(instances, 256);
        let of_clips: usize = inspection.clips.iter().map(|clip| clip.bytes).sum();
        assert!(stored > of_clips as u64, "{stored}");
        assert!(compact.is_some_and(|bytes| bytes <= 62_000), "{compact:?}");
        let text = inspection.to_string();
        assert!(
            text.lines()
                .all(|line| line.len() <= 80 || !line.starts_with("playing")),
            "{text}"
        );
        let names: Vec<&str> = inspection
            .hierarchy
            .iter()
            .map(|joint| joint.name.as_str())
            .collect();
        assert_eq!(names, person.skeleton().names());
        assert_eq!(inspection.hierarchy[0].parent, None);
        assert!(text.contains("--json lists the joints by name"), "{text}");
        assert!(
            text.contains("67 joints, 1 root") && text.contains("right-handed, y up"),
            "{text}"
        );
        assert!(
            serde_json::to_string(&inspection)
                .unwrap()
                .contains("\"joints\":67")
        );
    }

    #[test]
    fn one_of_a_kind_is_singular() {
        let mut inspection = Inspection::new(characters::star_64().unwrap(), Duration::ZERO);
        inspection.vertices = 1;
        inspection.triangles = 1;
        let primitive = &mut inspection.primitives[0];
        primitive.vertices = 1;
        primitive.triangles = 1;
        inspection.targets = Some(TargetSummary {
            list: Vec::new(),
            vertices: 1,
            deltas: 1,
            bytes: 1,
        });
        let clip = &mut inspection.clips[0];
        clip.tracks = 1;
        clip.weights = 1;
        clip.keys = 1;
        clip.compact = Some(CompactSummary {
            bytes: 1,
            frames: 1,
            error: 0.0,
            worst_joint: String::new(),
        });
        let text = inspection.to_string();
        for plural in [
            "vertices",
            "triangles",
            "deltas",
            "tracks",
            "weights",
            "keys",
            "frames",
        ] {
            assert!(!text.contains(&format!(" 1 {plural}")), "{text}");
        }
        assert!(
            text.contains("mesh        1 vertex, 1 triangle, "),
            "{text}"
        );
    }
}
