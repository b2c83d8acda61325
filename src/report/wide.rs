//! The wide form of results: a row for each backend at each point, with the times that tables show.

use super::table::{Column, Table, Value, time};
use crate::frame::StageGroup;
use crate::results::{COLUMNS, Entry, Quantity, Row, Study, lines_of};
use csv::StringRecord;

/// The times of the wide form, in nanoseconds: sums of medians on host and device.
const TIMES: [Column<Entry>; 10] = [
    Column::new("frame_ns", |entry| time(entry.time(Quantity::Frame))),
    Column::new("pose_ns", |entry| time(entry.total(StageGroup::Pose))),
    Column::new("upload_ns", |entry| time(entry.total(StageGroup::Upload))),
    Column::new("skin_ns", |entry| time(entry.total(StageGroup::Skin))),
    Column::new("work_ns", |entry| time(entry.time(Quantity::Work))),
    Column::new("draw_ns", |entry| time(entry.total(StageGroup::Draw))),
    Column::new("gameplay_ns", |entry| {
        time(entry.total(StageGroup::Gameplay))
    }),
    Column::new("other_ns", |entry| time(entry.other())),
    Column::new("processor_ns", |entry| time(entry.processor())),
    Column::new("device_ns", |entry| time(entry.device())),
];
/// Columns of `summary.csv` that are about one stage, and not in the wide form.
pub const OF_STAGES: [&str; 14] = [
    "stage",
    "clock",
    "kind",
    "dropped",
    "noisy",
    "median_ns",
    "mad_ns",
    "min_ns",
    "p95_ns",
    "p99_ns",
    "max_ns",
    "moved_bytes",
    "limit_bytes_per_s",
    "pct_of_limit",
];

/// The fields of each row, in the order of [`COLUMNS`].
fn fields<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<StringRecord> {
    let lines = lines_of(rows, true).unwrap_or_default();
    let records: csv::Result<_> = csv::Reader::from_reader(&lines[..])
        .into_records()
        .collect();
    debug_assert!(records.is_ok(), "what was written is CSV");
    records.unwrap_or_default()
}

/// Every backend at every point: the columns of `summary.csv` that are not about one stage, and the times.
pub fn wide(studies: &[Study]) -> Table {
    let mut entries = Vec::new();
    let mut last = Vec::new();
    for entry in studies.iter().flat_map(|study| &study.entries) {
        if let Some(row) = entry.last() {
            entries.push(entry);
            last.push(row);
        }
    }
    let mut kept: Vec<usize> = (0..COLUMNS.len()).collect();
    kept.retain(|&at| !OF_STAGES.contains(&COLUMNS[at].name));
    table_of(&fields(last), &kept).beside(Table::of(&TIMES, entries))
}

/// All rows of studies, with those columns in which they differ.
pub fn all_rows<'a>(rows: impl Iterator<Item = &'a Row>) -> Table {
    let records = fields(rows);
    let mut differing = Vec::new();
    for at in 0..COLUMNS.len() {
        let first = records.first().map(|record| &record[at]);
        if records.iter().any(|record| Some(&record[at]) != first) {
            differing.push(at);
        }
    }
    table_of(&records, &differing)
}

/// Some of the columns of rows.
fn table_of(rows: &[StringRecord], columns: &[usize]) -> Table {
    let mut table = Table::new(columns.iter().map(|&at| COLUMNS[at].name));
    for row in rows {
        let values = columns.iter().map(|&at| Value::words(&row[at]));
        table.push(values.collect());
    }
    table
}
