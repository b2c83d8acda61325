//! The decision card, from fixed results and from old ones.

use super::{changed, fixture, read, unchanged};
use skinbench::report::{Screen, card, html, markdown};
use skinbench::results::Recorded;
use skinbench::results::Study;
use snapbox::{assert_data_eq, str};
use std::path::Path;

/// The part of the Markdown report with the cards.
fn cards(study: &Study) -> String {
    let report = markdown::report(study);
    let begin = report.find("## Which to ship").unwrap();
    report[begin..].split("\n## ").next().unwrap().to_owned()
}

#[test]
fn the_card_says_what_each_backend_costs_and_which_is_cheapest() {
    let study = Study::new(Recorded::read(&[fixture()]).unwrap());
    assert_data_eq!(
        cards(&study),
        str![[r#"
## Which to ship

1,000 walkers, nothing drawn:

- gpu-compute is fastest, 6.00 ms a frame, 2.02 times as fast as cpu-rayon.
- cpu-scalar takes the least memory, 27.3 MB on host and device.
- The same holds among the backends with the smallest error (vertices within 1e-5).
- gpu-compute overtakes cpu-rayon at 266 walkers (nothing drawn); 95 % certain between 255 and 277.
- gpu-compute overtakes gpu-vertex at 1.5 passes (1,000 walkers); 95 % certain between 1.4 and 1.6.
- From 1 pass on, gpu-vertex takes the least memory instead of cpu-scalar.

| backend | frame p50 ms | p99 ms | worst ms | processor ms | device ms | upload ms | other ms | host MB | device MB | MB up | draws | largest error | layers, fades | joints | later passes |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| cpu-scalar | 60.1 | needs 100 | 60.3 | - | - | - | 0.10 | 27.3 | 0.00 | 0.00 | 0 | 3.2e-7 | yes | same frame | free |
| cpu-rayon | 12.1 | needs 100 | 12.2 | - | - | - | 0.10 | 27.3 | 0.00 | 0.00 | 0 | 3.2e-7 | yes | same frame | free |
| gpu-compute | 6.00 | needs 100 | 6.02 | - | 2.90 | 0.40 | 0.10 | 3.39 | 27.1 | 3.22 | 0 | 3.2e-7 | yes | same frame | free |

1,000 walkers, 1 pass:

- gpu-vertex is fastest, 6.30 ms a frame, 1.13 times as fast as gpu-compute.
- gpu-vertex takes the least memory, 6.67 MB on host and device.
- The same holds among the backends with the smallest error (vertices within 1e-5).
- gpu-vertex overtakes cpu-rayon at 12 walkers (1 pass); 95 % certain between 11 and 13.
- gpu-compute overtakes gpu-vertex at 1.5 passes (1,000 walkers); 95 % certain between 1.4 and 1.6.
- From 1 pass on, gpu-vertex takes the least memory instead of cpu-scalar.

| backend | frame p50 ms | p99 ms | worst ms | processor ms | device ms | upload ms | other ms | host MB | device MB | MB up | draws | largest error | layers, fades | joints | later passes |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| cpu-scalar | 64.2 | needs 100 | 64.5 | - | 1.10 | 3.05 | 0.10 | 27.3 | 23.9 | 23.9 | 1 | 3.2e-7 | yes | same frame | free |
| cpu-rayon | 16.3 | needs 100 | 16.3 | - | 1.10 | 3.05 | 0.10 | 27.3 | 23.9 | 23.9 | 1 | 3.2e-7 | yes | same frame | free |
| gpu-vertex | 6.30 | needs 100 | 6.33 | - | 3.20 | 0.40 | 0.10 | 3.39 | 3.28 | 3.22 | 1 | 3.2e-7 | yes | same frame | skin again |
| gpu-compute | 7.10 | needs 100 | 7.13 | - | 4.00 | 0.40 | 0.10 | 3.39 | 27.1 | 3.22 | 1 | 3.2e-7 | yes | same frame | free |

1,000 walkers, 2 passes:

- gpu-compute is fastest, 8.20 ms a frame, 1.11 times as fast as gpu-vertex.
- gpu-vertex takes the least memory, 6.67 MB on host and device.
- The same holds among the backends with the smallest error (vertices within 1e-5).
- gpu-vertex overtakes cpu-rayon at 13 walkers (2 passes); 95 % certain between 12 and 15.
- gpu-compute overtakes gpu-vertex at 693 walkers (2 passes); 95 % certain between 641 and 749.
- gpu-compute overtakes gpu-vertex at 1.5 passes (1,000 walkers); 95 % certain between 1.4 and 1.6.
- From 1 pass on, gpu-vertex takes the least memory instead of cpu-scalar.

| backend | frame p50 ms | p99 ms | worst ms | processor ms | device ms | upload ms | other ms | host MB | device MB | MB up | draws | largest error | layers, fades | joints | later passes |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| cpu-scalar | 65.3 | needs 100 | 65.6 | - | 2.20 | 3.05 | 0.10 | 27.3 | 23.9 | 23.9 | 2 | 3.2e-7 | yes | same frame | free |
| cpu-rayon | 17.4 | needs 100 | 17.4 | - | 2.20 | 3.05 | 0.10 | 27.3 | 23.9 | 23.9 | 2 | 3.2e-7 | yes | same frame | free |
| gpu-vertex | 9.10 | needs 100 | 9.14 | - | 6.00 | 0.40 | 0.10 | 3.39 | 3.28 | 3.22 | 2 | 3.2e-7 | yes | same frame | skin again |
| gpu-compute | 8.20 | needs 100 | 8.23 | - | 5.10 | 0.40 | 0.10 | 3.39 | 27.1 | 3.22 | 2 | 3.2e-7 | yes | same frame | free |

"#]]
    );
    let page = html::page(std::slice::from_ref(&study));
    assert!(
        page.contains("<h2>Which to ship</h2>")
            && page.contains("<th scope=\"col\">largest error</th>")
    );
    let text = card::text(&study, Screen::Wide);
    assert_eq!(text.matches("card: ").count(), study.points.len());
}

/// Results from before there were columns of memory: their places are dashes, and nothing is said about memory.
#[test]
fn old_results_have_dashes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/2026-11-21-xeon-2-threads");
    let study = Study::new(Recorded::read(&[folder]).unwrap());
    let cards = cards(&study);
    let row = cards
        .lines()
        .find(|line| line.starts_with("| gpu-compute |"))
        .unwrap();
    assert!(
        row.ends_with(" | - | - | - | - | 3.9e-6 | yes | same frame | free |"),
        "{row}"
    );
    assert!(!cards.contains("the least memory"), "{cards}");
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
    let cards = cards(&Study::new(read(&changed(inexact, samples))));
    let row = cards
        .lines()
        .find(|line| line.starts_with("| gpu-guess |"))
        .unwrap();
    assert!(row.ends_with(" | - | - | - |"), "{row}");
    assert!(
        cards.contains("Among the backends with the smallest error (vertices within 1e-5), gpu-compute is fastest and "),
        "{cards}"
    );
    let exact = self::cards(&Study::new(read(&changed(unchanged, unchanged))));
    assert!(
        exact.contains(
            "The same holds among the backends with the smallest error (vertices within 1e-5)."
        ),
        "{exact}"
    );
}
