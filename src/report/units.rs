//! Times and numbers for human readers.

/// Nanoseconds with three digits and a unit.
pub(super) fn duration(ns: u64) -> String {
    let ns = ns as f64;
    let (value, unit) = match ns {
        ..1e3 => return format!("{ns} ns"),
        ..1e6 => (ns / 1e3, "µs"),
        ..1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// A number with a comma after every third digit from the end.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}
