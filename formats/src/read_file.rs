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
    to_text(file, read_file(file)?)
}

/// The bytes of a file as a text in UTF-8, without its byte order mark.
pub(super) fn to_text(file: &Path, mut bytes: Vec<u8>) -> Result<String, ImportError> {
    let mark = bytes.len() - without_mark(&bytes).len();
    bytes.drain(..mark);
    String::from_utf8(bytes).map_err(|error| {
        let error = error.utf8_error();
        ImportError::new(
            file,
            format!("byte {}", mark + error.valid_up_to()),
            "is not UTF-8; expected plain text",
        )
    })
}

/// The bytes of a text after the byte order mark, which some programs write first.
pub(super) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Adds the name of the file to an error of the system.
pub(super) fn unreadable(file: &Path) -> impl Fn(std::io::Error) -> ImportError {
    move |error| ImportError::new(file, "", format!("cannot be read: {error}"))
}

/// Parses JSON, which may begin with a byte order mark; an error has a line and a column. Calls `unread` with the name of
/// each property that `T` lacks, such as `nodes[].camera`.
pub(super) fn from_json<T: DeserializeOwned>(
    json: &[u8],
    mut unread: impl FnMut(&str),
) -> Result<T, Fault> {
    let mut json = serde_json::Deserializer::from_slice(without_mark(json));
    let read = serde_ignored::deserialize(&mut json, |path| {
        let mut name = String::new();
        write_name(&path, &mut name);
        unread(&name);
    });
    let whole = read.and_then(|value| json.end().map(|()| value));
    whole.map_err(|error| {
        Fault::new(
            format!("line {} column {}", error.line(), error.column()),
            problem(&error),
        )
    })
}

/// Appends the names of the properties that lead to a place, with `[]` for any item of a list.
fn write_name(path: &serde_ignored::Path, name: &mut String) {
    use serde_ignored::Path;
    match path {
        Path::Root => {}
        Path::Seq { parent, .. } => {
            write_name(parent, name);
            name.push_str("[]");
        }
        Path::Map { parent, key } => {
            write_name(parent, name);
            if !name.is_empty() {
                name.push('.');
            }
            name.push_str(key);
        }
        Path::Some { parent }
        | Path::NewtypeStruct { parent }
        | Path::NewtypeVariant { parent } => write_name(parent, name),
    }
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
