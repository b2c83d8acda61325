//! CSV files of results. They come from strangers: memory and time follow from the size of a file, and a file that is
//! damaged is refused with its line and column.

use super::Problem;
use crate::asset::regular_file;
use crate::wording::counted;
use csv::StringRecord;
use flate2::read::GzDecoder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read};
use std::path::Path;

/// Most bytes of a file, and of a compressed one after decompression: far above what a run writes.
const MOST_BYTES: u64 = 1 << 30;
const MOST_UNPACKED: u64 = 128 << 20;
/// Most fields of a row.
const MOST_FIELDS: usize = 512;
/// Most characters of a field that an error repeats.
const QUOTED: usize = 60;

/// The lines of rows in a file, below one with the names of their fields if they begin it; nothing without rows.
///
/// # Errors
/// A row that CSV cannot hold.
pub fn lines_of<T: Serialize>(
    rows: impl IntoIterator<Item = T>,
    begins_file: bool,
) -> io::Result<Vec<u8>> {
    let mut builder = csv::WriterBuilder::new();
    let mut writer = builder.has_headers(begins_file).from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    writer.into_inner().map_err(|error| error.into_error())
}

/// The first line of a file with such rows, without its end: the names of their fields.
///
/// # Errors
/// A row that CSV cannot hold.
pub fn heading<T: Serialize + Default>() -> io::Result<String> {
    let lines = lines_of([T::default()], true)?;
    let text = String::from_utf8_lossy(&lines);
    Ok(text.lines().next().unwrap_or_default().into())
}

/// The text of a file, decompressed if its name ends in `.gz`.
///
/// # Errors
/// A file that cannot be read or decompressed, is no UTF-8, or holds too much.
pub(super) fn text_of(file: &Path) -> Result<String, Problem> {
    let mut bytes =
        regular_file::read(file, MOST_BYTES).map_err(|error| Problem::reading(file, &error))?;
    if file.extension().is_some_and(|ending| ending == "gz") {
        bytes = unpacked(&bytes).map_err(|error| Problem::reading(file, &error))?;
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..at]
            .iter()
            .filter(|b| **b == b'\n')
            .count();
        Problem::at(format!("{}:{line}", file.display()), "not UTF-8")
    })
}

/// Bytes that were compressed by gzip.
///
/// # Errors
/// They are cut off or something else, or hold too much.
pub(super) fn unpacked(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed)
        .take(MOST_UNPACKED + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_UNPACKED {
        let most = MOST_UNPACKED >> 20;
        let what = format!("holds more than {most} MiB; expected less, or a plain file");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

/// Reads the rows of the text of a CSV file called `name` and gives each with its line to `each`.
///
/// # Errors
/// A file without one of the `needed` columns, a damaged line, or the first error of `each`.
pub(super) fn read_rows<T: DeserializeOwned>(
    name: &str,
    text: &str,
    needed: &[&str],
    mut each: impl FnMut(u64, T) -> Result<(), String>,
) -> Result<(), Problem> {
    let at_line = |line: u64, what: String| Problem::at(format!("{name}:{line}"), what);
    bound_fields(text).map_err(|line| {
        at_line(
            line,
            format!("more than {MOST_FIELDS} fields; expected fewer"),
        )
    })?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader
        .headers()
        .map_err(|error| Problem::at(name, error.to_string()))?;
    let headers = headers.clone();
    let missing: Vec<_> = needed
        .iter()
        .copied()
        .filter(|column| !headers.iter().any(|known| known == *column))
        .collect();
    if headers.is_empty() {
        return Err(Problem::at(name, "empty file; expected a heading and rows"));
    }
    if !missing.is_empty() {
        let mut what = format!("no column {}", missing.join(", "));
        if headers.len() == 1 && headers[0].contains(';') {
            what += "; expected commas between columns, not semicolons";
        }
        return Err(at_line(1, what));
    }
    if !text.ends_with('\n') {
        let last = text.lines().count() as u64;
        return Err(at_line(last, "the last line is cut off".into()));
    }
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            at_line(line, damage(&error))
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = check_fields(&record, &headers).and_then(|()| parsed(&record, &headers));
        let row = row.map_err(|what| at_line(line, what))?;
        each(line, row).map_err(|what| at_line(line, what))?;
    }
    Ok(())
}

/// Where a byte stands in a row.
#[derive(Clone, Copy)]
enum Place {
    Start,
    Plain,
    Quoted,
    /// Behind a quotation mark that ends the field, or stands for one in it.
    Mark,
}

/// Fails with the line of the first row that has too many fields: the reader keeps memory for each.
fn bound_fields(text: &str) -> Result<(), u64> {
    let mut place = Place::Start;
    let mut fields = 1;
    let mut line = 1;
    for byte in text.bytes() {
        line += u64::from(byte == b'\n');
        place = match (place, byte) {
            (Place::Quoted, b'"') => Place::Mark,
            (Place::Quoted, _) | (Place::Mark | Place::Start, b'"') => Place::Quoted,
            (_, b',') => {
                fields += 1;
                Place::Start
            }
            (_, b'\n' | b'\r') => {
                fields = 1;
                Place::Start
            }
            _ => Place::Plain,
        };
        if fields > MOST_FIELDS {
            return Err(line);
        }
    }
    Ok(())
}

/// Checks that fields are no longer than a program writes them, and that only messages have several lines: otherwise
/// quotation marks that do not belong together have swallowed the rows between them.
fn check_fields(record: &StringRecord, headers: &StringRecord) -> Result<(), String> {
    for (field, column) in record.iter().zip(headers) {
        if column != "error" && field.contains('\n') {
            return Err(format!(
                "{column}: an end of line in it (or a quotation mark is missing)"
            ));
        }
        if field.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r')) {
            return Err(format!("{column}: a control character in it"));
        }
        let most = most_of_field(column);
        if field.len() > most {
            return Err(format!("{column}: more than {most} bytes; expected fewer"));
        }
    }
    Ok(())
}

/// Most bytes of a field: of a message, of what a person or a driver lists, and of a name or a number.
fn most_of_field(column: &str) -> usize {
    match column {
        "error" => 1 << 16,
        "options" | "adapter" | "driver" | "ran_on" | "device" => 1 << 12,
        _ => 1 << 8,
    }
}

/// The text of an error of the reader.
fn damage(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!(
            "{}; expected {expected_len} (or a quotation mark is missing)",
            counted(*len, "field")
        ),
        _ => error.to_string(),
    }
}

/// One row; an error names the column and its value.
fn parsed<T: DeserializeOwned>(record: &StringRecord, headers: &StringRecord) -> Result<T, String> {
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
    let value: String = record[field].chars().take(QUOTED).collect();
    Err(format!("{}: {value:?} ({})", &headers[field], err.kind()))
}
