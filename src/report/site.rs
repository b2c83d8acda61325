//! The comparison site: submitted results of many machines side by side. It needs neither a server nor a network;
//! filters are a script in the page, and without it everything but the comparison of two backends can be read.

use super::findings::{drawn, fastest, place};
use super::head;
use super::html::{heads, known, names, table};
use super::units::{abbreviated, duration, grouped};
use crate::results::bundle::ENDING;
use crate::results::check::{Checked, Division};
use crate::results::crossover::crossovers;
use crate::results::{
    Axis, Lead, Machine, Point, Quantity, Ranking, ResultFile, Session, Study, StudyEntry, ranking,
};
use maud::{Markup, PreEscaped, html};
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
    points: BTreeMap<Point, &'a Point>,
}

/// A crowd and the way it is run, on any machine: a point without what depends on the machine.
fn crowd_of(point: &Point) -> Point {
    Point {
        vertices: 0,
        influences: 0,
        models: 0,
        threads: 0,
        ..point.clone()
    }
}

impl<'a> Column<'a> {
    fn new(submission: &'a Submission, study: &'a Study) -> Self {
        let mut points: BTreeMap<Point, &Point> = BTreeMap::new();
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

    fn entries(&self, crowd: &Point) -> Vec<&'a StudyEntry> {
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
        let Machine { cpu, adapter, .. } = &self.study.machine;
        html! {
            a href=(link(&self.submission.name, ".html")) { (known(cpu, "unknown processor")) } br;
            (known(adapter, "no adapter")) br;
            (self.division()) " division"
        }
    }
}

/// The reason why bundles are too many for one site, if they are.
pub fn excess(submissions: &[Submission]) -> Option<String> {
    let sum = |of: fn(&Submission) -> usize| submissions.iter().map(of).sum::<usize>();
    let size =
        |file: &ResultFile| file.summary.len() + file.samples.as_ref().map_or(0, String::len);
    let files = submissions
        .iter()
        .flat_map(|submission| &submission.checked.studies[0].files);
    let entries = sum(|submission| {
        submission
            .checked
            .studies
            .iter()
            .map(|study| study.entries.len())
            .sum()
    });
    let counts = [
        ("bytes", files.map(size).sum(), MOST_BYTES),
        ("rows", sum(|submission| submission.checked.rows), MOST_ROWS),
        (
            "cells (machines times backends at crowds)",
            entries * sum(|submission| submission.checked.studies.len()),
            MOST_CELLS,
        ),
    ];
    let (what, count, most) = counts.into_iter().find(|(_, count, most)| count > most)?;
    Some(format!(
        "the bundles up to this one have {count} {what}; expected at most {most}: make several sites"
    ))
}

/// The page that compares all submissions.
pub fn index(submissions: &[Submission]) -> String {
    let columns = submissions.iter().flat_map(|submission| {
        submission
            .checked
            .studies
            .iter()
            .map(move |study| Column::new(submission, study))
    });
    let mut columns: Vec<Column> = columns.collect();
    // Native results first.
    columns.sort_by_key(Column::is_of_browser);
    let crowds: BTreeSet<Point> = columns
        .iter()
        .flat_map(|column| column.points.keys().cloned())
        .collect();
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
                        td { (known(&machine.adapter, "none")) }
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
    let words = [
        Some(format!("{} processors", hardware.processors)),
        (hardware.virtualised == Some(true)).then(|| "virtual machine".into()),
        hardware
            .governor
            .as_ref()
            .map(|governor| format!("governor {governor}")),
        hardware.boost.map(|boost| {
            if boost {
                "boost on".into()
            } else {
                "boost off".into()
            }
        }),
        hardware
            .memory_bytes
            .map(|bytes| format!("{:.0} GiB", bytes as f64 / f64::from(1 << 30))),
        hardware.memory_speed.map(|speed| format!("{speed} MT/s")),
        session.before.power.clone(),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn load(session: &Session) -> String {
    let load = |load: Option<f64>| load.map_or("unknown".into(), |load| format!("{load:.1}"));
    format!(
        "{} before, {} after",
        load(session.before.load),
        load(session.after.as_ref().and_then(|after| after.load))
    )
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
fn filters(columns: &[Column], crowds: &BTreeSet<Point>) -> Markup {
    let scenes: BTreeSet<&str> = crowds.iter().map(|crowd| crowd.scene.as_str()).collect();
    let passes: BTreeSet<u32> = crowds.iter().map(|crowd| crowd.passes).collect();
    let instances: BTreeSet<usize> = crowds.iter().map(|crowd| crowd.instances).collect();
    let divisions: BTreeSet<&str> = columns.iter().map(Column::division).collect();
    html! {
        form #filters hidden {
            h2 { "Show" }
            label { "scene " select name="scene" { option value="" { "all" } @for scene in scenes { option { (scene) } } } }
            label { "passes " select name="passes" { option value="" { "all" } @for passes in passes { option { (passes) } } } }
            label { "instances " select name="instances" { option value="" { "all" } @for count in instances { option { (count) } } } }
            label { "time " select name="quantity" { option value="" { "all" } @for quantity in QUANTITIES { option { (quantity.name()) } } } }
            label { "division " select name="division" { option value="" { "all" } @for division in divisions { option { (division) } } } }
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

/// Headings of the machines, with what the script filters by.
fn machine_heads(columns: &[Column]) -> Markup {
    html! {
        @for (index, column) in columns.iter().enumerate() {
            th scope="col" data-machine=(index) data-name=(column.submission.name) data-division=(column.division()) data-emulated[column.study.machine.is_emulated()] { (column.label()) }
        }
    }
}

fn fastest_by_machine(columns: &[Column], crowds: &BTreeSet<Point>) -> Markup {
    html! {
        section #fastest {
            h2 { "The fastest way, by machine" }
            p { "Named as fastest only with the certainty of the interval of the ratio to the next one; otherwise the text says so. \
                 Where an adapter is emulated, drawn crowds compare by pose + upload + skin." }
            @let head = html! { (heads(["crowd"])) (machine_heads(columns)) (heads(["machines"])) };
            (table(Some("cells"), head, html! {
                @for crowd in crowds {
                    @let ranked: Vec<Option<Ranking>> = columns.iter().map(|c| ranking(c.study, c.points.get(crowd)?)).collect();
                    tr data-scene=(crowd.scene) data-passes=(crowd.passes) data-instances=(crowd.instances) {
                        th scope="row" { (place(crowd)) }
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
    let (browsers, native): (Vec<_>, Vec<_>) = columns
        .iter()
        .zip(ranked)
        .filter_map(|(column, ranking)| Some((column, ranking.as_ref()?)))
        .partition(|(column, _)| column.is_of_browser());
    html! {
        @if !native.is_empty() { (agreement(&native)) }
        @if !native.is_empty() && !browsers.is_empty() { br; }
        @if !browsers.is_empty() { "in browsers: " (agreement(&browsers)) }
    }
}

/// Whether machines agree, and which. Two backends that run on the processor are confirmed by another processor;
/// otherwise another adapter counts as another machine, too.
fn agreement(ranked: &[(&Column, &Ranking)]) -> Markup {
    let mut sure: BTreeMap<&str, BTreeMap<(&str, &str), &str>> = BTreeMap::new();
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
            let Machine { cpu, adapter, .. } = &column.study.machine;
            let machine = (&cpu[..], if on_host { "" } else { adapter });
            sure.entry(&first.backend)
                .or_default()
                .entry(machine)
                .or_insert(&column.submission.name);
        }
    }
    let on = |(name, own): (&&str, &BTreeMap<_, &str>)| {
        format!(
            "{name} on {}",
            own.values().copied().collect::<Vec<_>>().join(" and ")
        )
    };
    let found = sure.iter().map(on).collect::<Vec<_>>().join(", ");
    html! {
        @match (sure.len(), sure.first_key_value()) {
            (0, _) => "none is sure",
            (1, Some((_, own))) if own.len() > 1 => { strong { "confirmed by " (own.len()) " machines" } ": " (found) }
            (1, _) => (found),
            _ => { "machines differ: " (found) }
        }
    }
}

/// The times of all machines; the script compares two backends by the nanoseconds of the cells.
fn side_by_side(columns: &[Column], crowds: &BTreeSet<Point>) -> Markup {
    html! {
        section #adapters {
            h2 { "Adapters side by side" }
            p { "Medians. A frame includes drawing, and an emulated adapter draws on the processor: compare its drawn frames with \
                 nothing." }
            @let head = html! { (heads(["crowd", "backend", "time"])) (machine_heads(columns)) };
            (table(Some("cells"), head, html! {
                @for (at, crowd) in crowds.iter().enumerate() {
                    @let entries: Vec<Vec<&StudyEntry>> = columns.iter().map(|column| column.entries(crowd)).collect();
                    @for backend in names(entries.iter().flatten().copied()) {
                        @for quantity in QUANTITIES {
                            @let times: Vec<Option<u64>> = entries.iter().map(|own| time(own, backend, quantity)).collect();
                            @if times.iter().any(Option::is_some) {
                                tr data-crowd=(at) data-scene=(crowd.scene) data-passes=(crowd.passes) data-instances=(crowd.instances) data-backend=(backend) data-quantity=(quantity.name()) {
                                    th scope="row" { (place(crowd)) }
                                    td { (backend) }
                                    td { (quantity.name()) }
                                    @for (index, ns) in times.iter().enumerate() {
                                        td.number data-machine=(index) data-ns=[*ns] { (ns.map_or("-".into(), duration)) }
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
                            @let whole = |value: f64| grouped(value.round() as u64);
                            tr data-machine=(index) data-scene=(sheet.fixed.scene) data-passes=(sheet.fixed.passes) {
                                td { (column.submission.name) }
                                td { (sheet.fixed.scene) ", " (drawn(sheet.fixed.passes)) ", " (sheet.quantity.name()) }
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
        let said = excess(&[submission(), submission(), submission()]).unwrap_or_default();
        assert!(
            said.ends_with("have 375000 rows; expected at most 250000: make several sites"),
            "{said}"
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
        let said = excess(&[wide]).unwrap_or_default();
        assert!(
            said.contains("have 4002000 cells (machines times backends at crowds); expected "),
            "{said}"
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
