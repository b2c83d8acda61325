//! Results as Markdown, whole or in parts.

use super::findings::{answers, emulated, findings, headline_verdicts};
use super::places::place;
use super::{card, run_table};
use crate::results::Study;
use std::fmt::Display;

/// A report without pictures.
pub fn report(study: &Study) -> String {
    let mut text = format!("# Skinning on {}\n\n", study.machine);
    text += &list(verdicts(study));
    text += &list(findings(study));
    for point in study.headlines() {
        text += &format!(
            "\n## {}\n\n{}\n{}",
            escaped(&place(point)),
            run_table::table(study, point).markdown(),
            list(answers(study, point))
        );
        for section in card::sections(study, point) {
            text += &format!("\n{}:\n\n{}", section.title, section.table.markdown());
        }
    }
    if !study.notes.is_empty() {
        text += &format!("\n## Remarks\n\n{}", list(&study.notes));
    }
    text
}

/// The verdict on each headline point, with its place before it, then what they say nothing about.
pub fn verdicts(study: &Study) -> Vec<String> {
    let mut verdicts = headline_verdicts(study);
    verdicts.extend(emulated(study).map(|remark| remark.to_string()));
    verdicts
}

/// A list with these items.
pub fn list(items: impl IntoIterator<Item = impl Display>) -> String {
    items
        .into_iter()
        .map(|item| format!("- {}\n", escaped(&item.to_string())))
        .collect()
}

/// A text in which names of scenes and machines are no HTML and no links.
fn escaped(text: &str) -> String {
    text.replace('<', "&lt;").replace('[', "\\[")
}
