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

/// The build that results record.
pub fn built_from() -> Build {
    let commit = REVISION.strip_suffix("-modified");
    let git_rev = Some(commit.unwrap_or(REVISION).to_owned()).filter(|commit| !commit.is_empty());
    Build {
        dirty: git_rev.is_some().then_some(commit.is_some()),
        git_rev,
        tag: Some(TAG.to_owned()).filter(|tag| !tag.is_empty()),
        rustc: rustc_version_runtime::version().to_string(),
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
