//! Files that are either complete or absent, and outputs that are no regular files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Most links that a path is followed through, as in Linux.
const MOST_LINKS: usize = 40;
/// Folders that name the open files of a process.
const OPEN_FILES: [&str; 2] = ["/proc", "/dev/fd"];

/// Place that a path leads to.
enum Destination {
    /// A regular file, or none yet: it is replaced as a whole.
    File(PathBuf),
    /// A device, a pipe, or a file that the process has open already, such as `/dev/stdout`.
    Stream(File),
}

/// Writes a file under a temporary name and moves it to its place when it is complete. Links are followed. What is no
/// regular file, such as a device or a pipe, is written to as it is, and so is a file of the process that the system
/// names, such as `/dev/stdout`, at its end.
///
/// # Errors
/// The file cannot be written; one that was there before is as it was.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match destination(path)? {
        Destination::File(path) => {
            let written = temporary(&path, write).map_err(without_temporary_name)?;
            written.persist(path)?;
        }
        Destination::Stream(stream) => {
            let mut buffered = BufWriter::new(stream);
            write(&mut buffered)?;
            buffered.flush()?;
        }
    }
    Ok(())
}

/// Finds what a path leads to, through links.
fn destination(path: &Path) -> io::Result<Destination> {
    let place = followed(path)?;
    let is_file = match fs::metadata(path) {
        Ok(known) if known.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(known) => known.is_file(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(error),
    };
    if is_file && !names_open_file(&place) {
        return Ok(Destination::File(place));
    }
    let stream = OpenOptions::new().append(true).open(path)?;
    Ok(Destination::Stream(stream))
}

/// Follows a path from link to link, up to the last one, or up to a name of an open file.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        if names_open_file(&place) || !place.is_symlink() {
            return Ok(place);
        }
        place = folder_of(&place).join(fs::read_link(&place)?);
    }
    Err(io::Error::other("too many links"))
}

/// Returns whether a path is the system's name for a file that a process has open.
fn names_open_file(path: &Path) -> bool {
    let folder = fs::canonicalize(folder_of(path));
    folder.is_ok_and(|folder| OPEN_FILES.iter().any(|open| folder.starts_with(open)))
}

/// The folder that a path is in.
fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// A complete file under a temporary name, in the folder of `path`.
fn temporary(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    // Temporary files are private by default; this one becomes an ordinary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let created = builder.prefix(".skinbench-").tempfile_in(folder_of(path))?;
    let mut buffered = BufWriter::new(created);
    write(&mut buffered)?;
    Ok(buffered.into_inner()?)
}

/// The error without the temporary name behind it, which says nothing to anyone who named a file.
fn without_temporary_name(error: io::Error) -> io::Error {
    let text = error.to_string();
    let reason = text.split(" at path ").next().unwrap_or_default();
    io::Error::new(error.kind(), reason)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::{FileTypeExt, symlink};

    fn written(path: &Path) -> io::Result<()> {
        write_file(path, |file| file.write_all(b"whole"))
    }

    #[test]
    fn links_are_followed_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("far")).unwrap();
        fs::write(path("far/file"), "before").unwrap();
        symlink("far/file", path("near")).unwrap();
        symlink("near", path("twice")).unwrap();
        symlink("far/new", path("dangling")).unwrap();
        symlink("round", path("round")).unwrap();
        written(&path("twice")).unwrap();
        written(&path("dangling")).unwrap();
        assert_eq!(fs::read_to_string(path("far/file")).unwrap(), "whole");
        assert_eq!(fs::read_to_string(path("far/new")).unwrap(), "whole");
        for link in ["near", "twice", "dangling"] {
            assert!(path(link).is_symlink(), "{link}");
        }
        assert!(written(&path("round")).is_err());
        assert!(path("round").is_symlink());
        assert_eq!(
            fs::read_dir(path("far")).unwrap().count(),
            2,
            "no leftovers"
        );
    }

    #[test]
    fn pipes_and_devices_are_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut text = String::new();
                File::open(pipe).unwrap().read_to_string(&mut text).unwrap();
                text
            }
        });
        written(&pipe).unwrap();
        assert_eq!(reader.join().unwrap(), "whole");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        // By a link of its own, so that a fault would replace the link and not the device.
        let link = folder.path().join("null");
        symlink("/dev/null", &link).unwrap();
        written(&link).unwrap();
        assert!(link.is_symlink());
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            2,
            "no leftovers"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn open_files_are_written_at_their_end() {
        use std::os::fd::AsRawFd;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "before, ").unwrap();
        let open = File::open(&path).unwrap();
        written(Path::new(&format!("/proc/self/fd/{}", open.as_raw_fd()))).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "before, whole");
    }

    #[test]
    fn errors_name_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let missing = written(&folder.path().join("missing/file")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert!(!missing.to_string().contains("skinbench"), "{missing}");
        let error = written(folder.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }
}
