//! Opening of files that end: every reader of models, scenes and results comes here.

use fnv::FnvHasher;
use std::cell::RefCell;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Read};
use std::path::Path;

thread_local! {
    /// A hash of the bytes that were read since for each call of [`hashed`] that this thread is in.
    static HASHES: RefCell<Vec<FnvHasher>> = const { RefCell::new(Vec::new()) };
}

/// Calls `read`, and returns what it does with a hash of the bytes of all files that it read on this thread, in that
/// order: FNV-1a.
pub fn hashed<T>(read: impl FnOnce() -> T) -> (T, u64) {
    HASHES.with_borrow_mut(|hashes| hashes.push(FnvHasher::default()));
    let result = read();
    let hash = HASHES.with_borrow_mut(Vec::pop).unwrap_or_default();
    (result, hash.finish())
}

/// Opens a regular file. Anything else is refused before it is opened: a pipe waits for a writer, and a device may have
/// no end.
///
/// # Errors
/// The file cannot be opened, or is none.
pub fn open(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        let problem = "is no regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    File::open(path)
}

/// Opens a regular file of at most so many bytes; a file with holes may claim more than the machine can hold.
///
/// # Errors
/// As [`open`], or the file is larger.
pub fn open_within(path: &Path, most: u64) -> io::Result<File> {
    let file = open(path)?;
    if file.metadata()?.len() > most {
        let problem = format!("larger than the {most} bytes that are accepted");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok(file)
}

/// The bytes of a regular file of at most so many. If it grows meanwhile, the rest is not read.
///
/// # Errors
/// As [`open_within`], or the file cannot be read.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_start(open_within(path, most)?, most)
}

/// The first bytes of a file, at most so many.
pub(crate) fn read_start(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    HASHES.with_borrow_mut(|hashes| {
        if let Some(hash) = hashes.last_mut() {
            hash.write(&bytes);
        }
    });
    Ok(bytes)
}

/// The text of a regular file of at most so many bytes.
///
/// # Errors
/// As [`read`], or the file is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_devices_and_large_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let problem = |path: &Path| read(path, 4).unwrap_err().to_string();
        assert_eq!(problem(folder.path()), "is no regular file");
        #[cfg(unix)]
        assert_eq!(problem(Path::new("/dev/zero")), "is no regular file");
        let file = folder.path().join("file");
        fs::write(&file, "text").unwrap();
        assert_eq!(read_text(&file, 4).unwrap(), "text");
        fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(problem(&file), "larger than the 4 bytes that are accepted");
    }
}
