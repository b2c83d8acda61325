//! `skinbench completions` and `skinbench man`: what shells and `man` know of the commands.

use super::{Exit, UsageError};
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::{self, Write};

/// Print completions for a shell
#[derive(Debug, Args)]
pub struct CompletionArguments {
    /// Shell that reads them
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Print the page of `man` on skinbench, or on one of its commands
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Command that the page is about; default: all, in short
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub fn completions(arguments: &CompletionArguments, mut program: Command) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "skinbench", &mut text);
    io::stdout().lock().write_all(&text)?;
    Ok(Exit::Done)
}

pub fn man(arguments: &ManArguments, mut program: Command) -> anyhow::Result<Exit> {
    program.build();
    let page = match &arguments.command {
        None => Man::new(program),
        Some(name) => {
            let Some(found) = program.find_subcommand(name) else {
                let problem = format!("unknown command {name:?}; `skinbench -h` lists all");
                return Err(UsageError(problem).into());
            };
            let title = format!("skinbench-{name}");
            Man::new(found.clone().name(title))
        }
    };
    let mut text = Vec::new();
    page.render(&mut text)?;
    io::stdout().lock().write_all(&text)?;
    Ok(Exit::Done)
}
