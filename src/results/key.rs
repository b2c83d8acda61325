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
        let chosen = settings
            .chosen()
            .into_iter()
            .filter(|(name, _)| !COLUMNS.contains(&name.as_str()));
        let options = chosen.map(|(name, value)| {
            let value = words(&value).join(if name == "lod" { "+" } else { "/" });
            (name, value)
        });
        let options =
            options.filter(|(name, value)| !DEFAULTS.contains(&(name.as_str(), value.as_str())));
        let caches = disturbance
            .cold
            .then(|| ("caches".to_owned(), "cold".to_owned()));
        let neighbours = Some(disturbance.neighbours).filter(|threads| *threads > 0);
        let neighbours = neighbours.map(|threads| ("neighbours".to_owned(), threads.to_string()));
        Self(options.chain(caches).chain(neighbours).collect())
    }

    /// The options of a column, separated by spaces.
    pub fn parse(text: &str) -> Self {
        let words = text.split(' ').filter(|word| !word.is_empty());
        let option = |word: &str| {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            (name.to_owned(), value.to_owned())
        };
        Self(words.map(option).collect())
    }

    /// The value of an option; `None` if it is the default.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let word = |(name, value): (&String, &String)| match value.is_empty() {
            true => name.clone(),
            false => format!("{name}={value}"),
        };
        f.write_str(&self.0.iter().map(word).collect::<Vec<_>>().join(" "))
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
    /// Hash of the scene, 16 hexadecimal digits; empty if a point stands for several scenes.
    pub scene_hash: String,
}

/// Key of a measurement: one stage of one backend at a point, by one clock.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MeasurementKey {
    /// The crowd and the way it was run.
    pub point: Point,
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

    /// The same point without the scene's hash.
    pub fn without_hash(&self) -> Self {
        Self {
            scene_hash: String::new(),
            ..self.clone()
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
    /// The adapter's name, marked if it is emulated on the CPU.
    pub adapter: String,
    /// The adapter's driver, with version.
    pub driver: String,
}

impl Machine {
    /// Returns whether the adapter is emulated on the CPU.
    pub fn is_emulated(&self) -> bool {
        self.adapter.ends_with(EMULATED)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let or = |text: &str, absent: &'static str| {
            if text.is_empty() {
                absent.into()
            } else {
                text.to_owned()
            }
        };
        write!(
            f,
            "{}, {}",
            or(&self.cpu, "unknown processor"),
            or(&self.adapter, "no adapter")
        )
    }
}
