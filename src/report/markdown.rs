//! Results as Markdown, whole or in parts.

use super::card;
use super::findings::{findings, place, verdict};
use super::table::parts;
use super::units::duration;
use crate::frame::{Stage, StageGroup};
use crate::results::{Point, Study};

/// A report without pictures.
pub fn report(study: &Study) -> String {
    let mut text = format!("# Skinning on {}\n\n", study.machine);
    text += &answers(study);
    for point in study.headlines() {
        text += &format!("\n## {}\n\n{}", place(point), table(study, point));
    }
    text += "\n## Which to ship\n";
    for point in study.headlines() {
        text += &format!(
            "\n{}:\n\n{}\n{}",
            place(point),
            list(card::answers(study, point)),
            rows(&card::table(study, point))
        );
    }
    if !study.problems.is_empty() {
        text += "\n## Remarks\n\n";
        study
            .problems
            .iter()
            .for_each(|problem| text += &format!("- {problem}\n"));
    }
    text
}

/// The findings as a list.
pub fn answers(study: &Study) -> String {
    list(verdict(study).into_iter().chain(findings(study)))
}

/// A list with these items.
pub fn list(items: impl IntoIterator<Item = String>) -> String {
    items
        .into_iter()
        .map(|item| format!("- {item}\n"))
        .collect()
}

/// A Markdown table: headings, then rows; all columns but the first are right-aligned.
pub fn rows(rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let marks = |head: &Vec<String>| format!("| ---{} |\n", " | ---:".repeat(head.len() - 1));
    let Some((head, body)) = rows.split_first() else {
        return String::new();
    };
    line(head) + &marks(head) + &body.iter().map(|row| line(row)).collect::<String>()
}

/// A table of the backends at a point with the columns of the terminal's.
pub fn table(study: &Study, point: &Point) -> String {
    let mut table = vec![
        [
            "backend", "frame", "pose", "upload", "skin", "draw", "other", "parity",
        ]
        .map(String::from)
        .to_vec(),
    ];
    for entry in study.at(point) {
        let cell = |ns: Option<u64>| ns.map_or("-".into(), duration);
        let row = entry.last().map(|m| &m.row);
        let (frame, skin) = match entry.is_ok() {
            true => (
                cell(entry.median(Stage::Frame)),
                entry
                    .total(StageGroup::Skin)
                    .map_or("in draw".into(), duration),
            ),
            false => (row.map_or("-", |row| row.status.name()).into(), "-".into()),
        };
        let [pose, draw] =
            [StageGroup::Pose, StageGroup::Draw].map(|group| cell(entry.total(group)));
        let upload = parts(entry, StageGroup::Upload).unwrap_or("-".into());
        let parity = row
            .and_then(|row| row.parity_max_rel)
            .map_or("-".into(), |error| format!("{error:.1e}"));
        table.push(vec![
            entry.backend.clone(),
            frame,
            pose,
            upload,
            skin,
            draw,
            cell(entry.other()),
            parity,
        ]);
    }
    rows(&table)
}
