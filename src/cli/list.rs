//! `skinbench list`: the available choices.

use super::{Exit, UsageError, narrow, say_fitted, say_json, tell};
use clap::Args;
use indexmap::IndexSet;
use serde::Serialize;
use skinbench::frame::{Ability, AdapterSummary, Api};
use skinbench::peers::{self, Manifest};
use skinbench::registry::{BackendEntry, REGISTRY};
use skinbench::report::described;
use skinbench::scene::{BUILT_IN, BUILT_IN_MODELS};
use skinbench::simd::{Isa, VARIABLE};
use skinbench::wording::one_line;

/// List backends, peers, adapters, scenes and built-in models
#[derive(Debug, Args)]
pub struct Arguments {
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
    /// Adapters by this graphics API; default: the machine's own, and OpenGL where there is no other
    #[arg(long, hide_possible_values = true, value_name = "vulkan|gl|dx12|metal")]
    api: Option<Api>,
}

/// All choices on this machine.
#[derive(Serialize)]
struct Listing {
    backends: Vec<BackendChoice>,
    peers: Vec<Manifest>,
    adapters: Vec<AdapterSummary>,
    scenes: Vec<SceneChoice>,
    models: &'static [&'static str],
    /// Threads of parallel loops.
    threads: usize,
    /// The instruction set in use, and those of the processor.
    instruction_set: &'static str,
    instruction_sets: Vec<&'static str>,
}

#[derive(Serialize)]
struct BackendChoice {
    name: &'static str,
    summary: &'static str,
    morph_targets: bool,
    /// `false` for one that another build has.
    is_built: bool,
    /// What crowds and options may not ask of it.
    lacks: Vec<String>,
}

#[derive(Serialize)]
struct SceneChoice {
    name: &'static str,
    summary: &'static str,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut scenes = Vec::with_capacity(BUILT_IN.len());
    for (name, text) in BUILT_IN {
        let summary = text.lines().next().unwrap_or_default();
        scenes.push(SceneChoice {
            name,
            summary: summary.trim_start_matches(['#', ' ']),
        });
    }
    let choices = Listing {
        backends: REGISTRY.iter().map(backend).collect(),
        peers: peers(),
        adapters: adapters(arguments.api),
        scenes,
        models: &BUILT_IN_MODELS,
        threads: rayon::current_num_threads(),
        instruction_set: Isa::chosen().map_err(UsageError)?.name(),
        instruction_sets: Isa::available().map(Isa::name).collect(),
    };
    if arguments.json {
        say_json(&choices)?;
    } else {
        say_fitted(text(&choices), narrow())?;
    }
    Ok(Exit::Done)
}

#[cfg(feature = "gpu")]
fn adapters(api: Option<Api>) -> Vec<AdapterSummary> {
    skinbench::gpu::summaries(api)
}

/// None, in a build without GPU backends.
#[cfg(not(feature = "gpu"))]
fn adapters(_: Option<Api>) -> Vec<AdapterSummary> {
    Vec::new()
}

fn backend(entry: &BackendEntry) -> BackendChoice {
    let abilities = entry.abilities();
    // Two parts of a backend may lack the same.
    let lacks = abilities.lacks.iter().map(|lack| lack.ability.to_string());
    let lacks: IndexSet<String> = lacks.collect();
    BackendChoice {
        name: entry.name,
        summary: entry.summary,
        is_built: entry.is_built(),
        morph_targets: !abilities.lack(Ability::MorphTargets),
        lacks: lacks.into_iter().collect(),
    }
}

/// The peers in the folder `peers`. A note says which files there are no manifests.
fn peers() -> Vec<Manifest> {
    let mut peers = Vec::new();
    for file in peers::names()
        .iter()
        .filter_map(|name| peers::file_of(name))
    {
        match Manifest::read(&file) {
            Ok(peer) => peers.push(peer),
            Err(problem) => tell(format_args!("note: {problem}")),
        }
    }
    peers
}

fn text(choices: &Listing) -> String {
    let screen = narrow();
    let mut backends = Vec::with_capacity(choices.backends.len());
    for backend in &choices.backends {
        let mut line = backend.summary.to_owned();
        if !backend.lacks.is_empty() {
            line += &format!("; no {}", backend.lacks.join(", "));
        }
        if !backend.is_built {
            line += "; not in this build";
        }
        backends.push([backend.name.to_owned(), line]);
    }
    let mut text = format!("backends\n{}", described(&backends, screen));
    text += "peers, which take part if -b names them\n";
    if choices.peers.is_empty() {
        text += "  none: there is no manifest in the folder peers\n";
    }
    let mut peers = Vec::with_capacity(choices.peers.len());
    for peer in &choices.peers {
        let names: Vec<&str> = peer.backends.iter().map(String::as_str).collect();
        let mut line = peer.summary.clone();
        if let Some(missing) = &peer.missing {
            line += &format!("; {missing}");
        }
        peers.push([names.join(", "), one_line(&line, usize::MAX)]);
    }
    text += &described(&peers, screen);
    text += "adapters\n";
    if choices.adapters.is_empty() {
        let reason = if cfg!(feature = "gpu") {
            ""
        } else {
            ": scripts/bench --gpu or cargo build --release makes a program with GPU backends"
        };
        text += &format!("  none{reason}\n");
    }
    for adapter in &choices.adapters {
        let AdapterSummary {
            index, api, driver, ..
        } = adapter;
        text += &format!("  {index} {}, {api}, {driver}\n", adapter.label());
    }
    let scenes = choices.scenes.iter();
    let scenes: Vec<[&str; 2]> = scenes.map(|scene| [scene.name, scene.summary]).collect();
    text += &format!("scenes\n{}models\n", described(&scenes, screen));
    for name in choices.models {
        text += &format!("  {name}\n");
    }
    let sets = choices.instruction_sets.join(", ");
    text + &format!(
        "threads\n  {}\ninstruction set\n  {} (of {sets}; {VARIABLE} chooses)\n",
        choices.threads, choices.instruction_set
    )
}
