//! Description of a scene, before models are loaded.

use super::camera::Camera;
use super::error::Place;
use super::expression::ExpressionPlan;
use super::layer::{LayerPlan, Play};
use super::lod::Lod;
use super::model_source::ModelSource;
use super::placing::Layout;
use crate::vertex::VertexFormat;

/// The choice of the clips that a group's instances play.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ClipChoice {
    First,
    All,
    Named(String),
}

/// Instances of one model, or of several in a random order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GroupDescription {
    /// At least one.
    pub(super) models: Vec<ModelSource>,
    pub(super) count: u64,
    pub(super) layout: Layout,
    pub(super) spacing: Option<f64>,
    pub(super) clip: ClipChoice,
    pub(super) speed: f64,
    pub(super) speed_spread: f64,
    pub(super) play: Play,
    /// Weight of the clip among the merge layers.
    pub(super) weight: f64,
    pub(super) layers: Vec<LayerPlan>,
    pub(super) expression: ExpressionPlan,
    pub(super) yaw: f64,
    pub(super) yaw_spread: f64,
    pub(super) scale: Option<f64>,
    /// Place of the key that determines the model.
    pub(super) model_place: Option<Place>,
    pub(super) clip_place: Option<Place>,
}

/// Number of people in a group that does not say how many.
pub(super) const DEFAULT_PEOPLE: u32 = 64;
/// Largest number of people in a group.
pub(super) const MOST_PEOPLE: u32 = 4096;

impl GroupDescription {
    /// Returns whether instances of several models mix, or could.
    pub(super) fn is_mixed(&self) -> bool {
        self.models.len() > 1 || self.models.iter().any(ModelSource::is_person)
    }

    /// The models that instances have: as many as there are instances, at most.
    pub(super) fn used_models(&self) -> &[ModelSource] {
        &self.models[..self.models.len().min(self.count as usize)]
    }
}

/// Storage of clips during playback.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Clips {
    /// Keys as in the file.
    #[default]
    Raw,
    /// Frames of numbers with few bits, from [`crate::compaction`].
    Compact,
}

/// A way of posing a crowd less often than every instance at every tick.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Economy {
    /// Every instance is posed at every tick.
    #[default]
    Plain,
    /// Instances of a group that play the same clips share this many poses.
    PhaseBuckets(u32),
    /// Instances farther from the camera than these metres are posed every second and every fourth tick; between their
    /// poses they are interpolated.
    UpdateRate([f64; 2]),
}

impl Economy {
    /// Largest number of buckets.
    pub const MOST_BUCKETS: u32 = 1 << 16;

    /// An update rate with these distances in metres.
    ///
    /// # Errors
    /// A distance that is negative or not finite, or a second one less than the first.
    pub fn update_rate([near, far]: [f64; 2]) -> Result<Self, String> {
        match near >= 0.0 && near <= far && far.is_finite() {
            true => Ok(Self::UpdateRate([near, far])),
            false => Err(format!("[{near}, {far}]; expected metres, 0 or more, the second no less than the first")),
        }
    }
}

impl Overrides {
    /// Largest number of models.
    pub const MOST_MODELS: u32 = MOST_PEOPLE;
}

/// Changes to a scene from outside its file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Overrides {
    /// Instances of all groups together, distributed in proportion, at least one per group.
    pub instances: Option<u64>,
    /// Number of times that a frame draws the crowd.
    pub passes: Option<u32>,
    /// Approximate number of vertices to bring each model to.
    pub vertices: Option<u32>,
    /// Most influences that a vertex keeps.
    pub influences: Option<u32>,
    /// Number of models in groups of `people`.
    pub models: Option<u32>,
    /// Format of skinned vertices.
    pub format: VertexFormat,
    /// Storage of clips.
    pub clips: Clips,
    /// `true` if clips with linear keys are smoothed to curves, in all groups.
    pub smooth: bool,
    /// Morph targets that the seed makes active on each instance, in groups whose model has targets.
    pub active_targets: Option<u32>,
    /// Reduction of posing, if it differs from the scene's.
    pub economy: Option<Economy>,
    /// Detail that is dropped with distance, if it differs from the scene's.
    pub lod: Option<Lod>,
}

/// A crowd's description.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) seed: u64,
    pub(super) passes: u32,
    pub(super) resolution: [u32; 2],
    pub(super) camera: Camera,
    pub(super) format: VertexFormat,
    pub(super) clips: Clips,
    pub(super) smooth: bool,
    pub(super) active_targets: Option<u32>,
    pub(super) economy: Economy,
    pub(super) bounds: bool,
    pub(super) sockets: Vec<String>,
    pub(super) lod: Lod,
    pub(super) groups: Vec<GroupDescription>,
    /// Number of models that an override asked for.
    pub(super) models: Option<u32>,
}

impl Scene {
    /// Name of the scene, or of the model used as one.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Instances of all groups.
    pub fn instances(&self) -> u64 {
        self.groups.iter().fold(0, |sum, g| sum.saturating_add(g.count))
    }

    /// Instances of each group, in the order of the file.
    pub fn group_counts(&self) -> Vec<u64> {
        self.groups.iter().map(|g| g.count).collect()
    }

    /// Number of times that a frame draws the crowd.
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// The camera of the scene.
    pub fn camera(&self) -> Camera {
        self.camera
    }

    /// The scene with bounds and sockets read of every frame: those that the scene asks for, and these.
    pub fn reading(mut self, bounds: bool, sockets: &[String]) -> Self {
        self.bounds |= bounds;
        let new = sockets.iter().filter(|name| !self.sockets.contains(name));
        let new: Vec<_> = new.cloned().collect();
        self.sockets.extend(new);
        self
    }

    /// The scene with these changes.
    pub fn with(mut self, overrides: Overrides) -> Self {
        if let Some(instances) = overrides.instances {
            let total = u128::from(self.instances());
            let (mut before, mut given) = (0u128, 0u128);
            let groups = self.groups.len();
            for (index, group) in self.groups.iter_mut().enumerate() {
                before += u128::from(group.count);
                // Rounding the running total keeps the sum exact; every later group needs at least one instance, too.
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
            if let Some(people) = overrides.models.and_then(|count| group.models[0].people(count)) {
                group.models = people;
            }
            for model in &mut group.models {
                model.vertices = overrides.vertices.or(model.vertices);
                model.influences = overrides.influences.or(model.influences);
                model.smooth |= overrides.smooth;
            }
        }
        self.models = overrides.models.or(self.models);
        self.format = overrides.format;
        self.clips = overrides.clips;
        self.smooth = overrides.smooth;
        self.active_targets = overrides.active_targets;
        self.economy = overrides.economy.unwrap_or(self.economy);
        self.lod = overrides.lod.unwrap_or(self.lod);
        self
    }
}
