//! Holds larger builds to the crates of smaller ones: a build with more features compiles what they add, and nothing that
//! takes long a second time.

use std::collections::BTreeSet;
use std::process::Command;

/// Small crates, which may have other features in a larger build.
const SMALL: [&str; 10] = [
    "hashbrown",
    "linux-raw-sys",
    "once_cell",
    "rustix",
    "skinbench",
    "skinbench-frame",
    "toml_datetime",
    "toml_parser",
    "toml_writer",
    "winnow",
];

/// The crates of a build of the program with these arguments of cargo, as `name version [features]`.
fn crates(arguments: &[&str]) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["tree", "--locked", "--offline", "--edges", "normal,build"])
        .args([
            "--package",
            "skinbench",
            "--prefix",
            "none",
            "--format",
            "{p} [{f}]",
        ])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = cargo.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| line.trim_end_matches(" (*)").to_owned())
        .collect()
}

fn is_small(line: &str) -> bool {
    let name = line.split(' ').next().unwrap_or_default();
    SMALL.contains(&name)
}

#[test]
fn larger_builds_compile_nothing_large_again() {
    let without_wgpu = crates(&["--no-default-features", "--features", "cli"]);
    let with_window = crates(&["--features", "view"]);
    for smaller in [without_wgpu, crates(&[])] {
        assert!(smaller.len() > 100, "{smaller:?}");
        let again: Vec<_> = smaller.difference(&with_window).collect();
        let large: Vec<_> = again.into_iter().filter(|line| !is_small(line)).collect();
        assert!(
            large.is_empty(),
            "other features with the window: {large:#?}"
        );
    }
}
