//! From result files to answers: reading, comparing, reporting, sweeping.

mod attacks;
mod card;
mod comparing;
mod limits;
mod pages;
mod ranking;
mod reading;
mod screens;
mod spending;
mod sweeping;

use csv::StringRecord;
use skinbench::results::Recorded;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sweep")
}

/// A copy of the fixed results, changed.
fn changed(summary: impl Fn(String) -> String, samples: impl Fn(String) -> String) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, change) in [
        ("summary.csv", &summary as &dyn Fn(String) -> String),
        ("samples.csv", &samples as &dyn Fn(String) -> String),
    ] {
        fs::write(
            folder.path().join(name),
            change(fs::read_to_string(fixture().join(name)).unwrap()),
        )
        .unwrap();
    }
    folder
}

fn unchanged(text: String) -> String {
    text
}

/// A CSV text with a field of a line replaced; line 1 is the heading.
fn with_field(text: &str, line: usize, column: &str, value: &str) -> String {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let mut rows: Vec<Vec<String>> = reader.deserialize().map(Result::unwrap).collect();
    rows[line - 2][place_of(&headers, column)] = value.into();
    csv_text(&headers, &rows)
}

/// The first row of a CSV text, repeated with other values of a column.
fn repeated(text: &str, column: &str, values: impl Iterator<Item = String>) -> String {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let first: Vec<String> = reader.deserialize().next().unwrap().unwrap();
    let mut rows = Vec::new();
    for value in values {
        let mut row = first.clone();
        row[place_of(&headers, column)] = value;
        rows.push(row);
    }
    csv_text(&headers, &rows)
}

fn place_of(headers: &StringRecord, column: &str) -> usize {
    headers.iter().position(|name| name == column).unwrap()
}

fn csv_text(headers: &StringRecord, rows: &[Vec<String>]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(headers).unwrap();
    for row in rows {
        writer.write_record(row).unwrap();
    }
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

fn read(folder: &TempDir) -> Recorded {
    Recorded::read(&[folder.path()]).unwrap()
}

/// Rows of the fixed results.
const ROWS: usize = 213;
