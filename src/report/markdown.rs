//! Results as Markdown, whole or as parts that other pages take in.

use super::chart::Chart;
use super::findings::{findings, verdict};
use super::html::place;
use super::table::duration;
use crate::backend::{Group, Stage};
use crate::results::key::Point;
use crate::results::study::Study;

/// A report without pictures.
pub fn report(study: &Study) -> String {
    let mut text = format!("# Skinning on {}\n\n", study.machine);
    text += &answers(study);
    for point in study.headlines() {
        text += &format!("\n## {}\n\n{}", place(point), table(study, point));
    }
    if !study.problems.is_empty() {
        text += "\n## Remarks\n\n";
        study.problems.iter().for_each(|problem| text += &format!("- {problem}\n"));
    }
    text
}

/// The findings as a list.
pub fn answers(study: &Study) -> String {
    verdict(study).into_iter().chain(findings(study)).map(|finding| format!("- {finding}\n")).collect()
}

/// The machine and the table of one point: drawn once if there is such a one, else the first.
pub fn headline(study: &Study, source: &str) -> String {
    let points = study.headlines();
    let Some(point) = points.iter().find(|point| point.passes == 1).or(points.first()) else { return String::new() };
    let first = study.rows.first().map(|m| &m.row);
    let day = first.and_then(|row| row.utc.get(..10)).unwrap_or("unknown day");
    format!(
        "{} on {}, {} threads,\n{day}, from `{source}`:\n\n{}",
        place(point),
        study.machine,
        point.threads,
        table(study, point)
    )
}

fn table(study: &Study, point: &Point) -> String {
    let mut text = String::from("| backend | frame | pose | upload | skin | draw | parity |\n");
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for entry in study.at(point) {
        let cell = |ns: Option<u64>| ns.map_or("-".into(), duration);
        let parity = entry.last().and_then(|m| m.row.parity_max_rel).map_or("-".into(), |error| format!("{error:.1e}"));
        let cells = match entry.is_ok() {
            true => [
                cell(entry.median(Stage::Frame)),
                cell(entry.total(Group::Pose)),
                cell(entry.total(Group::Upload)),
                entry.total(Group::Skin).map_or("in draw".into(), duration),
                cell(entry.total(Group::Draw)),
                parity,
            ],
            false => {
                let status = entry.last().map_or(String::new(), |m| m.row.status.name().into());
                [status, "-".into(), "-".into(), "-".into(), "-".into(), parity]
            }
        };
        text += &format!("| {} | {} |\n", entry.backend, cells.join(" | "));
    }
    text
}

/// Links to charts that lie as files in a folder.
pub fn pictures(charts: &[&Chart], folder: &str) -> String {
    charts.iter().map(|chart| format!("![{}]({folder}/{}.svg)\n", chart.title, chart.id)).collect::<Vec<_>>().join("\n")
}
