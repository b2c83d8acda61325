//! Conversion of byte offsets in a text file to lines and columns.

/// Line and column, both counted from one; columns count characters.
pub(super) fn line_and_column(bytes: &[u8], offset: usize) -> String {
    let before = &bytes[..offset.min(bytes.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
    // Continuation bytes of UTF-8 are not characters.
    let column = before[start..].iter().filter(|&&b| b & 0xc0 != 0x80).count() + 1;
    format!("line {line} column {column}")
}
