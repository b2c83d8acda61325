//! Comparison of two results: changes and noise.

use super::{ROWS, changed, fixture, read, unchanged};
use crate::program::{ran, skinbench, succeed};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use rayon::prelude::*;
use skinbench::harness::uncertainty::LOOKS;
use skinbench::report::Screen;
use skinbench::report::comparison::{self, ShownRows};
use skinbench::results::compare::{ComparedRow, Comparison, Judgement};
use skinbench::results::{Recorded, Row};
use snapbox::cmd::cargo_bin;
use std::collections::BTreeMap;
use std::path::Path;

/// The change that a comparison is expected to show.
const DETECT: f64 = 0.02;

/// Compares with the usual smallest change.
fn compare(base: &Recorded, new: &Recorded) -> Comparison {
    skinbench::results::compare::compare(base, new, DETECT)
}

/// The text of the rows that changed, or of all.
fn text(comparison: &Comparison, all: bool) -> String {
    let shown = ShownRows {
        all,
        detect: DETECT,
        limit: None,
        screen: Screen::Narrow(80),
    };
    shown.screen.wrapped(&comparison::text(comparison, &shown))
}

/// Rows that changed, without the point that they have in common.
fn changes(comparison: &Comparison) -> Vec<String> {
    let rows = comparison.rows.iter().filter(|row| row.has_changed());
    rows.map(|row| format!("{} {}", row.backend, row.stage.name()))
        .collect()
}

/// Some of the six runs of one side of the specimen, by their numbers.
fn specimen(side: &str, runs: &[usize]) -> Recorded {
    let folder = Path::new(SPECIMEN).join(side);
    let runs: Vec<_> = runs
        .iter()
        .map(|run| folder.join(run.to_string()))
        .collect();
    Recorded::read(&runs).unwrap()
}

/// The folder of the specimen: six rounds of two binaries, of which the second is slower.
const SPECIMEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/results/2026-11-22-xeon-slowed-by-a-tenth"
);

#[test]
fn sets_without_rounds_get_ratios_only() {
    let recorded = Recorded::read(&[fixture()]).unwrap();
    let comparison = compare(&recorded, &recorded);
    assert_eq!(comparison.compared(), ROWS - 3);
    let mut rows = comparison.rows.iter().filter_map(ComparedRow::judgement);
    assert!(rows.all(|judgement| judgement == Judgement::Unjudged));
    assert!(comparison.beyond(0.0).is_empty() && comparison.sensitivity.is_none());
    let text = text(&comparison, false);
    assert!(
        text.contains("\nratios only: these are no rounds, "),
        "{text}"
    );
    assert!(
        text.lines().last().unwrap().starts_with("not judged: "),
        "{text}"
    );
}

#[test]
fn only_certain_changes_and_failures_fail() {
    let folder = tempfile::tempdir().unwrap();
    let compared = |base: &str, new: &str, arguments: &str| {
        let arguments = format!("compare {base} {new} {arguments}");
        ran(skinbench(folder.path(), &arguments))
    };
    let [before, after] = ["before", "after"].map(|side| format!("{SPECIMEN}/{side}"));
    for (base, new, arguments, code) in [
        (&before, &after, "", 0),
        (&before, &after, "--fail-above 2%", 4),
        // The interval reaches below.
        (&before, &after, "--fail-above 3%", 0),
        // Faster is no failure.
        (&after, &before, "--fail-above 2%", 0),
        (&before, &after, "--fail-above much", 2),
    ] {
        let ran = compared(base, new, arguments);
        assert_eq!(ran.code, Some(code), "{arguments}: {ran:?}");
    }

    // Without rounds, only what failed is certain: a backend that has become wrong has no times.
    let base = fixture().display().to_string();
    let ran = compared(&base, &base, "--fail-above 5%");
    assert_eq!((ran.code, ran.text.as_str()), (Some(2), ""));
    assert!(
        ran.notes.starts_with("error: --fail-above needs rounds, "),
        "{ran:?}"
    );
    let broken = |text: String| {
        text.replace(
            ",cpu-rayon,,frame,wall,ok,",
            ",cpu-rayon,,frame,wall,parity_failed,",
        )
    };
    let wrong = changed(broken, unchanged);
    let wrong = wrong.path().display().to_string();
    let ran = compared(&base, &wrong, "--fail-above 5%");
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(
        ran.text.contains("\nfailed in the new results: "),
        "{ran:?}"
    );

    // The verdict does not depend on a reader of the table.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut unread = std::process::Command::new(cargo_bin!("skinbench"));
    let status = unread
        .args(["compare", &before, &after, "--fail-above", "2%"])
        .stdout(writer)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(4));
}

#[test]
fn rows_are_json_lines_too() {
    let arguments = format!("compare {SPECIMEN}/before {SPECIMEN}/after --json");
    let text = succeed(SPECIMEN, &arguments).text;
    let mut rows = Vec::new();
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        rows.push(row);
    }
    assert_eq!(rows.len(), 24);
    let slower: Vec<_> = rows
        .iter()
        .filter(|row| row["judgement"] == "slower")
        .collect();
    assert_eq!(slower.len(), 2, "the frame and its stage");
    let frame = slower[0];
    assert_eq!(
        (&frame["backend"], &frame["stage"]),
        (&"cpu-scalar".into(), &"frame".into())
    );
    let ratio = frame["ratio"].as_f64().unwrap();
    assert!((1.09..1.11).contains(&ratio) && frame["low"].as_f64() < Some(ratio));
}

/// Runs by turns of a binary and of one whose scalar kernel skinned every tenth instance twice.
#[test]
fn a_kernel_slowed_by_a_tenth_is_found_in_six_rounds_and_nothing_else() {
    let six = [1, 2, 3, 4, 5, 6];
    let comparison = compare(&specimen("before", &six), &specimen("after", &six));
    assert_eq!(
        changes(&comparison),
        ["cpu-scalar frame", "cpu-scalar skin"]
    );
    assert_eq!(comparison.compared(), 24);
    assert_eq!(comparison.beyond(0.02).len(), 1);
    assert!(comparison.beyond(0.03).is_empty());
    assert_eq!(comparison.sensitivity.as_ref().unwrap().rounds, 6);
    let text = text(&comparison, false);
    let last = "\nslower: cpu-scalar +10.0 %; undecided: cpu-rayon -5.0 to +8.2 %,\n";
    assert!(text.contains(last), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn a_round_with_an_unsteady_clock_does_not_count() {
    let six = [1, 2, 3, 4, 5, 6];
    let mut new = specimen("after", &six);
    let run = new.rows[0].run_id.clone();
    for row in &mut new.rows {
        row.unsteady = Some(row.run_id == run);
    }
    let comparison = compare(&specimen("before", &six), &new);
    assert_eq!(comparison.sensitivity.unwrap().rounds, 5);
    assert_eq!(comparison.warnings, [""; 0]);
}

/// What single runs and few rounds do not show is said, not guessed.
#[test]
fn too_few_rounds_raise_no_alarm() {
    for run in 1..=6 {
        let comparison = compare(&specimen("before", &[run]), &specimen("after", &[run]));
        assert_eq!(changes(&comparison), [""; 0], "run {run}");
        assert_eq!(comparison.sensitivity, None);
    }
    // Two halves of the runs of one binary, as if they were two binaries.
    for side in ["before", "after"] {
        let halves = [[1, 3, 5], [2, 4, 6]].map(|runs| specimen(side, &runs));
        assert_eq!(changes(&compare(&halves[0], &halves[1])), [""; 0], "{side}");
    }
}

/// The programs run by turns, and the copy is no slower than what it is copied from. Only what cannot depend on times is
/// asserted.
#[test]
fn two_programs_run_by_turns() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    std::fs::copy(cargo_bin!("skinbench"), &copy).unwrap();
    let programs = format!("{} ./copy", cargo_bin!("skinbench").display());
    let arguments = "-- kernel --instances 1 -b cpu-scalar --passes 0 --frames 3";
    let output = ran(skinbench(
        folder.path(),
        &format!("compare --run {programs} --rounds 5 --detect 1000% -o turns {arguments}"),
    ));
    let messages = output.text;
    assert_eq!(output.code, Some(0), "{messages}");
    assert!(
        output.notes.starts_with("round 1 of at most 5: done\n"),
        "{}",
        output.notes
    );
    assert!(messages.starts_with("results: turns\n"), "{messages}");
    assert!(
        messages.contains("smallest change that this could show: "),
        "{messages}"
    );
    let of_side = |side: &str| {
        let rounds = std::fs::read_dir(folder.path().join("turns").join(side)).unwrap();
        let mut names: Vec<_> = rounds
            .map(|round| round.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let five = ["01", "02", "03", "04", "05"];
    assert_eq!([of_side("old"), of_side("new")], [five, five]);

    // The folders are compared again as they were.
    let again = skinbench(folder.path(), "compare turns/old turns/new --detect 1000%");
    let again = ran(again).text;
    assert_eq!(messages.strip_prefix("results: turns\n"), Some(&again[..]));

    let refused = |arguments: &str| {
        let output = ran(skinbench(folder.path(), arguments));
        (output.code, output.notes)
    };
    for (arguments, code, message) in [
        (
            format!("compare --run {programs} -o turns"),
            1,
            "turns/old exists already; name another folder",
        ),
        (
            "compare --run ./copy ./absent -o other".into(),
            1,
            "cannot start ./absent: ",
        ),
        (
            "compare --run ./copy ./copy -o third -- no-such-scene".into(),
            1,
            "./copy run: unknown scene \"no-such-scene\"",
        ),
        (
            "compare --run ./copy ./copy --rounds 4".into(),
            2,
            "expected a number from 5 to 50",
        ),
    ] {
        let (got, messages) = refused(&arguments);
        assert_eq!(got, Some(code), "{arguments}: {messages}");
        assert!(messages.contains(message), "{arguments}: {messages}");
    }
}

#[test]
fn scenes_that_differ_are_not_compared_and_machines_are_warned_of() {
    let base = Recorded::read(&[fixture()]).unwrap();
    let other = changed(|text| text.replace("walkers,000", "walkers,fff"), unchanged);
    let comparison = compare(&base, &read(&other));
    assert_eq!(comparison.compared(), 0);
    assert!(text(&comparison, true).contains("rows not compared: the scene is another one"));
    let arguments = format!("compare {} .", fixture().display());
    let output = ran(skinbench(other.path(), &arguments));
    assert_eq!(output.code, Some(1));
    let messages = output.notes;
    assert!(
        messages.contains(
            "error: nothing can be compared: the scene is another one (its hash differs)"
        ),
        "{messages}"
    );

    let machine = changed(
        |text| text.replace("Test GPU", "Other GPU").replace(",8,", ",4,"),
        unchanged,
    );
    let comparison = compare(&base, &read(&machine));
    assert_eq!(comparison.compared(), ROWS - 3);
    assert!(
        comparison
            .warnings
            .iter()
            .any(|w| w.contains("the machines differ") && w.contains("Other GPU"))
    );
    assert!(
        comparison
            .warnings
            .iter()
            .any(|w| w.contains("numbers of threads differ"))
    );
}

/// The power and the false alarms that docs/report.md states, of comparisons of real rounds. A comparison takes rounds at
/// random and, of two runs of the same program, either as the new one.
#[test]
fn power_and_false_alarms_of_real_rounds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/2026-11-27-epyc-rounds");
    let mut conditions: BTreeMap<String, BTreeMap<u32, Vec<RecordedRun>>> = BTreeMap::new();
    for run in csv::Reader::from_path(folder.join("rounds.csv"))
        .unwrap()
        .into_deserialize()
    {
        let run: RecordedRun = run.unwrap();
        let rounds = conditions.entry(run.conditions.clone()).or_default();
        rounds.entry(run.round).or_default().push(run);
    }
    let mut table = String::from(
        "| beside it | slowed by | rounds recorded | found | rounds taken (median) |\n\
         | --- | ---: | ---: | ---: | ---: |\n",
    );
    for (name, rounds) in &conditions {
        for (side, percent) in [("b", 0), ("2", 2), ("5", 5), ("10", 10)] {
            let pairs = pairs(rounds, side);
            let trials: Vec<Trial> = (0..TRIALS)
                .into_par_iter()
                .map(|seed| trial(&pairs, side == "b", seed))
                .collect();
            let found = trials.iter().filter(|trial| trial.found).count() as f64 / TRIALS as f64;
            let mut taken: Vec<usize> = trials.iter().map(|trial| trial.rounds).collect();
            taken.sort_unstable();
            table += &format!(
                "| {name} | {percent} % | {} | {:.1} % | {} |\n",
                pairs.len(),
                1e2 * found,
                taken[taken.len() / 2]
            );
            assert!(side != "b" || found <= 0.05, "{table}");
        }
    }
    let stated = snapbox::Data::read_from(&folder.join("power.md"), None);
    snapbox::assert_data_eq!(table, stated);
}

/// The rounds in which a program ran as it is, and on another side.
fn pairs(rounds: &BTreeMap<u32, Vec<RecordedRun>>, side: &str) -> Vec<[Vec<RecordedRun>; 2]> {
    let mut pairs = Vec::new();
    for runs in rounds.values() {
        let sides = ["a", side].map(|side| {
            let of_side = runs.iter().filter(|run| run.side == side);
            of_side.cloned().collect::<Vec<_>>()
        });
        if sides.iter().all(|runs| !runs.is_empty()) {
            pairs.push(sides);
        }
    }
    pairs
}

/// Comparisons of each kind.
const TRIALS: u64 = 200;

/// A line of recorded rounds.
#[derive(Debug, Clone, serde::Deserialize)]
struct RecordedRun {
    conditions: String,
    round: u32,
    side: String,
    backend: String,
    median_ns: u64,
}

/// The outcome of a comparison.
struct Trial {
    found: bool,
    rounds: usize,
}

/// Compares as many rounds as `--run` would take, drawn from those that were recorded. `same` exchanges the sides of some,
/// at random.
fn trial(pairs: &[[Vec<RecordedRun>; 2]], same: bool, seed: u64) -> Trial {
    const MOST: usize = 32;
    let mut random = Pcg32::seed_from_u64(seed);
    let mut sides = [Recorded::default(), Recorded::default()];
    let mut rounds = 0;
    let mut found = false;
    for _ in 0..MOST {
        let drawn = &pairs[random.next_u32() as usize % pairs.len()];
        let is_exchanged = same && random.next_u32() & 1 == 1;
        for (side, runs) in drawn.iter().enumerate() {
            let to = side ^ usize::from(is_exchanged);
            let rows = runs.iter().map(|run| Row {
                utc: format!("{rounds:02}"),
                backend: run.backend.clone(),
                median_ns: Some(run.median_ns),
                ..Row::default()
            });
            sides[to].rows.extend(rows);
        }
        rounds += 1;
        if LOOKS.contains(&rounds) {
            let comparison = compare(&sides[0], &sides[1]);
            found = comparison.rows.iter().any(|row| row.has_changed());
            if comparison.is_decided(None) {
                break;
            }
        }
    }
    Trial { found, rounds }
}
