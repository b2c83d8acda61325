//! The command line: parse, dispatch, exit code.
//!
//! | module | holds |
//! | --- | --- |
//! | `cli` | one file for each verb |

mod cli;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::Cli::try_parse() {
        Ok(arguments) => cli::report(arguments.run()),
        Err(error) => cli::report_usage(&error),
    }
}
