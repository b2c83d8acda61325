//! Results in the pages of a repository: between markers stands what a command wrote, never a hand.
//!
//! `<!-- table FOLDER -->`, `<!-- answers FOLDER -->`, `<!-- charts FOLDER [PREFIX...] -->` and `<!-- text FILE -->`, each ended by
//! `<!-- /table -->` and so on. Folders and files are named from the page's own. Charts are written as files to
//! `docs/images` beside the page, or to `images` where the page is in `docs`.

use super::chart::charts;
use super::markdown::{answers, headline, pictures};
use crate::results::recorded::Recorded;
use crate::results::study::Study;
use crate::text;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What can stand between markers.
const KINDS: [&str; 4] = ["table", "answers", "charts", "text"];

/// Why a page cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .page.display())]
pub struct SpliceError {
    page: PathBuf,
    problem: String,
}

/// A page and its pictures as they should be: path and content of each.
///
/// # Errors
/// A page without markers, a marker that is wrong, or results that cannot be read.
pub fn spliced(page: &Path) -> Result<Vec<(PathBuf, String)>, SpliceError> {
    let error = |problem: String| SpliceError { page: page.into(), problem };
    let before = std::fs::read_to_string(page).map_err(|e| error(format!("cannot read: {e}")))?;
    let folder = page.parent().unwrap_or(Path::new(""));
    let images = if folder.ends_with("docs") { "images" } else { "docs/images" };
    let mut studies: HashMap<String, Study> = HashMap::new();
    let mut files = Vec::new();
    let mut after = String::new();
    let mut lines = before.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        after += &format!("{line}\n");
        let Some(words) = marker(line) else { continue };
        let fault = |problem: &str| error(format!("line {}: {problem}", number + 1));
        let [kind, source, rest @ ..] = &words[..] else { return Err(fault("a marker without its source")) };
        let end = format!("<!-- /{kind} -->");
        let content = if *kind == "text" {
            let path = folder.join(source);
            std::fs::read_to_string(&path).map_err(|e| fault(&format!("cannot read {}: {e}", path.display())))?
        } else {
            if !studies.contains_key(*source) {
                let recorded = Recorded::read(&[folder.join(source)]).map_err(|e| fault(&e.to_string()))?;
                studies.insert((*source).to_owned(), Study::new(recorded));
            }
            let study = &studies[*source];
            match *kind {
                "table" => headline(study, source),
                "answers" => answers(study),
                _ => {
                    let all = charts(study);
                    let wanted = |id: &str| rest.is_empty() || rest.iter().any(|prefix| id.starts_with(prefix));
                    let chosen: Vec<_> = all.iter().filter(|chart| wanted(&chart.id)).collect();
                    if chosen.is_empty() {
                        let ids: Vec<_> = all.iter().map(|chart| chart.id.as_str()).collect();
                        return Err(fault(&format!("no such chart; expected the start of {}", text::list(&ids))));
                    }
                    for chart in &chosen {
                        files.push((folder.join(images).join(format!("{}.svg", chart.id)), chart.file()));
                    }
                    pictures(&chosen, images)
                }
            }
        };
        after += content.trim_end();
        after += &format!("\n{end}\n");
        if !lines.any(|(_, line)| line.trim() == end) {
            return Err(fault(&format!("no {end} after this marker")));
        }
    }
    if !before.lines().any(|line| marker(line).is_some()) {
        return Err(error(format!("no marker such as <!-- table results/FOLDER -->; expected {}", text::list(&KINDS))));
    }
    files.insert(0, (page.into(), after));
    Ok(files)
}

/// The words of a marker that begins something; none for other lines.
fn marker(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.split_whitespace().collect();
    KINDS.contains(words.first()?).then_some(words)
}
