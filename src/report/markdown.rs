//! Results as Markdown, whole or in parts.

use super::card;
use super::findings::{findings, place, verdict};
use super::table::both_sides;
use super::units::{duration, duration_or_dash, magnitude_or_dash};
use crate::frame::{Stage, StageGroup};
use crate::results::{Point, Study};
use std::fmt::Display;

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
        text += &list(study.problems.iter());
    }
    text
}

/// The findings as a list.
pub fn answers(study: &Study) -> String {
    list(verdict(study).into_iter().chain(findings(study)))
}

/// A list with these items.
pub fn list(items: impl IntoIterator<Item = impl Display>) -> String {
    items
        .into_iter()
        .map(|item| format!("- {item}\n"))
        .collect()
}

/// A table's first row.
pub fn headed<const N: usize>(headings: [&str; N]) -> Vec<Vec<String>> {
    vec![headings.map(String::from).to_vec()]
}

/// A Markdown table: headings, then rows; all columns but the first are right-aligned.
pub fn rows(rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        text += &format!("| {} |\n", row.join(" | "));
        if at == 0 {
            text += &format!("| ---{} |\n", " | ---:".repeat(row.len() - 1));
        }
    }
    text
}

/// A table of the backends at a point with the columns of the terminal's.
pub fn table(study: &Study, point: &Point) -> String {
    let mut table = headed([
        "backend", "frame", "pose", "upload", "skin", "draw", "other", "parity",
    ]);
    for entry in study.at(point) {
        let row = entry.last().map(|m| &m.row);
        let mut frame = duration_or_dash(entry.median(Stage::Frame));
        let mut skin = entry
            .total(StageGroup::Skin)
            .map_or("in draw".into(), duration);
        if !entry.is_ok() {
            frame = row.map_or("-", |row| row.status.name()).into();
            skin = "-".into();
        }
        table.push(vec![
            entry.backend.clone(),
            frame,
            duration_or_dash(entry.total(StageGroup::Pose)),
            both_sides(entry, StageGroup::Upload).unwrap_or("-".into()),
            skin,
            duration_or_dash(entry.total(StageGroup::Draw)),
            duration_or_dash(entry.other()),
            magnitude_or_dash(row.and_then(|row| row.parity_max_rel)),
        ]);
    }
    rows(&table)
}
