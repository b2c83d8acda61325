//! Files that are either complete or absent.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// Writes a file under a temporary name and moves it to its place when it is complete.
///
/// # Errors
/// The file cannot be written; one that was there before is as it was.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    temporary(path, write)?.persist(path)?;
    Ok(())
}

/// As [`write_file`], but never replaces a file.
///
/// # Errors
/// The file cannot be written, or there is one already.
pub fn write_new(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    temporary(path, write)?.persist_noclobber(path)?;
    Ok(())
}

/// A complete file under a temporary name, in the folder of `path`.
fn temporary(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<NamedTempFile> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut builder = Builder::new();
    // Temporary files are private by default; this one becomes an ordinary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut buffered = BufWriter::new(builder.prefix(".skinbench-").tempfile_in(folder)?);
    write(&mut buffered)?;
    Ok(buffered.into_inner()?)
}
