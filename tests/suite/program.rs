//! The program as its users run it, and what it leaves behind.

use serde::de::DeserializeOwned;
use skinbench::results::Row;
use snapbox::cmd::{Command, cargo_bin};
use std::path::Path;
use std::process;

/// The program in a folder, with arguments separated by spaces.
pub fn process(folder: impl AsRef<Path>, arguments: &str) -> process::Command {
    let mut command = process::Command::new(cargo_bin!("skinbench"));
    command
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .env("NO_COLOR", "1")
        // Without a desktop, which Mesa would complain about on stderr.
        .env_remove("XDG_RUNTIME_DIR")
        .env_remove("NODEVICE_SELECT");
    command
}

/// As [`process`], with assertions.
pub fn skinbench(folder: impl AsRef<Path>, arguments: &str) -> Command {
    Command::from_std(process(folder, arguments))
}

/// Output and exit code of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub text: String,
    /// What it printed to stderr.
    pub notes: String,
}

/// Runs a command to its end.
pub fn ran(command: Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        text: String::from_utf8(output.stdout).unwrap(),
        notes: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The rows of a CSV file.
pub fn rows<T: DeserializeOwned>(file: &Path) -> Vec<T> {
    csv::Reader::from_path(file)
        .unwrap()
        .deserialize()
        .collect::<Result<_, _>>()
        .unwrap()
}

/// The rows of `summary.csv` in a folder of results.
pub fn summary(results: &Path) -> Vec<Row> {
    rows(&results.join("summary.csv"))
}

/// Runs the program, which must succeed.
pub fn succeed(folder: impl AsRef<Path>, arguments: &str) -> Ran {
    let ran = ran(skinbench(folder, arguments));
    assert_eq!(ran.code, Some(0), "{arguments}: {}", ran.notes);
    ran
}
