//! The command line: one file per subcommand; exit codes and errors are shared here.

#[cfg(not(all(feature = "gpu", feature = "view")))]
mod absent;
mod built_from;
mod common;
mod compare;
mod convert;
mod corpus;
mod diff;
mod dump;
mod exit;
mod generate;
mod help;
mod inspect;
mod list;
mod output;
mod progress;
#[cfg(feature = "gpu")]
mod render;
mod report;
mod retired;
mod run;
mod screen;
mod settings;
mod turns;
mod usage;
mod verify;
#[cfg(feature = "view")]
mod view;
#[cfg(feature = "gpu")]
mod web;

use built_from::built_from;
use common::{ClockArguments, MachineArguments, WorkloadArguments, positive, seconds};
use exit::{Exit, UsageError};
use output::{create_folder, say, say_fitted, say_json, say_json_line, tell, tell_all, write_file};
use progress::Progress;
use screen::{ScreenArguments, narrow};

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use skinbench::error::shortened;
use std::env;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

/// Most characters of an error: it may list all backends, but not the whole of a text that a file has.
const MOST_CHARACTERS: usize = 6_000;

/// What stands below the list of commands.
const AFTER_HELP: &str = "Without a command, it measures a thousand walkers with each backend that has no colon in its \
    name: 1.5 minutes on two cores, and a folder of results in skinbench-results.\n\n\
    `skinbench completions bash` (zsh, fish, elvish, powershell) prints completions for a shell, `skinbench man` or \
    `skinbench man run` a page for man.";

/// Which way of skinning a crowd of animated characters is fastest on this machine, and do all ways agree?
#[derive(Debug, Parser)]
#[command(
    version,
    long_version = built_from::long_version(),
    after_help = AFTER_HELP
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(visible_alias = "sweep")]
    Run(run::Arguments),
    #[command(mut_arg("threads", common::one_thread_count))]
    Verify(verify::Arguments),
    Compare(compare::Arguments),
    Report(report::Arguments),
    #[command(mut_arg("threads", common::one_thread_count))]
    Dump(dump::Arguments),
    Inspect(inspect::Arguments),
    Convert(convert::Arguments),
    Diff(diff::Arguments),
    Corpus(corpus::Arguments),
    #[cfg(feature = "gpu")]
    #[command(mut_arg("threads", common::one_thread_count))]
    Render(render::Arguments),
    /// Write a picture of a scene or a model (not in this build)
    #[cfg(not(feature = "gpu"))]
    Render(absent::Arguments),
    #[cfg(feature = "view")]
    #[command(mut_arg("threads", common::one_thread_count))]
    View(Box<view::Arguments>),
    /// Open a window on a scene or a model (not in this build)
    #[cfg(not(feature = "view"))]
    View(absent::Arguments),
    #[cfg(feature = "gpu")]
    Web(web::Arguments),
    /// Make a page that verifies and measures GPU backends in a browser (not in this build)
    #[cfg(not(feature = "gpu"))]
    Web(absent::Arguments),
    List(list::Arguments),
    #[command(hide = true)]
    Completions(generate::CompletionArguments),
    #[command(hide = true)]
    Man(generate::ManArguments),
}

impl Cli {
    /// Parses the arguments of the program.
    ///
    /// # Errors
    /// As clap has them, help and version among them.
    pub fn parsed() -> Result<Self, clap::Error> {
        Self::parsed_from(env::args_os())
    }

    fn parsed_from(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut command = help::shortened(Self::command());
        let matches = command.try_get_matches_from_mut(words)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// Runs the command of the arguments; without a command, `run` with its defaults.
    pub fn run(self) -> anyhow::Result<Exit> {
        let Some(command) = self.command else {
            return Self::parsed_from(["skinbench", "run"].map(OsString::from))?.run();
        };
        match command {
            Command::Run(arguments) => run::run(&arguments),
            Command::Verify(arguments) => verify::run(&arguments),
            Command::Compare(arguments) => compare::run(&arguments),
            Command::Report(arguments) => report::run(&arguments),
            Command::Dump(arguments) => dump::run(&arguments),
            Command::Inspect(arguments) => {
                common::start_threads()?;
                inspect::run(&arguments)
            }
            Command::Convert(arguments) => {
                common::start_threads()?;
                convert::run(&arguments)
            }
            Command::Diff(arguments) => diff::run(&arguments),
            Command::Corpus(arguments) => corpus::run(&arguments),
            #[cfg(feature = "gpu")]
            Command::Render(arguments) => render::run(&arguments),
            #[cfg(not(feature = "gpu"))]
            Command::Render(_) => absent::run("render", absent::GPU),
            #[cfg(feature = "view")]
            Command::View(arguments) => view::run(*arguments),
            #[cfg(not(feature = "view"))]
            Command::View(_) => absent::run("view", absent::WINDOW),
            #[cfg(feature = "gpu")]
            Command::Web(arguments) => web::run(&arguments),
            #[cfg(not(feature = "gpu"))]
            Command::Web(_) => absent::run("web", absent::GPU),
            Command::List(arguments) => {
                common::start_threads()?;
                list::run(&arguments)
            }
            Command::Completions(arguments) => {
                generate::completions(&arguments, help::shortened(Self::command()))
            }
            Command::Man(arguments) => generate::man(&arguments, help::shortened(Self::command())),
        }
    }
}

/// Prints an error as one line and chooses the exit code.
pub fn report(result: anyhow::Result<Exit>) -> ExitCode {
    let error = match result {
        Ok(exit) => return exit.into(),
        Err(error) => error,
    };
    if error.chain().any(is_closed_pipe) {
        return Exit::Done.into();
    }
    tell(shortened(&format!("error: {error:#}"), MOST_CHARACTERS));
    if error.is::<UsageError>() {
        Exit::Usage.into()
    } else {
        Exit::Error.into()
    }
}

fn is_closed_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let error: Option<&io::Error> = error.downcast_ref();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Prints clap's output: help and version as they are, errors as one line.
pub fn report_usage(error: &clap::Error) -> ExitCode {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        return report(error.print().map(|()| Exit::Done).map_err(Into::into));
    }
    let words = env::args_os().skip(1);
    let words: Vec<String> = words.map(|word| word.display().to_string()).collect();
    let line = usage::text(error, &help::shortened(Cli::command()), &words);
    tell(shortened(&line, MOST_CHARACTERS));
    Exit::Usage.into()
}
