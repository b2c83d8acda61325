//! Texts and bytes of result files, within their bounds.

use super::bounds::{MOST_BYTES, MOST_PLAIN};
use crate::asset::regular_file;
use flate2::read::GzDecoder;
use std::io::{self, Read};
use std::path::Path;

/// The text of a file, decompressed if its name ends in `.gz`. A compressed file may be a thousandth of its content, so
/// that is bounded.
///
/// # Errors
/// A file that cannot be read or decompressed, or holds too much.
pub(super) fn text_of(file: &Path) -> io::Result<String> {
    let mut bytes = bytes_of(file, MOST_PLAIN)?;
    if file.extension().is_some_and(|ending| ending == "gz") {
        bytes = unpacked(&bytes).map_err(|error| named(file, error))?;
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The bytes of a file that gzip compressed, at most [`MOST_BYTES`].
///
/// # Errors
/// It cannot be decompressed, or holds too much.
pub(super) fn unpacked(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed)
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        let what = format!(
            "holds more than {} MiB; expected less, or a file that is not compressed",
            MOST_BYTES >> 20
        );
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

/// The bytes of a file of at most so many.
///
/// # Errors
/// As [`regular_file::read`], with the name of the file.
pub(super) fn bytes_of(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    regular_file::read(file, most).map_err(|error| named(file, error))
}

/// The error with the name of a file before it.
pub(super) fn named(file: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn compressed_files_are_bounded() {
        let file = tempfile::Builder::new().suffix(".gz").tempfile().unwrap();
        let mut packed = GzEncoder::new(&file, Compression::fast());
        let zeros = vec![0; 1 << 20];
        (0..MOST_BYTES >> 20).for_each(|_| packed.write_all(&zeros).unwrap());
        packed.write_all(b"0").unwrap();
        packed.finish().unwrap();
        let error = text_of(file.path()).unwrap_err().to_string();
        assert!(
            error.contains(".gz: holds more than 128 MiB; expected "),
            "{error}"
        );
    }
}
