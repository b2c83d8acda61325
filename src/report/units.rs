//! Sizes and commits for human readers.

use bytesize::ByteSize;

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
