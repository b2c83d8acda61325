//! Identity of a measurement: crowd, backend, stage and clock.

use crate::frame::{Clock, EMULATED, Stage};
use crate::harness::run::Disturbance;
use crate::scene::{BuiltScene, Settings, words};
use crate::wording;
use std::collections::BTreeMap;
use std::fmt;

/// Settings that have columns of their own.
const COLUMNS: [&str; 6] = [
    "instances",
    "passes",
    "vertices",
    "influences",
    "models",
    "attributes",
];
/// Values of options that mean the same as none.
const DEFAULTS: [(&str, &str); 6] = [
    ("normals", "unit"),
    ("output", "f32"),
    ("clips", "raw"),
    ("interpolation", "authored"),
    ("lod", "none"),
    ("device", "busy"),
];

/// Options that differ from the defaults, by name; switches have empty values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Options(pub BTreeMap<String, String>);

impl Options {
    /// The options of settings, and of what disturbs frames.
    pub fn of(settings: &Settings, disturbance: Disturbance) -> Self {
        let mut options = BTreeMap::new();
        for (name, value) in settings.chosen() {
            let value = words(&value).join("/");
            let is_default = DEFAULTS.contains(&(name.as_str(), value.as_str()));
            if !is_default && !COLUMNS.contains(&name.as_str()) {
                options.insert(name, value);
            }
        }
        if disturbance.cold {
            options.insert("caches".into(), "cold".into());
        }
        if disturbance.neighbours > 0 {
            options.insert("neighbours".into(), disturbance.neighbours.to_string());
        }
        Self(options)
    }

    /// The options of a column, separated by spaces.
    pub fn parse(text: &str) -> Self {
        let mut options = BTreeMap::new();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            options.insert(name.into(), value.into());
        }
        Self(options)
    }

    /// The options but one.
    pub fn without(&self, name: &str) -> Self {
        let mut options = self.clone();
        options.0.remove(name);
        options
    }

    /// The value of an option; `None` if it is the default.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut words = Vec::new();
        for (name, value) in &self.0 {
            if value.is_empty() {
                words.push(name.clone());
            } else {
                words.push(format!("{name}={value}"));
            }
        }
        f.write_str(&words.join(" "))
    }
}

/// A crowd and the way it is run: everything but the backend.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    /// Name of the scene.
    pub scene: String,
    /// Vertices per instance on average, to two digits: in scenes of several models it varies a little with the crowd.
    pub vertices: u64,
    /// Most influences of a vertex.
    pub influences: u32,
    /// Number of models in groups that mix several; 0 without such a group.
    pub models: u32,
    /// `p`, `pn` or `pnt`.
    pub attributes: String,
    /// Options that differ from the defaults.
    pub options: Options,
    /// Threads of parallel backends.
    pub threads: usize,
    /// Number of times that a frame draws the crowd.
    pub passes: u32,
    /// Instances of the crowd.
    pub instances: usize,
    /// Hash of the scene, 16 hexadecimal digits.
    pub scene_hash: String,
}

/// What several points have in common. A field in which they may differ is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PointKey {
    /// As in [`Point`], like all that follow.
    pub scene: String,
    /// As in [`Point`].
    pub vertices: Option<u64>,
    /// As in [`Point`].
    pub influences: Option<u32>,
    /// As in [`Point`].
    pub models: Option<u32>,
    /// As in [`Point`].
    pub attributes: String,
    /// As in [`Point`].
    pub options: Options,
    /// As in [`Point`].
    pub threads: Option<usize>,
    /// As in [`Point`].
    pub passes: Option<u32>,
    /// As in [`Point`].
    pub instances: Option<usize>,
    /// As in [`Point`].
    pub scene_hash: Option<String>,
}

/// Key of a measurement: one stage of one backend at a point, by one clock.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MeasurementKey {
    /// The crowd and the way it was run.
    pub point: PointKey,
    /// Name as in `skinbench list`.
    pub backend: String,
    /// The stage.
    pub stage: Stage,
    /// Clock that measured it.
    pub clock: Clock,
}

impl Point {
    /// The point at which a scene is measured.
    pub fn of(scene: &BuiltScene, threads: usize, passes: u32, disturbance: Disturbance) -> Self {
        let crowd = &scene.crowd;
        Self {
            scene: scene.name.clone(),
            vertices: per_instance(crowd.vertex_count(), crowd.instance_count()),
            influences: crowd
                .groups()
                .iter()
                .map(|g| g.model.mesh().max_influences())
                .max()
                .unwrap_or(0),
            models: scene.mixed_models.unwrap_or(0),
            attributes: crowd.format().attributes.name().into(),
            options: Options::of(&scene.settings, disturbance),
            threads,
            passes,
            instances: crowd.instance_count(),
            scene_hash: format!("{:016x}", scene.hash),
        }
    }

    /// All fields, for keys that take some of them out.
    pub fn key(&self) -> PointKey {
        PointKey {
            scene: self.scene.clone(),
            vertices: Some(self.vertices),
            influences: Some(self.influences),
            models: Some(self.models),
            attributes: self.attributes.clone(),
            options: self.options.clone(),
            threads: Some(self.threads),
            passes: Some(self.passes),
            instances: Some(self.instances),
            scene_hash: Some(self.scene_hash.clone()),
        }
    }

    /// All fields but the scene's hash.
    pub fn key_without_hash(&self) -> PointKey {
        PointKey {
            scene_hash: None,
            ..self.key()
        }
    }
}

/// Vertices per instance, to two digits.
pub(super) fn per_instance(vertices: u64, instances: usize) -> u64 {
    wording::rounded(vertices as f64 / instances.max(1) as f64, 2)
}

/// A machine as named in results; fields are empty if they do not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Machine {
    /// Operating system, with version.
    pub os: String,
    /// Processor's name.
    pub cpu: String,
    /// The adapter's name.
    pub adapter: String,
    /// `true` if the adapter is emulated on the CPU.
    pub is_emulated: bool,
    /// The adapter's driver, with version.
    pub driver: String,
}

impl Machine {
    /// The adapter's name as files and pages show it, marked if it is emulated; empty without an adapter.
    pub fn adapter_label(&self) -> String {
        if self.is_emulated {
            format!("{} {EMULATED}", self.adapter)
        } else {
            self.adapter.clone()
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let adapter = self.adapter_label();
        let cpu = known(&self.cpu, "unknown processor");
        write!(f, "{cpu}, {}", known(&adapter, "no adapter"))
    }
}

/// A fact, or the words for an empty one.
pub fn known<'a>(text: &'a str, absent: &'a str) -> &'a str {
    if text.is_empty() { absent } else { text }
}
