//! Bundles of results: made, checked, edited.

use super::with_field;
use crate::program::{Ran, ran, skinbench, succeed};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use skinbench::results::bundle::{Bundle, MARKS};
use skinbench::results::check::{Checked, Division, check};
use skinbench::results::digest;
use skinbench::results::session::{self, Browser, Part, Session};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use tempfile::TempDir;

/// A folder with fresh results in `out`; measured once for all tests.
fn measured() -> &'static TempDir {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let line = "run smoke -b cpu-scalar,cpu-rayon --frames 6 --passes 0 -o out";
        succeed(&folder, line);
        folder
    })
}

pub(super) fn bundle() -> Bundle {
    Bundle::of_folder(&measured().path().join("out"), None).unwrap()
}

/// Runs `submit` in a folder.
fn submit(folder: &Path, arguments: &str) -> Ran {
    ran(skinbench(folder, &format!("submit {arguments}")))
}

/// A bundle with another file.
pub(super) fn with_file(
    bundle: &Bundle,
    name: &str,
    change: impl FnOnce(&str) -> String,
) -> Bundle {
    let mut edited = bundle.clone();
    let text = edited.files.get_mut(name).unwrap();
    *text = change(str::from_utf8(text).unwrap()).into_bytes();
    edited
}

/// A bundle whose manifest fits its files, as if its maker had edited them before.
pub(super) fn signed_again(mut bundle: Bundle) -> Bundle {
    for (name, bytes) in &bundle.files {
        let facts = bundle.manifest.files.get_mut(name).unwrap();
        (facts.bytes, facts.sha256) = (bytes.len() as u64, digest::of_bytes(bytes));
    }
    bundle
}

fn checked(bundle: &Bundle) -> Checked {
    check(bundle, env!("CARGO_PKG_VERSION"), u64::MAX)
}

#[test]
fn a_bundle_passes_and_an_edited_one_does_not() {
    let folder = measured().path();
    let Ran { code, text, notes } = submit(folder, "out -o whole.tar.gz --note quiet");
    assert_eq!(code, Some(0), "{notes}");
    assert!(
        text.contains("open division: ") && text.contains("bundle: whole.tar.gz, "),
        "{text}"
    );
    let Ran { code, text, notes } = submit(folder, "--check whole.tar.gz");
    assert_eq!((code, notes.as_str()), (Some(0), ""), "{text}");
    for expected in [
        "rows follow from",
        "42 instances of smoke (nothing drawn): ",
        "for x86_64-linux",
    ] {
        assert!(
            text.contains(expected)
                || (expected.starts_with("for") && !cfg!(target_arch = "x86_64")),
            "{text}"
        );
    }

    let whole = Bundle::read(&folder.join("whole.tar.gz")).unwrap();
    // Line 2 is a row with samples in both files.
    for (name, column, expected) in [
        (
            "summary.csv",
            "median_ns",
            "summary.csv:2: median_ns is 1, but the samples give ",
        ),
        (
            "samples.csv",
            "ns",
            "samples.csv was edited: its SHA-256 is not that in manifest.json; summary.csv:2: ",
        ),
    ] {
        let edited = with_file(&whole, name, |text| with_field(text, 2, column, "1"));
        for edited in [edited.clone(), signed_again(edited)] {
            fs::write(folder.join("edited.tar.gz"), edited.packed().unwrap()).unwrap();
            let Ran { code, text, notes } = submit(folder, "--check edited.tar.gz");
            assert_eq!(
                (code, text.as_str(), notes.lines().count()),
                (Some(1), "", 1),
                "{notes}"
            );
            let expected = if edited == signed_again(edited.clone()) {
                "summary.csv:2: "
            } else {
                expected
            };
            assert!(
                notes.starts_with("error: edited.tar.gz: ") && notes.contains(expected),
                "{notes}\nnot {expected}"
            );
        }
    }
}

/// A bundle whose session is that of a page with one shader, by its digests.
fn of_a_page(made: &str, ran: &str) -> Bundle {
    let part = Part {
        name: "shader 1".into(),
        made: made.into(),
        ran: ran.into(),
    };
    let browser = Browser {
        parts: vec![part],
        ..Browser::default()
    };
    signed_again(with_file(&bundle(), session::FILE, |text| {
        let mut sessions: Vec<Session> = serde_json::from_str(text).unwrap();
        sessions[0].browser = Some(browser);
        serde_json::to_string_pretty(&sessions).unwrap()
    }))
}

#[test]
fn pages_have_a_division_of_their_own_and_shaders_as_they_were_made() {
    let page = of_a_page("12ab", "12ab");
    let Checked {
        faults,
        division,
        reasons,
        ..
    } = checked(&page);
    assert_eq!((faults, division.name()), (vec![], "browser"));
    assert!(
        !reasons.iter().any(|reason| reason.contains("threads")),
        "{reasons:?}"
    );

    let other = of_a_page("12ab", "34cd");
    let text = str::from_utf8(&other.files[session::FILE]).unwrap();
    let line = 1 + text.lines().position(|line| line.contains("34cd")).unwrap();
    let fault = format!(
        "{}:{line}: shader 1 ran with SHA-256 34cd, but the page was made with 12ab",
        session::FILE
    );
    assert_eq!(checked(&other).faults, [fault]);

    let mixed = with_file(&page, session::FILE, |text| {
        let mut sessions: Vec<Session> = serde_json::from_str(text).unwrap();
        sessions.push(Session {
            browser: None,
            runs: vec!["other".into()],
            ..sessions[0].clone()
        });
        serde_json::to_string(&sessions).unwrap()
    });
    let faults = checked(&signed_again(mixed)).faults;
    assert!(
        faults
            .iter()
            .any(|fault| fault.contains("a browser beside native ones")),
        "{faults:?}"
    );
}

#[test]
fn a_bundle_travels_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let letters = STANDARD.encode(bundle().packed().unwrap());
    let lines: Vec<&str> = letters
        .as_bytes()
        .chunks(76)
        .map(|line| str::from_utf8(line).unwrap())
        .collect();
    let text = format!(
        "Dear all,\r\n> {}\r\n> {}\r\n> {}\r\nyours",
        MARKS[0],
        lines.join("\r\n> "),
        MARKS[1]
    );
    for (text, expected) in [
        (text.clone(), None),
        (
            text.replace(MARKS[1], ""),
            Some("the text is cut off; expected a line -----END SKINBENCH BUNDLE-----"),
        ),
        (
            text.replace(lines[1], "*"),
            Some("not the text of a bundle: Invalid symbol 42"),
        ),
        (text.replace(lines[1], ""), Some("cannot read: ")),
    ] {
        fs::write(folder.path().join("mail.txt"), text).unwrap();
        let Ran { code, text, notes } = submit(folder.path(), "--check mail.txt");
        match expected {
            None => assert!(
                code == Some(0) && text.contains("rows follow from"),
                "{text}{notes}"
            ),
            Some(expected) => assert!(
                code == Some(1) && notes.contains(expected),
                "{notes}\nnot {expected}"
            ),
        }
    }
}

/// Checks that a bundle with an edited file is refused, also if the edit was signed.
fn assert_refused(whole: &Bundle, name: &str, edit: impl Fn(&str) -> String, expected: &str) {
    let edited = with_file(whole, name, edit);
    let unsigned = checked(&edited).faults;
    let was_edited = format!("{name} was edited");
    assert!(
        unsigned.iter().any(|fault| fault.contains(&was_edited)),
        "{expected}: {unsigned:?}"
    );
    let signed = checked(&signed_again(edited)).faults;
    assert!(
        signed.iter().any(|fault| fault.contains(expected)),
        "{expected}: {signed:?}"
    );
}

/// A text without its last line.
fn cut(text: &str) -> String {
    let end = text.trim_end().rfind('\n').unwrap();
    text[..=end].into()
}

#[test]
fn every_contradiction_is_found() {
    let whole = bundle();
    assert_eq!(checked(&whole).faults, [""; 0]);
    let summary = "summary.csv";
    for (column, value, expected) in [
        ("mad_ns", "1", "mad_ns is 1, but the samples give"),
        ("max_ns", "", "max_ns is empty, but the samples give"),
        ("noisy", "", "noisy does not follow"),
        ("frames", "7", ": 6 samples for 7 frames: not used"),
        ("parity_max_rel", "0.1", "is not within parity_tol"),
        (
            "parity_max_rel",
            "NaN",
            "summary.csv:2: status ok, but parity_max_rel is NaN",
        ),
        ("parity_max_rel", "-1", "parity_max_rel -1 and parity_tol"),
        ("pct_of_limit", "NaN", "pct_of_limit is NaN"),
        ("pct_of_limit", "inf", "pct_of_limit is inf"),
        (
            "schema",
            "9",
            "summary.csv:2: schema 9; this skinbench reads up to 2",
        ),
        ("parity_max_rel", "", "status ok without parity_max_rel"),
        (
            "status",
            "parity_failed",
            "only a backend that was verified is timed",
        ),
        (
            "status",
            "fine",
            "summary.csv:2: unknown status \"fine\"; expected ",
        ),
        (
            "cpu",
            "Faster CPU",
            "summary.csv:2: cpu is not the one in environment.json",
        ),
        ("run_id", "other", "run other is not in environment.json"),
    ] {
        let edit = |text: &str| with_field(text, 2, column, value);
        assert_refused(&whole, summary, edit, expected);
    }
    let infinite = |text: &str| {
        let text = with_field(text, 2, "parity_max_rel", "inf");
        with_field(&text, 2, "parity_tol", "inf")
    };
    let expected = "parity_tol inf; expected finite numbers of at least 0";
    assert_refused(&whole, summary, infinite, expected);
    for (bytes, expected) in [
        ("", "pct_of_limit is 50 without bytes, limit and median_ns"),
        (
            "1",
            "pct_of_limit is 50, but bytes, limit and median_ns give another",
        ),
    ] {
        let limited = |text: &str| {
            let text = with_field(text, 2, "bytes", bytes);
            let text = with_field(&text, 2, "limit", "1000000000");
            with_field(&text, 2, "pct_of_limit", "50")
        };
        assert_refused(&whole, summary, limited, expected);
    }
    let heading = |text: &str| format!("{}\n", text.lines().next().unwrap());
    assert_refused(&whole, summary, heading, "summary.csv: no rows");
    assert_refused(
        &whole,
        summary,
        |_| String::new(),
        "summary.csv: empty file",
    );
    assert_refused(&whole, "samples.csv", cut, ": 5 samples for 6 frames");
    let doubled = |text: &str| format!("{text}{}\n", text.lines().last().unwrap());
    assert_refused(&whole, "samples.csv", doubled, "1 samples are there twice");
    let expected = "is not in environment.json";
    assert_refused(&whole, "environment.json", |_| "[]".into(), expected);
    let mut missing = whole.clone();
    missing.files.remove("samples.csv");
    assert!(
        checked(&missing)
            .faults
            .starts_with(&["samples.csv is missing".into()])
    );
    let mut more = whole;
    more.files.insert("a/limits.csv".into(), Vec::new());
    assert!(
        checked(&more)
            .faults
            .contains(&"a/limits.csv is not in manifest.json".into())
    );
}

#[test]
fn only_a_release_with_default_options_is_closed() {
    let released = |change: &dyn Fn(&mut Session)| {
        let mut bundle = bundle();
        let mut sessions: Vec<Session> =
            serde_json::from_slice(&bundle.files[session::FILE]).unwrap();
        let Session { program, .. } = &mut sessions[0];
        program.build.tag = Some(format!("v{}", program.version));
        (program.build.dirty, program.debug, program.build.git_rev) =
            (Some(false), false, Some("0".repeat(40)));
        change(&mut sessions[0]);
        let Session { program, .. } = sessions[0].clone();
        bundle
            .files
            .insert(session::FILE.into(), serde_json::to_vec(&sessions).unwrap());
        // The rows repeat the commit.
        let (commit, dirty) = (
            program.build.git_rev.unwrap_or_default(),
            program.build.dirty.is_some_and(|dirty| dirty),
        );
        let lines = str::from_utf8(&bundle.files["summary.csv"])
            .unwrap()
            .lines()
            .count();
        for line in 2..=lines {
            let named = |text: &str| with_field(text, line, "git_rev", &commit);
            bundle = with_file(&bundle, "summary.csv", named);
            bundle = with_file(&bundle, "summary.csv", |text| {
                with_field(text, line, "dirty", &dirty.to_string())
            });
        }
        signed_again(bundle)
    };
    let closed = checked(&released(&|_| {}));
    assert_eq!((closed.faults, closed.division), (vec![], Division::Closed));
    let reasons = |bundle: &Bundle| match checked(bundle) {
        Checked {
            division: Division::Open,
            reasons,
            ..
        } => reasons.join("; "),
        closed => panic!("{closed:?}"),
    };
    type Change<'a> = &'a dyn Fn(&mut Session);
    let changes: [(Change, &str); 6] = [
        (
            &|session| session.program.build.dirty = Some(true),
            "the build is dirty",
        ),
        (
            &|session| session.program.build.tag = None,
            "no release tag",
        ),
        (&|session| session.program.debug = true, "a debug build"),
        (
            &|session| session.program.shaders = Some("0".repeat(64)),
            "its shaders are not those of",
        ),
        (&|session| session.isa_chosen = true, "was chosen"),
        (&|session| session.hardware.processors += 1, "threads on"),
    ];
    for (change, expected) in changes {
        let open = reasons(&released(change));
        assert!(open.contains(expected), "{open}");
    }
    let whole = released(&|_| {});
    // Rows are in the order in which backends finished.
    let scalar = |text: &str| {
        1 + text
            .lines()
            .position(|line| line.contains(",cpu-scalar,"))
            .unwrap()
    };
    for (column, value, expected) in [
        ("options", "normals=raw", "options normals=raw"),
        ("attributes", "p", "attributes p"),
        ("scene_hash", "0000000000000000", "is not the built-in one"),
        ("instances", "41", "is not the built-in one"),
        (
            "scene",
            "/etc/passwd",
            "/etc/passwd is not a built-in scene",
        ),
        ("backend", "cpu-fast", "cpu-fast is not a backend of "),
        ("variant", "fast", ":fast is not a backend of "),
        (
            "parity_tol",
            "5e-3",
            "parity_tol of cpu-scalar is more than 0.002",
        ),
    ] {
        let changed = |text: &str| with_field(text, scalar(text), column, value);
        let open = reasons(&with_file(&whole, "summary.csv", changed));
        assert!(open.contains(expected), "{open}");
    }

    let folder = measured().path();
    fs::write(folder.join("closed.tar.gz"), whole.packed().unwrap()).unwrap();
    let Ran { code, text, notes } = submit(folder, "--check closed.tar.gz --division closed");
    assert!(
        code == Some(0) && text.contains("closed division\n"),
        "{text}{notes}"
    );
    assert_eq!(
        submit(folder, "--check closed.tar.gz --division open").code,
        Some(1)
    );
    let dirty = released(&|session| session.program.build.dirty = Some(true));
    fs::write(folder.join("dirty.tar.gz"), dirty.packed().unwrap()).unwrap();
    assert_eq!(submit(folder, "--check dirty.tar.gz").code, Some(0));
    let Ran { code, notes, .. } = submit(folder, "--check dirty.tar.gz --division closed");
    assert!(
        code == Some(1) && notes.contains("not of the closed division: the build is dirty"),
        "{notes}"
    );
}

#[test]
fn bad_arguments_and_folders_are_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("old/summary.csv", "run_id\n");
    write("old/samples.csv", "run_id\n");
    write("medians/summary.csv", "run_id\n");
    write("text.tar.gz", "text");
    for (arguments, code, expected) in [
        (
            "out",
            2,
            "required arguments were not provided: --output <BUNDLE>",
        ),
        (
            "a b -o x.tar.gz",
            2,
            "-o writes one bundle; expected one folder of results",
        ),
        ("missing -o x.tar.gz", 1, "missing: cannot read: "),
        (
            "old -o x.tar.gz",
            1,
            "no environment.json in old; expected results of this version: measure again",
        ),
        (
            "medians -o x.tar.gz",
            1,
            "no samples.csv in medians; expected all samples",
        ),
        ("--check missing", 1, "missing: cannot read: "),
        ("--check text.tar.gz", 1, "text.tar.gz: cannot read: "),
        (
            "--check x --division both",
            2,
            "'both' for '--division <DIVISION>'",
        ),
    ] {
        let ran = submit(folder.path(), arguments);
        assert!(
            ran.code == Some(code) && ran.text.is_empty() && ran.notes.lines().count() == 1,
            "{arguments}: {ran:?}"
        );
        assert!(ran.notes.contains(expected), "{arguments}: {ran:?}");
    }
    assert!(!folder.path().join("x.tar.gz").exists());
}

/// A killed process leaves a record of its start, and a resumed sweep adds one.
#[test]
fn sessions_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = |instances: &str| {
        let line = format!(
            "sweep smoke -b cpu-scalar --frames 1 --passes 0 --instances {instances} -o out"
        );
        succeed(&folder, &line);
        session::read(&folder.path().join("out")).unwrap()
    };
    let first = sweep("3,4");
    assert_eq!(
        first
            .iter()
            .map(|session| session.runs.len())
            .collect::<Vec<_>>(),
        [2]
    );
    assert!(
        first[0].after.is_some() && first[0].before.utc <= first[0].after.as_ref().unwrap().utc
    );
    let both = sweep("3,4,5");
    assert_eq!(
        both.iter()
            .map(|session| session.runs.len())
            .collect::<Vec<_>>(),
        [2, 1]
    );
    assert_eq!(
        checked(&Bundle::of_folder(&folder.path().join("out"), None).unwrap()).faults,
        [""; 0]
    );
}

#[test]
fn a_site_compares_bundles_and_refuses_edited_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("sent")).unwrap();
    let note = Some("</script><b>bold".into());
    let whole = Bundle::of_folder(&measured().path().join("out"), note).unwrap();
    // The same times from another processor, so that two machines agree.
    let mut other = whole.clone();
    let mut sessions: Vec<Session> = serde_json::from_slice(&other.files[session::FILE]).unwrap();
    sessions[0].cpu = "Other CPU <script>".into();
    other
        .files
        .insert(session::FILE.into(), serde_json::to_vec(&sessions).unwrap());
    let lines = str::from_utf8(&other.files["summary.csv"])
        .unwrap()
        .lines()
        .count();
    for line in 2..=lines {
        other = with_file(&other, "summary.csv", |text| {
            with_field(text, line, "cpu", "Other CPU <script>")
        });
    }
    let page = of_a_page("12ab", "12ab");
    for (name, bundle) in [
        ("one", &whole),
        ("two", &signed_again(other)),
        ("page", &page),
    ] {
        fs::write(
            path(&format!("sent/{name}.tar.gz")),
            bundle.packed().unwrap(),
        )
        .unwrap();
    }
    let report = |arguments: &str| {
        let output = ran(skinbench(folder.path(), &format!("report {arguments}")));
        (output.code, output.notes)
    };
    assert_eq!(report("sent -o site/").0, Some(0));
    let index = fs::read_to_string(path("site/index.html")).unwrap();
    assert!(
        index.contains("Other CPU &lt;script&gt;")
            && index.contains("&lt;/script&gt;&lt;b&gt;bold"),
        "escaped"
    );
    assert_eq!(
        index.matches("</script>").count(),
        1,
        "no text of others ends the script"
    );
    assert!(
        !index.contains("http") && !index.contains(" src=") && !index.contains("import "),
        "nothing from elsewhere"
    );
    for file in ["one.html", "two.html", "one.tar.gz", "two.tar.gz"] {
        assert!(path("site").join(file).is_file(), "{file}");
    }
    for browser in [
        "<option>browser</option>",
        "browser division",
        "in browsers: ",
    ] {
        assert!(index.contains(browser), "{browser}");
    }
    // Both have the same times: they agree, or neither is sure.
    assert!(
        ["confirmed by 2 machines", "none is sure"]
            .iter()
            .any(|text| index.contains(text)),
        "{index}"
    );

    // Into the folder of the bundles themselves.
    let sent = fs::read(path("sent/one.tar.gz")).unwrap();
    assert_eq!(report("sent -o sent/").0, Some(0));
    assert_eq!(
        fs::read(path("sent/one.tar.gz")).unwrap(),
        sent,
        "nothing is lost"
    );

    let edited = with_file(&whole, "samples.csv", |text| with_field(text, 2, "ns", "1"));
    fs::write(path("sent/three.tar.gz"), edited.packed().unwrap()).unwrap();
    let (code, messages) = report("sent -o again/");
    assert!(
        code == Some(1) && messages.contains("three.tar.gz: samples.csv was edited"),
        "{messages}"
    );
    assert!(!path("again").exists(), "nothing is written");
    fs::create_dir(path("empty")).unwrap();
    let (code, messages) = report("empty -o again/");
    assert!(
        code == Some(1)
            && messages
                .contains("no bundle in empty; expected files that `skinbench submit` wrote"),
        "{messages}"
    );
    assert_eq!(report("sent --format site").0, Some(2));
}
