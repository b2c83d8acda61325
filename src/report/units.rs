//! Times, sizes, numbers and commits for human readers.

pub use crate::wording::grouped;
use bytesize::ByteSize;

/// Nanoseconds with three digits and a unit.
pub fn duration(ns: u64) -> String {
    let ns = ns as f64;
    let (value, unit) = match ns {
        ..1e3 => return format!("{ns} ns"),
        ..1e6 => (ns / 1e3, "µs"),
        ..1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let digits = if value < 10.0 {
        2
    } else {
        usize::from(value < 100.0)
    };
    format!("{value:.digits$} {unit}")
}

/// Nanoseconds as [`duration`], or a dash.
pub fn duration_or_dash(ns: Option<u64>) -> String {
    ns.map_or("-".into(), duration)
}

/// A number's order of magnitude with two digits, or a dash.
pub fn magnitude_or_dash(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.1e}"))
}

/// Bytes with a decimal unit.
pub fn size(bytes: f64) -> String {
    ByteSize(bytes.round() as u64).display().si().to_string()
}

/// The first ten digits of a commit's hash.
pub fn abbreviated(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_digits_stand_for_a_commit() {
        assert_eq!(abbreviated(&"0123456789abcdef".repeat(3)), "0123456789");
        assert_eq!(abbreviated("cc39d26"), "cc39d26");
    }
}
