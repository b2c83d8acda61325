//! Any bytes as a model file of any format: `cargo fuzz run import`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skinbench::asset::{FORMATS, load};

// The first byte chooses the format by its ending; endings that no format owns are decided by content.
fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let endings: Vec<&str> = FORMATS.iter().flat_map(|f| f.extensions).copied().chain(["json", "xml", "txt"]).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join(format!("model.{}", endings[usize::from(choice) % endings.len()]));
    std::fs::write(&file, bytes).expect("the temporary folder takes files");
    if let Err(error) = load(&file) {
        assert!(error.to_string().contains("model."), "{error}");
    }
});
