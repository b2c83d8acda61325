//! The command line as its users meet it: exit codes, messages, files.

use crate::program::{process, ran, rows, skinbench, succeed, summary};
use crate::support::gltf_fixture::{Fixture, INDICES, POSITION, UNSIGNED_BYTE};
use crate::support::shared::shared_folder;
use crate::support::sprout::Sprout;
use serde_json::json;
use skinbench::frame::{Ability, Clock, EMULATED, Stage};
use skinbench::harness::run::Status;
use skinbench::harness::stats::Summary;
use skinbench::registry::REGISTRY;
use skinbench::report::size;
use skinbench::report::wide::OF_STAGES;
use skinbench::results::{COLUMNS, LimitsRow, Row, SampleRow};
use skinbench::simd::VARIABLE;
use snapbox::str;
use tempfile::TempDir;

/// The rows of `summary.csv` in a folder of results.
fn measured(folder: &TempDir, results: &str) -> Vec<Row> {
    summary(&folder.path().join(results))
}

fn empty_folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn files(folder: &TempDir) -> Vec<String> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

/// Returns whether there is an adapter. Without one, it prints that `test` did not run, or fails if
/// SKINBENCH_REQUIRE_GPU is set.
#[cfg(feature = "gpu")]
fn has_adapter(test: &str) -> bool {
    let found = !skinbench::gpu::summaries(None).is_empty();
    assert!(
        found || std::env::var_os("SKINBENCH_REQUIRE_GPU").is_none(),
        "no adapter, but SKINBENCH_REQUIRE_GPU is set"
    );
    if !found {
        eprintln!("{test} did not run: no adapter");
    }
    found
}

#[test]
fn help_names_every_command() {
    let folder = empty_folder();
    let help = ran(skinbench(&folder, "--help")).text;
    // What a build lacks is said to be missing.
    let common = help.replace(" (not in this build)", "");
    snapbox::assert_data_eq!(
        common,
        str![[r#"
Which way of skinning a crowd of animated characters is fastest on this machine, and do all ways
agree?

Usage: skinbench[..] [COMMAND]

Commands:
  run      Verify backends on scenes, then measure them [alias: sweep]
  verify   Compare every vertex of every instance with the reference
  compare  Tell changes from noise between two sets of results, or two builds
  report   Make a page of results: a verdict, charts, tables and the data
  dump     Write a model's skinned vertices as CSV
  inspect  Describe a model's content, and the repairs made on import
  convert  Write a model as one glTF binary (.glb)
  diff     Tell whether two files are the same character, whatever order and units they store it in
  corpus   Write files that show what skinning should compute, or judge an engine by them
  render   Write a picture of a scene or a model
  view     Open a window on a scene or a model
  web      Make a page that verifies and measures GPU backends in a browser
  list     List backends, peers, adapters, scenes and built-in models
  help     Print this message or the help of the given subcommand(s)

Options:
  -h, --help     Print help
  -V, --version  Print version

Without a command, it measures a thousand walkers with each backend that has no colon in its name:
1.5 minutes on two cores, and a folder of results in skinbench-results.

`skinbench completions bash` (zsh, fish, elvish, powershell) prints completions for a shell,
`skinbench man` or `skinbench man run` a page for man.

"#]]
    );
    skinbench(&folder, "run --help")
        .assert()
        .success()
        .stdout_eq(str![[r#"
Verify backends on scenes, then measure them

Usage: skinbench[..] run [OPTIONS] [SCENE|MODEL]...

...
"#]]);
}

#[test]
fn short_help_fits_a_screen_and_the_rest_is_under_help() {
    let folder = empty_folder();
    let help = ran(skinbench(&folder, "-h")).text;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands: Vec<&str> = listed.take_while(|line| !line.is_empty()).collect();
    assert!(commands.len() > 10, "{help}");
    for command in commands {
        let name = command.split_whitespace().next().unwrap();
        // A command that a build lacks has no help.
        if name != "help" && !command.contains("(not in this build)") {
            let short = ran(skinbench(&folder, &format!("{name} -h"))).text;
            let lines = short.lines().count();
            assert!(lines <= 25, "{name}: {lines} lines\n{short}");
        }
    }
    let short = ran(skinbench(&folder, "run -h")).text;
    let long = ran(skinbench(&folder, "run --help")).text;
    assert!(!short.contains("--turnover") && long.contains("--turnover"));
}

#[test]
fn shells_and_man_know_the_commands() {
    let folder = empty_folder();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = succeed(&folder, &format!("completions {shell}")).text;
        assert!(
            text.contains("instances") && text.contains("inspect"),
            "{shell}"
        );
    }
    let page = succeed(&folder, "man").text;
    assert!(
        page.contains(".TH skinbench 1") && page.contains("inspect"),
        "{page}"
    );
    let page = succeed(&folder, "man run").text;
    assert!(
        page.contains(".TH skinbench-run 1") && page.contains("budget"),
        "{page}"
    );
}

/// What a command wrote is named once, on stderr: other programs read stdout.
#[test]
fn what_is_written_is_named() {
    let folder = empty_folder();
    for (arguments, file) in [
        ("convert sprout-m3d -o sprout.glb", "sprout.glb"),
        ("dump sprout-glb -o vertices.csv", "vertices.csv"),
    ] {
        let said = succeed(&folder, arguments);
        let lines = said.notes.lines().filter(|line| line.starts_with("wrote "));
        assert_eq!(lines.collect::<Vec<_>>(), [format!("wrote {file}")]);
        assert_eq!(said.text, "", "{arguments}");
    }
}

#[test]
fn numbers_are_read_as_tables_print_them() {
    let folder = empty_folder();
    let verified = succeed(&folder, "verify smoke --instances 1,002 -b cpu-simd").text;
    assert!(verified.contains("1,002 instances"), "{verified}");
}

#[test]
fn list_names_what_there_is() {
    let folder = empty_folder();
    let output = ran(skinbench(&folder, "list"));
    assert_eq!(output.code, Some(0));
    let text = output.text;
    for name in REGISTRY.iter().map(|e| e.name).chain([
        "walkers",
        "crowd-10k-dense",
        "walker",
        "threads",
        "adapters",
    ]) {
        assert!(
            text.lines()
                .any(|line| line.split_whitespace().next() == Some(name)),
            "{name} in {text}"
        );
    }
    let output = ran(skinbench(&folder, "list --json"));
    let json: serde_json::Value = serde_json::from_str(&output.text).unwrap();
    let backends = json["backends"].as_array().unwrap().iter();
    let listed: Vec<_> = backends
        .map(|b| {
            (
                b["name"].as_str().unwrap(),
                b["morph_targets"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        listed,
        REGISTRY
            .iter()
            .map(|e| (e.name, !e.abilities().lack(Ability::MorphTargets)))
            .collect::<Vec<_>>()
    );
    assert!(
        listed.iter().any(|(_, morphs)| *morphs) && listed.iter().any(|(_, morphs)| !morphs),
        "{listed:?}"
    );
    assert_eq!(json["models"][0], "walker");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let folder = empty_folder();
    let peers = folder.path().join("peers");
    std::fs::create_dir(&peers).unwrap();
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/peers")).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|ending| ending == "toml") {
            std::fs::copy(&file, peers.join(file.file_name().unwrap())).unwrap();
        }
    }
    let few = "smoke --instances 4 -b cpu-simd,cpu-rayon,gpu-compute,gpu-vat --frames 3";
    for width in [40, 80] {
        for arguments in [
            "list",
            "inspect walker",
            "verify one-face --instances 2",
            &format!("run {few} --card -o results-{width}"),
            &format!("sweep {few} --passes 0,1 -o swept-{width}"),
        ] {
            let command = skinbench(&folder, arguments).env("COLUMNS", width.to_string());
            let said = ran(command).text;
            assert!(said.lines().count() > 1, "{arguments}: {said}");
            for line in said.lines() {
                assert!(line.chars().count() <= width, "{arguments}: {line}");
            }
            // Lines of a table are its rows, none of which goes on below itself.
            let mut of_table = false;
            for line in said.lines() {
                of_table = !line.is_empty() && (of_table || line.starts_with('─'));
                assert!(!of_table || !line.starts_with(' '), "{arguments}: {said}");
            }
        }
    }
}

#[test]
fn an_instruction_set_is_chosen_by_name_or_refused() {
    let folder = empty_folder();
    let list = |isa: &str| ran(skinbench(&folder, "list").env(VARIABLE, isa));
    let chosen = list("scalar");
    assert!(chosen.text.contains("\n  scalar (of scalar, "));
    for arguments in ["list", "run smoke", "verify smoke", "dump walker"] {
        let refused = ran(skinbench(&folder, arguments).env(VARIABLE, "mmx"));
        let error = refused.notes;
        assert_eq!(refused.code, Some(2), "{arguments}: {error}");
        let expected = "SKINBENCH_ISA=mmx is not an instruction set; this machine has scalar, ";
        assert!(
            error.lines().last().unwrap().contains(expected),
            "{arguments}: {error}"
        );
    }
    assert_eq!(files(&folder), Vec::<String>::new());
}

#[test]
fn bad_input_is_one_clear_line_and_writes_nothing() {
    let input = empty_folder();
    let file = |name: &str, text: &str| {
        let path = input.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let scene = file(
        "bad.toml",
        "seed = 1\n[[group]]\nmodel = \"walker\"\ncuont = 3\n",
    );
    let clip = file(
        "clip.toml",
        "[[group]]\nmodel = \"walker\"\nclip = \"wlak\"\n",
    );
    let model = file("bad.glb", "not a model");
    let format = file("model.xyz", "");
    let skeleton = file("model.skeleton.xml", "<skeleton/>");
    let fbx = file("model.fbx", "Kaydara FBX Binary  ");
    let picture = input.path().join("picture.glb");
    std::fs::write(&picture, b"\x89PNG\r\n\x1a\n").unwrap();
    let picture = picture.display();
    let group = file("group.toml", "[group]\nmodel = \"walker\"\n");
    let blocked = file("blocked", "a file where a folder should be");
    let full = empty_folder();
    std::fs::write(full.path().join("summary.csv"), "kept").unwrap();
    let full = full.path().display();
    for (arguments, code, expected) in [
        (
            "run sprout-glb walker sprout-md5 --instances 2 -o x",
            1,
            "--instances for sprout-glb+walker+sprout-md5: instances = 2; expected 3 or more, one",
        ),
        (
            "run walkrs",
            2,
            "unknown scene \"walkrs\"; did you mean \"walkers\"? `skinbench list` has all",
        ),
        (
            "run -b cpu-raion",
            2,
            "unknown backend \"cpu-raion\"; did you mean \"cpu-rayon\"? `skinbench list` has all",
        ),
        ("run -b gqu-*", 2, "unknown backend \"gqu-*\";"),
        (
            "run -b gpu",
            2,
            "unknown backend \"gpu\"; did you mean 'gpu-*'? `skinbench list` has all",
        ),
        (
            "run walkers --joints 60",
            2,
            "error: unexpected argument '--joints' found",
        ),
        ("run many-foxes --model Fxo", 2, "unknown model \"Fxo\";"),
        ("run many-foxes --model missing.glb", 1, "missing.glb: "),
        (
            "run --instances 0",
            2,
            "error: --instances = 0; expected 1 or more",
        ),
        (
            "run --instances -3",
            2,
            "'-3' for '--instances <N>': expected a whole number",
        ),
        (
            "run --instances 1,000",
            2,
            "'000' for '--instances <N>': expected no zero in front; commas separate values here",
        ),
        (
            "run .",
            2,
            ".: is a folder; expected a scene file (.toml) or a model in it",
        ),
        (
            "run qqq",
            2,
            "unknown scene \"qqq\"; `skinbench list` has all; a file's name ends in .toml, .gltf,",
        ),
        (
            "run --clip fly",
            1,
            "--clip for walkers: walker: unknown clip \"fly\"; expected idle, walk, run or wave, or a",
        ),
        (
            "inspect walkers",
            2,
            "walkers is a scene; expected a model file, or a built-in model of `skinbench list`",
        ),
        (
            "man fly",
            2,
            "unknown command \"fly\"; `skinbench -h` lists all",
        ),
        (
            "run --frames 0",
            2,
            "'0' for '--frames <N>': expected a whole number, 1 or more",
        ),
        (
            "run --passes 65",
            2,
            "error: --passes = 65; expected 0 to 64",
        ),
        ("run --output packd", 2, "'packd' for '--output <"),
        (
            "run -b cpu-simd:lane",
            2,
            "unknown backend \"cpu-simd:lane\"; did you mean \"cpu-simd:lanes\"?",
        ),
        (
            "run --threads 1,0",
            2,
            "'0' for '--threads <N>': expected a whole number, 1 or more",
        ),
        (
            "run --vertices x",
            2,
            "'x' for '--vertices <N>': expected a whole number",
        ),
        ("run city --models 0", 2, "models = 0; expected 1 to 4096"),
        (
            "run city --models 9 --instances 5",
            1,
            "--models for city: 9 models for 5 instances; expected at most 5",
        ),
        (
            "run walkers --vertices 33",
            1,
            "error: --vertices for walkers: walker: 33 vertices; expected 500 to 200000",
        ),
        (
            "render smoke --vertices 33 -o out.png",
            1,
            "error: --vertices for smoke: walker: 33 vertices; expected 500 to 200000",
        ),
        (
            "run sprout-glb --vertices 1",
            1,
            "error: --vertices for sprout-glb: ",
        ),
        (
            "verify sprout-glb sprout-md5 --vertices 1",
            1,
            "error: --vertices for sprout-glb+sprout-md5: sprout, vertices: 1 requested; ",
        ),
        (
            "run city --instances 500 --models 500 --vertices 100000",
            1,
            "error: --models for city: the models up to this one take as long ",
        ),
        (
            "run smoke --active-targets 3",
            1,
            "error: --active-targets for smoke: 3 active morph targets, but no model of the scene has one",
        ),
        (
            "run one-face --active-targets 300",
            1,
            "error: --active-targets for one-face: 300 active morph targets; expected at most 52",
        ),
        (
            "run smoke --sockets tail",
            1,
            "error: --sockets for smoke: socket of \"walker\": unknown joint \"tail\"",
        ),
        (
            "run --models 4",
            1,
            "--models for walkers: 4 models, but no group of people; expected a scene with one, such as city",
        ),
        (
            "run city --lod hands",
            2,
            "invalid value 'hands' for '--lod <none|mesh>'",
        ),
        (
            "run walkers smoke walkers",
            2,
            "two scenes are called walkers; expected each once, or two runs",
        ),
        (
            "run --motion --output ring",
            2,
            "--motion beside --output ring; expected one of them",
        ),
        (
            "run --frozen 50% --update-rate 20,40",
            2,
            "error: --frozen beside --update-rate; expected one of them",
        ),
        (
            "run --clock sundial",
            2,
            "unknown clock \"sundial\"; expected timestamps, fenced or auto",
        ),
        (
            "sweep smoke --clock fence -o out",
            2,
            "unknown clock \"fence\"; did you mean \"fenced\"?",
        ),
        (
            "run --require cpu",
            2,
            "'cpu' for '--require <WHAT>' [possible values: gpu]",
        ),
        (
            "verify --epsilon NaN",
            2,
            "'NaN' for '--epsilon <E>': expected a finite number, more than 0",
        ),
        (
            "dump walker --clip walk --time NaN",
            2,
            "'NaN' for '--time <S>': expected seconds, -100000 to 100000",
        ),
        (
            "render walker -o out.png --time 1e9",
            2,
            "'1e9' for '--time <S>': expected seconds, -100000 to 100000",
        ),
        (
            "dump walker --time 1",
            2,
            "required arguments were not provided: --clip <NAME|NUMBER>",
        ),
        ("dump walker -b cpu", 2, "unknown backend \"cpu\";"),
        (
            "sweep wlakers -o out",
            2,
            "unknown scene \"wlakers\"; did you mean \"walkers\"?",
        ),
        (
            "sweep walkers --instances 1,0 -o out",
            2,
            "error: --instances = 0; expected 1 or more",
        ),
        (
            "sweep walkers --instances 1,x -o out",
            2,
            "'x' for '--instances <N>': expected a whole number",
        ),
        (
            "sweep walkers --normals raw,flat -o out",
            2,
            "unknown treatment of normals \"flat\"; expected unit,",
        ),
        (
            "run --update-rate 40",
            2,
            "expected two distances in metres, such as 20,40",
        ),
        (
            "run --update-rate 40,20",
            2,
            "error: --update-rate = 40,20; expected metres, 0 or more, the second no less",
        ),
        (
            "sweep walkers --shard 5/4 -o out",
            2,
            "expected a part and how many there are, such as 1/4",
        ),
        (
            "sweep walkers --budget 16.7 -o out",
            2,
            "expected a time with its unit, such as 16.7ms or 2s",
        ),
        (
            "sweep walkers --max-frame-time 0ms -o out",
            2,
            "expected a time with its unit, such as 16.7ms or 2s",
        ),
        (
            "sweep walkers --memory lots -o out",
            2,
            "expected a size with its unit, such as 128MB or 64MiB",
        ),
        (
            "sweep walkers --memory 128 -o out",
            2,
            "expected a size with its unit, such as 128MB or 64MiB",
        ),
        (
            "sweep walkers --memory 0MB -o out",
            2,
            "expected a size with its unit, such as 128MB or 64MiB",
        ),
        (
            "sweep walkers --instances 1000000000000 -o out",
            1,
            "--instances for walkers: 1000000000000 instances take ",
        ),
        (
            &format!("sweep smoke -o {blocked}"),
            1,
            "blocked is a file; expected a folder, which may be a new one",
        ),
        (
            "compare one",
            2,
            "required arguments were not provided: <NEW>",
        ),
        (
            "compare one two --fail-above -3",
            2,
            "'-3' for '--fail-above <PERCENT>': expected a percentage, such as 5%",
        ),
        ("compare one two", 1, "one: no such file or folder"),
        (
            "report",
            2,
            "required arguments were not provided: <RESULTS>...",
        ),
        (
            "report missing -o out.html",
            1,
            "missing: no such file or folder",
        ),
        (
            "report . -o out.html",
            1,
            ".: no summary.csv in it; expected a folder that `skinbench run -o`",
        ),
        ("frobnicate", 2, "unrecognized subcommand 'frobnicate'"),
        (
            "Fox.glb --instances 5",
            2,
            "unrecognized subcommand 'Fox.glb'; did you mean `skinbench run Fox.glb --instances 5`?",
        ),
        (
            "walkers",
            2,
            "unrecognized subcommand 'walkers'; did you mean `skinbench run walkers`?",
        ),
        (
            "verify --attributes p,pn",
            2,
            "`skinbench run` takes several: --attributes p,pn",
        ),
        (
            "-b gpu-full --instances 5",
            2,
            "unexpected argument '-b' found; did you mean `skinbench run -b gpu-full --instances 5`?",
        ),
        (
            "--passes=0",
            2,
            "unexpected argument '--passes' found; did you mean `skinbench run --passes=0`?",
        ),
        (
            "run --thread 2",
            2,
            "unexpected argument '--thread' found; tip: a similar argument exists: '--threads'",
        ),
        (
            "dump walker --threads 1,2",
            2,
            "'1,2' for '--threads <N>': expected a whole number, 1 or more",
        ),
        ("run missing.fbx", 1, "missing.fbx: no such file"),
        (
            &format!("run {fbx}"),
            1,
            "model.fbx: FBX, which is not read; Blender imports it and exports glTF 2.0",
        ),
        (
            &format!("inspect {picture}"),
            1,
            "picture.glb: a PNG picture; expected a model",
        ),
        (
            &format!("inspect {skeleton}"),
            1,
            "model.skeleton.xml: a skeleton of OgreXML; expected the mesh that names it",
        ),
        (
            &format!("run {group}"),
            1,
            "group.toml:1:1: [group] is one table; expected [[group]], which may be repeated",
        ),
        (
            "convert walker",
            2,
            "expected a .glb file to write: skinbench convert MODEL -o OUT.glb",
        ),
        (
            "convert walker -o out.gltf",
            2,
            "out.gltf: glTF binary is written; expected a name that ends in .glb",
        ),
        (
            "report . -o out.pdf",
            2,
            "out.pdf: an HTML page is written; expected a name that ends in .html or .htm",
        ),
        (
            "run --instances 18446744073709551615",
            1,
            "--instances for walkers: 18446744073709551615 instances take ",
        ),
        (
            "run --instances 1000000000000",
            1,
            "--instances for walkers: 1000000000000 instances take ",
        ),
        ("run missing.toml", 1, "missing.toml: cannot read: "),
        (
            &format!("run {scene}"),
            1,
            "bad.toml:4:1: unknown key \"cuont\"; did you mean \"count\"? expected model,",
        ),
        (
            &format!("run {clip}"),
            1,
            "clip.toml:3:8: unknown clip \"wlak\"; did you mean \"walk\"? expected idle,",
        ),
        (&format!("run {model}"), 1, "bad.glb: "),
        ("run missing.glb", 1, "missing.glb: "),
        (
            &format!("run smoke -o {blocked}"),
            1,
            "blocked is a file; expected a folder, which may be a new one",
        ),
        (
            &format!("run smoke -o {full}"),
            1,
            "summary.csv: another version or program wrote it, or its end is missing; name",
        ),
        ("dump missing.glb", 1, "missing.glb: "),
        (&format!("dump {model} -o out.csv"), 1, "bad.glb: "),
        (
            &format!("dump {format} -o out.csv"),
            1,
            "model.xyz: no known model format; expected a file that ends in",
        ),
        (
            "dump walker --clip wlak -o out.csv",
            1,
            "walker: unknown clip \"wlak\"; did you mean \"walk\"? expected idle,",
        ),
        (
            "dump walker --clip 9 -o out.csv",
            1,
            "walker: unknown clip \"9\"; expected idle, walk, run or wave, or a number",
        ),
        (
            "dump walker -o missing/out.csv",
            1,
            "cannot write missing/out.csv: no folder missing",
        ),
    ] {
        let folder = empty_folder();
        let output = ran(skinbench(&folder, arguments));
        let stderr = output.notes;
        let errors: Vec<_> = stderr
            .lines()
            .filter(|line| !line.starts_with("note: "))
            .collect();
        assert_eq!(errors.len(), 1, "{arguments}: {stderr}");
        assert!(
            errors[0].starts_with("error: ") && errors[0].contains(expected),
            "{arguments}: {stderr}\nnot {expected}"
        );
        assert_eq!(output.code, Some(code), "{arguments}");
        assert!(output.text.is_empty(), "{arguments}");
        assert_eq!(files(&folder), [""; 0], "{arguments}");
    }
    assert_eq!(
        std::fs::read_to_string(format!("{full}/summary.csv")).unwrap(),
        "kept"
    );
}

#[test]
fn what_retired_is_refused_in_one_line_that_names_what_replaces_it() {
    let mut refused = vec![
        ("submit results -o x.tar.gz", "submit", "send the folder"),
        (
            "report . -o site/ --format site",
            "--format site",
            "`skinbench report A B C",
        ),
        ("run --counters", "--counters", "`perf stat`"),
        (
            "sweep smoke --neighbours=2 -o x",
            "--neighbours",
            "`stress-ng ",
        ),
        ("run smoke --sustain 10m", "--sustain", "several runs"),
        (
            "run --phase-buckets 4",
            "--phase-buckets",
            "groups of the scene",
        ),
        ("run city --lod joints", "--lod joints", "--lod mesh"),
        (
            "run -b gpu-full:levels",
            "gpu-full:levels",
            "gpu-full:culled",
        ),
        (
            "verify -b gpu-full:vertex-levels",
            "gpu-full:vertex-levels",
            "gpu-full:vertex-culled",
        ),
    ];
    for backend in ["morph-16", "morph-dense", "subgroup"] {
        let backend = format!("gpu-compute:{backend}");
        let arguments = format!("dump walker -b {backend} -o out.csv");
        refused.push((arguments.leak(), backend.leak(), "gpu-compute"));
    }
    if cfg!(feature = "gpu") {
        refused.extend([
            (
                "web --serve=127.0.0.1:0",
                "--serve",
                "`skinbench web -o page.html`",
            ),
            (
                "web --collect x -o page.html",
                "--collect",
                "the page gives",
            ),
        ]);
    }
    for (arguments, name, instead) in refused {
        let folder = empty_folder();
        let output = ran(skinbench(&folder, arguments));
        let expected = format!("error: {name} has retired; instead: {instead}");
        let notes = &output.notes;
        assert!(notes.starts_with(&expected), "{arguments}: {notes}");
        assert_eq!(
            (output.code, notes.lines().count()),
            (Some(2), 1),
            "{arguments}: {notes}"
        );
        assert_eq!(files(&folder), [""; 0], "{arguments}");
    }
}

/// A page is not printed on a terminal. (A terminal's other end is one, too.)
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_no_page() {
    let folder = empty_folder();
    let open = || {
        let mut options = std::fs::File::options();
        options.read(true).write(true).open("/dev/ptmx").unwrap()
    };
    let report = concat!(
        "report ",
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/sweep"
    );
    let output = process(&folder, report).stdout(open()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.ends_with("name a file with -o report.html\n"),
        "{said}"
    );
}

/// A column is in CSV, in JSON, and in the wide form unless it is about one stage.
#[test]
fn columns_are_in_every_form() {
    let folder = empty_folder();
    let line = "run smoke -b cpu-scalar,cpu-simd --instances 3 --passes 0 --frames 2 --json -o out";
    let json = succeed(&folder, line).text;
    let csv = std::fs::read_to_string(folder.path().join("out/summary.csv")).unwrap();
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    assert_eq!(csv.lines().next(), Some(&names.join(",")[..]));
    let rows = measured(&folder, "out");
    assert_eq!(json.lines().count(), rows.len());
    for (line, row) in json.lines().zip(rows) {
        let fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(line).unwrap();
        assert_eq!(fields.len(), names.len());
        assert!(
            names.iter().all(|name| fields.contains_key(*name)),
            "{line}"
        );
        assert_eq!(serde_json::from_str::<Row>(line).unwrap(), row);
    }
    let wide = succeed(&folder, "report out --format csv").text;
    assert_eq!(wide.lines().count(), 1 + 2, "{wide}");
    let headings: Vec<&str> = wide.lines().next().unwrap().split(',').collect();
    for name in names {
        let is_of_stage = OF_STAGES.contains(&name);
        assert!(
            headings.contains(&name) != is_of_stage,
            "{name}: {headings:?}"
        );
    }
}

#[test]
fn disturbances_are_points_of_their_own() {
    let folder = empty_folder();
    let run = "run smoke -b cpu-scalar --frames 3 --passes 0";
    for (arguments, options) in [
        ("--caches cold -o cold", "caches=cold"),
        ("--device idle -o idle", "device=idle"),
        ("--caches warm -o rest", ""),
    ] {
        succeed(&folder, &format!("{run} {arguments}"));
        let name = arguments.rsplit(' ').next().unwrap();
        let summary = measured(&folder, name);
        assert!(
            summary
                .iter()
                .all(|row| row.options == options && row.frames == Some(3)),
            "{arguments}"
        );
    }
}

#[test]
fn medians_follow_from_the_samples() {
    let folder = empty_folder();
    succeed(
        &folder,
        "run smoke -b cpu-scalar,cpu-simd,cpu-rayon --frames 5 --passes 0 -o out",
    );
    let summary = measured(&folder, "out");
    let samples: Vec<SampleRow> = rows(&folder.path().join("out/samples.csv"));
    let frames = |clock| {
        summary
            .iter()
            .filter(|row| row.stage == Stage::Frame && row.clock == clock)
            .count()
    };
    assert_eq!(frames(Clock::Wall), 3);
    assert_eq!(
        frames(Clock::ThreadSum),
        if cfg!(target_os = "linux") { 3 } else { 0 }
    );
    for row in &summary {
        let of_row = |s: &&SampleRow| {
            (
                &s.run_id, &s.scene, &s.backend, &s.variant, &s.stage, &s.clock,
            ) == (
                &row.run_id,
                &row.scene,
                &row.backend,
                &row.variant,
                &row.stage,
                &row.clock,
            )
        };
        let times: Vec<_> = samples.iter().filter(of_row).map(|s| s.ns).collect();
        assert_eq!(row.status, Status::Ok);
        assert_eq!(times.len() + row.dropped.unwrap() as usize, 5, "{row:?}");
        let figures = Summary::of(times).unwrap();
        let written = [
            row.median_ns,
            row.mad_ns,
            row.min_ns,
            row.p95_ns,
            row.max_ns,
        ];
        assert_eq!(row.p99_ns, None, "5 frames have none");
        assert_eq!(
            written,
            [
                figures.median,
                figures.mad,
                figures.min,
                figures.p95,
                figures.max
            ]
            .map(Some),
            "{row:?}"
        );
        assert!(
            row.parity_max_rel.unwrap() > 0.0 && row.parity_max_rel <= row.parity_tol,
            "{row:?}"
        );
        assert_eq!(
            (row.instances, row.passes, row.scene_hash.len()),
            (42, 0, 16)
        );
    }
    let hashes = |row: &Row| row.scene_hash == summary[0].scene_hash;
    assert!(summary.iter().all(hashes));
}

/// Device stages of a run with `--clock fenced` have that clock's label in both files, and the table says what is
/// subtracted.
#[cfg(feature = "gpu")]
#[test]
fn fenced_stages_are_labelled() {
    if !has_adapter("fenced_stages_are_labelled") {
        return;
    }
    let folder = empty_folder();
    let arguments =
        "run smoke -b cpu-scalar,gpu-full --frames 3 --passes 0 --clock fenced --wide -o out";
    let text = ran(skinbench(&folder, arguments)).text;
    let subtracted = text
        .lines()
        .find(|line| line.starts_with("fenced: "))
        .unwrap_or_default();
    assert!(subtracted.ends_with(" for an empty one"), "{text}");
    let summary = measured(&folder, "out");
    let samples: Vec<SampleRow> = rows(&folder.path().join("out/samples.csv"));
    let stages = |clock| -> Vec<Stage> {
        let of_clock = summary
            .iter()
            .filter(|row| row.backend == "gpu-full" && row.clock == clock);
        of_clock
            .inspect(|row| assert_eq!(row.dropped, Some(0)))
            .map(|row| row.stage)
            .collect()
    };
    let device = [
        Stage::Sample,
        Stage::LocalToModel,
        Stage::Palette,
        Stage::Skin,
    ];
    assert_eq!(stages(Clock::Fenced), device);
    assert_eq!(stages(Clock::Gpu), []);
    for row in &summary {
        let adapter = row.adapter.as_deref().unwrap_or_default();
        let is_paced = row.clock == Clock::Fenced && !adapter.ends_with(EMULATED);
        assert!(row.device_clock_pct.is_some() || !is_paced, "{row:?}");
        assert!(row.device_clock_pct.is_none() || !adapter.ends_with(EMULATED));
        let is_whole = row.stage == Stage::Frame && row.clock == Clock::Wall;
        assert_eq!(row.processor_clock_pct.is_some(), is_whole, "{row:?}");
    }
    assert!(stages(Clock::Wall).contains(&Stage::Frame));
    let fenced = samples.iter().filter(|row| row.clock == Clock::Fenced);
    assert_eq!(
        fenced
            .inspect(|row| assert!(row.ns > 0 && row.frame < 3))
            .count(),
        3 * device.len()
    );
    let sessions = std::fs::read_to_string(folder.path().join("out/environment.json")).unwrap();
    assert!(
        sessions.contains("\"device_clock\": \"fenced\"")
            && sessions.contains("\"empty_submission_ns\": ")
    );
    // What a report about a driver needs.
    let version = ran(skinbench(&folder, "--version")).text;
    for package in ["wgpu", "naga"] {
        let locked = version
            .lines()
            .find_map(|line| line.strip_prefix(package))
            .unwrap()
            .trim();
        assert!(
            locked.split('.').count() == 3
                && sessions.contains(&format!("\"{package}\": \"{locked}\"")),
            "{version:?}"
        );
    }
    assert!(version.contains("\ngraphics APIs: "));
    assert!(sessions.contains("\"api\": \"Vulkan\"") || !cfg!(target_os = "linux"));
}

/// Beside a run of several threads stands what one can do, and in `limits.csv` what the table says.
#[test]
fn the_machines_limits_are_shown_and_kept() {
    let folder = empty_folder();
    let arguments =
        "run smoke -b cpu-rayon --frames 1 --instances 3 --passes 0 --threads 2 --wide -o out";
    let text = ran(skinbench(&folder, arguments)).text;
    let limits: Vec<LimitsRow> = rows(&folder.path().join("out/limits.csv"));
    let summary = measured(&folder, "out");
    assert_eq!(
        limits.iter().map(|row| row.threads).collect::<Vec<_>>(),
        [1, 2]
    );
    for row in &limits {
        assert!(
            summary
                .iter()
                .any(|s| (&s.run_id, &s.scene) == (&row.run_id, &row.scene)),
            "{row:?}"
        );
        let fma = format!("; {:.1} G multiply-adds/s\n", row.fma as f64 / 1e9);
        assert!(
            row.bytes == 64 << 20 && row.lanes >= 1 && text.contains(&fma),
            "{row:?}: {text}"
        );
    }
    let shown: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("limits, "))
        .collect();
    assert!(
        shown.len() == 2
            && shown[0].starts_with("1 thread: ")
            && shown[1].starts_with("2 threads: "),
        "{text}"
    );
}

#[test]
fn the_card_stands_below_the_table_and_its_figures_in_the_files() {
    let folder = empty_folder();
    let arguments = "run smoke -b cpu-scalar,cpu-rayon --frames 2 --instances 3 --passes 0 --card --wide -o out";
    let text = ran(skinbench(&folder, arguments)).text;
    let card = text
        .split("card: 3 instances of scene smoke, nothing drawn\n")
        .nth(1)
        .unwrap();
    let summary = measured(&folder, "out");
    for backend in ["cpu-scalar", "cpu-rayon"] {
        let of_frame = |row: &&Row| row.backend == backend && row.stage == Stage::Frame;
        let frame = summary
            .iter()
            .filter(of_frame)
            .find(|row| row.clock == Clock::Wall)
            .unwrap();
        let host = size(frame.host_bytes.unwrap() as f64);
        for expected in [&host, "same frame"] {
            let mut rows = card.lines().filter(|line| line.starts_with(backend));
            assert!(rows.any(|row| row.contains(expected)), "{expected}: {card}");
        }
    }
    let rest: Vec<_> = summary
        .iter()
        .filter(|row| (row.stage, row.clock) != (Stage::Frame, Clock::Wall))
        .collect();
    assert!(
        !rest.is_empty()
            && rest
                .iter()
                .all(|row| row.host_bytes.is_none() && row.draws.is_none())
    );
    assert!(
        card.contains(" takes the least memory, ")
            && card.contains("finds where the answers change"),
        "{card}"
    );
}

/// A scene with another model has a name of its own, and the folder of the model is in no file.
#[test]
fn scenes_take_other_models() {
    let folder = empty_folder();
    std::fs::create_dir(folder.path().join("secret")).unwrap();
    succeed(&folder, "convert walker secret/mine.glb");
    let line = "run many-foxes --model secret/mine.glb --instances 20 -b cpu-rayon --frames 1 --passes 0 -o out";
    succeed(&folder, line);
    let summary = measured(&folder, "out");
    assert!(
        summary
            .iter()
            .all(|row| row.scene == "many-foxes-mine" && row.status == Status::Ok),
        "{summary:?}"
    );
    for file in ["summary.csv", "samples.csv", "environment.json"] {
        let text = std::fs::read_to_string(folder.path().join("out").join(file)).unwrap();
        assert!(!text.contains("secret"), "{file}");
    }
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn many_foxes_agree_with_the_reference() {
    let folder = empty_folder();
    let fox = shared_folder().join("models/gltf/Fox.glb");
    let line = format!(
        "verify many-foxes --model {} --instances 60 -b cpu-scalar,cpu-simd,cpu-rayon",
        fox.display()
    );
    let output = ran(skinbench(&folder, &line));
    let text = output.text;
    // Four times, 60 foxes of 1,728 vertices.
    assert!(
        output.code == Some(0) && text.matches("414,720").count() == 3,
        "{text}"
    );
}

#[test]
fn several_models_are_one_crowd_and_levels_have_an_error() {
    let folder = empty_folder();
    let run = "run sprout-glb walker sprout-md5 --instances 40 --passes 0 -b cpu-rayon --frames 2";
    succeed(&folder, &format!("{run} -o mixed"));
    let mixed = measured(&folder, "mixed");
    assert!(
        mixed
            .iter()
            .all(|row| row.scene == "sprout-glb+walker+sprout-md5" && row.models == Some(3))
    );
    assert!(
        mixed
            .iter()
            .all(|row| row.instances == 40 && row.lod_error_rel.is_none())
    );
    // Equal models, too.
    succeed(
        &folder,
        "run sprout-glb sprout-glb --instances 4 --passes 0 -b cpu-rayon --frames 2 -o equal",
    );
    let equal = measured(&folder, "equal");
    assert!(equal.iter().all(|row| row.scene == "sprout-glb+sprout-glb"));
    // People are as few as asked.
    let few = succeed(
        &folder,
        "verify people walker --instances 2 --vertices 500 -b cpu-rayon",
    )
    .text;
    assert!(few.starts_with("people+walker: 2 instances\n"), "{few}");
    // Two scenes stay two crowds.
    succeed(
        &folder,
        "run smoke sprout-glb --instances 6 --passes 0 -b cpu-rayon --frames 2 -o two",
    );
    let mut two: Vec<String> = measured(&folder, "two")
        .into_iter()
        .map(|row| row.scene)
        .collect();
    two.dedup();
    assert_eq!(two, ["smoke", "sprout-glb"]);

    let lod = "run city --instances 200 --models 4 --vertices 600 --lod mesh --passes 0";
    let said = ran(skinbench(
        &folder,
        &format!("{lod} -b cpu-rayon --frames 2 -o lod"),
    ))
    .text;
    assert!(
        said.contains("lod=mesh: ") && said.contains(" instances at levels 0 to 3;"),
        "{said}"
    );
    let rows = measured(&folder, "lod");
    assert!(
        rows.iter()
            .all(|row| row.lod_error_px.is_some_and(|error| error > 0.0) && row.models == Some(4))
    );
    assert_eq!(rows[0].options, "lod=mesh");
}

#[test]
fn a_parity_failure_has_no_times_and_exits_3() {
    let folder = empty_folder();
    let output = ran(skinbench(
        &folder,
        "verify smoke -b cpu-scalar --instances 3 --epsilon 1e-12",
    ));
    assert_eq!(output.code, Some(3));
    let text = output.text;
    assert!(text.contains("cpu-scalar: parity_failed: "), "{text}");
    // It ends at the first failure, with what was compared until then: a frame of the first group.
    let row = text.lines().find(|line| line.starts_with("cpu-scalar "));
    let cells: Vec<&str> = row.unwrap().split_whitespace().collect();
    let [_, position, normal, "1,988", "parity_failed"] = cells[..] else {
        panic!("{text}");
    };
    for error in [position, normal] {
        let error: f64 = error.parse().unwrap();
        assert!(error > 0.0 && error < 1e-5, "{text}");
    }
    let verified = succeed(
        &folder,
        "verify smoke -b cpu-scalar --instances 3 --attributes p",
    );
    let heading = verified.text.lines().nth(2).unwrap();
    assert!(
        !heading.contains("normal"),
        "no normal is compared: {heading}"
    );
    assert_eq!(files(&folder), [""; 0]);
}

#[test]
fn conversions_name_their_output_in_two_ways() {
    let folder = empty_folder();
    succeed(&folder, "convert sprout-ram -o a.glb");
    succeed(&folder, "convert sprout-ram b.glb");
    let [a, b] = ["a.glb", "b.glb"].map(|name| std::fs::read(folder.path().join(name)).unwrap());
    assert_eq!(a, b);
}

/// Joints whose scales are within the bound, and their product is not.
#[test]
fn no_number_beyond_f32_leaves_as_a_vertex() {
    let folder = empty_folder();
    let mut file = Fixture::new();
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let scales = file.floats("VEC3", &[1.0, 1.0, 1.0, 1e18, 1e18, 1e18]);
    let channel = |node| json!({"sampler": 0, "target": {"node": node, "path": "scale"}});
    file.set(
        "/animations/0",
        json!({
            "channels": [channel(0), channel(1)],
            "samplers": [{"input": times, "output": scales}],
        }),
    );
    // The position of vertex 1, which is far out.
    file.buffer[12..16].copy_from_slice(&1e6f32.to_le_bytes());
    std::fs::write(folder.path().join("huge.gltf"), file.gltf()).unwrap();
    for (command, problem) in [
        (
            "dump huge.gltf --clip 0 --time 1",
            "huge.gltf: primitive 0, vertex 1: inf at that time; expected joints whose numbers f32 can hold",
        ),
        (
            "verify huge.gltf -b cpu-scalar --instances 2",
            "in its clips; expected at most 1e18",
        ),
    ] {
        let output = ran(skinbench(&folder, command));
        assert_eq!(output.code, Some(1), "{command}: {}", output.notes);
        let said = output.notes.replace("\n  ", " ");
        assert!(said.contains(problem), "{command}: {said}");
    }
    let early = ran(skinbench(&folder, "dump huge.gltf --clip 0 --time 0"));
    assert_eq!(early.code, Some(0), "{}", early.notes);
}

#[test]
fn dumps_agree_between_backends() {
    let folder = empty_folder();
    let dump = |arguments: &str| {
        let output = ran(skinbench(
            &folder,
            &format!("dump walker --clip walk --time 0.3 {arguments}"),
        ));
        assert_eq!(output.code, Some(0));
        output.text
    };
    let scalar = dump("-b cpu-scalar");
    assert!(dump("-b cpu-scalar -o out.csv").is_empty());
    assert_eq!(
        std::fs::read_to_string(folder.path().join("out.csv")).unwrap(),
        scalar
    );
    assert_eq!(files(&folder), ["out.csv"], "no temporary file is left");
    assert_eq!(
        scalar.lines().next(),
        Some("primitive,vertex,px,py,pz,nx,ny,nz")
    );
    let rayon = dump("-b cpu-rayon --threads 2");
    let values = |text: &str| -> Vec<Vec<f64>> {
        text.lines()
            .skip(1)
            .map(|line| line.split(',').map(|v| v.parse().unwrap()).collect())
            .collect()
    };
    let (scalar, rayon) = (values(&scalar), values(&rayon));
    assert_eq!(scalar.len(), rayon.len());
    for (index, (a, b)) in scalar.iter().zip(&rayon).enumerate() {
        assert_eq!(a[..2], [0.0, index as f64], "vertices in file order");
        assert!(
            a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5),
            "{a:?} {b:?}"
        );
    }
    assert_ne!(values(&dump("--rotation nlerp")), scalar);
}

// A driver that cannot be loaded is how Linux is without one.
#[cfg(all(feature = "gpu", target_os = "linux"))]
#[test]
fn without_an_adapter_gpu_backends_are_skipped() {
    let folder = empty_folder();
    let without = |arguments: &str| ran(skinbench(&folder, arguments).env("WGPU_BACKEND", "dx12"));
    let output = without("run smoke --frames 1 --instances 3 -o out");
    let stderr = output.notes;
    assert_eq!(output.code, Some(0), "{stderr}");
    // Without a terminal, each backend that is finished has a line.
    let ended = stderr.lines().filter(|line| line.starts_with("smoke: "));
    let plain = REGISTRY.iter().filter(|entry| !entry.name.contains(':'));
    assert_eq!(ended.count(), plain.count(), "{stderr}");
    assert!(
        stderr.starts_with("note: no adapter") && stderr.contains("mesa-vulkan-drivers"),
        "{stderr}"
    );
    let summary = measured(&folder, "out");
    for row in &summary {
        let gpu = row.backend.starts_with("gpu-");
        assert_eq!(row.status, if gpu { Status::Skipped } else { Status::Ok });
        assert_eq!(row.error.as_deref(), gpu.then_some("no adapter"));
        assert_eq!((row.passes, &row.adapter), (0, &None));
    }
    assert!(summary.iter().any(|row| row.status == Status::Skipped));

    for named in ["gpu-compute", "gpu-*"] {
        let output = without(&format!("verify smoke --instances 3 -b cpu-scalar,{named}"));
        let stderr = output.notes;
        assert_eq!(output.code, Some(3), "{named}");
        assert!(output.text.contains(": skipped: no adapter\n"));
        let expected = format!("error: {named} was named and did not run");
        assert!(stderr.lines().any(|line| line == expected), "{stderr}");
    }
    let output = without("verify smoke --api metal");
    let stderr = output.notes;
    assert_eq!(
        (output.code, stderr.as_str()),
        (Some(1), "error: no adapter by Metal\n")
    );
    for required in [
        "run smoke --require gpu",
        "dump walker -b gpu-compute --threads 2",
    ] {
        let output = without(required);
        let stderr = output.notes;
        assert_eq!(output.code, Some(1), "{required}");
        assert!(
            stderr.contains("mesa-vulkan-drivers"),
            "{required}: {stderr}"
        );
    }
}

#[cfg(feature = "gpu")]
#[test]
fn every_backend_agrees_and_is_timed() {
    if !has_adapter("every_backend_agrees_and_is_timed") {
        return;
    }
    let folder = empty_folder();
    succeed(&folder, "verify smoke --require gpu");
    succeed(&folder, "run smoke --instances 20 --frames 3 -o drawn");
    let drawn = measured(&folder, "drawn");
    let plain = REGISTRY.iter().filter(|e| !e.name.contains(':'));
    for entry in plain.clone() {
        let of_frame = |row: &&Row| row.backend == entry.name && row.stage == Stage::Frame;
        let frame = drawn
            .iter()
            .filter(of_frame)
            .find(|row| row.clock == Clock::Wall)
            .unwrap();
        assert_eq!(
            (frame.status, frame.frames, frame.passes),
            (Status::Ok, Some(3), 1),
            "{frame:?}"
        );
        let host = [
            frame.host_mesh_bytes,
            frame.host_clips_bytes,
            frame.host_palettes_bytes,
            frame.host_output_bytes,
            frame.host_scratch_bytes,
        ];
        let device = [
            frame.device_mesh_bytes,
            frame.device_clips_bytes,
            frame.device_palettes_bytes,
            frame.device_output_bytes,
            frame.device_scratch_bytes,
        ];
        let sum = |parts: [Option<u64>; 5]| parts.into_iter().sum::<Option<u64>>();
        assert_eq!(
            (frame.host_bytes, frame.device_bytes),
            (sum(host), sum(device)),
            "{frame:?}"
        );
        // One draw for each of two models; depth and colours of 4 bytes a pixel, and what only drawing reads.
        assert!(
            frame.draws == Some(2) && frame.device_targets_bytes > Some(2 * 4 * 160 * 90),
            "{frame:?}"
        );
        let output = 24 * frame.vertices;
        match entry.name {
            "cpu-scalar" | "cpu-simd" | "cpu-rayon" => {
                assert!(
                    frame.host_output_bytes >= Some(output)
                        && frame.device_output_bytes >= Some(output),
                    "{frame:?}"
                );
                assert_eq!(
                    (frame.upload_bytes, frame.dispatches),
                    (Some(output), Some(0)),
                    "{frame:?}"
                );
            }
            "gpu-vertex" | "gpu-baked" | "gpu-vat" => {
                assert_eq!(
                    (frame.host_output_bytes, frame.device_output_bytes),
                    (Some(0), Some(0))
                )
            }
            _ => assert!(
                frame.host_output_bytes == Some(0) && frame.device_output_bytes >= Some(output),
                "{frame:?}"
            ),
        }
    }
    let in_flight: Vec<_> = drawn
        .iter()
        .filter(|row| row.stage == Stage::Throughput)
        .map(|row| row.frames)
        .collect();
    assert!(
        !in_flight.is_empty() && in_flight.iter().all(|frames| *frames <= Some(3)),
        "{in_flight:?}"
    );
    succeed(
        &folder,
        "run smoke --instances 20 --frames 3 --passes 0 -o undrawn",
    );
    let undrawn = measured(&folder, "undrawn");
    assert_eq!(
        undrawn
            .iter()
            .filter(|row| row.stage == Stage::Draw)
            .count(),
        0
    );
    let skipped: Vec<_> = undrawn
        .iter()
        .filter(|row| row.status == Status::Skipped)
        .collect();
    assert_eq!(
        skipped
            .iter()
            .map(|row| row.backend.as_str())
            .collect::<Vec<_>>(),
        ["gpu-vertex", "gpu-baked", "gpu-vat"]
    );
    assert!(
        skipped
            .iter()
            .all(|row| row.error.as_ref().unwrap().contains("--passes 1"))
    );
}

#[cfg(feature = "gpu")]
#[test]
fn what_cannot_be_drawn_is_verified_all_the_same() {
    if !has_adapter("what_cannot_be_drawn_is_verified_all_the_same") {
        return;
    }
    let folder = empty_folder();
    let output = |command: &str| {
        let output = ran(skinbench(
            &folder,
            &format!("{command} -b cpu-simd:lanes-interleaved"),
        ));
        // What is named must run.
        let code = match command.split(' ').next() {
            Some("verify") => 0,
            Some("run") => 3,
            _ => 1,
        };
        assert_eq!(output.code, Some(code), "{command}: {output:?}");
        format!("{}{}", output.text, output.notes)
    };
    let verified = output("verify smoke");
    let row = verified
        .lines()
        .find(|line| line.contains("lanes-interleaved"))
        .unwrap();
    assert!(
        row.ends_with("  ok") && row.contains("181,328"),
        "{verified}"
    );
    assert!(verified.contains("  ok\n\n"), "{verified}");
    assert!(output("run smoke --frames 2").contains("its output cannot be drawn; needs --passes"));
    assert!(output("render smoke -o crowd.png").contains("cannot be drawn"));
    assert!(!files(&folder).contains(&"crowd.png".into()));
}

#[cfg(feature = "gpu")]
#[test]
fn frames_in_flight_rings_and_motion_have_rows() {
    if !has_adapter("frames_in_flight_rings_and_motion_have_rows") {
        return;
    }
    let folder = empty_folder();
    let run = |arguments: &str, out: &str, code: i32| -> Vec<Row> {
        let line = format!(
            "run smoke --vertices 500 -b cpu-rayon,gpu-vertex,gpu-compute --frames 2 {arguments} -o {out}"
        );
        let output = ran(skinbench(&folder, &line));
        let said = output.notes;
        assert_eq!(output.code, Some(code), "{said}");
        // One of the backends that were named has nothing to keep.
        let skipped = said.contains("error: gpu-vertex was named and did not run\n");
        assert_eq!(skipped, code == 3, "{said}");
        measured(&folder, out)
    };
    let plain = run("", "plain", 0);
    for backend in ["cpu-rayon", "gpu-vertex", "gpu-compute"] {
        let row = plain
            .iter()
            .find(|row| row.backend == backend && row.stage == Stage::Throughput)
            .unwrap();
        assert!(
            row.clock == Clock::Wall && row.frames >= Some(3) && row.options.is_empty(),
            "{row:?}"
        );
    }
    let ring = run("--output ring", "ring", 3);
    assert!(
        ring.iter()
            .all(|row| row.passes == 0 && row.options == "output=ring")
    );
    assert!(ring.iter().any(|row| row.backend == "gpu-compute"
        && row.stage == Stage::Skin
        && row.median_ns.is_some()));
    let motion = run("--motion", "motion", 3);
    assert!(motion.iter().all(|row| row.options == "motion"));
    let skipped: Vec<_> = motion
        .iter()
        .filter(|row| row.status != Status::Ok)
        .collect();
    assert_eq!(
        skipped
            .iter()
            .map(|row| row.backend.as_str())
            .collect::<Vec<_>>(),
        ["gpu-vertex"]
    );
    assert!(
        skipped[0]
            .error
            .as_ref()
            .unwrap()
            .contains("stores no vertices")
    );
}

#[cfg(feature = "gpu")]
#[test]
fn a_picture_shows_the_crowd() {
    if !has_adapter("a_picture_shows_the_crowd") {
        return;
    }
    let folder = empty_folder();
    let picture = |arguments: &str| {
        succeed(&folder, &format!("render smoke -o crowd.png {arguments}"));
        let picture = image::open(folder.path().join("crowd.png"))
            .unwrap()
            .into_rgba8();
        assert_eq!(picture.dimensions(), (200, 100));
        picture.into_raw()
    };
    let first = picture("--width 200 --height 100 --threads 2");
    // Clothes have more colour than sky and ground.
    let dyed =
        |pixel: &&[u8]| pixel[..3].iter().max().unwrap() - pixel[..3].iter().min().unwrap() > 40;
    let walkers = first.chunks(4).filter(dyed).count();
    assert!(
        (150..5_000).contains(&walkers),
        "{walkers} pixels show walkers"
    );
    let later = picture("--width 200 --height 100 --time 0.4");
    let moved = first
        .chunks(4)
        .zip(later.chunks(4))
        .filter(|(a, b)| a != b)
        .count();
    assert!(
        (300..5_000).contains(&moved),
        "{moved} pixels change as they walk"
    );
    skinbench(&folder, "render smoke -o missing/crowd.png")
        .assert()
        .code(1);
    assert_eq!(files(&folder), ["crowd.png"]);
}

/// A file in which two primitives share five vertices, of which triangles use three.
#[test]
fn undrawn_vertices_are_left_out_with_a_note_or_kept_on_request() {
    let folder = empty_folder();
    let mut fixture = Fixture::new();
    let positions = fixture.floats("VEC3", &[0.0, 1.0, 0.5].repeat(5));
    let joints = fixture.accessor(UNSIGNED_BYTE, "VEC4", 5, &[0; 20]);
    let weights = fixture.floats("VEC4", &[1.0, 0.0, 0.0, 0.0].repeat(5));
    let primitive = serde_json::json!({
        "attributes": {"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights},
        "indices": INDICES,
    });
    fixture.set("/meshes/0/primitives", vec![primitive; 2].into());
    fixture.write(folder.path());
    let said = |arguments: &str| {
        let output = ran(skinbench(&folder, arguments));
        assert_eq!(output.code, Some(0), "{output:?}");
        output.text + &output.notes
    };
    let verified = said("verify fixture.gltf -b cpu-scalar --attributes p --epsilon 1");
    for note in [
        "note: fixture: 1 primitives share the vertices of others, which are skinned once\n",
        "note: fixture: left out 2 vertices that no triangle uses\n",
    ] {
        assert!(verified.contains(note), "{verified}");
    }
    let vertices = |arguments: &str| {
        let text = said(&format!("inspect --json {arguments}"));
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["vertices"].as_u64().unwrap()
    };
    assert_eq!(vertices("fixture.gltf"), 3);
    assert_eq!(vertices("fixture.gltf --keep-vertices"), 10);
    said("convert fixture.gltf drawn.glb");
    said("convert fixture.gltf all.glb --keep-vertices");
    assert_eq!(vertices("drawn.glb --keep-vertices"), 3);
    assert_eq!(vertices("all.glb --keep-vertices"), 10);
    assert_eq!(
        said("dump fixture.gltf").lines().count(),
        11,
        "all, and a header"
    );
    let kept = said("verify fixture.gltf -b cpu-scalar --attributes p --epsilon 1 --keep-vertices");
    assert!(
        !kept.contains("share") && !kept.contains("left out"),
        "{kept}"
    );
}

#[test]
fn errors_do_not_repeat_long_texts_of_files() {
    let folder = empty_folder();
    let long = "x".repeat(1 << 20);
    std::fs::write(
        folder.path().join("a.toml"),
        format!("[[group]]\nmodel = \"walker\"\nclip = \"{long}\"\n"),
    )
    .unwrap();
    std::fs::write(folder.path().join("b.toml"), format!("{long} = 1\n")).unwrap();
    std::fs::write(
        folder.path().join("c.gltf"),
        format!("{{\"asset\": \"{long}\"}}"),
    )
    .unwrap();
    for command in ["verify a.toml", "verify b.toml", "inspect c.gltf"] {
        let output = ran(skinbench(&folder, command));
        assert_ne!(output.code, Some(0));
        assert!(output.notes.starts_with("error: "), "{command}");
        assert!(
            output.notes.len() < 8_000,
            "{command}: {}",
            output.notes.len()
        );
    }
    let mut fixture = Fixture::new();
    for named in ["/nodes/0/name", "/animations/0/name", "/skins/0/name"] {
        fixture.set(named, long.as_str().into());
    }
    fixture.write(folder.path());
    let output = ran(skinbench(&folder, "inspect fixture.gltf"));
    assert_eq!(output.code, Some(0), "{}", output.notes);
    assert!(output.text.len() < 8_000, "{}", output.text.len());
}

/// Names of OgreXML files have two endings, of which scenes keep one and models none.
#[test]
fn notes_about_the_one_model_of_a_scene_name_it_once() {
    let folder = empty_folder();
    let sprout = Sprout::new();
    let mesh = sprout
        .mesh_xml()
        .replacen("<submeshes>", "stray <submeshes>", 1);
    std::fs::write(folder.path().join("fish.mesh.xml"), mesh).unwrap();
    std::fs::write(
        folder.path().join("sprout.skeleton.xml"),
        sprout.skeleton_xml(),
    )
    .unwrap();
    let verify = "verify fish.mesh.xml -b cpu-scalar --instances 2";
    let told = ran(skinbench(&folder, verify)).notes;
    let note = "note: fish.mesh: left out parts that are not read: text between elements\n";
    assert!(told.contains(note), "{told}");
}

/// A rigid primitive has no vertices of its own in `dump`, which says so.
#[test]
fn dump_says_what_it_leaves_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut fixture = Fixture::new();
    let rigid = json!({"primitives": [{"attributes": {"POSITION": POSITION}, "indices": INDICES}]});
    fixture.push("meshes", rigid);
    fixture.push("nodes", json!({"name": "hat", "mesh": 1}));
    fixture.set("/nodes/1/children", json!([3]));
    fixture.write(folder.path());
    let dumped = succeed(&folder, "dump fixture.gltf");
    assert_eq!(dumped.text.lines().count(), 1 + 3, "{}", dumped.text);
    assert_eq!(
        dumped.notes,
        "note: fixture: left out 1 rigid primitive, which joints move as a whole\n"
    );
}
