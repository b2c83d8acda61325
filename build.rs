//! Tells the binary which revision and compiler it was built from; outside a git repository the revision is absent.

use vergen_gitcl::{Emitter, Gitcl, Rustc};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let git = Gitcl::builder().sha(true).dirty(false).build();
    let rustc = Rustc::builder().semver(true).build();
    Emitter::default().quiet().add_instructions(&git)?.add_instructions(&rustc)?.emit()?;
    // Whether the tree is dirty depends on what is built from it, too.
    for path in ["src", "shaders", "scenes", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={path}");
    }
    Ok(())
}
