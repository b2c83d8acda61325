//! Results of a page for browsers as one text, which is downloaded as a file or pasted into a mail or a comment.
//!
//! Between two marks stands a JSON object, compressed by gzip and in base64: the names of the files of a folder of results
//! with their texts. Prose around it, quotes of mails and other lengths of lines change nothing.

use super::csv_file::unpacked;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;
use std::io;

/// Lines before and after the results.
pub const MARKS: [&str; 2] = [
    "-----BEGIN SKINBENCH RESULTS-----",
    "-----END SKINBENCH RESULTS-----",
];

/// The part of a text behind the first mark, if it has one.
pub(super) fn find(text: &str) -> Option<&str> {
    text.split_once(MARKS[0]).map(|(_, rest)| rest)
}

/// The texts of the files by their names, from what [`find`] found.
///
/// # Errors
/// The second mark is missing, or there is something else between them.
pub(super) fn parse(pasted: &str) -> io::Result<BTreeMap<String, String>> {
    let problem = |what| io::Error::new(io::ErrorKind::InvalidData, what);
    let Some((letters, _)) = pasted.split_once(MARKS[1]) else {
        return Err(problem(format!(
            "the text is cut off; expected a line {}",
            MARKS[1]
        )));
    };
    let letters: String = letters
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '>')
        .collect();
    let packed = STANDARD
        .decode(letters)
        .map_err(|error| problem(format!("not the text of a page: {error}")))?;
    let bytes = unpacked(&packed)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| problem(format!("not the results of a page: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Recorded;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::fs;
    use std::io::Write;
    use std::path::Path;

    /// The text of a page that gives these bytes, in lines.
    fn text(bytes: &[u8]) -> String {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        let letters = STANDARD.encode(encoder.finish().unwrap());
        let mut lines = vec![MARKS[0]];
        for line in letters.as_bytes().chunks(76) {
            lines.push(str::from_utf8(line).unwrap());
        }
        lines.push(MARKS[1]);
        lines.join("\n") + "\n"
    }

    fn read(text: &str) -> Result<Recorded, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, text).unwrap();
        let name = file.path().display().to_string();
        Recorded::read(&[file.path()]).map_err(|problem| {
            let problem = problem.to_string();
            assert!(problem.contains(&name), "{problem}");
            problem
        })
    }

    fn fixture() -> BTreeMap<&'static str, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sweep");
        let names = ["summary.csv", "samples.csv"];
        let texts = names.map(|name| (name, fs::read_to_string(folder.join(name)).unwrap()));
        texts.into()
    }

    #[test]
    fn the_text_of_a_page_is_read_with_prose_and_quotes() {
        let files = fixture();
        let plain = text(&serde_json::to_vec(&files).unwrap());
        let quoted: String = plain
            .lines()
            .map(|line| format!("> > {line}\r\n"))
            .collect();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sweep");
        let expected = Recorded::read(&[folder]).unwrap();
        for text in [plain, format!("On my desk:\n{quoted}> Regards\n")] {
            let read = read(&text).unwrap();
            assert_eq!(read.rows, expected.rows);
            assert_eq!(read.notes, expected.notes);
        }
    }

    #[test]
    fn damaged_texts_are_refused_with_the_reason() {
        let whole = text(&serde_json::to_vec(&fixture()).unwrap());
        let cut = &whole[..whole.len() / 2];
        let lacking = whole.replacen("\n", "\nAAAA", 1);
        let deep = "[".repeat(1 << 20);
        let cases = [
            (
                cut.to_owned(),
                "the text is cut off; expected a line -----END",
            ),
            (whole.replacen("\n", "\n!", 1), "not the text of a page: "),
            (lacking, "invalid gzip header"),
            (text(b"[1]"), "not the results of a page: invalid type"),
            (
                text(deep.as_bytes()),
                "not the results of a page: invalid type",
            ),
            (text(b"{\"samples.csv\": \"\"}"), "no summary.csv in it"),
            (
                text(&vec![b' '; (128 << 20) + 1]),
                "holds more than 128 MiB",
            ),
        ];
        for (text, expected) in cases {
            let problem = read(&text).unwrap_err();
            assert!(problem.contains(expected), "{problem}\nnot {expected}");
        }
    }
}
