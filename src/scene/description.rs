//! Description of a scene, before models are loaded.

use super::expression::ExpressionPlan;
use super::layer::{LayerPlan, Play};
use super::{Camera, Interpolation, Layout, ModelSource, Settings};
use crate::asset::Place;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;
use std::path::PathBuf;

/// The choice of the clips that a group's instances play.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClipChoice {
    First,
    All,
    Named(String),
}

impl ClipChoice {
    /// The choice that a name or number stands for; `*` is all clips.
    pub fn of(name: &str) -> Self {
        if name == "*" {
            Self::All
        } else {
            Self::Named(name.into())
        }
    }
}

impl<'de> Deserialize<'de> for ClipChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = ClipChoice;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a clip's name or number")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<ClipChoice, E> {
                Ok(ClipChoice::of(name))
            }
            fn visit_i64<E: de::Error>(self, index: i64) -> Result<ClipChoice, E> {
                Ok(ClipChoice::Named(index.to_string()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Instances of one model, or of several in a random order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupDescription {
    /// At least one.
    #[serde(skip)]
    pub models: Vec<ModelSource>,
    pub count: u64,
    pub layout: Layout,
    pub spacing: Option<f64>,
    #[serde(skip)]
    pub clip: ClipChoice,
    pub speed: f64,
    pub speed_spread: f64,
    pub play: Play,
    /// Weight of the clip among the merge layers.
    pub weight: f64,
    pub layers: Vec<LayerPlan>,
    pub expression: ExpressionPlan,
    pub yaw: f64,
    pub yaw_spread: f64,
    pub scale: Option<f64>,
    /// Place of the key that determines the model.
    #[serde(skip)]
    pub model_place: Option<Place>,
    #[serde(skip)]
    pub clip_place: Option<Place>,
}

/// Number of people in a group that does not say how many.
pub const DEFAULT_PEOPLE: u32 = 64;

impl GroupDescription {
    /// Returns whether instances of several models mix, or could.
    pub fn is_mixed(&self) -> bool {
        self.models.len() > 1 || self.has_people()
    }

    /// Returns whether some of its models are people.
    pub fn has_people(&self) -> bool {
        self.models.iter().any(ModelSource::is_person)
    }

    /// The smallest number of instances: one of each model that was named, and one of the people, if there are any.
    pub fn least_count(&self) -> u64 {
        self.named_models() + u64::from(self.has_people())
    }

    /// The largest number of people that can be among its instances.
    pub fn most_people(&self) -> u64 {
        self.count.saturating_sub(self.named_models())
    }

    /// Number of models that are no people.
    fn named_models(&self) -> u64 {
        let named = self.models.iter().filter(|model| !model.is_person());
        named.count() as u64
    }

    /// The models that instances have: those that were named, and no more people than there are other instances.
    pub fn used_models(&self) -> Vec<&ModelSource> {
        let mut people = self.most_people();
        let mut used = Vec::new();
        for model in &self.models {
            if !model.is_person() {
                used.push(model);
            } else if people > 0 {
                people -= 1;
                used.push(model);
            }
        }
        used
    }

    /// Changes its models as settings ask for.
    pub fn choose(&mut self, settings: &Settings) {
        if let Some(count) = settings.models {
            self.draw_people(count);
        }
        for model in &mut self.models {
            model.vertices = settings.vertices.or(model.vertices);
            model.keep_vertices |= settings.keep_vertices;
            model.influences = settings.influences.or(model.influences);
            model.smooth |= settings.interpolation == Some(Interpolation::Smooth);
        }
    }

    /// Draws people from this many, if there are any.
    fn draw_people(&mut self, count: u32) {
        if let Some(first) = self.models.iter().position(ModelSource::is_person) {
            let people = self.models[first].people(count);
            self.models.retain(|model| !model.is_person());
            // All models before the first of the people were named.
            self.models.splice(first..first, people);
        }
    }
}

/// A scene file before it is read. Built-in scenes are in the binary, and a model that is used as a scene stands for a
/// short file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneFile {
    /// Name of the scene: that of the file without its ending, or of the model.
    pub name: String,
    /// Name of the file in errors; empty if there is none.
    pub file: String,
    /// Its text.
    pub text: String,
    /// Folder to which the paths of its models are relative.
    pub folder: PathBuf,
}

/// A crowd's description.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Its name: that of the file without its ending, or of the model.
    pub name: String,
    pub(super) file: String,
    pub(super) seed: u64,
    pub(super) resolution: [u32; 2],
    /// Its camera.
    pub camera: Camera,
    pub(super) settings: Settings,
    /// Those of the settings that were not chosen in the file.
    pub(super) beside: Settings,
    /// The groups, changed by the settings.
    pub(crate) groups: Vec<GroupDescription>,
}

impl Scene {
    /// Instances of all groups.
    pub fn instances(&self) -> u64 {
        let counts = self.groups.iter().map(|group| group.count);
        counts.fold(0, u64::saturating_add)
    }

    /// The smallest number of instances: one of each group and of each model that was named.
    pub fn least_instances(&self) -> u64 {
        self.groups.iter().map(GroupDescription::least_count).sum()
    }

    /// Number of times that a frame draws the crowd.
    pub fn passes(&self) -> u32 {
        self.settings.passes.unwrap_or(1)
    }

    /// The scene with these settings on top of its own.
    pub fn with(mut self, settings: Settings) -> Self {
        if let Some(instances) = settings.instances {
            let total = u128::from(self.instances());
            let mut before = 0;
            let mut given = 0;
            let groups = self.groups.len();
            for (index, group) in self.groups.iter_mut().enumerate() {
                before += u128::from(group.count);
                // Rounding the running total keeps the sum exact; every later group needs at least one instance, too.
                let end = (before * u128::from(instances) + total / 2) / total;
                let end =
                    end.min(u128::from(instances).saturating_sub((groups - 1 - index) as u128));
                let count = end.saturating_sub(given) as u64;
                group.count = count.max(group.least_count());
                given += u128::from(group.count);
            }
        }
        self.camera.distance = settings.distance.unwrap_or(self.camera.distance);
        for group in &mut self.groups {
            if let Some(clip) = &settings.clip {
                group.clip = ClipChoice::of(clip);
            }
            group.choose(&settings);
        }
        self.settings = self.settings.with(settings.clone());
        self.beside = self.beside.with(settings);
        self
    }
}
