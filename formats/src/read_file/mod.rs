//! Reading of files, whole or just the first bytes.

use crate::regular_file;
use serde::de::DeserializeOwned;
use skinbench_kernels::error::{DataError, Result};
use std::borrow::Cow;
use std::io;
use std::path::Path;

/// Most bytes of a file, and of all files with buffers that a model refers to.
pub const MOST_BYTES: u64 = 1 << 30;

/// First bytes of texts in UTF-16.
const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

pub fn read_file(file: &Path) -> Result<Vec<u8>> {
    let bytes = regular_file::read(file, MOST_BYTES).map_err(unreadable)?;
    ensure!(
        !UTF_16.iter().any(|mark| bytes.starts_with(mark)),
        "",
        "is UTF-16; expected UTF-8"
    );
    Ok(bytes)
}

/// The text of a file in UTF-8, without its byte order mark.
pub fn read_text(file: &Path) -> Result<String> {
    let mut bytes = read_file(file)?;
    let mark = bytes.len() - without_mark(&bytes).len();
    bytes.drain(..mark);
    String::from_utf8(bytes).map_err(|error| {
        let byte = mark + error.utf8_error().valid_up_to();
        let problem = "is not UTF-8; expected that, whatever encoding the text states";
        DataError::new(format!("byte {byte}"), problem)
    })
}

/// The bytes of a text after the byte order mark, which some programs write first.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// The message about a file that the system does not read.
pub fn unreadable(error: io::Error) -> DataError {
    DataError::new("", format!("cannot be read: {error}"))
}

/// Parses JSON, which may begin with a byte order mark; an error has a line and a column. Properties whose value is null
/// count as absent. Calls `unread` with the name of each property that `T` lacks, such as `nodes[].camera`.
pub fn from_json<T: DeserializeOwned>(json: &[u8], mut unread: impl FnMut(&str)) -> Result<T> {
    let json = without_nulls(without_mark(json));
    let mut json = serde_json::Deserializer::from_slice(&json);
    let read = serde_ignored::deserialize(&mut json, |path| {
        let mut name = String::new();
        write_name(&path, &mut name);
        unread(&name);
    });
    let whole = read.and_then(|value| json.end().map(|()| value));
    whole.map_err(|error| {
        let place = format!("line {} column {}", error.line(), error.column());
        DataError::new(place, problem(&error))
    })
}

/// JSON with spaces in place of properties whose value is null, so that all others keep their lines and columns.
fn without_nulls(json: &[u8]) -> Cow<'_, [u8]> {
    let mut cleared = Cow::Borrowed(json);
    // Where the last string began, and the last comma before it; both until the next mark.
    let mut name = None;
    let mut comma = None;
    let mut at = 0;
    while at < json.len() {
        match json[at] {
            b'"' => {
                name = Some(at);
                at += 1;
                while at < json.len() && json[at] != b'"' {
                    at += if json[at] == b'\\' { 2 } else { 1 };
                }
            }
            b',' => {
                name = None;
                comma = Some(at);
            }
            b'{' => {
                name = None;
                comma = None;
            }
            b':' => {
                let value = json[at + 1..].trim_ascii_start();
                let rest = value.strip_prefix(b"null").map(<[u8]>::trim_ascii_start);
                if let Some(mut start) = name
                    && let Some(rest @ [b',' | b'}', ..]) = rest
                {
                    let mut end = json.len() - rest.len();
                    // One of the commas around it goes, too.
                    if rest[0] == b',' {
                        end += 1;
                    } else if let Some(comma) = comma {
                        start = comma;
                    }
                    for byte in &mut cleared.to_mut()[start..end] {
                        if !byte.is_ascii_whitespace() {
                            *byte = b' ';
                        }
                    }
                    name = None;
                    at = end;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    cleared
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
pub fn problem(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let problem = match message.rsplit_once(" at line ") {
        Some((problem, _)) => problem,
        None => &message,
    };
    // The name of a type here says nothing about the file.
    match problem.rsplit_once("expected struct ") {
        Some((problem, _)) => format!("{problem}expected an object"),
        None => problem.into(),
    }
}

/// The display name of a file's content.
pub fn stem(file: &Path) -> String {
    file.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Returns whether the first bytes of a file contain a word.
pub fn contains(head: &[u8], word: &str) -> bool {
    head.windows(word.len())
        .any(|window| window == word.as_bytes())
}

#[cfg(test)]
mod tests;
