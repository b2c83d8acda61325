//! The revision and the compiler that this program was built from.
//!
//! They are read while this crate is compiled, not by a build script: a build script that watches all sources would
//! compile the library again after a change that only concerns the command line.

use git_version::git_version;
use skinbench::harness::environment::Build;

/// Commit with 40 digits, and whether tracked files differed from it; empty outside a git repository.
const REVISION: &str = git_version!(
    args = [
        "--always",
        "--abbrev=40",
        "--exclude=*",
        "--dirty=-modified"
    ],
    fallback = ""
);

/// Tag of the commit; empty if it has none.
const TAG: &str = git_version!(
    args = ["--tags", "--exact-match", "--match=v*"],
    fallback = ""
);

/// The versions of dependencies that this program was built with, by scripts and releases at least: they build with
/// `--locked`.
const LOCKED: &str = include_str!("../../Cargo.lock");

/// The locked version of a package that GPU backends need; of two, the newer one.
fn version_of(package: &str) -> Option<String> {
    if !cfg!(feature = "gpu") {
        return None;
    }
    let name = format!("name = \"{package}\"\n");
    let (_, after) = LOCKED.rsplit_once(&name)?;
    let version = after.lines().next()?.strip_prefix("version = ")?;
    Some(version.trim_matches('"').to_owned())
}

/// The program's version, its commit, and what it reaches graphics hardware by, one per line.
pub fn long_version() -> String {
    let build = built_from();
    let commit = build.git_rev.unwrap_or_else(|| "unknown".into());
    let changed = if build.dirty == Some(true) {
        " with changes"
    } else {
        ""
    };
    let mut text = format!(
        "{}\ncommit {commit}{changed}, rustc {}",
        env!("CARGO_PKG_VERSION"),
        build.rustc
    );
    if let (Some(wgpu), Some(naga)) = (build.wgpu, build.naga) {
        text += &format!("\nwgpu {wgpu}\nnaga {naga}");
    }
    #[cfg(feature = "gpu")]
    let apis = skinbench::gpu::apis();
    #[cfg(not(feature = "gpu"))]
    let apis = "none: this build has no GPU backends";
    text + &format!("\ngraphics APIs: {apis}")
}

/// The build that results record.
pub fn built_from() -> Build {
    let commit = REVISION.strip_suffix("-modified");
    let git_rev = Some(commit.unwrap_or(REVISION).to_owned()).filter(|commit| !commit.is_empty());
    Build {
        dirty: git_rev.is_some().then_some(commit.is_some()),
        git_rev,
        tag: Some(TAG.to_owned()).filter(|tag| !tag.is_empty()),
        rustc: rustc_version_runtime::version().to_string(),
        wgpu: version_of("wgpu"),
        naga: version_of("naga"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_hashes_and_compilers_have_versions() {
        let build = built_from();
        assert_eq!(build.git_rev.is_some(), build.dirty.is_some());
        if let Some(commit) = build.git_rev {
            assert!(
                commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()),
                "{commit}"
            );
        }
        assert_eq!(build.rustc.split('.').count(), 3, "{}", build.rustc);
    }
}
