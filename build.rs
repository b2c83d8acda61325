//! Tells the binary which revision and compiler it was built from; outside a git repository the revision is absent.

use std::path::Path;
use std::process::Command;

fn main() {
    // Whether the tree is dirty depends on all that is built from it.
    let sources = ["src", "kernels", "shaders", "scenes", "Cargo.toml", "Cargo.lock"];
    // Every commit and checkout adds a line to the log; a path that does not exist would count as changed at each build.
    let log = Some(".git/logs/HEAD").filter(|log| Path::new(log).exists());
    for path in sources.into_iter().chain(log) {
        println!("cargo::rerun-if-changed={path}");
    }
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    set("RUSTC_VERSION", output(&rustc, &["--version"]).and_then(|v| Some(v.split(' ').nth(1)?.to_owned())));
    set("GIT_REVISION", output("git", &["rev-parse", "HEAD"]));
    let changes = output("git", &["status", "--porcelain", "--untracked-files=no"]);
    set("GIT_DIRTY", changes.map(|changes| (!changes.is_empty()).to_string()));
}

/// Sets a variable that `option_env!` reads, if the value is known.
fn set(name: &str, value: Option<String>) {
    if let Some(value) = value {
        println!("cargo::rustc-env=SKINBENCH_{name}={value}");
    }
}

/// What a command prints, trimmed; none if it cannot be run or fails.
fn output(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
