//! Any text as a scene file: `cargo fuzz run scene`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skinbench::scene::Scene;
use std::path::Path;

fuzz_target!(|text: &str| {
    if let Err(error) = Scene::parse("fuzz", "fuzz.toml", text, Path::new("")) {
        assert!(error.to_string().starts_with("fuzz.toml"), "{error}");
    }
});
