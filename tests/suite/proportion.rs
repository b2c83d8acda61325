//! Work in proportion to the input: the program is run on a file and on larger ones, each twice as large as the one
//! before, and its instructions are counted.

use crate::support::gltf_fixture::Fixture;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use serde_json::{Value, json};
use snapbox::cmd::cargo_bin;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The increase from the second size to the third over that from the first to the second: 2 is in proportion, 4 is the
/// square.
const MOST_GROWTH: f64 = 2.6;
/// Part of all instructions that does not count as growth.
const UNEVEN: f64 = 0.1;

/// A kind of input, of which `write` makes a file with so many things.
struct Case {
    name: &'static str,
    first: usize,
    write: fn(&Path, usize),
}

const CASES: [Case; 3] = [
    Case {
        name: "chain.gltf",
        first: 250,
        write: chain,
    },
    Case {
        name: "image.gltf",
        first: 512,
        write: image,
    },
    Case {
        name: "materials.js",
        first: 500,
        write: materials,
    },
];

/// A chain of joints.
fn chain(file: &Path, joints: usize) {
    let mut fixture = Fixture::new();
    fixture.remove("/skins/0/inverseBindMatrices");
    let mut all = vec![0, 1];
    let mut above = 1;
    for _ in 2..joints {
        let joint = fixture.push("nodes", json!({"translation": [0.0, 1.0, 0.0]}));
        fixture.json["nodes"][above]["children"] = json!([joint]);
        all.push(joint);
        above = joint;
    }
    fixture.set("/skins/0/joints", json!(all));
    fs::write(file, fixture.gltf()).unwrap();
}

/// A texture of a size of which a file takes few bytes.
fn image(file: &Path, side: usize) {
    let mut png = Vec::new();
    let size = side as u32;
    PngEncoder::new(&mut png)
        .write_image(&vec![0; side * side], size, size, ExtendedColorType::L8)
        .unwrap();
    fs::write(file.with_file_name("image.png"), png).unwrap();
    let mut fixture = Fixture::new();
    fixture.push("images", json!({"uri": "image.png"}));
    fixture.push("textures", json!({"source": 0}));
    let texture = json!({"baseColorTexture": {"index": 0}});
    fixture.push("materials", json!({"pbrMetallicRoughness": texture}));
    fixture.set("/meshes/0/primitives/0/material", json!(0));
    fs::write(file, fixture.gltf()).unwrap();
}

/// Materials whose images are missing, each another one.
fn materials(file: &Path, count: usize) {
    let sprout = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/models/sprout.js");
    let mut model: Value = serde_json::from_slice(&fs::read(sprout).unwrap()).unwrap();
    let material = |index| json!({"DbgName": "m", "mapDiffuse": format!("missing {index}.png")});
    model["materials"] = (0..count).map(material).collect();
    fs::write(file, model.to_string()).unwrap();
}

/// Instructions that `inspect` takes for a file, on one thread.
fn instructions(file: &Path) -> f64 {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no"])
        .arg("--cachegrind-out-file=/dev/null")
        .arg(cargo_bin!("skinbench"))
        .arg("inspect")
        .arg(file)
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .expect("valgrind, which counts instructions");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let counted = said.split_once("refs:").expect(&said).1;
    let counted = counted.lines().next().unwrap().trim();
    counted.replace(',', "").parse().expect(counted)
}

#[test]
#[ignore = "needs valgrind"]
fn work_grows_with_the_input_and_no_faster() {
    let folder = tempfile::tempdir().unwrap();
    for case in CASES {
        let file = folder.path().join(case.name);
        let counts = [1, 2, 4].map(|times| {
            (case.write)(&file, times * case.first);
            instructions(&file)
        });
        let [one, two, four] = counts;
        let most = two + MOST_GROWTH * (two - one) + UNEVEN * one;
        assert!(four <= most, "{}: {counts:?}", case.name);
    }
}
