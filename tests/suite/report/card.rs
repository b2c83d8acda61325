//! The decision card, from fixed results and from old ones.

use super::{changed, fixture, read};
use skinbench::report::{Screen, card, html, markdown};
use skinbench::results::{Recorded, Study};
use snapbox::{assert_data_eq, str};
use std::path::Path;

/// The part of the Markdown report about 1,000 walkers with so many passes.
fn cards(study: &Study, passes: &str) -> String {
    let report = markdown::report(study);
    let begin = report.find(&format!("## 1,000 walkers, {passes}")).unwrap();
    report[begin..].split("\n## ").next().unwrap().to_owned()
}

#[test]
fn the_card_says_what_each_backend_costs_and_which_is_cheapest() {
    let study = Study::new(Recorded::read(&[fixture()]).unwrap());
    assert_data_eq!(cards(&study, "1 pass"), str![[r#""#]]);
    let page = html::page(std::slice::from_ref(&study));
    assert!(page.contains("<th scope=\"col\" class=\"number\">largest error</th>"));
    let text = card::text(&study, Screen::Wide);
    assert_eq!(text.matches("card: ").count(), study.points.len());
}

/// Results from before there were columns of memory: their places are dashes, and nothing is said about memory.
#[test]
fn old_results_have_dashes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/2026-11-21-xeon-2-threads");
    let study = Study::new(Recorded::read(&[folder]).unwrap());
    let report = markdown::report(&study);
    for row in [
        "| gpu-compute | - | - | - | - | 3.9e-6 |",
        "| gpu-compute | yes | same frame | free |",
    ] {
        assert!(report.contains(row), "{row}: {report}");
    }
    assert!(!report.contains("the least memory"), "{report}");
}

/// A backend that another version had, and one that is held to a wider tolerance.
#[test]
fn unknown_backends_have_dashes_and_equal_error_has_its_own_answer() {
    let inexact = |text: String| {
        let rename = |line: &str| match line.contains(",gpu-vertex,,") {
            true => line
                .replace(",gpu-vertex,,", ",gpu-guess,,")
                .replace(",0.00001,,", ",0.001,,"),
            false => line.to_owned(),
        };
        text.lines().map(|line| rename(line) + "\n").collect()
    };
    let samples = |text: String| text.replace(",gpu-vertex,,", ",gpu-guess,,");
    let card = cards(&Study::new(read(&changed(inexact, samples))), "1 pass");
    assert!(card.contains("| gpu-guess | - | - | - |"), "{card}");
    assert!(
        card.contains("Among the backends with the smallest error (vertices within 1e-5), gpu-compute is fastest and "),
        "{card}"
    );
}
