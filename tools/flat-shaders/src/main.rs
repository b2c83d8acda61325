//! Writes complete kernels, and their translations and descriptions, to shaders/flat: `cargo run -p flat-shaders`.
//! A test holds the folder to the kernels.

mod description;
mod kernels;
mod languages;

use crate::description::Description;
use crate::languages::Translator;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A message, or an error of files.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Where the files lie.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shaders/flat")
}

/// Name and contents of every generated file.
fn files() -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for kernel in kernels::all()? {
        let translator = Translator::new(&kernel.wgsl)?;
        let description = Description::new(&kernel, translator.module());
        let name = kernel.name;
        files.insert(format!("{name}.spv"), translator.spirv()?);
        files.insert(format!("{name}.metal"), translator.metal()?.into_bytes());
        files.insert(format!("{name}.hlsl"), translator.hlsl()?.into_bytes());
        files.insert(format!("{name}.json"), description.json()?.into_bytes());
        files.insert(format!("{name}.wgsl"), kernel.wgsl.into_bytes());
    }
    Ok(files)
}

/// The generated files that lie in the folder.
fn present() -> Result<Vec<PathBuf>> {
    let mut present = Vec::new();
    for entry in std::fs::read_dir(folder())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension != "md") {
            present.push(path);
        }
    }
    Ok(present)
}

fn main() -> Result<()> {
    let files = files()?;
    for old in present()? {
        std::fs::remove_file(old)?;
    }
    for (name, contents) in &files {
        std::fs::write(folder().join(name), contents)?;
    }
    println!("{} files in shaders/flat", files.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_files_are_those_of_the_kernels() {
        let generated = files().unwrap();
        let command = "write shaders/flat anew: cargo run -p flat-shaders";
        assert_eq!(present().unwrap().len(), generated.len(), "{command}");
        for (name, contents) in generated {
            let there = std::fs::read(folder().join(&name)).unwrap_or_default();
            assert!(there == contents, "{name} is not up to date; {command}");
        }
    }

    #[test]
    fn every_binding_says_what_it_holds() {
        for kernel in kernels::all().unwrap() {
            let translator = Translator::new(&kernel.wgsl).unwrap();
            let description = Description::new(&kernel, translator.module());
            assert!(!description.bindings.is_empty(), "{}", kernel.name);
            for binding in description.bindings {
                let meaning = &binding.meaning;
                assert!(!meaning.is_empty(), "{}: {}", kernel.name, binding.name);
            }
        }
    }
}
