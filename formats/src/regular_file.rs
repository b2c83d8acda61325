//! Opening of files that end: every reader of models, scenes and results comes here.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file. Anything else is refused before it is opened: a pipe waits for a writer, and a device may have
/// no end.
///
/// # Errors
/// The file cannot be opened, or is none.
pub fn open(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "is no regular file"));
    }
    File::open(path)
}

/// The bytes of a regular file.
///
/// # Errors
/// The file cannot be opened or read, or is none.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a regular file.
///
/// # Errors
/// The file cannot be opened or read, is none, or is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_devices_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let said = |path: &Path| read(path).unwrap_err().to_string();
        assert_eq!(said(folder.path()), "is no regular file");
        #[cfg(unix)]
        assert_eq!(said(Path::new("/dev/zero")), "is no regular file");
        let file = folder.path().join("file");
        fs::write(&file, "text").unwrap();
        assert_eq!(read_text(&file).unwrap(), "text");
    }
}
