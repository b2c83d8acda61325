//! Splicing of results into a page; `main.rs` lists the markers.
//!
//! Charts are written as files to `docs/images` beside the page, or to `images` if the page is in `docs`.

use crate::{figure_tables, headline};
use skinbench::report::chart::{Chart, charts, number_repeated};
use skinbench::report::findings::findings;
use skinbench::report::markdown::{list, verdicts};
use skinbench::report::table::{Table, Value};
use skinbench::results::{COLUMNS, LimitedMemory, LimitsRow, Recorded, Study};
use skinbench::wording;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Kinds of markers.
const KINDS: [&str; 12] = [
    "table", "runs", "matrix", "sizes", "sweep", "limits", "peak", "answers", "card", "charts",
    "text", "columns",
];

/// A page and its charts with up-to-date content: path and content of each.
///
/// # Errors
/// A page without markers, an invalid marker, or results that cannot be read.
pub fn spliced(page: &Path) -> Result<Vec<(PathBuf, String)>, String> {
    let before = std::fs::read_to_string(page).map_err(|e| format!("cannot read: {e}"))?;
    let folder = page.parent().unwrap_or(Path::new(""));
    let mut results = PageResults {
        folder,
        studies: HashMap::new(),
        pictures: Vec::new(),
    };
    let mut after = String::new();
    let mut lines = before.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        after += &format!("{line}\n");
        let fault = |problem: String| format!("line {}: {problem}", number + 1);
        if let Some(kind) = misspelt(line, &before) {
            return Err(fault(wording::unknown("kind of marker", kind, &KINDS)));
        }
        let Some(words) = marker(line) else {
            // The marker before it may be misspelt, and what it holds would never be written or checked.
            if let Some(kind) = ended(line) {
                return Err(fault(format!(
                    "{} ends nothing; expected <!-- {kind} ... --> before it",
                    line.trim()
                )));
            }
            continue;
        };
        let [kind, source, rest @ ..] = &words[..] else {
            return Err(fault("a marker without its source".into()));
        };
        let end = format!("<!-- /{kind} -->");
        let part = results.part(kind, source, rest).map_err(fault)?;
        if let Some(line) = part.lines().find(|line| is_marker(line)) {
            return Err(fault(format!(
                "{source} contains a marker, {}; expected text without any",
                line.trim()
            )));
        }
        after += part.trim_end();
        after += &format!("\n{end}\n");
        // What follows another marker is not of this part.
        let last = lines.find(|(_, line)| is_marker(line));
        if last.is_none_or(|(_, line)| line.trim() != end) {
            return Err(fault(format!("no {end} after this marker")));
        }
    }
    if !has_marker(&before) {
        return Err(format!(
            "no marker such as <!-- table results/FOLDER -->; expected {}",
            wording::list(&KINDS)
        ));
    }
    let mut files = vec![(page.into(), after)];
    files.append(&mut results.pictures);
    Ok(files)
}

/// Returns whether a page has a marker.
pub fn has_marker(page: &str) -> bool {
    page.lines().any(|line| marker(line).is_some())
}

/// The words of a line that is a comment; `None` for other lines.
fn comment(line: &str) -> Option<Vec<&str>> {
    Some(
        line.trim()
            .strip_prefix("<!--")?
            .strip_suffix("-->")?
            .split_whitespace()
            .collect(),
    )
}

/// The words of a marker that begins a part; `None` for other lines.
fn marker(line: &str) -> Option<Vec<&str>> {
    comment(line).filter(|words| words.first().is_some_and(|kind| KINDS.contains(kind)))
}

/// The kind of a marker that ends a part; `None` for other lines.
fn ended(line: &str) -> Option<&str> {
    comment(line)?
        .first()?
        .strip_prefix('/')
        .filter(|kind| KINDS.contains(kind))
}

/// Returns whether a line begins or ends a part.
fn is_marker(line: &str) -> bool {
    marker(line).is_some() || ended(line).is_some()
}

/// The kind of a marker that resembles a known one and has an end in the page; other programs have markers, too.
fn misspelt<'a>(line: &'a str, page: &str) -> Option<&'a str> {
    let kind = *comment(line)?.first()?;
    let resembles = |known: &&str| strsim::jaro_winkler(&kind.to_lowercase(), known) > 0.7;
    let end = format!("<!-- /{kind} -->");
    let is_misspelt = !KINDS.contains(&kind) && KINDS.iter().any(resembles);
    (is_misspelt && page.lines().any(|line| line.trim() == end)).then_some(kind)
}

/// Results that the markers of a page refer to.
struct PageResults<'a> {
    folder: &'a Path,
    /// Studies that have been read, by source.
    studies: HashMap<String, Study>,
    /// Path and content of the charts.
    pictures: Vec<(PathBuf, String)>,
}

/// The columns of `summary.csv`, and what each says.
fn columns() -> String {
    let mut table = Table::new(["column", "says"]);
    for column in COLUMNS {
        table.push(vec![
            Value::Words(format!("`{}`", column.name)),
            Value::words(column.about.trim()),
        ]);
    }
    table.markdown()
}

impl PageResults<'_> {
    /// The text to put after a marker.
    fn part(&mut self, kind: &str, source: &str, words: &[&str]) -> Result<String, String> {
        match (kind, words) {
            ("text", [] | [_]) => self.text(source, words.first().copied()),
            ("limits", []) => Ok(figure_tables::limits(&self.limits(source)?)),
            ("table", []) => Ok(headline::table(self.study(source)?, source)),
            ("table", _) => figure_tables::backends(self.study(source)?, words, source),
            ("answers", []) => {
                let study = self.study(source)?;
                Ok(list(verdicts(study)) + &list(findings(study)))
            }
            ("columns", []) => Ok(columns()),
            ("card", []) => Ok(headline::card(self.study(source)?, source)),
            ("charts", _) => self.charts(source, words),
            ("runs", [runs, backend, words @ ..]) => {
                figure_tables::runs(&self.runs(source, runs)?, backend, words, source)
            }
            ("matrix", [runs, word, patterns @ ..]) => {
                figure_tables::matrix(&self.runs(source, runs)?, word, patterns, source)
            }
            ("sizes", [limit, runs, backends @ ..]) => {
                let limit = wording::above_zero(limit)
                    .map_err(|_| "expected GB/s behind the folder, such as 3254")?;
                figure_tables::sizes(&self.runs(source, runs)?, limit, backends, source)
            }
            ("sweep", [axis, word, patterns @ ..]) => {
                figure_tables::sweep(self.study(source)?, axis, word, patterns, source)
            }
            ("peak", [run, items @ ..]) => {
                let limits = self.limits(&format!("{source}/{run}"))?;
                let limits = limits
                    .iter()
                    .find(|row| row.threads == 1)
                    .ok_or("no limits of one thread")?;
                let mut rows = Vec::new();
                for item in items {
                    let (run, backend, operations) = operations(item)?;
                    let study = self.study(&format!("{source}/{run}"))?;
                    rows.push(figure_tables::peak(
                        limits, run, study, backend, operations,
                    )?);
                }
                Ok(figure_tables::peaks(rows))
            }
            _ => Err(format!(
                "{kind} takes other arguments; tools/pages/src/main.rs lists them"
            )),
        }
    }

    fn text(&self, source: &str, start: Option<&str>) -> Result<String, String> {
        let path = self.folder.join(source);
        let text = std::fs::read_to_string(&path)
            .map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        let Some(start) = start else {
            return Ok(text);
        };
        let mut list = String::new();
        for line in text.lines().filter(|line| line.starts_with(start)) {
            list += &format!("- {line}\n");
        }
        Ok(list)
    }

    fn charts(&mut self, source: &str, prefixes: &[&str]) -> Result<String, String> {
        let images = if self.folder.ends_with("docs") {
            "images"
        } else {
            "docs/images"
        };
        let study = self.study(source)?;
        let mut all = charts(study);
        number_repeated(&mut all);
        let mut chosen = Vec::new();
        for chart in &all {
            if prefixes.is_empty() || prefixes.iter().any(|prefix| chart.id.starts_with(prefix)) {
                chosen.push(chart);
            }
        }
        if chosen.is_empty() {
            let ids: Vec<_> = all.iter().map(|chart| chart.id.as_str()).collect();
            return Err(format!(
                "no such chart; expected the start of {}",
                wording::list(&ids)
            ));
        }
        for chart in &chosen {
            let file = self.folder.join(images).join(format!("{}.svg", chart.id));
            let picture = chart.file();
            let mut pictures = self.pictures.iter();
            if pictures.any(|other| other.0 == file && other.1 != picture) {
                return Err(format!(
                    "another marker draws a different {}; expected charts of one folder",
                    file.display()
                ));
            }
            self.pictures.push((file, picture));
        }
        Ok(pictures(&chosen, images))
    }

    fn limits(&self, source: &str) -> Result<Vec<LimitsRow>, String> {
        let path = self.folder.join(source).join("limits.csv");
        let rows =
            csv::Reader::from_path(&path).and_then(|mut reader| reader.deserialize().collect());
        let mut rows: Vec<LimitsRow> =
            rows.map_err(|error| format!("{}: {error}", path.display()))?;
        rows.retain(|row| row.memory == LimitedMemory::Host);
        Ok(rows)
    }

    fn study(&mut self, source: &str) -> Result<&Study, String> {
        if !self.studies.contains_key(source) {
            let folders = source.split('+').map(|part| self.folder.join(part));
            let folders: Vec<PathBuf> = folders.collect();
            let recorded = Recorded::read(&folders).map_err(|e| e.to_string())?;
            self.studies.insert(source.to_owned(), Study::new(recorded));
        }
        Ok(&self.studies[source])
    }

    /// The runs below a folder with the names in a list separated by commas.
    fn runs<'a>(
        &'a mut self,
        source: &str,
        list: &'a str,
    ) -> Result<Vec<figure_tables::NamedStudy<'a>>, String> {
        for run in list.split(',') {
            self.study(&source_of(source, run))?;
        }
        let mut runs = Vec::new();
        for run in list.split(',') {
            runs.push((run, &self.studies[&source_of(source, run)]));
        }
        Ok(runs)
    }
}

/// The source of a run below a folder. A run may be that of two folders.
fn source_of(folder: &str, run: &str) -> String {
    let folders: Vec<String> = run
        .split('+')
        .map(|run| format!("{folder}/{run}"))
        .collect();
    folders.join("+")
}

/// The parts of `RUN/BACKEND=OPERATIONS`.
fn operations(item: &str) -> Result<(&str, &str, f64), String> {
    split_operations(item).ok_or_else(|| {
        format!("{item:?}: expected RUN/BACKEND=OPERATIONS, such as kernel/cpu-simd:lanes=4.1")
    })
}

fn split_operations(item: &str) -> Option<(&str, &str, f64)> {
    let (name, count) = item.rsplit_once('=')?;
    let (run, backend) = name.split_once('/')?;
    Some((run, backend, wording::above_zero(count).ok()?))
}

/// Links to charts in files of a folder.
fn pictures(charts: &[&Chart], folder: &str) -> String {
    charts
        .iter()
        .map(|chart| format!("![{}]({folder}/{}.svg)\n", chart.title, chart.id))
        .collect::<Vec<_>>()
        .join("\n")
}
