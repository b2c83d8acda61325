//! Commands that this build lacks: they exist, and say how to build them.

use super::Exit;
use anyhow::bail;
use clap::Args;
use std::ffi::OsString;

/// How to build what needs wgpu.
#[cfg(not(feature = "gpu"))]
pub const GPU: &str = "scripts/bench --gpu or cargo build --release";
/// How to build the window.
#[cfg(not(feature = "view"))]
pub const WINDOW: &str = "scripts/view or cargo build --release --features view";

/// Any arguments of a command.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// Arguments of the command
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _words: Vec<OsString>,
}

/// Refuses a command, and says how to build it.
pub fn run(command: &str, build: &str) -> anyhow::Result<Exit> {
    bail!("this build has no `skinbench {command}`; {build} makes one that has it")
}
