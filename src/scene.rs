//! Scene files to crowds: groups of instances, and the view that frames them.
//!
//! A scene is TOML: `seed`, `passes`, `resolution`, `[camera]` and one `[[group]]` for each set of instances. The
//! keys, their units and their defaults are documented where they are parsed, in `scene/file.rs`.

mod camera;
mod file;
mod hash;
mod layer;
mod placing;
mod source;

pub use camera::Camera;
pub use placing::Layout;
pub use source::{BUILT_IN_MODELS, ModelSource};

use crate::asset::{FORMATS, compact};
use crate::crowd::{Crowd, Layer, LayerKind, MAX_LAYERS, REST};
use crate::model::{Clip, Model, Rows};
use crate::text;
use crate::vertex::{Encoding, VertexFormat};
use arrayvec::ArrayVec;
use bytesize::ByteSize;
use glam::{DVec2, Mat4};
use hash::SceneHash;
use layer::{Deriving, FoundLayer, LayerPlan, Play, PlaybackMode};
use placing::Stand;
use rand_core::Rng;
use rand_pcg::Pcg32;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Scenes that the binary brings along: name and text.
pub const BUILT_IN: [(&str, &str); 13] = [
    ("walkers", include_str!("../scenes/walkers.toml")),
    ("smoke", include_str!("../scenes/smoke.toml")),
    ("kernel", include_str!("../scenes/kernel.toml")),
    ("crowd-10k", include_str!("../scenes/crowd-10k.toml")),
    ("crowd-10k-dense", include_str!("../scenes/crowd-10k-dense.toml")),
    ("zoo", include_str!("../scenes/zoo.toml")),
    ("historic", include_str!("../scenes/historic.toml")),
    ("street", include_str!("../scenes/street.toml")),
    ("layers-1", include_str!("../scenes/layers-1.toml")),
    ("layers-2", include_str!("../scenes/layers-2.toml")),
    ("layers-4", include_str!("../scenes/layers-4.toml")),
    ("chain-64", include_str!("../scenes/chain-64.toml")),
    ("star-64", include_str!("../scenes/star-64.toml")),
];
/// Vertices of a built-in model where none are asked for.
const DEFAULT_VERTICES: u32 = 1_000;
/// Instances where a model is given in place of a scene.
const DEFAULT_INSTANCES: u64 = 100;

/// Line and column in a scene file, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    line: usize,
    column: usize,
}

/// A scene that cannot be read or built: one line that names the file, the place in it and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneError {
    file: String,
    place: Option<Place>,
    problem: String,
    unknown: bool,
}

impl SceneError {
    fn new(file: impl Into<String>, problem: String) -> Self {
        Self { file: file.into(), place: None, problem, unknown: false }
    }

    fn at(file: &str, place: Place, problem: String) -> Self {
        Self { place: Some(place), ..Self::new(file, problem) }
    }

    /// Whether the name given is neither a scene nor a model.
    pub fn is_unknown_name(&self) -> bool {
        self.unknown
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}:", self.file)?;
            if let Some(place) = self.place {
                write!(f, "{}:{}:", place.line, place.column)?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for SceneError {}

/// What a group's instances play.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ClipChoice {
    First,
    All,
    Named(String),
}

/// Instances of one model.
#[derive(Debug, Clone, PartialEq)]
struct Group {
    model: ModelSource,
    count: u64,
    layout: Layout,
    spacing: Option<f64>,
    clip: ClipChoice,
    speed: f64,
    speed_spread: f64,
    play: Play,
    /// Of the clip among the merge layers.
    weight: f64,
    layers: Vec<LayerPlan>,
    yaw: f64,
    yaw_spread: f64,
    scale: Option<f64>,
    /// Of the key that decides the model.
    model_place: Option<Place>,
    clip_place: Option<Place>,
}

/// How clips are stored while they play.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Clips {
    /// Keys as the file has them.
    #[default]
    Raw,
    /// Frames of 16-bit numbers, of [`compact`].
    Compact,
}

/// Changes to a scene from outside its file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Instances of all groups together, shared out in proportion, at least one each.
    pub instances: Option<u64>,
    /// How many times a frame draws the crowd.
    pub passes: Option<u32>,
    /// About how many vertices each model is brought to.
    pub vertices: Option<u32>,
    /// Most influences that a vertex keeps.
    pub influences: Option<u32>,
    /// What skinning writes for a vertex.
    pub format: VertexFormat,
    /// How clips are stored.
    pub clips: Clips,
    /// Whether all groups' clips get curves where their keys are linear.
    pub smooth: bool,
}

/// A crowd's description.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    name: String,
    file: String,
    seed: u64,
    passes: u32,
    resolution: [u32; 2],
    camera: Camera,
    format: VertexFormat,
    clips: Clips,
    groups: Vec<Group>,
}

/// A scene's crowd and view, ready to run.
#[derive(Debug)]
pub struct BuiltScene {
    /// Name of the scene, or of the model in its place.
    pub name: String,
    /// Differs wherever anything differs that decides the vertices or the picture; passes are not part of it.
    pub hash: u64,
    /// All instances.
    pub crowd: Crowd,
    /// How many times a frame draws the crowd.
    pub passes: u32,
    /// Width and height of the picture.
    pub resolution: [u32; 2],
    /// From where the crowd is seen.
    pub camera: Camera,
    /// How clips are stored.
    pub clips: Clips,
}

impl BuiltScene {
    /// The largest error of a compact clip, over the skeleton's size; none if there is none.
    pub fn clip_error(&self) -> Option<f64> {
        let clips = self.crowd.groups().iter().flat_map(|g| g.model.clips());
        clips.filter_map(|c| Some(c.compact()?.error.distance)).reduce(f64::max)
    }

    /// World to clip space, depth 0 to 1.
    pub fn view_projection(&self) -> Mat4 {
        self.camera.view_projection(&self.crowd, self.resolution)
    }

    /// What the presenter needs.
    #[cfg(feature = "gpu")]
    pub fn view(&self) -> crate::gpu::present::View {
        let [width, height] = self.resolution;
        crate::gpu::present::View {
            view_projection: self.view_projection(),
            light: glam::Vec3::new(0.45, 0.77, 0.45).normalize(),
            width,
            height,
            mode: Default::default(),
        }
    }
}

/// Whether a path may be a model: by its ending, or because there is such a file, whose content decides then.
fn is_model_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    FORMATS.iter().flat_map(|f| f.extensions).any(|e| name.ends_with(&format!(".{e}"))) || path.is_file()
}

impl Scene {
    /// A built-in scene by name, a `.toml` file, or a model (built-in or file) as 100 instances that play its clips
    /// in turn.
    ///
    /// # Errors
    /// A name that is none of these, a file that cannot be read, an unknown key or a wrong value.
    pub fn load(name: &str) -> Result<Self, SceneError> {
        if let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Self::parse(name, &format!("scenes/{name}.toml"), text, Path::new(""));
        }
        let path = Path::new(name);
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
            let text = std::fs::read_to_string(path)
                .map_err(|error| SceneError::new(name, format!("cannot read: {error}")))?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            return Self::parse(&stem, name, &text, path.parent().unwrap_or(Path::new("")));
        }
        if BUILT_IN_MODELS.contains(&name) || is_model_file(path) {
            return Ok(Self::from_model(name));
        }
        let endings: Vec<_> = FORMATS.iter().flat_map(|f| f.extensions).map(|e| format!("a .{e} file")).collect();
        let known: Vec<_> = BUILT_IN
            .iter()
            .map(|(known, _)| *known)
            .chain(BUILT_IN_MODELS)
            .chain(["a .toml file"])
            .chain(endings.iter().map(String::as_str))
            .collect();
        Err(SceneError { unknown: true, ..SceneError::new("", text::unknown("scene", name, &known)) })
    }

    /// Reads a scene's text; `file` names it in errors, model paths start at `folder`.
    ///
    /// # Errors
    /// An unknown key or a wrong value, with line and column.
    pub fn parse(name: &str, file: &str, text: &str, folder: &Path) -> Result<Self, SceneError> {
        file::parse(name, file, text, folder)
    }

    fn from_model(name: &str) -> Self {
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        let group = Group {
            model: ModelSource::from_name(name),
            count: DEFAULT_INSTANCES,
            layout: Layout::Grid,
            spacing: None,
            clip: ClipChoice::All,
            speed: 1.0,
            speed_spread: 0.0,
            play: Play { mode: PlaybackMode::Loop, phase_spread: 1.0, offset: 0.0, frames_per_second: 0.0 },
            weight: 1.0,
            layers: Vec::new(),
            yaw: 0.0,
            yaw_spread: 0.0,
            scale: None,
            model_place: None,
            clip_place: None,
        };
        Self {
            name: stem.into_owned(),
            file: String::new(),
            seed: 1,
            passes: 1,
            resolution: [1280, 720],
            camera: Camera { orbit: 25.0, elevation: 20.0, distance: 1.0, field_of_view: 40.0 },
            format: VertexFormat::default(),
            clips: Clips::Raw,
            groups: vec![group],
        }
    }

    /// Name of the scene, or of the model in its place.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Instances of all groups.
    pub fn instances(&self) -> u64 {
        self.groups.iter().fold(0, |sum, g| sum.saturating_add(g.count))
    }

    /// The scene with other numbers.
    pub fn with(mut self, overrides: Overrides) -> Self {
        if let Some(instances) = overrides.instances {
            let total = u128::from(self.instances());
            let (mut before, mut given) = (0u128, 0u128);
            let groups = self.groups.len();
            for (index, group) in self.groups.iter_mut().enumerate() {
                before += u128::from(group.count);
                // Rounding the running total keeps the sum exact; every later group needs one, too.
                let end = (before * u128::from(instances) + total / 2) / total;
                let end = end.min(u128::from(instances).saturating_sub((groups - 1 - index) as u128));
                group.count = end.saturating_sub(given).max(1) as u64;
                given += u128::from(group.count);
            }
        }
        if let Some(passes) = overrides.passes {
            self.passes = passes;
        }
        for group in &mut self.groups {
            group.model.vertices = overrides.vertices.or(group.model.vertices);
            group.model.influences = overrides.influences.or(group.model.influences);
            group.model.smooth |= overrides.smooth;
        }
        self.format = overrides.format;
        self.clips = overrides.clips;
        self
    }

    /// Loads the models and places every instance.
    ///
    /// `memory` is how many bytes there are; what does not fit is refused before it is allocated.
    ///
    /// # Errors
    /// A model that cannot be loaded, a clip that it lacks, or too many instances.
    pub fn build(&self, memory: u64) -> Result<BuiltScene, SceneError> {
        let instances = self.instances();
        let most_layers = self.groups.iter().map(|g| 1 + g.layers.len()).max().unwrap_or(1);
        let bytes = instances.saturating_mul((size_of::<Rows>() + most_layers * size_of::<Layer>()) as u64);
        if bytes > memory || instances > u64::from(u32::MAX) {
            let problem = format!(
                "{instances} instances take {} before a vertex is skinned; expected at most {} and {} instances",
                ByteSize(bytes).display().si(),
                ByteSize(memory).display().si(),
                u32::MAX
            );
            return Err(SceneError::new(self.name.clone(), problem));
        }
        let mut hash = SceneHash::default();
        hash.number(self.seed);
        hash.number(self.resolution[0]);
        hash.number(self.resolution[1]);
        let Camera { orbit, elevation, distance, field_of_view } = self.camera;
        [orbit, elevation, distance, field_of_view].iter().for_each(|value| hash.float(*value));
        hash.bytes(self.format.attributes.name().as_bytes());
        hash.bytes(self.format.normals.name().as_bytes());
        if self.format.encoding != Encoding::F32 {
            hash.bytes(self.format.encoding.name().as_bytes());
        }

        let mut models: Vec<(&ModelSource, Deriving)> = Vec::new();
        let mut found = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let index = match models.iter().position(|(source, _)| *source == &group.model) {
                Some(index) => index,
                None => {
                    let model = group.model.load().map_err(|error| self.error(group.model_place, error))?;
                    models.push((&group.model, Deriving::new(model)));
                    models.len() - 1
                }
            };
            found.push((index, self.find(group, &mut models[index].1)?));
        }
        let stored = |model| match self.clips {
            Clips::Raw => Ok(model),
            Clips::Compact => compact::compacted(model, compact::ERROR),
        };
        let models = models.into_iter().map(|(_, deriving)| stored(deriving.model).map(Arc::new));
        let models: Vec<_> = models.collect::<Result<_, _>>().map_err(|error| self.error(None, error.to_string()))?;
        let mut standing = Vec::with_capacity(self.groups.len());
        for (group, (model, found)) in self.groups.iter().zip(found) {
            let model = Arc::clone(&models[model]);
            let stand = Stand::new(&model, group.scale);
            let spacing = group.spacing.unwrap_or(1.25 * stand.footprint.max(0.1));
            hash.group(group, &model, &found);
            standing.push(Standing { model, found, stand, spacing });
        }

        let mut crowd = Crowd::with_format(self.format);
        let across = standing.iter().zip(&self.groups).map(|(s, g)| g.layout.half_width(g.count as u32, s.spacing));
        let middles = side_by_side(&across.collect::<Vec<_>>());
        // Groups of one model become neighbours in the crowd, so that it takes one dispatch for all of them.
        for first in 0..standing.len() {
            let same = |other: usize| Arc::ptr_eq(&standing[other].model, &standing[first].model);
            if (0..first).any(same) {
                continue;
            }
            let alike: Vec<usize> = (first..standing.len()).filter(|&other| same(other)).collect();
            let masks: Vec<_> = alike.iter().flat_map(|&index| standing[index].found.masks.iter().cloned()).collect();
            let first_masks = alike.iter().scan(0, |next, &index| {
                let first = *next;
                *next += standing[index].found.masks.len() as u32;
                Some(first)
            });
            let all = alike.iter().zip(first_masks).flat_map(|(&index, first_mask)| {
                instances_of(&self.groups[index], &standing[index], first_mask, middles[index], self.seed, index)
            });
            crowd
                .push_masked_group(Arc::clone(&standing[first].model), &masks, all)
                .map_err(|error| self.error(None, error.to_string()))?;
        }
        Ok(BuiltScene {
            name: self.name.clone(),
            hash: hash.finish(),
            crowd,
            passes: self.passes,
            resolution: self.resolution,
            camera: self.camera,
            clips: self.clips,
        })
    }

    /// The clips and masks that a group names, derived clips added to its model.
    fn find(&self, group: &Group, models: &mut Deriving) -> Result<Found, SceneError> {
        let clip_error = |problem| self.error(group.clip_place, problem);
        let clips = clips(group, models).map_err(clip_error)?;
        let own = clips.into_iter().map(|clip| models.clip(clip, group.play.mode, LayerKind::Merge));
        let mut found =
            Found { clips: own.collect::<Result<_, _>>().map_err(clip_error)?, layers: Vec::new(), masks: Vec::new() };
        for layer in &group.layers {
            let clip = models
                .find(&layer.clip)
                .and_then(|clip| models.clip(clip, layer.play.mode, layer.kind))
                .map_err(|problem| self.error(Some(layer.clip_place), problem))?;
            found.layers.push(FoundLayer { clip, mask: found.masks.len() as u32 });
            if let Some(mask) = &layer.mask {
                found.masks.push(mask.resolve(&models.model).map_err(|problem| self.error(Some(mask.place), problem))?);
            }
        }
        Ok(found)
    }

    fn error(&self, place: Option<Place>, problem: String) -> SceneError {
        SceneError { place, ..SceneError::new(self.file.clone(), problem) }
    }
}

/// What a group's names stand for in its model.
struct Found {
    clips: Vec<u32>,
    layers: Vec<FoundLayer>,
    masks: Vec<Vec<f32>>,
}

/// A group with its model loaded.
struct Standing {
    model: Arc<Model>,
    found: Found,
    stand: Stand,
    spacing: f64,
}

/// Middles along X of groups of these half widths, in a row around 0.
fn side_by_side(half_widths: &[f64]) -> Vec<f64> {
    let mut edge = -half_widths.iter().sum::<f64>();
    let middle = |half: &f64| {
        let middle = edge + half;
        edge += 2.0 * half;
        middle
    };
    half_widths.iter().map(middle).collect()
}

/// Index of a clip by name, or by number where no clip has that name.
pub fn find_clip(model: &Model, wanted: &str) -> Result<u32, String> {
    find_among(model.name(), model.clips(), wanted)
}

fn find_among(model: &str, clips: &[Clip], wanted: &str) -> Result<u32, String> {
    let named = clips.iter().position(|clip| clip.name() == wanted);
    let numbered = || wanted.parse().ok().filter(|&index: &usize| index < clips.len());
    named.or_else(numbered).map(|index| index as u32).ok_or_else(|| {
        let names: Vec<_> = clips.iter().map(|clip| clip.name()).filter(|name| !name.is_empty()).collect();
        let unknown = match names[..] {
            [] => format!("unknown clip {wanted:?};"),
            _ => format!("{} or", text::unknown("clip", wanted, &names)),
        };
        match clips.len() {
            0 => format!("unknown clip {wanted:?}; {model:?} has no clips"),
            1 => format!("{unknown} index 0"),
            count => format!("{unknown} an index, 0 to {}", count - 1),
        }
    })
}

/// The clips that a group's instances play in turn.
fn clips(group: &Group, model: &Deriving) -> Result<Vec<u32>, String> {
    let count = model.own_clips().len() as u32;
    match &group.clip {
        _ if count == 0 && !matches!(group.clip, ClipChoice::Named(_)) => Ok(vec![REST]),
        ClipChoice::First => Ok(vec![0]),
        ClipChoice::All => Ok((0..count).collect()),
        ClipChoice::Named(name) => model.find(name).map(|clip| vec![clip]),
    }
}

/// Placement and layers of each instance of a group, from one stream of random numbers a group and a layer.
///
/// `first_mask` is where the group's masks begin among all of its model.
fn instances_of(
    group: &Group,
    standing: &Standing,
    first_mask: u32,
    middle: f64,
    seed: u64,
    stream: usize,
) -> impl Iterator<Item = (Rows, ArrayVec<Layer, MAX_LAYERS>)> {
    let mut random = Pcg32::new(seed, stream as u64);
    let mut layer_random = layer::streams(seed, stream, group.layers.len());
    let count = group.count as u32;
    (0..count).map(move |instance| {
        // Always three draws, so that changing one key leaves the others' values alone.
        let [phase, speed, yaw] = [random.next_u32(), random.next_u32(), random.next_u32()];
        let either_way = |draw: u32| f64::from(draw) / 2f64.powi(31) - 1.0;
        let place = DVec2::new(middle, 0.0) + group.layout.place(instance, count, standing.spacing);
        let yaw = group.yaw + group.yaw_spread * either_way(yaw);
        let found = &standing.found;
        let clip = found.clips[instance as usize % found.clips.len()];
        let pace = 1.0 + group.speed_spread * either_way(speed);
        let yaw = yaw + group.layout.facing(instance, count);
        let own = layer::playing(&standing.model, clip, &group.play, phase, group.speed * pace);
        let mut layers = ArrayVec::new();
        layers.push(Layer { weight: group.weight as f32, ..own });
        for ((plan, found), random) in group.layers.iter().zip(&found.layers).zip(&mut layer_random) {
            let found = FoundLayer { mask: first_mask + found.mask, ..*found };
            layers.push(plan.of_instance(&standing.model, &found, &own, pace, random));
        }
        layer::fall_in_step(&standing.model, &mut layers, group.speed * pace);
        (standing.stand.placement(place, yaw.to_radians()), layers)
    })
}

#[cfg(test)]
mod tests;
