//! Result files that are good, cut off, doubled, of other schemas, of other machines.

use super::{ROWS, changed, fixture, read, unchanged};
use flate2::Compression;
use flate2::write::GzEncoder;
use skinbench::registry::REGISTRY;
use skinbench::report::{chart, html};
use skinbench::results::Recorded;
use skinbench::results::Study;
use std::fs;
use std::io::Write;
use std::path::Path;

/// A text with a field of a line replaced, whatever that makes of the file; line 1 is the heading.
fn with_raw_field(text: &str, line: usize, column: &str, value: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(Into::into).collect();
    let at = lines[0].split(',').position(|name| name == column).unwrap();
    let mut fields: Vec<&str> = lines[line - 1].split(',').collect();
    fields[at] = value;
    lines[line - 1] = fields.join(",");
    lines.join("\n") + "\n"
}

#[test]
fn good_results_are_read_without_a_word() {
    let recorded = Recorded::read(&[fixture()]).unwrap();
    assert_eq!(
        (recorded.rows.len(), &recorded.problems[..]),
        (ROWS, &[][..])
    );
    assert!(
        recorded
            .rows
            .iter()
            .filter(|m| m.is_ok())
            .all(|m| m.samples.len() == 5)
    );
    let study = Study::new(recorded);
    assert_eq!(
        (
            study.points.len(),
            study.backends.len(),
            study.problems.len()
        ),
        (9, 4, 0)
    );
}

#[test]
fn columns_that_retired_are_ignored() {
    let older = |text: String| {
        let mut lines = text.lines();
        let heading = lines.next().unwrap();
        let mut with_more = format!("{heading},energy_uj,cycles\n");
        for line in lines {
            with_more += &format!("{line},5000,7e9\n");
        }
        with_more
    };
    let recorded = read(&changed(older, unchanged));
    assert_eq!(recorded.problems, []);
    let expected = Recorded::read(&[fixture()]).unwrap();
    assert_eq!(recorded.rows, expected.rows);
}

/// Rows are in the order in which backends finished.
#[test]
fn backends_are_in_the_registrys_order_and_peers_behind_them() {
    let results =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("results/2026-11-26-epyc-peers/kernel");
    let study = Study::new(Recorded::read(&[results]).unwrap());
    let ours = [
        "cpu-scalar",
        "cpu-simd",
        "cpu-simd:columns",
        "cpu-simd:cluster",
        "cpu-rayon",
    ];
    let (known, others) = study.backends.split_at(ours.len());
    assert_eq!(known, ours);
    assert!(
        others
            .iter()
            .all(|other| REGISTRY.iter().all(|backend| backend.name != other)),
        "{others:?}"
    );
    let at_point: Vec<&str> = study
        .at(&study.points[0])
        .map(|entry| &entry.backend[..])
        .collect();
    assert_eq!(at_point[..ours.len()], ours);
}

#[test]
fn what_is_wrong_in_a_summary_is_named_and_the_rest_is_used() {
    // Name, change, rows that are left, and what is said.
    type Case<'a> = (&'a str, &'a dyn Fn(String) -> String, usize, &'a str);
    let cases: [Case; 13] = [
        (
            "cut",
            &|text| text[..text.len() - 9].into(),
            ROWS - 1,
            "summary.csv:214: the last line is cut off: left out",
        ),
        (
            "short line",
            &|text| text.replacen("\n2,2026", "\n2,20\n2,2026", 1),
            ROWS,
            "summary.csv:2: 2 fields; expected 58",
        ),
        (
            "quotation mark",
            &|text| with_raw_field(&text, 212, "variant", "\"naive"),
            ROWS - 3,
            "summary.csv:212: an unmatched quotation mark: left out up to line 214",
        ),
        (
            "closed later",
            &|text| {
                with_raw_field(
                    &with_raw_field(&text, 3, "variant", "\"naive"),
                    5,
                    "variant",
                    "naive\"",
                )
            },
            ROWS - 3,
            "summary.csv:3: an unmatched quotation mark: left out up to line 5",
        ),
        (
            "stage",
            &|text| with_raw_field(&text, 3, "stage", "zzz"),
            ROWS - 1,
            "summary.csv:3: unknown stage \"zzz\"; expected cull, update, sample, blend,",
        ),
        (
            "clock",
            &|text| with_raw_field(&text, 3, "clock", "wal"),
            ROWS - 1,
            "unknown clock \"wal\"; did you mean \"wall\"?",
        ),
        (
            "NaN",
            &|text| with_raw_field(&text, 3, "median_ns", "NaN"),
            ROWS - 1,
            "summary.csv:3: median_ns: \"NaN\"",
        ),
        (
            "other NaN",
            &|text| with_raw_field(&text, 3, "p95_ns", "NaN"),
            ROWS,
            "summary.csv:3: p95_ns: \"NaN\"",
        ),
        (
            "NaN parity",
            &|text| with_raw_field(&text, 3, "parity_max_rel", "NaN"),
            ROWS - 1,
            "status ok, but parity_max_rel is NaN",
        ),
        (
            "older",
            &|text| text.replace("\n2,2026", "\n1,2026"),
            ROWS,
            "older schema 1",
        ),
        (
            "newer",
            &|text| with_raw_field(&text, 3, "schema", "4"),
            ROWS - 1,
            "summary.csv:3: schema 4; this skinbench reads up to 3",
        ),
        (
            "twice",
            &|text| text.clone() + text.lines().nth(1).unwrap() + "\n",
            ROWS,
            "summary.csv:215: the same as line 2",
        ),
        (
            "contradiction",
            &|text| {
                with_raw_field(
                    &(text.clone() + text.lines().nth(1).unwrap() + "\n"),
                    215,
                    "median_ns",
                    "1",
                )
            },
            ROWS,
            "summary.csv:215: measures the same as line 2 of the same run: left out",
        ),
    ];
    for (name, change, rows, problem) in cases {
        let recorded = read(&changed(change, unchanged));
        assert_eq!(recorded.rows.len(), rows, "{name}");
        let problems: Vec<String> = recorded.problems.iter().map(ToString::to_string).collect();
        assert!(
            problems.iter().any(|known| known.contains(problem)),
            "{name}: {problems:?}"
        );
    }
}

#[test]
fn columns_that_only_describe_may_be_missing() {
    let without = |text: String, column: &str| {
        let at = text
            .lines()
            .next()
            .unwrap()
            .split(',')
            .position(|name| name == column)
            .unwrap();
        let cut = |line: &str| {
            let fields = line
                .split(',')
                .enumerate()
                .filter(|(i, _)| *i != at)
                .map(|(_, field)| field);
            fields.collect::<Vec<_>>().join(",") + "\n"
        };
        text.lines().map(cut).collect::<String>()
    };
    for column in ["rustc", "utc", "influences", "clip_error"] {
        assert_eq!(
            read(&changed(|text| without(text, column), unchanged))
                .rows
                .len(),
            ROWS,
            "{column}"
        );
    }
    let folder = changed(
        |text| without(without(text, "scene_hash"), "stage"),
        unchanged,
    );
    let error = Recorded::read(&[folder.path()]).unwrap_err().to_string();
    assert!(
        error.contains("no column scene_hash, stage: the file is not used"),
        "{error}"
    );
}

#[test]
fn samples_that_cannot_be_trusted_are_not_used() {
    let used = |samples: &dyn Fn(String) -> String| {
        let recorded = read(&changed(unchanged, samples));
        let with = recorded
            .rows
            .iter()
            .filter(|m| !m.samples.is_empty())
            .count();
        (
            with,
            recorded
                .problems
                .first()
                .map_or(String::new(), ToString::to_string),
        )
    };
    let all = ROWS - 3; // the skipped ones have none
    let (with, problem) = used(&|text| text[..text.len() - 4].into());
    assert!(
        with == all - 1 && problem.contains("the last line is cut off"),
        "{with} {problem}"
    );
    let (with, problem) = used(&|text| text.clone() + text.lines().nth(1).unwrap() + "\n");
    assert!(
        with == all && problem.contains("twice: counted once"),
        "{with} {problem}"
    );
    let (with, problem) = used(&|text| text.replacen(",wall,0,", ",wall,0,x", 1));
    assert!(
        with == all - 1 && problem.contains("samples.csv:2: ns: \"x"),
        "{with} {problem}"
    );

    let folder = changed(unchanged, unchanged);
    let samples = folder.path().join("samples.csv");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&fs::read(&samples).unwrap()).unwrap();
    let packed = packed.finish().unwrap();
    fs::remove_file(&samples).unwrap();
    fs::write(samples.with_extension("csv.gz"), &packed).unwrap();
    assert_eq!(
        read(&folder).rows,
        Recorded::read(&[fixture()]).unwrap().rows
    );
    fs::write(
        samples.with_extension("csv.gz"),
        &packed[..packed.len() / 2],
    )
    .unwrap();
    let error = Recorded::read(&[folder.path()]).unwrap_err().to_string();
    assert!(error.contains("samples.csv.gz"), "{error}");
    fs::remove_file(samples.with_extension("csv.gz")).unwrap();
    let recorded = read(&folder);
    assert!(
        recorded.problems[0]
            .to_string()
            .contains("samples.csv: missing: medians only")
    );
    assert!(!chart::charts(&Study::new(recorded)).is_empty());
}

#[test]
fn folders_without_results_and_mixed_hosts_are_named() {
    let empty = tempfile::tempdir().unwrap();
    let error = Recorded::read(&[empty.path()]).unwrap_err().to_string();
    assert!(
        error.contains("no summary.csv in it; expected a folder that"),
        "{error}"
    );
    fs::write(empty.path().join("summary.csv"), "").unwrap();
    let error = Recorded::read(&[empty.path()]).unwrap_err().to_string();
    assert!(error.contains("empty file"), "{error}");
    let error = Recorded::read(&[empty.path().join("none")])
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot read: "), "{error}");

    let folder = changed(
        |text| with_raw_field(&text, 3, "cpu", "Another CPU"),
        unchanged,
    );
    let study = Study::new(read(&folder));
    assert_eq!(study.rows.len(), ROWS - 1);
    assert!(
        study
            .problems
            .iter()
            .any(|p| p.contains("1 row of another machine left out: Another CPU")),
        "{study:?}"
    );

    // A page has both.
    let studies = Study::of_each_machine(read(&folder));
    assert_eq!(
        studies
            .iter()
            .map(|study| study.rows.len())
            .collect::<Vec<_>>(),
        [ROWS - 1, 1]
    );
    let page = html::page(&studies);
    assert!(page.contains("Another machine: Another CPU") && page.contains("id=\"machine-2-raw\""));
}

#[test]
fn shards_and_copies_are_merged() {
    let all = tempfile::tempdir().unwrap();
    for (part, keep) in [
        ("a", ",0,,"),
        ("b", ",1,,"),
        ("c", ",2,,"),
        ("again", ",2,,"),
    ] {
        let folder = all.path().join(part);
        fs::create_dir(&folder).unwrap();
        let text = fs::read_to_string(fixture().join("summary.csv")).unwrap();
        let (heading, rows) = text.split_once('\n').unwrap();
        let rows: String = rows
            .lines()
            .filter(|row| row.contains(&format!("pn,{keep}")))
            .map(|r| format!("{r}\n"))
            .collect();
        fs::write(folder.join("summary.csv"), format!("{heading}\n{rows}")).unwrap();
        fs::copy(fixture().join("samples.csv"), folder.join("samples.csv")).unwrap();
    }
    let recorded = read(&all);
    assert_eq!(recorded.rows.len(), ROWS);
    assert!(
        recorded
            .problems
            .iter()
            .all(|p| p.what.contains("another file, too: counted once")),
        "{:?}",
        recorded.problems
    );
}
