//! `skinbench web`: a page that verifies and measures the GPU backends in a browser.

use super::output::expect_ending;
use super::settings::ModelArguments;
use super::{Exit, built_from, common, positive, write_file};
use clap::Args;
use skinbench::backend::Joints;
use skinbench::registry::{BackendEntry, REGISTRY, find};
use skinbench::scene::{BuiltScene, Scene, Settings};
use skinbench::web::{PageChoice, page};
use std::collections::BTreeSet;
use std::path::PathBuf;
use wildmatch::WildMatch;

/// Instances of the crowds, as fractions of the scene's own.
const FRACTIONS: [u64; 3] = [10, 3, 1];
/// Backends that answer a reader's question within a minute or two: each place of posing with each place of skinning.
const DEFAULT: [&str; 8] = [
    "gpu-vertex",
    "gpu-vertex:texture",
    "gpu-compute:naive",
    "gpu-compute:instances",
    "gpu-compute:merged",
    "gpu-full",
    "gpu-full:vertex",
    "gpu-baked",
];

/// Make a page that verifies and measures GPU backends in a browser
#[derive(Debug, Args)]
pub struct Arguments {
    /// Built-in scene, scene file (.toml) or model
    #[arg(value_name = "SCENE|MODEL", default_value = "walkers")]
    scene: PathBuf,
    /// HTML file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// GPU backends by name or pattern; default: eight of them. A page has neither gpu-compute nor those that cull
    #[arg(short, long, value_name = "GLOBS", value_delimiter = ',')]
    backends: Vec<String>,
    /// Crowds to measure, by the number of instances; default: the scene's, a third and a tenth of it
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = positive::<u64>)]
    instances: Vec<u64>,
    /// Numbers of times that a frame draws the largest crowd; the others are drawn as often as the first says
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = positive::<u32>, default_value = "1,2,4")]
    passes: Vec<u32>,
    #[command(flatten)]
    models: ModelArguments,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    expect_ending(&arguments.output, "an HTML page", &["html", "htm"])?;
    let backends = backends(&arguments.backends)?;
    let crowds = crowds(arguments)?;
    let choice = PageChoice {
        backends: &backends,
        passes: &arguments.passes,
        build: &built_from(),
    };
    let text = page(&crowds, choice)?;
    write_file(&arguments.output, |file| file.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

/// The backends of a page that match the patterns, each of which must match one. A page has no plain `gpu-compute`, which
/// chooses one of its variants by a trial that a recording cannot make, and no variants that cull: these skin other
/// instances at every tick.
fn backends(globs: &[String]) -> anyhow::Result<Vec<&'static BackendEntry>> {
    if globs.is_empty() {
        return Ok(DEFAULT.into_iter().filter_map(find).collect());
    }
    let served: Vec<&BackendEntry> = REGISTRY.iter().filter(|entry| is_served(entry)).collect();
    let matching = common::matching(
        globs,
        &served,
        |entry| entry.name,
        |glob| refusal(glob, &served),
    )?;
    Ok(matching.into_iter().copied().collect())
}

/// One line about a name or pattern that no backend of a page has.
fn refusal(glob: &str, served: &[&BackendEntry]) -> String {
    let pattern = WildMatch::new(glob);
    if !REGISTRY.iter().any(|entry| pattern.matches(entry.name)) {
        return common::unknown_backend(glob);
    }
    let names: Vec<&str> = served.iter().map(|entry| entry.name).collect();
    format!("a page cannot have {glob:?}; it has {}", names.join(", "))
}

/// Returns whether a page can have a backend.
fn is_served(entry: &BackendEntry) -> bool {
    let name = entry.name;
    name.starts_with("gpu-")
        && name != "gpu-compute"
        && entry.abilities().joints != Joints::DeviceInView
}

/// The crowds, the smallest first.
fn crowds(arguments: &Arguments) -> anyhow::Result<Vec<BuiltScene>> {
    let mut counts: BTreeSet<u64> = arguments.instances.iter().copied().collect();
    if counts.is_empty() {
        let whole = scene(arguments, None)?;
        let least = whole.least_instances();
        counts.extend(FRACTIONS.map(|fraction| (whole.instances() / fraction).max(least)));
    }
    let mut scenes = Vec::with_capacity(counts.len());
    for count in counts {
        scenes.push(scene(arguments, Some(count))?);
    }
    common::build(&scenes)
}

/// The scene with a number of instances, or with its own.
fn scene(arguments: &Arguments, instances: Option<u64>) -> anyhow::Result<Scene> {
    let settings = Settings {
        instances,
        passes: arguments.passes.first().copied(),
        ..arguments.models.settings()
    };
    common::checked(&settings)?;
    Ok(common::load_scene(&arguments.scene)?.with(settings))
}
