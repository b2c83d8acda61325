//! `skinbench corpus` and `skinbench diff` as their users meet them.

use crate::program::{ran, skinbench, succeed};
use crate::support::gltf_fixture::glb;
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
    for line in [
        "binary: refused: no binary files\n",
        "step: wrong: expected [",
        ", given [7.500000,",
    ] {
        assert!(wrong.text.contains(line), "{line}: {}", wrong.text);
    }

    // An engine author begins with one asset, without normals.
    let mut plain = answer["assets"]["plain"].clone();
    for moment in plain["moments"].as_array_mut().unwrap() {
        moment["normals"] = Value::Null;
        moment["tangents"] = Value::Null;
    }
    let one = |name: &str| json!({"engine": "one", "assets": {name: &plain}}).to_string();
    fs::write(&file, one("plain")).unwrap();
    let one_of_all = ran(skinbench(&folder, "corpus --check answer.json"));
    assert_eq!(one_of_all.code, Some(3));
    assert!(one_of_all.text.lines().count() < 10, "{}", one_of_all.text);
    for line in [
        "81 assets are not in the answer\n",
        "one: 1 right, 81 missing of 82 assets\n",
    ] {
        assert!(one_of_all.text.contains(line), "{}", one_of_all.text);
    }
    // No column of directions, of which none were given.
    let heading = one_of_all.text.lines().next().unwrap();
    assert!(heading.trim_end().ends_with("position"), "{heading}");
    let named = succeed(&folder, "corpus --check answer.json plain");
    assert!(
        named.text.contains("one: 1 right of 1 asset\n"),
        "{}",
        named.text
    );
    fs::write(&file, one("plane")).unwrap();
    let unknown = ran(skinbench(&folder, "corpus --check answer.json"));
    assert_eq!(unknown.code, Some(1));
    assert!(
        unknown
            .notes
            .contains("answer.json: unknown asset \"plane\"; did you mean \"plain\"?"),
        "{}",
        unknown.notes
    );

    fs::write(&file, "{\"engine\": 7}").unwrap();
    let unreadable = ran(skinbench(&folder, "corpus --check answer.json"));
    assert_eq!(unreadable.code, Some(1));
    assert!(
        unreadable
            .notes
            .contains("answer.json: expected JSON as in corpus/README.md: invalid type"),
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
        "diff assets/plain.gltf assets/slerp-wide.gltf --picture worst.svg",
    ));
    assert_eq!(other.code, Some(3));
    let row = other
        .text
        .lines()
        .find(|line| line.starts_with("clip \"0\""));
    let row = row.unwrap_or_else(|| panic!("{}", other.text));
    assert!(row.contains("6.9e-1") && row.contains("1.000"), "{row}");
    let picture = fs::read_to_string(folder.path().join("worst.svg")).unwrap();
    assert!(
        picture.contains(">clip \"0\" at 1.000 s: off by 6.9"),
        "{picture}"
    );
    assert_eq!(picture.matches("<circle").count(), 48);

    let verdict = other.text.lines().last().unwrap();
    let passing = verdict.strip_prefix("not the same character; --tolerance ");
    let passing = passing.and_then(|rest| rest.strip_suffix(" would pass"));
    let passing = passing.unwrap_or_else(|| panic!("{verdict}"));
    succeed(
        &folder,
        &format!("diff assets/plain.gltf assets/slerp-wide.gltf --tolerance {passing}"),
    );
}

#[test]
fn the_order_of_nodes_and_the_layout_of_buffers_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    succeed(&folder, "corpus -o assets");
    for stored in [
        "binary.glb",
        "interleaved.gltf",
        "joints-reversed.gltf",
        "joints-u16.gltf",
        "sparse-without-view.gltf",
    ] {
        succeed(&folder, &format!("diff assets/plain.gltf assets/{stored}"));
    }

    succeed(&folder, "convert walker -o walker.glb");
    let bytes = fs::read(folder.path().join("walker.glb")).unwrap();
    // A header of 12 bytes, then chunks, each after its size and type.
    let size = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let mut file: Value = serde_json::from_slice(&bytes[20..20 + size]).unwrap();
    let buffer = &bytes[28 + size..];
    let write = |name: &str, file: &Value| {
        let mut text = file.to_string();
        text += &" ".repeat(text.len().next_multiple_of(4) - text.len());
        let chunks: [(&[u8; 4], &[u8]); 2] = [(b"JSON", text.as_bytes()), (b"BIN\0", buffer)];
        fs::write(folder.path().join(name), glb(&chunks)).unwrap();
    };
    reverse_nodes(&mut file);
    write("reversed.glb", &file);
    let same = succeed(&folder, "diff walker.glb reversed.glb");
    assert!(!same.text.contains("not turned"), "{}", same.text);

    let joint = file["skins"][0]["joints"][3].clone();
    let channels = file["animations"][0]["channels"].as_array_mut().unwrap();
    channels.retain(|channel| channel["target"]["node"] != joint);
    write("still.glb", &file);
    let other = ran(skinbench(&folder, "diff walker.glb still.glb"));
    assert_eq!(other.code, Some(3), "{}", other.text);
}

/// Stores the nodes of a glTF file from the last to the first.
fn reverse_nodes(file: &mut Value) {
    let nodes = file["nodes"].as_array_mut().unwrap();
    nodes.reverse();
    let last = nodes.len() as u64 - 1;
    let renumber = |node: &mut Value| {
        if let Some(index) = node.as_u64() {
            *node = json!(last - index);
        }
    };
    let renumber_all = |list: &mut Value| {
        for node in list.as_array_mut().into_iter().flatten() {
            renumber(node);
        }
    };
    for node in nodes {
        if node.get("children").is_some() {
            renumber_all(&mut node["children"]);
        }
    }
    for scene in file["scenes"].as_array_mut().unwrap() {
        renumber_all(&mut scene["nodes"]);
    }
    for skin in file["skins"].as_array_mut().unwrap() {
        renumber_all(&mut skin["joints"]);
        if skin.get("skeleton").is_some() {
            renumber(&mut skin["skeleton"]);
        }
    }
    for animation in file["animations"].as_array_mut().unwrap() {
        for channel in animation["channels"].as_array_mut().unwrap() {
            renumber(&mut channel["target"]["node"]);
        }
    }
}
