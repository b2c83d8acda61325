//! Models that the repository does not ship, found through an environment variable.
use std::path::PathBuf;

/// The folder that `SKINBENCH_SHARED` names; without the variable, says that `test` did not run.
///
/// # Panics
/// The variable names no folder.
pub fn shared_folder(test: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("SKINBENCH_SHARED").map(PathBuf::from) else {
        eprintln!("{test} did not run: SKINBENCH_SHARED is not set");
        return None;
    };
    assert!(folder.is_dir(), "SKINBENCH_SHARED names {}, which is no folder", folder.display());
    Some(folder)
}
