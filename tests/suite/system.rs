//! The program among devices, pipes, links, signals, full disks and paths that are not UTF-8.

use crate::program::{process, summary};
use skinbench::frame::{Clock, Stage};
use skinbench::results::Row;
use snapbox::cmd::cargo_bin;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn success(mut command: Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn names(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<OsString> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

const RUN: &str = "run smoke -b cpu-scalar --frames 2 --instances 3 --passes 0";

/// Outputs of commands; a link in the place of each leads to a device.
fn outputs() -> Vec<(&'static str, &'static str)> {
    let mut outputs = vec![
        ("dump walker -o", "null.csv"),
        ("convert walker -o", "null.glb"),
        ("convert walker", "null.glb"),
        ("report results -o", "null.html"),
        ("report results -o", "null.md"),
    ];
    if cfg!(feature = "gpu") {
        outputs.push(("web smoke --instances 3 -b gpu-vertex -o", "null.html"));
    }
    #[cfg(feature = "gpu")]
    if !skinbench::gpu::summaries(None).is_empty() {
        outputs.push(("render smoke --width 16 --height 16 -o", "null.png"));
    }
    outputs
}

#[test]
fn devices_and_links_are_written_to_and_stay() {
    let folder = tempfile::tempdir().unwrap();
    success(process(&folder, &format!("{RUN} -o results")));
    for (command, name) in outputs() {
        let link = folder.path().join(name);
        // A fault would replace the link, and not the device.
        symlink("/dev/null", &link).unwrap();
        success(process(&folder, &format!("{command} {name}")));
        assert!(link.is_symlink(), "{command}");
        fs::remove_file(&link).unwrap();

        symlink("target", &link).unwrap();
        success(process(&folder, &format!("{command} {name}")));
        assert!(link.is_symlink(), "{command}");
        let target = folder.path().join("target");
        assert!(fs::metadata(&target).unwrap().len() > 0, "{command}");
        fs::remove_file(target).unwrap();
        fs::remove_file(link).unwrap();
    }
    assert_eq!(
        names(folder.path()),
        ["results"],
        "no temporary file is left"
    );
}

#[test]
fn pipes_and_standard_output_take_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let dumped = success(process(&folder, "dump walker"));
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let reader = std::thread::spawn(move || fs::read_to_string(pipe).unwrap());
    success(process(&folder, "dump walker -o pipe"));
    assert_eq!(reader.join().unwrap(), dumped);

    // As /dev/stdout is: a name of the first open file, be it a pipe or a regular file that has content already.
    let link = folder.path().join("stdout");
    symlink("/dev/fd/1", &link).unwrap();
    assert_eq!(success(process(&folder, "dump walker -o stdout")), dumped);
    let log = folder.path().join("log");
    fs::write(&log, "before\n").unwrap();
    let open = fs::OpenOptions::new().append(true).open(&log).unwrap();
    let mut command = process(&folder, "dump walker -o stdout");
    assert!(command.stdout(open).status().unwrap().success());
    assert_eq!(
        fs::read_to_string(log).unwrap(),
        format!("before\n{dumped}")
    );
    assert!(link.is_symlink());
}

/// Mesa hides what old OpenGL drivers lack.
#[cfg(feature = "gpu")]
#[test]
fn an_adapter_that_keeps_no_crowd_counts_as_none() {
    let lacks = [
        ("-GL_ARB_compute_shader", "has no compute shaders"),
        (
            "-GL_ARB_shader_storage_buffer_object",
            "has no storage buffers",
        ),
    ];
    for (hidden, lack) in lacks {
        let folder = tempfile::tempdir().unwrap();
        let run = "run smoke --instances 3 --frames 2 -b cpu-scalar -o out";
        let output = process(&folder, run)
            .env("VK_ICD_FILENAMES", "/nonexistent")
            .env("MESA_EXTENSION_OVERRIDE", hidden)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        assert!(said.contains(lack), "{said}");
        let rows = summary(&folder.path().join("out"));
        let scalar = rows.iter().find(of_smoke).unwrap();
        assert!(scalar.median_ns.is_some());
    }
}

/// A file system without room, as a limit of the process sees it.
#[test]
fn a_full_disk_does_not_cost_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let run = "run smoke --instances 3 --passes 0 --frames 300 -b cpu-scalar,cpu-simd -o out";
    let line = format!("trap '' XFSZ; ulimit -f 16; exec \"$0\" {run}");
    let mut command = Command::new("bash");
    command
        .args(["-c", &line, cargo_bin!("skinbench").to_str().unwrap()])
        .current_dir(folder.path());
    let output = command.output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for backend in ["cpu-scalar", "cpu-simd"] {
        assert!(table.contains(backend), "{table}");
    }
    assert!(table.contains(" ms") || table.contains(" µs"), "{table}");
    assert!(
        said.lines()
            .last()
            .unwrap()
            .starts_with("error: cannot write to out: File too large"),
        "{said}"
    );
}

/// Runs the program in a shell that `before` has changed, without an adapter, and returns the table of its run.
fn table_after(before: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let run = "run smoke -b cpu-scalar,cpu-rayon --instances 3 --passes 0 --frames 2 -o out";
    let line = format!("{before}; exec \"$0\" {run}");
    let mut command = Command::new("unshare");
    command
        .args(["--map-root-user", "--mount", "bash", "-ec", &line])
        .arg(cargo_bin!("skinbench"))
        .env("VK_ICD_FILENAMES", "/nonexistent")
        .current_dir(folder.path());
    let table = success(command);
    let rows = summary(&folder.path().join("out"));
    assert_eq!(rows.iter().filter(of_smoke).count(), 2, "{table}");
    table
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs a system that allows unshare"]
fn runs_do_without_proc() {
    table_after("mount -t tmpfs none /proc");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs a system that allows unshare"]
fn runs_measure_their_limits_where_memory_is_scarce() {
    table_after("ulimit -v 900000");
}

/// Rows of a run that a signal ended, its output, and its exit code. The signal comes twice, as from `timeout`.
fn ended_by(signal: &str) -> (Vec<Row>, String, Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    // The second scene is the one that is interrupted.
    let run = "run smoke kernel -b cpu-scalar,cpu-simd,cpu-rayon --frames 1000 --passes 0 -o out";
    let mut command = process(&folder, run);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = folder.path().join("out");
    while !out.join("summary.csv").exists() || summary(&out).iter().filter(of_smoke).count() < 3 {
        assert!(child.try_wait().unwrap().is_none(), "ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args([signal, &id, &id])
            .status()
            .unwrap()
            .success()
    );
    let mut text = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    let code = child.wait().unwrap().code();
    assert!(!out.join(".lock").exists(), "{signal}");
    (summary(&out), text, code)
}

fn of_smoke(row: &&Row) -> bool {
    row.scene == "smoke" && row.stage == Stage::Frame && row.clock == Clock::Wall
}

#[test]
fn an_interrupted_run_keeps_its_rows_and_says_what_is_missing() {
    for signal in ["-INT", "-TERM"] {
        let (rows, text, code) = ended_by(signal);
        assert_eq!(code, Some(130), "{signal}");
        let complete = rows.iter().filter(of_smoke);
        assert!(
            complete.clone().all(|row| row.frames == Some(1_000)),
            "{signal}"
        );
        assert_eq!(complete.count(), 3, "{signal}");
        let rest: Vec<_> = rows.iter().filter(|row| row.scene == "kernel").collect();
        assert!(rest.iter().all(|row| row.frames < Some(1_000)), "{signal}");
        // The signal may come while the first scene's table is made: it was then interrupted after its last backend.
        assert!(
            text.lines().any(|line| line.starts_with("interrupted")),
            "{signal}: {text}"
        );
    }
}

#[test]
fn runs_of_the_same_second_have_folders_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let spawn = |_| {
        let mut command = process(&folder, RUN);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let running: Vec<_> = (0..4).map(spawn).collect();
    for child in running {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }
    let folders = names(&folder.path().join("skinbench-results"));
    assert_eq!(folders.len(), 4, "{folders:?}");
}

// File systems of other systems refuse such names.
#[cfg(target_os = "linux")]
#[test]
fn paths_need_not_be_utf_8() {
    let folder = tempfile::tempdir().unwrap();
    let name = |ending: &str| {
        let mut name = b"m\xf6del".to_vec();
        name.extend(ending.as_bytes());
        OsString::from_vec(name)
    };
    let with = |arguments: &str, path: &OsStr| {
        let mut command = process(&folder, arguments);
        command.arg(path);
        success(command)
    };
    let model = name(".glb");
    with("convert walker -o", &model);
    assert!(with("inspect", &model).contains("joints"));
    assert!(with("dump", &model).starts_with("primitive,"));
    with("dump walker -o", &name(".csv"));
    let run = "run -b cpu-scalar --frames 2 --instances 3 --passes 0 -o out";
    with(run, &model);
    let rows = summary(&folder.path().join("out"));
    assert!(
        rows.iter().all(|row| row.scene == "m\u{fffd}del"),
        "{rows:?}"
    );
    with(&format!("{RUN} -o"), &name("-results"));
    with("report -o page.html", &name("-results"));
    // Without an ending that a format has, the content decides.
    fs::copy(folder.path().join(&model), folder.path().join(name(""))).unwrap();
    with("verify -b cpu-scalar --instances 3", &name(""));
    let scene = "[[group]]\nmodel = \"walker\"\n";
    fs::write(folder.path().join(name(".toml")), scene).unwrap();
    with("verify -b cpu-scalar", &name(".toml"));
    let missing = process(&folder, "inspect")
        .arg(name(".gltf"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(
        missing.status.code() == Some(1) && said.starts_with("error: m\u{fffd}del.gltf: "),
        "{said}"
    );
}

/// A command whose standard output, and standard error if `both`, nobody reads.
fn unread(folder: &TempDir, arguments: &str, both: bool) -> Output {
    let closed = || {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    let mut command = process(folder, arguments);
    command.stdout(closed());
    if both {
        command.stderr(closed());
    }
    command.output().unwrap()
}

#[test]
fn closed_pipes_end_no_command_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    success(process(&folder, &format!("{RUN} -o results")));
    for arguments in [
        "--help",
        "run --help",
        "--version",
        "-V",
        "list",
        "list --json",
        "inspect walker",
        "inspect --json walker",
        "dump walker",
        "report results",
        "report results --format md",
        "verify smoke --instances 3 -b cpu-scalar",
        RUN,
        "sweep smoke --instances 3 --passes 0 --frames 2 -b cpu-scalar -o swept",
    ] {
        for both in [false, true] {
            let output = unread(&folder, arguments, both);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{arguments}, {both}: {said}");
            assert!(!said.contains("error"), "{arguments}: {said}");
        }
    }
    // An error is one all the same.
    assert_eq!(
        unread(&folder, "inspect none.glb", true).status.code(),
        Some(1)
    );
}

/// A file that cannot be written has an error about the name that was given.
#[test]
fn errors_name_the_file_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let output = process(&folder, "dump walker -o missing/out.csv")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "error: cannot write missing/out.csv: no folder missing; expected one that exists\n"
    );
    let path = PathBuf::from(OsStr::from_bytes(b"."));
    let output = process(&folder, "dump walker -o")
        .arg(path)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("error: cannot write .: is a directory"),
        "{said}"
    );
    assert!(names(folder.path()).is_empty());
}
