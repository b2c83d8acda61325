//! Crafted results and scenes: each is answered by one line that names the file, and nothing is written.

use super::{changed, repeated, unchanged, with_field};
use crate::program::{ran, skinbench};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use snapbox::cmd::cargo_bin;
use std::fs;
use std::io::Write;
use std::iter::once;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// A report of the results of the folder in which it runs.
const REPORT: &str = "report . -o out.html";

/// Runs a command that must fail in one line with these words and leave nothing at `out.html`.
fn refused(folder: &TempDir, arguments: &str, expected: &str) {
    let command = skinbench(folder.path(), arguments).timeout(Duration::from_secs(60));
    let output = ran(command);
    let messages = output.notes;
    assert_eq!(
        (output.code, messages.lines().count()),
        (Some(1), 1),
        "{arguments}: {messages}"
    );
    assert!(
        messages.contains(expected),
        "{arguments}: {messages}\nnot {expected}"
    );
    assert!(
        !folder.path().join("out.html").exists(),
        "{arguments}: something was written"
    );
}

/// The heading of a CSV text, and lines that are no rows.
fn garbage(text: &str) -> String {
    format!("{}\n{}", text.lines().next().unwrap(), "x\n".repeat(2_000))
}

/// A run that adds to the results of the folder in which it runs.
const RUN: &str = "run smoke -b cpu-scalar --instances 3,4 --frames 1 --passes 0 -o .";

#[test]
fn rows_fields_and_sessions_are_bounded() {
    let summary = changed(|text| garbage(&text), unchanged);
    refused(&summary, REPORT, "summary.csv:2: 1 field; expected 58");
    let samples = changed(unchanged, |text| garbage(&text));
    refused(&samples, REPORT, "samples.csv:2: 1 field; expected ");
    for (column, most) in [("backend", 256), ("options", 4_096)] {
        let long = |text: String| repeated(&text, column, once("y".repeat(most + 1)));
        let expected = format!("summary.csv:2: {column}: more than {most} bytes");
        refused(&changed(long, unchanged), REPORT, &expected);
    }
    // The reader would keep memory for each field. A quotation mark within a field is none that quotes.
    let commas = ",".repeat(1_000_000);
    for (row, expected) in [
        (commas.clone(), "more than 512 fields"),
        (format!("a\"{commas}\n"), "more than 512 fields"),
        (format!("\"a\"b\"{commas}\n"), "more than 512 fields"),
        (format!("\"{commas}\"\n"), "1 field; expected 58"),
    ] {
        let many = |text: String| format!("{}\n{row}", text.lines().next().unwrap());
        let expected = format!("summary.csv:2: {expected}");
        refused(&changed(many, unchanged), REPORT, &expected);
    }
    let folder = tempfile::tempdir().unwrap();
    let sessions = format!("[{}{{}}]", "{},".repeat(2_000));
    fs::write(folder.path().join("environment.json"), sessions).unwrap();
    let expected = "environment.json: 2001 sessions; expected at most 1000";
    refused(&folder, RUN, expected);
}

#[test]
fn results_are_bounded() {
    let many = |text: String| repeated(&text, "instances", (1..=1_001).map(|n| n.to_string()));
    let machines = |text: String| {
        let runs = repeated(&text, "run_id", (1..=65).map(|number| number.to_string()));
        (2..=66).fold(runs, |text, line| {
            with_field(&text, line, "cpu", &format!("CPU {line}"))
        })
    };
    for (folder, expected) in [
        (
            changed(many, unchanged),
            "results of 1001 crowds and ways to run them; expected at most 1000",
        ),
        (
            changed(machines, unchanged),
            "results of 65 machines; expected at most 64",
        ),
    ] {
        fs::remove_file(folder.path().join("samples.csv")).unwrap();
        refused(&folder, REPORT, expected);
    }
    // Rows do not share samples.
    let expected = "summary.csv:3: samples.csv beside it has 0 samples of this row; expected 5";
    refused(&changed(many, unchanged), REPORT, expected);

    let folder = changed(unchanged, |text| garbage(&text));
    let samples = folder.path().join("samples.csv");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&fs::read(&samples).unwrap()).unwrap();
    fs::write(samples.with_extension("csv.gz"), packed.finish().unwrap()).unwrap();
    fs::remove_file(samples).unwrap();
    refused(&folder, REPORT, "samples.csv.gz:2: 1 field; expected ");
}

#[test]
fn scenes_have_few_groups_and_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: String| fs::write(folder.path().join("bad.toml"), text).unwrap();
    write("[[group]]\nmodel = \"walker\"\n".repeat(1_025));
    refused(
        &folder,
        "verify bad.toml",
        "bad.toml:2049:1: 1025 groups; expected at most 1024",
    );
    write("#".repeat((1 << 20) + 1));
    refused(
        &folder,
        "verify bad.toml",
        "bad.toml: cannot read: larger than the 1048576 bytes that are accepted",
    );
}

#[test]
fn scenes_have_models_that_load_in_a_reasonable_time() {
    let folder = tempfile::tempdir().unwrap();
    let group = |vertices: u32| format!("[[group]]\nmodel = \"walker\"\nvertices = {vertices}\n");
    fs::write(
        folder.path().join("bad.toml"),
        (190_000..190_016).map(group).collect::<String>(),
    )
    .unwrap();
    let expected = "bad.toml:18:12: the models up to this one take as long to build as walkers with 1140015 vertices in all; expected at most";
    refused(&folder, "verify bad.toml", expected);
}

/// Memory that the shell does not grant is not available.
#[cfg(target_os = "linux")]
#[test]
fn crowds_fit_the_limits_of_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let scene = "[[group]]\nmodel = \"walker\"\ncount = 20_000_000\n";
    fs::write(folder.path().join("bad.toml"), scene).unwrap();
    let line = "ulimit -v 4000000; exec \"$0\" verify bad.toml -b cpu-scalar";
    let output = std::process::Command::new("bash")
        .args(["-c", line, cargo_bin!("skinbench").to_str().unwrap()])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), messages.lines().count()),
        (Some(1), 1),
        "{messages}"
    );
    assert!(
        messages.contains("bad.toml:2:9: 20000000 instances take ")
            && messages.contains("; expected at most "),
        "{messages}"
    );
}

/// Sparse files that claim too many bytes are refused before they are read.
#[test]
fn files_with_holes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let hole = |name: &str, bytes: u64| {
        fs::File::create(folder.path().join(name))
            .unwrap()
            .set_len(bytes)
            .unwrap();
    };
    hole("bad.mesh.xml", 5 << 30);
    refused(
        &folder,
        "inspect bad.mesh.xml",
        "bad.mesh.xml: cannot be read: larger than the 1073741824 bytes",
    );
    let buffers = |name: &str, bytes: u64, count: usize| {
        let model = json!({
            "asset": { "version": "2.0" },
            "buffers": vec![json!({ "uri": name, "byteLength": bytes }); count],
            "nodes": [{ "mesh": 0, "skin": 0 }],
            "meshes": [{ "primitives": [{ "attributes": {} }] }],
            "skins": [{ "joints": [0] }],
        });
        fs::write(folder.path().join("bad.gltf"), model.to_string()).unwrap();
    };
    hole("large.bin", 1 << 40);
    for bytes in [1 << 40, 12] {
        buffers("large.bin", bytes, 1);
        refused(
            &folder,
            "inspect bad.gltf",
            "buffers[0].uri: \"large.bin\" cannot be read: larger than the 1073741824",
        );
    }
    hole("half.bin", 512 << 20);
    buffers("half.bin", 512 << 20, 3);
    refused(
        &folder,
        "inspect bad.gltf",
        "buffers[2].uri: \"half.bin\": more than 1073741824 bytes in the files of all",
    );
    hole("environment.json", 1 << 30);
    refused(
        &folder,
        RUN,
        "environment.json: larger than the 8388608 bytes that are accepted",
    );
    let folder = changed(unchanged, unchanged);
    let summary = fs::File::options()
        .write(true)
        .open(folder.path().join("summary.csv"))
        .unwrap();
    summary.set_len(2 << 30).unwrap();
    refused(
        &folder,
        REPORT,
        "summary.csv: cannot read: larger than the 1073741824 bytes that are accepted",
    );
}

/// A pipe would wait for a writer.
#[cfg(unix)]
#[test]
fn pipes_are_refused_before_they_are_opened() {
    let pipe = |path: &Path| {
        assert!(
            std::process::Command::new("mkfifo")
                .arg(path)
                .status()
                .unwrap()
                .success()
        )
    };
    let folder = tempfile::tempdir().unwrap();
    for name in ["bad.txt", "bad.toml", "bad.glb"] {
        pipe(&folder.path().join(name));
    }
    for (arguments, expected) in [
        ("report bad.txt -o out.html", "bad.txt: cannot read: "),
        (
            "verify bad.toml",
            "bad.toml: cannot read: is no regular file",
        ),
        ("verify bad.glb", "bad.glb: "),
    ] {
        refused(&folder, arguments, expected);
    }
    for name in ["summary.csv", "samples.csv"] {
        let folder = changed(unchanged, unchanged);
        fs::remove_file(folder.path().join(name)).unwrap();
        pipe(&folder.path().join(name));
        let expected = if name == "summary.csv" {
            "no summary.csv in it"
        } else {
            "samples.csv: cannot read: is no regular file"
        };
        refused(&folder, REPORT, expected);
    }
    let results = folder.path().join("results");
    fs::create_dir(&results).unwrap();
    pipe(&results.join("limits.csv"));
    refused(
        &folder,
        "run smoke -b cpu-scalar --frames 1 -o results",
        "limits.csv: cannot read: is no regular file",
    );
    assert_eq!(fs::read_dir(&results).unwrap().count(), 1);
    pipe(&results.join(".lock"));
    refused(
        &folder,
        "run smoke -b cpu-scalar --frames 1 -o results",
        ".lock: is no regular file",
    );
}
