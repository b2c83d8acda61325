//! Paths of files that a model file refers to.

use std::path::{Path, PathBuf};

/// Resolves a relative path with forward slashes, in which `..` takes back the name before it. The file must be inside
/// `folder`, also after following links.
pub(super) fn resolve(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let outside = |why: &str| format!("{name:?} {why}; expected a path inside the model's folder");
    if name.starts_with('/') {
        return Err(outside("is absolute"));
    }
    if name.contains('\\') {
        return Err(outside("has a backslash"));
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                let inside = parts.pop().is_some();
                if !inside {
                    return Err(outside("climbs out of it by \"..\""));
                }
            }
            name => parts.push(name),
        }
    }
    let unreadable = |error| format!("{name:?} cannot be read: {error}");
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let folder = folder.canonicalize().map_err(unreadable)?;
    let path = folder
        .join(parts.join("/"))
        .canonicalize()
        .map_err(unreadable)?;
    if path.starts_with(&folder) {
        Ok(path)
    } else {
        Err(outside("is a link that leads out of it"))
    }
}
