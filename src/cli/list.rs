//! `skinbench list`: the available choices.

use super::{Exit, UsageError};
use clap::Args;
use indexmap::IndexSet;
use serde::Serialize;
use skinbench::frame::{Ability, AdapterSummary};
use skinbench::registry::{BackendEntry, REGISTRY};
use skinbench::scene::{BUILT_IN, BUILT_IN_MODELS};
use skinbench::simd::{Isa, VARIABLE};
use std::io::{self, Write};

/// List backends, adapters, scenes and built-in models
#[derive(Debug, Args)]
pub struct Arguments {
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

/// All choices on this machine.
#[derive(Serialize)]
struct Choices {
    backends: Vec<BackendChoice>,
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
    /// What crowds and options may not ask of it.
    lacks: Vec<String>,
}

#[derive(Serialize)]
struct SceneChoice {
    name: &'static str,
    summary: &'static str,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let choices = Choices {
        backends: REGISTRY.iter().map(backend).collect(),
        #[cfg(feature = "gpu")]
        adapters: AdapterSummary::all(),
        #[cfg(not(feature = "gpu"))]
        adapters: Vec::new(),
        scenes: BUILT_IN
            .iter()
            .map(|&(name, text)| SceneChoice {
                name,
                summary: text
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .trim_start_matches(['#', ' ']),
            })
            .collect(),
        models: &BUILT_IN_MODELS,
        threads: rayon::current_num_threads(),
        instruction_set: Isa::chosen().map_err(UsageError)?.name(),
        instruction_sets: Isa::available().map(Isa::name).collect(),
    };
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &choices)?;
        writeln!(out)?;
    } else {
        write_text(&choices, &mut out)?;
    }
    Ok(Exit::Done)
}

fn backend(entry: &BackendEntry) -> BackendChoice {
    let abilities = entry.abilities();
    // Two parts of a backend may lack the same.
    let lacks: IndexSet<String> = abilities
        .lacks
        .iter()
        .map(|lack| lack.ability.to_string())
        .collect();
    BackendChoice {
        name: entry.name,
        summary: entry.summary,
        morph_targets: !abilities.lack(Ability::MorphTargets),
        lacks: lacks.into_iter().collect(),
    }
}

fn write_text(choices: &Choices, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "backends")?;
    for BackendChoice {
        name,
        summary,
        lacks,
        ..
    } in &choices.backends
    {
        let none = if lacks.is_empty() { "" } else { "; no " };
        writeln!(out, "  {name:<26} {summary}{none}{}", lacks.join(", "))?;
    }
    writeln!(out, "adapters")?;
    if choices.adapters.is_empty() {
        writeln!(
            out,
            "  none{}",
            if cfg!(feature = "gpu") {
                ""
            } else {
                ": this build has no GPU backends"
            }
        )?;
    }
    for adapter in &choices.adapters {
        let AdapterSummary {
            index, api, driver, ..
        } = adapter;
        writeln!(out, "  {index} {}, {api}, {driver}", adapter.label())?;
    }
    writeln!(out, "scenes")?;
    for SceneChoice { name, summary } in &choices.scenes {
        writeln!(out, "  {name:<16} {summary}")?;
    }
    writeln!(out, "models")?;
    choices
        .models
        .iter()
        .try_for_each(|name| writeln!(out, "  {name}"))?;
    writeln!(out, "threads\n  {}", choices.threads)?;
    let Choices {
        instruction_set,
        instruction_sets,
        ..
    } = choices;
    writeln!(
        out,
        "instruction set\n  {instruction_set} (of {}; {VARIABLE} chooses)",
        instruction_sets.join(", ")
    )
}
