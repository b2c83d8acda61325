//! The command line: one file per subcommand; exit codes and errors are shared here.

mod built_from;
mod common;
mod compare;
mod convert;
mod dump;
mod exit;
mod inspect;
mod list;
mod output;
mod peers;
mod progress;
#[cfg(feature = "gpu")]
mod render;
mod report;
mod run;
mod screen;
#[cfg(feature = "web")]
mod serve;
mod settings;
mod submit;
mod sweep;
mod verify;
#[cfg(feature = "view")]
mod view;
#[cfg(feature = "web")]
mod web;

pub(in crate::cli) use built_from::built_from;
pub(in crate::cli) use common::{MachineArguments, WorkloadArguments, positive, seconds};
pub(in crate::cli) use exit::{Exit, UsageError};
pub(in crate::cli) use output::{say, write_file};
pub(in crate::cli) use progress::Progress;
pub(in crate::cli) use screen::ScreenArguments;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use skinbench::model::shortened;
use skinbench::wording::one_line;
use std::io;
use std::process::ExitCode;

/// Most characters of an error: it may list all backends, but not the whole of a text that a file has.
const MOST_CHARACTERS: usize = 6_000;

/// Which way of skinning a crowd of animated characters is fastest on this machine, and do all ways agree?
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Without a command: measures a thousand walkers with all backends but variants."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Arguments),
    Verify(verify::Arguments),
    Sweep(sweep::Arguments),
    Compare(compare::Arguments),
    Report(report::Arguments),
    Submit(submit::Arguments),
    Dump(dump::Arguments),
    Inspect(inspect::Arguments),
    Convert(convert::Arguments),
    #[cfg(feature = "gpu")]
    Render(render::Arguments),
    #[cfg(feature = "view")]
    View(Box<view::Arguments>),
    #[cfg(feature = "web")]
    Web(web::Arguments),
    Peers(peers::Arguments),
    List(list::Arguments),
}

impl Cli {
    /// Runs the command of the arguments; without a command, `run` with its defaults.
    pub fn run(self) -> anyhow::Result<Exit> {
        let Some(command) = self.command else {
            return Self::parse_from(["skinbench", "run"]).run();
        };
        match command {
            Command::Run(arguments) => run::run(&arguments),
            Command::Verify(arguments) => verify::run(&arguments),
            Command::Sweep(arguments) => sweep::run(&arguments),
            Command::Compare(arguments) => compare::run(&arguments),
            Command::Report(arguments) => report::run(&arguments),
            Command::Submit(arguments) => submit::run(&arguments),
            Command::Dump(arguments) => dump::run(&arguments),
            Command::Inspect(arguments) => inspect::run(&arguments),
            Command::Convert(arguments) => convert::run(&arguments),
            #[cfg(feature = "gpu")]
            Command::Render(arguments) => render::run(&arguments),
            #[cfg(feature = "view")]
            Command::View(arguments) => view::run(*arguments),
            #[cfg(feature = "web")]
            Command::Web(arguments) => web::run(&arguments),
            Command::Peers(arguments) => peers::run(arguments),
            Command::List(arguments) => list::run(&arguments),
        }
    }
}

/// Prints an error as one line and chooses the exit code.
pub fn report(result: anyhow::Result<Exit>) -> ExitCode {
    let error = match result {
        Ok(exit) => return exit.into(),
        Err(error) => error,
    };
    let closed_pipe = |e: &(dyn std::error::Error + 'static)| {
        e.downcast_ref::<io::Error>()
            .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(closed_pipe) {
        return Exit::Done.into();
    }
    let line = one_line(&format!("{error:#}"), usize::MAX);
    eprintln!("error: {}", shortened(line, MOST_CHARACTERS));
    if error.is::<UsageError>() {
        Exit::Usage.into()
    } else {
        Exit::Error.into()
    }
}

/// Prints clap's output: help and version as they are, errors as one line.
pub fn report_usage(error: &clap::Error) -> ExitCode {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        return error.print().map_or(Exit::Error, |()| Exit::Done).into();
    }
    let text = error.to_string();
    let said = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:"));
    let said: Vec<_> = said
        .filter(|line| !line.starts_with("For more information"))
        .collect();
    let line = one_line(&said.join(" "), usize::MAX);
    eprintln!("{}", shortened(line, MOST_CHARACTERS));
    Exit::Usage.into()
}
