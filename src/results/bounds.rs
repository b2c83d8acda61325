//! Bounds of results. They come from strangers: memory and time must follow from the size of what is read. Each bound is far
//! above what an honest sweep writes.

use super::rows::Measurement;
use std::collections::HashSet;

/// Most bytes of a compressed file after decompression.
pub(super) const MOST_BYTES: u64 = 128 << 20;
/// Most bytes of a file that is not compressed.
pub(super) const MOST_PLAIN: u64 = 1 << 30;
/// Most rows of all summaries that are read together.
pub(super) const MOST_ROWS: usize = 250_000;
/// Most problems of the lines of a file; the rest of such a file is not read.
pub(super) const MOST_PROBLEMS: usize = 1_000;
/// Most bytes of a field: of a message, of what a person or a driver lists, and of a name or a number.
pub(super) fn most_of_field(column: &str) -> usize {
    match column {
        "error" => 1 << 16,
        "options" | "adapter" | "driver" | "device" => 1 << 12,
        _ => 1 << 8,
    }
}
/// Most bytes of `environment.json`, and most sessions in it.
pub(super) const MOST_ENVIRONMENT: u64 = 8 << 20;
pub(super) const MOST_SESSIONS: usize = 1_000;
/// Most crowds, counting the same one run in another way again, of a report.
const MOST_POINTS: usize = 1_000;
/// Most backends of a report.
const MOST_BACKENDS: usize = 128;
/// Most machines of a report.
const MOST_MACHINES: usize = 64;

/// The reason why results are too many to report in a reasonable time, if they are.
pub(super) fn exceeded(measurements: &[Measurement]) -> Option<String> {
    let machines: HashSet<_> = measurements.iter().map(Measurement::machine).collect();
    let backends = measurements.iter().map(|m| m.row.backend_and_variant());
    let backends: HashSet<_> = backends.collect();
    let points: HashSet<_> = measurements.iter().map(|m| m.row.point()).collect();
    for (what, count, most) in [
        ("machines", machines.len(), MOST_MACHINES),
        ("backends", backends.len(), MOST_BACKENDS),
        ("crowds and ways to run them", points.len(), MOST_POINTS),
    ] {
        if count > most {
            return Some(format!(
                "results of {count} {what}; expected at most {most}: report them in parts"
            ));
        }
    }
    None
}
