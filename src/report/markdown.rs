//! Results as Markdown, whole or in parts for other pages.

use super::card;
use super::chart::Chart;
use super::findings::{findings, place, plain_place, verdict};
use super::units::{abbreviated, duration, grouped};
use crate::frame::{Stage, StageGroup};
use crate::results::key::Point;
use crate::results::study::Study;

/// A report without pictures.
pub fn report(study: &Study) -> String {
    let mut text = format!("# Skinning on {}\n\n", study.machine);
    text += &answers(study);
    for point in study.headlines() {
        text += &format!("\n## {}\n\n{}", place(point), table(study, point));
    }
    text += "\n## Which to ship\n";
    for point in study.headlines() {
        text += &format!("\n{}\n\n{}", card::paragraph(study, point), rows(&card::table(study, point)));
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

/// The machine and the table of the headline point.
pub fn headline(study: &Study, source: &str) -> String {
    headline_point(study)
        .map_or(String::new(), |point| format!("{}\n\n{}", headline_place(study, point, source), table(study, point)))
}

/// The decision card of the headline point, with the origin of its figures.
pub fn headline_card(study: &Study, source: &str) -> String {
    headline_point(study).map_or(String::new(), |point| {
        let (origin, table) = (headline_place(study, point, source), rows(&card::table(study, point)));
        format!("{origin}\n\n{table}\n{}", card::paragraph(study, point))
    })
}

/// The point that represents a study: one that is drawn once if there is one, otherwise the first headline.
pub(super) fn headline_point(study: &Study) -> Option<&Point> {
    let points = study.headlines();
    points.iter().find(|point| point.passes == 1).or(points.first()).copied()
}

/// The caption of a table of a point, with the origin of its figures.
pub(super) fn headline_place(study: &Study, point: &Point, source: &str) -> String {
    let vertices = study.at(point).find_map(|entry| Some(entry.last()?.row.vertices)).unwrap_or(0);
    // The page that has the table tells the options, and the folder is named after them.
    format!("{}, {} vertices; {}:", plain_place(point), grouped(vertices), origin(study, point, source))
}

/// The origin of a point's figures: machine, threads, day, commit and folder.
pub(super) fn origin(study: &Study, point: &Point, source: &str) -> String {
    let row = study.rows.first().map(|m| &m.row);
    let day = row.and_then(|row| row.utc.get(..10)).unwrap_or("unknown day");
    let commit = row.and_then(|row| row.git_rev.as_deref());
    let commit = commit.map_or(String::new(), |commit| format!(" commit {},", abbreviated(commit)));
    let source = source.trim_start_matches("../");
    format!("{}, {} threads,\n{day},{commit} from `{source}`", study.machine, point.threads)
}

/// A Markdown table: headings, then rows; all columns but the first are right-aligned.
pub(super) fn rows(rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let marks = |head: &Vec<String>| format!("| ---{} |\n", " | ---:".repeat(head.len() - 1));
    let Some((head, body)) = rows.split_first() else { return String::new() };
    line(head) + &marks(head) + &body.iter().map(|row| line(row)).collect::<String>()
}

fn table(study: &Study, point: &Point) -> String {
    let mut table = vec![["backend", "frame", "pose", "upload", "skin", "draw", "parity"].map(String::from).to_vec()];
    for entry in study.at(point) {
        let cell = |ns: Option<u64>| ns.map_or("-".into(), duration);
        let row = entry.last().map(|m| &m.row);
        let (frame, skin) = match entry.is_ok() {
            true => {
                (cell(entry.median(Stage::Frame)), entry.total(StageGroup::Skin).map_or("in draw".into(), duration))
            }
            false => (row.map_or("-", |row| row.status.name()).into(), "-".into()),
        };
        let [pose, upload, draw] =
            [StageGroup::Pose, StageGroup::Upload, StageGroup::Draw].map(|group| cell(entry.total(group)));
        let parity = row.and_then(|row| row.parity_max_rel).map_or("-".into(), |error| format!("{error:.1e}"));
        table.push(vec![entry.backend.clone(), frame, pose, upload, skin, draw, parity]);
    }
    rows(&table)
}

/// Links to charts in files of a folder.
pub fn pictures(charts: &[&Chart], folder: &str) -> String {
    charts.iter().map(|chart| format!("![{}]({folder}/{}.svg)\n", chart.title, chart.id)).collect::<Vec<_>>().join("\n")
}
