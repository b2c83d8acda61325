//! Pages of results.

use super::{changed, fixture, unchanged};
use crate::program::{Ran, ran, skinbench};
use skinbench::registry::REGISTRY;
use skinbench::report::{chart, html, markdown};
use skinbench::results::{Recorded, Study};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn answers_are_those_of_the_figures() {
    let study = Study::new(Recorded::read(&[fixture()]).unwrap());
    let report = markdown::report(&study);
    for answer in [
        "1,000 walkers, nothing drawn: gpu-compute is fastest",
        "gpu-compute overtakes cpu-rayon at ",
        "1,000 walkers, 1 pass: gpu-vertex is fastest",
        " fit a 60 Hz frame on gpu-compute (nothing drawn).",
        "% of this machine's bandwidth: gpu-compute",
        "| gpu-vertex | - | - | - | - | - | - | - | - | - | skipped |",
        "| cpu-scalar | 60.",
    ] {
        assert!(report.contains(answer), "{answer} in {report}");
    }
    // 1.32 and 2.22 ms at 100, 12.12 and 6.00 ms at 1,000: straight lines between their logarithms meet at 266.
    let at = report
        .split("overtakes cpu-rayon at ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    let at: f64 = at.replace(',', "").parse().unwrap();
    assert!((264.0..268.0).contains(&at), "{at}");
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let page = html::page(&Study::of_each_machine(
        Recorded::read(&[fixture()]).unwrap(),
    ));
    assert!(
        page.contains("Test CPU &lt;&amp;&gt;"),
        "what results say is escaped"
    );
    assert!(!page.contains("src=") && !page.contains("@import") && !page.contains("url("));
    let outside: Vec<_> = page
        .match_indices("http")
        .map(|(at, _)| &page[at..at + 26])
        .collect();
    assert!(
        outside
            .iter()
            .all(|text| *text == "http://www.w3.org/2000/svg"),
        "{outside:?}"
    );
    assert!(page.len() < 500_000, "{}", page.len());
    let study = Study::new(Recorded::read(&[fixture()]).unwrap());
    for chart in chart::charts(&study) {
        assert_eq!(
            chart.svg().matches("class=\"mark\"").count(),
            2 * chart.marks(),
            "{}: for wide and for narrow screens",
            chart.id
        );
        assert!(
            chart.table.len() > 1 && chart.file().contains("prefers-color-scheme:dark"),
            "{}",
            chart.id
        );
    }
}

#[test]
fn findings_are_of_crowds_that_were_measured_and_say_how() {
    // The rows that a change makes empty are left out.
    let report = |change: &dyn Fn(&[&str], &str) -> String| {
        let edited = |text: String| {
            let heading: Vec<String> = text
                .lines()
                .next()
                .unwrap()
                .split(',')
                .map(Into::into)
                .collect();
            let at = |name: &str| heading.iter().position(|known| known == name).unwrap();
            let columns = [
                "backend",
                "passes",
                "instances",
                "attributes",
                "pct_of_limit",
            ]
            .map(at);
            let line = |line: &str| {
                let fields: Vec<&str> = line.split(',').collect();
                change(&columns.map(|column| fields[column]), line)
            };
            let lines = text
                .lines()
                .skip(1)
                .map(line)
                .filter(|line| !line.is_empty());
            std::iter::once(heading.join(","))
                .chain(lines)
                .map(|line| line + "\n")
                .collect::<String>()
        };
        markdown::report(&Study::new(super::read(&changed(edited, unchanged))))
    };
    // Fewer milliseconds at a smaller crowd are no answer.
    let few = report(&|row, line| match row {
        ["cpu-rayon", "0", "1000", ..] => String::new(),
        _ => line.into(),
    });
    assert!(
        few.contains("More than 1,000 walkers fit a 60 Hz frame on gpu-compute (nothing drawn)."),
        "{few}"
    );
    let fewer = report(&|row, line| match row {
        ["cpu-rayon", "0", "1000", ..] | ["gpu-compute", "0", ..] => String::new(),
        _ => line.into(),
    });
    assert!(
        fewer.contains(" fit a 60 Hz frame on cpu-scalar (nothing drawn)."),
        "{fewer}"
    );

    let noisy = report(&|row, line| match row {
        ["cpu-rayon", "0", "10", _, "5.42"] => line.replace(",5.42,", ",121,"),
        _ => line.into(),
    });
    assert!(
        noisy.contains("reaches 24 % of this machine's bandwidth: gpu-compute, 1,000 walkers."),
        "{noisy}"
    );
    let beyond = report(&|_, line| line.replace(",23.86,", ",121,"));
    assert!(
        beyond.contains("121 % of this machine's bandwidth: gpu-compute, 1,000 walkers. More than"),
        "{beyond}"
    );

    let packed = report(&|_, line| line.replace(",pn,,", ",p,output=packed,"));
    for expected in [
        "1,000 walkers, nothing drawn, output=packed, positions only: gpu-compute",
        "## 1,000 walkers, 1 pass, output=packed, positions only",
        "walkers (nothing drawn, output=packed, positions only); 95 % certain",
        "on gpu-compute (nothing drawn, output=packed, positions only).",
    ] {
        assert!(packed.contains(expected), "{expected} in {packed}");
    }
    let again = |text: String| {
        let other = text.replace(",pn,,", ",p,,").replace("-7-", "-8-");
        text + other.split_once('\n').unwrap().1
    };
    let mixed = changed(again, again);
    let charts = chart::charts(&Study::new(super::read(&mixed)));
    let ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    for id in [
        "frame-instances-walkers-1-pass-positions-only",
        "frame-instances-walkers-1-pass-positions-and-normals",
    ] {
        assert!(ids.contains(&id), "{ids:?}");
    }
}

#[test]
fn the_ending_or_the_format_decides_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| {
        let report = format!("report {} {arguments}", fixture().display());
        ran(skinbench(folder.path(), &report))
    };
    assert!(run("").text.starts_with("<!DOCTYPE html>"));
    assert!(
        run("--format md")
            .text
            .starts_with("# Skinning on Test CPU")
    );
    assert_eq!(run("-o out.md").code, Some(0));
    assert!(
        fs::read_to_string(folder.path().join("out.md"))
            .unwrap()
            .starts_with("# Skinning")
    );
    assert_eq!(run("--format svg -o charts").code, Some(0));
    assert_eq!(
        fs::read_dir(folder.path().join("charts")).unwrap().count(),
        15
    );
    let Ran { code, notes, .. } = run("--format svg");
    assert!(
        code == Some(2) && notes.contains("name a folder with -o"),
        "{notes}"
    );
}

/// README's table shows every CPU backend there is.
#[test]
fn the_readmes_table_is_of_this_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("README.md")).unwrap();
    let (_, part) = page.split_once("<!-- table ").unwrap();
    let (part, _) = part.split_once("<!-- /table -->").unwrap();
    let mut shown: Vec<&str> = part
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let mut known: Vec<&str> = REGISTRY.iter().map(|backend| backend.name).collect();
    known.retain(|name| name.starts_with("cpu-"));
    shown.sort_unstable();
    known.sort_unstable();
    assert_eq!(shown, known, "measure README's table again");
}

/// The words of a page between whitespace, without what `cargo run -p pages` writes from results.
fn words_by_hand(page: &str) -> usize {
    let mut words = 0;
    let mut generated: Option<String> = None;
    for line in page.lines() {
        match &generated {
            Some(end) if line == end => generated = None,
            Some(_) => {}
            None => match line
                .strip_prefix("<!-- ")
                .and_then(|rest| rest.split(' ').next())
            {
                Some(name) if page.contains(&format!("<!-- /{name} -->")) => {
                    generated = Some(format!("<!-- /{name} -->"));
                }
                _ => words += line.split_whitespace().count(),
            },
        }
    }
    words
}

/// The pages in docs/, and pages and READMEs elsewhere.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages: Vec<_> = fs::read_dir(root.join("docs"))
        .unwrap()
        .map(|page| page.unwrap().path())
        .filter(|page| page.extension().is_some_and(|ending| ending == "md"))
        .collect();
    for page in [
        "README.md",
        "METHODOLOGY.md",
        "CONTRIBUTING.md",
        "kernels/README.md",
        "capi/README.md",
        "formats/README.md",
        "characters/README.md",
        "shaders/README.md",
        "gpu/README.md",
        "results/README.md",
    ] {
        pages.push(root.join(page));
    }
    pages
}

/// Pages are read: what is added makes something else shorter.
#[test]
fn pages_are_short() {
    const MOST: usize = 24_700;
    let words: usize = pages()
        .iter()
        .map(|page| words_by_hand(&fs::read_to_string(page).unwrap()))
        .sum();
    assert!(words > 10_000, "{words}");
    assert!(words <= MOST, "{words} words; at most {MOST}");
    assert_eq!(
        words_by_hand("one two\n<!-- table x -->\nthree\n<!-- /table -->\nfour"),
        3
    );
}

/// The first row of a page's tables that readers have to scroll, and why.
fn wide_row(page: &str) -> Option<String> {
    const COLUMNS: usize = 7;
    const CHARACTERS: usize = 200;
    for row in page.lines() {
        let Some(row) = row
            .strip_prefix("| ")
            .and_then(|row| row.strip_suffix(" |"))
        else {
            continue;
        };
        let cells: Vec<&str> = row.split(" | ").collect();
        if cells.len() > COLUMNS {
            return Some(format!("{} columns, at most {COLUMNS}: {row}", cells.len()));
        }
        for cell in cells {
            // Of a link, its text is shown: what follows the `](` up to the next parenthesis is not.
            let mut parts = cell.split("](");
            let mut shown = parts.next().unwrap_or("").chars().count();
            for part in parts {
                shown += part
                    .split_once(')')
                    .map_or(0, |(_, rest)| rest.chars().count());
            }
            if shown > CHARACTERS {
                return Some(format!("{shown} characters, at most {CHARACTERS}: {cell}"));
            }
        }
    }
    None
}

/// A table fits the 880 pixels that GitHub gives a page, and is no place for prose.
#[test]
fn tables_are_narrow() {
    for page in pages() {
        let wide = wide_row(&fs::read_to_string(&page).unwrap());
        assert_eq!(wide, None, "{}", page.display());
    }
    assert!(wide_row("| a | b | c | d | e | f | g | h |").is_some());
    assert!(wide_row(&format!("| a | {} |", "b".repeat(201))).is_some());
    let link = format!("| [text](https://{}) |", "b".repeat(201));
    assert_eq!(wide_row(&link), None);
}
