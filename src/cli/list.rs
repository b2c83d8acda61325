//! `skinbench list`: the available choices.

use super::exit::{Exit, UsageError};
use clap::Args;
use skinbench::registry::REGISTRY;
use skinbench::scene::{BUILT_IN, BUILT_IN_MODELS};
use skinbench::simd::{Isa, VARIABLE};
use std::io::{self, Write};

/// List backends, adapters, scenes and built-in models
#[derive(Debug, Args)]
pub struct Arguments {}

pub fn run(_: &Arguments) -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    writeln!(out, "backends")?;
    for entry in REGISTRY {
        let unable = if entry.morphs() { "" } else { "; no morph targets" };
        writeln!(out, "  {:<26} {}{unable}", entry.name, entry.summary)?;
    }
    writeln!(out, "adapters")?;
    adapters(&mut out)?;
    writeln!(out, "scenes")?;
    for (name, text) in BUILT_IN {
        let summary = text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']);
        writeln!(out, "  {name:<16} {summary}")?;
    }
    writeln!(out, "models")?;
    BUILT_IN_MODELS.iter().try_for_each(|name| writeln!(out, "  {name}"))?;
    writeln!(out, "threads\n  {}", rayon::current_num_threads())?;
    let isa = Isa::chosen().map_err(UsageError)?;
    let available: Vec<_> = Isa::available().map(Isa::name).collect();
    writeln!(out, "instruction set\n  {isa} (of {}; {VARIABLE} chooses)", available.join(", "))?;
    Ok(Exit::Done)
}

#[cfg(feature = "gpu")]
fn adapters(out: &mut impl Write) -> io::Result<()> {
    let adapters = skinbench::gpu::Gpu::adapters();
    if adapters.is_empty() {
        writeln!(out, "  none")?;
    }
    for adapter in adapters {
        let emulated = if adapter.software { " (CPU-emulated)" } else { "" };
        writeln!(out, "  {} {}{emulated}, {}, {}", adapter.index, adapter.name, adapter.api, adapter.driver)?;
    }
    Ok(())
}

#[cfg(not(feature = "gpu"))]
fn adapters(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "  none: this build has no GPU backends")
}
