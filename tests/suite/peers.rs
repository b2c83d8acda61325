//! Programs of others under the harness: a good one is measured, and each that does wrong has one clear line and no time.

use serde_json::{Value, json};
use skinbench::backend::FrameData;
use skinbench::frame::{Approximation, Clock, Purpose, Stage};
use skinbench::harness::run::Status;
use skinbench::model::RotationBlend;
use skinbench::peers::{Loaded, PeerAbilities, Request, Times, Written};
use skinbench::results::Row;
use skinbench::vertex::{Attributes, Normals};
use snapbox::cmd::{Command, cargo_bin};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output as Finished;
use tempfile::TempDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Writes a manifest of the fake peer; `mode` says what it does wrong, and `more` is added to the manifest.
fn manifest_with(folder: &TempDir, mode: &str, more: &str) {
    let script = Path::new(ROOT).join("tests/support/peer.py");
    let script = script.display();
    // Python starts slowly on a busy machine.
    let timeout = if mode == "hang" { 10 } else { 60 };
    let text = format!(
        "{more}\nname = \"{mode}\"\nsummary = \"\"\nowner = \"{mode} and sons\"\nversion = \"\"\nlicence = \"\"\n\
         settings = \"\"\ntimeout_s = {timeout}\nstart = \"python3 '{script}' {mode}\"\n"
    );
    let peers = folder.path().join("peers");
    std::fs::create_dir_all(&peers).unwrap();
    std::fs::write(peers.join(format!("{mode}.toml")), text).unwrap();
}

fn manifest(folder: &TempDir, mode: &str) {
    manifest_with(folder, mode, "");
}

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    Command::new(cargo_bin!("skinbench"))
        .args(arguments)
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        // Wide enough for each fact to have a line of its own.
        .env("COLUMNS", "1000")
        .env("CARGO_TARGET_DIR", folder.path().join("target"))
}

/// Runs the program; returns what it printed, notes after the rest, and its exit code.
fn skinbench(folder: &TempDir, arguments: &[&str]) -> (String, Option<i32>) {
    let Finished {
        status,
        stdout,
        stderr,
    } = command(folder, arguments).output().unwrap();
    let said = String::from_utf8([stdout, stderr].concat()).unwrap();
    (said, status.code())
}

/// Verifies one walker by some backends.
fn verify(folder: &TempDir, backends: &str) -> (String, Option<i32>) {
    let arguments = ["verify", "walkers", "--instances", "1", "-b", backends];
    skinbench(folder, &arguments)
}

fn rows(folder: &TempDir) -> Vec<Row> {
    let file = folder.path().join("results/summary.csv");
    csv::Reader::from_path(file)
        .unwrap()
        .deserialize()
        .collect::<Result<_, _>>()
        .unwrap()
}

/// Runs peers beside a backend of ours; returns what was printed.
fn run(folder: &TempDir, modes: &[&str]) -> (String, Option<i32>) {
    let model = Path::new(ROOT).join("scenes/models/sprout.glb");
    let model = model.to_str().unwrap();
    let backends = [modes, &["cpu-scalar"]].concat().join(",");
    let arguments = ["run", model, "--instances", "5", "--frames", "3"];
    skinbench(
        folder,
        &[&arguments[..], &["-o", "results", "-b", &backends]].concat(),
    )
}

#[test]
fn a_peer_is_measured_beside_ours() {
    let folder = tempfile::tempdir().unwrap();
    manifest(&folder, "good");
    let (text, code) = run(&folder, &["good"]);
    assert_eq!(code, Some(0), "{text}");
    let rows = rows(&folder);
    let of =
        |backend: &str| -> Vec<&Row> { rows.iter().filter(|row| row.backend == backend).collect() };
    let stages: Vec<&str> = of("good").iter().map(|row| row.stage.name()).collect();
    assert_eq!(stages, ["pose", "skin", "frame"], "{text}");
    for row in of("good") {
        assert_eq!(
            (row.owner.as_deref(), row.status, row.frames),
            (Some("good and sons"), Status::Ok, Some(3))
        );
        assert!(
            row.parity_max_rel.unwrap() < 1e-6 && row.median_ns > Some(0),
            "{row:?}"
        );
    }
    assert!(
        of("cpu-scalar")
            .iter()
            .all(|row| row.owner.as_deref() == Some("skinbench"))
    );
    let devices: Vec<Option<&str>> = of("cpu-scalar")
        .iter()
        .map(|row| row.ran_on.as_deref())
        .collect();
    assert_eq!(
        devices,
        [None, None, None, None, None, Some("scalar, 1 thread")],
        "on the row of the frame"
    );
    assert_eq!(
        of("good")[0].point(),
        of("cpu-scalar")[0].point(),
        "both are compared"
    );
}

/// Each fault has its line, its status and no times; the others are measured all the same.
#[test]
fn what_peers_do_wrong_is_said_and_not_timed() {
    let faults = [
        ("weight", Status::ParityFailed, "position is off by "),
        ("time", Status::ParityFailed, "palette is off by "),
        ("late", Status::ParityFailed, "measured frame "),
        (
            "idle",
            Status::ParityFailed,
            "; the vertices are those of tick 1000003",
        ),
        ("nan", Status::ParityFailed, "off by NaN"),
        (
            "few",
            Status::Error,
            "wrote 13436 bytes of vertices; expected 13440",
        ),
        (
            "many",
            Status::Error,
            "wrote 13444 bytes of vertices; expected 13440",
        ),
        ("stale", Status::Error, "wrote no palette: No such file"),
        (
            "zero",
            Status::Error,
            "says that skin took no time in frame 0",
        ),
        ("faster", Status::Error, "; expected half"),
        ("slower", Status::Error, "; the request took "),
        (
            "parts",
            Status::Error,
            "says that the stages of frame 0 took ",
        ),
        ("fewer", Status::Error, "gave 2 times of pose for 1 frames"),
        (
            "nameless",
            Status::Error,
            "answered measure with {\"stages\": {\"dance\": [1]}}: unknown stage \"dance\";",
        ),
        (
            "exit",
            Status::Error,
            "ended before it answered hello (exit status: 1): no licence found",
        ),
        (
            "garbage",
            Status::Error,
            "answered hello with \"hello yourself\": invalid type: string",
        ),
        (
            "flood",
            Status::Error,
            "answered hello with a line of more than 1048576 bytes",
        ),
        (
            "version",
            Status::Error,
            "speaks protocol 7 and has 2 outputs; expected protocol 1",
        ),
        (
            "hang",
            Status::Error,
            "took more than 10 s to answer measure",
        ),
        ("refuse", Status::Skipped, "the moon [31m is full"),
        ("error", Status::Error, "states an error beyond 0 to 0.01"),
        ("memory", Status::Error, "states memory of more than "),
        // If the second line is not there yet, it is taken for the answer to what is asked next.
        ("chatter", Status::Error, "wrote "),
    ];
    let folder = tempfile::tempdir().unwrap();
    let modes = faults.iter().map(|fault| fault.0);
    let modes: Vec<&str> = modes.chain(["good"]).collect();
    modes.iter().for_each(|mode| manifest(&folder, mode));
    let (text, code) = run(&folder, &modes);
    assert_eq!(code, Some(3), "{text}");
    let rows = rows(&folder);
    for (mode, status, expected) in faults {
        let own: Vec<&Row> = rows.iter().filter(|row| row.backend == mode).collect();
        assert!(
            matches!(own[..], [row] if row.status == status && row.median_ns.is_none()),
            "{mode}: {own:?}\n{text}"
        );
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with(&format!("{mode}: ")))
            .collect();
        assert!(
            matches!(lines[..], [line] if line.contains(expected)),
            "{mode}: {lines:?}; expected {expected}"
        );
    }
    for backend in ["good", "cpu-scalar"] {
        assert!(
            rows.iter()
                .any(|row| row.backend == backend && row.median_ns.is_some()),
            "{backend}\n{text}"
        );
    }
    #[cfg(target_os = "linux")]
    nothing_is_left_in(&folder.path().join("peers"));
}

/// Nothing that a peer started outlives the run.
#[cfg(target_os = "linux")]
fn nothing_is_left_in(folder: &Path) {
    // The folder of the manifest is the working folder of the peer and of what it started.
    let own = folder.canonicalize().unwrap();
    let left = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(Result::ok)
        .map(|process| process.path());
    let left: Vec<_> = left
        .filter(|process| std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == own))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A peer is given each model of a crowd; one that takes a single model has a clear line.
#[test]
fn crowds_of_several_models_are_verified() {
    let folder = tempfile::tempdir().unwrap();
    for mode in ["good", "lossy", "order", "single"] {
        manifest(&folder, mode);
    }
    let arguments = ["verify", "city", "--vertices", "500", "--models", "2"];
    let more = [
        "--instances",
        "5",
        "-b",
        "good,lossy,order,single,cpu-scalar",
    ];
    let (said, code) = skinbench(&folder, &[&arguments[..], &more].concat());
    assert_eq!(code, Some(3), "{said}");
    assert_eq!(said.matches("  ok\n").count(), 3, "{said}");
    for expected in [
        "\ngood ",
        "\nlossy ",
        "\norder: parity_failed: ",
        "\nsingle: skipped: takes crowds of one model; this one has 2 models or groups\n",
    ] {
        assert!(said.contains(expected), "{said}; expected {expected}");
    }
}

#[test]
fn a_device_stands_for_all_groups() {
    let folder = tempfile::tempdir().unwrap();
    for mode in ["good", "devices"] {
        manifest(&folder, mode);
    }
    let arguments = ["run", "city", "--vertices", "500", "--models", "2"];
    let more = ["--instances", "2", "--frames", "3", "-o", "results"];
    let backends = ["-b", "good,devices"];
    let (said, code) = skinbench(&folder, &[&arguments[..], &more, &backends].concat());
    assert_eq!(code, Some(0), "{said}");
    let rows = rows(&folder);
    for (backend, device) in [("good", "Python"), ("devices", "Python 1; Python 2")] {
        let own = rows.iter().filter(|row| row.backend == backend);
        let devices: Vec<&str> = own.filter_map(|row| row.ran_on.as_deref()).collect();
        assert_eq!(devices, [device], "{backend}");
    }
}

/// The header for peers in C++ says why it refuses and why it failed, in any characters.
#[test]
fn peers_in_c_plus_plus_refuse_and_fail() {
    let root = Path::new(ROOT);
    let folder = tempfile::tempdir().unwrap();
    let compiled = std::process::Command::new("c++")
        .args(["-std=c++17", "-pthread", "-o", "peer", "-I"])
        .arg(root.join("peers/cpp"))
        .arg(root.join("tests/support/peer.cpp"))
        .current_dir(folder.path())
        .status()
        .expect("a C++ compiler, which scripts/test installs");
    assert!(compiled.success());
    for mode in ["refuse", "fail"] {
        manifest(&folder, mode);
        let file = folder.path().join(format!("peers/{mode}.toml"));
        let text = std::fs::read_to_string(&file).unwrap();
        let (text, _) = text.split_once("start = ").unwrap();
        std::fs::write(&file, format!("{text}start = \"../peer {mode}\"\n")).unwrap();
    }
    let (said, _) = verify(&folder, "refuse,fail");
    for expected in [
        "refuse: skipped: \"curves\" of C:\\clips [31m\n",
        "fail: error: failed at load: \"curves\" of C:\\clips [31m\n",
    ] {
        assert!(said.contains(expected), "{said}; expected {expected}");
    }
}

#[test]
fn crowds_that_peers_are_not_given_are_named() {
    let folder = tempfile::tempdir().unwrap();
    manifest(&folder, "good");
    for (scene, expected) in [
        (
            "one-face",
            "is given no morph targets, of which \"face\" has 52; needs models without them",
        ),
        (
            "layers-2",
            "is given plain crowds only; needs instances with no more layers",
        ),
    ] {
        let (said, code) = skinbench(&folder, &["verify", scene, "-b", "good"]);
        assert_eq!(code, Some(3), "{said}");
        let expected = format!("good: skipped: {expected}\n");
        assert!(said.contains(&expected), "{said}; expected {expected}");
    }
}

/// Its stages are the device's own times; the frame has the clock that waits for it.
#[test]
fn a_device_times_its_stages() {
    let folder = tempfile::tempdir().unwrap();
    manifest_with(&folder, "good", "device = true");
    let (text, code) = run(&folder, &["good"]);
    assert_eq!(code, Some(0), "{text}");
    let clocks: BTreeMap<Stage, Clock> = rows(&folder)
        .iter()
        .filter(|row| row.backend == "good")
        .map(|row| (row.stage, row.clock))
        .collect();
    let expected = [
        (Stage::Pose, Clock::Gpu),
        (Stage::Skin, Clock::Gpu),
        (Stage::Frame, Clock::Wall),
    ];
    assert_eq!(clocks, expected.into());
}

/// Building peers takes minutes: no pattern stands for one. A manifest stands for all that it has.
#[test]
fn peers_take_part_only_if_they_are_named() {
    let folder = tempfile::tempdir().unwrap();
    manifest_with(&folder, "good", "threads = true");
    manifest(&folder, "weight");
    for (named, expected) in [
        ("cpu-sc*,*-rayon", &["cpu-scalar", "cpu-rayon"][..]),
        ("good", &["good"]),
        ("cpu-scalar,good:threads", &["good:threads", "cpu-scalar"]),
        ("good:threads,good", &["good", "good:threads"]),
        ("good,peers/good.toml", &["good", "good:threads"]),
    ] {
        let (said, code) = verify(&folder, named);
        let first_words = said
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        let mut rows: Vec<&str> = first_words.collect();
        let known = [
            "cpu-scalar",
            "cpu-simd",
            "cpu-rayon",
            "good",
            "good:threads",
            "weight:",
        ];
        rows.retain(|word| known.contains(word));
        assert_eq!((&rows[..], code), (expected, Some(0)), "{named}: {said}");
    }
    for (named, expected) in [
        ("good*", "error: unknown backend \"good*\";"),
        (
            "weight:threads",
            "error: peers/weight.toml has no backend \"weight:threads\"\n",
        ),
        (
            "god",
            "error: unknown backend \"god\"; did you mean \"good\"?",
        ),
    ] {
        let (said, code) = verify(&folder, named);
        assert!(said.contains(expected), "{named}: {said}");
        assert_eq!(code, Some(2), "{named}");
    }
    std::fs::copy(
        folder.path().join("peers/good.toml"),
        folder.path().join("x.toml"),
    )
    .unwrap();
    let (said, code) = run(&folder, &["good", "x.toml"]);
    assert!(
        said.contains("error: two backends are called good;"),
        "{said}"
    );
    assert_eq!(code, Some(2));
}

/// A person may choose what peers change; what a peer cannot do is its reason.
#[test]
fn peers_change_two_defaults() {
    let folder = tempfile::tempdir().unwrap();
    manifest(&folder, "good");
    let smoke = ["run", "smoke", "--instances", "3", "--frames", "3"];
    let backends = ["-b", "good,cpu-scalar"];
    let results = ["-o", "results"];
    let (said, code) = skinbench(&folder, &[&smoke[..], &backends, &results].concat());
    assert_eq!(code, Some(0), "{said}");
    for row in rows(&folder) {
        assert_eq!(
            (row.passes, row.options.as_str()),
            (0, "normals=raw"),
            "{row:?}"
        );
    }
    let unit = ["--normals", "unit"];
    let (said, code) = skinbench(&folder, &[&smoke[..], &backends, &unit].concat());
    assert!(
        said.contains("good: skipped: needs --normals raw\n"),
        "{said}"
    );
    assert_eq!(code, Some(3));
    let passes = ["--passes", "1", "--require", "gpu"];
    let (said, code) = skinbench(&folder, &[&smoke[..], &backends, &passes].concat());
    if code != Some(1) {
        assert!(
            said.contains("good: skipped: its output cannot be drawn; needs --passes 0\n"),
            "{said}"
        );
    }
}

/// A manifest may come from anywhere.
#[test]
fn manifests_are_small_regular_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.toml");
    let refused = |expected: &str| {
        let (said, code) = verify(&folder, "x.toml");
        assert_eq!((code, said.lines().count()), (Some(2), 1), "{said}");
        assert!(
            said.starts_with("error: x.toml: ") && said.contains(expected),
            "{said}; expected {expected}"
        );
        std::fs::remove_file(&file).unwrap();
    };
    std::fs::File::create(&file)
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    refused("larger than the 65536 bytes that are accepted");
    std::fs::write(&file, format!("start = {}", "[".repeat(60_000))).unwrap();
    refused("recursion");
    std::fs::write(&file, "name = \"x\"\n").unwrap();
    refused("missing field");
    for (mode, more, expected) in [
        ("x", "colour = 1", "unknown field `colour`"),
        ("x", "needs = 3", "invalid type: integer `3`"),
        ("X", "", "the name \"X\"; expected lower-case letters, "),
        ("cpu-simd", "", "the name \"cpu-simd\"; expected "),
    ] {
        manifest_with(&folder, mode, more);
        let written = folder.path().join(format!("peers/{mode}.toml"));
        std::fs::rename(written, &file).unwrap();
        refused(expected);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("x.toml", &file).unwrap();
        refused("");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&file)
                .status()
                .unwrap()
                .success()
        );
        refused("is no regular file");
    }
}

/// A manifest's script builds what is missing, in the folder of the manifest; a name that is mistyped costs no time.
#[test]
fn peers_are_built_when_all_names_are_known() {
    let folder = tempfile::tempdir().unwrap();
    manifest_with(&folder, "good", "build = 'cp good.toml \"$BUILD\"'");
    let built = folder.path().join("target/peers/good/good.toml");
    for (arguments, unknown) in [
        (["verify", "walkers", "-b", "good,cpu-raion"], "backend"),
        (["verify", "walkrs", "-b", "good"], "scene"),
    ] {
        let (said, code) = skinbench(&folder, &arguments);
        let expected = format!("error: unknown {unknown} ");
        assert!(said.starts_with(&expected), "{said}");
        assert_eq!((code, said.lines().count()), (Some(2), 1));
    }
    assert!(!built.exists());
    let (said, code) = verify(&folder, "good");
    assert_eq!(code, Some(0), "{said}");
    assert!(built.exists());
}

/// A peer that cannot be built or started is skipped, as a backend that cannot run; others are verified all the same.
#[test]
fn what_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (more, expected) in [
        (
            "needs = ['sh', 'nowhere', 'nor-here']",
            "needs nowhere, nor-here on the PATH",
        ),
        (
            "build = 'echo broken; exit 7; exit 0'",
            "cannot be built (exit status: 7: broken); see ",
        ),
        (
            "build = 'false; true'",
            "cannot be built (exit status: 1: it said nothing); see ",
        ),
    ] {
        manifest_with(&folder, "good", more);
        for name in ["good", "peers/good.toml"] {
            let (said, code) = verify(&folder, &format!("{name},cpu-scalar"));
            for expected in [
                &format!("\ngood: skipped: {expected}"),
                "\ncpu-scalar ",
                "error: good was named and did not run\n",
            ] {
                assert!(said.contains(expected), "{said}; expected {expected}");
            }
            assert_eq!(code, Some(3), "{said}");
        }
    }
}

#[test]
fn list_has_peers_and_what_they_lack() {
    let folder = tempfile::tempdir().unwrap();
    let (said, _) = skinbench(&folder, &["list"]);
    assert!(
        said.contains("\n  none: there is no manifest in the folder peers\n"),
        "{said}"
    );
    manifest_with(&folder, "good", "threads = true");
    manifest_with(&folder, "weight", "needs = ['nowhere']");
    std::fs::write(folder.path().join("peers/x.toml"), "").unwrap();
    let (said, code) = skinbench(&folder, &["list"]);
    assert_eq!(code, Some(0), "{said}");
    for expected in [
        "\n  good, good:threads",
        "; needs nowhere on the PATH\n",
        "\nnote: peers/x.toml: ",
    ] {
        assert!(said.contains(expected), "{said}; expected {expected}");
    }
    let output = command(&folder, &["list", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let [good, weight] = &listed["peers"].as_array().unwrap()[..] else {
        panic!("{listed}");
    };
    assert_eq!(good["backends"], json!(["good", "good:threads"]));
    assert_eq!(
        (&good["owner"], &good["missing"]),
        (&json!("good and sons"), &Value::Null)
    );
    assert_eq!(weight["missing"], "needs nowhere on the PATH");
}

/// Sources come from an archive that is at hand, or from a repository, at the commit that is asked for.
#[cfg(unix)]
#[test]
fn sources_are_fetched_once() {
    let folder = tempfile::tempdir().unwrap();
    let run = |script: &str| {
        let output = std::process::Command::new("sh")
            .args(["-ec", script])
            .current_dir(folder.path())
            .env("FETCH", Path::new(ROOT).join("peers/fetch"))
            .env("BUILD", folder.path().join("build"))
            .env("SKINBENCH_SHARED", folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{script}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    run("git init --quiet origin && cd origin && git config user.name a && git config user.email a@b
        echo 1 >file && git add file && git commit --quiet -m 1 && echo 2 >file && git commit --quiet -a -m 2");
    let commits = run("git -C origin log --reverse --format=%H");
    let fetched = |commit: &str| {
        let fetch = format!("sh \"$FETCH\" origin \"file://$PWD/origin\" {commit}");
        run(&format!("{fetch}; cat build/sources/origin/file"))
    };
    for (commit, content) in commits.lines().zip(["1", "2"]) {
        assert_eq!(fetched(commit), content);
    }
    run("echo changed >build/sources/origin/file");
    assert_eq!(fetched(&commits[41..]), "changed", "it is there already");
    run("mkdir peers && echo packed >origin/file && tar -czf peers/origin.tar.gz origin");
    assert_eq!(fetched(&commits[..40]), "packed");
}

/// The lines of the program, and those that it reads, are as the schema for others says.
#[test]
fn lines_are_as_the_schema_says() {
    let text = std::fs::read_to_string(Path::new(ROOT).join("peers/protocol.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let tick = u32::MAX;
    let outputs = BTreeMap::from([
        (FrameData::Local, "a".into()),
        (FrameData::Vertices, "b".into()),
    ]);
    let requests = [
        Request::Hello { protocol: 1 },
        Request::Load {
            glb: "a".into(),
            model: "b".into(),
            instances: "c".into(),
            count: 1,
            attributes: Attributes::Pnt,
            normals: Normals::Raw,
            threads: 2,
        },
        Request::Write {
            tick: Some(tick),
            outputs: outputs.clone(),
        },
        Request::Write {
            tick: None,
            outputs,
        },
        Request::Measure { tick, frames: 10 },
        Request::Quit,
    ];
    let abilities = PeerAbilities {
        protocol: 1,
        outputs: vec![FrameData::Model, FrameData::Palette],
        attributes: vec![Attributes::P],
        normals: vec![Normals::Unit],
        rotations: RotationBlend::Slerp,
        groups: true,
    };
    let error = Some(Approximation {
        pose: 0.0,
        position: 1e-3,
        normal: 0.01,
        clip_error: None,
    });
    let stages = ["sample", "pose", "pose_skin", "engine_frame"];
    let stages = stages.map(|stage| (stage.to_owned().try_into().unwrap(), vec![1, 2]));
    let loaded = Loaded {
        device: "x".into(),
        error,
        memory: [(Purpose::Mesh, 1)].into(),
    };
    let answers: [Value; 4] = [
        json!(abilities),
        json!(loaded),
        json!(Written {}),
        json!(Times {
            stages: stages.into()
        }),
    ];
    for value in requests.iter().map(|request| json!(request)).chain(answers) {
        assert!(fits(&schema, &schema, &value), "{value}");
    }
    for wrong in [
        json!({"request": "measure", "tick": -1, "frames": 1}),
        json!({"stages": {"dance": [1]}}),
        json!([]),
    ] {
        assert!(!fits(&schema, &schema, &wrong), "{wrong}");
    }
}

/// Returns whether a value is as a schema says, by those keywords that the protocol's schema uses for lines.
fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
    let own = |keyword: &str| schema.get(keyword);
    let all = |keyword: &str| own(keyword).and_then(Value::as_array).into_iter().flatten();
    if let Some(at) = own("$ref").and_then(Value::as_str) {
        return fits(
            root,
            root.pointer(at.trim_start_matches('#')).unwrap(),
            value,
        );
    }
    if let Some(kinds) = own("oneOf").and_then(Value::as_array) {
        return kinds.iter().filter(|kind| fits(root, kind, value)).count() == 1;
    }
    let known = match own("type").and_then(Value::as_str) {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("number") => value.is_number(),
        _ => true,
    };
    let number = |keyword: &str| own(keyword).and_then(Value::as_f64);
    let within = value.as_f64().is_none_or(|found| {
        number("minimum").is_none_or(|least| found >= least)
            && number("maximum").is_none_or(|most| found <= most)
    });
    let named = own("const").is_none_or(|only| only == value)
        && (own("enum").is_none() || all("enum").any(|one| one == value));
    let items = value.as_array().into_iter().flatten();
    let listed =
        own("items").is_none_or(|schema| items.clone().all(|item| fits(root, schema, item)));
    let counted = number("minItems").is_none_or(|least| items.clone().count() as f64 >= least);
    let fields = value.as_object().into_iter().flatten();
    let sized = number("maxProperties").is_none_or(|most| fields.clone().count() as f64 <= most);
    let required = all("required").all(|name| value.get(name.as_str().unwrap()).is_some());
    let field = |(name, value): (&String, &Value)| {
        let name_fits = own("propertyNames").is_none_or(|schema| fits(root, schema, &json!(name)));
        let described = own("properties").and_then(|properties| properties.get(name));
        let more = described
            .or(own("additionalProperties"))
            .is_none_or(|schema| match schema {
                Value::Bool(allowed) => *allowed,
                schema => fits(root, schema, value),
            });
        name_fits && more
    };
    known && within && named && listed && counted && sized && required && fields.clone().all(field)
}

/// The folder of peers has one that is called numpy, which Python would import in the place of the package.
#[cfg(unix)]
#[test]
fn numpy_is_not_built_without_numpy() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    // A Python without any installed package.
    let found = std::process::Command::new("bash")
        .args(["-c", "command -v python3"])
        .output()
        .unwrap();
    let python = String::from_utf8(found.stdout).unwrap();
    let script = format!("#!/bin/sh\nexec {} -S \"$@\"\n", python.trim());
    let bare = folder.path().join("python3");
    std::fs::write(&bare, script).unwrap();
    std::fs::set_permissions(&bare, PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let manifest = Path::new(ROOT).join("peers/numpy.toml");
    let arguments = ["verify", "walkers", "--instances", "1", "-b"];
    let output = command(&folder, &arguments)
        .arg(manifest)
        .env("PATH", format!("{}:{path}", folder.path().display()))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    let expected = "numpy: skipped: cannot be built (exit status: 1: \
                    ModuleNotFoundError: No module named 'numpy'); see ";
    assert!(said.contains(expected), "{said}");
}
