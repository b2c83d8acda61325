//! The corpus as files: assets, and beside each what it shows.

use crate::assets::assets;
use crate::expected::{Expected, VERSION};
use skinbench_kernels::error::{DataError, Result};
use std::path::Path;

/// Dedication of the files, in the words of Creative Commons.
const LICENCE: &str = "CC0 1.0 Universal: to the extent possible under law, the authors have waived all copyright and related or \
neighbouring rights to the files in this folder.\nhttps://creativecommons.org/publicdomain/zero/1.0/\n";

/// Writes the corpus into a folder, which exists.
///
/// # Errors
/// A file cannot be written.
pub fn write(folder: &Path) -> Result<()> {
    put(folder, "VERSION", format!("{VERSION}\n").as_bytes())?;
    put(folder, "LICENCE", LICENCE.as_bytes())?;
    for expected in all_expected(folder)? {
        let text = expected
            .text()
            .map_err(|error| DataError::new(&expected.asset, error.to_string()))?;
        let name = format!("{}.expected.json", expected.asset);
        put(folder, &name, text.as_bytes())?;
    }
    Ok(())
}

/// Writes the assets into a folder, which exists, and returns what they show, in the order of the table.
///
/// # Errors
/// A file cannot be written.
pub fn all_expected(folder: &Path) -> Result<Vec<Expected>> {
    let mut all = Vec::new();
    for asset in assets() {
        let built = (asset.build)();
        let name = asset.file_name(&built);
        put(folder, &name, &built.bytes())?;
        all.push(Expected::new(&asset, folder, name)?);
    }
    Ok(all)
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let file = folder.join(name);
    std::fs::write(&file, bytes)
        .map_err(|error| DataError::new("", error.to_string()).in_file(&file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;

    fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs::read(path).unwrap());
        }
        files
    }

    /// `skinbench corpus -o corpus/assets` writes them anew.
    #[test]
    fn committed_files_are_those_that_are_written() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        let written = files(folder.path());
        let committed = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets"));
        let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&written), names(&committed));
        for (name, bytes) in &written {
            assert!(bytes == &committed[name], "{name} differs");
            assert!(bytes.len() < 64_000, "{name}: {} bytes", bytes.len());
        }
        let sum: usize = written.values().map(Vec::len).sum();
        assert!(sum < 2_000_000, "{sum} bytes");
    }

    #[test]
    fn assets_have_names_of_their_own_and_a_clause() {
        let mut names = std::collections::BTreeSet::new();
        for asset in assets() {
            assert!(names.insert(asset.name), "{} twice", asset.name);
            assert!(
                !asset.clause.is_empty() && asset.condition.ends_with('.'),
                "{}",
                asset.name
            );
            assert!(
                asset.report.is_empty() || asset.report.contains('#'),
                "{}",
                asset.name
            );
        }
        assert!(names.len() >= 50, "{}", names.len());
    }
}
