//! Paths of files that a model file refers to.

use std::io;
use std::path::{Path, PathBuf};

/// The folder of a file.
pub fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Resolves a relative path with forward slashes, in which `..` takes back the name before it. The file must be inside
/// the folder of `model`, also after following links.
///
/// # Errors
/// One line: the path leads out of the folder, or to no file.
pub fn resolve(model: &Path, name: &str) -> Result<PathBuf, String> {
    if name.starts_with('/') {
        return Err(outside(name, "is absolute"));
    }
    if name.contains('\\') {
        return Err(outside(name, "has a backslash"));
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split('/') {
        if part == ".." {
            let last = parts.pop();
            last.ok_or_else(|| outside(name, "climbs out of it by \"..\""))?;
        } else if !["", "."].contains(&part) {
            parts.push(part);
        }
    }
    let folder = folder(model).canonicalize();
    let folder = folder.map_err(|error| unreadable(name, error))?;
    let path = folder.join(parts.join("/")).canonicalize();
    let path = path.map_err(|error| unreadable(name, error))?;
    if !path.starts_with(&folder) {
        return Err(outside(name, "is a link that leads out of it"));
    }
    Ok(path)
}

fn outside(name: &str, why: &str) -> String {
    format!("{name:?} {why}; expected a path inside the model's folder")
}

/// The message about a file beside the model that the system does not read.
pub fn unreadable(name: &str, error: io::Error) -> String {
    format!("{name:?} cannot be read: {error}")
}
