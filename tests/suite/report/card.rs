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
    assert_data_eq!(
        cards(&study, "1 pass"),
        str![[r#"
## 1,000 walkers, 1 pass

| backend | frame | worst | pose | upload | skin | skin % | draw | other | ns/vertex | parity | status |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
| gpu-vertex | 6.30 ms ± 0 % | 6.33 ms | 3.00 ms | 400 µs | in draw | - | 2.80 ms | 100 µs | - | 3.2e-7 | ok |
| gpu-compute | 7.10 ms ± 0 % | 7.13 ms | 3.00 ms | 400 µs | 2.50 ms | 24 | 1.10 ms | 100 µs | 5.94 | 3.2e-7 | ok |
| cpu-rayon | 16.3 ms ± 0 % | 16.3 ms | 3.00 ms | 3.05 ms | 9.02 ms | 7 | 1.10 ms | 100 µs | 15.16 | 3.2e-7 | ok |
| cpu-scalar | 64.2 ms ± 0 % | 64.5 ms | 20.0 ms | 3.05 ms | 40.0 ms | 1 | 1.10 ms | 100 µs | 63.43 | 3.2e-7 | ok |

- gpu-vertex takes the least memory, 6.7 MB on host and device.
- The same holds among the backends with the smallest error (vertices within 1e-5).
- gpu-vertex overtakes cpu-rayon at 12 walkers (1 pass); 95 % certain between 11 and 13.
- gpu-compute overtakes gpu-vertex at 1.5 passes (1,000 walkers); 95 % certain between 1.4 and 1.6.
- From 1 pass on, gpu-vertex takes the least memory instead of cpu-scalar (1,000 walkers).

time:

| backend | frame | p99 | worst |
| --- | ---: | --- | ---: |
| gpu-vertex | 6.30 ms | needs 100 frames | 6.33 ms |
| gpu-compute | 7.10 ms | needs 100 frames | 7.13 ms |
| cpu-rayon | 16.3 ms | needs 100 frames | 16.3 ms |
| cpu-scalar | 64.2 ms | needs 100 frames | 64.5 ms |

where the time goes:

| backend | device | upload, processor | upload, device | other |
| --- | ---: | ---: | ---: | ---: |
| gpu-vertex | 3.20 ms | - | 400 µs | 100 µs |
| gpu-compute | 4.00 ms | - | 400 µs | 100 µs |
| cpu-rayon | 1.10 ms | 3.05 ms | - | 100 µs |
| cpu-scalar | 1.10 ms | 3.05 ms | - | 100 µs |

memory, draws, error:

| backend | host | device | uploaded | draws | largest error |
| --- | ---: | ---: | ---: | ---: | ---: |
| gpu-vertex | 3.4 MB | 3.3 MB | 3.2 MB | 1 | 3.2e-7 |
| gpu-compute | 3.4 MB | 27.1 MB | 3.2 MB | 1 | 3.2e-7 |
| cpu-rayon | 27.3 MB | 23.9 MB | 23.9 MB | 1 | 3.2e-7 |
| cpu-scalar | 27.3 MB | 23.9 MB | 23.9 MB | 1 | 3.2e-7 |

what gameplay can have:

| backend | layers, fades | joints | later passes |
| --- | --- | --- | --- |
| gpu-vertex | yes | same frame | skin again |
| gpu-compute | yes | same frame | free |
| cpu-rayon | yes | same frame | free |
| cpu-scalar | yes | same frame | free |

"#]]
    );
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
