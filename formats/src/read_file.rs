//! Reading of files, whole or just the first bytes.

use crate::error::ImportError;
use crate::fault::Fault;
use crate::regular_file;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Most bytes of a file, and of all files with buffers that a model refers to.
pub(super) const MOST_BYTES: u64 = 1 << 30;

pub(super) fn read_file(file: &Path) -> Result<Vec<u8>, ImportError> {
    regular_file::read(file, MOST_BYTES).map_err(unreadable(file))
}

pub(super) fn read_text(file: &Path) -> Result<String, ImportError> {
    String::from_utf8(read_file(file)?).map_err(|error| {
        let error = error.utf8_error();
        ImportError::new(
            file,
            format!("byte {}", error.valid_up_to()),
            "is not UTF-8; expected plain text",
        )
    })
}

/// Adds the name of the file to an error of the system.
pub(super) fn unreadable(file: &Path) -> impl Fn(std::io::Error) -> ImportError {
    move |error| ImportError::new(file, "", format!("cannot be read: {error}"))
}

/// Parses JSON; an error has a line and a column.
pub(super) fn from_json<T: DeserializeOwned>(json: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(json).map_err(|error| {
        Fault::new(
            format!("line {} column {}", error.line(), error.column()),
            problem(&error),
        )
    })
}

/// An error's message without its place.
pub(super) fn problem(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message
        .rsplit_once(" at line ")
        .map_or(message.as_str(), |(problem, _)| problem)
        .into()
}

/// The display name of a file's content.
pub(super) fn stem(file: &Path) -> String {
    file.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Returns whether the first bytes of a file contain a word.
pub(super) fn contains(head: &[u8], word: &str) -> bool {
    head.windows(word.len())
        .any(|window| window == word.as_bytes())
}
