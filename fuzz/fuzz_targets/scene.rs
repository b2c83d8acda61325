//! Any text as a scene file: `cargo fuzz run scene`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skinbench::scene::SceneFile;

fuzz_target!(|text: &str| {
    let file = SceneFile { name: "fuzz".into(), file: "fuzz.toml".into(), text: text.into(), folder: "".into() };
    if let Err(error) = file.read() {
        assert!(error.to_string().starts_with("fuzz.toml"), "{error}");
    }
});
