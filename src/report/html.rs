//! The HTML page: self-contained, without network access, readable without scripts, with its CSV embedded.

use super::chart::{self, Chart, charts};
use super::findings::{answers, emulated, findings};
use super::places::place;
use super::run_text::{about_times, verdict_table};
use super::table::{Table, Value, magnitude};
use super::units::abbreviated;
use super::{card, head, markdown, run_table, wide};
use crate::harness::run::Status;
use crate::results::{Point, Row, SampleRow, Study, known, lines_of};
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
/// Verdicts that are sentences; more are a table.
const SENTENCES: usize = 2;

/// The page of the results of some machines, the first of which has the remarks of all.
///
/// # Panics
/// There is no study.
pub fn page(studies: &[Study]) -> String {
    let points = studies.iter().flat_map(|study| &study.points);
    let scenes: BTreeSet<&str> = points.map(|point| point.scene.as_str()).collect();
    let scenes = scenes.into_iter().collect::<Vec<_>>().join(", ");
    let on = match studies {
        [study] => known(&study.machine.cpu, "an unknown processor").to_owned(),
        _ => format!("{} machines", studies.len()),
    };
    let title = format!("skinbench: {scenes} on {on}");
    let body = html! {
        a.skip href="#raw" { "Skip to the table" }
        main {
            h1 { "Skinning " (scenes) }
            @if studies.len() > 1 { (side_by_side(studies)) }
            @for (index, study) in studies.iter().enumerate() {
                @if studies.len() > 1 {
                    section.machine {
                        h1 { (study.machine) }
                        (results(study, &format!("machine-{}-", index + 1)))
                    }
                } @else { (results(study, "")) }
            }
            (all_rows(studies))
            (downloads(studies))
        }
        script { (PreEscaped(SCRIPT)) }
    };
    head::page(&title, None, &[chart::STYLE, STYLE], None, body).into_string()
}

/// The headline crowds of all machines in one table, the machine being a column.
fn side_by_side(studies: &[Study]) -> Markup {
    let mut crowds: IndexMap<String, Vec<(&Study, &Point)>> = IndexMap::new();
    for study in studies {
        for point in study.headlines() {
            crowds.entry(place(point)).or_default().push((study, point));
        }
    }
    let mut tables = Vec::with_capacity(crowds.len());
    for (crowd, points) in &crowds {
        let mut backends = IndexSet::new();
        for (study, point) in points {
            let ranked = study.ranked(point).into_iter();
            backends.extend(ranked.map(|entry| entry.backend.clone()));
        }
        tables.push(machines_table(points, &backends).html(crowd));
    }
    html! {
        section.machines { @for table in &tables { (table) } }
    }
}

/// The ranked time of each backend at a crowd on each machine.
fn machines_table(points: &[(&Study, &Point)], backends: &IndexSet<String>) -> Table {
    let mut headings = vec!["backend".to_owned()];
    headings.extend(points.iter().map(|(study, _)| study.machine.to_string()));
    let mut table = Table::new(headings);
    for backend in backends {
        let mut row = vec![Value::words(backend)];
        for (study, point) in points {
            let mut entries = study.at(point);
            let entry = entries.find(|entry| entry.backend == *backend);
            let time = entry.and_then(|entry| entry.time(study.quantity(point.passes)));
            row.push(super::table::time(time));
        }
        table.push(row);
    }
    table
}

/// Everything about one machine; `prefix` makes ids unique.
fn results(study: &Study, prefix: &str) -> Markup {
    let found = findings(study);
    let charts = charts(study);
    html! {
        (verdicts(study))
        @if let Some(first) = charts.first() { (figure(first, prefix)) }
        @if !found.is_empty() { ul.answers { @for answer in &found { li { (prose(&answer.to_string())) } } } }
        @for (index, point) in study.headlines().into_iter().enumerate() {
            details.point open[index == 0] {
                summary { h2 { (place(point)) } }
                (run_table::table(study, point).html("medians of a frame and its stages"))
                ul { @for answer in answers(study, point) { li { (prose(&answer.to_string())) } } }
                @for section in card::sections(study, point) { (section.table.html(section.title)) }
            }
        }
        @if charts.len() > 1 {
            details {
                summary { h2 { "More charts" } }
                @for chart in &charts[1..] { (figure(chart, prefix)) }
            }
        }
        (parity(study, prefix))
        (machine(study))
        @if !study.notes.is_empty() {
            details.problems {
                summary { (study.notes.len()) " remarks on these results" }
                ul { @for note in &study.notes { li { (prose(&note.to_string())) } } }
            }
        }
    }
}

/// The verdicts on the headline points: sentences for a few, a table for more. Then what they say nothing about.
fn verdicts(study: &Study) -> Markup {
    html! {
        @if study.headlines().len() > SENTENCES {
            (verdict_table(study).html("The fastest backend for each crowd"))
            @for remark in about_times(study).into_iter().chain(emulated(study)) { p { (remark) } }
        } @else {
            ul.verdict { @for verdict in markdown::verdicts(study) { li { (prose(&verdict)) } } }
        }
    }
}

/// Sentences in which code stands between backticks.
fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

fn machine(study: &Study) -> Markup {
    let threads: BTreeSet<usize> = study.points.iter().map(|point| point.threads).collect();
    let threads: Vec<_> = threads.iter().map(ToString::to_string).collect();
    let machine = &study.machine;
    let mut facts = vec![
        ("processor", known(&machine.cpu, "unknown").to_owned()),
        ("threads", threads.join(", ")),
        ("adapter", known(&machine.adapter, "none").to_owned()),
        ("driver", known(&machine.driver, "none").to_owned()),
        ("system", known(&machine.os, "unknown").to_owned()),
    ];
    if let Some(revision) = study.rows().find_map(revision) {
        facts.push(("revision", revision));
    }
    if let Some(rustc) = study.rows().find_map(|row| row.rustc.as_ref()) {
        facts.push(("compiler", format!("rustc {rustc}")));
    }
    // Up to the minute.
    let minutes: BTreeSet<&str> = study
        .rows()
        .map(|row| row.utc.get(..16).unwrap_or(&row.utc))
        .collect();
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
fn revision(row: &Row) -> Option<String> {
    let commit = abbreviated(row.git_rev.as_deref()?);
    let changed = if row.dirty == Some(true) {
        ", changed since"
    } else {
        ""
    };
    Some(format!("{commit}{changed}"))
}

fn figure(chart: &Chart, prefix: &str) -> Markup {
    html! {
        figure id={ (prefix) (chart.id) } {
            h2 { (chart.title) }
            (PreEscaped(chart.svg()))
            figcaption { (chart.caption) }
            details { summary { "The same as a table" } (chart.table.html("")) }
        }
    }
}

fn parity(study: &Study, prefix: &str) -> Markup {
    let mut table = Table::new(["backend", "largest error", "limit", "verdict"]);
    let mut backends: IndexMap<&str, Vec<&Row>> = IndexMap::new();
    for entry in &study.entries {
        let rows = backends.entry(&entry.backend).or_default();
        rows.extend(entry.last());
    }
    for (backend, rows) in backends {
        // Nothing is worse than NaN.
        let worst = rows
            .iter()
            .filter_map(|row| row.parity_max_rel)
            .max_by(f64::total_cmp);
        let limit = rows.iter().find_map(|row| row.parity_tol);
        let failed = rows.iter().find(|row| row.status == Status::ParityFailed);
        let verdict = match (failed, worst) {
            (Some(row), _) => format!(
                "failed: {}",
                row.error.as_deref().unwrap_or("no reason given")
            ),
            (None, Some(_)) => "agrees with the reference".into(),
            (None, None) => {
                let reason = rows.iter().find_map(|row| row.error.clone());
                format!("not run: {}", reason.unwrap_or_default())
            }
        };
        table.push(vec![
            Value::words(backend),
            magnitude(worst),
            magnitude(limit),
            Value::Words(verdict),
        ]);
    }
    html! {
        section.parity id={ (prefix) "parity" } {
            h2 { "Parity" }
            p { "Before a backend is timed, its vertices are held against an f64 reference. Errors are distances over the \
                diagonal of the model's bounding box." }
            (table.html(""))
        }
    }
}

/// Every row, which readers with scripts sort by a heading.
fn all_rows(studies: &[Study]) -> Markup {
    let table = wide::all_rows(studies.iter().flat_map(Study::rows));
    html! {
        section #raw {
            h2 { "All rows" }
            details {
                summary { (table.len()) " rows of summary.csv, with the columns in which they differ" }
                (table.html("choose a heading to sort"))
            }
        }
    }
}

fn downloads(studies: &[Study]) -> Markup {
    let rows: Vec<&Row> = studies.iter().flat_map(Study::rows).collect();
    let samples = lines_of(rows.iter().flat_map(|row| SampleRow::all(row)), true);
    let files = [
        ("summary.csv", lines_of(rows, true)),
        ("samples.csv", samples),
    ];
    html! {
        section #download {
            h2 { "The data" }
            ul {
                @for (name, bytes) in files.map(|(name, bytes)| (name, bytes.unwrap_or_default())) {
                    @if !bytes.is_empty() {
                        li {
                            @match link(name, bytes) {
                                Some(link) => (link),
                                None => { (name) ": too long for this page" }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A file inside the page: plain if it is short, otherwise compressed; `None` if it is too long even so.
fn link(name: &str, mut bytes: Vec<u8>) -> Option<Markup> {
    let mut name = name.to_owned();
    let mut kind = "text/csv";
    if bytes.len() > PLAIN_BYTES {
        name += ".gz";
        kind = "application/gzip";
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&bytes).ok()?;
        bytes = encoder.finish().ok()?;
    }
    if bytes.len() > FILE_BYTES {
        return None;
    }
    let href = format!("data:{kind};base64,{}", STANDARD.encode(bytes));
    Some(html! { a download=(name) href=(href) { (name) } })
}
