//! `skinbench corpus` and `skinbench diff` as their users meet them.

use crate::program::{ran, skinbench, succeed};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The answer of an engine that shows what is expected of the files in a folder.
fn perfect_answer(folder: &Path) -> Value {
    let mut assets = json!({});
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.to_str().unwrap().ends_with(".expected.json") {
            let expected: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            let asset = expected["asset"].as_str().unwrap();
            assets[asset] = json!({"moments": expected["moments"]});
        }
    }
    json!({"engine": "perfect", "version": "1", "assets": assets})
}

#[test]
fn the_corpus_judges_engines() {
    let folder = tempfile::tempdir().unwrap();
    succeed(&folder, "corpus -o assets");
    let mut answer = perfect_answer(&folder.path().join("assets"));
    let file = folder.path().join("answer.json");
    fs::write(&file, answer.to_string()).unwrap();
    let right = succeed(&folder, "corpus --check answer.json");
    assert!(
        right.text.contains("perfect 1: 82 right of 82 assets\n"),
        "{}",
        right.text
    );

    answer["assets"]["step"]["moments"][2]["positions"][5][0] = json!(7.5);
    answer["assets"]["binary"] = json!({"refused": "no \u{1b}binary\nfiles"});
    fs::write(&file, answer.to_string()).unwrap();
    let wrong = ran(skinbench(
        &folder,
        "corpus --check answer.json --picture worst.svg",
    ));
    let picture = fs::read_to_string(folder.path().join("worst.svg")).unwrap();
    assert!(picture.contains(">step: off by 3"), "{picture}");
    // Two views of twelve vertices, as expected and as shown.
    assert_eq!(picture.matches("<circle").count(), 48);
    assert_eq!(wrong.code, Some(3), "{}", wrong.text);
    let row = wrong
        .text
        .lines()
        .find(|line| line.starts_with("step "))
        .unwrap();
    assert!(row.contains("wrong") && row.contains("0.984"), "{row}");
    assert!(
        wrong.text.contains("binary: refused: no binary files\n"),
        "{}",
        wrong.text
    );

    fs::write(&file, "{\"engine\": 7}").unwrap();
    let unreadable = ran(skinbench(&folder, "corpus --check answer.json"));
    assert_eq!(unreadable.code, Some(1));
    assert!(
        unreadable.notes.contains("answer.json: invalid type"),
        "{}",
        unreadable.notes
    );
}

#[test]
fn files_are_the_same_character_or_not() {
    let folder = tempfile::tempdir().unwrap();
    succeed(&folder, "corpus -o assets");
    succeed(&folder, "convert walker -o walker.glb");
    let same = succeed(&folder, "diff walker walker.glb");
    assert!(same.text.ends_with("the same character\n"), "{}", same.text);
    let other = ran(skinbench(
        &folder,
        "diff assets/plain.gltf assets/slerp-wide.gltf",
    ));
    assert_eq!(other.code, Some(3));
    assert!(
        other.text.contains("in clip \"0\" at 1 s"),
        "{}",
        other.text
    );
    assert!(
        other.text.ends_with("not the same character\n"),
        "{}",
        other.text
    );
    succeed(
        &folder,
        "diff assets/plain.gltf assets/slerp-wide.gltf --tolerance 1",
    );
}
