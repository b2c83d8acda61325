//! Reading of the rows of CSV files. Usable rows are used; what is wrong with others becomes a [`Problem`].

use super::bounds::{MOST_PROBLEMS, most_of_field};
use csv::StringRecord;
use serde::de::DeserializeOwned;
use std::io;
use std::path::Path;

/// Most characters of a field that a problem repeats.
const QUOTED: usize = 60;

/// A problem in a result file, and how it was handled, or the reason why results cannot be read or written at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}{}{what}", if .place.is_empty() { "" } else { ": " })]
pub struct Problem {
    /// File or folder, and line if there is one; empty if there is none.
    pub place: String,
    /// The problem and how it was handled.
    pub what: String,
    /// `false` for a remark on results that are as they should be, such as those of an older schema.
    pub is_fault: bool,
}

impl Problem {
    /// Something that is wrong with a file.
    pub(super) fn fault(place: impl AsRef<Path>, what: impl Into<String>) -> Self {
        Self {
            place: place.as_ref().display().to_string(),
            what: what.into(),
            is_fault: true,
        }
    }

    /// A remark on a file that is as it should be.
    pub(super) fn remark(place: impl AsRef<Path>, what: impl Into<String>) -> Self {
        Self {
            is_fault: false,
            ..Self::fault(place, what)
        }
    }
}

impl From<io::Error> for Problem {
    /// Without a source: the message has its text, and whoever prints causes as well would say it twice.
    fn from(error: io::Error) -> Self {
        Self::fault("", format!("cannot read: {error}"))
    }
}

/// Reads the rows of the CSV file called `name` and gives each with its line to `each`, unless its columns lack one
/// that is needed. A field that is not needed and cannot be parsed is left empty.
///
/// # Errors
/// A place and what is wrong there: a file with more than [`MOST_PROBLEMS`] problems, or the first error of `each`.
pub(super) fn read_rows<T: DeserializeOwned>(
    name: &str,
    text: &str,
    needed: &[&str],
    problems: &mut Vec<Problem>,
    mut each: impl FnMut(u64, T) -> Result<(), String>,
) -> Result<(), String> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let headers = reader
        .headers()
        .map_err(|error| format!("{name}: {error}"))?
        .clone();
    let missing: Vec<_> = needed
        .iter()
        .copied()
        .filter(|column| !headers.iter().any(|h| h == *column))
        .collect();
    if !missing.is_empty() {
        let what = if headers.is_empty() {
            "empty file".into()
        } else {
            format!("no column {}: the file is not used", missing.join(", "))
        };
        problems.push(Problem::fault(name, what));
        return Ok(());
    }
    let before = problems.len();
    let mut records = reader.records().peekable();
    while let Some(record) = records.next() {
        let mut record = record.map_err(|error| format!("{name}: {error}"))?;
        let line = record.position().map_or(0, csv::Position::line);
        let is_cut = records.peek().is_none() && !text.ends_with('\n');
        if let Some(what) = damage(&record, &headers, line, is_cut) {
            problems.push(Problem::fault(format!("{name}:{line}"), what));
        } else {
            let row = parsed(&mut record, &headers, needed, |what| {
                problems.push(Problem::fault(format!("{name}:{line}"), what));
            });
            match row {
                Ok(row) => each(line, row).map_err(|what| format!("{name}:{line}: {what}"))?,
                Err(what) => problems.push(Problem::fault(
                    format!("{name}:{line}"),
                    format!("{what}: line left out"),
                )),
            }
        }
        if problems.len() - before > MOST_PROBLEMS {
            let what = format!("more than {MOST_PROBLEMS} problems up to here, the first in line");
            let first = problems[before].place.rsplit(':').next();
            return Err(format!(
                "{name}:{line}: {what} {}; expected a file that skinbench wrote",
                first.unwrap_or_default()
            ));
        }
    }
    Ok(())
}

/// The reason why a record is no row, if it is none.
fn damage(
    record: &StringRecord,
    headers: &StringRecord,
    line: u64,
    is_cut: bool,
) -> Option<String> {
    let mut more = 0;
    for (field, column) in record.iter().zip(headers) {
        // Only messages may have several lines.
        if column != "error" {
            more += field.trim_end().matches('\n').count() as u64;
        }
    }
    if more > 0 {
        return Some(format!(
            "an unmatched quotation mark: left out up to line {}",
            line + more
        ));
    }
    if is_cut {
        return Some("the last line is cut off: left out".into());
    }
    if record.len() != headers.len() {
        return Some(format!(
            "{} fields; expected {}: line left out",
            record.len(),
            headers.len()
        ));
    }
    for (field, column) in record.iter().zip(headers) {
        let most = most_of_field(column);
        if field.len() > most {
            return Some(format!("{column}: more than {most} bytes: line left out"));
        }
    }
    None
}

/// One row; an invalid field that is not needed is told to `emptied` and left empty.
fn parsed<T: DeserializeOwned>(
    record: &mut StringRecord,
    headers: &StringRecord,
    needed: &[&str],
    mut emptied: impl FnMut(String),
) -> Result<T, String> {
    loop {
        let error = match record.deserialize(Some(headers)) {
            Ok(row) => return Ok(row),
            Err(error) => error,
        };
        let csv::ErrorKind::Deserialize { err, .. } = error.kind() else {
            return Err(error.to_string());
        };
        let Some(field) = err.field().map(|field| field as usize) else {
            return Err(err.kind().to_string());
        };
        let column = &headers[field];
        let value = &record[field];
        let quoted: String = value.chars().take(QUOTED).collect();
        let what = format!("{column}: {quoted:?} ({})", err.kind());
        if needed.contains(&column) || value.is_empty() {
            return Err(what);
        }
        let mut without = StringRecord::new();
        for (at, value) in record.iter().enumerate() {
            without.push_field(if at == field { "" } else { value });
        }
        *record = without;
        emptied(format!("{what}: field left empty"));
    }
}
