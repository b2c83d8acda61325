//! Result files that are good, damaged, doubled, of other schemas, of other machines.

use super::{ROWS, changed, fixture, read, unchanged};
use flate2::Compression;
use flate2::write::GzEncoder;
use skinbench::registry::REGISTRY;
use skinbench::report::{chart, html};
use skinbench::results::{Recorded, Row, Study};
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

/// The reason why changed results are refused.
fn refusal(summary: impl Fn(String) -> String, samples: impl Fn(String) -> String) -> String {
    let folder = changed(summary, samples);
    Recorded::read(&[folder.path()]).unwrap_err().to_string()
}

#[test]
fn good_results_are_read_without_a_word() {
    let recorded = Recorded::read(&[fixture()]).unwrap();
    assert_eq!((recorded.rows.len(), &recorded.notes[..]), (ROWS, &[][..]));
    let mut measured = recorded.rows.iter().filter(|row| row.is_ok());
    assert!(measured.all(|row| row.samples.len() == 5));
    let study = Study::new(recorded);
    assert_eq!(
        (study.points.len(), study.backends.len(), study.notes.len()),
        (9, 4, 0)
    );
}

/// Names of schemas 1 and 2 that are others in schema 3; parts of memory got an ending.
const RENAMED: [(&str, &str); 3] = [
    ("bytes", "moved_bytes"),
    ("limit", "limit_bytes_per_s"),
    ("clip_error", "clip_error_rel"),
];

/// The fixed results, which are of schema 2, as another schema has them.
#[test]
fn files_of_all_schemas_have_the_same_values() {
    let new_names = |text: String| {
        let (heading, rows) = text.split_once('\n').unwrap();
        let mut names = Vec::new();
        for name in heading.split(',') {
            let renamed = RENAMED.iter().find(|(old, _)| *old == name);
            let is_part = name.starts_with("host_") || name.starts_with("device_");
            names.push(match renamed {
                Some((_, new)) => (*new).to_owned(),
                None if is_part && !name.ends_with("_bytes") => format!("{name}_bytes"),
                None => name.to_owned(),
            });
        }
        let rows = format!("\n{rows}").replace("\n2,2026", "\n3,2026");
        names.join(",") + &rows
    };
    let expected = Recorded::read(&[fixture()]).unwrap();
    let is_full = |row: &Row| {
        row.moved_bytes.is_some()
            && row.limit_bytes_per_s.is_some()
            && row.host_mesh_bytes.is_none()
    };
    assert!(expected.rows.iter().any(is_full));
    assert!(
        expected
            .rows
            .iter()
            .any(|row| row.device_staging_bytes.is_some())
    );
    let mut newer = read(&changed(new_names, unchanged));
    assert!(newer.notes.is_empty() && newer.rows.iter().all(|row| row.schema == 3));
    newer.rows.iter_mut().for_each(|row| row.schema = 2);
    assert_eq!(newer.rows, expected.rows);

    // Columns that retired, and two that the fixed results lack.
    let first = |text: String| {
        let mut lines = text.lines();
        let mut with_more = lines.next().unwrap().to_owned() + ",energy_uj,device,lod_error\n";
        for line in lines {
            let line = line.replacen("2,2026", "1,2026", 1);
            with_more += &format!("{line},5000,avx2,0.25\n");
        }
        with_more
    };
    let mut older = read(&changed(first, unchanged));
    assert_eq!(older.notes.len(), 1, "{:?}", older.notes);
    assert!(older.notes[0].ends_with("summary.csv: schema 1; columns that it lacks are empty"));
    for row in &mut older.rows {
        assert_eq!((row.schema, row.ran_on.take()), (1, Some("avx2".into())));
        assert_eq!(row.lod_error_rel.take(), Some(0.25));
        row.schema = 2;
    }
    assert_eq!(older.rows, expected.rows);
}

/// All results in the repository, of every schema there was.
#[test]
fn old_results_are_read() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let recorded = Recorded::read(&[results]).unwrap();
    let mut schemas: Vec<u32> = recorded.rows.iter().map(|row| row.schema).collect();
    schemas.sort_unstable();
    schemas.dedup();
    assert_eq!(schemas[..2], [1, 2]);
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
fn a_damaged_summary_is_refused_with_line_and_column() {
    let field = |line, column: &'static str, value: &'static str| {
        move |text: String| with_raw_field(&text, line, column, value)
    };
    let twice = |text: String| text.clone() + text.lines().nth(1).unwrap() + "\n";
    type Case<'a> = (&'a dyn Fn(String) -> String, &'a str);
    let cases: [Case; 12] = [
        (
            &|text| text[..text.len() - 9].into(),
            ":214: the last line is cut off",
        ),
        (
            &|text| text.replacen("\n2,2026", "\n2,20\n2,2026", 1),
            ":2: 2 fields; expected 58 (or a quotation mark is missing)",
        ),
        (
            &field(212, "variant", "\"naive"),
            ":212: 23 fields; expected 58 (or a quotation mark is missing)",
        ),
        (
            &|text| {
                let text = with_raw_field(&text, 3, "variant", "\"naive");
                with_raw_field(&text, 5, "variant", "naive\"")
            },
            ":3: variant: an end of line in it (or a quotation mark is missing)",
        ),
        (
            &field(3, "stage", "zzz"),
            ":3: unknown stage \"zzz\"; expected ",
        ),
        (&field(3, "clock", "wal"), ":3: unknown clock \"wal\"; "),
        (&field(3, "median_ns", "NaN"), ":3: median_ns: \"NaN\" ("),
        (&field(3, "p95_ns", "NaN"), ":3: p95_ns: \"NaN\" ("),
        (
            &field(3, "parity_max_rel", "NaN"),
            ":3: status ok, but parity_max_rel is NaN",
        ),
        (
            &field(3, "schema", "4"),
            ":3: schema 4; this skinbench reads up to 3",
        ),
        (
            &twice,
            ":215: an earlier row of the same run measures the same; expected one",
        ),
        (
            &|text| with_raw_field(&twice(text), 215, "median_ns", "1"),
            ":215: an earlier row of the same run measures the same; expected one",
        ),
    ];
    for (change, expected) in cases {
        let told = refusal(change, unchanged);
        assert!(
            told.contains(&format!("summary.csv{expected}")),
            "{told}\nnot {expected}"
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
    let told = refusal(
        |text| without(without(text, "scene_hash"), "stage"),
        unchanged,
    );
    assert!(
        told.ends_with("summary.csv:1: no column scene_hash, stage"),
        "{told}"
    );
    let told = refusal(|text| text.replace(',', ";"), unchanged);
    assert!(
        told.ends_with("; expected commas between columns, not semicolons"),
        "{told}"
    );
}

#[test]
fn samples_that_cannot_be_trusted_are_refused() {
    type Case<'a> = (&'a dyn Fn(String) -> String, &'a str);
    let cases: [Case; 4] = [
        (
            &|text| text[..text.len() - 4].into(),
            "samples.csv:1051: the last line is cut off",
        ),
        (
            &|text| text.clone() + text.lines().nth(1).unwrap() + "\n",
            "summary.csv:2: samples.csv beside it has a frame of this row twice",
        ),
        (
            &|text| text.replacen(",wall,0,", ",wall,0,x", 1),
            "samples.csv:2: ns: \"x",
        ),
        (
            &|text| {
                text.lines()
                    .take(3)
                    .map(|line| format!("{line}\n"))
                    .collect()
            },
            "summary.csv:2: samples.csv beside it has 2 samples of this row; expected 5",
        ),
    ];
    for (change, expected) in cases {
        let told = refusal(unchanged, change);
        assert!(told.contains(expected), "{told}\nnot {expected}");
    }

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
    assert!(recorded.notes[0].contains("samples.csv missing: medians only"));
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
    assert!(error.contains("none: no such file or folder"), "{error}");

    let folder = changed(
        |text| with_raw_field(&text, 3, "cpu", "Another CPU"),
        unchanged,
    );
    let study = Study::new(read(&folder));
    assert_eq!(study.rows().count(), ROWS - 1);
    assert!(
        study.notes[0].contains("1 row of another machine left out: Another CPU"),
        "{:?}",
        study.notes
    );
}

/// A column for each machine.
#[test]
fn machines_stand_side_by_side_in_one_table() {
    let run = |text: String| text.replace("-7-", "-8-");
    let other = changed(|text| run(text).replace("Test CPU", "Another CPU"), run);
    let recorded = Recorded::read(&[fixture().as_path(), other.path()]).unwrap();
    let studies = Study::of_each_machine(recorded);
    let rows = studies.iter().map(|study| study.rows().count());
    assert_eq!(rows.collect::<Vec<_>>(), [ROWS, ROWS]);
    let page = html::page(&studies);
    let (_, section) = page.split_once("<section class=\"machines\">").unwrap();
    let table = section.split("</table>").next().unwrap();
    assert!(
        table.contains("Test CPU") && table.contains("Another CPU"),
        "{table}"
    );
    let row = table.split("<tr>").find(|row| row.contains(">cpu-scalar<"));
    assert_eq!(row.unwrap().matches("60.1 ms").count(), 2, "{table}");
    assert!(page.contains("id=\"machine-2-parity\""));
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
    let copies = "81 rows in several files: counted once".to_owned();
    assert!(recorded.notes.contains(&copies), "{:?}", recorded.notes);
}
