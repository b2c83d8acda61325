//! From result files to answers: reading, comparing, reporting, sweeping.

use skinbench::report::compare::{Verdict, compare};
use skinbench::report::csv::SummaryRow;
use skinbench::report::recorded::Recorded;
use skinbench::report::study::Study;
use skinbench::report::{chart, html, markdown};
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
    for (name, change) in
        [("summary.csv", &summary as &dyn Fn(String) -> String), ("samples.csv", &samples as &dyn Fn(String) -> String)]
    {
        fs::write(folder.path().join(name), change(fs::read_to_string(fixture().join(name)).unwrap())).unwrap();
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

const ROWS: usize = 213;

#[test]
fn good_results_are_read_without_a_word() {
    let recorded = Recorded::read(&[fixture()]).unwrap();
    assert_eq!((recorded.measurements.len(), &recorded.problems[..]), (ROWS, &[][..]));
    assert!(recorded.measurements.iter().filter(|m| m.is_ok()).all(|m| m.samples.len() == 5));
    let study = Study::new(recorded);
    assert_eq!((study.points().len(), study.backends().len(), study.problems.len()), (9, 4, 0));
}

#[test]
fn what_is_wrong_in_a_summary_is_named_and_the_rest_is_used() {
    // Name, change, rows that are left, and what is said.
    type Case<'a> = (&'a str, &'a dyn Fn(String) -> String, usize, &'a str);
    let cases: [Case; 9] = [
        ("cut", &|text| text[..text.len() - 9].into(), ROWS - 1, "summary.csv:214: the last line is cut off: left out"),
        (
            "short line",
            &|text| text.replacen("\n1,2026", "\n1,20\n1,2026", 1),
            ROWS,
            "summary.csv:2: 2 fields; expected 41",
        ),
        ("NaN", &|text| with_field(&text, 3, "median_ns", "NaN"), ROWS - 1, "summary.csv:3: median_ns: \"NaN\""),
        ("other NaN", &|text| with_field(&text, 3, "p95_ns", "NaN"), ROWS, "summary.csv:3: p95_ns: \"NaN\""),
        (
            "NaN parity",
            &|text| with_field(&text, 3, "parity_max_rel", "NaN"),
            ROWS - 1,
            "status ok, but parity_max_rel is NaN",
        ),
        ("older", &|text| text.replace("\n1,2026", "\n0,2026"), ROWS, "older schema 0"),
        (
            "newer",
            &|text| with_field(&text, 3, "schema", "2"),
            ROWS - 1,
            "summary.csv:3: schema 2; this skinbench reads up to 1",
        ),
        (
            "twice",
            &|text| text.clone() + text.lines().nth(1).unwrap() + "\n",
            ROWS,
            "summary.csv:215: the same as line 2",
        ),
        (
            "contradiction",
            &|text| with_field(&(text.clone() + text.lines().nth(1).unwrap() + "\n"), 215, "median_ns", "1"),
            ROWS,
            "summary.csv:215: measures the same as line 2 of the same run: left out",
        ),
    ];
    for (name, change, rows, problem) in cases {
        let recorded = read(&changed(change, unchanged));
        assert_eq!(recorded.measurements.len(), rows, "{name}");
        let said: Vec<String> = recorded.problems.iter().map(ToString::to_string).collect();
        assert!(said.iter().any(|said| said.contains(problem)), "{name}: {said:?}");
    }
}

#[test]
fn columns_that_only_describe_may_be_missing() {
    let without = |text: String, column: &str| {
        let at = text.lines().next().unwrap().split(',').position(|name| name == column).unwrap();
        let cut = |line: &str| {
            let fields = line.split(',').enumerate().filter(|(i, _)| *i != at).map(|(_, field)| field);
            fields.collect::<Vec<_>>().join(",") + "\n"
        };
        text.lines().map(cut).collect::<String>()
    };
    for column in ["rustc", "utc", "influences", "clip_error"] {
        assert_eq!(read(&changed(|text| without(text, column), unchanged)).measurements.len(), ROWS, "{column}");
    }
    let folder = changed(|text| without(without(text, "scene_hash"), "stage"), unchanged);
    let error = Recorded::read(&[folder.path()]).unwrap_err().to_string();
    assert!(error.contains("no column scene_hash, stage: nothing of it can be used"), "{error}");
}

#[test]
fn samples_that_cannot_be_trusted_are_not_used() {
    let used = |samples: &dyn Fn(String) -> String| {
        let recorded = read(&changed(unchanged, samples));
        let with = recorded.measurements.iter().filter(|m| !m.samples.is_empty()).count();
        (with, recorded.problems.first().map_or(String::new(), ToString::to_string))
    };
    let all = ROWS - 3; // the skipped ones have none
    let (with, problem) = used(&|text| text[..text.len() - 4].into());
    assert!(with == all - 1 && problem.contains("the last line is cut off"), "{with} {problem}");
    let (with, problem) = used(&|text| text.clone() + text.lines().nth(1).unwrap() + "\n");
    assert!(with == all && problem.contains("twice: counted once"), "{with} {problem}");
    let (with, problem) = used(&|text| text.replacen(",wall,0,", ",wall,0,x", 1));
    assert!(with == all - 1 && problem.contains("samples.csv:2: ns: \"x"), "{with} {problem}");

    let folder = changed(unchanged, unchanged);
    fs::remove_file(folder.path().join("samples.csv")).unwrap();
    let recorded = read(&folder);
    assert!(recorded.problems[0].to_string().contains("samples.csv: missing: medians only"));
    assert!(!chart::charts(&Study::new(recorded)).is_empty());
}

#[test]
fn folders_without_results_and_mixed_hosts_are_named() {
    let empty = tempfile::tempdir().unwrap();
    let error = Recorded::read(&[empty.path()]).unwrap_err().to_string();
    assert!(error.contains("no summary.csv in it; expected a folder that"), "{error}");
    fs::write(empty.path().join("summary.csv"), "").unwrap();
    let error = Recorded::read(&[empty.path()]).unwrap_err().to_string();
    assert!(error.contains("empty file"), "{error}");
    let error = Recorded::read(&[empty.path().join("none")]).unwrap_err().to_string();
    assert!(error.contains("cannot read: "), "{error}");

    let folder = changed(|text| with_field(&text, 3, "cpu", "Another CPU"), unchanged);
    let study = Study::new(read(&folder));
    assert_eq!(study.rows.len(), ROWS - 1);
    assert!(study.problems.iter().any(|p| p.contains("1 rows of another machine left out: Another CPU")), "{study:?}");
}

#[test]
fn shards_and_copies_are_merged() {
    let all = tempfile::tempdir().unwrap();
    for (part, keep) in [("a", ",0,,"), ("b", ",1,,"), ("c", ",2,,"), ("again", ",2,,")] {
        let folder = all.path().join(part);
        fs::create_dir(&folder).unwrap();
        let text = fs::read_to_string(fixture().join("summary.csv")).unwrap();
        let (heading, rows) = text.split_once('\n').unwrap();
        let rows: String =
            rows.lines().filter(|row| row.contains(&format!("pn,{keep}"))).map(|r| format!("{r}\n")).collect();
        fs::write(folder.join("summary.csv"), format!("{heading}\n{rows}")).unwrap();
        fs::copy(fixture().join("samples.csv"), folder.join("samples.csv")).unwrap();
    }
    let recorded = read(&all);
    assert_eq!(recorded.measurements.len(), ROWS);
    assert!(
        recorded.problems.iter().all(|p| p.what.contains("another file, too: counted once")),
        "{:?}",
        recorded.problems
    );
}

#[test]
fn a_set_against_itself_has_not_changed() {
    let recorded = Recorded::read(&[fixture()]).unwrap();
    let comparison = compare(&recorded, &recorded);
    assert_eq!(comparison.compared(), ROWS - 3);
    assert!(comparison.rows.iter().all(|row| !matches!(row.verdict, Verdict::Slower | Verdict::Faster)));
    assert!(comparison.beyond(0.0).is_empty());
}

/// Samples of one stage of one backend times a factor.
fn scaled(text: String, part: &str, factor: f64) -> String {
    let scale = |line: &str| match line.contains(part) {
        true => {
            let (rest, ns) = line.rsplit_once(',').unwrap();
            format!("{rest},{:.0}\n", ns.parse::<f64>().unwrap() * factor)
        }
        false => format!("{line}\n"),
    };
    text.lines().map(scale).collect()
}

#[test]
fn only_what_changed_is_found_and_only_certain_changes_fail() {
    let base = Recorded::read(&[fixture()]).unwrap();
    let slower = changed(unchanged, |text| scaled(text, "cpu-rayon,,skin", 1.2));
    let comparison = compare(&base, &read(&slower));
    let found: Vec<_> = comparison.rows.iter().filter(|row| row.verdict == Verdict::Slower).collect();
    assert_eq!(found.len(), 9, "{}", comparison.to_text(false));
    assert!(found.iter().all(|row| row.name.ends_with("cpu-rayon skin")));
    assert!(!comparison.rows.iter().any(|row| row.verdict == Verdict::Faster));
    assert_eq!(comparison.rows[..9].iter().filter(|r| r.verdict == Verdict::Slower).count(), 9, "largest first");

    let (base, new) = (fixture().display().to_string(), slower.path().display().to_string());
    let exit = |arguments: &str| skinbench(slower.path(), arguments).output().unwrap().status.code();
    assert_eq!(exit(&format!("compare {base} {new} --fail-above 5%")), Some(4));
    assert_eq!(exit(&format!("compare {base} {new} --fail-above 19%")), Some(0), "the interval reaches below");
    assert_eq!(exit(&format!("compare {base} {new}")), Some(0));
    assert_eq!(exit(&format!("compare {new} {base} --fail-above 5%")), Some(0), "faster is no failure");
    assert_eq!(exit(&format!("compare {base} {new} --fail-above much")), Some(2));
}

#[test]
fn scenes_that_differ_are_not_compared_and_machines_are_warned_of() {
    let base = Recorded::read(&[fixture()]).unwrap();
    let other = changed(|text| text.replace("walkers,000", "walkers,fff"), unchanged);
    let comparison = compare(&base, &read(&other));
    assert_eq!(comparison.compared(), 0);
    assert!(comparison.to_text(true).contains("not comparable: the scene is another one"));
    let output = skinbench(other.path(), &format!("compare {} .", fixture().display())).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("error: nothing can be compared: the scene is another one (its hash differs)"), "{said}");

    let machine = changed(|text| text.replace("Test GPU", "Other GPU").replace(",8,", ",4,"), unchanged);
    let comparison = compare(&base, &read(&machine));
    assert_eq!(comparison.compared(), ROWS - 3);
    assert!(comparison.warnings.iter().any(|w| w.contains("the machines differ") && w.contains("Other GPU")));
    assert!(comparison.warnings.iter().any(|w| w.contains("numbers of threads differ")));
}

#[test]
fn answers_are_those_of_the_figures() {
    let study = Study::new(Recorded::read(&[fixture()]).unwrap());
    let report = markdown::report(&study);
    for answer in [
        "1,000 walkers (nothing drawn): gpu-compute is fastest",
        "gpu-compute overtakes cpu-rayon at ",
        "1,000 walkers (1 pass): gpu-vertex is fastest",
        " fit a 60 Hz frame on gpu-compute (nothing drawn).",
        "% of this machine's bandwidth: gpu-compute",
        "| gpu-vertex | skipped |",
        "| cpu-scalar | 60.",
    ] {
        assert!(report.contains(answer), "{answer} in {report}");
    }
    // 100,000 + 12,000 N + 20,000 and 1,800,000 + 4,200 N nanoseconds are equal at 215; straight lines between
    // logarithms at 100 and 1,000 meet a little above.
    let at = report.split("overtakes cpu-rayon at ").nth(1).unwrap().split(' ').next().unwrap();
    let at: f64 = at.replace(',', "").parse().unwrap();
    assert!((190.0..260.0).contains(&at), "{at}");
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let page = html::page(&Study::new(Recorded::read(&[fixture()]).unwrap()));
    assert!(page.contains("Test CPU &lt;&amp;&gt;"), "what results say is escaped");
    assert!(!page.contains("src=") && !page.contains("@import") && !page.contains("url("));
    let outside: Vec<_> = page.match_indices("http").map(|(at, _)| &page[at..at + 26]).collect();
    assert!(outside.iter().all(|text| *text == "http://www.w3.org/2000/svg"), "{outside:?}");
    assert!(page.len() < 400_000, "{}", page.len());
    let study = Study::new(Recorded::read(&[fixture()]).unwrap());
    for chart in chart::charts(&study) {
        assert_eq!(chart.svg.matches("class=\"mark\"").count(), chart.marks, "{}", chart.id);
        assert!(chart.table.len() > 1 && chart.file().contains("prefers-color-scheme:dark"), "{}", chart.id);
    }
}

#[test]
fn pages_are_spliced_and_drift_is_found() {
    let folder = changed(unchanged, unchanged);
    let page = folder.path().join("page.md");
    let text =
        "# T\n<!-- table . -->\nold\n<!-- /table -->\nkept\n<!-- charts . frame-instances -->\n<!-- /charts -->\n";
    fs::write(&page, text).unwrap();
    let exit = |arguments: &str| skinbench(folder.path(), arguments).output().unwrap().status.code();
    assert_eq!(exit("report --splice page.md --check"), Some(1));
    assert_eq!(fs::read_to_string(&page).unwrap(), text, "checking writes nothing");
    fs::create_dir_all(folder.path().join("docs/images")).unwrap();
    assert_eq!(exit("report --splice page.md"), Some(0));
    let spliced = fs::read_to_string(&page).unwrap();
    assert!(
        spliced.contains("| cpu-rayon | ") && spliced.contains("\nkept\n") && !spliced.contains("old"),
        "{spliced}"
    );
    assert_eq!(spliced.matches("](docs/images/frame-instances-").count(), 3, "{spliced}");
    assert_eq!(exit("report --splice page.md --check"), Some(0));
    let picture = folder.path().join("docs/images/frame-instances-walkers-1-pass.svg");
    fs::write(&picture, "drifted").unwrap();
    assert_eq!(exit("report --splice page.md --check"), Some(1));
    for (text, problem) in [
        ("nothing", "page.md: no marker such as"),
        ("<!-- table -->", "line 1: a marker without its source"),
        ("<!-- table . -->", "line 1: no <!-- /table --> after this marker"),
        ("<!-- text none.md -->\n<!-- /text -->", "line 1: cannot read none.md"),
        ("<!-- charts . pie -->\n<!-- /charts -->", "line 1: no such chart; expected the start of stages-"),
    ] {
        fs::write(&page, text).unwrap();
        let output = skinbench(folder.path(), "report --splice page.md").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && said.contains(problem), "{text}: {said}");
        assert_eq!(fs::read_to_string(&page).unwrap(), text);
    }
}

#[test]
fn the_ending_or_the_format_decides_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| {
        let output = skinbench(folder.path(), &format!("report {} {arguments}", fixture().display())).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert!(run("").1.starts_with("<!DOCTYPE html>"));
    assert!(run("--format md").1.starts_with("# Skinning on Test CPU"));
    assert_eq!(run("-o out.md").0, Some(0));
    assert!(fs::read_to_string(folder.path().join("out.md")).unwrap().starts_with("# Skinning"));
    assert_eq!(run("--format svg -o charts").0, Some(0));
    assert_eq!(fs::read_dir(folder.path().join("charts")).unwrap().count(), 13);
    let (code, _, said) = run("--format svg");
    assert!(code == Some(2) && said.contains("name a folder with -o"), "{said}");
}

/// The pages of this repository say what its results say.
#[test]
fn the_repositorys_pages_have_not_drifted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    skinbench(root, "report --splice README.md --splice docs/report.md --check").assert().success();
}

fn summary(folder: &Path) -> Vec<SummaryRow> {
    csv::Reader::from_path(folder.join("summary.csv")).unwrap().deserialize().collect::<Result<_, _>>().unwrap()
}

const SWEEP: &str = "sweep smoke --instances 3,6,12 --passes 0 -b cpu-* --frames 5 -o out";

#[test]
fn a_sweep_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    skinbench(folder.path(), SWEEP).assert().success();
    let whole = summary(&out);
    let samples = fs::read_to_string(out.join("samples.csv")).unwrap();
    let frames = |rows: &[SummaryRow]| rows.iter().filter(|row| row.stage == "frame").count();
    let backends = frames(&whole) / 3;
    assert!(backends >= 2 && Recorded::read(&[&out]).unwrap().problems.is_empty());

    // Nothing is measured again.
    let again = skinbench(folder.path(), SWEEP).output().unwrap();
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(said.contains(&format!("note: {} measurements of an earlier sweep were kept", 3 * backends)), "{said}");
    assert_eq!(summary(&out), whole);

    // Killed in the middle of a row: what is whole stays, what is missing is measured.
    let text = fs::read_to_string(out.join("summary.csv")).unwrap();
    let half: String = text[..text.len() / 2].into();
    let last = half.rfind('\n').unwrap();
    fs::write(out.join("summary.csv"), &half).unwrap();
    fs::write(out.join("samples.csv"), &samples[..samples.len() * 2 / 3]).unwrap();
    skinbench(folder.path(), SWEEP).assert().success();
    let resumed = summary(&out);
    assert_eq!(frames(&resumed), 3 * backends);
    let kept: Vec<_> = whole.iter().filter(|row| resumed.contains(row)).collect();
    assert!(!kept.is_empty() && kept.len() < whole.len() && kept.len() <= half[..last].lines().count());
    let recorded = Recorded::read(&[&out]).unwrap();
    assert_eq!((recorded.problems.len(), recorded.measurements.len()), (0, whole.len()), "{:?}", recorded.problems);
}

#[test]
fn shards_make_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    for part in 1..=2 {
        let arguments = format!("sweep smoke --instances 3,6,12 --passes 0 -b cpu-scalar --frames 5 --shard {part}/2");
        skinbench(folder.path(), &format!("{arguments} -o out/{part}")).assert().success();
    }
    let study = Study::new(Recorded::read(&[folder.path().join("out")]).unwrap());
    assert_eq!((study.points().len(), study.problems.len()), (3, 0), "{:?}", study.problems);
}

#[test]
fn threads_frame_times_and_budgets_are_kept_to() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| {
        let output = skinbench(folder.path(), arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    run("sweep smoke --instances 3 --passes 0 --threads 1,2 -b cpu-rayon --frames 5 -o threads");
    let mut threads: Vec<_> = summary(&folder.path().join("threads")).iter().map(|row| row.threads).collect();
    threads.dedup();
    assert_eq!(threads, [1, 2]);

    let slow = "sweep smoke --instances 3,6,12 --passes 0 -b cpu-scalar --frames 5 --max-frame-time 1ns -o slow";
    let (_, said) = run(slow);
    assert!(said.contains("more than --max-frame-time: larger crowds left out"), "{said}");
    assert!(summary(&folder.path().join("slow")).iter().all(|row| row.instances == 3));

    let (said, _) = run("sweep smoke --instances 3 --passes 0 -b cpu-scalar --frames 5 --budget 200us -o budget");
    let answer = said.lines().find(|line| line.contains("cpu-scalar, passes 0: ")).unwrap_or_default();
    assert!(answer.contains("of smoke fit, ") || answer.contains("not even"), "{said}");
    let measured: Vec<_> = summary(&folder.path().join("budget")).iter().map(|row| row.instances).collect();
    assert!(measured.contains(&3) && measured.len() > 5, "{measured:?}");
}
