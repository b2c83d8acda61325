//! The wide form of results: a row for each backend at each point, with the times that tables show.

use super::table::{Table, Value, time};
use crate::frame::StageGroup;
use crate::results::{COLUMNS, Entry, Quantity, Row, Study};
use csv::StringRecord;

/// A time of the wide form.
struct Time {
    name: &'static str,
    of: fn(&Entry) -> Option<u64>,
}

/// The times of the wide form, in nanoseconds: sums of medians on host and device.
const TIMES: [Time; 10] = [
    Time {
        name: "frame_ns",
        of: |entry| entry.time(Quantity::Frame),
    },
    Time {
        name: "pose_ns",
        of: |entry| entry.total(StageGroup::Pose),
    },
    Time {
        name: "upload_ns",
        of: |entry| entry.total(StageGroup::Upload),
    },
    Time {
        name: "skin_ns",
        of: |entry| entry.total(StageGroup::Skin),
    },
    Time {
        name: "work_ns",
        of: |entry| entry.time(Quantity::Work),
    },
    Time {
        name: "draw_ns",
        of: |entry| entry.total(StageGroup::Draw),
    },
    Time {
        name: "gameplay_ns",
        of: |entry| entry.total(StageGroup::Gameplay),
    },
    Time {
        name: "other_ns",
        of: Entry::other,
    },
    Time {
        name: "processor_ns",
        of: Entry::processor,
    },
    Time {
        name: "device_ns",
        of: Entry::device,
    },
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

/// The fields of a row, in the order of [`COLUMNS`].
pub fn fields(row: &Row) -> StringRecord {
    let mut writer = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(Vec::new());
    let written = writer.serialize(row).is_ok();
    debug_assert!(written, "a row has plain fields");
    let bytes = writer.into_inner().unwrap_or_default();
    let mut fields = StringRecord::new();
    let read = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(&bytes[..])
        .read_record(&mut fields);
    debug_assert!(read.is_ok(), "what was written is CSV");
    fields
}

/// Every backend at every point: the times, and the columns of `summary.csv` that are not about one stage.
pub fn wide(studies: &[Study]) -> Table {
    let mut kept = Vec::new();
    let mut headings = Vec::new();
    for (at, column) in COLUMNS.iter().enumerate() {
        if !OF_STAGES.contains(&column.name) {
            kept.push(at);
            headings.push(column.name);
        }
    }
    headings.extend(TIMES.iter().map(|time| time.name));
    let mut table = Table::new(headings);
    for entry in studies.iter().flat_map(|study| &study.entries) {
        let Some(last) = entry.last() else { continue };
        let fields = fields(last);
        let mut row = Vec::new();
        for &at in &kept {
            row.push(Value::words(fields.get(at).unwrap_or_default()));
        }
        row.extend(TIMES.iter().map(|known| time((known.of)(entry))));
        table.push(row);
    }
    table
}

/// All rows of studies, with those columns in which they differ.
pub fn all_rows<'a>(rows: impl Iterator<Item = &'a Row>) -> Table {
    let records: Vec<StringRecord> = rows.map(fields).collect();
    let mut differing = Vec::new();
    for at in 0..COLUMNS.len() {
        let first = records.first().map(|record| &record[at]);
        if records.iter().any(|record| Some(&record[at]) != first) {
            differing.push(at);
        }
    }
    let mut table = Table::new(differing.iter().map(|&at| COLUMNS[at].name));
    for record in &records {
        let row = differing.iter().map(|&at| Value::words(&record[at]));
        table.push(row.collect());
    }
    table
}
