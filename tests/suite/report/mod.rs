//! From result files to answers: reading, comparing, reporting, sweeping.

mod attacks;
mod card;
mod comparing;
mod limits;
mod pages;
mod ranking;
mod reading;
mod screens;
mod spending;
mod submitting;
mod sweeping;

use skinbench::results::recorded::Recorded;
use snapbox::cmd::{Command, cargo_bin};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sweep")
}

/// A copy of the fixed results, changed.
fn changed(summary: impl Fn(String) -> String, samples: impl Fn(String) -> String) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, change) in [
        ("summary.csv", &summary as &dyn Fn(String) -> String),
        ("samples.csv", &samples as &dyn Fn(String) -> String),
    ] {
        fs::write(
            folder.path().join(name),
            change(fs::read_to_string(fixture().join(name)).unwrap()),
        )
        .unwrap();
    }
    folder
}

fn unchanged(text: String) -> String {
    text
}

/// The text with a field of a line replaced; line 1 is the heading.
fn with_field(text: &str, line: usize, column: &str, value: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(Into::into).collect();
    let at = lines[0].split(',').position(|name| name == column).unwrap();
    let mut fields: Vec<&str> = lines[line - 1].split(',').collect();
    fields[at] = value;
    lines[line - 1] = fields.join(",");
    lines.join("\n") + "\n"
}

fn read(folder: &TempDir) -> Recorded {
    Recorded::read(&[folder.path()]).unwrap()
}

fn skinbench(folder: &Path, arguments: &str) -> Command {
    Command::new(cargo_bin!("skinbench"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("XDG_RUNTIME_DIR", folder)
}

/// Rows of the fixed results.
const ROWS: usize = 213;
