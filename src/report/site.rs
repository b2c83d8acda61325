//! The comparison site: submitted results of many machines side by side. It needs neither a server nor a network;
//! filters are a script in the page, and without it everything but the comparison of two backends can be read.

use super::findings::{drawn, fastest, place};
use super::head;
use super::html::{heads, names, table};
use super::units::{abbreviated, duration, duration_or_dash, grouped};
use crate::results::bundle::ENDING;
use crate::results::check::{Checked, Division};
use crate::results::crossover::crossovers;
use crate::results::key::{PointKey, known};
use crate::results::{Axis, Lead, Point, Quantity, Ranking, Session, Study, StudyEntry, ranking};
use maud::{Markup, PreEscaped, Render, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::{BTreeMap, BTreeSet};

const STYLE: &str = concat!(include_str!("report.css"), include_str!("site.css"));
const SCRIPT: &str = concat!(include_str!("report.js"), include_str!("site.js"));
const QUANTITIES: [Quantity; 2] = [Quantity::Frame, Quantity::Work];
/// Most bytes and rows of all bundles together, and most cells of the table of adapters.
const MOST_BYTES: usize = 512 << 20;
const MOST_ROWS: usize = 250_000;
const MOST_CELLS: usize = 4_000_000;
/// Characters that have a meaning in links, or may have one.
const IN_LINKS: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A bundle whose check found no faults.
#[derive(Debug)]
pub struct Submission {
    /// Name of the bundle without its ending; also that of its page.
    pub name: String,
    /// The sender's remark.
    pub note: Option<String>,
    /// The result of the check.
    pub checked: Checked,
}

/// Link to a file beside the page. `./` keeps a name with a colon from being read as a scheme.
fn link(name: &str, ending: &str) -> String {
    format!("./{}{ending}", utf8_percent_encode(name, &IN_LINKS))
}

/// One machine of one bundle: a column of the tables.
struct Column<'a> {
    submission: &'a Submission,
    study: &'a Study,
    /// The point of each crowd; of several with different numbers of threads that with the most.
    points: BTreeMap<PointKey, &'a Point>,
}

/// The crowds of all machines, each with one of its points.
type Crowds<'a> = BTreeMap<&'a PointKey, &'a Point>;

/// A crowd and the way it is run, on any machine: a point without what depends on the machine.
fn crowd_of(point: &Point) -> PointKey {
    PointKey {
        vertices: None,
        influences: None,
        models: None,
        threads: None,
        ..point.key()
    }
}

impl<'a> Column<'a> {
    fn new(submission: &'a Submission, study: &'a Study) -> Self {
        let mut points: BTreeMap<PointKey, &Point> = BTreeMap::new();
        for point in &study.points {
            let known = points.entry(crowd_of(point)).or_insert(point);
            if point.threads >= known.threads {
                *known = point;
            }
        }
        Self {
            submission,
            study,
            points,
        }
    }

    fn entries(&self, crowd: &PointKey) -> Vec<&'a StudyEntry> {
        let point = self.points.get(crowd);
        point
            .into_iter()
            .flat_map(|point| self.study.at(point))
            .filter(|entry| entry.is_ok())
            .collect()
    }

    fn division(&self) -> &'static str {
        self.submission.checked.division.name()
    }

    fn is_of_browser(&self) -> bool {
        self.submission.checked.division == Division::Browser
    }

    fn label(&self) -> Markup {
        let machine = &self.study.machine;
        html! {
            a href=(link(&self.submission.name, ".html")) { (known(&machine.cpu, "unknown processor")) } br;
            (known(&machine.adapter_label(), "no adapter")) br;
            (self.division()) " division"
        }
    }
}

/// The reason why bundles are too many for one site, if they are.
pub fn excess(submissions: &[Submission]) -> Option<String> {
    let mut bytes = 0;
    let mut rows = 0;
    let mut machines = 0;
    let mut entries = 0;
    for Submission { checked, .. } in submissions {
        rows += checked.rows;
        machines += checked.studies.len();
        for study in &checked.studies {
            entries += study.entries.len();
        }
        for file in &checked.studies[0].files {
            bytes += file.summary.len() + file.samples.as_ref().map_or(0, String::len);
        }
    }
    for (what, count, most) in [
        ("bytes", bytes, MOST_BYTES),
        ("rows", rows, MOST_ROWS),
        (
            "cells (machines times backends at crowds)",
            entries * machines,
            MOST_CELLS,
        ),
    ] {
        if count > most {
            return Some(format!(
                "the bundles up to this one have {count} {what}; expected at most {most}: make several sites"
            ));
        }
    }
    None
}

/// The page that compares all submissions.
pub fn index(submissions: &[Submission]) -> String {
    let mut columns = Vec::new();
    for submission in submissions {
        for study in &submission.checked.studies {
            columns.push(Column::new(submission, study));
        }
    }
    // Native results first.
    columns.sort_by_key(Column::is_of_browser);
    let mut crowds = Crowds::new();
    for column in &columns {
        for (crowd, point) in &column.points {
            crowds.entry(crowd).or_insert(point);
        }
    }
    let body = html! {
        main.wide {
            h1 { "Skinning on many machines" }
            p { "Results that people sent to skinbench. Every median on this page was computed again from the samples in \
                 the bundles. A check finds edited bundles; it cannot tell whether a figure was invented, so trust most \
                 what several machines confirm." }
            (sent(submissions))
            (filters(&columns, &crowds))
            (fastest_by_machine(&columns, &crowds))
            (side_by_side(&columns, &crowds))
            (versus())
            (crossings(&columns))
        }
        script { (PreEscaped(SCRIPT)) }
    };
    head::page(
        "skinbench: skinning on many machines",
        None,
        &[STYLE],
        None,
        body,
    )
    .into_string()
}

fn sent(submissions: &[Submission]) -> Markup {
    let columns = [
        "results",
        "division",
        "processor",
        "adapter",
        "system",
        "settings",
        "load",
        "built from",
        "remark",
    ];
    html! {
        section #sent {
            h2 { "Submissions" }
            (table(None, heads(columns), html! {
                @for submission in submissions {
                    @let machine = &submission.checked.studies[0].machine;
                    @let sessions = &submission.checked.sessions;
                    tr {
                        td {
                            a href=(link(&submission.name, ".html")) { (submission.name) } " ("
                            a href=(link(&submission.name, ENDING)) { "bundle" } ")"
                        }
                        td {
                            @let division = &submission.checked.division;
                            @let reasons = &submission.checked.reasons;
                            @if reasons.is_empty() { (division.name()) }
                            @else { details { summary { (division.name()) } (reasons.join("; ")) } }
                        }
                        td { (known(&machine.cpu, "unknown")) }
                        td { (known(&machine.adapter_label(), "none")) }
                        td { (machine.os) }
                        td { (facts(sessions, settings)) }
                        td { (facts(sessions, load)) }
                        td { (facts(sessions, built_from)) }
                        td.remark { (submission.note.as_deref().unwrap_or_default()) }
                    }
                }
            }))
        }
    }
}

/// Answers of sessions, each different one once.
fn facts(sessions: &[Session], fact: fn(&Session) -> String) -> String {
    let mut all: Vec<String> = sessions.iter().map(fact).collect();
    all.dedup();
    all.join("; ")
}

fn settings(session: &Session) -> String {
    let hardware = &session.hardware;
    let mut words = vec![format!("{} processors", hardware.processors)];
    if hardware.virtualised == Some(true) {
        words.push("virtual machine".into());
    }
    if let Some(governor) = &hardware.governor {
        words.push(format!("governor {governor}"));
    }
    if let Some(boost) = hardware.boost {
        words.push(if boost { "boost on" } else { "boost off" }.into());
    }
    if let Some(bytes) = hardware.memory_bytes {
        words.push(format!("{:.0} GiB", bytes as f64 / f64::from(1 << 30)));
    }
    words.extend(session.before.power.clone());
    words.join(", ")
}

fn load(session: &Session) -> String {
    let after = session.after.as_ref().and_then(|after| after.load);
    let [before, after] = [session.before.load, after]
        .map(|load| load.map_or("unknown".into(), |load| format!("{load:.1}")));
    format!("{before} before, {after} after")
}

fn built_from(session: &Session) -> String {
    let program = &session.program;
    let commit = program
        .build
        .git_rev
        .as_deref()
        .map_or("unknown commit", abbreviated);
    let changed = if program.build.dirty == Some(true) {
        " with changes"
    } else {
        ""
    };
    format!("{}, {commit}{changed}", program.version)
}

/// Controls that hide rows and columns; they appear only if the script runs.
fn filters(columns: &[Column], crowds: &Crowds) -> Markup {
    let points = crowds.values();
    let scenes: BTreeSet<&str> = points.clone().map(|point| point.scene.as_str()).collect();
    let passes: BTreeSet<u32> = points.clone().map(|point| point.passes).collect();
    let instances: BTreeSet<usize> = points.map(|point| point.instances).collect();
    let divisions: BTreeSet<&str> = columns.iter().map(Column::division).collect();
    html! {
        form #filters hidden {
            h2 { "Show" }
            (choice("scene", "scene", scenes))
            (choice("passes", "passes", passes))
            (choice("instances", "instances", instances))
            (choice("time", "quantity", QUANTITIES.map(Quantity::name)))
            (choice("division", "division", divisions))
            label { "backends with " input name="backend" size="14" placeholder="such as gpu"; }
            label { input name="emulated" type="checkbox" checked; " software adapters" }
            fieldset {
                legend { "machines" }
                @for (index, column) in columns.iter().enumerate() {
                    label { input name="machine" type="checkbox" value=(index) checked; " " (column.submission.name) }
                }
            }
        }
    }
}

/// A list of values of which one or all are shown.
fn choice(label: &str, name: &str, values: impl IntoIterator<Item: Render>) -> Markup {
    html! {
        label {
            (label) " "
            select name=(name) {
                option value="" { "all" }
                @for value in values { option { (value) } }
            }
        }
    }
}

/// Headings of the machines, with what the script filters by.
fn machine_heads(columns: &[Column]) -> Markup {
    html! {
        @for (index, column) in columns.iter().enumerate() {
            th scope="col" data-machine=(index) data-name=(column.submission.name) data-division=(column.division()) data-emulated[column.study.machine.is_emulated] { (column.label()) }
        }
    }
}

fn fastest_by_machine(columns: &[Column], crowds: &Crowds) -> Markup {
    html! {
        section #fastest {
            h2 { "The fastest way, by machine" }
            p { "Named as fastest only with the certainty of the interval of the ratio to the next one; otherwise the text says so. \
                 Where an adapter is emulated, drawn crowds compare by pose + upload + skin." }
            @let head = html! { (heads(["crowd"])) (machine_heads(columns)) (heads(["machines"])) };
            (table(Some("cells"), head, html! {
                @for (crowd, point) in crowds {
                    @let ranked: Vec<Option<Ranking>> = columns.iter().map(|c| ranking(c.study, c.points.get(crowd)?)).collect();
                    tr data-scene=(point.scene) data-passes=(point.passes) data-instances=(point.instances) {
                        th scope="row" { (place(point)) }
                        @for (index, ranking) in ranked.iter().enumerate() {
                            td data-machine=(index) { @if let Some(ranking) = ranking { (fastest(ranking).join(" ")) } @else { "-" } }
                        }
                        td { (confirmed(columns, &ranked)) }
                    }
                }
            }))
        }
    }
}

/// Whether machines agree on the fastest backend of a crowd: native ones with each other, and browsers with each other.
fn confirmed(columns: &[Column], ranked: &[Option<Ranking>]) -> Markup {
    let mut native = Vec::new();
    let mut browsers = Vec::new();
    for (column, ranking) in columns.iter().zip(ranked) {
        if let Some(ranking) = ranking {
            let kind = if column.is_of_browser() {
                &mut browsers
            } else {
                &mut native
            };
            kind.push((column, ranking));
        }
    }
    html! {
        @if !native.is_empty() { (agreement(&native)) }
        @if !native.is_empty() && !browsers.is_empty() { br; }
        @if !browsers.is_empty() { "in browsers: " (agreement(&browsers)) }
    }
}

/// Whether machines agree, and which. Two backends that run on the processor are confirmed by another processor;
/// otherwise another adapter counts as another machine, too.
fn agreement(ranked: &[(&Column, &Ranking)]) -> Markup {
    let mut sure: BTreeMap<&str, BTreeMap<(&str, String), &str>> = BTreeMap::new();
    for (column, ranking) in ranked {
        let Ranking {
            first,
            second: Some(second),
            ..
        } = ranking
        else {
            continue;
        };
        if second.lead == Lead::Certain {
            let on_host = [&first.backend, &second.entry.backend]
                .iter()
                .all(|name| name.starts_with("cpu"));
            let machine = &column.study.machine;
            let adapter = if on_host {
                String::new()
            } else {
                machine.adapter_label()
            };
            let submissions = sure.entry(&first.backend).or_default();
            submissions
                .entry((&machine.cpu, adapter))
                .or_insert(&column.submission.name);
        }
    }
    let mut found = Vec::new();
    for (backend, submissions) in &sure {
        let names: Vec<&str> = submissions.values().copied().collect();
        found.push(format!("{backend} on {}", names.join(" and ")));
    }
    let found = found.join(", ");
    html! {
        @match (sure.len(), sure.first_key_value()) {
            (0, _) => "none is sure",
            (1, Some((_, machines))) if machines.len() > 1 => { strong { "confirmed by " (machines.len()) " machines" } ": " (found) }
            (1, _) => (found),
            _ => { "machines differ: " (found) }
        }
    }
}

/// The times of all machines; the script compares two backends by the nanoseconds of the cells.
fn side_by_side(columns: &[Column], crowds: &Crowds) -> Markup {
    html! {
        section #adapters {
            h2 { "Adapters side by side" }
            p { "Medians. A frame includes drawing, and an emulated adapter draws on the processor: compare its drawn frames with \
                 nothing." }
            @let head = html! { (heads(["crowd", "backend", "time"])) (machine_heads(columns)) };
            (table(Some("cells"), head, html! {
                @for (at, (crowd, point)) in crowds.iter().enumerate() {
                    @let entries: Vec<Vec<&StudyEntry>> = columns.iter().map(|column| column.entries(crowd)).collect();
                    @for backend in names(entries.iter().flatten().copied()) {
                        @for quantity in QUANTITIES {
                            @let times: Vec<Option<u64>> = entries.iter().map(|entries| time(entries, backend, quantity)).collect();
                            @if times.iter().any(Option::is_some) {
                                tr data-crowd=(at) data-scene=(point.scene) data-passes=(point.passes) data-instances=(point.instances) data-backend=(backend) data-quantity=(quantity.name()) {
                                    th scope="row" { (place(point)) }
                                    td { (backend) }
                                    td { (quantity.name()) }
                                    @for (index, ns) in times.iter().enumerate() {
                                        td.number data-machine=(index) data-ns=[*ns] { (duration_or_dash(*ns)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }))
        }
    }
}

fn time(entries: &[&StudyEntry], backend: &str, quantity: Quantity) -> Option<u64> {
    entries
        .iter()
        .find(|entry| entry.backend == backend)?
        .time(quantity)
}

/// The comparison of two backends, which the script fills.
fn versus() -> Markup {
    html! {
        section #versus {
            h2 { "One way against another" }
            noscript { p { "This comparison needs a script; the table above has the same times." } }
            p.choice hidden {
                label { "The time of " select name="one" {} }
                label { " over that of " select name="other" {} }
                ": below 1, the first is faster."
            }
            (table(Some("cells"), html! {}, html! {}))
        }
    }
}

fn crossings(columns: &[Column]) -> Markup {
    let columns_of_crossings = [
        "machine",
        "scene",
        "from this many instances on",
        "95 % certain between",
        "this is faster",
        "than this",
        "both take there",
    ];
    html! {
        section #crossovers {
            h2 { "Crossovers by machine" }
            p { "Crowds at which one backend overtakes another, where both are the fastest. A machine without a row has no crossing \
                 that is certain." }
            (table(Some("sortable cells"), heads(columns_of_crossings), html! {
                @for (index, column) in columns.iter().enumerate() {
                    @for sheet in column.study.sheets(Axis::Instances) {
                        @for crossing in crossovers(column.study, sheet).iter().filter(|crossing| crossing.leads) {
                            tr data-machine=(index) data-scene=(sheet.fixed.scene) data-passes=[sheet.fixed.passes] {
                                td { (column.submission.name) }
                                td { (sheet.fixed.scene) ", " (sheet.fixed.passes.map_or(String::new(), drawn)) ", " (sheet.quantity.name()) }
                                td.number data-sort=(crossing.at) { (whole(crossing.at)) }
                                td.number { (whole(crossing.range.0)) " and " (whole(crossing.range.1)) }
                                td { (crossing.above) }
                                td { (crossing.below) }
                                td.number data-sort=(crossing.ns) { (duration(crossing.ns as u64)) }
                            }
                        }
                    }
                }
            }))
        }
    }
}

fn whole(value: f64) -> String {
    grouped(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::recorded::Recorded;
    use crate::results::rows::SummaryRow;

    #[test]
    fn sites_are_bounded() {
        let study = Study::new(Recorded::default());
        let submission = || Submission {
            name: String::new(),
            note: None,
            checked: Checked {
                faults: Vec::new(),
                division: Division::Closed,
                reasons: Vec::new(),
                sessions: Vec::new(),
                rows: 125_000,
                samples: 0,
                studies: vec![study.clone()],
            },
        };
        assert_eq!(excess(&[submission(), submission()]), None);
        let problem = excess(&[submission(), submission(), submission()]).unwrap_or_default();
        assert!(
            problem.ends_with("have 375000 rows; expected at most 250000: make several sites"),
            "{problem}"
        );
        let mut wide = submission();
        wide.checked.studies[0].entries = vec![
            StudyEntry {
                point: SummaryRow::default().point(),
                backend: String::new(),
                runs: Vec::new()
            };
            2_001
        ];
        wide.checked.studies.resize(2_000, study.clone());
        let problem = excess(&[wide]).unwrap_or_default();
        assert!(
            problem.contains("have 4002000 cells (machines times backends at crowds); expected "),
            "{problem}"
        );
    }

    #[test]
    fn links_lead_to_files_of_any_name() {
        assert_eq!(
            link("javascript:alert(1)#x", ".html"),
            "./javascript%3Aalert%281%29%23x.html"
        );
        assert_eq!(link("a b?c%20", ".tar.gz"), "./a%20b%3Fc%2520.tar.gz");
        assert_eq!(link("epyc-7_2.1", ".html"), "./epyc-7_2.1.html");
    }
}
