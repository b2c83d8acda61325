//! Identity of a measurement: crowd, backend, stage and clock.

use crate::frame::{Clock, Retention, Stage};
use crate::scene::{BuiltScene, Clips, Economy};
use crate::vertex::{Encoding, Normals, VertexFormat};
use std::fmt;

/// Beginning of the option that sets the number of active morph targets.
const ACTIVE_TARGETS: &str = "active_targets=";

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
    pub options: String,
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
    pub fn of(scene: &BuiltScene, threads: usize, passes: u32, keep: Retention) -> Self {
        let crowd = &scene.crowd;
        Self {
            scene: scene.name.clone(),
            vertices: per_instance(crowd.vertex_count(), crowd.instance_count()),
            influences: crowd.groups().iter().map(|g| g.model.mesh().max_influences()).max().unwrap_or(0),
            models: scene.mixed_models.unwrap_or(0),
            attributes: crowd.format().attributes.name().into(),
            options: options(scene, keep),
            threads,
            passes,
            instances: crowd.instance_count(),
            scene_hash: format!("{:016x}", scene.hash),
        }
    }

    /// Morph targets that the seed makes active on each instance, if an option set their number.
    pub fn active_targets(&self) -> Option<u64> {
        self.options.split(' ').find_map(|option| option.strip_prefix(ACTIVE_TARGETS)?.parse().ok())
    }

    /// Replaces the number of active morph targets by `N`, if an option set it.
    pub(super) fn any_active_targets(&mut self) {
        if let Some(count) = self.active_targets() {
            let replaced = |option: &str| option == format!("{ACTIVE_TARGETS}{count}");
            let any = format!("{ACTIVE_TARGETS}N");
            let options = self.options.split(' ').map(|option| if replaced(option) { &any } else { option });
            self.options = options.collect::<Vec<_>>().join(" ");
        }
    }

    /// The same point without the scene's hash.
    pub fn without_hash(&self) -> Self {
        Self { scene_hash: String::new(), ..self.clone() }
    }
}

/// Vertices per instance, to two digits.
pub(super) fn per_instance(vertices: u64, instances: usize) -> u64 {
    let value = vertices as f64 / instances.max(1) as f64;
    let unit = 10f64.powf(value.max(1.0).log10().floor() - 1.0).max(1.0);
    ((value / unit).round() * unit) as u64
}

/// Options that differ from the defaults, separated by spaces.
fn options(scene: &BuiltScene, keep: Retention) -> String {
    let VertexFormat { normals, encoding, .. } = scene.crowd.format();
    let options = [
        (normals != Normals::Unit).then(|| format!("normals={}", normals.name())),
        (encoding != Encoding::F32).then(|| format!("output={}", encoding.name())),
        (scene.clips == Clips::Compact).then(|| "clips=compact".into()),
        scene.smooth.then(|| "interpolation=smooth".into()),
        scene.active_targets.map(|count| format!("{ACTIVE_TARGETS}{count}")),
        match scene.economy {
            Economy::Plain => None,
            Economy::PhaseBuckets(buckets) => Some(format!("phase_buckets={buckets}")),
            Economy::UpdateRate([near, far]) => Some(format!("update_rate={near}/{far}")),
        },
        scene.gameplay.as_ref().is_some_and(|gameplay| gameplay.bounds).then(|| "bounds".into()),
        (!scene.sockets.is_empty()).then(|| format!("sockets={}", scene.sockets.join("/"))),
        (!scene.lod.is_none()).then(|| format!("lod={}", scene.lod.name())),
        match keep {
            Retention::Frame => None,
            Retention::Ring => Some("output=ring".into()),
            Retention::TwoFrames => Some("motion".into()),
        },
    ];
    options.into_iter().flatten().collect::<Vec<String>>().join(" ")
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
        self.adapter.ends_with("(CPU-emulated)")
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let or = |text: &str, absent: &'static str| if text.is_empty() { absent.into() } else { text.to_owned() };
        write!(f, "{}, {}", or(&self.cpu, "unknown processor"), or(&self.adapter, "no adapter"))
    }
}
