//! Bytes of a text file as people count them.

/// Line and column, both from one; columns count characters.
pub(super) fn line_and_column(bytes: &[u8], offset: usize) -> String {
    let before = &bytes[..offset.min(bytes.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
    // Continuation bytes of UTF-8 are no characters of their own.
    let column = before[start..].iter().filter(|&&b| b & 0xc0 != 0x80).count() + 1;
    format!("line {line} column {column}")
}
