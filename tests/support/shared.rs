//! Models that the repository does not ship, found through an environment variable.
use std::path::PathBuf;

/// The folder that `SKINBENCH_SHARED` names.
///
/// Tests that need it carry `#[ignore]`, as a test cannot be ignored at run time: without the variable they count as
/// ignored, and with it `cargo test -- --include-ignored` runs them.
///
/// # Panics
/// The variable is not set, or names no folder.
pub fn shared_folder() -> PathBuf {
    let folder = std::env::var_os("SKINBENCH_SHARED").map(PathBuf::from);
    let folder = folder.expect("SKINBENCH_SHARED is not set; expected the folder with real models");
    assert!(
        folder.is_dir(),
        "SKINBENCH_SHARED names {}, which is no folder",
        folder.display()
    );
    folder
}
