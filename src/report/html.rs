//! The HTML page: self-contained, without network access, readable without scripts, with its CSV embedded.

use super::card;
use super::chart::{self, Chart, charts};
use super::findings::{findings, place, verdict};
use super::head;
use super::markdown::headed;
use super::units::{abbreviated, duration_or_dash, grouped, magnitude_or_dash};
use crate::harness::run::Status;
use crate::results::key::known;
use crate::results::{Study, StudyEntry, SummaryRow};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use indexmap::{IndexMap, IndexSet};
use maud::{Markup, PreEscaped, html};
use std::collections::BTreeSet;
use std::io::Write;

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");
/// Most bytes of a file that a page embeds, and size from which it is compressed.
const FILE_BYTES: usize = 256 << 10;
const PLAIN_BYTES: usize = 32 << 10;

/// The page of the results of some machines, the first of which has the title and the data of all.
///
/// # Panics
/// There is no study.
pub fn page(studies: &[Study]) -> String {
    let study = &studies[0];
    let scenes: BTreeSet<&str> = study
        .entries
        .iter()
        .map(|entry| entry.point.scene.as_str())
        .collect();
    let scenes = scenes.into_iter().collect::<Vec<_>>().join(", ");
    let title = format!(
        "skinbench: {scenes} on {}",
        known(&study.machine.cpu, "an unknown processor")
    );
    let body = html! {
        a.skip href="#raw" { "Skip to the table" }
        main {
            h1 { "Skinning " (scenes) }
            (results(study, ""))
            @for (index, other) in studies.iter().enumerate().skip(1) {
                section.machine {
                    h1 { "Another machine: " (other.machine) }
                    (results(other, &format!("machine-{}-", index + 1)))
                }
            }
            (downloads(study))
        }
        script { (PreEscaped(SCRIPT)) }
    };
    head::page(&title, None, &[chart::STYLE, STYLE], None, body).into_string()
}

/// Everything about one machine; `prefix` makes ids unique.
fn results(study: &Study, prefix: &str) -> Markup {
    let found = findings(study);
    let charts = charts(study);
    html! {
        ul.verdict { @for case in verdict(study) { li { (case) } } }
        @if !found.is_empty() { ul.answers { @for answer in &found { li { (answer) } } } }
        (contents(&charts, prefix))
        (machine(study))
        @if !study.problems.is_empty() {
            details.problems {
                summary { (study.problems.len()) " remarks on these results" }
                ul { @for problem in &study.problems { li { (problem) } } }
            }
        }
        (decisions(study, prefix))
        @for chart in &charts { (figure(chart, prefix)) }
        @if !charts.iter().any(|chart| chart.id == "limits") {
            p { "These results have no limits, so there is no chart of how close stages come to them." }
        }
        (parity(study, prefix))
        (raw(study, prefix))
    }
}

/// Links to the parts of the results of a machine.
fn contents(charts: &[Chart], prefix: &str) -> Markup {
    html! {
        nav aria-label="Contents" {
            ol.contents {
                (content(prefix, "card", "Which to ship"))
                @for chart in charts { (content(prefix, &chart.id, &chart.title)) }
                (content(prefix, "parity", "Parity"))
                (content(prefix, "raw", "All rows"))
                li { a href="#download" { "The data" } }
            }
        }
    }
}

fn content(prefix: &str, id: &str, title: &str) -> Markup {
    html! { li { a href={ "#" (prefix) (id) } { (title) } } }
}

/// Backends in the order in which they are met.
fn names<'a>(entries: impl IntoIterator<Item = &'a StudyEntry>) -> IndexSet<&'a str> {
    entries
        .into_iter()
        .map(|entry| entry.backend.as_str())
        .collect()
}

fn machine(study: &Study) -> Markup {
    let threads: BTreeSet<usize> = study.rows.iter().map(|m| m.row.threads).collect();
    let threads: Vec<_> = threads.iter().map(ToString::to_string).collect();
    let machine = &study.machine;
    let adapter = machine.adapter_label();
    let mut facts = vec![
        ("processor", known(&machine.cpu, "unknown").to_owned()),
        ("threads", threads.join(", ")),
        ("adapter", known(&adapter, "none").to_owned()),
        ("driver", known(&machine.driver, "none").to_owned()),
        ("system", known(&machine.os, "unknown").to_owned()),
    ];
    if let Some(revision) = study.rows.iter().find_map(|m| revision(&m.row)) {
        facts.push(("revision", revision));
    }
    if let Some(rustc) = study.rows.iter().find_map(|m| m.row.rustc.as_ref()) {
        facts.push(("compiler", format!("rustc {rustc}")));
    }
    let minutes: BTreeSet<&str> = study.rows.iter().map(|m| minute(&m.row.utc)).collect();
    let mut measured: Vec<&str> = minutes.first().copied().into_iter().collect();
    measured.extend(minutes.last().filter(|_| minutes.len() > 1));
    if !measured.is_empty() {
        facts.push(("measured", measured.join(" to ").replace('T', " ")));
    }
    html! {
        h2 { "The machine" }
        dl { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
    }
}

/// The commit that a row's program was built from.
fn revision(row: &SummaryRow) -> Option<String> {
    let commit = abbreviated(row.git_rev.as_deref()?);
    let changed = if row.dirty == Some(true) {
        ", changed since"
    } else {
        ""
    };
    Some(format!("{commit}{changed}"))
}

/// A time up to its minute.
fn minute(utc: &str) -> &str {
    utc.get(..16).unwrap_or(utc)
}

fn figure(chart: &Chart, prefix: &str) -> Markup {
    html! {
        figure id={ (prefix) (chart.id) } {
            h2 { (chart.title) }
            (PreEscaped(chart.svg()))
            figcaption { (chart.caption) }
            details { summary { "The same as a table" } (text_table(&chart.table)) }
        }
    }
}

fn text_table(rows: &[Vec<String>]) -> Markup {
    let head = rows.first().map_or(&[][..], |head| head);
    let rows =
        html! { @for row in rows.iter().skip(1) { tr { @for cell in row { td { (cell) } } } } };
    table(None, heads(head), rows)
}

/// A table that scrolls by itself, of classes, the cells of its heading, and its rows.
fn table(classes: Option<&str>, head: Markup, rows: Markup) -> Markup {
    html! { div.scroll { table class=[classes] { thead { tr { (head) } } tbody { (rows) } } } }
}

/// Cells of a heading.
fn heads(names: impl IntoIterator<Item = impl AsRef<str>>) -> Markup {
    html! { @for name in names { th scope="col" { (name.as_ref()) } } }
}

/// The decision card of each headline point.
fn decisions(study: &Study, prefix: &str) -> Markup {
    html! {
        section id=(format!("{prefix}card")) {
            h2 { "Which to ship" }
            p { "Memory is what frames need on host and device, without pictures and staging. MB up are copied to the device \
                 in every frame. Joints: when gameplay has them in main memory." }
            @for point in study.headlines() {
                h3 { (place(point)) }
                ul { @for answer in card::answers(study, point) { li { (answer) } } }
                @for section in card::sections(study, point) { (card_section(&section)) }
            }
        }
    }
}

/// A section of the card, which phones show as a list for each backend.
fn card_section(section: &card::Section) -> Markup {
    let headings = &section.rows[0];
    html! {
        div.scroll {
            table.card {
                caption { (section.title) }
                thead { tr { (heads(headings)) } }
                tbody {
                    @for row in &section.rows[1..] {
                        tr {
                            th scope="row" { (row[0]) }
                            @for (heading, cell) in headings.iter().zip(row).skip(1) {
                                td data-heading=(heading) { (cell) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn parity(study: &Study, prefix: &str) -> Markup {
    let mut rows = headed(["backend", "largest error", "limit", "verdict"]);
    for backend in names(&study.entries) {
        let runs: Vec<_> = study
            .entries
            .iter()
            .filter(|e| e.backend == backend)
            .filter_map(|e| e.last())
            .collect();
        // Nothing is worse than NaN.
        let worst = runs
            .iter()
            .filter_map(|m| m.row.parity_max_rel)
            .max_by(f64::total_cmp);
        let limit = runs.iter().find_map(|m| m.row.parity_tol);
        let failed = runs.iter().find(|m| m.row.status == Status::ParityFailed);
        let verdict = match (failed, worst) {
            (Some(m), _) => format!(
                "failed: {}",
                m.row.error.as_deref().unwrap_or("no reason given")
            ),
            (None, Some(_)) => "agrees with the reference".into(),
            (None, None) => {
                let reason = runs
                    .iter()
                    .find_map(|m| m.row.error.clone())
                    .unwrap_or_default();
                format!("not run: {reason}")
            }
        };
        let [worst, limit] = [worst, limit].map(magnitude_or_dash);
        rows.push(vec![backend.into(), worst, limit, verdict]);
    }
    html! {
        section.parity id={ (prefix) "parity" } {
            h2 { "Parity" }
            p { "Before a backend is timed, its vertices are held against an f64 reference. Errors are distances over the \
                 diagonal of the model's bounding box." }
            (text_table(&rows))
        }
    }
}

/// Every row, with a button in each heading that sorts by it.
fn raw(study: &Study, prefix: &str) -> Markup {
    let columns = [
        "scene", "crowd", "passes", "threads", "backend", "stage", "clock", "frames", "median",
        "MAD", "95 %", "99 %", "status",
    ];
    html! {
        section id={ (prefix) "raw" } {
            h2 { "All rows" }
            details {
            summary { (study.rows.len()) " rows of figures" }
            div.scroll {
                table.sortable {
                    caption { (study.rows.len()) " rows" span.hint { "; choose a heading to sort" } }
                    thead { tr { (heads(columns)) } }
                    tbody {
                        @for row in study.rows.iter().map(|m| &m.row) {
                            tr {
                                td { (row.scene) }
                                (number_cell(row.instances as u64))
                                (number_cell(u64::from(row.passes)))
                                (number_cell(row.threads as u64))
                                td { (row.backend_and_variant()) }
                                td { (row.stage.name()) }
                                td { (row.clock.name()) }
                                (number_cell(row.frames.unwrap_or(0) as u64))
                                (time_cell(row.median_ns))
                                (time_cell(row.mad_ns))
                                (time_cell(row.p95_ns))
                                (time_cell(row.p99_ns))
                                td { (row.status.name()) @if row.noisy == Some(true) { ", noisy" } @if let Some(error) = &row.error { ": " (error) } }
                            }
                        }
                    }
                }
            }
            }
        }
    }
}

fn time_cell(ns: Option<u64>) -> Markup {
    html! { td.number data-sort=(ns.map_or(-1.0, |ns| ns as f64)) { (duration_or_dash(ns)) } }
}

fn number_cell(value: u64) -> Markup {
    html! { td.number data-sort=(value) { (grouped(value)) } }
}

fn downloads(study: &Study) -> Markup {
    html! {
        section #download {
            h2 { "The data" }
            ul {
                @for (name, text) in ["summary", "samples"].into_iter().flat_map(|kind| joined(study, kind)) {
                    li {
                        @match link(&name, &text) {
                            Some(link) => (link),
                            None => { (name) ": too long for this page" }
                        }
                    }
                }
            }
        }
    }
}

/// A file inside the page: plain if it is short, otherwise compressed; `None` if it is too long even so.
fn link(name: &str, text: &str) -> Option<Markup> {
    let mut name = name.to_owned();
    let mut kind = "text/csv";
    let mut bytes = text.as_bytes().to_vec();
    if text.len() > PLAIN_BYTES {
        name += ".gz";
        kind = "application/gzip";
        bytes = gzip(text)?;
    }
    if bytes.len() > FILE_BYTES {
        return None;
    }
    let href = format!("data:{kind};base64,{}", STANDARD.encode(bytes));
    Some(html! { a download=(name) href=(href) { (name) } })
}

/// Names and texts of the files of a kind beside the summaries: those with the same columns are joined under a single
/// heading, others are files of their own.
fn joined(study: &Study, kind: &str) -> Vec<(String, String)> {
    let mut texts: IndexMap<&str, String> = IndexMap::new();
    for file in &study.files {
        let text = if kind == "summary" {
            Some(&file.summary)
        } else {
            file.samples.as_ref()
        };
        let Some(text) = text else { continue };
        // A last line without an end is cut off, and would run into the next file's first.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let Some((heading, rows)) = whole.split_once('\n') else {
            continue;
        };
        texts
            .entry(heading.trim_end())
            .or_insert_with(|| format!("{heading}\n"))
            .push_str(rows);
    }
    let mut named = Vec::new();
    for (index, text) in texts.into_values().enumerate() {
        let name = if index == 0 {
            format!("{kind}.csv")
        } else {
            format!("{kind}-{}.csv", index + 1)
        };
        named.push((name, text));
    }
    named
}

fn gzip(text: &str) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes()).ok()?;
    encoder.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Measurement;
    use crate::results::recorded::{Recorded, ResultFile};

    #[test]
    fn an_error_that_is_no_number_is_the_largest() {
        let entry = |error| {
            let row = SummaryRow {
                backend: "cpu".into(),
                parity_max_rel: Some(error),
                ..SummaryRow::default()
            };
            let (point, backend) = (row.point(), row.backend_and_variant());
            StudyEntry {
                point,
                backend,
                runs: vec![vec![Measurement {
                    row,
                    samples: Vec::new(),
                }]],
            }
        };
        for errors in [[f64::NAN, 1e-3], [1e-3, f64::NAN]] {
            let mut study = Study::new(Recorded::default());
            study.entries.extend(errors.map(entry));
            let page = parity(&study, "").into_string();
            assert!(
                page.contains("<td>cpu</td><td>NaN</td>"),
                "{errors:?}: {page}"
            );
        }
    }

    #[test]
    fn downloads_have_whole_lines_and_one_heading_each() {
        let mut study = Study::new(Recorded::default());
        for text in ["a,b\n1,2\n3,", "a,b\n5,6\n", "a,b,c\n7,8,9\n", ""] {
            let (name, summary, samples_name) = (String::new(), text.into(), String::new());
            study.files.push(ResultFile {
                name,
                summary,
                samples_name,
                samples: None,
            });
        }
        let expected = [
            ("summary.csv", "a,b\n1,2\n5,6\n"),
            ("summary-2.csv", "a,b,c\n7,8,9\n"),
        ];
        assert_eq!(
            joined(&study, "summary"),
            expected.map(|(name, text)| (name.to_owned(), text.to_owned()))
        );
    }
}
