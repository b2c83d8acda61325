//! Comparison of two results: changes and noise.

use super::{ROWS, changed, fixture, read, skinbench, unchanged};
use skinbench::report::comparison;
use skinbench::results::compare::{Verdict, compare};
use skinbench::results::recorded::Recorded;
use snapbox::cmd::cargo_bin;
use std::path::Path;

#[test]
fn a_set_against_itself_has_not_changed() {
    let recorded = Recorded::read(&[fixture()]).unwrap();
    let comparison = compare(&recorded, &recorded);
    assert_eq!(comparison.compared(), ROWS - 3);
    assert!(
        comparison
            .rows
            .iter()
            .all(|row| !matches!(row.verdict(), Ok(Verdict::Slower | Verdict::Faster)))
    );
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
    let found: Vec<_> = comparison
        .rows
        .iter()
        .filter(|row| row.verdict() == Ok(Verdict::Slower))
        .collect();
    assert_eq!(found.len(), 9, "{}", comparison::text(&comparison, false));
    assert!(found.iter().all(|row| row.name.ends_with("cpu-rayon skin")));
    assert!(
        !comparison
            .rows
            .iter()
            .any(|row| row.verdict() == Ok(Verdict::Faster))
    );
    assert_eq!(
        comparison.rows[..9]
            .iter()
            .filter(|r| r.verdict() == Ok(Verdict::Slower))
            .count(),
        9,
        "largest first"
    );

    let (base, new) = (
        fixture().display().to_string(),
        slower.path().display().to_string(),
    );
    let exit = |arguments: &str| {
        skinbench(slower.path(), arguments)
            .output()
            .unwrap()
            .status
            .code()
    };
    assert_eq!(
        exit(&format!("compare {base} {new} --fail-above 5%")),
        Some(4)
    );
    assert_eq!(
        exit(&format!("compare {base} {new} --fail-above 19%")),
        Some(0),
        "the interval reaches below"
    );
    assert_eq!(exit(&format!("compare {base} {new}")), Some(0));
    assert_eq!(
        exit(&format!("compare {new} {base} --fail-above 5%")),
        Some(0),
        "faster is no failure"
    );
    assert_eq!(
        exit(&format!("compare {base} {new} --fail-above much")),
        Some(2)
    );

    // A backend that has become wrong fails, although it has no times.
    let broken = |text: String| {
        text.replace(
            ",cpu-rayon,,frame,wall,ok,",
            ",cpu-rayon,,frame,wall,parity_failed,",
        )
    };
    let wrong = changed(broken, unchanged);
    let wrong = wrong.path().display();
    assert_eq!(
        exit(&format!("compare {base} {wrong} --fail-above 5%")),
        Some(4)
    );
    assert_eq!(
        exit(&format!("compare {wrong} {base} --fail-above 5%")),
        Some(0),
        "mended"
    );

    // The verdict does not depend on a reader of the table.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut unread = std::process::Command::new(cargo_bin!("skinbench"));
    let status = unread
        .args(["compare", &base, &new, "--fail-above", "5%"])
        .stdout(writer)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(4));
}

/// Six runs a side, by turns, of a binary and of one whose scalar kernel skinned every tenth instance twice.
#[test]
fn a_kernel_slowed_by_a_tenth_is_found_in_real_runs_and_nothing_else() {
    let runs = |side: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("results/2026-11-22-xeon-slowed-by-a-tenth")
            .join(side);
        Recorded::read(&[&folder]).unwrap()
    };
    let comparison = compare(&runs("before"), &runs("after"));
    let mut found: Vec<_> = comparison
        .rows
        .iter()
        .filter(|row| row.verdict() == Ok(Verdict::Slower))
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let found: Vec<_> = found
        .iter()
        .map(|row| row.name.trim_start_matches("kernel x 64, passes 0: "))
        .collect();
    assert_eq!(
        found,
        [
            "cpu-scalar frame",
            "cpu-scalar frame (thread_sum)",
            "cpu-scalar skin"
        ]
    );
    assert_eq!(comparison.compared(), 24);
    assert_eq!(
        comparison
            .rows
            .iter()
            .filter(|row| row.verdict() == Ok(Verdict::Same))
            .count(),
        21
    );
    assert_eq!(comparison.beyond(0.02).len(), 3);
}

#[test]
fn scenes_that_differ_are_not_compared_and_machines_are_warned_of() {
    let base = Recorded::read(&[fixture()]).unwrap();
    let other = changed(|text| text.replace("walkers,000", "walkers,fff"), unchanged);
    let comparison = compare(&base, &read(&other));
    assert_eq!(comparison.compared(), 0);
    assert!(
        comparison::text(&comparison, true).contains("not comparable: the scene is another one")
    );
    let output = skinbench(other.path(), &format!("compare {} .", fixture().display()))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains(
            "error: nothing can be compared: the scene is another one (its hash differs)"
        ),
        "{said}"
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
