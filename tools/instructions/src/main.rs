//! Counts the instructions of the CPU kernels on a small fixed crowd, and reports kernels that take more than before.
//!
//! The program runs itself in valgrind's callgrind, which counts only within [`counted`] and writes a file whenever that
//! function returns.

mod cases;
mod table;

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};
use table::{Row, Table, changes};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "usage: scripts/instructions [--check]";
/// The table, from the repository's root.
const TABLE: &str = "results/instructions.csv";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        [] => write(),
        ["--check"] => check(),
        // What callgrind runs.
        ["--run"] => cases::run(&mut |name, kernel| {
            println!("{name}");
            counted(kernel);
        }),
        _ => Err(USAGE.into()),
    };
    if let Err(error) = done {
        eprintln!("instructions: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Runs a kernel. Callgrind knows this function by its name.
#[inline(never)]
fn counted(kernel: &mut dyn FnMut()) {
    kernel();
    black_box(());
}

/// Writes the table, and prints what changed.
fn write() -> Result<()> {
    let new = measured()?;
    if let Ok(old) = Table::read(Path::new(TABLE)) {
        for change in changes(&old, &new) {
            println!("{change}");
        }
    }
    std::fs::write(TABLE, new.csv())?;
    println!("wrote {TABLE}");
    Ok(())
}

/// Compares with the table.
fn check() -> Result<()> {
    let old = Table::read(Path::new(TABLE))?;
    let new = measured()?;
    let changes = changes(&old, &new);
    for change in &changes {
        println!("{change}");
    }
    let worse = changes.iter().filter(|change| change.is_worse()).count();
    if old.rustc != new.rustc {
        println!(
            "{TABLE} is by {}, and this by {}: nothing is concluded",
            old.rustc, new.rustc
        );
        return Ok(());
    }
    if worse > 0 {
        return Err(format!("{worse} kernels take more than 1 % more instructions, or are missing; scripts/instructions writes {TABLE} anew").into());
    }
    println!(
        "{} kernels: none takes more than 1 % more instructions",
        new.rows.len()
    );
    Ok(())
}

/// The instructions of every kernel of this build.
fn measured() -> Result<Table> {
    let folder = tempfile::tempdir()?;
    let files = folder.path().join("part");
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--toggle-collect=instructions::counted",
            "--dump-after=instructions::counted",
        ])
        .arg(format!("--callgrind-out-file={}", files.display()))
        .arg(std::env::current_exe()?)
        .arg("--run")
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "valgrind failed: {}",
            String::from_utf8_lossy(&output.stderr)
        )
        .into());
    }
    let mut rows = Vec::new();
    for (part, name) in String::from_utf8(output.stdout)?.lines().enumerate() {
        let text = std::fs::read_to_string(files.with_extension((part + 1).to_string()))?;
        let count = text
            .lines()
            .find_map(|line| line.strip_prefix("totals: ")?.parse().ok());
        rows.push(Row {
            kernel: name.to_owned(),
            instructions: count.ok_or("callgrind counted nothing")?,
        });
    }
    let rustc = Command::new("rustc").arg("--version").output()?;
    Ok(Table {
        rustc: String::from_utf8(rustc.stdout)?.trim().into(),
        rows,
    })
}
