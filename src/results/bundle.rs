//! Bundles: a folder of results as one file that travels.
//!
//! A bundle is a gzip-compressed tar archive with the files of the folder and a `manifest.json`, which lists them with
//! their sizes and SHA-256 digests. `tar xzf` unpacks it. The same folder always gives the same bytes.
//!
//! Digests detect changes to a bundle, not invented figures: whoever edits a file can also write its digest.

use super::bounds::MOST_BYTES;
use super::{Problem, bytes_of, digest, samples_beside, session, summaries, text_of};
use crate::asset::regular_file;
use crate::wording::one_line;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Component, Path};
use tar::{Archive, Builder, EntryType, Header};

/// End of a bundle's name.
pub const ENDING: &str = ".tar.gz";
/// Version of the container.
pub const FORMAT: u32 = 1;
/// Name of the list of files.
const MANIFEST: &str = "manifest.json";
/// Names of files that a bundle may hold beside the list, each in any folder.
const NAMES: [&str; 4] = ["summary.csv", "samples.csv", "limits.csv", session::FILE];
/// Most files, most folders above a file, and most bytes of a file's name with its folders.
const MOST_FILES: usize = 256;
const MOST_FOLDERS: usize = 6;
const MOST_NAME: usize = 255;
/// Most bytes of the list of files.
const MOST_MANIFEST: u64 = 1 << 20;
/// Lines around a bundle as text, which is its file in base64.
pub const MARKS: [&str; 2] = [
    "-----BEGIN SKINBENCH BUNDLE-----",
    "-----END SKINBENCH BUNDLE-----",
];
/// First bytes of a compressed file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Most characters of a note.
pub const MOST_NOTE: usize = 400;

/// Size and digest of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256, 64 hexadecimal digits.
    pub sha256: String,
}

/// The list of files of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the container.
    pub format: u32,
    /// The sender's remarks about the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The files by name; folders in names end in `/`.
    pub files: BTreeMap<String, FileFacts>,
}

/// The content of a bundle, as it is: neither digests nor figures are checked ([`super::check`] does that).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The list of files.
    pub manifest: Manifest,
    /// The files by name.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// A bundle that cannot be written or read; the caller names it.
fn content<T>(problem: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::fault("", problem))
}

impl Bundle {
    /// The bundle of a folder of results: each `summary.csv` at or below it, and the files beside it. Errors name files
    /// by their place in the folder.
    ///
    /// # Errors
    /// No results, results without samples or without a record of the environment, or too many or too large files.
    pub fn of_folder(folder: &Path, note: Option<String>) -> Result<Self, Problem> {
        let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for summary in summaries(folder).or_else(|error| content(error.what))? {
            let place = summary.parent().unwrap_or(Path::new(""));
            let below = place.strip_prefix(folder).unwrap_or(Path::new(""));
            let mut prefix = String::new();
            for folder in below {
                let Some(folder) = folder.to_str() else {
                    return content(format!("{}: expected a name in UTF-8", place.display()));
                };
                prefix += folder;
                prefix.push('/');
            }
            let samples = samples_beside(&summary);
            let environment = place.join(session::FILE);
            if !samples.exists() {
                return content(format!(
                    "no samples.csv in {}; expected all samples",
                    place.display()
                ));
            }
            if !environment.exists() {
                return content(format!(
                    "no {} in {}; expected results of this version: measure again",
                    session::FILE,
                    place.display()
                ));
            }
            let limits = place.join("limits.csv");
            files.insert(
                format!("{prefix}summary.csv"),
                bytes_of(&summary, MOST_BYTES)?,
            );
            files.insert(
                format!("{prefix}samples.csv"),
                text_of(&samples)?.into_bytes(),
            );
            files.insert(
                format!("{prefix}{}", session::FILE),
                bytes_of(&environment, MOST_BYTES)?,
            );
            if limits.exists() {
                files.insert(
                    format!("{prefix}limits.csv"),
                    bytes_of(&limits, MOST_BYTES)?,
                );
            }
            let bytes: u64 = files.values().map(|file| file.len() as u64).sum();
            if files.len() > MOST_FILES || bytes > MOST_BYTES {
                return content(too_large());
            }
        }
        if let Some(name) = files.keys().find(|name| !is_allowed(name)) {
            let expected = format!(
                "expected at most {MOST_FOLDERS} folders above a file, and {MOST_NAME} bytes"
            );
            return content(format!("{name}: {expected}"));
        }
        let mut listed = BTreeMap::new();
        for (name, bytes) in &files {
            let facts = FileFacts {
                bytes: bytes.len() as u64,
                sha256: digest::of_bytes(bytes),
            };
            listed.insert(name.clone(), facts);
        }
        Ok(Self {
            manifest: Manifest {
                format: FORMAT,
                note,
                files: listed,
            },
            files,
        })
    }

    /// The bytes of the bundle's file.
    ///
    /// # Errors
    /// A name that an archive cannot hold.
    pub fn packed(&self) -> io::Result<Vec<u8>> {
        let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
        let mut manifest = serde_json::to_vec_pretty(&self.manifest)?;
        manifest.push(b'\n');
        add(&mut archive, MANIFEST, &manifest)?;
        for (name, bytes) in &self.files {
            add(&mut archive, name, bytes)?;
        }
        archive.into_inner()?.finish()
    }

    /// Reads a bundle's file, or a text that has one between [`MARKS`].
    ///
    /// # Errors
    /// A file that cannot be read, or is no bundle.
    pub fn read(file: &Path) -> Result<Self, Problem> {
        let bytes = regular_file::read(file, MOST_BYTES)?;
        if bytes.starts_with(&GZIP) {
            return Self::of_bytes(&bytes);
        }
        match bytes
            .windows(MARKS[0].len())
            .position(|window| window == MARKS[0].as_bytes())
        {
            Some(at) => Self::of_bytes(&in_text(&bytes[at..])?),
            None => Self::of_bytes(&bytes),
        }
    }

    /// Reads the bytes of a bundle's file. Memory is bounded by what a bundle may hold, whatever they state.
    ///
    /// # Errors
    /// They are no bundle.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, Problem> {
        let mut archive = Archive::new(GzDecoder::new(bytes).take(2 * MOST_BYTES));
        let mut files = BTreeMap::new();
        let mut all = 0;
        for entry in archive.entries()? {
            let entry = entry?;
            let path = entry.path()?.into_owned();
            let Some(name) = path.to_str().map(str::to_owned) else {
                return content("a name that is not UTF-8");
            };
            if entry.header().entry_type() != EntryType::Regular
                || !(is_allowed(&name) || name == MANIFEST)
            {
                return content(foreign(&name));
            }
            all += entry.size();
            // The list of files is one of them.
            if all > MOST_BYTES || files.len() > MOST_FILES {
                return content(too_large());
            }
            if name == MANIFEST && entry.size() > MOST_MANIFEST {
                return content(format!(
                    "{MANIFEST}: expected at most {MOST_MANIFEST} bytes"
                ));
            }
            let mut bytes = Vec::new();
            entry.take(MOST_BYTES).read_to_end(&mut bytes)?;
            if files.insert(name.clone(), bytes).is_some() {
                return content(format!("{name} is in it twice"));
            }
        }
        // The checksum stands at the end of the file, behind the archive.
        io::copy(&mut archive.into_inner(), &mut io::sink())?;
        let Some(manifest) = files.remove(MANIFEST) else {
            return content(format!("no {MANIFEST} in it: not a bundle"));
        };
        let parsed = serde_json::from_slice(&manifest)
            .or_else(|error| content(format!("{MANIFEST}: {error}")));
        let manifest: Manifest = parsed?;
        if manifest.format != FORMAT {
            return content(format!(
                "{MANIFEST}: format {}; this skinbench reads {FORMAT}",
                manifest.format
            ));
        }
        if let Some(name) = manifest.files.keys().find(|name| !is_allowed(name)) {
            return content(format!("{MANIFEST}: {}", foreign(name)));
        }
        Ok(Self { manifest, files })
    }
}

/// Adds a file to an archive. It has neither time nor owner: the same results give the same bytes.
fn add(archive: &mut Builder<impl io::Write>, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_size(bytes.len() as u64);
    archive.append_data(&mut header, name, bytes)
}

/// The bytes of a bundle in a text that begins with the first of [`MARKS`]. Quotes and indents of mails are skipped.
fn in_text(text: &[u8]) -> Result<Vec<u8>, Problem> {
    let text = String::from_utf8_lossy(text);
    let Some((letters, _)) = text[MARKS[0].len()..].split_once(MARKS[1]) else {
        return content(format!("the text is cut off; expected a line {}", MARKS[1]));
    };
    let letters: String = letters
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '>')
        .collect();
    STANDARD
        .decode(letters)
        .or_else(|error| content(format!("not the text of a bundle: {error}")))
}

/// Returns whether a file's name leads to one of the known files, in a folder at or below the root.
fn is_allowed(name: &str) -> bool {
    let path = Path::new(name);
    let plain = path
        .components()
        .all(|component| matches!(component, Component::Normal(_)))
        && !name.contains('\\');
    let known = path
        .file_name()
        .and_then(OsStr::to_str)
        .is_some_and(|file| NAMES.contains(&file));
    plain && known && path.components().count() <= MOST_FOLDERS + 1 && name.len() <= MOST_NAME
}

fn foreign(name: &str) -> String {
    format!(
        "{:?} in it; expected only {MANIFEST}, {}",
        one_line(name, MOST_NAME),
        NAMES.join(", ")
    )
}

fn too_large() -> String {
    format!(
        "too large: expected at most {MOST_FILES} files with {} MiB together",
        MOST_BYTES >> 20
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn of_files(files: &[(&str, &str)]) -> Bundle {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Bundle::of_folder(folder.path(), Some("a note".into())).unwrap()
    }

    fn read(bytes: &[u8]) -> Result<Bundle, Problem> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, bytes).unwrap();
        Bundle::read(file.path())
    }

    fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, bytes) in entries {
            let mut header = Header::new_gnu();
            // Names that `append_data` refuses are written as they are.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            archive.append(&header, *bytes).unwrap();
        }
        archive.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn a_bundle_holds_the_files_of_a_folder_and_its_bytes_depend_on_nothing_else() {
        let files = [
            ("environment.json", "[]"),
            ("samples.csv", "samples"),
            ("summary.csv", "summary"),
            ("part/environment.json", "[]"),
            ("part/limits.csv", "limits"),
            ("part/samples.csv", "more samples"),
            ("part/summary.csv", "more"),
        ];
        let bundle = of_files(&files);
        let held: Vec<_> = bundle
            .files
            .iter()
            .map(|(name, bytes)| (name.as_str(), str::from_utf8(bytes).unwrap()))
            .collect();
        let mut sorted = files.to_vec();
        sorted.sort_unstable();
        assert_eq!(held, sorted);
        let packed = bundle.packed().unwrap();
        assert_eq!(of_files(&files).packed().unwrap(), packed);
        assert_eq!(read(&packed).unwrap(), bundle);
    }

    #[test]
    fn foreign_and_damaged_files_are_refused() {
        let files = [
            ("environment.json", "[]"),
            ("samples.csv", "samples"),
            ("summary.csv", "summary"),
        ];
        let whole = of_files(&files).packed().unwrap();
        let problem = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        for cut in [0, 1, 20, whole.len() / 2, whole.len() - 1] {
            assert!(
                read(&whole[..cut]).is_err(),
                "{cut} of {} bytes",
                whole.len()
            );
        }
        assert!(problem(b"run_id,utc").starts_with("cannot read: "));
        assert_eq!(
            problem(&archive(&[("summary.csv", b"")])),
            "no manifest.json in it: not a bundle"
        );
        for name in [
            "../summary.csv",
            "/summary.csv",
            "a/../summary.csv",
            "notes.txt",
            "a/b/c/d/e/f/g/summary.csv",
        ] {
            assert!(
                problem(&archive(&[(name, b"")]))
                    .starts_with(&format!("{name:?} in it; expected only")),
                "{name}"
            );
        }
        assert_eq!(
            problem(&archive(&[("summary.csv", &b""[..]); 2])),
            "summary.csv is in it twice"
        );
        let later = br#"{"format":2,"files":{}}"#;
        assert_eq!(
            problem(&archive(&[(MANIFEST, later)])),
            "manifest.json: format 2; this skinbench reads 1"
        );
    }

    #[test]
    fn errors_are_said_once_and_leave_the_folder_to_the_caller() {
        let folder = tempfile::tempdir().unwrap();
        for folder in [folder.path(), &folder.path().join("none")] {
            let problem = format!(
                "{:#}",
                anyhow::Error::new(Bundle::of_folder(folder, None).unwrap_err())
            );
            assert!(
                !problem.contains(folder.to_str().unwrap()),
                "the caller names it: {problem}"
            );
            assert!(
                problem.starts_with("no summary.csv in it; ")
                    || problem.starts_with("cannot read: "),
                "{problem}"
            );
        }
        let problem = format!("{:#}", anyhow::Error::new(read(b"text").unwrap_err()));
        assert!(
            problem.starts_with("cannot read: ")
                && problem.matches("unexpected end of file").count() == 1,
            "{problem}"
        );
    }

    #[test]
    fn the_stated_size_of_a_file_allocates_nothing() {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..11].copy_from_slice(b"summary.csv");
        header.set_size(1 << 40);
        header.set_mode(0o644);
        header.set_cksum();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        io::Write::write_all(&mut encoder, header.as_bytes()).unwrap();
        let problem = read(&encoder.finish().unwrap()).unwrap_err().to_string();
        assert_eq!(
            problem,
            "too large: expected at most 256 files with 128 MiB together"
        );
    }
}
