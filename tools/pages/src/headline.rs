//! The crowd that represents a study, and the origin of its figures.

use skinbench::report::{abbreviated, card, findings, grouped, markdown, places, run_table};
use skinbench::results::{Point, Study};

/// The machine and the table of the headline point.
pub fn table(study: &Study, source: &str) -> String {
    point(study).map_or(String::new(), |point| {
        format!(
            "{}\n\n{}",
            caption(study, point, source),
            run_table::table(study, point).markdown()
        )
    })
}

/// The decision card of the headline point, with the origin of its figures.
pub fn card(study: &Study, source: &str) -> String {
    let Some(point) = point(study) else {
        return String::new();
    };
    let mut text = caption(study, point, source) + "\n";
    for section in card::sections(study, point) {
        text += &format!("\n{}", section.table.markdown());
    }
    let mut answers = findings::verdict(study, point);
    answers.extend(
        findings::answers(study, point)
            .iter()
            .map(ToString::to_string),
    );
    format!("{text}\n{}", markdown::list(answers).trim_end())
}

/// The point that represents a study: one that is drawn once if there is one, otherwise the first headline.
pub fn point(study: &Study) -> Option<&Point> {
    let points = study.headlines();
    points
        .iter()
        .find(|point| point.passes == 1)
        .or(points.first())
        .copied()
}

/// The caption of a table of a point, with the origin of its figures.
pub fn caption(study: &Study, point: &Point, source: &str) -> String {
    let vertices = study
        .at(point)
        .find_map(|entry| Some(entry.last()?.vertices))
        .unwrap_or(0);
    // The page that has the table tells the options, and the folder is named after them.
    let crowd = places::crowd(&point.scene, point.instances as u64).replace(
        &format!("scene {}", point.scene),
        &format!("scene `{}`", point.scene),
    );
    format!(
        "{crowd}, {}, {} vertices; {}:",
        places::drawn(point.passes),
        grouped(vertices),
        origin(study, point, source)
    )
}

/// The origin of a point's figures: processor, adapter if it was used, threads, day, commit and folder.
pub fn origin(study: &Study, point: &Point, source: &str) -> String {
    let row = study.rows().next();
    let day = row
        .and_then(|row| row.utc.get(..10))
        .unwrap_or("unknown day");
    let commit = row.and_then(|row| row.git_rev.as_deref());
    let changed = match row.and_then(|row| row.dirty) {
        Some(true) => " with changes",
        Some(false) | None => "",
    };
    let commit = commit.map_or(String::new(), |commit| {
        format!(" commit {}{changed},", abbreviated(commit))
    });
    let source = source.trim_start_matches("../");
    // An adapter on which nothing ran says nothing about the figures.
    let used_adapter = point.passes > 0
        || study
            .entries
            .iter()
            .any(|entry| !entry.backend.starts_with("cpu-"));
    let machine = if used_adapter {
        study.machine.to_string()
    } else {
        study.machine.cpu.clone()
    };
    format!(
        "{machine}, {} threads,\n{day},{commit} from `{source}`",
        point.threads
    )
}
